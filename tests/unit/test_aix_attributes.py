"""The module aix_attributes on stand-ins of lsattr, chdev and the Python of AIX."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.aix_device import read_device, wanted_change
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect import command
from ansible.module_utils.hostproof.collect.host import LiveHost
from cases import cases

HOST = packs.ROOT / "molecule/io_pacing/files/host.json"

pytestmark = pytest.mark.skipif(
    not Path("/usr/bin/python3").exists(), reason="the stand-in of Python needs /usr/bin/python3"
)


class Ended(Exception):
    """The module ended, with its results."""

    def __init__(self, failed: bool, results: dict[str, Any]) -> None:
        super().__init__(results)
        self.failed, self.results = failed, results


class Standin:
    """An AIX: the commands of tests/standins/aix, with a state of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = root / "state/host.json"
        self.calls = root / "state/calls.jsonl"
        self.journal = Journal(Writer(), str(root / "journal"))

    def read(self) -> dict[str, Any]:
        return json.loads(self.state.read_text())

    def write(self, device: str, attribute: str, **what: Any) -> None:
        state = self.read()
        state["devices"][device]["attributes"][attribute].update(what)
        self.state.write_text(json.dumps(state))

    def set(self, device: str, **what: Any) -> None:
        state = self.read()
        state["devices"][device].update(what)
        self.state.write_text(json.dumps(state))

    def odm(self, device: str, *names: str) -> list[str]:
        attributes = self.read()["devices"][device]["attributes"]
        return [attributes[name]["odm"] for name in names]

    def running(self, device: str, *names: str) -> list[str]:
        attributes = self.read()["devices"][device]["attributes"]
        return [attributes[name]["running"] for name in names]

    def chdevs(self) -> list[str]:
        calls = [json.loads(line)["argv"] for line in self.calls.read_text().splitlines()]
        return [" ".join(argv) for argv in calls if argv[0] == "chdev"]


@pytest.fixture
def host(tmp_path, monkeypatch) -> Standin:
    root = tmp_path / "aix"
    shutil.copytree(packs.ROOT / "tests/standins/aix", root)
    (root / "state").mkdir(exist_ok=True)
    state = json.loads(HOST.read_text())
    for device in state["devices"].values():
        for attribute in device["attributes"].values():
            attribute["running"] = attribute["configured"] = attribute["odm"]
    (root / "state/host.json").write_text(json.dumps(state))
    (root / "state/calls.jsonl").write_text("")
    monkeypatch.setenv("PATH", f"{root}:/usr/bin:/bin")
    monkeypatch.setattr(command, "PATH", f"{root}:{command.PATH}")
    monkeypatch.setattr(sys, "executable", str(root / "python3"))
    return Standin(root)


@pytest.fixture
def run(host, monkeypatch):
    """run(device, attributes or names, ...): the results; a failure is one of them."""
    module = importlib.import_module("ansible.modules.aix_attributes")

    def start(device: str, *names: str, check_mode: bool = False, **params: Any) -> Ended:
        class Fake:
            def __init__(self, argument_spec: Any, **_how: Any) -> None:
                defaults = {name: option.get("default") for name, option in argument_spec.items()}
                self.params = {**defaults, "device": device, "names": list(names) or None, **params}
                self.check_mode = check_mode

            def exit_json(self, **results: Any) -> None:
                raise Ended(False, results)

            def fail_json(self, **results: Any) -> None:
                raise Ended(True, results)

        monkeypatch.setattr(module, "AnsibleModule", Fake)
        monkeypatch.setattr(module, "Journal", lambda _writer: host.journal)
        with pytest.raises(Ended) as ended:
            module.main()
        json.dumps(ended.value.results)
        return ended.value

    return start


PACING = {"maxpout": 8193, "minpout": 4096}


