"""Files, commands and answers of a hostile host with a secret in them, in every format that is
known and in every part of evidence, of a finding or of a difference. A secret that leaves the host
is a success."""

import importlib
import json
import random
import shlex
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import family
from family import CONTAINED, WON, Outcome

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

from ansible.module_utils.hostproof.apply.difference import as_diff  # noqa: E402
from ansible.module_utils.hostproof.collect import evidence  # noqa: E402
from ansible.module_utils.hostproof.evaluate import audit  # noqa: E402
from ansible.module_utils.hostproof.evaluate.finding import Check, make_finding  # noqa: E402
from masking_cases import HEAD, NET, OTHERS, PATH, SCRIPTS, SETTINGS  # noqa: E402
from masking_formats import COMMANDS, FILES, TEXTS  # noqa: E402

SHARE = 20

CHECK = Check("c.x", "Title", "high", "now", "Why.", "Reference")
SCRIPT = "/etc/rc.local"
SQLNET = "/u01/home/network/admin/sqlnet.ora"

#: Format, path and text. The older texts hold "tiger" where the newer have "§".
CASES = [
    *((name, SCRIPT, text) for name, texts in {**COMMANDS, **TEXTS}.items() for text in texts),
    *(("files of secrets", path, text) for path, text in FILES),
    *(
        ("Oracle Net", PATH, head + text.replace("tiger", "§"))
        for head in ("", HEAD)
        for text in NET
    ),
    *(("Oracle Net", SQLNET, text.replace("tiger", "§")) for text in SETTINGS),
    *(("other files", path, text.replace("tiger", "§")) for path, text in OTHERS),
    *(("options and settings", SCRIPT, text.replace("tiger", "§")) for text in SCRIPTS),
]


def new_secret(rng: random.Random) -> str:
    """A word that no text holds by chance. Which other signs it may hold depends on the format."""
    letters = string.ascii_letters + string.digits
    return "Z" + "".join(rng.choice(letters) for _ in range(rng.randint(7, 24))) + "q"


def readings(path: str, text: str, lines: list[list[Any]]) -> dict[str, Any]:
    """A reading of every kind, each with the text in another part."""
    return {
        f"file:{path}": {"kind": "file", "text": text},
        f"command:cat {path}": {"kind": "command", "stdout": text, "stderr": text},
        "file:/x": {"kind": "file", "error": "unanswered", "message": text},
        "lines:x": {"kind": "lines", "lines": {path: lines}},
        "environment:1": {"kind": "environment", "names": [], "values": {"EXTRA": text}},
        "windows:x": {"kind": "windows", "windows": [], "remarks": [text]},
        "sample:x": {"kind": "sample", "first": {text: "1"}, "second": {path: text}},
        "report:x": {"kind": "report", "figures": {"a": [{"b": [[text, 1]]}]}},
        f"command:{text}": {"kind": "command", "argv": ["sh", "-c", text]},
    }


def leaves(path: str, text: str, secret: str, is_command: bool) -> bool:
    numbered = [[number, line] for number, line in enumerate(text.split("\n"), 1)]
    # A line alone, as a key or a message, does not tell of which file it is.
    only_file = path != SCRIPT
    outputs = [evidence.decode(evidence.encode({f"file:{path}": {"kind": "file", "text": text}}))]
    outputs.append(as_diff(path, text, text + "\nx\n"))
    if not only_file:
        outputs.append(evidence.decode(evidence.encode(readings(path, text, numbered))))
        finding = make_finding(
            CHECK, "fail", why=text, fix=text, title=text, running=text, evidence=[text],
            commands=[text], values={"value": text},
        )  # fmt: skip
        outputs.append(audit._without_secrets(finding, frozenset()).as_dict())
    if is_command:
        argv = {"kind": "command", "argv": shlex.split(text)}
        cmdline = {"kind": "file", "text": "\0".join(shlex.split(text)) + "\0"}
        outputs.append(evidence.decode(evidence.encode({"a": argv, "b": cmdline})))
    return secret.lower() in json.dumps(outputs).lower()


def attempts(rng: random.Random, _number: int) -> Iterator[Outcome]:
    while True:
        for name, path, text in rng.sample(CASES, len(CASES)):
            secret = new_secret(rng)
            filled = text.replace("§", secret)
            won = leaves(path, filled, secret, name in COMMANDS)
            yield Outcome(name, WON if won else CONTAINED, filled)


if __name__ == "__main__":
    family.main(attempts)
