"""An account gives its process the name of a daemon or of an instance; won where the product takes
it for one. Some run in a user namespace of their own, some run the packaged program."""

import contextlib
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import family
import sandbox
from family import CONTAINED, REFUSED, WON, Outcome
from sandbox import BASE, MALLORY

sandbox.enter()

from hostproof.collect.host import LiveHost  # noqa: E402
from hostproof.controls.cluster_nodes import facts as cluster_nodes  # noqa: E402
from hostproof.controls.listener_rate_limit import facts as rate_limit  # noqa: E402
from hostproof.controls.nfs_mounts import facts as nfs_mounts  # noqa: E402
from hostproof.controls.nfs_mounts.probes import direct_nfs  # noqa: E402
from hostproof.controls.time_sync import facts as time_sync  # noqa: E402
from hostproof.errors import HostproofError  # noqa: E402
from hostproof.probes.oracle import clusterware, instances, io_writers, listeners, processes  # noqa: E402

SHARE = 15

HERS = BASE / "mallory"
SLEEP = shutil.which("sleep") or "/bin/sleep"
#: A host whose units say nothing.
UNITS = HostproofError("no units")


def cluster(host: LiveHost) -> bool:
    grid = rate_limit._read_clusterware(host)
    return grid.runs or grid.cluster


def writers(host: LiveHost) -> Any:
    return io_writers.writers(host, io_writers.read_holders(host), "x86_64")


def time_daemons(host: LiveHost) -> bool:
    return cluster_nodes._time_daemons(host) != "none"


#: Names that a process shows, and what would take one for real.
LOOKS: tuple[tuple[str, Callable[[LiveHost], Any]], ...] = (
    ("ora_pmon_{0}", instances.find_instances),
    ("db_pmon_{0}", instances.find_instances),
    ("asm_pmon_+ASM{0}", instances.find_instances),
    ("ora_lgwr_{0}", processes.read),
    ("{1}/bin/tnslsnr", listeners.read_listeners),
    ("tnslsnr", listeners.read_listeners),
    ("{1}/bin/ocssd.bin", clusterware.css_daemons),
    ("{1}/bin/crsd.bin", processes.read),
    ("{1}/bin/ohasd.bin", cluster),
    ("ora_dbw0_{0}", writers),
    ("ora_dbw0_{0}", lambda host: nfs_mounts._read_database_files(host, [str(HERS)])),
    ("ora_dbw0_{0}", lambda host: direct_nfs.read_processes(host, ())),
    *(
        (folder + name, look)
        for folder in ("", "/usr/sbin/", "{1}/")
        for name in ("chronyd", "ntpd", "phc2sys")
        for look in (lambda host: time_sync._read_keepers(host, UNITS), time_daemons)
        if name != "phc2sys" or look is not time_daemons
    ),
)


def command(rng: random.Random, shown: str) -> list[str]:
    """A command whose process shows that name: sleep, her own copy of it, or in a namespace."""
    name = shown.rpartition("/")[2]
    own = HERS / "bin" / ("oracle" if "_" in name else name)
    program = rng.choice((SLEEP, str(own)))
    run = ["bash", "-c", 'exec -a "$0" "$@"', shown, program, "60"]
    if rng.random() < 0.3 and shutil.which("unshare"):
        return ["unshare", "--user", "--map-root-user", *rng.choice(([], ["--mount"])), *run]
    return run


def prepare(shown: str) -> None:
    sandbox.folder(HERS / "bin", MALLORY)
    os.chown(HERS, MALLORY, MALLORY)
    name = shown.rpartition("/")[2]
    own = HERS / "bin" / ("oracle" if "_" in name else name)
    if not own.exists():
        shutil.copy(SLEEP, own)
        os.chown(own, MALLORY, MALLORY)
        own.chmod(0o755)


def shows(pid: int, shown: str) -> bool:
    with open(f"/proc/{pid}/cmdline", "rb") as stream:
        return stream.read().startswith(shown.encode())


def attempts(rng: random.Random, number: int) -> Iterator[Outcome]:
    tried = 0
    while True:
        name, look = rng.choice(LOOKS)
        tried += 1
        shown = name.format(f"X{tried}", HERS)
        prepare(shown)
        argv = command(rng, shown)
        kind = "in a namespace" if argv[0] == "unshare" else "as itself"
        with subprocess.Popen(
            argv, user=MALLORY, group=MALLORY, extra_groups=[], cwd="/", stderr=subprocess.DEVNULL
        ) as process:
            try:
                yield attempt(process, shown, kind, look)
            finally:
                process.kill()


def attempt(
    process: "subprocess.Popen[bytes]", shown: str, kind: str, look: Callable[[LiveHost], Any]
) -> Outcome:
    attack = f"{shown.rpartition('/')[2].partition('_X')[0].rstrip('0123456789')} {kind}"
    for _ in range(500):
        if process.poll() is not None:
            return Outcome(attack, CONTAINED, "this machine makes no such process")
        if shows(process.pid, shown):
            break
        time.sleep(0.01)
    with contextlib.suppress(HostproofError):
        return Outcome(attack, WON if look(LiveHost()) else REFUSED, shown)
    return Outcome(attack, CONTAINED, shown)


if __name__ == "__main__":
    family.main(attempts)
