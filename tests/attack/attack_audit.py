"""A local user against a read-only audit: what root reads, what it runs, what it believes, what it
waits for, and what it keeps."""

import contextlib
import ctypes
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import sandbox
from sandbox import BASE, MALLORY, ORACLE, SECRET

sandbox.enter()

from hostproof.apply.writer import Writer  # noqa: E402
from hostproof.collect import command  # noqa: E402
from hostproof.collect.command import Command  # noqa: E402
from hostproof.collect.host import LiveHost  # noqa: E402
from hostproof.errors import HostproofError  # noqa: E402
from hostproof.evaluate import audit  # noqa: E402
from hostproof.probes.nfs import nfs_files  # noqa: E402
from hostproof.probes.oracle import instances, listeners, oracle_parameters  # noqa: E402

SHARE = 2
ATTACKS = 12

HERS = BASE / "mallory"
MARK = BASE / "mark"
HOME = BASE / "u01/home"

#: How a command that is not run, or not to its end, is told.
REFUSED = (HostproofError, OSError, ValueError, subprocess.SubprocessError)

#: Seconds that one bounded read may take, whatever lies there; of each wait the limit, and what a
#: loaded machine needs besides.
BOUND = 30.0

#: Bytes that what commands print may cost: 8 MiB of it are taken, as bytes and as text.
MOST_GROWTH = 128 << 20


def prepare() -> None:
    for path in (HERS, BASE / "u01"):
        shutil.rmtree(path, ignore_errors=True)
    sandbox.folder(HERS, MALLORY)
    sandbox.file(BASE / "secret", SECRET, mode=0o600)
    sandbox.folder(MARK, 0, 0o1777)
    for path in (HOME, HOME / "bin"):
        sandbox.folder(path, ORACLE)
    for name in ("sqlplus", "other"):
        sandbox.file(HOME / "bin" / name, f"#!/bin/sh\nid -u > {MARK}/ran\n", ORACLE, 0o755)


# -- what it reads ---------------------------------------------------------------------------------


def swap_file() -> None:
    """A file that root reads is a link to what only root may read."""
    os.symlink(BASE / "secret", HERS / "link")
    os.rename(HERS / "link", HERS / "file")
    (HERS / "new").write_text("hers\n")
    os.rename(HERS / "new", HERS / "file")


def read_file(_number: int) -> bool:
    prepare()
    host = LiveHost()
    with sandbox.attacker(swap_file):
        for read in (host.read_text, lambda path: nfs_files.read_text(host, path)):
            # It was gone for a moment, or may not be read.
            with contextlib.suppress(HostproofError):
                read(str(HERS / "file"))
    return SECRET.strip() in repr(host.evidence)


# -- what it runs ----------------------------------------------------------------------------------


def hers_leads_to_oracles() -> None:
    """A home of mallory's own, whose program is oracle's: asked of its owner by stat -L."""
    sandbox.folder(HERS / "bin", MALLORY)
    (HERS / "bin/sqlplus").symlink_to(HOME / "bin/other")


def home_is_a_link() -> None:
    sandbox.folder(HERS / "above", MALLORY)
    (HERS / "above/home").symlink_to(HOME)


def run_through(place: Any, arrange: Callable[[], None]) -> Callable[[int], bool]:
    """Whether a program of oracle's runs because mallory's folder leads there."""

    def attempt(_number: int) -> bool:
        prepare()
        arrange()
        (MARK / "ran").unlink(missing_ok=True)
        host = LiveHost()
        for owner in (lambda: oracle_parameters.owner_of(host, str(place)), lambda: "oracle"):
            request = Command("attack", (f"{place}/bin/sqlplus",), user="oracle", timeout=10.0)
            with contextlib.suppress(*REFUSED):
                command.run(request._replace(user=owner()))
        return (MARK / "ran").exists()

    return attempt


def swap_program() -> None:
    os.rename(HERS / "bin/sqlplus", HERS / "bin/kept")
    os.symlink(HOME / "bin/other", HERS / "bin/sqlplus")
    os.unlink(HERS / "bin/sqlplus")
    os.rename(HERS / "bin/kept", HERS / "bin/sqlplus")


def run_swapped(_number: int) -> bool:
    """Her own program runs as her, never oracle's, and nothing of hers as oracle or root."""
    prepare()
    (MARK / "ran").unlink(missing_ok=True)
    sandbox.folder(HERS / "bin", MALLORY)
    sandbox.file(HERS / "bin/sqlplus", f"#!/bin/sh\nid -u > {MARK}/ran\n", MALLORY, 0o755)
    with sandbox.attacker(swap_program):
        for user in ("mallory", "oracle"):
            request = Command("attack", (f"{HERS}/bin/sqlplus",), user=user, timeout=10.0)
            with contextlib.suppress(*REFUSED):
                command.run(request)
    return (MARK / "ran").exists() and (MARK / "ran").read_text() != f"{MALLORY}\n"


# -- what it believes ------------------------------------------------------------------------------


def pretend(name: str, find: Callable[[LiveHost], Any]) -> Callable[[int], bool]:
    """Whether a process that only has the name of one is taken for an instance or a listener."""

    def attempt(number: int) -> bool:
        prepare()
        shown = name.format(number)
        with subprocess.Popen(
            ["bash", "-c", 'exec -a "$0" sleep 60', shown], user=MALLORY, extra_groups=[]
        ) as process:
            try:
                for _ in range(500):
                    with open(f"/proc/{process.pid}/cmdline", "rb") as stream:
                        if stream.read().startswith(shown.encode()):
                            break
                    time.sleep(0.01)
                return bool(find(LiveHost()))
            finally:
                process.kill()

    return attempt