class TestBoth:
    def test_several_in_one_chdev_read_back_and_reverted(self, host, run):
        done = run("sys0", attributes=PACING | {"maxuproc": 16384})
        assert not done.failed, done.results
        assert done.results["changed"]
        assert done.results["prior"] == {"maxpout": "33", "minpout": "24", "maxuproc": "2048"}
        assert done.results["configured"] == {
            "maxpout": "8193",
            "minpout": "4096",
            "maxuproc": "16384",
        }
        assert done.results["running"] == {"maxpout": "8193", "minpout": "4096"}
        assert host.chdevs() == ["chdev -l sys0 -a maxpout=8193 -a minpout=4096 -a maxuproc=16384"]
        apply.revert(host.journal.transactions("aix_attributes"), host.journal, Writer())
        assert host.odm("sys0", "maxpout", "minpout", "maxuproc") == ["33", "24", "2048"]
        assert host.running("sys0", "maxpout", "minpout", "maxuproc") == ["33", "24", "2048"]

    def test_second_run_changes_nothing(self, host, run):
        run("sys0", attributes=PACING)
        again = run("sys0", attributes=PACING)
        assert again.results["changed"] is False
        assert len(host.chdevs()) == 1

    def test_prior_put_back_by_a_task(self, host, run):
        done = run("sys0", attributes=PACING)
        run("sys0", attributes=done.results["prior"])
        assert host.odm("sys0", "maxpout", "minpout") == ["33", "24"]

    def test_check_mode_changes_nothing_and_shows_all(self, host, run):
        before = host.state.read_text()
        done = run("sys0", attributes=PACING, check_mode=True)
        assert done.results["changed"]
        (diff,) = done.results["diff"]
        assert diff["before"].splitlines()[0] == (
            "maxpout 33 HIGH water mark for pending write I/Os per file True"
        )
        assert diff["after"].splitlines()[1] == (
            "minpout 4096 LOW water mark for pending write I/Os per file True"
        )
        assert host.state.read_text() == before
        assert host.chdevs() == []

    def test_database_right_and_kernel_not(self, host, run):
        host.write("sys0", "maxpout", odm="8193")
        host.write("sys0", "minpout", odm="4096")
        done = run("sys0", attributes=PACING)
        assert done.results["changed"]
        assert host.chdevs() == ["chdev -l sys0 -a maxpout=8193 -a minpout=4096 -T"]
        assert host.running("sys0", "maxpout", "minpout") == ["8193", "4096"]
        apply.revert(host.journal.transactions("aix_attributes"), host.journal, Writer())
        assert host.running("sys0", "maxpout", "minpout") == ["33", "24"]
        assert host.odm("sys0", "maxpout", "minpout") == ["8193", "4096"]

    def test_kernel_that_went_by_others_gets_them_back(self, host, run):
        host.write("sys0", "maxpout", running="513")
        host.write("sys0", "minpout", running="256")
        run("sys0", attributes=PACING)
        apply.revert(host.journal.transactions("aix_attributes"), host.journal, Writer())
        assert host.odm("sys0", "maxpout", "minpout") == ["33", "24"]
        assert host.running("sys0", "maxpout", "minpout") == ["513", "256"]

    @cases(
        "odm running wanted",
        (("8193", "24"), ("33", "24"), PACING),
        (("513", "24"), ("33", "16"), {"maxpout": 513, "minpout": 16}),
        (("8193", "256"), ("513", "24"), PACING),
    )
    def test_a_mark_that_only_one_layer_has(self, host, run, odm, running, wanted):
        """chdev of what the database lacks alone would leave the kernel with marks of two pairs."""
        for at, name in enumerate(wanted):
            host.write("sys0", name, odm=odm[at], running=running[at])
        before = (host.odm("sys0", *wanted), host.running("sys0", *wanted))
        values = [str(value) for value in wanted.values()]
        done = run("sys0", attributes=wanted)
        assert not done.failed, done.results
        assert host.odm("sys0", *wanted) == host.running("sys0", *wanted) == values
        assert len(host.chdevs()) == 1
        assert run("sys0", attributes=wanted).results["changed"] is False
        apply.revert(host.journal.transactions("aix_attributes"), host.journal, Writer())
        assert (host.odm("sys0", *wanted), host.running("sys0", *wanted)) == before

    def test_what_only_the_kernel_has_is_reverted(self, host, run):
        run("sys0", attributes=PACING)
        host.write("sys0", "maxpout", odm="33")  # chdev -P by hand
        host.write("sys0", "minpout", odm="24")
        transactions = host.journal.transactions("aix_attributes")
        (restored,) = apply.restorations(transactions)
        assert str(restored.now).endswith("maxpout=8193\nminpout=4096")
        assert str(restored.before).endswith("maxpout=33\nminpout=24")
        apply.revert(transactions, host.journal, Writer())
        assert host.odm("sys0", "maxpout", "minpout") == ["33", "24"]
        assert host.running("sys0", "maxpout", "minpout") == ["33", "24"]

    def test_chdev_that_leaves_the_kernel_as_it_was(self, host, run):
        state = host.read()
        state["chdev_forgets_kernel"] = True
        host.state.write_text(json.dumps(state))
        done = run("sys0", attributes=PACING)
        assert done.failed
        assert "requested maxpout 8193" in done.results["msg"]
        assert "the old state is restored" in done.results["msg"]
        assert host.odm("sys0", "maxpout", "minpout") == ["33", "24"]
        assert host.journal.transactions("aix_attributes") == []

    @cases(
        "running attributes when layer",
        (("33", "24"), {"minpout": 4096}, "both", "database"),
        (("8193", "256"), {"maxpout": 129}, "both", "kernel"),
        (("8193", "256"), {"maxpout": 33}, "now", "kernel"),
        (("33", "24"), {"minpout": 36}, "next_boot", "database"),
        (("33", "24"), {"minpout": 0}, "both", "database"),
        (("33", "24"), {"maxpout": 33, "minpout": 36}, "both", "database"),
    )
    def test_marks_that_would_not_go_together(self, host, run, running, attributes, when, layer):
        for at, name in enumerate(PACING):
            host.write("sys0", name, running=running[at])
        done = run("sys0", attributes=attributes, when=when)
        assert done.failed
        assert f"would meet in the {layer}: give both" in done.results["msg"]
        assert host.chdevs() == []

    def test_one_mark_that_goes_with_the_other(self, host, run):
        done = run("sys0", attributes={"maxpout": 513})
        assert not done.failed, done.results
        assert done.results["prior"] == {"maxpout": "33"}
        assert done.results["running"] == done.results["configured"] == {"maxpout": "513"}
        assert host.chdevs() == ["chdev -l sys0 -a maxpout=513"]


