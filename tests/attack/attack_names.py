"""Names of hosts that run something: in results, in the scripts and playbooks of report --fixes, in
the inventory of init and in the names of packs. Each is made of hostile pieces at random."""

import importlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
import yaml  # noqa: E402
from ansible.module_utils.hostproof.errors import HostproofError  # noqa: E402
from hostile_python import FINDING  # noqa: E402
from hostproof_controller.cli import fixes, init  # noqa: E402
from hostproof_controller.cli.errors import Refused  # noqa: E402
from hostproof_controller.report.store import merge, read_entries  # noqa: E402

SHARE = 20

BASH = shutil.which("bash") or "/bin/bash"

WHOLE = ("db01", "db-2.example.com", "10.0.0.1", "fe80::1", "2001:db8::2", "::1", "all")
SCOPES = ("%eth0", "%a\ntouch X #", "%{{lookup('pipe','touch X')}}", "%$(touch X)", "%", "%25eth0")
PIECES = (
    *("\n", "\r", "\x00", "\x1b[2J", "\u202e", "\u2028", "\x85", "\u200b", " ", "\t"),
    *("{{ 7*7 }}", "{% raw %}", "{#", "$(touch X)", "`touch X`", ";touch X", "|touch X", "&", "'"),
    *('"', "\\", "[1:500000]", "[a:z]", ":all", ":!db", ":22", ",", "*", "?", "~", "@", "!", "#"),
    *("../", "/etc/x", "-e", "--limit=all", "\uff1a", "ｄb", "%eth0", "%a b", ": x", "- y", "<b>"),
)
#: What a name may consist of: written anew here, for the product's own rule is what is attacked.
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*|[0-9a-f:.]+(%[A-Za-z0-9_.-]{1,15})?")


def name_of(rng: Random) -> str:
    name = rng.choice(WHOLE) + (rng.choice(SCOPES) if rng.random() < 0.4 else "")
    for _ in range(rng.randrange(3)):
        place = rng.randrange(len(name) + 1)
        name = name[:place] + rng.choice(PIECES) + name[place:]
    return name


def line_of(name: str) -> dict[str, Any]:
    at = "2026-01-01T00:00:00Z"
    finding = {**FINDING, "commands": ["sysctl -w vm.nr_hugepages=1"]}
    run = {"id": "x", "started": at, "hosts": 1}
    return {
        **{"schema": 3, "run": run, "host": name, "at": at, "recorded_at": None},
        **{"outcome": "judged", "message": None, "findings": [finding], "evidence": None},
    }


class Loader(yaml.SafeLoader):
    """Tells a scalar that Ansible takes as it is from one that it takes for a template."""


Loader.add_constructor("!unsafe", lambda loader, node: ["unsafe", str(node.value)])


def of_results(name: str, folder: Path) -> str:
    """A shard with that name, and the fixes that are made of it."""
    (folder / "findings.jsonl").write_text(json.dumps(line_of(name)) + "\n")
    output = io.StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(output):
            results = merge(read_entries([str(folder)]))
            fixes.write(results, str(folder / "fixes"))
    except (HostproofError, ValueError):
        # A name leads out of the folder, or is none of a file.
        return family.WON
    if not output.getvalue().replace("\n", "").isprintable():
        return family.WON
    if not results.hosts:
        return family.REFUSED
    if not PLAIN.fullmatch(name) or name in ("all", "ungrouped"):
        return family.WON
    for path in (folder / "fixes").iterdir():
        is_fine = script_is_fine if path.suffix == ".sh" else playbook_is_fine
        if path.parent != folder / "fixes" or not is_fine(path, name):
            return family.WON
    return family.CONTAINED


def script_is_fine(path: Path, name: str) -> bool:
    """It only lists its steps, and has the name as one word."""
    result = subprocess.run(
        [BASH, "-c", f'. "./{path.name}" >/dev/null; printf %s "$host"'],
        cwd=path.parent,
        env={"PATH": ""},
        capture_output=True,
        text=True,
    )
    lines = [line for line in path.read_text().splitlines() if name in line and len(name) > 4]
    return result.stdout == name and all(line.startswith("host=") for line in lines)


def playbook_is_fine(path: Path, name: str) -> bool:
    guard, play = yaml.load(path.read_text(), Loader=Loader)
    held = guard["vars"] == play["vars"] == {"fixes_host": ["unsafe", name]}
    hosts = "{{ fixes_reviewed | default('localhost') | replace(':', '[:]') }}"
    return held and (guard["hosts"], play["hosts"]) == ("localhost", hosts)


def of_pack(name: str, folder: Path) -> str:
    """A pack with that name, from which init would make an inventory."""
    try:
        (folder / f"{name}.json").write_text('{"schema": 1, "readings": {}}')
        host, _ = init._the_host(str(folder))
    except (Refused, OSError, ValueError):
        return family.REFUSED
    return family.CONTAINED if host == name and PLAIN.fullmatch(name) else family.WON


def of_inventory(name: str, folder: Path) -> str:
    """The packs of a folder as an inventory of their hosts."""
    try:
        (folder / f"{name}.json").write_text("{}")
    except (OSError, ValueError):
        return family.REFUSED
    output = io.StringIO()
    with redirect_stderr(output):
        hosts = EVIDENCE.inventory(folder)["hostproof_evidence"]["hosts"]
    if not output.getvalue().replace("\n", "").isprintable():
        return family.WON
    if not hosts:
        return family.REFUSED
    return family.CONTAINED if all(map(PLAIN.fullmatch, hosts)) else family.WON


def evidence_inventory() -> Any:
    path = ROOT / "inventories/evidence.py"
    spec = importlib.util.spec_from_file_location("evidence_inventory", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EVIDENCE = evidence_inventory()
ATTEMPTS = {
    "a host's name in a shard and its fixes": of_results,
    "a host's name in init": of_pack,
    "a host's name in an inventory of packs": of_inventory,
}


def attempts(rng: Random, number: int) -> Iterator[family.Outcome]:
    while True:
        attack = rng.choice([*ATTEMPTS])
        name = name_of(rng)
        with tempfile.TemporaryDirectory() as made:
            yield family.Outcome(attack, ATTEMPTS[attack](name, Path(made)), name)


if __name__ == "__main__":
    family.main(attempts)
