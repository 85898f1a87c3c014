# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""HugePages: the pool covers every SGA, survives the boot, and the instances really use it.

``read`` looks, ``judge`` and ``plan`` only think. Sizes are bytes unless a name says pages.
Sources: kernel Documentation/admin-guide/mm/hugetlbpage.rst; My Oracle Support 401749.1 for
the number of pages; Oracle Database Installation Guide for Linux, "HugePages".
"""

import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

from ..answer import Answer, attempt, if_known, known, unless_absent
from ..change import Change, FileChange, Plan, Refusal, ValueChange
from ..errors import Absent, Denied, HostError, HostproofError, Unanswered
from ..finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, found
from ..host import Host
from ..parsers import (
    buddyinfo,
    getent,
    kernel_release,
    limits_conf,
    meminfo,
    sysctl_d,
    sysvipc_shm,
    tmpfiles_d,
)
from ..parsers.size import human
from ..policy import PolicyValues
from ..probes import boot as boot_probe
from ..probes import huge_page_pool as pool_probe
from ..probes import instances as instances_probe
from ..probes import limits as limits_probe
from ..probes import numa as numa_probe
from ..probes import transparent_hugepages as thp_probe
from ..probes.boot import Setting
from ..probes.huge_page_pool import PoolAtBoot, in_pages
from ..probes.instances import Instance

NAME = "hugepages"

POOL = pool_probe.KEY
POOL_FILE = "/proc/sys/vm/nr_hugepages"
OVERCOMMIT_FILE = "/proc/sys/vm/nr_overcommit_hugepages"
SHM_GROUP = "vm.hugetlb_shm_group"
SHM_GROUP_FILE = "/proc/sys/vm/hugetlb_shm_group"
RELEASE_FILE = "/proc/sys/kernel/osrelease"

#: Since this kernel a memlock limit no longer opens SHM_HUGETLB (fs/hugetlbfs/inode.c).
GROUP_REQUIRED_SINCE = (5, 16)
#: The first Unbreakable Enterprise Kernel (UEK7) for which Oracle asks madvise.
UEK7 = (5, 15)
#: Page tables above this share of memory are worth acting on.
PAGE_TABLES_SHARE = 0.01

_LADBI = "Oracle Database Installation Guide for Linux"
_KERNEL = "kernel Documentation/admin-guide/mm/hugetlbpage.rst"

# -- policy ---------------------------------------------------------------------------------------


class InstancePolicy(NamedTuple):
    """An instance that the host must be ready for. ``version`` is the database's first number."""

    sid: str
    sga: int
    version: Optional[int]


class Policy(NamedTuple):
    """The role's variables (roles/hugepages/meta/argument_specs.yml), checked and in bytes."""

    instances: Optional[Tuple[InstancePolicy, ...]]
    extra_pages_per_instance: int
    spare_pages: int
    page_size: int
    ram_share_limit: int
    surplus_limit: int
    users: Tuple[str, ...]
    group: Optional[str]
    memlock: Optional[str]
    transparent: str
    activation: str
    sysctl_file: str
    limits_file: str
    tmpfiles_file: str
    allow_ram_share_over_limit: bool
    allow_low_memory: bool
    allow_compaction: bool
    allow_shrink_below_use: bool


def policy_from(values):
    # type: (Dict[str, Any]) -> Policy
    """A Policy from the role's variables without their prefix; PolicyError names the variable."""
    given = PolicyValues(NAME, values, Policy._fields)
    return Policy(
        instances=_instances(given),
        extra_pages_per_instance=given.whole_number("extra_pages_per_instance"),
        spare_pages=given.whole_number("spare_pages"),
        page_size=given.size("page_size"),
        ram_share_limit=given.whole_number("ram_share_limit", 1, 100),
        surplus_limit=given.whole_number("surplus_limit"),
        users=given.names("users"),
        group=str(given["group"]) if given["group"] else None,
        memlock=_memlock(given),
        transparent=given.one_of("transparent", ("auto", "never", "madvise", "unmanaged")),
        activation=given.one_of("activation", ("now", "reboot")),
        sysctl_file=given.drop_in("sysctl_file", sysctl_d.DIRECTORIES[0]),
        limits_file=given.drop_in("limits_file", limits_conf.LIMITS_D),
        tmpfiles_file=given.drop_in("tmpfiles_file", tmpfiles_d.DIRECTORIES[0]),
        allow_ram_share_over_limit=given.flag("allow_ram_share_over_limit"),
        allow_low_memory=given.flag("allow_low_memory"),
        allow_compaction=given.flag("allow_compaction"),
        allow_shrink_below_use=given.flag("allow_shrink_below_use"),
    )


def _memlock(given):
    # type: (PolicyValues) -> Optional[str]
    """None: not managed; "auto"; "unlimited"; or a number of kB as limits.conf takes it."""
    text = str(given["memlock"])
    if text == "unmanaged":
        return None
    if text in ("auto", "unlimited") or (text.isdecimal() and int(text) > 0):
        return text
    raise given.error(
        "memlock", "must be auto, unlimited, unmanaged or a number of kB, not {0!r}".format(text)
    )


def _instances(given):
    # type: (PolicyValues) -> Optional[Tuple[InstancePolicy, ...]]
    """None for "auto": whatever runs now."""
    value = given["instances"]
    if value == "auto":
        return None
    if not isinstance(value, (list, tuple)):
        raise given.error("instances", "must be auto or a list of {sid, sga, version}")
    listed = tuple(_instance(given, item) for item in value)
    sids = sorted(instance.sid for instance in listed)
    if len(set(sids)) != len(sids):
        raise given.error("instances", "lists a sid twice: " + ", ".join(sids))
    return listed


def _instance(given, item):
    # type: (PolicyValues, Any) -> InstancePolicy
    if not isinstance(item, dict) or not item.get("sid") or "sga" not in item:
        raise given.error("instances", "has {0!r}, which needs sid and sga".format(item))
    sid = str(item["sid"])
    unknown = sorted(set(item) - {"sid", "sga", "version"})
    if unknown:
        raise given.error("instances", "{0} has unknown {1}".format(sid, ", ".join(unknown)))
    # "19", "19.3.0.0", "23ai": the first number decides.
    version = re.match(r"\d+", str(item.get("version") or "0"))
    if version is None:
        raise given.error(
            "instances",
            "{0} version {1!r} must be a number such as 19".format(sid, item["version"]),
        )
    sga = given.size_of("instances: " + sid, item["sga"])
    return InstancePolicy(sid, sga, int(version.group()) or None)


# -- facts ----------------------------------------------------------------------------------------


class Facts(NamedTuple):
    """What the host showed. Every Answer may hold the error that stands in its place."""

    meminfo: Answer[Dict[str, int]]
    pool: Answer[meminfo.Pool]
    overcommit: Answer[int]
    release: Answer[kernel_release.Release]
    instances: Answer[List[Instance]]
    segments: Answer[List[sysvipc_shm.ShmSegment]]
    boot: boot_probe.Boot
    shm_group: Answer[int]
    group: Answer[getent.Group]
    thp_mode: Answer[str]
    thp_default: Answer[Setting]
    nodes: Answer[List[numa_probe.NodePool]]
    amm_files: Answer[List[str]]
    zones: Answer[List[buddyinfo.Zone]]
    base_page: Answer[int]
    limit_entries: Answer[List[limits_conf.Entry]]
    accounts: Answer[Dict[str, limits_probe.Account]]
    files: Dict[str, Answer[str]]


