"""The timer of ``./hostproof schedule`` with the real systemd of the machine.

STAND-IN: the program that the units start is a script that writes its arguments. The machine has no
controller; what an audit itself does is shown elsewhere.
"""

import os
import re
import subprocess
import sys

import pytest
from machines.needs import ROOT

CALLED = "/run/lab-schedule"
SCRIPT = f"#!/bin/sh\necho $* >>{CALLED}\n[ $1 != audit ] || exit 2\n"


def units() -> dict[str, str]:
    """Path and text of both units, as the command prints them."""
    words = ["schedule", "--print", "--name", "lab-schedule", "--on-calendar", "*:*:0/2"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "hostproof_controller", *words, "--keep", "5", "--", "-v"],
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(ROOT / "plugin_utils")},
        capture_output=True,
        text=True,
        check=True,
    )
    parts = re.split(r"^# (/etc/systemd/system/\S+)\n", done.stdout, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.fixture(scope="module")
def started(lab):
    """The timer is enabled, and its program exists on the machine."""
    texts = units()
    program = re.search(r"^ExecStart=(\S+) audit -v$", "".join(texts.values()), re.M)[1]
    made = lab.run(f"[ -e {program} ] || echo new").strip()
    commands = ["set -e", f"mkdir -p {os.path.dirname(program)}"]
    for path, text in {**texts, program: SCRIPT}.items():
        commands.append(f"cat >{path} <<'EOF'\n{text}EOF")
    commands += [f"chmod 755 {program}", "systemctl daemon-reload"]
    lab.run("\n".join([*commands, "systemctl enable --now lab-schedule.timer"]))
    yield
    paths = " ".join([*texts, *([program] if made else [])])
    lab.run(f"systemctl disable --now lab-schedule.timer; rm -f {paths} {CALLED}")
    lab.run("systemctl daemon-reload; systemctl reset-failed 'lab-schedule*' || true")


def test_the_timer_starts_the_audit_and_what_follows_it(lab, started):
    waiting = f"for i in $(seq 60); do grep -q prune {CALLED} && break; sleep 1; done"
    lines = lab.run(f"{waiting}; cat {CALLED}").splitlines()
    assert lines[:2] == ["audit -v", "prune --keep 5"]


def test_findings_are_no_failure_of_the_service(lab, started):
    lab.run("systemctl stop lab-schedule.timer; systemctl start lab-schedule.service")
    shown = lab.run("systemctl show -p Result -p ExecMainStatus lab-schedule.service")
    assert shown.split() == ["Result=success", "ExecMainStatus=2"]


def test_the_timer_survives_a_reboot(lab, started):
    assert lab.run("systemctl is-enabled lab-schedule.timer").strip() == "enabled"
