"""One window for every control that needs rates: who waits, for how long, and with whom."""

import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import example_packs
import latency_packs
import listener_packs
import nfs_packs
import nic_packs
import packs
import pytest
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.collect import evidence, window
from ansible.module_utils.hostproof.collect.answer import attempt
from ansible.module_utils.hostproof.collect.host import LiveHost, Measure, RecordedHost, Sample
from ansible.module_utils.hostproof.collect.host import sampling as sampling_module
from ansible.module_utils.hostproof.collect.masking import masked
from ansible.module_utils.hostproof.collect.measured import Measured
from ansible.module_utils.hostproof.collect.window import LOAD, QUIET, TRAFFIC
from ansible.module_utils.hostproof.controls.latency.measurement import measuring
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner
from ansible.module_utils.hostproof.errors import PolicyError, Unanswered
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.policy import OLD_VARIABLES, PolicyValues, moved
from cases import cases
from hostproof_controller import policies, variable_names

Read = Callable[[Any, Any], Any]

CONTROLS_WITH_RATES = sorted(
    name for name, control in CONTROLS.items() if "window_seconds" in control.policy._fields
)


class Clock:
    """Time that passes only where somebody waits, with how often and how long."""

    def __init__(self) -> None:
        self.time = 100.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(window, "now", made.now)
    monkeypatch.setattr(window, "sleep", made.sleep)
    return made


class Control:
    """A control that does with the host what the test says."""

    def __init__(self, read: Read) -> None:
        self.read = read


@pytest.fixture
def read_all(monkeypatch) -> Callable[..., dict[str, Any]]:
    """read_all(host, name=read, ...): the facts of controls that read so."""

    def read(host: Any, **reads: Read) -> dict[str, Any]:
        monkeypatch.setattr(
            audit, "CONTROLS", {name: Control(function) for name, function in reads.items()}
        )
        return audit.read_all(host, dict.fromkeys(reads, 10.0))

    return read


def sampling(name: str, path: Path) -> Read:
    return lambda host, seconds: host.sample(name, [str(path)], [], seconds)


def measuring_one(name: str, how: str, measure: Callable[[float], Measured]) -> Read:
    return lambda host, seconds: host.measure([Measure(name, how, measure)], seconds)[name]


def nothing_measured(seconds: float) -> Measured:
    return Measured([], [f"{seconds:g} s"])


# -- one window -----------------------------------------------------------------------------------


def test_all_controls_share_one_window(clock, read_all, tmp_path):
    """Each used to wait for itself: this took as many windows as there are controls."""
    (tmp_path / "counter").write_text("7")

    def agent(host: Any, seconds: float) -> tuple[str, str]:
        first = host.read_text(str(tmp_path / "counter"))
        host.wait_for_window("agent", seconds)
        return first, host.run(["cat", str(tmp_path / "counter")]).stdout

    live = LiveHost()
    facts = read_all(
        live,
        nfs=sampling("nfs", tmp_path / "counter"),
        nics=sampling("nics", tmp_path / "counter"),
        agent=agent,
        disks=measuring_one("disks", QUIET, nothing_measured),
        tcp=measuring_one("tcp", TRAFFIC, nothing_measured),
        none=lambda host, seconds: host.read_text(str(tmp_path / "counter")),
    )
    assert clock.waits == [10.0]
    assert facts["nfs"].seconds == facts["nics"].seconds == 10.0
    assert facts["agent"] == ("7", "7")
    assert (facts["disks"].remarks, facts["tcp"].remarks) == (["10 s"], ["10 s"])
    assert set(live.evidence) == {
        "sample:nfs",
        "sample:nics",
        "windows:disks",
        "windows:tcp",
        f"file:{tmp_path}/counter",
        f"command:cat {tmp_path}/counter",
    }


class AsLive(RecordedHost):
    """A recording that needs a window where a live host does; ``wanted`` says what for."""

    def __init__(self, evidence: dict[str, Any]) -> None:
        super().__init__(evidence)
        self.wanted: list[str] = []
        self.live = LiveHost()
        self.gather = self.live.gather
        self.open_window = self.live.open_window

    def _need(self, tasks: Any, seconds: float) -> None:
        self.wanted += [task.key for task in tasks if task.key not in self.wanted]
        self.live._need([window.Task(task.key, "pause") for task in tasks], seconds)


