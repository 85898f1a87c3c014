"""Runs a scenario: short lines about its steps, everything else into a log."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from . import container
from .needs import ROOT, say

#: The lab needs a virtual machine, so "molecule test --all" does not find its file.
LAB_GLOB = "molecule/*/lab.yml"
LOGS = ROOT / ".cache" / "logs"
#: What all scenarios share. Molecule finds this file by itself only in a Git checkout. Elsewhere it
#: uses its own defaults, whose verify step runs no test.
SHARED_CONFIG = ROOT / ".config/molecule/config.yml"

#: What of molecule's and pytest's output is worth a line.
ACTION = re.compile(r"\[(?P<scenario>\w+) > (?P<name>\w+)\] (?P<what>Executing|Executed)")
SHOWN = ("create", "prepare", "converge", "idempotence", "verify")
STEP = re.compile(
    r"::test_(?P<name>\w+)\S* (?P<result>PASSED|FAILED|ERROR|SKIPPED)(?: \((?P<why>.+)\))?"
)
SUMMARY = re.compile(r"^=+ (?P<text>(?:\d+ \w+(?:, )?)+ in [\d.]+s)")
TAIL_LINES = 120


@contextmanager
def only_run(name: str) -> Iterator[int]:
    """Hold this checkout's scenario, after a run that goes on; the lock's file descriptor.

    Molecule and its machine are one a checkout.
    """
    lock_file = ROOT / ".cache" / "machines" / f"{name}.lock"
    lock_file.parent.mkdir(parents=True, exist_ok=True)
    with lock_file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"  waiting for another run of {name} in this checkout")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def test(name: str, lock: int, *, keep: bool = False) -> int:
    """``molecule test`` of the scenario; its exit code. ``keep`` leaves the machine for a look."""
    own_folder = ROOT / ".cache" / "machines" / f"{name}-molecule"
    # What molecule noted about a machine of an earlier run is not true any more.
    shutil.rmtree(own_folder, ignore_errors=True)
    command = [*molecule(), "test", "-s", name]
    command += ["--destroy=never"] if keep else []
    environment = {
        **os.environ,
        # Molecule calls ansible-playbook and pytest by name.
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "MOLECULE_PROJECT_DIRECTORY": str(ROOT),
        "MOLECULE_GLOB": LAB_GLOB,
        "MOLECULE_EPHEMERAL_DIRECTORY": str(own_folder),
        "MOLECULE_COMMAND_BORDERS": "0",
    }
    return tell(name, {"": command}, environment, lock)


def test_all(lock: int) -> int:
    """``molecule test --all`` as a user types it in the virtualenv; 0 or 1. Each step of each
    scenario is a line, and the sum of what the scenarios' tests said is the last."""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "MOLECULE_COMMAND_BORDERS": "0",
    }
    log = LOGS / "molecule.log"
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with log.open("w") as stream:
        command = [*molecule(), "test", "--all"]
        code, _ = carry_out(command, environment, lock, stream)
    text = log.read_text()
    if code:
        say("\n".join(f"    {line}" for line in text.splitlines()[-TAIL_LINES:]))
        say(f"everything it printed: {log}")
    say(summary_of(text, code, time.monotonic() - began))
    return 1 if code else 0


def summary_of(text: str, code: int, seconds: float) -> str:
    """The tests that molecule ran and its checks of idempotence, as pytest prints a summary."""
    passed, failed = (
        sum(map(int, re.findall(rf"(?m)^[^\n]*\b(\d+) {word}\b[^\n]* in [\d.]+s", text)))
        for word in ("passed", "(?:failed|errors?)")
    )
    passed += len(re.findall(r"(?m)> idempotence\] Executed: Successful", text))
    failed = max(failed, int(code != 0))
    counts = [f"{number} {word}" for number, word in ((failed, "failed"), (passed, "passed"))]
    return f"{', '.join(counts[not failed :])} in {seconds:.2f}s"


def test_by_itself(name: str, steps: dict[str, list[str]], lock: int) -> int:
    """What ``molecule test`` does of a scenario, without the plays that it wraps around: each step
    before the story (a machine is created, prepared) is one command."""
    return run_tests(name, ROOT / "tests/containers" / name, steps, {}, lock)


