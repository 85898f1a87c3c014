"""A file of another tool, or a path in its place, holds up import-results or ends in a traceback.

Success: more calls of functions than a small file can need, or an exception that is not one
sentence of the product.
"""

import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import family
from family import CONTAINED, REFUSED, WON, Outcome

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import conftest  # noqa: E402,F401 - puts the code where Ansible has it
from hostproof_controller.cli import import_results  # noqa: E402
from hostproof_controller.cli.errors import Refused  # noqa: E402
from hostproof_controller.other_tools import cvu, orachk  # noqa: E402
from hostproof_controller.other_tools.foreign_finding import NotUnderstood  # noqa: E402

SHARE = 3
MOST_CALLS = 4_000_000


class TooLong(Exception):
    pass


def text_of(rng: random.Random) -> tuple[str, str]:
    """The tool and a hostile file: nodes, tasks, rows and messages in any number."""
    count = rng.choice((10, 300, 3000))
    if rng.random() < 0.3:
        records = [
            {"orachkName": f"a{number}"}
            | ({"NodeName": f"n{number}"} if rng.random() < 0.5 else {})
            for number in range(count)
        ]
        return "orachk", json.dumps(records)
    pieces = []
    for _part in range(rng.randint(1, 6)):
        kind = rng.randrange(6)
        numbers = range(rng.choice((5, count)))
        if kind == 0:
            pieces += [f"Verifying Task {number} ...PASSED" for number in numbers]
        elif kind == 1:
            pieces += ["Verifying Same ...FAILED (PRVF-1)" for _number in numbers]
        elif kind == 2:
            pieces += [f"n{number}: PRVF-{number} : text" for number in numbers]
        elif kind == 3:
            rows = [f"  n{number}  passed" for number in numbers]
            pieces += ["Verifying T ...", "  Node Name  Status", "  ---------  ------", *rows]
        elif kind == 4:
            pieces += ["Check will proceed with remaining nodes: " + "n1,n2" for _number in numbers]
        else:
            pieces += ["  goes on " + "x" * rng.choice((1, 70, 5000)) for _number in numbers]
    return "cvu", "\n".join(pieces)


def strike(tool: str, text: str) -> str:
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"
        if calls > MOST_CALLS:
            raise TooLong

    sys.setprofile(count)
    try:
        {"cvu": cvu.parse, "orachk": orachk.parse}[tool](text, "db1")
        return CONTAINED
    except NotUnderstood:
        return REFUSED
    except Exception:
        return WON
    finally:
        sys.setprofile(None)


def attempts(rng: random.Random, _number: int) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.mkfifo(folder / "fifo")
        (folder / "link").symlink_to("fifo")
        (folder / "loop").symlink_to("loop")
        places = [
            "/dev/zero",
            "/dev/null",
            name,
            *(name + "/" + x for x in ("fifo", "link", "loop")),
        ]
        while True:
            tool, text = text_of(rng)
            yield Outcome(f"product of {tool}", strike(tool, text), text[:200])
            place = rng.choice(places)
            try:
                import_results._read(place)
                result = WON
            except Refused:
                result = REFUSED
            except Exception:
                result = WON
            yield Outcome("no regular file", result, place)


if __name__ == "__main__":
    family.main(attempts)