def test_the_real_controls_share_it(clock):
    """The pack of a host with disks, NFS mounts, interfaces, a filer and a listener."""
    pack = packs.ROOT / "docs/examples/evidence/db05.example.com.json"
    recorded, policies = evidence.open_pack(str(pack))[0], example_packs.policies()
    host = AsLive(recorded)
    findings = audit.judge_host(host, policies)
    assert sorted(host.wanted) == [
        *("pause:storage_type", "sample:cpu_use", "sample:listener_queues", "sample:nfs_traffic"),
        *("sample:pause", "sample:swapping", "windows:passive"),
    ]
    assert clock.waits == [10.0]
    assert findings == audit.judge_host(RecordedHost(recorded), policies)


def test_no_second_is_no_window(clock):
    pack = packs.ROOT / "docs/examples/evidence/db05.example.com.json"
    recorded, policies = evidence.open_pack(str(pack))[0], example_packs.policies()
    for name in CONTROLS_WITH_RATES:
        policies[name] = policies[name] | {"window_seconds": 0}
    host = AsLive(recorded)
    findings = audit.judge_host(host, policies)
    assert (host.wanted, clock.waits) == ([], [])
    controls = {
        finding.control for finding in findings if "hostproof_window_seconds is 0" in finding.why
    }
    # This filer counts no discards, which is the first reason to say nothing of them; the host has
    # no interconnect, and nothing in swap.
    assert controls == set(CONTROLS_WITH_RATES) - {
        "storage_type",
        "interconnect",
        "memory_pressure",
    }


def test_a_recording_has_waited_already(clock, read_all):
    reading = {"kind": "sample", "seconds": 5.0, "first": {}, "second": {}, "errors": {}}
    host = RecordedHost({"sample:x": reading})

    def read(host: Any, seconds: float) -> Sample:
        host.wait_for_window("agent", seconds)
        sample: Sample = host.sample("x", [], [], seconds)
        return sample

    assert read_all(host, one=read)["one"].seconds == 5.0
    assert clock.waits == []


def test_who_needs_it_twice_waits_twice(clock, read_all, tmp_path):
    def twice(host: Any, seconds: float) -> list[float]:
        return [host.sample(name, [], [], seconds).seconds for name in ("first", "second")]

    facts = read_all(LiveHost(), once=sampling("x", tmp_path), twice=twice)
    assert clock.waits == [10.0, 10.0]
    assert facts["twice"] == [10.0, 10.0]


def test_afterwards_each_opens_its_own_again(clock, read_all, tmp_path):
    live = LiveHost()
    read_all(live, one=sampling("x", tmp_path))
    assert live.sample("later", [], [], 3.0).seconds == 3.0
    assert clock.waits == [10.0, 3.0]


def test_what_was_read_before_the_window_is_not_read_again(clock, read_all, tmp_path):
    calls = tmp_path / "calls"

    def read(host: Any, seconds: float) -> str:
        before = host.run(["sh", "-c", f"echo x >> {calls}; wc -l < {calls}"]).stdout
        host.wait_for_window("agent", seconds)
        return before.strip()

    assert read_all(LiveHost(), one=read) == {"one": "1"}
    assert calls.read_text() == "x\n"


def test_nothing_is_waited_for_where_nobody_needs_rates(clock, read_all):
    assert read_all(LiveHost(), one=lambda host, seconds: 1) == {"one": 1}
    assert clock.waits == []


# -- what passes by the clock ---------------------------------------------------------------------


class Reading(window.Task):
    """A sample whose first reading takes a while."""

    def __init__(self, key: str, clock: Clock, events: list[str], takes: float = 0.0) -> None:
        super().__init__(key, "sample")
        self.clock, self.events, self.takes = clock, events, takes

    def begin(self) -> None:
        self.began = self.clock.time
        self.clock.time += self.takes
        self.events.append(f"begin {self.key}")

    def end(self) -> dict[str, Any]:
        self.events.append(f"end {self.key}")
        return {"seconds": self.clock.time - self.began}


