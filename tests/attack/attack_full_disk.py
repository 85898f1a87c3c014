"""Another account fills the disk of the change journal, and apply or revert is killed on the way.

An attack succeeds if the host is not exactly as it was after revert: any file with its owner, mode,
access list and attributes, any value, mount or state of a command. File systems are real ones, ext4
and tmpfs, and so are the kills.
"""

import base64
import contextlib
import itertools
import json
import multiprocessing
import os
import shutil
import signal
import stat
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import family
import sandbox
from family import CONTAINED, WON, Outcome
from sandbox import BASE, MALLORY

sandbox.enter()

from hostproof.apply import file_attributes, mounting, writer  # noqa: E402
from hostproof.apply import transaction as apply  # noqa: E402
from hostproof.apply.change import (  # noqa: E402
    Change,
    CommandChange,
    FileChange,
    MountChange,
    MountState,
    Plan,
    ValueChange,
)
from hostproof.apply.journal import Journal  # noqa: E402
from hostproof.collect.command import Command  # noqa: E402
from hostproof.probes.nfs.nfs_mounted import Mounted  # noqa: E402

SHARE = 2

FORK = multiprocessing.get_context("fork")
STEPS = (
    *("chmod", "fchmod", "fchown", "fsync", "link", "mkdir", "open", "rename", "rmdir"),
    *("unlink", "write"),
)
ATTRIBUTE_STEPS = ("setxattr", "removexattr")

#: A disk of its own for the journal; the files to change are there too, or on a disk with space.
DISK, ROOMY = BASE / "disk", BASE / "roomy"
IMAGE = BASE / "ext4.img"
#: What the last apply or revert said when it failed.
PROBLEM = BASE / "problem"
KINDS = (
    *("created", "deep", "replaced", "linked", "removed", "value", "command", "mount"),
    *("account", "all"),
)
FILLED = "bytes", "inodes", "both"
TEXT = "kept = yes\n" * 500

ACCESS_LIST = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", *entry)
    for entry in ((1, 6, 2**32 - 1), (2, 6, MALLORY), (4, 0, 2**32 - 1))
    + ((16, 6, 2**32 - 1), (32, 0, 2**32 - 1))
)
OLD_MOUNT = MountState("filer:/vol/data", "nfs", "rw,hard,vers=3")
NEW_MOUNT = MountState("filer:/vol/data", "nfs", "rw,soft,vers=3")


def mount_disk(kind: str) -> None:
    DISK.mkdir(exist_ok=True)
    if kind == "tmpfs":
        sandbox.run("mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=150,mode=755", "d", str(DISK))
        return
    with IMAGE.open("wb") as stream:
        stream.truncate(4 << 20)
    sandbox.run("mkfs.ext4", "-q", "-m", "0", "-N", "128", "-O", "^has_journal", str(IMAGE))
    sandbox.run("mount", "-o", "loop", str(IMAGE), str(DISK))


def fill(how: str, left: int = 0) -> None:
    """Until not one byte, or not one file, can be added; then make room for ``left`` blocks."""
    folder = DISK / "filling"
    folder.mkdir(exist_ok=True)
    if how in ("bytes", "both"):
        with (folder / "bytes").open("wb", buffering=0) as stream:
            for size in (65536, 4096, 1):
                try:
                    while stream.write(bytes(size)):
                        pass
                except OSError:
                    continue
    if how in ("inodes", "both"):
        try:
            for number in itertools.count():
                (folder / str(number)).touch()
        except OSError:
            pass
    for number in range(left):
        with contextlib.suppress(OSError):
            os.truncate(folder / "bytes", (folder / "bytes").stat().st_size - 4096)
        (folder / str(number)).unlink(missing_ok=True)


class Kernel:
    """What is mounted, kept in a file; no NFS server is needed to fill a disk."""

    TABLE = BASE / "mounts.json"

    def __init__(self) -> None:
        self.TABLE.write_text("{}")

    def show(self) -> dict[str, Mounted]:
        table = json.loads(self.TABLE.read_text())
        return {
            path: Mounted(path, mount[0], mount[1], mount[2], None, "/", ())
            for path, mount in table.items()
        }

    def change(self, path: str, state: MountState | None) -> None:
        table = json.loads(self.TABLE.read_text())
        table.pop(path, None)
        if state is not None:
            table[path] = list(state)
        self.TABLE.write_text(json.dumps(table))


