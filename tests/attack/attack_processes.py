"""Processes that take the name of a daemon, a listener or an instance, and lead root to a file.

An attack succeeds if the evidence shows the process, or the text of the file that its arguments
name and only root may read.
"""

import ctypes
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random

import family
import sandbox
from family import CONTAINED, REFUSED, WON, Outcome
from sandbox import BASE, MALLORY, ORACLE

sandbox.enter()

from hostproof.collect import identity  # noqa: E402
from hostproof.collect.host import LiveHost  # noqa: E402
from hostproof.controls.registry import CONTROLS  # noqa: E402
from hostproof.errors import HostproofError  # noqa: E402

SHARE = 4

HERS = BASE / "mallory"
SECRET = BASE / "secret.conf"
WORD = "word-of-root"
NEWUSER, NEWNS = 0x10000000, 0x00020000
PR_SET_DUMPABLE = 4
#: Which accounts and programs count, and names that go with them.
KINDS = {
    "time": (identity.TIME, ("chronyd", "ntpd", "ptp4l", "phc2sys", "systemd-timesyncd")),
    "time or cluster": (identity.TIME_OR_CLUSTERWARE, ("chronyd", "octssd.bin", "ntpd")),
    "oracle": (
        identity.ORACLE,
        ("tnslsnr", "ora_pmon_DB1", "oracle", "db_pmon_DB1", "asm_pmon_+ASM"),
    ),
    "root": (identity.OF_ROOT, ("multipathd", "tuned", "iscsid", "ocssd.bin")),
}
FOLDERS = ("", "/usr/sbin/", "/usr/bin/", "/usr/lib/systemd/", "/sbin/", "/u01/home/bin/")
OPTIONS = ("-f", "-c", "-d", "-p", "--config", "-u", "LISTENER", "-inherit", "-n")

libc = ctypes.CDLL(None, use_errno=True)


def arguments(rng: Random, name: str) -> list[str]:
    first = rng.choice((*FOLDERS, f"{HERS}/", f"{HERS}/bin/")) + name
    options = [rng.choice(OPTIONS) for _ in range(rng.randint(0, 2))]
    return [first, *options, *([str(SECRET)] if rng.random() < 0.8 else [])]


def start(rng: Random, name: str, argv: list[str]) -> int:
    """A process of mallory's with these arguments, some in namespaces of its own."""
    program = HERS / "bin" / name
    program.parent.mkdir(exist_ok=True)
    if not program.exists():
        shutil.copy("/bin/sh", program)
    os.chown(program, MALLORY, MALLORY)
    program.chmod(rng.choice((0o755, 0o4755)))
    spaces = rng.choice((0, NEWUSER, NEWUSER | NEWNS))
    reading, writing = os.pipe()
    os.set_inheritable(writing, False)
    pid = os.fork()
    if pid == 0:
        try:
            become_one(spaces, str(program), argv)
        finally:
            os._exit(1)
    os.close(writing)
    os.read(reading, 1)  # ends when the program has begun
    if not Path(f"/proc/{pid}/cmdline").read_bytes().startswith(argv[0].encode()):
        raise AssertionError(f"{argv[0]} did not begin")
    os.close(reading)
    return pid


def become_one(spaces: int, program: str, argv: list[str]) -> None:
    os.setgroups([])
    os.setgid(MALLORY)
    os.setuid(MALLORY)
    # Who changed the account owns its files in /proc only when it is dumpable again.
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    # Where the kernel does not allow namespaces, it stays in those of the host.
    if spaces and libc.unshare(spaces) == 0:
        for file, text in (("setgroups", "deny"), ("uid_map", f"0 {MALLORY} 1")):
            Path("/proc/self", file).write_text(text)
    os.execv(program, [argv[0], "-c", "kill -STOP $$", *argv[1:]])


def strike(rng: Random) -> Outcome:
    kind_name = rng.choice([*KINDS])
    kind, names = KINDS[kind_name]
    name = rng.choice(names)
    argv = arguments(rng, name)
    pid = start(rng, name, argv)
    host = LiveHost()
    result = CONTAINED
    try:
        pattern = rng.choice((r"(^|/)" + name.replace("+", "[+]"), r".", name[:4]))
        host.processes("attack", pattern, kind)
        if kind_name.startswith("time") and rng.random() < 0.1:
            control = CONTROLS["time_sync"]
            control.read(host, control.policy_from({}))
    except (HostproofError, OSError, ValueError):
        result = REFUSED
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    text = repr(host.evidence)
    shown = f"'pid': {pid}," in text or f"'pid': {pid}}}" in text
    return Outcome(kind_name, WON if shown or WORD in text else result, argv)


def attempts(rng: Random, number: int) -> Iterator[Outcome]:
    sandbox.folder(HERS, MALLORY)
    sandbox.folder(BASE / "u01/home/bin", ORACLE)
    sandbox.file(SECRET, f"server {WORD}\npassword {WORD}\n", mode=0o600)
    for _ in range(number):
        yield strike(rng)


if __name__ == "__main__":
    family.main(attempts)
