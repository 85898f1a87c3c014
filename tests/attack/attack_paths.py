"""Paths that an account chose, read by an audit of root: links, also those of /proc.

An attack succeeds if the evidence holds the text of a file, or the names of a folder, that only
root may read.
"""

import os
import shutil
import signal
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import family
import sandbox
from family import CONTAINED, REFUSED, WON, Outcome
from sandbox import BASE, MALLORY, SECRET

sandbox.enter()

from hostproof.collect.host import LiveHost  # noqa: E402
from hostproof.errors import HostproofError  # noqa: E402
from hostproof.probes.nfs import nfs_files  # noqa: E402

SHARE = 5

HERS, SHARED, OPEN = BASE / "mallory", BASE / "shared", BASE / "open"
LISTED, PRIVATE = BASE / "listed", BASE / "private"
WORD = SECRET.split()[-1] + "-of-root"
TEXT = f"secret = {WORD}\n"


def prepare(rng: Random) -> None:
    for path in (HERS, SHARED, OPEN, LISTED, PRIVATE):
        shutil.rmtree(path, ignore_errors=True)
    sandbox.folder(HERS, MALLORY)
    # Root's folders that she may change: by group, by access list, as everybody.
    sandbox.folder(SHARED, 0)
    os.chown(SHARED, 0, MALLORY)
    SHARED.chmod(rng.choice((0o775, 0o2775, 0o1775)))
    sandbox.folder(OPEN, 0, rng.choice((0o777, 0o1777)))
    sandbox.folder(LISTED, 0)
    entries = (1, 7, 2**32 - 1), (2, 7, MALLORY), (4, 5, 2**32 - 1), (16, 7, 2**32 - 1)
    packed = b"".join(struct.pack("<HHI", *entry) for entry in (*entries, (32, 5, 2**32 - 1)))
    os.setxattr(LISTED, "system.posix_acl_access", struct.pack("<I", 2) + packed)
    sandbox.folder(PRIVATE, 0, 0o700)
    sandbox.file(PRIVATE / "secret", TEXT, mode=0o600)
    sandbox.file(PRIVATE / WORD, "", mode=0o600)


def start(cwd: Path) -> int:
    """A process of mallory's that stays in the folder and holds it open as descriptor 9."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setgid(MALLORY)
        os.setuid(MALLORY)
        os.chdir(cwd)
        os.dup2(os.open(".", os.O_RDONLY), 9)
        os.write(writing, b"x")
        while True:
            signal.pause()
    os.read(reading, 1)
    os.close(reading)
    os.close(writing)
    return pid


def link(name: Path, target: str) -> None:
    name.symlink_to(target)
    os.lchown(name, MALLORY, MALLORY)


def links(rng: Random, place: Path, target: Path, pid: int) -> str:
    """A path that leads to the target through one to four links of hers."""
    current = str(target)
    for number in range(rng.randint(1, 4)):
        name = place / f"link{number}"
        if rng.random() < 0.3 and current == str(target):
            # A link to the folder, and the name in it.
            link(name, str(target.parent))
            current = f"{name}/{target.name}"
            continue
        link(name, current)
        current = str(name)
        if rng.random() < 0.4:
            current = dressed(rng, current, place, pid)
    return dressed(rng, current, place, pid)


def dressed(rng: Random, path: str, place: Path, pid: int) -> str:
    """The same place, spelled in another way."""
    inside = os.path.relpath(path, place)
    ways: list[Callable[[], str]] = [
        lambda: path,
        lambda: f"/proc/{pid}/cwd/{inside}",
        lambda: f"/proc/{pid}/root{path}",
        lambda: f"/proc/{pid}/fd/9/{inside}",
        lambda: f"/proc/{pid}/task/{pid}/cwd/{inside}",
        lambda: f"/proc/{pid}/task/{pid}/root{path}",
        lambda: f"/proc/self/root{path}",
        lambda: f"/proc/thread-self/root{path}",
        lambda: f"/proc/1/root{path}",
        lambda: f"/proc/{pid}/../..{path}",
        lambda: f"/proc/../{path}",
        lambda: f"/proc//{pid}/./cwd/{inside}",
        lambda: f"/sys/../{path}",
        lambda: f"/dev/fd/../root{path}",
        lambda: path.replace("/", "//"),
        lambda: path.replace("/mnt/", "/mnt/./"),
    ]
    return rng.choice(ways)()


#: What reads a path in an audit.
READS: dict[str, Callable[[LiveHost, str], object]] = {
    "read_text": lambda host, path: host.read_text(path),
    "list_dir": lambda host, path: host.list_dir(os.path.dirname(path)),
    "nfs_files": nfs_files.read_text,
    "find_lines": lambda host, path: host.find_lines("attack", [path], "secret"),
    "find_lines in a folder": lambda host, path: host.find_lines(
        "attack", [os.path.dirname(path)], "secret"
    ),
}


def strike(rng: Random) -> Outcome:
    prepare(rng)
    place = rng.choice((HERS, HERS, SHARED, OPEN, LISTED))
    pid = start(place)
    how = rng.choice([*READS])
    host = LiveHost()
    result = CONTAINED
    try:
        path = links(rng, place, PRIVATE / "secret", pid)
        READS[how](host, path)
    except (HostproofError, OSError, ValueError):
        result = REFUSED
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return Outcome(how, WON if WORD in repr(host.evidence) else result, path)


def attempts(rng: Random, number: int) -> Iterator[Outcome]:
    for _ in range(number):
        yield strike(rng)


if __name__ == "__main__":
    family.main(attempts)
