"""A run of the test runner: its exit status, its output, and that an unclear result is no pass."""

import io
import os
import re
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest
from cases import cases
from programs import imported_program

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS))

from runner import commands, lanes, progress, summary  # noqa: E402
from runner.lanes import Again, Waiting, lanes_of  # noqa: E402
from runner.outcome import Counts, Ended, Result, count, judge  # noqa: E402
from runner.progress import Progress  # noqa: E402
from runner.stages import Stage  # noqa: E402

#: dash can lose an interruption between the last command of a script and its exec.
SLEEP = "sleep 60 & wait"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """The module of tests/run."""
    return imported_program("run")


@pytest.fixture
def run(program, tmp_path, monkeypatch):
    """Runs stages with their logs in a directory of the test; the exit status."""
    for module in (commands, progress):
        monkeypatch.setattr(module, "LOGS", tmp_path)
    monkeypatch.setattr(summary, "ANSIBLE_RUNS", tmp_path / "no-runs")

    def runs(wanted: list[Stage], left_out: list[str], note: str = "") -> int:
        status = program.run(wanted, left_out, note)
        assert isinstance(status, int)
        return status

    return runs


@cases(
    "output expected",
    ("12 passed in 0.31s\n", (12, 0, 0)),
    ("==== 1 failed, 2 passed, 3 skipped in 61.20s (0:01:01) ====\n", (2, 1, 3)),
    ("2 errors in 0.50s\n", (0, 2, 0)),
    ("3 passed, 1 xfailed, 2 warnings in 0.50s\n", (3, 0, 1)),
    ("1 passed in 1.00s\nthen\n2 passed, 1 error in 2.00s\n", (3, 1, 0)),
    ("1 passed in 1.00s\nhostproof: 5 passed, 1 failed, 2 skipped\n", (5, 1, 2)),
    ("ok=3 changed=1 unreachable=0 failed=0 skipped=0\n", (0, 0, 0)),
)
def test_counts_what_a_command_sums_up(output, expected):
    assert count(output) == expected


@cases(
    "status output expected",
    (0, "fine\n", (1, 0, 0)),
    (1, "broken\n", (0, 1, 0)),
    (1, "4 passed in 1.00s\n", (4, 1, 0)),
    (5, "no tests ran in 0.01s\n", (0, 1, 0)),
    (77, "trying\nno container engine can run here\n", (0, 0, 1)),
    # A summary of nothing is no test that passed.
    (0, "0 passed, 0 failed, 0 skipped\n", (0, 1, 0)),
)
def test_judges_the_exit_status_before_the_words(status, output, expected):
    assert judge(["command"], status, output).counts == expected


def test_reasons_of_skips():
    output = "SKIPPED [2] tests/unit/test_x.py:7: needs root\nSKIPPED no python3.6 here\n"
    assert judge(["command"], 0, output).skips == [
        "tests/unit/test_x.py:7: needs root",
        "no python3.6 here",
    ]
    assert judge(["command"], 77, "trying\nno engine\n").skips == ["no engine"]


def test_missing_command_is_a_failure_and_the_next_stage_still_runs(run, capsys):
    broken = Stage("first", [["tests/run_nothing_of_that_name"]], 10, 10)
    sound = Stage("second", [[sys.executable, "-c", "print('3 passed in 0.10s')"]], 10, 10)
    assert run([broken, sound], ["lab"]) == 1
    printed = capsys.readouterr().out
    assert "tests/run_nothing_of_that_name: not found" in printed
    assert "lab: all of it left out by --quick" in printed
    assert printed.splitlines()[-1] == "hostproof: 3 passed, 1 failed, 1 skipped"


def test_hung_command_is_ended_with_its_children_and_fails(run, tmp_path, capsys):
    child = tmp_path / "child"
    script = f"sleep 60 & echo $! > {child}; wait"
    assert run([Stage("hangs", [["sh", "-c", script]], 1, 1)], []) == 1
    assert "stopped: the stage took longer than its limit" in capsys.readouterr().out
    with pytest.raises(ProcessLookupError):
        for _ in range(50):
            os.kill(int(child.read_text()), 0)
            time.sleep(0.1)


def waits_for(folder: Path, mine: str, other: str) -> list[list[str]]:
    """A command that ends well only if another one like it runs at the same time."""
    script = f"touch {folder}/{mine}; until [ -e {folder}/{other} ]; do sleep 0.1; done"
    return [["sh", "-c", script]]


