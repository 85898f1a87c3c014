"""Every command that a finding prints, on every pack there is: a shell takes it, and names of the
host's in it run nothing.

Nothing is executed but the shell itself: it is restricted (no redirection, no program by its path)
and finds no program at all, so that a command of a fix ends with "not found". What a hostile name
would run are builtins of the shell, which tell on a signal and by an exit code.
"""

import functools
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit
from default_policies import default_policy
from hostproof_controller import policies
from hostproof_controller.commands import is_from_host
from recorded_packs import EXAMPLES, PACKS, controls_of

BASH = shutil.which("bash") or "/bin/bash"

#: What hosts name themselves, and what a hostile host may name it instead: each would run a builtin
#: where it stands unquoted or in double quotes.
NAMES = re.compile(r"/u0\d(?=/)|(?<=[ :\"])(?:eth|ens|enp|bond)[0-9a-z]+(?=[ :\"])|filer\d|SALES")
HOSTILE = {
    "substitution": "$(kill${IFS}-USR1${IFS}$$)",
    "backticks": "`kill${IFS}-USR1${IFS}$$`",
    "separator": ";exit${IFS}77;",
    "quote": "';exit${IFS}77;'",
    "and": "&exit${IFS}77;",
}


@functools.cache
def every_policy() -> dict[str, dict[str, Any]]:
    return {name: default_policy(name, secrets=True) for name in policies.controls()}


def commands_of(path: Path, readings: dict[str, Any]) -> list[tuple[str, str]]:
    """(check, command) of each finding; what a control cannot take of it is another test's."""
    commands = []
    for name in controls_of(path):
        try:
            judged = audit.judge_host(RecordedHost(readings), {name: every_policy()[name]})
        except HostproofError:
            continue
        commands += [(finding.check, line) for finding in judged for line in finding.commands]
    return sorted(set(commands))


def run_nothing(line: str) -> subprocess.CompletedProcess[str]:
    """The line in a shell that has no program to run and may not write."""
    return subprocess.run(
        [BASH, "--norc", "--noprofile", "-r", "-c", f"trap 'exit 66' USR1\n{line}"],
        env={"PATH": ""},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.stem)
def test_every_command_is_one_line_that_sh_takes(path):
    for check, line in commands_of(path, evidence.open_pack(str(path))[0]):
        assert line.isprintable() and line.strip() == line, (check, line)
        done = subprocess.run(["sh", "-n", "-c", line], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), (check, line)
        assert is_from_host(line), f"{check}: no form of commands.py is {line}"


def hostile(readings: dict[str, Any], word: str) -> dict[str, Any]:
    """The readings with names that a host gives itself replaced by ones that run something."""
    text = json.dumps(readings)
    escaped = json.dumps(word)[1:-1]
    return json.loads(
        NAMES.sub(
            lambda match: (
                f"{match[0]}{escaped}" if match[0].startswith("/") else match[0][:2] + escaped
            ),
            text,
        )
    )


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_name_of_a_host_runs_anything(kind):
    tried = 0
    for path in PACKS:
        readings = hostile(evidence.open_pack(str(path))[0], HOSTILE[kind])
        for check, line in commands_of(path, readings):
            if HOSTILE[kind].strip(";'\"") not in line:
                continue
            tried += 1
            done = run_nothing(line)
            assert done.returncode not in (66, 77), (path.name, check, line)
    assert tried > 3, "no hostile name came as far as a command"


def test_the_shell_of_this_test_would_tell():
    for word in HOSTILE.values():
        assert run_nothing(f"umount /u01{word}").returncode in (66, 77) or "'" in word
    assert run_nothing("umount '/u01';exit 77;''").returncode == 77
    assert run_nothing("umount /u01").returncode == 127


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_prose_and_commands_do_not_mix(path):
    """Prose that holds a command line would be copied with the words around it."""
    for name, policy in every_policy().items():
        for finding in audit.judge_host(
            RecordedHost(*evidence.open_pack(str(path))), {name: policy}
        ):
            assert not re.search(r"\./hostproof (?:apply|revert)\b.*, or:", finding.fix or ""), (
                finding
            )
