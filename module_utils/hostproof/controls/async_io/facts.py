# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about asynchronous I/O: limits, writing processes and their files, and log messages."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...apply import aix_attributes
from ...collect.answer import Answer, attempt, known
from ...collect.held import Holders
from ...collect.host import Host
from ...errors import Absent, Unanswered
from ...parsers.kernel import kernel_release, meminfo
from ...parsers.mounts import mount_command, mountinfo
from ...parsers.nfs.nfs_options import AIX, LINUX
from ...parsers.unix import lsattr
from ...probes.kernel import mounts as mount_table
from ...probes.nfs import nfs_connections, nfs_mounted
from ...probes.oracle import alert_logs, io_writers, next_start, will_start
from ...probes.oracle import instances as instances_probe
from ...probes.oracle.instances import Instance
from ...probes.oracle.io_writers import OpenFile, Writer
from ...probes.oracle.monitors import PMON_KEY
from ...probes.oracle.next_start import Database
from ...probes.systemd import boot as boot_probe
from ...probes.unix import aix_said
from .parsers import kernel_log, nfs_silence
from .parsers.io_messages import Message
from .parsers.nfs_silence import Silence
from .policy import Policy, WantedInstance
from .probes import aio, io_logs, kernel_messages
from .probes.kernel_messages import Clock

RELEASE_FILE = "/proc/sys/kernel/osrelease"
MEMINFO = "/proc/meminfo"
#: Pattern for journalctl: the kernel's messages when an NFS server stops and resumes answering.
SILENCE = "(nfs|NFS):? server .* (not responding|OK)"
MOUNT = ["mount"]
LSDEV = ["lsdev", "-C", "-c", "disk", "-F", "name"]
#: AIX before 6.1, where aio is a device.
AIO_DEVICE = "aio0"
AIO_NAMES = ("autoconfig", "maxreqs", "maxservers")
DISK_NAMES = ("algorithm", "queue_depth", "reserve_policy")
#: Limit of disks. A host can have thousands of paths, and each needs a command.
MOST_DISKS = 500


class Subject(NamedTuple):
    """An instance to check. An Answer can be the error of its reading (answer.py).

    ``files`` are the open files of the writing processes, by kind. ``alert_log`` is the path of the
    log. ``messages`` and ``traces`` are read from the logs, also of an instance that is down.
    """

    database: Database
    writers: Answer[List[Writer]]
    files: Answer[Dict[str, List[OpenFile]]]
    alert_log: Answer[str]
    messages: Answer[List[Message]]
    traces: Answer[List[Message]]

    @property
    def sid(self) -> str:
        return self.database.sid


class Linux(NamedTuple):
    """A Linux host."""

    events: Answer[aio.Events]
    boot: boot_probe.Boot
    release: Answer[kernel_release.Release]
    memory: Answer[Dict[str, int]]
    holders: Answer[Holders]
    mounts: Answer[List[mountinfo.Mount]]
    nfs_inodes: Answer[List[int]]
    clock: Answer[Clock]
    silences: Answer[List[Silence]]


class Aix(NamedTuple):
    """An AIX host. ``disks``: the attributes of each hdisk, by name, without their description."""

    tunables: Answer[Dict[str, str]]
    aio_device: Answer[Dict[str, str]]
    mounts: Answer[List[mount_command.Mount]]
    disks: Answer[Dict[str, Answer[Dict[str, str]]]]