def test_the_lab_runs_beside_the_other_stages_and_nothing_beside_bench(run, tmp_path):
    lab = Stage("lab", waits_for(tmp_path, "lab", "unit"), 30, 30)
    unit = Stage("unit", waits_for(tmp_path, "unit", "lab"), 30, 30)
    assert lanes_of([unit, lab]) == [[unit], [lab]]
    # It fails where another has not ended.
    both = f"test -e {tmp_path}/lab-ended -a -e {tmp_path}/unit-ended"
    bench = Stage("bench", [["sh", "-c", both]], 30, 30)
    marked = [
        stage._replace(commands=[*stage.commands, ["touch", f"{tmp_path}/{stage.name}-ended"]])
        for stage in (unit, lab)
    ]
    assert run([*marked, bench], []) == 0


def test_a_lane_that_has_ended_takes_the_longest_that_the_other_has_not_begun():
    unit, matrix, snmp, containers, lab, delays = (
        Stage(name, [], 30, budget)
        for name, budget in (
            *(("unit", 480), ("matrix", 300), ("snmp", 200), ("containers", 350), ("lab", 1400)),
            ("delays", 120),
        )
    )
    main, aside = lanes_of([unit, matrix, snmp, containers, lab, delays])
    waiting = Waiting([main, aside])
    assert (waiting.take(main), waiting.take(aside)) == (unit, lab)
    assert (waiting.take(main), waiting.take(aside)) == (matrix, delays)
    assert (waiting.take(aside), waiting.take(main)) == (containers, snmp)
    assert (waiting.take(aside), waiting.take(main)) == (None, None)
    # The other way round: what the lab's lane has not begun is run by the one that ended first.
    waiting = Waiting([main[:1], aside])
    assert [waiting.take(lane) for lane in (aside, main, main, aside)] == [lab, unit, delays, None]


def test_what_runs_the_same_tests_does_not_run_side_by_side():
    unit, matrix, snmp, lab = (
        Stage(name, [], 30, budget)
        for name, budget in (("unit", 600), ("matrix", 400), ("snmp", 200), ("lab", 1400))
    )
    main, aside = lanes_of([unit, matrix, snmp, lab])
    waiting = Waiting([main, aside])
    assert (waiting.take(aside), waiting.take(main)) == (lab, unit)
    # The matrix would take longer; and there is nothing else that may run beside the tests.
    assert (waiting.take(aside), waiting.take(aside)) == (snmp, None)
    assert (waiting.take(main), waiting.take(main)) == (matrix, None)


def test_what_a_lane_has_to_wait_for_runs_once():
    unit, matrix = Stage("unit", [], 30, 30), Stage("matrix", [], 30, 30)
    waiting = Waiting([[matrix], [unit]])
    lanes = [matrix], [unit]
    assert waiting.take(lanes[1]) == unit
    taken = []
    thread = threading.Thread(target=lambda: taken.append(waiting.take(lanes[0])))
    thread.start()
    # Whichever lane comes first runs it, and the other ends.
    taken.append(waiting.take(lanes[1]))
    thread.join(timeout=600)
    assert sorted(taken, key=str) == [None, matrix]


def test_every_stage_runs_once_also_where_one_lane_helps(run, tmp_path):
    # Each ends only with the one beside it, so the lab's lane has to take one of the others.
    stages = [
        Stage("lab", [["true"]], 30, 30),
        Stage("unit", waits_for(tmp_path, "unit", "containers"), 30, 30),
        Stage("containers", waits_for(tmp_path, "containers", "unit"), 30, 30),
        Stage("snmp", [["sh", "-c", f"echo once >> {tmp_path}/ran"]], 30, 20),
    ]
    assert run(stages, []) == 0
    assert (tmp_path / "ran").read_text() == "once\n"


def test_the_other_stages_make_way_for_the_lab(run, tmp_path):
    levels = {}
    for name in ("lab", "unit", "bench"):
        path = tmp_path / name
        stage = Stage(name, [["sh", "-c", f"nice > {path}"]], 30, 30)
        assert run([stage], []) == 0
        levels[name] = int(path.read_text()) - os.nice(0)
    assert levels == {"lab": 0, "unit": min(commands.NICE, 19 - os.nice(0)), "bench": 0}