def read(host, policy):
    # type: (Host, Policy) -> Facts
    """Look at everything that the checks and the plan need; nothing is written."""
    memory = attempt(lambda: meminfo.parse(host.read_text("/proc/meminfo")))
    pool = attempt(lambda: meminfo.pool(known(memory)))
    release = attempt(lambda: kernel_release.parse(host.read_text(RELEASE_FILE).strip()))
    running = attempt(instances_probe.find_instances, host)
    return Facts(
        meminfo=memory,
        pool=pool,
        overcommit=attempt(host.read_number, OVERCOMMIT_FILE),
        release=release,
        instances=running,
        segments=attempt(instances_probe.read_segments, host),
        boot=boot_probe.read_boot(host),
        shm_group=attempt(host.read_number, SHM_GROUP_FILE),
        group=attempt(_read_group, host, policy.group),
        thp_mode=attempt(thp_probe.read_mode, host),
        thp_default=thp_probe.read_default(host, attempt(lambda: known(release).text)),
        nodes=attempt(lambda: numa_probe.read_node_pools(host, known(pool).page_size)),
        amm_files=attempt(_read_amm_files, host),
        zones=attempt(lambda: buddyinfo.parse(host.read_text("/proc/buddyinfo"))),
        base_page=attempt(_read_base_page, host),
        limit_entries=attempt(limits_probe.read_entries, host),
        accounts=attempt(limits_probe.read_accounts, host, _users(policy, running)),
        files={
            path: attempt(host.read_text, path)
            for path in (policy.sysctl_file, policy.limits_file, policy.tmpfiles_file)
        },
    )


def _read_group(host, name):
    # type: (Host, Optional[str]) -> getent.Group
    """The group by name through the host's own name service; Absent if it has none."""
    if name is None:
        raise Absent("policy", "hugepages_group is empty: the group is not managed")
    argv = ["getent", "group", name]
    output = host.run(argv)
    groups = getent.parse_group(output.stdout) if output.rc == 0 else []
    if not groups:
        raise Absent("command:" + " ".join(argv), "the host has no group {0}".format(name))
    return groups[0]


def _read_base_page(host):
    # type: (Host) -> int
    """Bytes of an ordinary page, the unit of /proc/buddyinfo's orders."""
    argv = ["getconf", "PAGESIZE"]
    output = host.run(argv)
    if output.rc != 0 or not output.stdout.strip().isdecimal():
        raise Unanswered("command:" + " ".join(argv), "getconf answered " + output.stdout[:40])
    return int(output.stdout)


def _users(policy, running):
    # type: (Policy, Answer[List[Instance]]) -> List[str]
    """The accounts whose limits matter: the policy's, and those that run instances."""
    users = list(policy.users)
    for instance in if_known(running, []):
        if isinstance(instance.user, str) and instance.user not in users:
            users.append(instance.user)
    return users


def _read_amm_files(host):
    # type: (Host) -> List[str]
    """Automatic Memory Management keeps its memory in /dev/shm/ora_SID_*."""
    names = unless_absent(attempt(host.list_dir, "/dev/shm"), [])
    return [name for name in names if name.startswith("ora_")]


# -- what is needed -------------------------------------------------------------------------------


class Need(NamedTuple):
    """Pages that the instances need; ``text`` says how they add up, ``sga`` the bytes behind."""

    pages: int
    sga: int
    text: str