class Hand(writer.Writer):
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def mount(self, source: str, path: str, fstype: str, options: str) -> None:
        self._kernel.change(path, MountState(source, fstype, options.replace(",fg,retry=0", "")))

    def unmount(self, path: str) -> None:
        self._kernel.change(path, None)


class Host:
    """Every kind of change below ``place``, and the journal on the small disk."""

    def __init__(self, place: Path) -> None:
        for folder in (ROOMY, *DISK.iterdir()):
            if folder.name != "lost+found":
                shutil.rmtree(folder, ignore_errors=True)
        ROOMY.mkdir()
        self.kernel = Kernel()
        self.root = place / "host"
        self.etc = sandbox.folder(self.root / "etc", 0)
        self.kept = sandbox.file(self.etc / "kept.conf", TEXT, mode=0o640)
        os.setxattr(self.kept, "system.posix_acl_access", ACCESS_LIST)
        os.setxattr(self.kept, "user.note", b"of the DBA")
        self.target = sandbox.file(self.etc / "target", TEXT, MALLORY, 0o604)
        (self.etc / "link.conf").symlink_to("target")
        self.value = sandbox.file(ROOMY / "value", "1000\n")
        self.state_file = sandbox.file(ROOMY / "state", "off\n")
        sandbox.folder(ROOMY / "home", MALLORY)
        self.theirs = sandbox.file(ROOMY / "home/listener.ora", TEXT, MALLORY, 0o600)
        self.point = sandbox.folder(ROOMY / "data", 0)
        self.kernel.change(str(self.point), OLD_MOUNT)
        sandbox.folder(DISK / "hostproof", 0, 0o700)
        mounting.mounted_now = self.kernel.show

    def changes(self, kind: str) -> list[Change]:
        etc = self.etc
        look = Command("look", ("cat", str(self.state_file)), expected="^(.*)$")
        set_on, set_off = (
            Command(state, ("sh", "-c", f"echo {state} > {self.state_file}"))
            for state in ("on", "off")
        )
        point = str(self.point)
        every: dict[str, list[Change]] = {
            "created": [FileChange(str(etc / "new.conf"), "new\n", None)],
            "deep": [FileChange(str(etc / "a/b/new.conf"), "new\n", None, 0o600)],
            "replaced": [FileChange(str(self.kept), "new\n", TEXT)],
            "linked": [FileChange(str(etc / "link.conf"), "new\n", TEXT)],
            "removed": [FileChange(str(self.kept), None, TEXT)],
            "value": [ValueChange(str(self.value), "8194", "1000")],
            "command": [CommandChange("state", "off", "on", look, (set_on,), (set_off,))],
            "mount": [
                MountChange(point, OLD_MOUNT, None, {}),
                MountChange(point, None, NEW_MOUNT, {}),
            ],
            "account": [FileChange(str(self.theirs), "new\n", TEXT)],
        }
        if kind != "all":
            return every[kind]
        return [change for name, some in every.items() if name != "removed" for change in some]

    def journal(self, hand: writer.Writer) -> Journal:
        return Journal(hand, str(DISK / "hostproof"))

    def apply(self, kind: str) -> None:
        hand = Hand(self.kernel)
        plan = Plan(self.changes(kind), [], [], [])
        apply.refuse(plan, "control", self.journal(hand))
        apply.apply_plan(plan, "control", self.journal(hand), hand)

    def revert(self) -> None:
        hand = Hand(self.kernel)
        journal = self.journal(hand)
        transactions = journal.transactions()
        apply.refuse_if_edited_since(transactions, overwrite=False)
        apply.revert(transactions, journal, hand)
        if journal.transactions():
            raise AssertionError("the journal still shows the apply")

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"mounts": json.loads(Kernel.TABLE.read_text())}
        for top in (self.root, ROOMY):
            for path in sorted(top.rglob("*")):
                look = path.lstat()
                state[str(path)] = [stat.filemode(look.st_mode), look.st_uid, look.st_gid]
                if path.is_symlink():
                    state[str(path)].append(os.readlink(path))
                elif path.is_file():
                    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
                    content = base64.b64encode(path.read_bytes())
                    state[str(path)] += [look.st_nlink, content, attributes]
        return state