class TestWords:
    def test_value_with_blanks(self, host, run):
        host.set("hdisk1", busy=False)
        done = run("hdisk1", attributes={"label": "data files"})
        assert not done.failed, done.results
        assert done.results["prior"] == {"label": "redo logs"}
        assert host.odm("hdisk1", "label") == ["data files"]
        assert run("hdisk1", attributes={"label": "data files"}).results["changed"] is False
        # A part of the value that is there is another value.
        assert run("hdisk1", attributes={"label": "data"}).results["changed"]
        assert host.odm("hdisk1", "label") == ["data"]

    def test_empty_value(self, host, run):
        host.set("hdisk1", busy=False)
        assert not run("hdisk1", attributes={"label": ""}).failed
        assert host.odm("hdisk1", "label") == [""]
        done = run("hdisk1", attributes={"label": "x"})
        assert (done.failed, done.results["prior"]) == (False, {"label": ""})

    def test_name_that_begins_as_another(self, host, run):
        host.set("hdisk1", busy=False)
        run("hdisk1", attributes={"queue_depth": 64})
        assert host.odm("hdisk1", "queue_depth", "queue_depth_extra") == ["64", "1"]

    def test_reading(self, host, run):
        done = run("hdisk1", "label", "queue_depth")
        assert done.results["changed"] is False
        assert done.results["configured"] == {"label": "redo logs", "queue_depth": "20"}
        assert done.results["legal"]["queue_depth"] == "1 to 256 in steps of 1"
        assert done.results["running"] == {}


class TestNextBoot:
    def test_of_a_busy_device(self, host, run):
        done = run("hdisk1", attributes={"queue_depth": 64}, when="next_boot")
        assert not done.failed, done.results
        assert host.odm("hdisk1", "queue_depth") == ["64"]
        assert host.running("hdisk1", "queue_depth") == ["20"]
        assert (
            run("hdisk1", attributes={"queue_depth": 64}, when="next_boot").results["changed"]
            is False
        )
        apply.revert(host.journal.transactions("aix_attributes"), host.journal, Writer())
        assert host.odm("hdisk1", "queue_depth") == ["20"]
        assert [line for line in host.chdevs() if not line.endswith(" -P")] == []


class TestNow:
    def test_marks_are_read_back_from_the_kernel(self, host, run):
        done = run("sys0", attributes=PACING, when="now")
        assert not done.failed, done.results
        assert host.odm("sys0", "maxpout", "minpout") == ["33", "24"]
        assert host.running("sys0", "maxpout", "minpout") == ["8193", "4096"]
        assert done.results["prior"] == {"maxpout": "33", "minpout": "24"}
        assert done.results["running"] == {"maxpout": "8193", "minpout": "4096"}
        assert run("sys0", attributes=PACING, when="now").results["changed"] is False

    def test_what_nobody_tells_is_changed_again(self, host, run):
        assert run("sys0", attributes={"maxuproc": 4096}, when="now").results["changed"]
        assert run("sys0", attributes={"maxuproc": 4096}, when="now").results["changed"]
        assert host.running("sys0", "maxuproc") == ["4096"]
        apply.revert(host.journal.transactions("aix_attributes"), host.journal, Writer())
        assert host.running("sys0", "maxuproc") == host.odm("sys0", "maxuproc") == ["2048"]


