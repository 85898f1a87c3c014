"""What is recorded on the AIX host is judged elsewhere to the same findings, by every control.

And every command of the whole audit is one that AIX has, with options that AIX knows.
"""

import json
import os
import re
import sys
from pathlib import Path

import pytest
import yaml
from machines import container
from machines.machine import play

ROOT = Path(__file__).resolve().parents[3]
POLICY = ROOT / "molecule/io_pacing/inventory"
INVENTORIES = [container.inventory_file("io_pacing"), POLICY]

#: Commands that AIX 6.1 to 7.3 have (AIX Commands Reference); what stands below /usr/es comes with
#: PowerHA, and a Python is what Ansible itself was started with.
OF_AIX = {
    *("cat", "chdev", "entstat", "getconf", "hostname", "id", "ifconfig", "ioo"),
    *("lparstat", "lsattr", "lsdev", "lslpp", "lssrc", "mount", "netstat", "nfso", "nfsstat"),
    *("no", "oslevel", "ps", "route", "sed", "uname", "vmo", "vmstat"),
    *("/opt/freeware/bin/python3", "/usr/es/sbin/cluster/utilities/halevel"),
}

#: An option of one letter, or several letters that are options themselves; a number; a dash alone.
OPTION = re.compile(r"-(?:[A-Za-z]+|\d+)?$")


@pytest.fixture(scope="session")
def pack(tmp_path_factory, box):
    """The evidence pack that `./hostproof record` writes: every control, by its defaults."""
    box.forget_calls()
    folder = tmp_path_factory.mktemp("record")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTPROOF_RECORD", str(folder))
        assert play(INVENTORIES, "record").rc == 0
    (path,) = folder.glob("*.json")
    return path


@pytest.fixture(scope="session")
def live(pack):
    """What the audit of the host finds, by every control."""
    return play(INVENTORIES, "audit").findings


def judged(pack, monkeypatch):
    """What `./hostproof audit --evidence` finds, by the same variables as ./hostproof sets."""
    monkeypatch.setenv("HOSTPROOF_EVIDENCE", str(pack.parent))
    return play(
        [ROOT / "inventories/evidence.py"],
        "audit",
        hostproof_evidence_folder=str(pack.parent),
        ansible_connection="local",
        ansible_become=False,
        ansible_python_interpreter=sys.executable,
    )


def without_options(findings):
    """The findings without what is the run's own: its inventory, and how long its window was."""
    return [
        {
            **finding,
            "commands": [re.sub(r" -i \S+", "", line) for line in finding["commands"]],
            "in_use": re.sub(r"within \d+\.\d s", "within the window", finding["in_use"] or ""),
        }
        for finding in findings
    ]


def test_the_pack_judged_here_gives_the_findings_of_the_host(pack, live, monkeypatch):
    offline = judged(pack, monkeypatch).findings
    assert len(live) > 70
    assert without_options(offline) == without_options(live)
    statuses = {finding["check"]: finding["status"] for finding in offline}
    assert statuses["io_pacing.legacy_values"] == "fail"
    # ent0 carries an NFS mount, and its flow control is off: now (entstat) and at boot (lsattr).
    assert statuses["flow_control.configured"] == statuses["flow_control.persisted"] == "pass"
    (finding,) = [finding for finding in offline if finding["check"] == "flow_control.configured"]
    assert finding["title"].startswith("ent0: ")
    assert finding["running"] == "rx off, tx off"


def test_a_pack_of_other_marks_is_judged_otherwise(pack, monkeypatch, tmp_path):
    """Or the test above would compare nothing with nothing."""
    text = pack.read_text()
    changed = tmp_path / pack.name
    other = text.replace("maxpout 33 ", "maxpout 513 ").replace("=33", "=513")
    other = other.replace("Flow Control Status: Disabled", "Flow Control Status: Enabled")
    changed.write_text(other)
    assert changed.read_text() != text
    findings = {finding["check"]: finding for finding in judged(changed, monkeypatch).findings}
    assert findings["io_pacing.legacy_values"]["status"] != "fail"
    assert findings["io_pacing.persisted"]["persisted"] == "maxpout=513 minpout=24"
    assert findings["flow_control.configured"]["status"] == "warn"
    assert findings["flow_control.persisted"]["status"] == "pass"


def test_no_other_control_passes_what_it_cannot_know_on_aix(live):
    judged_here = ("async_io", "flow_control", "io_pacing")
    others = [finding for finding in live if finding["control"] not in judged_here]
    assert len({finding["control"] for finding in others}) > 4
    assert {finding["status"] for finding in others} <= {"skip", "error"}
    assert all(finding["why"] for finding in others)


def commands(pack):
    """Every argv of the pack; of what was not there the words of its key."""
    readings = json.loads(pack.read_text())["readings"]
    for key, reading in readings.items():
        if reading["kind"] == "command":
            yield reading.get("argv") or key.partition(":")[2].split(), reading.get("error")
        if reading["kind"] == "sample":
            for source in [*reading["first"], *reading["errors"]]:
                kind, _, line = source.partition(":")
                if kind == "command":
                    yield line.split(), "absent" if source in reading["errors"] else None


def test_what_the_audit_runs_is_there_or_missed_without_harm(pack):
    ran = list(commands(pack))
    assert len(ran) >= 9
    for argv, error in ran:
        assert argv[0] in OF_AIX or error == "absent", argv


def test_no_command_gets_an_option_of_gnu(box, pack):
    """Of the audit, apply and revert. The stand-ins refuse what AIX does not know."""
    assert box.apply().rc == 0
    assert box.revert().rc == 0
    called = box.calls()
    assert {argv[0] for argv in called} >= {"chdev", "ioo", "lsattr", "mount", "oslevel", "uname"}
    for argv in called + [argv for argv, error in commands(pack) if error is None]:
        if "python" in argv[0]:
            assert argv[1] == "-c"
            continue
        words = argv[1:]
        assert not [word for word in words if word.startswith("--")], argv
        assert not [word for word in words if word[:1] == "-" and not OPTION.match(word)], argv


def test_commands_are_asked_in_the_language_that_is_read(box):
    text = box.run("cat /opt/hostproof-tests/aix/state/calls.jsonl")
    queries = [json.loads(line) for line in text.splitlines()]
    assert queries
    assert all(query["environment"].get("LC_ALL") == "C" for query in queries)


def test_the_scenario_has_the_policy_of_the_defaults():
    """The pack is judged by the role's defaults: the story would compare two policies else."""
    variables = yaml.safe_load((POLICY / "group_vars/container/io_pacing.yml").read_text())
    defaults = yaml.safe_load((ROOT / "roles/io_pacing/defaults/main.yml").read_text())
    mine = {name: value for name, value in variables.items() if name.startswith("io_pacing_")}
    assert mine == {name: defaults[name] for name in mine}
    assert "HOSTPROOF_EVIDENCE" not in os.environ
