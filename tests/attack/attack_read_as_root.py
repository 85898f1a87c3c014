"""An account without rights chooses what a path leads to; won where root's secret is in the
evidence of an audit that runs as root."""

import contextlib
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator

import family
import sandbox
from family import CONTAINED, REFUSED, WON, Outcome
from sandbox import BASE, GROUP, MALLORY, ORACLE, SECRET

sandbox.enter()

from hostproof.collect.host import LiveHost  # noqa: E402
from hostproof.controls.nfs_mounts.probes import direct_nfs  # noqa: E402
from hostproof.errors import HostproofError  # noqa: E402
from hostproof.probes.nfs import nfs_files  # noqa: E402
from hostproof.probes.oracle.oracle_homes import OracleHome  # noqa: E402

SHARE = 20

HERS = BASE / "mallory"
PRIZE = BASE / "root"
NAMES = ("dbs", "network", "install", "etc", "trace")

#: A read of the product, by which the secret could come into the evidence.
READS: tuple[Callable[[LiveHost, str], object], ...] = (
    lambda host, path: host.read_text(path),
    lambda host, path: nfs_files.read_text(host, path),
    lambda host, path: nfs_files.read_text_without(host, "community", path),
    lambda host, path: host.find_lines("x", [path], "only root"),
    lambda host, path: host.sample("x", [path], [], 0.001),
    lambda host, path: host.run_as_reader(["head", "-c", "99", path], [path]),
)


def prepare(rng: random.Random) -> str:
    """Mallory's folder and root's secret; the name of the link between them."""
    for path in (HERS, PRIZE, BASE / "shared", BASE / "common"):
        shutil.rmtree(path, ignore_errors=True)
    sandbox.folder(HERS, MALLORY)
    sandbox.folder(PRIZE, 0)
    for name in ("secret", "oranfstab"):
        sandbox.file(PRIZE / name, SECRET, mode=0o600)
    name = rng.choice(NAMES)
    os.symlink(PRIZE, HERS / name)
    os.chown(HERS / name, MALLORY, MALLORY, follow_symlinks=False)
    return name


def look(attack: str, rng: random.Random, path: str, detail: str = "") -> Outcome:
    host = LiveHost()
    refused = False
    try:
        rng.choice(READS)(host, path)
    except HostproofError:
        refused = True
    return told(attack, host, refused, f"{path} {detail}".strip())


def told(attack: str, host: LiveHost, refused: bool, shown: str) -> Outcome:
    won = SECRET.strip() in repr(host.evidence)
    return Outcome(attack, WON if won else REFUSED if refused else CONTAINED, shown)


@contextlib.contextmanager
def running() -> Iterator[int]:
    """A process of mallory's that stands in her folder and holds it open."""
    handle = os.open(HERS, os.O_RDONLY)
    with subprocess.Popen(
        ["sleep", "60"], user=MALLORY, group=MALLORY, extra_groups=[], cwd=HERS, pass_fds=[handle]
    ) as process:
        os.close(handle)
        try:
            yield process.pid
        finally:
            process.kill()


def link_of_process(rng: random.Random) -> Iterator[Outcome]:
    """/proc/PID/cwd, root and their like, spelled in many ways, of one process."""
    name = prepare(rng)
    with running() as pid:
        fds = os.listdir(f"/proc/{pid}/fd")
        for _ in range(8):
            start = rng.choice(
                ("/proc", "//proc", "/proc/.", "/sys/../proc", "/proc/sys/..", "/proc/self/..")
            )
            inside = rng.choice(
                (
                    f"{pid}/cwd/{name}",
                    f"{pid}/root{HERS}/{name}",
                    f"{pid}/root{PRIZE}",
                    f"{pid}/task/{pid}/cwd/{name}",
                    f"{pid}/fd/{rng.choice(fds)}/{name}",
                    f"{pid}/cwd/../root",
                )
            )
            path = f"{start}/{inside}/secret"
            if rng.random() < 0.3:
                indirect = BASE / "indirect"
                indirect.unlink(missing_ok=True)
                indirect.symlink_to(f"{start}/{inside}")
                path = f"{indirect}/secret"
            yield look("links of a process", rng, path)