def need(facts, policy):
    # type: (Facts, Policy) -> Optional[Need]
    """The pool that policy and running instances ask for; None where there is neither.

    A running SGA takes floor(segment / page) + 1 pages for each segment of at least a page
    (MOS 401749.1). A listed one takes its size rounded up, and a few pages more, since an
    instance that is not running yet does not show how many segments it will have.
    """
    page = known(facts.pool).page_size
    if policy.instances is None:
        return _need_of_running(known(facts.instances), facts, policy, page)
    listed = {instance.sid: instance for instance in policy.instances}
    parts = {}  # type: Dict[str, Tuple[int, int]]
    for sid, instance in listed.items():
        pages = -(-instance.sga // page) + policy.extra_pages_per_instance
        parts[sid] = (pages, instance.sga)
    counted = []  # type: List[Tuple[int, int]]
    unread = False
    for running in known(facts.instances):
        name = running.sid
        if name not in listed:
            name += " (running, not listed)"
            parts[name] = _pages_of([one.size for one in known(running.segments)], page)
        elif isinstance(running.segments, HostproofError):
            unread = True
        else:
            # An SGA that was raised since it was listed needs what it really has.
            now = _pages_of([segment.size for segment in running.segments], page)
            parts[name] = max(parts[name], now)
        counted.append(parts[name])
    if unread:
        # Whose segment is whose takes root to tell; how many there are in all does not.
        pages, size = _pages_that_run(facts, page)
        missing = pages - sum(count for count, _sga in counted)
        if missing > 0:
            beyond = max(size - sum(sga for _count, sga in counted), 0)
            parts["running beyond that"] = (missing, beyond)
    return _sum_up(parts, policy, page) if parts else None


def _need_of_running(running, facts, policy, page):
    # type: (List[Instance], Facts, Policy, int) -> Optional[Need]
    if not running:
        return None
    names = ", ".join(instance.sid for instance in running)
    pages, size = _pages_that_run(facts, page)
    listed = {segment.shmid for segment in known(facts.segments)}
    mapped = {
        segment.shmid
        for instance in running
        for segment in if_known(instance.segments, [])
        if segment.size >= page
    }
    if not pages or not mapped <= listed:
        raise Unanswered(
            "file:/proc/sysvipc/shm",
            "{0} runs, but its SGA is not among the host's SysV segments (Automatic Memory "
            "Management, or a container): list it in hugepages_instances".format(names),
        )
    return _sum_up({names: (pages, size)}, policy, page)


def _pages_that_run(facts, page):
    # type: (Facts, int) -> Tuple[int, int]
    """(pages, bytes) of every large segment of the accounts that run instances."""
    uids = {instance.uid for instance in known(facts.instances)}
    if not uids:
        return 0, 0
    return _pages_of([one.size for one in known(facts.segments) if one.uid in uids], page)


def _pages_of(sizes, page):
    # type: (List[int], int) -> Tuple[int, int]
    """(pages, bytes) of the segments that are large enough for huge pages."""
    large = [size for size in sizes if size >= page]
    return sum(size // page + 1 for size in large), sum(large)


def _sum_up(parts, policy, page):
    # type: (Dict[str, Tuple[int, int]], Policy, int) -> Need
    pages = sum(count for count, _sga in parts.values()) + policy.spare_pages
    text = " + ".join("{0} {1}".format(name, parts[name][0]) for name in sorted(parts))
    if policy.spare_pages:
        text += " + spare {0}".format(policy.spare_pages)
    return Need(
        pages,
        sum(sga for _count, sga in parts.values()),
        "{0} ({1}: {2})".format(in_pages(pages), human(pages * page), text),
    )


def pool_at_boot(facts):
    # type: (Facts) -> PoolAtBoot
    return pool_probe.pool_at_boot(facts.boot, known(facts.pool).page_size)


# -- checks ---------------------------------------------------------------------------------------

POOL_COVERS_SGA = Check(
    "hugepages.pool_covers_sga",
    "The pool covers every SGA",
    "critical",
    "instance_restart",
    "An SGA that does not fit falls back to 4 KiB pages, or the instance does not start "
    "(USE_LARGE_PAGES=ONLY).",
    "MOS 401749.1; Oracle Database Reference, USE_LARGE_PAGES",
)
POOL_PERSISTED = Check(
    "hugepages.pool_persisted",
    "The next boot makes the same pool",
    "high",
    "reboot",
    "A pool that is only set in the running kernel is gone after the next boot, or another file "
    "shrinks it.",
    "sysctl.d(5), CONFIGURATION DIRECTORIES AND PRECEDENCE; " + _KERNEL,
)
ONE_OWNER = Check(
    "hugepages.one_owner",
    "Only one place sets the pool",
    "medium",
    "reboot",
    "Where two places set the pool, an update or a profile switch decides which one counts.",
    "sysctl.d(5); tuned-main.conf(5), reapply_sysctl",
)
SGA_IN_HUGE_PAGES = Check(
    "hugepages.sga_in_huge_pages",
    "The running SGA lies in huge pages",
    "critical",
    "instance_restart",
    "An SGA in 4 KiB pages costs page tables in every process, and the idle pool is lost memory.",
    "proc(5), /proc/PID/numa_maps; Oracle Database Reference, USE_LARGE_PAGES",
)
MEMLOCK_PERSISTED = Check(
    "hugepages.memlock_persisted",
    "limits.d lets the owner lock the SGA",
    "high",
    "instance_restart",
    "With too low a memlock limit almost the whole SGA silently falls back to 4 KiB pages.",
    _LADBI + ", Checking Resource Limits; limits.conf(5)",
)
MEMLOCK_IN_FORCE = Check(
    "hugepages.memlock_in_force",
    "The running instance may lock its SGA",
    "high",
    "instance_restart",
    "limits.d does not reach an instance that systemd or Clusterware started; only the process "
    "shows its limit.",
    "proc(5), /proc/PID/limits; limits.conf(5)",
)
SHM_GROUP_ALLOWED = Check(
    "hugepages.shm_group",
    "The owner's group may use huge pages",
    "critical",
    "instance_restart",
    "Without it newer kernels answer EPERM: the SGA silently gets 4 KiB pages or ORA-27125.",
    "kernel Documentation/admin-guide/sysctl/vm.rst, hugetlb_shm_group",
)
TRANSPARENT = Check(
    "hugepages.transparent_hugepages",
    "Transparent huge pages are as Oracle asks",
    "high",
    "now",
    "khugepaged's allocations stall processes and can evict a RAC node.",
    _LADBI + ", Restrictions for HugePages and Transparent HugePages Configurations",
)
NUMA_SPLIT = Check(
    "hugepages.numa_split",
    "The pool is spread over the NUMA nodes",
    "medium",
    "reboot",
    "The kernel silently skips a node without contiguous memory: the SGA then sits on the others.",
    _KERNEL + ", Interaction of Task Memory Policy with Huge Page Allocation",
)
POOL_NOT_WASTED = Check(
    "hugepages.pool_not_wasted",
    "The pool is not larger than needed",
    "medium",
    "now",
    "Pages in the pool that no SGA uses are lost to everything else on the host.",
    _LADBI + ", Configuring HugePages; " + _KERNEL,
)
NO_AMM = Check(
    "hugepages.no_amm",
    "No instance uses Automatic Memory Management",
    "high",
    "instance_restart",
    "MEMORY_TARGET and huge pages exclude each other: the pool stays idle (ORA-00845, ORA-27138).",
    "Oracle Database Reference, USE_LARGE_PAGES; ORA-27138",
)
PAGE_TABLES = Check(
    "hugepages.page_table_cost",
    "Page tables stay small",
    "medium",
    "instance_restart",
    "With 4 KiB pages every process needs a 512th of the SGA it touches for page tables.",
    "proc(5), /proc/meminfo PageTables",
)
RAM_SHARE = Check(
    "hugepages.ram_share",
    "The pool leaves memory for the rest",
    "critical",
    "now",
    "Too large a pool starves PGA, processes and page cache: swapping, then the OOM killer.",
    _LADBI + ", Configuring HugePages (at most 70 percent of memory)",
)
PAGE_SIZE = Check(
    "hugepages.page_size",
    "The default huge page has the size Oracle uses",
    "high",
    "reboot",
    "vm.nr_hugepages counts default pages: with 1 GiB pages Oracle cannot use the pool.",
    _KERNEL + ", default_hugepagesz",
)
NO_OVERCOMMIT = Check(
    "hugepages.no_overcommit",
    "No huge pages beyond the pool",
    "low",
    "now",
    "Surplus pages come and go with free memory: an instance that got them may not get them again.",
    _KERNEL + ", nr_overcommit_hugepages",
)

#: One finding, or one for each instance or account.
Judged = Union[Finding, List[Finding]]

_MEMINFO = ("file:/proc/meminfo",)
_PMON = (instances_probe.PMON_KEY,)
_BOOT = ("dir:/etc/sysctl.d", "file:/proc/cmdline", "file:/etc/sysctl.conf")
_NO_DATABASE = "No instance runs here and hugepages_instances lists none."


def judge(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """Every check, in the order of the report. What needs an unknown fact becomes an error."""
    if isinstance(facts.meminfo, Absent):
        return [_skipped(check, "Not a Linux host: it has no /proc/meminfo.") for check in CHECKS]
    findings = []  # type: List[Finding]
    for check, judge_one in _JUDGES:
        try:
            answer = judge_one(facts, policy)
            findings.extend(answer if isinstance(answer, list) else [answer])
        except HostproofError as problem:
            findings.append(_undetermined(check, problem))
    return findings


def _skipped(check, reason):
    # type: (Check, str) -> Finding
    return found(check, SKIP, why=reason)


def _undetermined(check, problem):
    # type: (Check, HostproofError) -> Finding
    denied = isinstance(problem, Denied)
    return found(
        check,
        ERROR,
        why="Could not be determined: {0}.".format(str(problem).rstrip(".")),
        fix="run again with --become (root may read it)" if denied else None,
        evidence=[problem.key] if isinstance(problem, HostError) else [],
    )


def _persisted(facts):
    # type: (Facts) -> Optional[str]
    """The persisted layer where another check judges it: shown if known."""
    pool = attempt(pool_at_boot, facts)
    return "unknown" if isinstance(pool, HostproofError) else pool.text()


def _judge_pool_covers_sga(facts, policy):
    # type: (Facts, Policy) -> Finding
    needed = need(facts, policy)
    if needed is None:
        return _skipped(POOL_COVERS_SGA, _NO_DATABASE)
    pool = known(facts.pool)
    status, why, fix = PASS, None, None  # type: str, Optional[str], Optional[str]
    if pool.total < needed.pages:
        status, why = FAIL, _cost_of_small_pages(facts, needed, pool)
        fix = (
            "./hostproof apply, or: echo 'vm.nr_hugepages = {0}' > {1}; sysctl -w "
            "vm.nr_hugepages={0}; then restart the instance".format(
                needed.pages, policy.sysctl_file
            )
        )
    elif pool.total - _held_by_others(facts, pool) < needed.pages:
        status = FAIL
        why = "{0} of the pool are held by something that is no instance.".format(
            in_pages(_held_by_others(facts, pool))
        )
        fix = "find what holds the pages (grep -l huge /proc/*/numa_maps), or enlarge the pool"
    return found(
        POOL_COVERS_SGA,
        status,
        why=why,
        fix=fix,
        desired=needed.text,
        persisted=_persisted(facts),
        running=in_pages(pool.total),
        in_use="{0} of {1} committed (total {2} - free {3} + reserved {4})".format(
            pool.committed, in_pages(pool.total), pool.total, pool.free, pool.rsvd
        ),
        evidence=_MEMINFO + _PMON + ("file:/proc/sysvipc/shm",),
    )


def _held_by_others(facts, pool):
    # type: (Facts, meminfo.Pool) -> int
    """Pages in use or promised beyond what the running instances can hold."""
    held = 0
    for instance in known(facts.instances):
        if isinstance(instance.segments, HostproofError):
            # Without root only the most that they can hold is known: every segment huge.
            held = _pages_that_run(facts, pool.page_size)[0]
            break
        sizes = [segment.size for segment in instance.segments if segment.huge]
        held += _pages_of(sizes, pool.page_size)[0]
    return int(max(pool.committed - held, 0))


def _cost_of_small_pages(facts, needed, pool):
    # type: (Facts, Need, meminfo.Pool) -> str
    page_tables = known(facts.meminfo).get("PageTables")
    cost = "each process that touches all of it costs {0} of page tables".format(
        human(needed.sga // 512)
    )
    now = "" if page_tables is None else " (PageTables is {0} now)".format(human(page_tables))
    return "{0} of {1} are missing; in 4 KiB pages {2}{3}.".format(
        in_pages(needed.pages - pool.total), needed.pages, cost, now
    )


def _judge_pool_persisted(facts, policy):
    # type: (Facts, Policy) -> Finding
    at_boot = pool_at_boot(facts)
    pool = known(facts.pool)
    needed = need(facts, policy)
    status, why = PASS, None  # type: str, Optional[str]
    if needed is not None and at_boot.pages < needed.pages:
        status = FAIL
        why = "The next boot makes {0}, {1} too few.".format(
            in_pages(at_boot.pages), needed.pages - at_boot.pages
        )
    elif at_boot.pages != pool.total - pool.surp:
        status = WARN
        why = "The next boot changes the pool from {0} to {1}.".format(
            in_pages(pool.total - pool.surp), at_boot.pages
        )
    wanted = needed.pages if needed is not None else pool.total - pool.surp
    return found(
        POOL_PERSISTED,
        status,
        why=why,
        fix=_fix_of_persisted(at_boot, policy, wanted),
        desired=needed.text if needed is not None else "as the running kernel has it",
        persisted=at_boot.text(),
        running=in_pages(pool.total),
        evidence=_BOOT + _place_evidence(at_boot.place) + _MEMINFO,
    )


def _fix_of_persisted(at_boot, policy, pages):
    # type: (PoolAtBoot, Policy, int) -> str
    line = "vm.nr_hugepages = {0}".format(pages)
    if at_boot.pages >= pages:
        return "sysctl -w vm.nr_hugepages={0} makes it so now; else the next boot does".format(
            at_boot.pages
        )
    if at_boot.place is not None and at_boot.place.startswith("/"):
        return "set '{0}' in {1}, the place that wins".format(line, at_boot.place)
    return "./hostproof apply, or: echo '{0}' > {1}".format(line, policy.sysctl_file)


def _place_evidence(place):
    # type: (Optional[str]) -> Tuple[str, ...]
    """The evidence key of "/path:line"."""
    if place is None or not place.startswith("/"):
        return ()
    return ("file:" + place.rsplit(":", 1)[0],)


def _judge_one_owner(facts, policy):
    # type: (Facts, Policy) -> Finding
    at_boot = pool_at_boot(facts)
    places = at_boot.losers + ([at_boot.place] if at_boot.place else [])
    profile = known(facts.boot.tuned).names
    status, why, fix = PASS, None, None  # type: str, Optional[str], Optional[str]
    if at_boot.losers:
        status = WARN
        why = "{0} places set the pool; {1} wins.".format(len(places), at_boot.place or "none")
        fix = "remove the setting from: " + ", ".join(at_boot.losers)
    return found(
        ONE_OWNER,
        status,
        why=why,
        fix=fix,
        desired="at most one place",
        persisted=at_boot.text(),
        running="tuned profile " + " ".join(profile) if profile else "no tuned profile",
        evidence=_BOOT + _place_evidence(at_boot.place) + ("file:/etc/tuned/active_profile",),
    )


def _judge_sga_in_huge_pages(facts, policy):
    # type: (Facts, Policy) -> Judged
    page = known(facts.pool).page_size
    findings = []
    for instance in known(facts.instances):
        try:
            findings.append(_judge_sga(instance, page))
        except HostproofError as problem:
            findings.append(_of_instance(_undetermined(SGA_IN_HUGE_PAGES, problem), instance))
    return findings or [_skipped(SGA_IN_HUGE_PAGES, "No instance runs here.")]


def _judge_sga(instance, page):
    # type: (Instance, int) -> Finding
    pages = instances_probe.sga_pages(known(instance.segments), page)
    huge, small = pages.huge, pages.small
    if not huge + small:
        status = WARN if instance.kind == "asm" else FAIL
        why = "It has no SysV segment of a huge page or more: Automatic Memory Management?"
    elif small and huge:
        status = FAIL
        why = "{0} of the SGA fell back to 4 KiB pages, {1} are huge.".format(
            human(small), human(huge)
        )
    elif small:
        status = WARN if instance.kind == "asm" else FAIL
        why = "The whole SGA ({0}) lies in 4 KiB pages.".format(human(small))
    else:
        status, why = PASS, None
    finding = found(
        SGA_IN_HUGE_PAGES,
        status,
        why=why,
        fix="look at hugepages.pool_covers_sga, memlock and shm_group, then restart {0}; its alert "
        "log says what it asked for and got".format(instance.sid),
        desired="{0} in huge pages".format(human(huge + small))
        if huge + small
        else "in huge pages",
        in_use="{0} bytes huge, {1} bytes in 4 KiB pages".format(huge, small),
        evidence=instance.evidence(),
    )
    return _of_instance(finding, instance)


def _of_instance(finding, instance):
    # type: (Finding, Instance) -> Finding
    return finding._replace(title="{0}: {1}".format(instance.sid, finding.title))


def _has_database(facts, policy):
    # type: (Facts, Policy) -> bool
    return bool(policy.instances) or bool(known(facts.instances))


def _wanted_memlock(facts, policy):
    # type: (Facts, Policy) -> Optional[int]
    """kB that limits.d must grant; None is unlimited. Oracle asks 90 percent of memory."""
    if policy.memlock == "unlimited":
        return None
    if policy.memlock == "auto":
        return known(facts.meminfo)["MemTotal"] // 1024 * 9 // 10
    return int(policy.memlock or 0)


def _judge_memlock_persisted(facts, policy):
    # type: (Facts, Policy) -> Judged
    if policy.memlock is None:
        return _skipped(MEMLOCK_PERSISTED, "hugepages_memlock is unmanaged.")
    if not _has_database(facts, policy):
        return _skipped(MEMLOCK_PERSISTED, _NO_DATABASE)
    wanted = _wanted_memlock(facts, policy)
    accounts = known(facts.accounts)
    if not accounts:
        return found(
            MEMLOCK_PERSISTED,
            FAIL,
            why="No account of hugepages_users exists on this host.",
            fix="create the account ({0}) or correct hugepages_users".format(
                ", ".join(policy.users)
            ),
            desired=_kilobytes(wanted),
            persisted="no such account",
            evidence=["command:getent passwd " + user for user in policy.users],
        )
    needed = attempt(need, facts, policy)
    floor = known(facts.pool).page_size * needed.pages if isinstance(needed, Need) else 0
    entries = known(facts.limit_entries)
    return _missing_accounts(policy, accounts, wanted) + [
        _judge_memlock_of(
            user,
            limits_probe.limits_of(accounts[user], entries, "memlock"),
            wanted,
            floor,
            policy,
        )
        for user in sorted(accounts)
    ]


def _missing_accounts(policy, accounts, wanted):
    # type: (Policy, Dict[str, limits_probe.Account], Optional[int]) -> List[Finding]
    return [
        found(
            MEMLOCK_PERSISTED,
            WARN,
            title="{0}: {1}".format(user, MEMLOCK_PERSISTED.title),
            why="The host has no account {0}.".format(user),
            fix="create the account, or take it out of hugepages_users",
            desired=_kilobytes(wanted),
            persisted="no such account",
            evidence=["command:getent passwd " + user],
        )
        for user in policy.users
        if user not in accounts
    ]


def _judge_memlock_of(user, limits, wanted, floor, policy):
    # type: (str, limits_conf.Limits, Optional[int], int, Policy) -> Finding
    status = PASS
    for entry in (limits.soft, limits.hard):
        granted = 0 if entry is None else limits_conf.kilobytes(entry.value)
        if granted is None or (wanted is not None and granted >= wanted):
            continue
        # Enough for the SGA but less than asked bites only when the SGA grows.
        status = WARN if status != FAIL and floor and granted * 1024 >= floor else FAIL
    return found(
        MEMLOCK_PERSISTED,
        status,
        title="{0}: {1}".format(user, MEMLOCK_PERSISTED.title),
        fix="./hostproof apply, or put '{0} - memlock {1}' in {2}; then log in anew".format(
            user, "unlimited" if wanted is None else wanted, policy.limits_file
        ),
        desired=_kilobytes(wanted),
        persisted="soft {0}, hard {1}".format(_limit(limits.soft), _limit(limits.hard)),
        evidence=("file:/etc/security/limits.conf", "dir:/etc/security/limits.d")
        + tuple("file:" + entry.path for entry in (limits.soft, limits.hard) if entry is not None),
    )


def _kilobytes(count):
    # type: (Optional[int]) -> str
    return "unlimited" if count is None else "at least {0} kB".format(count)


def _limit(entry):
    # type: (Optional[limits_conf.Entry]) -> str
    if entry is None:
        return "not set"
    return "{0} ({1}:{2})".format(entry.value, entry.path, entry.line)


def _judge_memlock_in_force(facts, policy):
    # type: (Facts, Policy) -> Judged
    findings = []
    for instance in known(facts.instances):
        try:
            findings.append(_judge_limit_of(instance))
        except HostproofError as problem:
            findings.append(_of_instance(_undetermined(MEMLOCK_IN_FORCE, problem), instance))
    return findings or [_skipped(MEMLOCK_IN_FORCE, "No instance runs here.")]


def _judge_limit_of(instance):
    # type: (Instance) -> Finding
    limit = known(instance.limits).get("Max locked memory")
    if limit is None:
        raise Unanswered(
            "file:/proc/{0}/limits".format(instance.pid), "the kernel shows no Max locked memory"
        )
    sga = sum(segment.size for segment in known(instance.segments))
    if not sga:
        return _of_instance(_skipped(MEMLOCK_IN_FORCE, "It has no SysV segment to lock."), instance)
    enough = limit.soft is None or limit.soft >= sga
    return _of_instance(
        found(
            MEMLOCK_IN_FORCE,
            PASS if enough else FAIL,
            fix="raise the limit where the instance is started (limits.d for a login, LimitMEMLOCK="
            " for a systemd unit, s_crsconfig_*_env.txt for Clusterware), then restart {0}".format(
                instance.sid
            ),
            desired="at least {0} bytes (the SGA)".format(sga),
            in_use="unlimited" if limit.soft is None else "{0} bytes".format(limit.soft),
            evidence=["file:/proc/{0}/limits".format(instance.pid)],
        ),
        instance,
    )


def _judge_shm_group(facts, policy):
    # type: (Facts, Policy) -> Finding
    if policy.group is None:
        return _skipped(SHM_GROUP_ALLOWED, "hugepages_group is empty: not managed.")
    if not _has_database(facts, policy):
        return _skipped(SHM_GROUP_ALLOWED, _NO_DATABASE)
    running = known(facts.shm_group)
    at_boot = boot_probe.sysctl_at_boot(facts.boot, SHM_GROUP)
    persisted = _group_id(at_boot.winner) if at_boot.winner is not None else "0"
    evidence = ("file:" + SHM_GROUP_FILE, "command:getent group " + policy.group) + _BOOT
    if isinstance(facts.group, Absent):
        return found(
            SHM_GROUP_ALLOWED,
            FAIL,
            why="The host has no group {0}.".format(policy.group),
            fix="create the group, or set hugepages_group to the instance owner's group",
            desired=policy.group,
            running=str(running),
            evidence=evidence,
        )
    group = known(facts.group)
    outsiders = [
        instance.sid for instance in known(facts.instances) if running not in _groups_of(instance)
    ] + [
        user
        for user, account in sorted(known(facts.accounts).items())
        if group.name not in account.groups
    ]
    wrong = outsiders or running != group.gid or persisted != str(group.gid)
    status, why = (PASS, None) if not wrong else _grade_shm_group(facts, outsiders)
    return found(
        SHM_GROUP_ALLOWED,
        status,
        why=why,
        fix="./hostproof apply, or set 'vm.hugetlb_shm_group = {0}' in {1} and in the running "
        "kernel".format(group.gid, policy.sysctl_file),
        desired="{0} ({1})".format(group.gid, group.name),
        persisted="{0} from {1}".format(persisted, at_boot.winner.place)
        if at_boot.winner is not None
        else "nothing sets it (0)",
        running=str(running),
        in_use="not a member: " + ", ".join(outsiders) if outsiders else None,
        evidence=evidence,
    )


def _groups_of(instance):
    # type: (Instance) -> Tuple[int, ...]
    """Every group that the running process has."""
    status = known(instance.status)
    return (int(status.gid),) + tuple(status.groups)


def _group_id(setting):
    # type: (Setting) -> str
    """The number that a place sets; a line of a script only shows that it does."""
    value = setting.value.strip()
    if not value.isdecimal():
        raise Unanswered(
            "file:" + setting.place.rsplit(":", 1)[0],
            "{0} sets {1} by {2}: read it by hand".format(setting.place, SHM_GROUP, value),
        )
    return value


def _grade_shm_group(facts, outsiders):
    # type: (Facts, List[str]) -> Tuple[str, str]
    """Old kernels let a memlock limit stand in for the group, so there it only will bite."""
    release = known(facts.release)
    who = "Not in the group that may use huge pages: {0}; ".format(", ".join(outsiders))
    if (release.major, release.minor) >= GROUP_REQUIRED_SINCE:
        return FAIL, (who if outsiders else "") + "kernel {0} answers EPERM without it.".format(
            release.text
        )
    return WARN, (
        (who if outsiders else "")
        + "kernel {0} still falls back to the memlock limit, the next kernel will not.".format(
            release.text
        )
    )


def _wanted_transparent(facts, policy):
    # type: (Facts, Policy) -> Tuple[str, str]
    """(the mode that is wanted, why it is that one).

    Oracle asks madvise on UEK7 and later for the releases since 21c, and never elsewhere
    (Installation Guides 19c, 21c and 23ai).
    """
    if policy.transparent != "auto":
        return policy.transparent, "hugepages_transparent"
    release = known(facts.release)
    versions = [instance.version for instance in policy.instances or () if instance.version]
    if release.is_uek and (release.major, release.minor) >= UEK7:
        if not versions or min(versions) >= 21:
            return "madvise", "UEK7 or later"
        return "never", "UEK7 or later with database {0}".format(min(versions))
    return "never", "kernel {0}".format(release.text)


def _judge_transparent(facts, policy):
    # type: (Facts, Policy) -> Finding
    if policy.transparent == "unmanaged":
        return _skipped(TRANSPARENT, "hugepages_transparent is unmanaged.")
    if isinstance(facts.thp_mode, Absent):
        return _skipped(TRANSPARENT, "The kernel has no transparent huge pages.")
    mode = known(facts.thp_mode)
    wanted, because = _wanted_transparent(facts, policy)
    at_boot = thp_probe.at_boot(facts.boot, facts.thp_default)
    boot_mode = at_boot.winner.value if at_boot.winner is not None else None
    status, why = _grade_transparent(wanted, mode, boot_mode, at_boot.winner)
    if status == FAIL and not _has_database(facts, policy):
        status, why = WARN, (why or TRANSPARENT.why) + " No database is here yet."
    anonymous = if_known(facts.meminfo, {}).get("AnonHugePages", 0)
    return found(
        TRANSPARENT,
        status,
        why=why,
        fix="./hostproof apply (it writes {0}), or boot with transparent_hugepage={1}".format(
            policy.tmpfiles_file, wanted
        ),
        desired="{0} ({1})".format(wanted, because),
        persisted=_thp_text(at_boot),
        running="{0} ({1} in use)".format(mode, human(anonymous)) if anonymous else mode,
        evidence=("file:" + thp_probe.SYSFS, "file:/proc/cmdline", "dir:/etc/tmpfiles.d")
        + _MEMINFO,
    )


def _grade_transparent(wanted, mode, boot_mode, winner):
    # type: (str, str, Optional[str], Optional[Setting]) -> Tuple[str, Optional[str]]
    if mode == "always":
        return FAIL, None
    if boot_mode == "always":
        return FAIL, "The next boot turns them on for every process."
    if boot_mode is None:
        return WARN, "Nothing that can be seen keeps '{0}' over the next boot.".format(mode)
    if boot_mode not in thp_probe.MODES:
        return ERROR, "Could not be determined: {0} sets them by {1}.".format(
            winner.place if winner else "a script", boot_mode
        )
    if mode != wanted or boot_mode != wanted:
        return (
            WARN,
            "'{0}' now and '{1}' after the next boot are safe, but not what is asked.".format(
                mode, boot_mode
            ),
        )
    return PASS, None


def _thp_text(at_boot):
    # type: (thp_probe.ThpAtBoot) -> str
    if at_boot.winner is None:
        return "nothing seen that sets it"
    text = "{0} from {1}".format(at_boot.winner.value, at_boot.winner.place)
    return text + ("; not used: " + ", ".join(at_boot.losers) if at_boot.losers else "")


def _judge_numa_split(facts, policy):
    # type: (Facts, Policy) -> Finding
    nodes = known(facts.nodes)
    pool = known(facts.pool)
    if len(nodes) < 2:
        return _skipped(NUMA_SPLIT, "The host has one NUMA node with huge pages.")
    if pool.total == 0:
        return _skipped(NUMA_SPLIT, "The pool is empty.")
    share = pool.total / float(len(nodes))
    poor = [node.name for node in nodes if node.pages < share / 2]
    in_use = _sga_by_node(facts)
    return found(
        NUMA_SPLIT,
        WARN if poor else PASS,
        why="{0} got less than half of an even share.".format(", ".join(poor)),
        fix="reserve the pool at boot: hugepages={0} on the kernel command line".format(pool.total),
        desired="about {0:.0f} pages a node".format(share),
        running=", ".join("{0}: {1} ({2} free)".format(n.name, n.pages, n.free) for n in nodes),
        in_use=in_use,
        evidence=[node.key for node in nodes],
    )


def _sga_by_node(facts):
    # type: (Facts) -> Optional[str]
    """How many pages of the SGAs each process monitor touched on each node, if it may be read."""
    touched = {}  # type: Dict[int, int]
    for instance in if_known(facts.instances, []):
        for segment in if_known(instance.segments, []):
            for node, count in segment.node_pages.items() if segment.huge else ():
                touched[node] = touched.get(node, 0) + count
    if not touched:
        return None
    return "touched by pmon: " + ", ".join(
        "node{0}: {1}".format(node, count) for node, count in sorted(touched.items())
    )


def _judge_pool_not_wasted(facts, policy):
    # type: (Facts, Policy) -> Finding
    pool = known(facts.pool)
    needed = need(facts, policy)
    wanted = needed.pages if needed is not None else 0
    surplus = pool.total - max(wanted, pool.committed)
    # Below this the rounding of segments and granules explains it.
    allowed = max(wanted * policy.surplus_limit // 100, policy.spare_pages)
    wasteful = surplus > allowed
    return found(
        POOL_NOT_WASTED,
        WARN if wasteful else PASS,
        why="{0} ({1}) are kept for nothing.".format(
            in_pages(surplus), human(surplus * pool.page_size)
        ),
        fix="set vm.nr_hugepages to {0}".format(max(wanted, pool.committed)),
        desired="at most {0}".format(in_pages(max(wanted, pool.committed) + allowed)),
        running=in_pages(pool.total),
        in_use="{0} committed, {1} neither used nor promised".format(
            pool.committed, in_pages(pool.unpromised)
        ),
        evidence=_MEMINFO + _PMON,
    )


def _judge_no_amm(facts, policy):
    # type: (Facts, Policy) -> Finding
    names = known(facts.amm_files)
    pool = known(facts.pool)
    status = PASS
    if names:
        status = FAIL if pool.total or policy.instances else WARN
    return found(
        NO_AMM,
        status,
        fix="in the instance: MEMORY_TARGET=0 and MEMORY_MAX_TARGET=0, set SGA_TARGET and "
        "PGA_AGGREGATE_TARGET, restart",
        desired="no /dev/shm/ora_* files",
        in_use="{0} files, such as {1}".format(len(names), names[0]) if names else "none",
        evidence=["dir:/dev/shm"],
    )


def _judge_page_tables(facts, policy):
    # type: (Facts, Policy) -> Finding
    memory = known(facts.meminfo)
    if "PageTables" not in memory:
        return _skipped(PAGE_TABLES, "The kernel does not report PageTables.")
    now = memory["PageTables"]
    high = now > memory["MemTotal"] * PAGE_TABLES_SHARE
    return found(
        PAGE_TABLES,
        WARN if high else PASS,
        why="Page tables take {0:.1f} percent of memory.".format(100.0 * now / memory["MemTotal"]),
        fix="put the SGA in huge pages (hugepages.sga_in_huge_pages)",
        desired="at most {0} (1 percent of memory)".format(
            human(int(memory["MemTotal"] * PAGE_TABLES_SHARE))
        ),
        running=human(now),
        in_use=_cost_if_small(facts, policy),
        evidence=_MEMINFO + ("file:/proc/sysvipc/shm",),
    )


def _cost_if_small(facts, policy):
    # type: (Facts, Policy) -> Optional[str]
    """What page tables would cost with 4 KiB pages: processes x SGA / 512."""
    uids = {instance.uid for instance in if_known(facts.instances, [])}
    segments = if_known(facts.segments, [])
    cost = sum(one.nattch * one.size // 512 for one in segments if one.uid in uids)
    if cost:
        return "with 4 KiB pages it would be up to {0} (processes attached x SGA / 512)".format(
            human(cost)
        )
    sga = sum(instance.sga for instance in policy.instances or ())
    if not sga:
        return None
    return "with 4 KiB pages {0} for each process that touches the whole SGA".format(
        human(sga // 512)
    )


def _judge_ram_share(facts, policy):
    # type: (Facts, Policy) -> Finding
    memory = known(facts.meminfo)["MemTotal"]
    pool = known(facts.pool)
    limit = memory * policy.ram_share_limit // 100
    at_boot = attempt(pool_at_boot, facts)
    now = pool.total * pool.page_size
    if now <= limit:
        known(at_boot)  # a pool that is too large already is so whatever the next boot makes
    later = 0 if isinstance(at_boot, HostproofError) else at_boot.pages * pool.page_size
    over = max(now, later) > limit
    return found(
        RAM_SHARE,
        FAIL if over else PASS,
        fix="reduce the pool to {0}, or add memory".format(in_pages(limit // pool.page_size)),
        desired="at most {0} percent of memory ({1})".format(policy.ram_share_limit, human(limit)),
        persisted="unknown" if isinstance(at_boot, HostproofError) else _share(later, memory),
        running=_share(now, memory),
        evidence=_MEMINFO,
    )


def _share(size, memory):
    # type: (int, int) -> str
    return "{0:.0f} percent ({1})".format(100.0 * size / memory, human(size))


def _judge_page_size(facts, policy):
    # type: (Facts, Policy) -> Finding
    size = known(facts.pool).page_size
    status = PASS
    if size != policy.page_size:
        status = FAIL if _has_database(facts, policy) else WARN
    return found(
        PAGE_SIZE,
        status,
        fix="remove default_hugepagesz= from the kernel command line and reboot",
        desired=human(policy.page_size),
        running=human(size),
        evidence=_MEMINFO + ("file:/proc/cmdline",),
    )


def _judge_no_overcommit(facts, policy):
    # type: (Facts, Policy) -> Finding
    if isinstance(facts.overcommit, Absent):
        return _skipped(NO_OVERCOMMIT, "The kernel has no surplus pages.")
    allowed = known(facts.overcommit)
    surplus = known(facts.pool).surp
    bad = bool(allowed or surplus)
    return found(
        NO_OVERCOMMIT,
        WARN if bad else PASS,
        fix="sysctl -w vm.nr_overcommit_hugepages=0, and size the pool for every SGA",
        desired="0 pages",
        running="up to {0}".format(in_pages(allowed)),
        in_use="{0} surplus".format(in_pages(surplus)),
        evidence=_MEMINFO + ("file:" + OVERCOMMIT_FILE,),
    )


_JUDGES = (
    (POOL_COVERS_SGA, _judge_pool_covers_sga),
    (SGA_IN_HUGE_PAGES, _judge_sga_in_huge_pages),
    (POOL_PERSISTED, _judge_pool_persisted),
    (ONE_OWNER, _judge_one_owner),
    (RAM_SHARE, _judge_ram_share),
    (POOL_NOT_WASTED, _judge_pool_not_wasted),
    (PAGE_SIZE, _judge_page_size),
    (NUMA_SPLIT, _judge_numa_split),
    (NO_OVERCOMMIT, _judge_no_overcommit),
    (MEMLOCK_PERSISTED, _judge_memlock_persisted),
    (MEMLOCK_IN_FORCE, _judge_memlock_in_force),
    (SHM_GROUP_ALLOWED, _judge_shm_group),
    (NO_AMM, _judge_no_amm),
    (TRANSPARENT, _judge_transparent),
    (PAGE_TABLES, _judge_page_tables),
)  # type: Tuple[Tuple[Check, Callable[[Facts, Policy], Judged]], ...]

CHECKS = tuple(check for check, _judge in _JUDGES)


# -- plan -----------------------------------------------------------------------------------------

_HEADER = "# Written by Hostproof (role hugepages): change the policy, not this file.\n"


def plan(facts, policy):
    # type: (Facts, Policy) -> Plan
    """The changes that make the host as the policy says; raises what it would have to guess."""
    known(facts.meminfo)
    changes = []  # type: List[Change]
    refusals = []  # type: List[Refusal]
    pending = []  # type: List[str]
    target = _target_pages(facts, policy)
    values = _plan_sysctl(facts, policy, target, changes, refusals)
    if _has_database(facts, policy):
        _plan_limits(facts, policy, changes, refusals, pending)
    else:
        pending.append(_NO_DATABASE + " The pool and memlock stay as they are.")
    values.extend(_plan_transparent(facts, policy, changes, refusals))
    if target is not None:
        refusals.extend(_guard_pool(facts, policy, target))
    refusals.extend(_guard_other_settings(changes, policy))
    if policy.activation == "now":
        changes.extend(values)
    elif values:
        pending.append(
            "The next boot sets: " + ", ".join("{0} = {1}".format(v.path, v.value) for v in values)
        )
    if any(isinstance(change, FileChange) for change in changes):
        pending.extend(
            "{0} keeps its limits and pages until it is restarted.".format(instance.sid)
            for instance in known(facts.instances)
        )
    return Plan(changes, refusals, pending, values if policy.activation == "reboot" else [])


def _target_pages(facts, policy):
    # type: (Facts, Policy) -> Optional[int]
    """The pool to make; None where nothing says how large.

    "auto" only knows what runs at this moment, so it never shrinks a pool: an instance that
    is down would find its pages gone.
    """
    needed = need(facts, policy)
    if needed is None:
        return None
    if policy.instances is None:
        pool = known(facts.pool)
        return max(needed.pages, pool.total - pool.surp, pool_at_boot(facts).pages)
    return needed.pages


def _guard_other_settings(changes, policy):
    # type: (List[Change], Policy) -> List[Refusal]
    """A drop-in is written as a whole: what somebody else set in it would be gone."""
    refusals = []
    for change in changes:
        if not isinstance(change, FileChange) or (change.before or "").startswith(_HEADER):
            continue
        lost = _other_settings(change, policy)
        if lost:
            reason = (
                "{0} holds other settings ({1}), which would be lost: choose another file".format(
                    change.path, ", ".join(lost)
                )
            )
            refusals.append(Refusal(reason, None))
    return refusals


def _other_settings(change, policy):
    # type: (FileChange, Policy) -> List[str]
    """What a file sets that is not for this control to set."""
    text = change.before or ""
    if change.path == policy.sysctl_file:
        own = (sysctl_d.normalize(POOL), sysctl_d.normalize(SHM_GROUP))
        return [
            one.key for one in sysctl_d.parse(text, change.path).assignments if one.key not in own
        ]
    if change.path == policy.limits_file:
        entries = limits_conf.parse(text, change.path).entries
        return ["{0} {1}".format(one.domain, one.item) for one in entries if one.item != "memlock"]
    return [
        one.target for one in tmpfiles_d.parse(text, change.path) if one.target != thp_probe.SYSFS
    ]


def _plan_sysctl(facts, policy, target, changes, refusals):
    # type: (Facts, Policy, Optional[int], List[Change], List[Refusal]) -> List[ValueChange]
    """The drop-in, and the values that bring the running kernel in line with it."""
    pool = known(facts.pool)
    size = pool.page_size
    wanted = []  # type: List[Tuple[str, str, str, str]]
    if _has_database(facts, policy) and policy.group is not None:
        group = facts.group
        if isinstance(group, Absent):
            refusals.append(
                Refusal(
                    "the host has no group {0}: create it, or set hugepages_group to the group of "
                    "the instances' owner".format(policy.group),
                    None,
                )
            )
        else:
            wanted.append(
                (SHM_GROUP, SHM_GROUP_FILE, str(known(group).gid), str(known(facts.shm_group)))
            )
            refusals.extend(_guard_group(facts, known(group)))
    if target is not None:
        wanted.append((POOL, POOL_FILE, str(target), str(pool.total - pool.surp)))
    before = unless_absent(facts.files[policy.sysctl_file], None)
    others = boot_probe.with_sysctl_file(facts.boot, policy.sysctl_file, "")
    # What another place already sets as wanted stays with that place.
    own = [
        (key, value) for key, _path, value, _now in wanted if _at_boot(others, key, size) != value
    ]
    content = _HEADER + "".join("{0} = {1}\n".format(key, value) for key, value in sorted(own))
    # A drop-in of ours that nothing is left for may hold an old value that still wins.
    if (own or before is not None) and content != before:
        changes.append(FileChange(policy.sysctl_file, content, before))
        later = boot_probe.with_sysctl_file(facts.boot, policy.sysctl_file, content)
        refusals.extend(
            _guard_boot(later, policy.sysctl_file, key)
            for key, value in own
            if _at_boot(later, key, size) != value
        )
    return [ValueChange(path, value, now) for _key, path, value, now in wanted if value != now]


def _at_boot(boot, key, page_size):
    # type: (boot_probe.Boot, str, int) -> Optional[str]
    """The value that boot gives to one of our sysctl keys; None where nothing sets it."""
    if key == POOL:
        at_boot = pool_probe.pool_at_boot(boot, page_size)
        return None if at_boot.place is None else str(at_boot.pages)
    winner = boot_probe.sysctl_at_boot(boot, key).winner
    return None if winner is None else winner.value.strip()


def _guard_group(facts, group):
    # type: (Facts, getent.Group) -> List[Refusal]
    """The kernel knows one group: a change to it can shut out who runs now."""
    outsiders = [one.sid for one in known(facts.instances) if group.gid not in _groups_of(one)]
    if not outsiders:
        return []
    reason = (
        "{0} does not run with the group {1} and would get no huge pages at its next start: set "
        "hugepages_group to a group that every owner is in, then restart it".format(
            ", ".join(outsiders), group.name
        )
    )
    return [Refusal(reason, None)]


def _guard_boot(boot, path, key):
    # type: (boot_probe.Boot, str, str) -> Refusal
    """A drop-in that would not win must not be written: it would look right and do nothing."""
    winner = boot_probe.sysctl_at_boot(boot, key).winner
    rival = (
        "nothing" if winner is None else "{0} ({1} = {2})".format(winner.place, key, winner.value)
    )
    return Refusal(
        "{0} would not win at boot, {1} comes later; remove that, or choose a "
        "hugepages_sysctl_file that is read after it".format(path, rival),
        None,
    )


def _plan_limits(facts, policy, changes, refusals, pending):
    # type: (Facts, Policy, List[Change], List[Refusal], List[str]) -> None
    if policy.memlock is None:
        return
    accounts = known(facts.accounts)
    pending.extend(
        "The host has no account {0}: its memlock limit waits for the account.".format(user)
        for user in policy.users
        if user not in accounts
    )
    wanted = _wanted_memlock(facts, policy)
    entries = known(facts.limit_entries)
    if all(limits_probe.grants_memlock(entries, one, wanted) for one in accounts.values()):
        return
    # A grant of another place is left alone: ours could be lower.
    others = limits_probe.with_file(entries, policy.limits_file, "")
    users = sorted(
        user
        for user, account in accounts.items()
        if not limits_probe.grants_memlock(others, account, wanted)
    )
    value = "unlimited" if wanted is None else str(wanted)
    if policy.memlock == "auto":
        # MemTotal differs a little from boot to boot: whole GiB keep the limit above 90 percent.
        value = str(-(-int(value) // 1048576) * 1048576)
    content = _HEADER + "".join(
        "{0} {1} memlock {2}\n".format(user, kind, value)
        for user in users
        for kind in ("soft", "hard")
    )
    changes.append(
        FileChange(
            policy.limits_file, content, unless_absent(facts.files[policy.limits_file], None)
        )
    )
    later = limits_probe.with_file(entries, policy.limits_file, content)
    for user in users:
        if not limits_probe.grants_memlock(later, accounts[user], wanted):
            limits = limits_probe.limits_of(accounts[user], later, "memlock")
            rivals = [
                _limit(entry)
                for entry in (limits.exempt, limits.soft, limits.hard)
                if entry is not None and entry.path != policy.limits_file
            ]
            refusals.append(
                Refusal(
                    "{0} would not win for {1}: {2} is read later; remove it, or choose a "
                    "hugepages_limits_file that is read after it".format(
                        policy.limits_file, user, " and ".join(rivals)
                    ),
                    None,
                )
            )


def _plan_transparent(facts, policy, changes, refusals):
    # type: (Facts, Policy, List[Change], List[Refusal]) -> List[ValueChange]
    if policy.transparent == "unmanaged" or isinstance(facts.thp_mode, Absent):
        return []
    wanted, _because = _wanted_transparent(facts, policy)
    mode = known(facts.thp_mode)
    at_boot = thp_probe.at_boot(facts.boot, facts.thp_default)
    if at_boot.winner is None or at_boot.winner.value != wanted:
        content = "{0}w! {1} - - - - {2}\n".format(_HEADER, thp_probe.SYSFS, wanted)
        before = unless_absent(facts.files[policy.tmpfiles_file], None)
        changes.append(FileChange(policy.tmpfiles_file, content, before))
        rivals = thp_probe.rivals(facts.boot, policy.tmpfiles_file)
        if rivals:
            refusals.append(
                Refusal(
                    "{0} would not win at boot: {1} sets transparent huge pages too; change it "
                    "there, or set hugepages_transparent to unmanaged".format(
                        policy.tmpfiles_file, ", ".join(rivals)
                    ),
                    None,
                )
            )
    return [] if mode == wanted else [ValueChange(thp_probe.SYSFS, wanted, mode)]


def _guard_pool(facts, policy, target):
    # type: (Facts, Policy, int) -> List[Refusal]
    """Reasons why a pool of ``target`` pages would hurt the host."""
    memory = known(facts.meminfo)
    pool = known(facts.pool)
    refusals = []
    if pool.page_size != policy.page_size:
        refusals.append(
            Refusal(
                "the default huge page is {0}, the policy counts pages of {1}: remove "
                "default_hugepagesz= from the kernel command line".format(
                    human(pool.page_size), human(policy.page_size)
                ),
                None,
            )
        )
    limit = memory["MemTotal"] * policy.ram_share_limit // 100
    if target * pool.page_size > limit and not policy.allow_ram_share_over_limit:
        refusals.append(
            Refusal(
                "{0} ({1}) are more than {2} percent of {3} memory".format(
                    in_pages(target),
                    human(target * pool.page_size),
                    policy.ram_share_limit,
                    human(memory["MemTotal"]),
                ),
                "allow_ram_share_over_limit",
            )
        )
    if target < pool.committed and not policy.allow_shrink_below_use:
        refusals.append(
            Refusal(
                "{0} of the pool are in use or promised, the policy leaves {1}".format(
                    in_pages(pool.committed), target
                ),
                "allow_shrink_below_use",
            )
        )
    if policy.activation == "now":
        refusals.extend(_guard_growth(facts, policy, target - (pool.total - pool.surp)))
    return refusals


def _guard_growth(facts, policy, growth):
    # type: (Facts, Policy, int) -> List[Refusal]
    """Reasons against taking ``growth`` more pages from a running host."""
    refusals = []
    memory = known(facts.meminfo)
    size = known(facts.pool).page_size
    # Kernels before 3.14 do not say MemAvailable; what no row says is not available.
    available = memory.get("MemAvailable", memory.get("MemFree", 0))
    if growth <= 0:
        return []
    if growth * size > available and not policy.allow_low_memory:
        refusals.append(
            Refusal(
                "{0} more ({1}) do not fit into the {2} that are available: set "
                "hugepages_activation to reboot, or free memory".format(
                    in_pages(growth), human(growth * size), human(available)
                ),
                "allow_low_memory",
            )
        )
    order = (size // known(facts.base_page)).bit_length() - 1
    contiguous = buddyinfo.contiguous(known(facts.zones), order)
    if growth > contiguous and not policy.allow_compaction:
        refusals.append(
            Refusal(
                "only {0} of {1} more can be had without compacting memory, which stalls a busy "
                "host: set hugepages_activation to reboot".format(contiguous, in_pages(growth)),
                "allow_compaction",
            )
        )
    return refusals