def measurement(key: str, how: str, events: list[str], clock: Clock) -> window.Measurement:
    def measure(seconds: float) -> dict[str, Any]:
        events.append(f"begin {key} {seconds:g}")
        events.append(f"end {key}")
        return {"seconds": seconds}

    return window.Measurement(key, "windows", how, measure)


def test_each_has_the_seconds_that_passed_for_it(clock):
    tasks = [Reading("slow", clock, [], 3.0), Reading("quick", clock, [], 0.5)]
    outcomes = {task.key: outcome for task, outcome in window.run(tasks, 10.0)}
    assert clock.waits == [10.0]
    assert outcomes == {"slow": {"seconds": 13.5}, "quick": {"seconds": 10.5}}


def test_load_begins_when_all_that_looks_has_ended(clock):
    events: list[str] = []
    tasks = [
        measurement("read", LOAD, events, clock),
        Reading("sample", clock, events),
        measurement("ping 1", TRAFFIC, events, clock),
        measurement("ping 2", TRAFFIC, events, clock),
    ]
    window.run(tasks, 12.0)
    assert clock.waits == [8.0]
    # Of the two that send, one begins when the other has ended.
    pings = [event for event in events if "ping" in event]
    assert pings == ["begin ping 1 4", "end ping 1", "begin ping 2 4", "end ping 2"]
    others = [event for event in events if "ping" not in event]
    assert others == ["begin sample", "end sample", "begin read 4", "end read"]
    assert events[0] == "begin sample"


@cases(
    "kinds looking turn",
    ([], 12, 12),
    ([QUIET], 12, 12),
    ([QUIET, TRAFFIC], 12, 12),
    ([TRAFFIC] * 3, 12, 4),
    ([QUIET, LOAD], 6, 6),
    ([LOAD, LOAD], 4, 4),
    ([TRAFFIC, TRAFFIC, LOAD], 8, 4),
)
def test_shares(kinds, looking, turn):
    assert window.shares(kinds, 12.0) == (looking, turn)
    # Whatever is listed, the window is no longer for it.
    turns = max(kinds.count(TRAFFIC) * turn, looking) + kinds.count(LOAD) * turn
    assert turns == 12


def test_the_probes_of_a_policy_divide_it(clock, monkeypatch):
    shares = {}

    def measure(probes: Any, seconds: float) -> Measured:
        shares["+".join(probe.kind for probe in probes)] = seconds
        return Measured([], [])

    monkeypatch.setattr(measuring, "measure_here", measure)
    probes = [*latency_packs.PASSIVE, latency_packs.READ, latency_packs.HANDSHAKE]
    values = latency_packs.latency_policy(probes=probes, window_seconds=12)
    audit.read_host(LiveHost(), {"latency": values})
    # A file is read once before it counts.
    assert shares == {"disk+nfs": 6.0, "tcp": 6.0, "disk_read": 3.0}
    assert clock.waits == [6.0]


def test_a_control_takes_what_another_measures_in_the_same_window(clock, read_all):
    """And waits for it once, whoever comes first; what nobody measures is not known."""

    def take(host: Any, _seconds: float) -> Any:
        return attempt(host.measured_by_another, "tcp")

    probe = measuring_one("tcp", TRAFFIC, lambda seconds: Measured([], [f"{seconds:g} s"]))
    facts = read_all(LiveHost(), before=take, measures=probe, zz=take)
    assert facts["before"].remarks == facts["zz"].remarks == ["10 s"]
    assert len(clock.waits) <= 1
    clock.waits.clear()
    alone = read_all(LiveHost(), before=take, zz=take)
    for problem in alone.values():
        assert isinstance(problem, Unanswered)
        assert "no probe measured it in this run" in str(problem)
    assert clock.waits == []


# -- nobody takes the answers of the others -------------------------------------------------------