def test_what_two_stages_print_is_not_mixed(program, run, tmp_path, monkeypatch, capsys):

    def failing(name: str, other: str) -> list[list[str]]:
        ((*shell, script),) = waits_for(tmp_path, name, other)
        return [[*shell, f"for i in 1 2 3 4; do echo {name} $i; done; {script}; exit 1"]]

    stages = [
        Stage(*arguments, 30, 30)
        for arguments in (("unit", failing("unit", "lab")), ("lab", failing("lab", "unit")))
    ]
    monkeypatch.setattr(program, "AGAIN_WITHIN", 0)
    assert run(stages, []) == 1
    printed = [line[4:] for line in capsys.readouterr().out.splitlines() if line[:4] == "  | "]
    outputs = {"unit": [f"unit {i}" for i in range(1, 5)], "lab": [f"lab {i}" for i in range(1, 5)]}
    assert printed in (outputs["unit"] + outputs["lab"], outputs["lab"] + outputs["unit"])


def test_an_interruption_ends_what_both_lanes_run(run, tmp_path):

    def interrupting(name: str, then: str) -> list[list[str]]:
        return [["sh", "-c", f"echo $$ > {tmp_path}/{name}; {then}"]]

    kill = f"until [ -s {tmp_path}/lab ]; do sleep 0.1; done; kill -TERM {os.getpid()}; {SLEEP}"
    unit = Stage("unit", interrupting("unit", kill), 60, 60)
    lab = Stage("lab", interrupting("lab", SLEEP), 60, 60)
    never = Stage("delays", [["touch", str(tmp_path / "delays")]], 60, 60)
    with pytest.raises(KeyboardInterrupt):
        run([unit, lab, never], [])
    for name in ("unit", "lab"):
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / name).read_text()), 0)
    assert not (tmp_path / "delays").exists()


def test_a_stage_over_its_budget_is_said_among_the_last_lines_and_is_no_failure(run, capsys):
    # Less than nothing is what every stage takes longer than.
    slow = Stage("slow", [["true"]], 10, -1)
    quick = Stage("quick", [["true"]], 10, 10)
    assert run([slow, quick], []) == 0
    last = capsys.readouterr().out.splitlines()[-3:]
    # The seconds depend on how busy the machine is.
    assert re.fullmatch(r"over its budget: slow took \d s of -1 s", last[0])
    assert re.match(r"in \d s, with \d s of CPU time \(", last[1])
    assert last[-1] == "hostproof: 2 passed, 0 failed, 0 skipped"


OUTPUT = """\
12.34s call     tests/unit/test_x.py::test_y[1]
3.00s setup    tests/unit/test_z.py::test_z
  passed  45.6 s  apply makes the pool
2.16 on 3.11  3.11    unit    ok         301 s
4312 passed, 3 skipped in 428.00s
"""


def fails_until(path: Path) -> list[str]:
    """A command that fails the first time; the second time it ends as ``path`` says.

    It writes ``path`` the first time: all of its three tests pass the second time.
    """
    second = 'echo "3 passed in 1.0s"; exit 0'
    first = f"echo '{second}' >{path}; echo '1 failed, 2 passed in 1.0s'; exit 1"
    script = f"if [ -e {path} ]; then . {path}; else {first}; fi"
    return ["sh", "-c", f"echo 'FAILED tests/unit/test_x.py::test_y - late'; {script}"]


def test_what_failed_is_asked_again_alone_and_named_as_unsteady(run, tmp_path, capsys):
    stage = Stage("unit", [fails_until(tmp_path / "second"), ["true"]], 10, 10)
    assert run([stage], []) == 0
    printed = capsys.readouterr().out
    name = "unit: tests/unit/test_x.py::test_y - late"
    assert f"unsteady, failed at first and passed when nothing else ran: {name}\n" in printed
    assert printed.splitlines()[-1] == "hostproof: 4 passed, 0 failed, 0 skipped"


def test_what_fails_again_is_a_failure(run, tmp_path, capsys):
    (tmp_path / "broken").write_text("echo '1 failed in 1.0s'; exit 1")
    stage = Stage("unit", [fails_until(tmp_path / "broken")], 10, 10)
    assert run([stage], []) == 1
    printed = capsys.readouterr().out
    assert "unsteady" not in printed
    assert "failed: unit: tests/unit/test_x.py::test_y - late" in printed.splitlines()[-5:]


def test_nothing_is_asked_again_by_linters_nor_when_the_time_is_over(
    program, run, tmp_path, monkeypatch
):
    lint = Stage("lint", [fails_until(tmp_path / "lint")], 10, 10)
    assert run([lint], []) == 1
    monkeypatch.setattr(program, "AGAIN_WITHIN", 0)
    unit = Stage("unit", [fails_until(tmp_path / "unit")], 10, 10)
    assert run([unit], []) == 1