class Killing:
    """Stands in for the module os: gets SIGKILL right before the step that is chosen.

    What another account does is a step of a process of its own: that one is killed then.
    """

    def __init__(self, names: tuple[str, ...], at: int, count: Any) -> None:
        self._names, self._at, self._count = names, at, count

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self._names:
            return real

        def step(*given: Any, **more: Any) -> Any:
            self._count.value += 1
            if self._count.value == self._at:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **more)

        return step


def in_child(work: Callable[[], None], at: int = 0) -> tuple[int, int]:
    """Exit status and number of steps; killed before step ``at``, 0 for never."""
    count = FORK.Value("i", 0)

    def child() -> None:
        writer.os = Killing(STEPS, at, count)
        file_attributes.os = Killing(ATTRIBUTE_STEPS, at, count)
        PROBLEM.unlink(missing_ok=True)
        try:
            work()
        except Exception as problem:
            PROBLEM.write_text(f"{type(problem).__name__}: {problem}")
            raise SystemExit(1) from None

    process = FORK.Process(target=child)
    process.start()
    process.join()
    return process.exitcode or 0, count.value


#: Steps of an apply or a revert by file system, place, kind and which of both it is.
STEPS_OF: dict[tuple[str, ...], int] = {}


def attempt(disk: str, place: str, kind: str, phase: str, how: str, rng: Random) -> Outcome:
    host = Host(DISK if place == "same disk" else ROOMY)
    before = host.state()
    key = (disk, place, kind, phase)
    at = rng.randint(1, STEPS_OF[key] + 1) if key in STEPS_OF else 0
    killed_at = at if phase == "apply" else 0
    ended, steps = in_child(lambda: host.apply(kind), killed_at)
    broken = ended != 0 and killed_at == 0
    fill(how)
    if phase == "revert":
        _, steps = in_child(host.revert, at)
    STEPS_OF.setdefault(key, steps)
    ended, _ = in_child(host.revert)
    won = broken or ended != 0 or host.state() != before
    return Outcome(
        f"{kind}, {place}, full of {how}",
        WON if won else CONTAINED,
        (disk, phase, f"killed before step {at}", PROBLEM.exists() and PROBLEM.read_text()),
    )


def attempt_without_space(disk: str, place: str, kind: str, how: str, rng: Random) -> Outcome:
    """Apply has no space for its journal, or too little: it makes all of its changes or none."""
    host = Host(DISK if place == "same disk" else ROOMY)
    before = host.state()
    left = rng.randint(0, 12)
    fill(how, left)
    in_child(lambda: host.apply(kind))
    torn = left == 0 and host.state() != before
    fill(how)
    ended, _ = in_child(host.revert)
    won = torn or ended != 0 or host.state() != before
    return Outcome(
        f"{kind}, {place}, applied when full of {how}",
        WON if won else CONTAINED,
        (disk, f"{left} blocks or files left", PROBLEM.exists() and PROBLEM.read_text()),
    )


def attempts(rng: Random, number: int) -> Iterator[Outcome]:
    phases = ("apply", "revert", "no space")
    every = list(itertools.product(("same disk", "other disk"), KINDS, phases, FILLED))
    disks = ["ext4", "tmpfs"] if shutil.which("mkfs.ext4") else ["tmpfs"]
    for disk in disks:
        mount_disk(disk)
        for _ in range(-(-number // len(disks) // len(every))):
            # Some of all where not even one of each fits.
            for place, kind, phase, how in rng.sample(every, min(len(every), number)):
                if phase == "no space":
                    yield attempt_without_space(disk, place, kind, how, rng)
                else:
                    yield attempt(disk, place, kind, phase, how, rng)
        sandbox.run("umount", str(DISK))


if __name__ == "__main__":
    family.main(attempts)