@cases(
    "problem said",
    (OSError(5, "Input/output error"), "Input/output error"),
    (ValueError("no number"), "no number"),
    (KeyError("rx"), "KeyError: 'rx'"),
    (RecursionError("too deep"), "RecursionError: too deep"),
)
@cases("where", "begin", "end", "measure")
def test_a_fault_of_one_is_its_own(clock, read_all, tmp_path, where, problem, said):
    def fail(*_arguments: Any) -> Any:
        raise problem

    class Faulty(window.Task):
        pass

    def read(host: Any, seconds: float) -> Any:
        task: window.Task = window.Measurement("windows:bad", "windows", QUIET, fail)
        if where != "measure":
            task = Faulty("windows:bad", "windows")
            setattr(task, where, fail)
        host._need([task], seconds)
        return attempt(host.windows, "bad", None)

    facts = read_all(LiveHost(), bad=read, good=sampling("good", tmp_path / "none"))
    assert facts["good"].seconds == 10.0
    assert isinstance(facts["bad"], Unanswered)
    assert said in str(facts["bad"])


@cases("how", QUIET, TRAFFIC, LOAD)
def test_a_measurement_that_hangs_has_no_answer(clock, read_all, tmp_path, monkeypatch, how):
    for name in ("_LATE", "_TIMES", "_MORE"):
        monkeypatch.setattr(window, name, 0.0)
    released = threading.Event()

    def hang(seconds: float) -> Measured:
        released.wait()
        return Measured([], [])

    live = LiveHost()
    try:
        facts = read_all(
            live, bad=measuring_one("bad", how, hang), good=sampling("good", tmp_path / "none")
        )
    finally:
        released.set()
    assert "sample:good" in live.evidence
    assert "error" not in live.evidence["sample:good"]
    assert isinstance(facts["bad"], Unanswered)
    assert "did not end in time" in str(facts["bad"])


def test_a_reading_that_takes_too_long_goes_without_the_rest(clock, read_all, monkeypatch):
    """Each command of a driver that hangs takes its whole time limit."""
    ran = []

    def hang(argv: list[str], timeout: float) -> dict[str, Any]:
        ran.append(argv[0])
        clock.time += 20.0
        raise subprocess.TimeoutExpired(argv, timeout)

    monkeypatch.setattr(sampling_module, "run_command", hang)
    commands = [[f"ethtool{number}"] for number in range(9)]
    facts = read_all(
        LiveHost(),
        nics=lambda host, seconds: host.sample("nics", [], commands, seconds),
        other=sampling("other", Path("/none")),
    )
    assert ran == ["ethtool0", "ethtool1", "ethtool2"]
    assert "timed out" in facts["nics"].errors["command:ethtool2"]
    assert "was not read, those before it took 60 s" in facts["nics"].errors["command:ethtool8"]
    assert facts["other"].seconds == 10.0


def test_a_control_that_fails_in_its_reading_fails_as_before(read_all):
    def fail(host: Any, seconds: float) -> None:
        raise RuntimeError("a fault of the control")

    with pytest.raises(RuntimeError, match="a fault of the control"):
        read_all(LiveHost(), bad=fail)


# -- apply ----------------------------------------------------------------------------------------


NO_PLAN = Plan([], [], [], [])


def test_a_plan_waits_for_no_window(clock):
    class Sampling:
        @staticmethod
        def read(host: Any, policy: Any) -> Any:
            return host.sample("x", [], [], policy.window_seconds) if policy.window_seconds else 0

        @staticmethod
        def plan(facts: Any, policy: Any) -> Plan:
            assert facts == 0
            return NO_PLAN

    policy = CONTROLS["nfs_mounts"].policy_from(nfs_packs.nfs_policy())
    assert policy.window_seconds == 10
    assert apply.plan_of(Sampling.read, Sampling.plan, LiveHost(), policy) == NO_PLAN
    assert clock.waits == []


@cases(
    "name values machine",
    ("flow_control", nic_packs.policy, nic_packs.storage_host),
    ("nfs_mounts", nfs_packs.nfs_policy, nfs_packs.ready_host),
    ("listener_rate_limit", listener_packs.listener_policy, listener_packs.ready_host),
)
def test_a_plan_is_the_same_without_rates(name, values, machine):
    control = CONTROLS[name]
    policy = control.policy_from(values())
    with_rates = planner(name)(control.read(machine(), policy), policy)
    assert apply.plan_of(control.read, planner(name), machine(), policy) == with_rates