def test_once(name: str, lock: int) -> int:
    """The cheapest proof of a role: a fresh container, one apply by molecule's own play and
    policy, and the scenario's tests of the state. ``molecule test`` also repeats the apply."""
    folder, box = ROOT / "molecule" / name, f"molecule-{name}"
    inventories = [f"--inventory={container.inventory_file(box)}"]
    inventories += [f"--inventory={folder / 'inventory'}"]
    converge = str(ROOT / "molecule/containers/converge.yml")
    steps = {
        **container_steps(box, folder),
        "converge": [program("ansible-playbook"), *inventories, converge],
    }
    more = {"MOLECULE_SCENARIO_NAME": name, "PYTEST_PLUGINS": "machines.verified"}
    try:
        return run_tests(name, folder / "tests", steps, more, lock)
    finally:
        container.stop(box)


def container_steps(box: str, folder: Path) -> dict[str, list[str]]:
    """The commands that start and prepare a container, by the names of the steps."""
    tool = [sys.executable, str(Path(container.__file__))]
    return {step: [*tool, step, box, str(folder)] for step in ("start", "prepare")}


def run_tests(
    name: str, folder: Path, steps: dict[str, list[str]], more: dict[str, str], lock: int
) -> int:
    """The steps, then pytest in the folder, with ``more`` variables."""
    story = ["-m", "pytest", "-p", "no:cacheprovider", "-x", "-vv", "--durations=0"]
    commands = {**steps, "": [sys.executable, *story, f"--rootdir={folder}", str(folder)]}
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    path = os.pathsep.join(filter(None, (str(ROOT / "tests"), kept.get("PYTHONPATH"))))
    own = {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "PYTHONPATH": path, **more}
    return tell(name, commands, {**kept, **own}, lock)


def molecule() -> list[str]:
    """The start of a Molecule command that also works in a copy of the sources without .git."""
    return [program("molecule"), "--base-config", str(SHARED_CONFIG)]


def program(name: str) -> str:
    """Of the virtualenv that runs this."""
    return str(Path(sys.executable).with_name(name))


def tell(name: str, commands: dict[str, list[str]], environment: dict[str, str], lock: int) -> int:
    """Run the commands of a scenario until one fails, with lines about their steps; 0 or 1.

    A command with a name is a step itself. A scenario in which no test ran has failed.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}-molecule.log"
    summary, code = "", 0
    with log.open("w") as stream:
        for step, command in commands.items():
            began = time.monotonic()
            code, summary = carry_out(command, environment, lock, stream)
            if code:
                break
            if step:
                say(f"  done   {time.monotonic() - began:5.1f} s  {step}")
    if not code and not summary:
        say(f"  {name} ended without an error, but no test ran")
        code = 1
    if code:
        # Indented: a summary among them is not to be counted beside the one below.
        tail = log.read_text().splitlines()[-TAIL_LINES:]
        say("\n".join(f"    {line}" for line in tail))
        say(f"everything it printed: {log}")
    if summary:
        say(summary)
    return 1 if code else 0


def carry_out(
    command: list[str], environment: dict[str, str], lock: int, log: IO[str]
) -> tuple[int, str]:
    """A command's exit code, and pytest's summary if it printed one."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**environment, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "PY_COLORS": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        # Were we killed, it would go on: a later run must wait for its end.
        pass_fds=(lock,),
    )
    try:
        assert process.stdout is not None
        summary = follow(process.stdout, log)
        return process.wait(), summary
    finally:
        # Interrupted: nothing of the scenario may go on working at the machine.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def follow(lines: IO[str], log: IO[str]) -> str:
    """Copy the output to the log and show how long each step took; pytest's summary, if any."""
    summary = ""
    began = time.monotonic()
    for line in lines:
        log.write(line)
        log.flush()
        action, step, end = ACTION.search(line), STEP.search(line), SUMMARY.search(line)
        if action and action["what"] == "Executed" and action["name"] in SHOWN:
            say(
                f"  done   {time.monotonic() - began:5.1f} s  {action['scenario']} {action['name']}"
            )
        if step:
            words = step["name"].replace("_", " ")
            say(f"  {step['result'].lower()} {time.monotonic() - began:5.1f} s  {words}")
            if step["why"]:
                # As pytest's own line on a skip, which ./hostproof test repeats at its end.
                say(f"SKIPPED {words}: {step['why']}")
        if action or step:
            began = time.monotonic()
        if end:
            summary = end["text"]
    return summary