def failed(argv: list[str], **how: tuple[str, ...]) -> Ended:
    """A stage that took 2,000 seconds; one test of its command failed."""
    result = Result(argv, 1, Counts(2, 1, 0), "", [])
    return Ended(Stage("unit", [argv], 3600, 600, **how), [result], 2000.0, 1.0)


@cases(
    "left how fails",
    (2100, {}, 0),
    (1900, {}, 1),
    # A second try of what failed is short.
    (1900, {"failed_only": ("--last-failed",)}, 0),
    (200, {"failed_only": ("--last-failed",)}, 1),
)
def test_what_failed_is_asked_again_where_there_is_time_for_it(run, left, how, fails):
    again = Again(time.monotonic() + left, Progress(io.StringIO()))
    ended = again.ask(failed(["sh", "-c", "true", "sh"], **how))
    assert ended.counts.failed == fails
    assert len(again.unsteady) == 1 - fails


def test_a_second_try_ends_with_the_time_of_the_run(run, monkeypatch):
    monkeypatch.setattr(lanes, "FAILED_ONLY", 0)
    began = time.monotonic()
    again = Again(began + 3, Progress(io.StringIO()))
    hangs = failed(["sh", "-c", "sleep 3000", "sh"], failed_only=("--last-failed",))
    assert again.ask(hangs).counts.failed == 1
    assert again.unsteady == []
    assert time.monotonic() - began < 1000


def test_a_stage_that_can_choose_asks_only_what_failed(run, tmp_path):
    script = f'echo "$@" >>{tmp_path}/arguments; [ "$1" = --last-failed ]'
    command = [["sh", "-c", script, "sh"]]
    stage = Stage("unit", command, 10, 10, failed_only=("--last-failed",))
    assert run([stage], []) == 0
    assert (tmp_path / "arguments").read_text() == "\n--last-failed\n"


@cases("status", 2, 124, 137)
def test_a_stage_that_did_not_get_to_its_end_is_asked_again_as_a_whole(run, tmp_path, status):
    """pytest remembers only the failures before it was stopped: the other tests never ran."""
    script = f"""
echo "$*" >>{tmp_path}/arguments
if [ -e {tmp_path}/once ]; then echo '7 passed in 1.00s'; exit 0; fi
touch {tmp_path}/once; echo '3 passed, 1 failed in 1.00s'; exit {status}"""
    stage = Stage("unit", [["sh", "-c", script, "sh"]], 60, 60, failed_only=("--last-failed",))
    assert run([stage], []) == 0
    assert (tmp_path / "arguments").read_text() == "\n\n"


def test_a_stage_that_did_not_get_to_its_end_needs_time_for_all_of_it(run):
    again = Again(time.monotonic() + 1900, Progress(io.StringIO()))
    stopped = failed(["sh", "-c", "true", "sh"], failed_only=("--last-failed",))
    stopped = stopped._replace(results=[stopped.results[0]._replace(status=124)])
    assert again.ask(stopped) == stopped


def test_the_slowest_are_read_from_what_pytest_a_story_and_the_matrix_print():
    stage = Stage("any", [], 10, 10)
    result = Result([], 0, Counts(1, 0, 0), OUTPUT, [])
    assert Ended(stage, [result], 1.0, 1.0).slowest() == [
        (301.0, "2.16 on 3.11  3.11    unit"),
        (45.6, "apply makes the pool"),
        (12.34, "tests/unit/test_x.py::test_y[1]"),
        (3.0, "tests/unit/test_z.py::test_z"),
    ]


def test_what_repeats_is_summed_up_by_stage_and_playbook(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "ANSIBLE_RUNS", tmp_path / "runs")
    (tmp_path / "runs").write_text("lab 10.5 verify.yml\nlab 1.5 a module\nlab 9.5 verify.yml\n")
    stage = Stage("lab", [], 10, 10)
    printed = summary.times([Ended(stage, [], 30.0, 20.0)]).splitlines()
    assert "  lab              30      10      20        3           22" in printed
    assert printed.index("      20.0  in 2 x verify.yml") < printed.index(
        "       1.5  in 1 x a module"
    )


def test_ansible_settings_of_the_caller_do_not_reach_a_stage(monkeypatch):
    monkeypatch.setenv("ANSIBLE_STDOUT_CALLBACK", "json")
    environment = commands.environment()
    assert "ANSIBLE_STDOUT_CALLBACK" not in environment
    assert environment["ANSIBLE_CONFIG"].endswith("/ansible.cfg")