# -- what it waits for -----------------------------------------------------------------------------


def make_fifo() -> str:
    os.mkfifo(HERS / "odd", 0o666)
    return str(HERS / "odd")


def make_device() -> str:
    os.mknod(HERS / "odd", 0o20666, os.makedev(1, 5))  # /dev/zero
    return str(HERS / "odd")


def make_sparse() -> str:
    with open(HERS / "odd", "wb") as stream:
        stream.truncate(1 << 40)
    return str(HERS / "odd")


def wait_for(make: Callable[[], str]) -> Callable[[int], bool]:
    """Whether a read of a place hangs, or costs another control its verdict."""

    def attempt(_number: int) -> bool:
        prepare()
        path = make()
        read = {
            "waits": lambda host, policy: host.read_text(path),
            "other": lambda host, policy: host.read_text("/proc/sys/kernel/ostype"),
        }
        audit.CONTROLS = {
            name: SimpleNamespace(
                policy_from=dict, checks=(), read=reader, judge=lambda facts, policy: []
            )
            for name, reader in read.items()
        }
        host = LiveHost()
        started = time.monotonic()
        audit.judge_host(host, {"waits": {}, "other": {}})
        late = time.monotonic() - started > BOUND
        judged = host.evidence.get("file:/proc/sys/kernel/ostype", {}).get("text") == "Linux\n"
        return late or not judged or "error" not in host.evidence[f"file:{path}"]

    return attempt


def dead_mount(_number: int) -> bool:
    """A file system whose server is gone: whatever touches it waits until it is killed."""
    prepare()
    sandbox.folder(BASE / "dead", 0)
    server = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={server},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"gone:/vol", str(BASE / "dead").encode(), b"fuse", 0, options):
        sandbox.skip(f"no file system can be mounted: {os.strerror(ctypes.get_errno())}")
    path = str(BASE / "dead/file")
    looks: tuple[Callable[[LiveHost], Any], ...] = (
        lambda host: host.read_text(path),
        lambda host: host.list_dir(str(BASE / "dead")),
        lambda host: host.run(["stat", path], timeout=2.0),
        lambda host: host.run(["df", str(BASE / "dead")], timeout=2.0),
        lambda host: nfs_files.read_text(host, path),
    )

    def touch(host: LiveHost, _policy: Any) -> None:
        for look in looks:
            with contextlib.suppress(HostproofError):
                look(host)

    kernel = "/proc/sys/kernel/ostype"
    audit.CONTROLS = {
        name: SimpleNamespace(policy_from=dict, checks=(), read=read, judge=lambda *_: [])
        for name, read in (
            ("waits", touch),
            ("waits_too", touch),
            ("yet_another", lambda host, policy: host.read_text(kernel)),
        )
    }
    host = LiveHost()
    started = time.monotonic()
    try:
        audit.judge_host(host, {name: {} for name in audit.CONTROLS}, seconds=(5.0, 30.0))
        late = time.monotonic() - started > 2 * BOUND
    finally:
        os.close(server)
        libc.umount2(str(BASE / "dead").encode(), 2)
    return late or host.evidence.get(f"file:{kernel}", {}).get("text") != "Linux\n"


def closed_streams(_number: int) -> bool:
    """A command closes its streams and sleeps: 0.2 seconds were given, not a minute."""
    started = time.monotonic()
    with contextlib.suppress(HostproofError):
        LiveHost().run(["sh", "-c", "exec <&- >&- 2>&-; sleep 60"], timeout=0.2)
    return time.monotonic() - started > BOUND


# -- what it keeps ---------------------------------------------------------------------------------


def flood(_number: int) -> bool:
    """Commands that print without end, to either stream, to whoever looks or writes."""
    looks: tuple[Callable[[], Any], ...] = (
        lambda: LiveHost().run(["yes"]),
        lambda: LiveHost().run(["sh", "-c", "yes >&2"]),
        lambda: LiveHost().ask(Command("attack", ("yes",))),
        lambda: LiveHost().ask(Command("attack", ("sh", "-c", "yes >&2"))),
        lambda: Writer().run(Command("attack", ("yes",))),
        lambda: Writer()._run(["yes"], 60.0),
    )
    taken = 0
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    for look in looks:
        try:
            look()
            taken += 1
        except HostproofError as problem:
            taken += re.search(r"(wrote|printed) more than \d+ bytes", str(problem)) is None
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return bool(taken) or grown > MOST_GROWTH or time.monotonic() - started > len(looks) * BOUND


def main() -> int:
    attacks = {
        "audit reads a swapped file": read_file,
        "audit runs a linked program": run_through(HERS, hers_leads_to_oracles),
        "audit runs in a linked home": run_through(HERS / "above/home", home_is_a_link),
        "audit runs a swapped program": run_swapped,
        "audit believes an instance": pretend("ora_pmon_FAKE{0}", instances.find_instances),
        "audit believes a listener": pretend(str(HOME / "bin/tnslsnr"), listeners.read_listeners),
        "audit waits for a FIFO": wait_for(make_fifo),
        "audit waits for a device": wait_for(make_device),
        "audit waits for a sparse file": wait_for(make_sparse),
        "audit waits for a quiet command": closed_streams,
    }
    wins = sum(sandbox.try_often(name, attempt) for name, attempt in attacks.items())
    # Each takes the whole time that a look has.
    few = max(1, sandbox.TRIES // 40)
    wins += sandbox.try_often("audit keeps all that a command prints", flood, few)
    wins += sandbox.try_often("audit waits for a server that is gone", dead_mount, few)
    return 1 if wins else 0


if __name__ == "__main__":
    sys.exit(main())
