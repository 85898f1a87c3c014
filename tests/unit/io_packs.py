"""Hosts with instances whose input and output is judged, told as stories on top of oracle_packs.

``story`` is a host on which every check of async_io passes: ORCL of 19c with setall, its files in
an XFS, contexts and O_DIRECT in DBWR and LGWR, and nothing in any log.
"""

from typing import Any

import oracle_packs
from ansible.module_utils.hostproof.controls.async_io.facts import SILENCE
from ansible.module_utils.hostproof.controls.async_io.probes import kernel_messages
from default_policies import default_policy
from packs import MIB, Machine

SYSCTL_FILE = "/etc/sysctl.d/99-zz-hostproof-async-io.conf"
HEADER = "# Written by Hostproof (role async_io): change the policy, not this file.\n"
DIRECT, BUFFERED, DIRECT_ONLY, BARE = "0150002", "0110002", "0140002", "0100002"
DATA = ("/u02/oradata/ORCL/system01.dbf", "/u02/oradata/ORCL/users01.dbf")
REDO = ("/u02/oradata/ORCL/redo01.log",)
CONTROL = ("/u02/oradata/ORCL/control01.ctl",)
#: The size of a ring of 4096 events, as measured.
RING = 266240
ALERT_LOG = oracle_packs.ALERT_LOG
MESSAGES = "messages of " + ALERT_LOG
TRACES = f"messages of the traces of ORCL in {oracle_packs.TRACE}"
JOURNAL = " ".join(kernel_messages.journal(SILENCE))
#: 2026-11-21 03:15:00 UTC, when the packs were recorded.
NOW = 1795230900
SERVER = "10.9.0.2"
MOUNTINFO = (
    "20 1 8:2 / / rw,relatime - xfs /dev/sda2 rw\n"
    "30 20 8:17 / /u02 rw,relatime - xfs /dev/sdb1 rw\n"
)
ON_NFS = (
    "20 1 8:2 / / rw,relatime - xfs /dev/sda2 rw\n"
    f"30 20 0:45 / /u02 rw,relatime - nfs filer:/vol/oradata rw,vers=3,hard,addr={SERVER}\n"
)
NO_SOCKETS = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
)
PARAMETERS = {"filesystemio_options": "SETALL", "disk_asynch_io": "TRUE", "dbwr_io_slaves": "0"}


def policy(**changes: Any) -> dict[str, Any]:
    """The policy of the role's defaults, as the modules take it, with some values changed."""
    defaults = default_policy("async_io")
    unknown = set(changes) - set(defaults)
    assert not unknown, f"the role has no {unknown}"
    return defaults | changes


def story(
    flags: str = DIRECT,
    contexts: bool = True,
    used: int = 8192,
    limit: int = 1048576,
    persisted: str | None = "1048576",
    mounts: str = MOUNTINFO,
    files: tuple[str, ...] = (*DATA, *CONTROL),
    redo: tuple[str, ...] = (*REDO, *CONTROL),
    stored: tuple[tuple[str, str, str], ...] = (("*", "filesystemio_options", "setall"),),
    **running: str | None,
) -> Machine:
    machine = oracle_packs.story(
        stored=(("*", "use_large_pages", "ONLY"), *stored), **(PARAMETERS | running)
    )
    machine.command("uname -m", "x86_64\n").command("date +%s %z", f"{NOW} +0100\n")
    machine.file("/proc/self/mountinfo", mounts).file("/proc/net/tcp", NO_SOCKETS)
    machine.memory(Cached=10 * MIB, Buffers=0, Shmem=8 * MIB)
    set_events(machine, used, limit, persisted)
    rings = ((101, RING), (102, RING)) if contexts else ()
    machine.writer("ora_dbw0_ORCL", {flags: list(files)}, *rings[:1], pid=4101)
    machine.writer("ora_lgwr_ORCL", {flags: list(redo)}, *rings[1:], pid=4102)
    return say(machine)


def down(
    mounts: str = MOUNTINFO,
    stored: tuple[tuple[str, str, str], ...] = (("*", "filesystemio_options", "setall"),),
) -> Machine:
    """The same instance, which is not running: oratab lists it."""
    machine = story(mounts=mounts, stored=stored).stop_instances()
    machine.file("/etc/oratab", f"ORCL:{oracle_packs.HOME}:N\n")
    machine.command(f"stat -L -c %U {oracle_packs.HOME}/bin/sqlplus", "oracle\n")
    machine.command(
        "find /u01/app/oracle/diag/rdbms -mindepth 4 -maxdepth 4 -name alert_ORCL.log",
        ALERT_LOG + "\n",
    )
    return machine


def set_events(machine: Machine, used: int, limit: int, persisted: str | None) -> Machine:
    machine.file("/proc/sys/fs/aio-nr", f"{used}\n").file("/proc/sys/fs/aio-max-nr", f"{limit}\n")
    if persisted is not None:
        machine.file("/etc/sysctl.d/97-oracle.conf", f"fs.aio-max-nr = {persisted}\n")
    return machine


def say(machine: Machine, log: str = "", traces: str = "", kernel: str = "") -> Machine:
    """What alert log, traces and the kernel's journal say."""
    machine.command(MESSAGES, log).command(TRACES, traces)
    return machine.command(JOURNAL, kernel or "-- No entries --\n", 0 if kernel else 1)


def silence(*ends: int | None, server: str = SERVER) -> str:
    """The journal's lines of a server, by moments: silent, answers, silent, ..."""
    words = ["not responding, still trying", "OK"]
    return "".join(
        f"{at}.000000 db1 kernel: nfs: server {server} {words[number % 2]}\n"
        for number, at in enumerate(ends)
        if at is not None
    )


def asm() -> Machine:
    """An instance whose files lie in ASM: block devices are what it holds open."""
    return story(files=("/dev/dm-3", "/dev/dm-4"), redo=("/dev/dm-5",))