def base_of_home(rng: random.Random) -> Iterator[Outcome]:
    """orabasetab of an account names a folder of root's, or a link of a process."""
    name = prepare(rng)
    home = HERS / "home"
    for path in (home, home / "install"):
        sandbox.folder(path, MALLORY)
    with running() as pid:
        base = rng.choice((str(PRIZE), f"/proc/{pid}/cwd/{name}", f"/proc/{pid}/root{PRIZE}"))
        os.makedirs(PRIZE / "homes/x/dbs", exist_ok=True)
        for folder in (PRIZE / "dbs", PRIZE / "homes/x/dbs"):
            os.makedirs(folder, exist_ok=True)
            sandbox.file(folder / "oranfstab", f"server: x\n{SECRET}", mode=0o600)
        tab = f"{home}:{base}:x:Y:\n"
        sandbox.file(home / "install/orabasetab", tab, MALLORY)
        host = LiveHost()
        direct_nfs.read_direct_nfs(host, [OracleHome(str(home), (), ("policy",), False)])
        yield told("base of an Oracle home", host, True, base)


def swapped(rng: random.Random) -> Iterator[Outcome]:
    """A file or a folder on the way is hers, then a link, then hers again."""
    prepare(rng)
    inner = sandbox.folder(HERS / "a", MALLORY)
    sandbox.file(inner / "secret", "hers\n", MALLORY)

    def folders() -> None:
        os.rename(inner, HERS / "kept")
        os.symlink(PRIZE, inner)
        os.unlink(inner)
        os.rename(HERS / "kept", inner)

    def files() -> None:
        os.symlink(PRIZE / "secret", HERS / "link")
        os.rename(HERS / "link", inner / "secret")
        (HERS / "new").write_text("hers\n")
        os.rename(HERS / "new", inner / "secret")

    with sandbox.attacker(rng.choice((folders, files))):
        for _ in range(8):
            yield look("exchanged for links", rng, f"{inner}/secret")


def shared_folder(rng: random.Random) -> Iterator[Outcome]:
    """A folder of root's that a group may write: a member has another member read for her."""
    prepare(rng)
    shared = sandbox.folder(BASE / "shared", 0)
    os.chown(shared, 0, GROUP)
    shared.chmod(0o775)
    private = sandbox.file(shared / "private", SECRET, ORACLE, 0o600)
    target = rng.choice((private, PRIZE / "secret"))
    os.symlink(target, shared / "link")
    os.chown(shared / "link", ORACLE, GROUP, follow_symlinks=False)
    yield (
        look("folders of a group", rng, f"{shared}/link", str(target))
        if (target != private)
        else Outcome("folders of a group", CONTAINED, "a file of the only member")
    )


def common_folder(rng: random.Random) -> Iterator[Outcome]:
    """A folder where anybody may add: a hard link to root's file, or a link of hers."""
    prepare(rng)
    common = sandbox.folder(BASE / "common", 0, rng.choice((0o1777, 0o777)))
    if rng.random() < 0.5:
        os.link(PRIZE / "secret", common / "x")
    else:
        os.symlink(PRIZE / "secret", common / "x")
        os.chown(common / "x", MALLORY, MALLORY, follow_symlinks=False)
    yield look("folders of everybody", rng, f"{common}/x")


def named(rng: random.Random) -> Iterator[Outcome]:
    """A script of an account calls a file of root's."""
    prepare(rng)
    sandbox.file(PRIZE / "script", f"#!/bin/sh\n# {SECRET}", mode=0o700)
    called = rng.choice(("", "x ", "exec ")) + str(PRIZE / "script")
    sandbox.file(HERS / "job", f"#!/bin/sh\n{called}\n", MALLORY, 0o755)
    host = LiveHost()
    with contextlib.suppress(HostproofError):
        host.find_lines("x", [str(HERS / "job")], "only root")
    yield told("scripts of an account", host, True, called)


WAYS = (link_of_process, base_of_home, swapped, shared_folder, common_folder, named)


def attempts(rng: random.Random, number: int) -> Iterator[Outcome]:
    os.chdir("/")
    while True:
        for attack in WAYS:
            yield from attack(rng)


if __name__ == "__main__":
    family.main(attempts)
