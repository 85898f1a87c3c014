"""Files that the controller opens by somebody's name, and that never end or never begin: FIFOs,
devices, sockets and links to them, files that are too long, too full or nested too deep."""

import importlib
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
from ansible.module_utils.hostproof.collect import evidence  # noqa: E402
from ansible.module_utils.hostproof.errors import HostproofError  # noqa: E402
from hostproof_controller.latency import baseline  # noqa: E402
from hostproof_controller.report.store import read_entries  # noqa: E402
from hostproof_controller.report.waiver_file import load_waivers  # noqa: E402
from hostproof_controller.slices.nodes import read_nodes  # noqa: E402

SHARE = 5
#: Seconds after which a reader hangs.
PATIENCE = 20


def by_folder(path: str) -> Any:
    os.rename(path, f"{path}.moved")
    os.mkdir(path)
    os.rename(f"{path}.moved", f"{path}/findings.jsonl")
    return read_entries([path])


READERS: dict[str, Callable[[str], Any]] = {
    "an evidence pack": evidence.open_pack,
    "findings.jsonl": by_folder,
    "waivers": load_waivers,
    "nodes": lambda path: read_nodes(Path(path)),
    "a baseline": lambda path: baseline.read_json(path, "baseline"),
}


def socket_at(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)


def sparse(path: str) -> None:
    with open(path, "wb") as stream:
        stream.truncate(1 << 40)


KINDS: dict[str, Callable[[str], Any]] = {
    "fifo": os.mkfifo,
    "folder": os.mkdir,
    "socket": socket_at,
    "zero": lambda path: os.symlink("/dev/zero", path),
    "random": lambda path: os.symlink("/dev/urandom", path),
    "tty": lambda path: os.symlink("/dev/tty", path),
    "stdin": lambda path: os.symlink("/dev/stdin", path),
    "loop": lambda path: os.symlink(path, path),
    "sparse": sparse,
    "deep": lambda path: Path(path).write_bytes(b"[" * 200_000),
    "full": lambda path: Path(path).write_bytes(b'{"a": [' + b"[]," * 1_200_000 + b"[]]}"),
}


def strike(rng: Random, reader: str, kind: str) -> str:
    with tempfile.TemporaryDirectory() as made:
        path = os.path.join(made, "file")
        if rng.random() < 0.3:
            KINDS[kind](f"{path}.there")
            os.symlink(f"{path}.there", path)
        else:
            KINDS[kind](path)
        signal.alarm(PATIENCE)
        try:
            READERS[reader](path)
        except (HostproofError, OSError):
            return family.REFUSED
        except Late:
            return family.WON
        finally:
            signal.alarm(0)
    return family.CONTAINED if reader == "findings.jsonl" else family.WON


class Late(BaseException):
    """The reader hangs; no reader takes it for an error of its file."""


def late(*_: Any) -> None:
    raise Late


def attempts(rng: Random, number: int) -> Iterator[family.Outcome]:
    signal.signal(signal.SIGALRM, late)
    while True:
        reader, kind = rng.choice([*READERS]), rng.choice([*KINDS])
        if (reader, kind) == ("findings.jsonl", "sparse"):
            # It is read to its end, for it may hold the results of any number of hosts.
            continue
        result = strike(rng, reader, kind)
        yield family.Outcome(f"{reader} that is no plain file", result, kind)


if __name__ == "__main__":
    family.main(attempts)
