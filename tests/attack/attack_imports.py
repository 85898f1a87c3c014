"""Results of CVU and ORAchk that an attacker wrote. It is won if an import ends otherwise than
with findings or one sentence, or has more findings than a report can hold."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
from hostproof_controller.host_names import is_host_name  # noqa: E402
from hostproof_controller.other_tools import cvu, orachk  # noqa: E402
from hostproof_controller.other_tools.foreign_finding import (  # noqa: E402
    NotUnderstood,
    as_findings,
)

SAMPLE = (ROOT / "docs/examples/cvu.txt").read_text()
#: As an audit: more than this does not fit into one answer of a host (response_validation.py).
MOST = 100_000
VALUES = (
    None,
    True,
    -1,
    1e308,
    "",
    "x" * 5000,
    "../x",
    "{{ 7*7 }}",
    "\x1b[2J",
    [],
    {},
    ["a"],
    "a b",
)


def attempts(rng: Random, number: int) -> Iterator[family.Outcome]:
    while True:
        if rng.random() < 0.5:
            text = hostile_text(rng)
            yield family.Outcome("a file of CVU", strike(cvu.parse, "cvu", text), text[:300])
        else:
            text = json.dumps(hostile_value(rng, 4))
            yield family.Outcome("a file of ORAchk", strike(orachk.parse, "orachk", text), text)


def hostile_text(rng: Random) -> str:
    lines = SAMPLE.splitlines()
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(lines))
        kind = rng.randrange(4)
        if kind == 0:
            lines[place:place] = [lines[place]] * rng.choice((2, 50, 2000))
        elif kind == 1:
            lines[place] += rng.choice(("\0", "\x1b[2J", ",", ", ../x", " " * 3000, "{{ 7*7 }}"))
        elif kind == 2:
            nodes = ",".join(f"n{number}" for number in range(rng.choice((3, 300, 3000))))
            lines[place] = f"{lines[place]} {nodes}"
        else:
            del lines[place]
            lines = lines or [""]
    return "\n".join(lines)


def hostile_value(rng: Random, depth: int) -> object:
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(VALUES)
    if rng.random() < 0.3:
        return [hostile_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    names = ("NODE_NAME", "CHECK_NAME", "STATUS", "STATUS_CODE", "items", "CheckName", "Host", "id")
    return {name: hostile_value(rng, depth - 1) for name in rng.sample(names, rng.randrange(6))}


def strike(parse, tool: str, text: str) -> str:
    try:
        findings = as_findings(tool, "Oracle", parse(text, "db01").foreign)
    except NotUnderstood as problem:
        return family.REFUSED if str(problem).isprintable() else family.WON
    except Exception:
        return family.WON
    if sum(map(len, findings.values())) > MOST or not all(map(is_host_name, findings)):
        return family.WON
    return family.CONTAINED


if __name__ == "__main__":
    family.main(attempts)