class Facts(NamedTuple):
    """``linux`` and ``aix`` are None on any other system; ``at_boot`` are databases that are down
    and start together at boot."""

    system: Answer[str]
    linux: Optional[Linux]
    aix: Optional[Aix]
    subjects: Answer[List[Subject]]
    at_boot: Answer[List[str]]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks and the plan."""
    system = attempt(nfs_mounted.read_system, host)
    linux = _read_linux(host, policy) if system == LINUX else None
    subjects: Answer[List[Subject]] = attempt(
        lambda: _read_subjects(host, policy, linux) if known(system) else []
    )
    databases = attempt(lambda: [subject.database for subject in known(subjects)])
    return Facts(
        system=system,
        linux=linux,
        aix=_read_aix(host) if system == AIX else None,
        subjects=subjects,
        at_boot=attempt(will_start.at_boot, host, databases) if linux is not None else [],
    )


# -- Linux ----------------------------------------------------------------------------------------


def _read_linux(host: Host, policy: Policy) -> Linux:
    clock = attempt(kernel_messages.read_clock, host)
    return Linux(
        events=attempt(aio.read_events, host),
        boot=boot_probe.read_boot(host),
        release=attempt(lambda: kernel_release.parse(host.read_text(RELEASE_FILE).strip())),
        memory=attempt(lambda: meminfo.parse(host.read_text(MEMINFO))),
        holders=attempt(io_writers.read_holders, host),
        mounts=attempt(lambda: mountinfo.visible(mount_table.read_all(host))),
        nfs_inodes=attempt(_read_nfs_inodes, host),
        clock=clock,
        silences=attempt(_read_silences, host, policy, clock),
    )


def _read_nfs_inodes(host: Host) -> List[int]:
    """Inodes of sockets that are connected to an NFS server: Direct NFS."""
    return [
        connection.inode
        for connection in nfs_connections.read_connections(host)
        if connection.inode
    ]


def _read_silences(host: Host, policy: Policy, clock: Answer[Clock]) -> List[Silence]:
    """Periods without answer in the days of the policy. A period can have started earlier."""
    now = known(clock)
    entries: List[kernel_log.Entry] = kernel_messages.read(host, SILENCE, now)
    begins = now.now - policy.message_days * 86400
    return [
        silence for silence in nfs_silence.silences(entries) if (silence.ended or now.now) >= begins
    ]


# -- instances ------------------------------------------------------------------------------------


def _read_subjects(host: Host, policy: Policy, linux: Optional[Linux]) -> List[Subject]:
    """Running databases, and those that the policy or oratab lists. ASM is not included."""
    # Running processes are known only on Linux.
    running: Dict[str, Instance] = {}
    if linux is not None:
        running = next_start.running_databases(instances_probe.find_instances(host))
    listed = _listed(host, policy, running)
    writers: Answer[Dict[str, List[Writer]]] = Absent(io_writers.KEYS[0], "not a Linux host")
    if linux is not None:
        writers = attempt(_read_writers, host, linux)
    return [
        _read_database(
            host,
            policy,
            linux,
            running.get(sid),
            listed.get(sid, WantedInstance(sid, None, None)),
            writers,
        )
        for sid in sorted(set(running) | set(listed))
    ]


def _listed(host: Host, policy: Policy, running: Dict[str, Instance]) -> Dict[str, WantedInstance]:
    if policy.instances is not None:
        return {instance.sid: instance for instance in policy.instances}
    homes = next_start.listed_in_oratab(host, _query_for(policy), running)
    return {sid: WantedInstance(sid, home, None) for sid, home in homes.items()}


def _read_writers(host: Host, linux: Linux) -> Dict[str, List[Writer]]:
    holders = known(linux.holders)
    if not any(process.files is not None for process in holders.processes):
        return {}
    return io_writers.writers(host, holders, io_writers.machine_of(host))


def _query_for(policy: Policy) -> next_start.Asking:
    forbidden = None if policy.query_instances else "async_io_query_instances"
    return next_start.Asking(float(policy.sqlplus_timeout), forbidden)


def _read_database(
    host: Host,
    policy: Policy,
    linux: Optional[Linux],
    running: Optional[Instance],
    listed: WantedInstance,
    writers: Answer[Dict[str, List[Writer]]],
) -> Subject:
    sid = listed.sid
    database = next_start.read_database(host, _query_for(policy), sid, running, listed.home)
    is_down = Absent(PMON_KEY, f"{sid} does not run")
    if linux is None:
        return Subject(database, *(5 * [is_down]))
    path = attempt(alert_logs.find, host, database, listed.alert_log, "async_io_instances")
    user = attempt(lambda: known(database.target).user if running is None else known(running.user))
    ones: Answer[List[Writer]] = is_down
    if running is not None:
        ones = attempt(lambda: io_writers.of_instance(known(writers), sid))
    messages = attempt(_read_messages, host, policy, linux, user, path)
    traces = attempt(_read_traces, host, policy, linux, user, path, sid)
    return Subject(
        database=database,
        writers=ones,
        files=attempt(lambda: io_writers.files_of(known(ones))),
        alert_log=path,
        messages=messages,
        traces=traces,
    )


def _read_messages(
    host: Host, policy: Policy, linux: Linux, user: Answer[str], path: Answer[str]
) -> List[Message]:
    clock = known(linux.clock)
    messages = io_logs.read_alert_log(host, known(path), known(user), clock.offset)
    return _recent(policy, clock, messages)


def _read_traces(
    host: Host, policy: Policy, linux: Linux, user: Answer[str], path: Answer[str], sid: str
) -> List[Message]:
    clock = known(linux.clock)
    folder = known(path).rpartition("/")[0]
    days = policy.message_days
    messages = io_logs.read_traces(host, folder, sid, days, known(user), clock.offset)
    return _recent(policy, clock, messages)


def _recent(policy: Policy, clock: Clock, messages: List[Message]) -> List[Message]:
    """Messages in the days of the policy. Messages without a time can be recent: keep them."""
    begins = clock.now - policy.message_days * 86400
    return [message for message in messages if message.at is None or message.at >= begins]


def evidence_of(subject: Subject) -> Tuple[str, ...]:
    """The evidence keys of an instance."""
    keys = () if subject.database.running is None else io_writers.KEYS
    return keys + next_start.evidence_of(subject.database)


# -- AIX ------------------------------------------------------------------------------------------


def _read_aix(host: Host) -> Aix:
    return Aix(
        tunables=attempt(aix_said.tunables, host),
        aio_device=attempt(_attributes, host, AIO_DEVICE, AIO_NAMES),
        mounts=attempt(lambda: mount_command.parse(AIX, host.read_output(MOUNT))),
        disks=attempt(_read_disks, host),
    )


def _attributes(host: Host, device: str, names: Tuple[str, ...]) -> Dict[str, str]:
    rows: List[lsattr.Row] = aix_attributes.read_rows(host, device, names)
    return {row.name: row.first_word for row in rows}


def _read_disks(host: Host) -> Dict[str, Answer[Dict[str, str]]]:
    disks = [name for name in host.read_output(LSDEV).split() if name.startswith("hdisk")]
    if len(disks) > MOST_DISKS:
        raise Unanswered("command:" + " ".join(LSDEV), f"more than {MOST_DISKS} disks, not read")
    return {disk: attempt(_attributes, host, disk, DISK_NAMES) for disk in disks}