class TestFailures:
    def refused(self, host: Standin, done: Ended, said: str) -> None:
        assert done.failed, done.results
        assert said in done.results["msg"]
        assert "Traceback" not in done.results["msg"]

    def test_busy_device(self, host, run):
        before = host.odm("hdisk1", "queue_depth")
        self.refused(host, run("hdisk1", attributes={"queue_depth": 64}), "0514-062")
        assert host.odm("hdisk1", "queue_depth") == before

    def test_value_out_of_its_range_is_refused_before_chdev(self, host, run):
        done = run("hdisk1", attributes={"queue_depth": 300}, when="next_boot")
        self.refused(host, done, "queue_depth of hdisk1 cannot be '300': it takes 1 to 256")
        done = run("hdisk1", attributes={"reserve_policy": "no"}, when="next_boot")
        self.refused(host, done, "cannot be 'no': it takes no_reserve or single_path")
        assert host.chdevs() == []

    def test_attribute_that_no_user_may_change(self, host, run):
        done = run("sys0", attributes={"modelname": "x"})
        self.refused(host, done, "modelname of sys0 cannot be changed by a user")
        assert host.chdevs() == []

    @cases(
        "device attributes said",
        ("hdisk9", {"queue_depth": 2}, "0514-519"),
        ("sys0", {"maxpot": 33}, "0514-528"),
        ("sys0 -a x", {"maxpout": 33}, "is not the name of a device"),
        ("-R", {"maxpout": 33}, "is not the name of a device"),
        ("sys0\n", {"maxpout": 33}, "is not the name of a device"),
        ("sys0", {"max pout": 33}, "is not the name of an attribute of sys0"),
        ("sys0", {"maxpout\n": 33}, "is not the name of an attribute of sys0"),
        ("sys0", {"maxpout": [33]}, "must be one text or number"),
        ("sys0", {"maxpout": "33\n34"}, "characters that do not print"),
        ("sys0", {}, "no attribute is given"),
        ("hdisk1", {"label": "redo queue_depth=1"}, "the value of label holds queue_depth="),
        ("hdisk1", {"label": "redo  c%d=1"}, "the value of label holds c%d="),
    )
    def test_what_is_not_there(self, host, run, device, attributes, said):
        self.refused(host, run(device, attributes=attributes), said)
        assert host.chdevs() == []

    def test_chdev_that_says_it_changed_and_did_not(self, host, run):
        state = host.read()
        state["chdev_forgets"] = True
        host.state.write_text(json.dumps(state))
        done = run("sys0", attributes={"maxuproc": 4096})
        self.refused(host, done, "requested maxuproc 4096")
        assert "the old state is restored" in done.results["msg"]

    def test_no_aix(self, run, monkeypatch, tmp_path):
        monkeypatch.setenv("PATH", str(tmp_path))
        done = run("sys0", attributes=PACING)
        assert done.failed
        assert "No such file or directory" in done.results["msg"]


def test_the_standin_of_ioo_is_for_root_alone(host):
    for user, rc in ((201, 1), (0, 0)):
        program = "import os, runpy, sys; sys.argv = ['ioo', '-a']; os.geteuid = lambda: "
        program += f"{user}; runpy.run_path('ioo', run_name='__main__')"
        done = subprocess.run(
            ["/usr/bin/python3", "-c", program], cwd=host.root, capture_output=True, text=True
        )
        assert done.returncode == rc, done.stderr
        assert ("You must be root" in done.stderr) == (user != 0)


def test_kernel_that_does_not_tell_is_no_reason_to_fail(host, monkeypatch):
    """Without ctypes the database still tells, and what is unknown is not said to be known."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    there = read_device(LiveHost(), "sys0", ("maxpout", "minpout"))
    change = wanted_change(there, {"maxpout": "8193", "minpout": "4096"}, "both")
    assert change is not None
    assert change.undo[0].argv[-1] == "minpout=24"
    now = wanted_change(there, {"maxpout": "33"}, "now")
    assert now is not None
    assert now.before is None
