"""Hosts that lie to the controller: answers that would run there, set its variables, fill its
memory or destroy the report of others; hosts that print without end or never answer; and evidence
whose file names are templates."""

import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/unit"))

import hostile_python  # noqa: E402 - found by the path above
from hostile_python import (  # noqa: E402
    AROUND,
    FINE_THOUGH_ODD,
    FLOODS,
    MENDED,
    ODD,
    RECORDS,
    REFUSED,
    TAKEN,
)

SHARE = 1
ATTACKS = 10

TRIES = int(os.environ.get("HOSTPROOF_ATTACK_TRIES", "200"))
PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
SOUND = (*TAKEN, *MENDED, *FINE_THOUGH_ODD)
SOUND_BY_MODULE = (*TAKEN, *MENDED, *AROUND)
BAD = (*REFUSED, *(name for name in ODD if name not in FINE_THOUGH_ODD))
FILE_NAMES = (
    "{{ lookup('ansible.builtin.pipe', 'touch PROOF') }}",
    *("{{ lookup('pipe', 'touch PROOF') }}", "{% set x = lookup('pipe', 'touch PROOF') %}x"),
    *("!unsafe {{ 1 }}", "db[01:99999]", "-e@x", "localhost,", "a\nb"),
)


PYTHON = shlex.join([sys.executable, hostile_python.__file__])

#: Hosts of a play: as many as still fit into one report that somebody reads.
HOSTS = 60
#: Sound hosts of a play at least; test_hostile_answers.py plays every sound answer once.
FEWEST_SOUND = 4
#: Seconds after which a play hangs.
DEADLINE = 900
#: Seconds that a host has for an answer that never comes, and its play for all that do not end.
PATIENCE, FLOODED = 5, 300.0
#: Bytes that no process of a play may need: 48 MiB is the largest answer, and Ansible keeps copies.
MOST_MEMORY = 1 << 30


class Counts:
    """Tries and wins by attack, in the order of their first try."""

    def __init__(self) -> None:
        self.counts: dict[str, list[int]] = {}

    def add(self, attack: str, tries: int, wins: int) -> None:
        count = self.counts.setdefault(attack, [0, 0])
        count[0] += tries
        count[1] += wins

    def told(self) -> int:
        for attack, (tries, wins) in self.counts.items():
            print(f"{attack}: {tries} tries, {wins} wins", flush=True)
        return sum(wins for _, wins in self.counts.values())


