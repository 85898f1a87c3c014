# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about the huge page pool: its use, permissions to use it, and its settings at boot."""

from typing import Dict, List, NamedTuple, Optional

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, NotRecorded, Unanswered
from ...parsers.kernel import kernel_release, meminfo, sysvipc_shm
from ...parsers.number import integer
from ...parsers.oracle import oratab
from ...parsers.unix import getent, limits_conf
from ...probes.kernel import numa as numa_probe
from ...probes.kernel import page_size
from ...probes.oracle import instances as instances_probe
from ...probes.oracle import next_start, will_start
from ...probes.oracle.instances import Instance
from ...probes.oracle.next_start import Database
from ...probes.systemd import boot as boot_probe
from ...probes.systemd.boot import Setting
from ...probes.unix import limits as limits_probe
from .parsers import buddyinfo
from .policy import OLD_LIMITS_FILE, Policy
from .probes import huge_page_pool as pool_probe
from .probes import transparent_hugepages as thp_probe
from .probes.huge_page_pool import PagesOfSize

POOL_FILE = "/proc/sys/vm/nr_hugepages"
OVERCOMMIT_FILE = "/proc/sys/vm/nr_overcommit_hugepages"
SHM_GROUP_FILE = "/proc/sys/vm/hugetlb_shm_group"
RELEASE_FILE = "/proc/sys/kernel/osrelease"

#: Time limit of sqlplus in seconds.
SQLPLUS_SECONDS = 20.0


