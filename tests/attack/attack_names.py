"""Hosts and packs with hostile names, and the files that the controller makes of them.

An attack succeeds if a script of `report --fixes` runs the payload, a playbook of it holds a
template, the inventory of `init` or of the evidence has other hosts than the one name, or a control
character reaches the terminal.
"""

import contextlib
import importlib
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
import test_diffing  # noqa: E402
import yaml  # noqa: E402
from ansible.inventory.manager import InventoryManager  # noqa: E402
from ansible.parsing.dataloader import DataLoader  # noqa: E402
from family import CONTAINED, REFUSED, WON, Outcome  # noqa: E402
from hostproof_controller.cli import command  # noqa: E402

PACK = (ROOT / "docs/examples/evidence/db01.example.com.json").read_bytes()
SCRIPTS_AT_ONCE = 40

HEADS = (
    "fe80::1%",
    "fe80::1%eth0",
    "2001:db8::7%",
    "db01",
    "db01.example.com",
    "",
    "10.0.0.1",
    "::1",
)
#: CANARY is a path that the payload makes.
PAYLOADS = (
    "\ntouch CANARY #",
    "\rtouch CANARY #",
    "\x0btouch CANARY",
    "\u2028touch CANARY",
    "$(touch CANARY)",
    "`touch CANARY`",
    ";touch CANARY;",
    "'; touch CANARY; '",
    '"; touch CANARY; "',
    "' || touch CANARY || '",
    "\\'; touch CANARY #",
    "{{lookup('pipe','touch CANARY')}}",
    "{{ lookup('ansible.builtin.pipe', 'touch CANARY') }}",
    "{% set x = lookup('pipe','touch CANARY') %}",
    "{{ 7 * 7 }}",
    "[1:500000]",
    "[a:z][a:z]",
    ":all",
    ",localhost",
    "&all",
    "!db01",
    "*",
    "@/etc/passwd",
    "\x1b[2J\x1b[1;1H",
    "\x1b]0;owned\x07",
    "\x9b2J",
    "\u202e",
    "\n  hosts: all\n  tasks: [{shell: touch CANARY}]",
    "\n- hosts: all",
    ": {ansible_connection: local}",
    " ansible_connection=local ansible_python_interpreter=/tmp/x",
    "\u0661",
    "\uff11",
    "\u200b",
)
BLANKS = ("", "", "", " ", "\t", "\u00a0", ".", "-", "_", "%", ":")


class Loader(yaml.SafeLoader):
    """A playbook as it is; what is !unsafe is marked."""


class Unsafe(str):
    pass


Loader.add_constructor("!unsafe", lambda loader, node: Unsafe(loader.construct_scalar(node)))


def hostile(rng: Random, canary: Path) -> str:
    parts = [rng.choice(HEADS), rng.choice(BLANKS)]
    parts += [rng.choice(PAYLOADS).replace("CANARY", str(canary)) for _ in range(rng.randint(1, 2))]
    parts.append(rng.choice(BLANKS))
    if rng.random() < 0.3:
        rng.shuffle(parts)
    return "".join(parts)


def run(*arguments: str) -> tuple[int, str]:
    """What the command returns, and all that it prints."""
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = command.main(list(arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
    said.flush()
    said.seek(0)
    return code, said.read()


def dirty(text: str) -> bool:
    return any(not one.isprintable() and one not in "\n\t" for one in text)


def templates(node: object) -> Iterator[str]:
    """Texts of a playbook that Ansible would template, with something of the host in them."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from templates(key)
            yield from templates(value)
    elif isinstance(node, list):
        for one in node:
            yield from templates(one)
    elif isinstance(node, str) and not isinstance(node, Unsafe):
        yield node


def in_fixes(names: list[str], folder: Path, canary: Path) -> Iterator[Outcome]:
    """One report of many hosts; each script is run in its mode that only lists."""
    one = test_diffing.finding("hugepages.a", "fail", commands=["sysctl -w vm.nr_hugepages=1"])
    lines = [test_diffing.line(name, one) for name in dict.fromkeys(names)]
    report = test_diffing.report(folder / "report", *lines)
    _, said = run("report", report, "--fixes", str(folder / "fixes"))
    written = {}
    for script in sorted(folder.glob("fixes/*.sh")):
        done = subprocess.run(
            ["sh", str(script)], capture_output=True, text=True, cwd=folder, check=False
        )
        written[script.stem] = done.stdout + done.stderr
    bad = canary.exists() or dirty(said) or any(map(dirty, written.values()))
    for path in folder.glob("fixes/*.yml"):
        plays = yaml.load(path.read_text(), Loader)  # noqa: S506 - a safe loader, with one tag
        bad |= any(name in text for text in templates(plays) for name in names)
    for number, name in enumerate(names):
        made = name.replace(":", "_") in written
        # What ran cannot be told apart among the scripts of one report.
        won = bad and number == 0
        yield Outcome("fixes", WON if won else CONTAINED if made else REFUSED, names)


def in_pack(name: str, folder: Path, canary: Path) -> Outcome:
    packs = folder / "packs"
    packs.mkdir()
    try:
        (packs / f"{name}.json").write_bytes(PACK)
    except (OSError, ValueError):
        return Outcome("no file name", REFUSED, name)
    code, said = run("init", "--evidence", str(packs), "--out", str(folder / "mine"))
    hosts = folder / "mine/hosts.yml"
    found = {name}
    if hosts.exists():
        with contextlib.redirect_stderr(io.StringIO()):
            found = set(InventoryManager(loader=DataLoader(), sources=[str(hosts)]).hosts)
    won = found != {name} or dirty(said) or canary.exists()
    return Outcome("init", WON if won else REFUSED if code else CONTAINED, name)


def in_evidence(names: list[str], folder: Path, canary: Path) -> Iterator[Outcome]:
    """The inventory of a folder of packs: no name of the folder but its own, whole."""
    packs = folder / "packs"
    packs.mkdir()
    made = set()
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            (packs / f"{name}.json").write_bytes(PACK)
            made.add(name)
    done = subprocess.run(
        [sys.executable, "-I", str(ROOT / "inventories/evidence.py")],
        env={"HOSTPROOF_EVIDENCE": str(packs), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    script = folder / "inventory.sh"
    script.write_text(f"#!/bin/sh\ncat <<'END'\n{done.stdout}\nEND\n")
    script.chmod(0o755)
    hosts = set(json.loads(done.stdout or "{}").get("hostproof_evidence", {}).get("hosts", ()))
    bad = not hosts <= made or dirty(done.stderr) or canary.exists() or done.returncode != 0
    for number, name in enumerate(names):
        result = CONTAINED if name in hosts else REFUSED
        yield Outcome("evidence folder", WON if bad and number == 0 else result, names)


def attempts(rng: Random, number: int) -> Iterator[Outcome]:
    while True:
        for way in ("fixes", "evidence", *["init"] * 20):
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                canary = folder / "canary"
                names = [hostile(rng, canary) for _ in range(min(SCRIPTS_AT_ONCE, number))]
                if way == "fixes":
                    yield from in_fixes(names, folder, canary)
                elif way == "evidence":
                    yield from in_evidence(names, folder, canary)
                else:
                    yield in_pack(names[0], folder, canary)


if __name__ == "__main__":
    family.main(attempts)
