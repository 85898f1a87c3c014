"""Files of a hostile host with a password, in every form that people and programs write one.

An attack succeeds if the password is in the evidence that leaves the host, or in a difference that
is shown. Each form is a row of the second table.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
import masking_cases  # noqa: E402
from ansible.module_utils.hostproof import evidence  # noqa: E402
from ansible.module_utils.hostproof.difference import as_diff  # noqa: E402
from family import CONTAINED, WON, Outcome  # noqa: E402

#: Cheap attempts: a form, the lines around it and the password make each of them.
SHARE = 20

SQLNET = "/u01/home/network/admin/sqlnet.ora"
#: The password in the forms of masking_cases.
WORD = "tiger"
PASSWORDS = (WORD, "tigerX9", "tiger7tiger", "tiger_w")
HEADS = ("", "# first\n", "name=value\n\n", "a\nb\n")
TAILS = ("", "\n", "\nname=value\n", "\n# last\n")


def forms() -> dict[str, list[tuple[str, str]]]:
    """Path and text of each file by form."""
    found = {
        "Oracle Net": [(masking_cases.PATH, text) for text in masking_cases.NET],
        "Oracle Net after a heading": [
            (masking_cases.PATH, masking_cases.HEAD + text) for text in masking_cases.NET
        ],
        "sqlnet.ora": [(SQLNET, text) for text in masking_cases.SETTINGS],
        "script": [("/etc/rc.local", text) for text in masking_cases.SCRIPTS],
    }
    for path, text in masking_cases.OTHERS:
        found.setdefault(f"file {Path(path).name}", []).append((path, text))
    return found


def leaks(path: str, text: str, password: str) -> bool:
    reading = {"kind": "file", "text": text}
    shown = {"kind": "command", "argv": ["cat", path], "stdout": text, "stderr": text}
    packed = evidence.encode({f"file:{path}": reading, f"command:cat {path}": shown})
    told = f"{evidence.decode(packed)}{as_diff(path, text, text + 'x')}"
    return password.lower() in told.lower()


def attempts(rng: Random, number: int) -> Iterator[Outcome]:
    """Every form as it is, then with random lines around it and another password."""
    every = [(form, *one) for form, some in forms().items() for one in some]
    for form, path, text in every:
        yield Outcome(form, WON if leaks(path, text, WORD) else CONTAINED, text)
    while True:
        form, path, text = rng.choice(every)
        password = rng.choice(PASSWORDS)
        if WORD not in text:
            password = WORD  # it is written in capitals
        changed = rng.choice(HEADS) + text.replace(WORD, password) + rng.choice(TAILS)
        yield Outcome(form, WON if leaks(path, changed, password) else CONTAINED, changed)


if __name__ == "__main__":
    family.main(attempts)