class Facts(NamedTuple):
    """Facts of the host. An Answer can be the error of its reading.

    ``starts`` is what starts databases at boot time; ``at_boot`` are those that start together
    then. ``gids`` are all groups of each account."""

    meminfo: Answer[Dict[str, int]]
    pool: Answer[meminfo.Pool]
    overcommit: Answer[int]
    release: Answer[kernel_release.Release]
    instances: Answer[List[Instance]]
    databases: Answer[List[Database]]
    hidden: Answer[None]
    starts: Answer[will_start.Starts]
    at_boot: Answer[List[str]]
    segments: Answer[List[sysvipc_shm.ShmSegment]]
    page_sizes: Answer[Dict[int, PagesOfSize]]
    boot: boot_probe.Boot
    shm_group: Answer[int]
    group: Answer[getent.Group]
    thp_mode: Answer[str]
    thp_default: Answer[Setting]
    thp_sizes: Answer[Dict[str, str]]
    nodes: Answer[List[numa_probe.NodePool]]
    amm_files: Answer[List[str]]
    zones: Answer[List[buddyinfo.Zone]]
    base_page: Answer[int]
    limit_entries: Answer[List[limits_conf.Entry]]
    accounts: Answer[Dict[str, limits_probe.Account]]
    gids: Dict[str, Answer[List[int]]]
    files: Dict[str, Answer[str]]
    limits_files: Dict[str, Answer[str]]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks and the plan."""
    memory = attempt(lambda: meminfo.parse(host.read_text("/proc/meminfo")))
    pool = attempt(lambda: meminfo.pool(known(memory)))
    release = attempt(lambda: kernel_release.parse(host.read_text(RELEASE_FILE).strip()))
    running = attempt(instances_probe.find_instances, host)
    databases = attempt(_read_databases, host, policy, running)
    accounts = attempt(limits_probe.read_accounts, host, _users(policy, running, databases))
    return Facts(
        meminfo=memory,
        pool=pool,
        overcommit=attempt(host.read_number, OVERCOMMIT_FILE),
        release=release,
        instances=running,
        databases=databases,
        hidden=attempt(_check_hidden, host, policy, databases),
        starts=attempt(will_start.read_starts, host),
        at_boot=attempt(will_start.at_boot, host, attempt(_stopped, databases)),
        segments=attempt(instances_probe.read_segments, host),
        page_sizes=attempt(pool_probe.read_page_sizes, host),
        boot=boot_probe.read_boot(host),
        shm_group=attempt(host.read_number, SHM_GROUP_FILE),
        group=attempt(_read_group, host, policy.group),
        thp_mode=attempt(thp_probe.read_mode, host),
        thp_sizes=attempt(thp_probe.read_sizes, host),
        thp_default=thp_probe.read_default(host, attempt(lambda: known(release).text)),
        nodes=attempt(lambda: numa_probe.read_node_pools(host, known(pool).page_size)),
        amm_files=attempt(_read_amm_files, host),
        zones=attempt(lambda: buddyinfo.parse(host.read_text("/proc/buddyinfo"))),
        base_page=attempt(page_size.read, host),
        limit_entries=attempt(limits_probe.read_entries, host),
        accounts=accounts,
        gids={user: attempt(_read_gids, host, user) for user in if_known(accounts, {})},
        files={
            path: attempt(host.read_text, path)
            for path in (policy.sysctl_file, policy.tmpfiles_file)
        },
        limits_files={
            path: _read_limits(host, path) for path in (policy.limits_file, OLD_LIMITS_FILE)
        },
    )


def _read_limits(host: Host, path: str) -> Answer[str]:
    """A drop-in of ours. Recordings of earlier releases do not have one of another name."""
    answer = attempt(host.read_text, path)
    return Absent(answer.key, "it is not there") if isinstance(answer, NotRecorded) else answer


def _read_databases(host: Host, policy: Policy, running: Answer[List[Instance]]) -> List[Database]:
    """Databases with the parameters of their next start: running ones, listed ones that are down,
    and for "auto" those in oratab that have a parameter file."""
    active = next_start.running_databases(known(running))
    asking = next_start.Asking(SQLPLUS_SECONDS, None)
    if not policy.query_instances:
        if policy.instances is None:
            _nothing_is_down(host, active)
        return []
    if policy.instances is None:
        stopped = next_start.stopped_of_oratab(host, asking, active)
    else:
        # A listed instance without a home is known only from the policy.
        homes = next_start.homes_of_oratab(host)
        sids = [instance.sid for instance in policy.instances if instance.sid not in active]
        stopped = {sid: homes[sid] for sid in sids if sid in homes}
    return [
        next_start.read_database(host, asking, sid, active.get(sid), stopped.get(sid))
        for sid in sorted(set(active) | set(stopped))
    ]


def _stopped(databases: Answer[List[Database]]) -> List[Database]:
    return [database for database in known(databases) if database.running is None]


def _check_hidden(host: Host, policy: Policy, databases: Answer[List[Database]]) -> None:
    if policy.instances is None:
        sids = [database.sid for database in known(databases)]
        next_start.check_clusterware(host, sids, "list every instance in hugepages_instances")


def _nothing_is_down(host: Host, running: Dict[str, Instance]) -> None:
    """Unanswered if oratab lists a database that is down and its parameters may not be read."""
    waiting = next_start.not_running(next_start.homes_of_oratab(host), running)
    if waiting:
        raise Unanswered(
            "file:" + oratab.PATHS[0],
            f"oratab lists {', '.join(waiting)}, which does not run, and hugepages_query_instances "
            "is false: list every instance in hugepages_instances",
        )


def _read_group(host: Host, name: Optional[str]) -> getent.Group:
    """The group from the name service of the host. Absent if it does not exist."""
    if name is None:
        raise Absent("policy", "hugepages_group is empty: the group is not managed")
    argv = ["getent", "group", name]
    output = host.run(argv)
    groups = getent.parse_group(output.stdout) if output.rc == 0 else []
    if not groups:
        raise Absent("command:" + " ".join(argv), f"the host has no group {name}")
    return groups[0]


def _read_gids(host: Host, user: str) -> List[int]:
    argv = ["id", "-G", user]
    numbers = host.run(argv).stdout.split()
    if not numbers or not all(number.isdecimal() for number in numbers):
        raise Unanswered("command:" + " ".join(argv), f"id tells no groups of {user}")
    return [integer(number) for number in numbers]


def _users(
    policy: Policy, running: Answer[List[Instance]], databases: Answer[List[Database]]
) -> List[str]:
    """Accounts whose limits are checked: those of the policy and the owners of instances."""
    owners = [if_known(instance.user, "") for instance in if_known(running, [])]
    return list(dict.fromkeys([*policy.users, *filter(None, owners), *owners_of(databases)]))


def owners_of(databases: Answer[List[Database]]) -> List[str]:
    """The accounts that start databases, as far as they are known."""
    targets = [if_known(database.target, None) for database in if_known(databases, [])]
    return sorted({target.user for target in targets if target is not None and target.user})


def _read_amm_files(host: Host) -> List[str]:
    """Files of Automatic Memory Management: /dev/shm/ora_SID_*."""
    names = unless_absent(attempt(host.list_dir, "/dev/shm"), [])
    return [name for name in names if name.startswith("ora_")]
