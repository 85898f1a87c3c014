"""Every line that nfs_mounts prints: one line, and inert whatever a host is called.

The lines are run by a shell in an empty folder, where every program is a stand-in that writes down
its arguments; a name that runs something leaves a file behind.
"""

import os
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import HostproofError, PolicyError
from ansible.module_utils.hostproof.evaluate.finding import Finding
from nfs_packs import FSTAB, OPTIONS, Did, NfsMachine, listed, nfs_host, shown

HOSTILE = (
    "$(touch PWNED)",
    "`touch PWNED`",
    ";touch PWNED;",
    "a b",
    "'; touch PWNED; '",
    '"; touch PWNED; "',
    "&& touch PWNED",
    "|touch PWNED",
    "x\ntouch PWNED",
    "\x1b]0;title\x07",
    "*?[a]",
    "~root",
    "#no comment",
    "\\$(touch PWNED)",
    "-o exec=x",
    "äöü",
)
PROGRAMS = (
    *("mount", "umount", "systemctl", "make", "env", "ping", "rpcinfo", "mkdir", "sysctl"),
    *("dmesg", "ip", "grep", "touch"),
)


def hosts(name: str) -> list[tuple[NfsMachine, dict[str, Any]]]:
    """Hosts on which as many checks as can fail do, with a name in every path and source."""
    path, source = f"/u03/{name}", f"filer1:/vol/{name}"
    shows = shown(recovery="soft", rsize=16384)
    policy = listed(path=path, source="filer1:/vol/other")
    wrong = nfs_host()
    tell(wrong, path, source, OPTIONS.replace("bg,hard", "bg,soft"), shows)
    right = nfs_host()
    tell(right, path, source, OPTIONS, shows)
    missing = nfs_host().file(FSTAB, row(path, source, OPTIONS))
    twin = nfs_host()
    tell(twin, path, source, OPTIONS, shows, superblock="0:45")
    tell(twin, path + "2", source, OPTIONS, shows, superblock="0:45")
    unit = nfs_host().folder("/run/systemd/system")
    tell(unit, path, source, None, shows)
    silent = nfs_host()
    tell(silent, path, source, OPTIONS, shows)
    home = nfs_host()
    tell(home, path, source, OPTIONS, shows)
    home.file("/etc/oratab", f"ORCL:{path.split(chr(10))[0]}:N\n")
    return [
        (wrong, policy),
        (wrong, {}),
        (right, policy),
        (right, listed(path=path, source=source.replace("\n", ""))),
        (missing, listed(path=path, source="filer1:/vol/u02")),
        (missing, {}),
        (twin, listed(path=path, source="filer1:/vol/u02")),
        (unit, listed(path=path, source="filer1:/vol/u02")),
        (silent, policy | {"slot_table_entries": 64}),
        (home, {"direct_nfs": "required"}),
    ]


def octal(text: str) -> str:
    return "".join(f"\\{ord(char):03o}" if char in " \t\n\\#" else char for char in text)


def row(path: str, source: str, options: str) -> str:
    return f"{octal(source)} {octal(path)} nfs {options} 0 0\n"


def tell(
    machine: NfsMachine,
    path: str,
    source: str,
    options: str | None,
    shows: str,
    superblock: str | None = None,
) -> None:
    if options is not None:
        machine.file(FSTAB, machine.files[FSTAB] + row(path, source, options))
    did = Did(older=10, max_slots=4000)
    machine.mount(octal(path), octal(source), shows, superblock=superblock, did=did)
    machine.database(f"{path}/ORCL/system01.dbf")


def judged(machine: NfsMachine, policy: dict[str, Any]) -> tuple[list[Finding], list[str]]:
    try:
        rules = nfs_mounts.policy_from(nfs_packs.nfs_policy(**policy))
    except PolicyError:  # a name that no policy may hold needs no line
        return [], []
    facts = nfs_mounts.read(machine, rules)
    try:
        pending = planner("nfs_mounts")(facts, rules).pending
    except HostproofError:
        pending = []
    return nfs_mounts.judge(facts, rules), pending


@pytest.fixture(autouse=True)
def advice_is_stored() -> None:
    """Not here: people review that file, and other tests give the same without such names."""


@pytest.fixture
def shell(tmp_path: Path) -> Any:
    """run(line): what the stand-ins were called with; fails where a name ran something."""
    programs, work = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    for place in [programs / name for name in PROGRAMS] + [work / "hostproof"]:
        place.write_text('#!/bin/sh\nprintf "%s\\0" "${0##*/}" "$@" >>"$CALLS"\n')
        place.chmod(place.stat().st_mode | stat.S_IXUSR)
    (programs / "touch").write_text('#!/bin/sh\n: >"$WORK/PWNED"\n')

    def run(text: str) -> list[str]:
        calls = tmp_path / "calls"
        calls.write_text("")
        environment = {"PATH": str(programs), "CALLS": str(calls), "WORK": str(work)}
        # What would write a file of the machine is only read, never run.
        check = ["-n"] if ">" in shlex.split(text) or ">>" in shlex.split(text) else []
        subprocess.run(
            ["/bin/bash", *check, "-c", text], cwd=work, env=environment, timeout=600, check=False
        )
        assert os.listdir(work) == ["hostproof"], text
        return calls.read_text().split("\0")[:-1]

    return run


@pytest.mark.parametrize("name", HOSTILE, ids=[repr(name) for name in HOSTILE])
def test_names_run_nothing(shell, name):
    seen = set()
    for machine, policy in hosts(name):
        findings, pending = judged(machine, policy)
        for finding in findings:
            for text in finding.commands:
                assert "\n" not in text and text.isprintable(), text
                seen.add(text)
        for text in pending:
            if "then: " in text:
                part = text.split("then: ", 1)[1].split("; or apply")[0].rstrip(".")
                for command in part.split(" && "):
                    if command.startswith(("umount", "mount", "systemctl")) and "&" not in name:
                        seen.add(command)
    assert seen
    for text in sorted(seen):
        shell(text)


def test_the_lines_name_what_they_mean(shell):
    machine, policy = hosts("$(touch PWNED) b")[2]
    findings, _ = judged(machine, policy)
    lines = {text for finding in findings for text in finding.commands}
    umount = next(text for text in lines if text.startswith("umount"))
    assert shell(umount) == ["umount", "/u03/$(touch PWNED) b"]


def test_prose_holds_no_line_to_copy():
    """What could be copied from the prose and run stands in the commands, and only there."""
    for machine, policy in hosts("$(touch PWNED)"):
        for finding in judged(machine, policy)[0]:
            for part in ("umount /", "mount /", " && ", "mkdir -p", "`"):
                assert part not in (finding.fix or ""), finding.fix