def in_turn(names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Host to what it plays, a host for each try, as many in a play as there is room for."""
    for begin in range(0, TRIES, HOSTS):
        yield {
            f"{names[number % len(names)]}.{number}": names[number % len(names)]
            for number in range(begin, min(begin + HOSTS, TRIES))
        }


def play(
    folder: Path,
    tasks: list[dict[str, Any]],
    names: dict[str, str],
    common: dict[str, Any] | None = None,
) -> str:
    hosts: dict[str, Any] = {}
    for host, name in names.items():
        program = str(played(folder, name))
        hosts[host] = {"ansible_python_interpreter": program}
        if host.startswith("ssh."):
            hosts[host] = {"ansible_connection": "ssh", "ansible_ssh_executable": program}
        if name.startswith("hangs"):
            hosts[host]["hostproof_host_timeout"] = str(PATIENCE)
    common = {"ansible_connection": "local", **(common or {})}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": common}}))
    (folder / "play.json").write_text(
        json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}])
    )
    return ansible(folder, [str(folder / "play.json"), "-i", str(folder / "hosts.json")])


def played(folder: Path, name: str) -> Path:
    """A program that plays a host: its Python, or an ssh to it."""
    program = folder / f"plays_{name}"
    program.write_text(f'#!/bin/sh\nexec {PYTHON} {name} {folder / "proof"} "$@"\n')
    program.chmod(0o755)
    return program


def ansible(folder: Path, arguments: list[str], **more: str) -> str:
    environment = {name: value for name, value in os.environ.items() if "HOSTPROOF" not in name}
    done = subprocess.run(
        [str(PLAYBOOK), *arguments],
        cwd=folder,
        env={
            **environment,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "default",
            "ANSIBLE_FORKS": "4",
            "HOSTPROOF_REPORTS": str(folder / "reports"),
            "HOSTPROOF_RECORDS": str(folder / "records"),
            **more,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=DEADLINE,
    )
    return done.stdout.decode("utf-8", "replace")


def outcomes(folder: Path) -> dict[str, str]:
    """What the report says of each host; nothing if there is none."""
    by_host = {}
    for path in folder.glob("reports/*/report.json"):
        by_host.update(
            {host["host"]: host["outcome"] for host in json.loads(path.read_text())["hosts"]}
        )
    return by_host


REPORT = {"render_report": {"hosts": "{{ ansible_play_hosts_all }}"}, "run_once": True}
JUDGE = [
    {"verify_controls": {"controls": ["hugepages"]}, "ignore_errors": True},
    {**REPORT, "delegate_to": "localhost", "connection": "local"},
]


def answers(counts: Counts) -> None:
    for names in in_turn(BAD):
        judge(counts, "", names, SOUND, {})
    # Where there is no pipelining Ansible takes the answer, by its own rules, before us.
    for names in in_turn(tuple(name for name in REFUSED if name not in PAYLOADS)):
        common = {"ansible_pipelining": False}
        judge(counts, ", without pipelining", names, SOUND_BY_MODULE, common)


#: What only the payload's own form can hold.
PAYLOADS = ("bytes",)


def judge(
    counts: Counts, how: str, bad: dict[str, str], fine: tuple[str, ...], common: dict[str, Any]
) -> None:
    """One play of hosts that lie and of sound ones."""
    sound = {name: name for name in fine[: max(TRIES, FEWEST_SOUND)]}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        output = play(folder, JUDGE, {**bad, **sound}, common)
        by_host = outcomes(folder)
        passed = sum(by_host.get(host) != "failed" for host in bad)
        lost = sum(by_host.get(host) != "judged" for host in sound)
        ran = (folder / "proof").exists() + ("\x1b" in output) + ("evil" in output)
        counts.add(f"an answer passes that is none{how}", len(bad), passed)
        counts.add(f"a report is lost for another's answer{how}", len(sound), lost)
        counts.add(f"an answer runs, sets or colours something{how}", len(bad) + len(sound), ran)


def floods(counts: Counts) -> None:
    """Hosts that print without end, to either stream and by either connection, and a silent one."""
    names = {f"{how}{name}": name for name in FLOODS for how in ("", "ssh.")}
    names |= {"silent.host": "hangs", "ssh.silent": "hangs_ssh"}
    for _ in range(max(1, TRIES // 50)):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            began = time.monotonic()
            play(folder, JUDGE, {**names, "sound": "noise"})
            late = time.monotonic() - began > FLOODED
            by_host = outcomes(folder)
            passed = sum(by_host.get(host) != "failed" for host in names)
            full = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 > MOST_MEMORY
            counts.add("a host prints or waits without end, and passes", len(names), passed)
            counts.add("one that does fills the memory", len(names), int(full))
            counts.add("one that does holds up the play", len(names), int(late))
            lost = int(by_host.get("sound") != "judged")
            counts.add("one that does costs another its verdict", 1, lost)


def records(counts: Counts) -> None:
    for names in in_turn(tuple(RECORDS)):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            tasks = [{"record_evidence": {"controls": ["hugepages"]}, "ignore_errors": True}]
            output = play(folder, tasks, names)
            wins = len(list(folder.glob("records/*/*"))) + (folder / "proof").exists()
            wins += sum(f"fatal: [{host}]: FAILED!" not in output for host in names)
            counts.add("a record is kept that is none", len(names), wins)


def file_names(counts: Counts) -> None:
    """A template runs, or a pack that is not judged is missing from the report."""
    pack = (ROOT / "docs/examples/evidence/db01.example.com.json").read_bytes()
    names = [
        FILE_NAMES[number % len(FILE_NAMES)].replace("PROOF", "proof") + " " * (number // 8)
        for number in range(TRIES)
    ]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        packs = folder / "packs"
        packs.mkdir()
        for name in ["sound", *names]:
            (packs / f"{name}.json").write_bytes(pack)
        ansible(
            folder,
            [
                *(str(ROOT / "playbooks/audit.yml"), "-i", str(ROOT / "inventories/evidence.py")),
                *("-e", json.dumps({"hostproof_evidence_folder": str(packs)})),
                *("-e", "ansible_connection=local"),
                *("-e", f"ansible_python_interpreter={sys.executable}"),
            ],
            HOSTPROOF_EVIDENCE=str(packs),
        )
        by_host = outcomes(folder)
        ran = len([*folder.rglob("proof"), *(ROOT / "playbooks").rglob("proof")])
        lost = abs(sum(outcome == "failed" for outcome in by_host.values()) - len(names))
        counts.add("a file name is a template that runs", len(names), ran)
        counts.add("a pack is lost for its name", len(names), lost)
        counts.add("a pack is lost for another's name", 1, int(by_host.get("sound") != "judged"))


def main() -> int:
    if not PLAYBOOK.exists():
        print(f"there is no {PLAYBOOK}")
        return 77
    counts = Counts()
    for attack in (floods, answers, records, file_names):
        attack(counts)
    return 1 if counts.told() else 0


if __name__ == "__main__":
    sys.exit(main())
