"""Wrong addresses of webhooks: notify must not print a part of one, and must accept no account."""

import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
from hostproof_controller.notify import sending  # noqa: E402

SECRET = "s3cr3tw0rd"
PIECES = (
    *(
        *("http://", "https://", "127.0.0.1", "localhost", "[::1]", "[", "]", ":", ":1"),
        *(":0", ":99999"),
    ),
    *("@", "/", "\\", "#", "?", "%", "..", "\r\n", "\0", "\x7f", "\xe9", " ", "a.example", "user:"),
)


def attempts(rng: Random, number: int) -> Iterator[family.Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hook")
        while True:
            words = [rng.choice(("http://", "https://")), "127.0.0.1"]
            words += rng.choices(PIECES, k=rng.randrange(1, 5))
            words.insert(rng.randrange(1, len(words) + 1), SECRET)
            text = "".join(words)
            Path(path).write_bytes(text.encode("latin-1"))
            os.chmod(path, 0o600)
            yield family.Outcome("the address of a webhook", strike(path), text)


def strike(path: str) -> str:
    """Nothing leaves this machine: what is accepted is sent to a port where nothing listens."""
    try:
        address = sending.webhook_in(path)
    except sending.NotSent as problem:
        return family.WON if SECRET in str(problem) else family.REFUSED
    except Exception:
        return family.WON
    if "@" in address.partition("://")[2].partition("/")[0].partition("?")[0]:
        return family.WON
    if not address.startswith("http://127.0.0.1:1/"):
        return family.CONTAINED
    try:
        sending.post(address, {}, pauses=())
    except sending.NotSent as problem:
        return family.WON if SECRET in str(problem) else family.CONTAINED
    return family.WON


if __name__ == "__main__":
    family.main(attempts)