# -- the variable ---------------------------------------------------------------------------------


@cases("value seconds", (0, 0.0), ("0", 0.0), (1, 1.0), ("2.5", 2.5), (600, 600.0))
def test_seconds_of_a_window(value, seconds):
    values = PolicyValues("x", {"window_seconds": value}, ["window_seconds"])
    assert values.window() == seconds


@cases("value", -1, 0.5, 601, "10s", "", None, True, False, [10], "1e2", "nan")
def test_no_window_of_so_many_seconds(value):
    values = PolicyValues("x", {"window_seconds": value}, ["window_seconds"])
    with pytest.raises(PolicyError) as caught:
        values.window()
    assert str(caught.value) == (
        f"hostproof_window_seconds must be 0 or 1 to 600 seconds, not {value!r}"
    )


OLD_FIELDS = {
    old
    for old, new in OLD_VARIABLES.items()
    if new not in variable_names.OF_PLAYBOOKS and new != "hostproof_host_timeout"
}


def _new_name(variable: str) -> str:
    return f"{variable} is now {OLD_VARIABLES[variable]}; "


@pytest.mark.parametrize("variable", sorted(OLD_VARIABLES))
def test_an_old_variable_says_its_new_name(variable):
    assert OLD_VARIABLES[variable] in variable_names.known_variables()
    assert variable not in variable_names.known_variables()
    assert str(moved(variable)).startswith(_new_name(variable))
    # A variable of credentials is not masked as a secret.
    assert masked("", str(moved(variable))) == str(moved(variable))


@pytest.mark.parametrize("variable", sorted(OLD_FIELDS))
def test_an_old_field_of_a_policy_says_its_new_name(variable):
    (control,) = [name for name in CONTROLS if variable.startswith(name + "_")]
    fields = dict.fromkeys(CONTROLS[control].policy._fields, 0)
    with pytest.raises(PolicyError, match=f"^{_new_name(variable)}"):
        CONTROLS[control].policy_from(fields | {variable.removeprefix(control + "_"): 5})


def test_every_control_with_rates_had_a_separate_variable():
    old = [name for name, new in OLD_VARIABLES.items() if new == "hostproof_window_seconds"]
    had = {name for name in CONTROLS for variable in old if variable.startswith(name)}
    # These came later.
    assert had == set(CONTROLS_WITH_RATES) - {"interconnect", "io_pacing", "memory_pressure"}


def untemplated(value: Any, variables: Any) -> Any:
    raise AssertionError("nothing here holds a template")


def test_one_variable_is_every_control_s():
    for variables, seconds in (({}, 10), ({"hostproof_window_seconds": 3}, 3)):
        shown = policies.policies_of(CONTROLS_WITH_RATES, variables, untemplated).shown
        assert {values["window_seconds"] for values in shown.values()} == {seconds}
        assert set(shown) == set(CONTROLS_WITH_RATES)


@pytest.mark.parametrize("variable", sorted(OLD_VARIABLES))
def test_an_inventory_with_an_old_variable_is_told(variable):
    with pytest.raises(policies.BadPolicy, match=f"^{_new_name(variable)}"):
        variable_names.check({variable: 5}, policies.controls(), untemplated)


def test_no_other_variable_has_moved():
    assert moved("hostproof_window_seconds") is None
    assert moved("latency_gate_seconds") is None


def test_nobody_uses_an_old_name():
    """A row of a table or a playbook with an old name would be an error for whoever copies it."""
    used = []
    for folder in ("roles", "playbooks", "inventories", "docs", "molecule"):
        for path in (packs.ROOT / folder).rglob("*"):
            if path.suffix in (".yml", ".md", ".py") and path.is_file():
                # The table of renamed variables has the old names.
                text = "" if path.name == "upgrading.md" else path.read_text()
                used += [(path, old) for old in OLD_VARIABLES if re.search(rf"\b{old}\b", text)]
    assert used == []
