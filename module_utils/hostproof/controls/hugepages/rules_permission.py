# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of permissions: memlock limits of logins and instances, and vm.hugetlb_shm_group."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError, NotRecorded, Unanswered
from ...evaluate.advice import Advice, Apply, Ask, Edit, EditUnit, Step, Wait
from ...evaluate.checking import (
    Judged,
    Layer,
    Rules,
    Skip,
    Subjects,
    Verdict,
    by_layers,
    layered,
    verdict_or_error,
)
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from ...parsers.size import human
from ...parsers.unix import limits_conf
from ...probes.oracle import next_start, will_start
from ...probes.oracle.instances import Instance
from ...probes.oracle.will_start import By
from ...probes.systemd import boot as boot_probe
from ...probes.unix import limits as limits_probe
from ...probes.unix.limits import LOGIN_EVIDENCE, Account
from .facts import SHM_GROUP_FILE, Facts, owners_of
from .need import Need, Start, need, next_starts
from .plan import GROUP, MEMLOCK
from .policy import NAME, Policy
from .policy_values import (
    FALLBACK_BEFORE,
    NO_DATABASE,
    SHM_GROUP,
    enough_memlock,
    fits_owners,
    group_of,
    has_database,
    limit_text,
    outsiders,
    requires_group,
    wanted_group,
)
from .subjects import BOOT, INSTALLATION, NO_INSTANCE

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "hugepages.memlock_persisted",
    "Memlock limit in limits.d covers the SGA",
    "Memlock limit in limits.d is missing or too low",
    severity="high",
    takes_effect="instance_restart",
    why="Almost the whole SGA silently falls back to 4 KiB pages.",
    reference=INSTALLATION + ", Checking Resource Limits; limits.conf(5)",
)
def memlock_persisted(facts: Facts, policy: Policy) -> Judged:
    if policy.memlock is None:
        raise Skip("hugepages_memlock is unmanaged.")
    database = attempt(has_database, facts, policy)
    if database is False:
        raise Skip(NO_DATABASE)
    required = enough_memlock(facts, policy)
    users = list(dict.fromkeys([*policy.users, *owners_of(facts.databases)]))
    accounts = known(limits_probe.by_name(facts.accounts, users))
    accounts = {user: accounts[user] for user in users if user in accounts}
    if not accounts:
        return Verdict(
            FAIL,
            why="No account of hugepages_users exists on this host.",
            fix=f"if {', '.join(policy.users)} comes from LDAP or SSSD, check that service; "
            "otherwise create the account, or correct hugepages_users",
            desired=_kilobytes(required),
            persisted="no such account",
            evidence=["command:getent passwd " + user for user in policy.users],
        )
    needed = attempt(need, facts, policy)
    floor = known(facts.pool).page_size * needed.pages if isinstance(needed, Need) else 0
    entries = known(facts.limit_entries)
    verdicts = [
        _judge_account(accounts[user], entries, required, floor) for user in sorted(accounts)
    ]
    advice = Advice([Apply(NAME, MEMLOCK), Wait("login")])
    verdicts = [verdict._replace(advice=advice) for verdict in verdicts]
    missing = [user for user in policy.users if user not in accounts]
    verdicts = [_missing_account(user, required) for user in missing] + verdicts
    layers = [("whether the host has a database", database), ("accounts", facts.accounts)]
    return [verdict_or_error(by_layers, verdict, layers, of=verdict.of) for verdict in verdicts]


def _missing_account(user: str, required: Optional[int]) -> Verdict:
    return Verdict(
        WARN,
        why=f"The host has no account {user}.",
        fix=f"if {user} comes from LDAP or SSSD, check that service; otherwise create the "
        "account, or remove it from hugepages_users",
        desired=_kilobytes(required),
        persisted="no such account",
        evidence=["command:getent passwd " + user],
        of=user,
    )


def _judge_account(
    account: Account, entries: List[limits_conf.Entry], required: Optional[int], floor: int
) -> Verdict:
    limits = limits_probe.limits_of(account, entries, "memlock")
    status = PASS
    values = {}
    for name, entry in (("soft_kb", limits.soft), ("hard_kb", limits.hard)):
        values[name] = granted = 0 if entry is None else limits_conf.kilobytes(entry.value)
        if granted is None or (required is not None and granted >= required):
            continue
        # A limit that covers the SGA but is lower than requested matters only if the SGA grows.
        status = WARN if status != FAIL and floor and granted * 1024 >= floor else FAIL
    return Verdict(
        status,
        desired=_kilobytes(required),
        persisted=f"soft {limit_text(limits.soft)}, hard {limit_text(limits.hard)}",
        values=values,
        evidence=LOGIN_EVIDENCE
        + tuple("file:" + entry.path for entry in (limits.soft, limits.hard) if entry is not None),
        of=account.name,
    )


def _kilobytes(count: Optional[int]) -> str:
    return "unlimited" if count is None else f"at least {count} kB"


class Starting(NamedTuple):
    """An instance that runs, or that a unit starts at boot; the bytes that its next start adds, its
    listed size, and what starts it at boot."""

    sid: str
    instance: Optional[Instance]
    growth: Answer[int]
    listed: int
    by: Answer[List[By]]


def _starting(facts: Facts, policy: Policy) -> List[Answer[Starting]]:
    starts, unknown = next_starts(facts, policy, known(facts.pool).page_size)
    listed = {entry.sid: entry.sga for entry in policy.instances or ()}
    starting: List[Answer[Starting]] = []
    for instance in known(facts.instances):
        growth: Answer[int] = 0
        if instance.sid in starts:
            growth = starts[instance.sid].growth.sga
        elif unknown is not None and instance.kind in next_start.KINDS:
            growth = unknown
        by = _limits_at_boot(facts, instance.sid, instance.user)
        starting.append(Starting(instance.sid, instance, growth, listed.get(instance.sid, 0), by))
    if isinstance(facts.databases, NotRecorded):
        return starting
    if isinstance(facts.databases, HostproofError):
        return [*starting, facts.databases]
    return starting + _starting_later(facts, starts)


def _starting_later(facts: Facts, starts: Dict[str, Start]) -> List[Answer[Starting]]:
    """The databases that do not run, and that a starter with another limit starts at boot."""
    active = {instance.sid for instance in known(facts.instances)}
    starting: List[Answer[Starting]] = []
    for database in known(facts.databases):
        owner = attempt(lambda one=database: known(one.target).user)
        by = _limits_at_boot(facts, database.sid, owner)
        growth = starts[database.sid].growth.sga if database.sid in starts else 0
        if database.sid not in active and growth and by and not isinstance(by, NotRecorded):
            starting.append(Starting(database.sid, None, growth, 0, by))
    return starting


def _limits_at_boot(facts: Facts, sid: str, account: Answer[str]) -> Answer[List[By]]:
    """The starters of the instance at boot that give it another limit than limits.d does."""
    if isinstance(facts.starts, HostproofError):
        return facts.starts
    by = will_start.started_by(facts.starts, sid, account)
    return [one for one in by if not isinstance(one.memlock, Absent)]


STARTING = Subjects(_starting, none=NO_INSTANCE, name=lambda starting: str(starting.sid))


@rules.check(
    "hugepages.memlock_in_force",
    "Memlock limit covers the SGA, now and at the next start",
    "Memlock limit of the instance is too low, now or at the next start",
    severity="high",
    takes_effect="instance_restart",
    why="limits.d does not apply to instances that systemd or Clusterware starts. Only the process "
    "shows the limit that it has.",
    reference="proc(5), /proc/PID/limits; limits.conf(5); systemd.exec(5), LimitMEMLOCK=",
    each=STARTING,
    because_of=("hugepages.memlock_persisted",),
)
def memlock_in_force(starting: Starting, _facts: Facts, _policy: Policy) -> Verdict:
    instance, growth, by = starting.instance, starting.growth, if_known(starting.by, [])
    sga, soft = (0, None) if instance is None else _sga_and_limit(instance)
    later = max(sga + if_known(growth, 0), starting.listed)
    if not later:
        raise Skip("It has no SysV segment to lock.")
    low = [one for one in by if _is_low(one, later)]
    status, problems = _grade_limit(soft, sga, later)
    problems += [_low_text(one) for one in low]
    least = -(-later // 1024)
    units = [_edit(one, least) for one in low]
    return layered(
        persisted=_limit_at_boot(starting.by, bool(low)),
        in_use=None
        if instance is None
        else Layer("unlimited" if soft is None else f"{soft} bytes", status),
        # Only "unlimited" is enough for a next start of unknown size.
        also=[("size of the next start", growth if soft is not None else None)],
        why=_sentence(problems),
        advice=Advice(
            persisted=units,
            in_use=[
                *([] if by else [_allow(least)]),
                Wait("instance_restart", starting.sid),
            ],
        ),
        desired=f"at least {later} bytes (the SGA)",
        values={"wanted": later, "in_use": soft, "unit": "bytes"},
        evidence=[
            *([f"file:/proc/{instance.pid}/limits"] if instance is not None else []),
            *(key for one in by for key in one.evidence),
        ],
    )


def _grade_limit(soft: Optional[int], sga: int, later: int) -> Tuple[str, List[str]]:
    """The status of the limit in use, and why it is too low for the next start alone."""
    if soft is None or soft >= later:
        return PASS, []
    if soft < sga:
        return FAIL, []
    return WARN, [f"enough for the SGA that runs, but the next start takes {human(later)}"]


def _low_text(by: By) -> str:
    return (
        f"after a reboot {by.name} starts it with {human(known(by.memlock) or 0)} of locked "
        f"memory" + (f" ({by.why})" if by.why else "")
    )


def _sga_and_limit(instance: Instance) -> Tuple[int, Optional[int]]:
    """The size of the segments and the limit in use, in bytes; None for unlimited."""
    sga = sum(segment.size for segment in known(instance.segments))
    limit = known(instance.limits).get("Max locked memory")
    if limit is None:
        key = f"file:/proc/{instance.pid}/limits"
        raise Unanswered(key, "the kernel shows no Max locked memory")
    return sga, limit.soft


def _limit_at_boot(by: Answer[List[By]], is_low: bool) -> Optional[Layer]:
    """The limits after a reboot; one that is unknown hides none that is too low."""
    if isinstance(by, HostproofError):
        return Layer(by, PASS, "limit after a reboot")
    unknown = [one.memlock for one in by if isinstance(one.memlock, HostproofError)]
    if unknown and not is_low:
        return Layer(unknown[0], PASS, "limit after a reboot")
    text = "; ".join(f"{_bytes_of(one)} ({one.name})" for one in by)
    return Layer(text, status_for(is_low), "limit after a reboot") if by else None


def _is_low(by: By, size: int) -> bool:
    return isinstance(by.memlock, int) and by.memlock < size


def _bytes_of(by: By) -> str:
    if isinstance(by.memlock, HostproofError):
        return "unknown"
    return "unlimited" if by.memlock is None else f"{by.memlock} bytes"


def _sentence(problems: List[str]) -> Optional[str]:
    text = "; ".join(problems)
    return f"{text[:1].upper()}{text[1:]}." if text else None


def _edit(by: By, kilobytes: int) -> Step:
    if by.name == "Clusterware":
        path = by.evidence[0].rpartition(" in ")[2]
        return Edit(path, f"CRS_LIMIT_MEMLOCK={kilobytes}")
    unit = "the unit of cron" if by.name == "cron" else by.name
    return EditUnit(unit, "Service", [f"LimitMEMLOCK={kilobytes}K"])


def _allow(kilobytes: int) -> Step:
    """Where the limit of a running instance comes from is not known."""
    return Ask(
        f"allow {kilobytes} kB where the instance is started (limits.d for a login, LimitMEMLOCK= "
        "for a systemd unit, s_crsconfig_*_env.txt for Clusterware)"
    )


@rules.check(
    "hugepages.shm_group",
    "Instance owners are in the hugetlb_shm_group group",
    "vm.hugetlb_shm_group is wrong, or an owner is not in the group",
    severity="critical",
    takes_effect="instance_restart",
    why="Newer kernels return EPERM: the SGA silently falls back to 4 KiB pages, or the "
    "instance fails with ORA-27125.",
    reference="kernel Documentation/admin-guide/sysctl/vm.rst, hugetlb_shm_group",
)
def shm_group(facts: Facts, policy: Policy) -> Verdict:
    if policy.group is None:
        raise Skip("hugepages_group is empty: not managed.")
    if not has_database(facts, policy):
        raise Skip(NO_DATABASE)
    running = known(facts.shm_group)
    at_boot = attempt(boot_probe.sysctl_at_boot, facts.boot, SHM_GROUP)
    wanted = attempt(wanted_group, facts, policy)
    evidence = ("file:" + SHM_GROUP_FILE, "command:getent group " + policy.group) + BOOT
    # Another absence, such as that of a process, leaves the group unknown.
    if isinstance(wanted, Absent) and wanted is facts.group:
        return _without_group(facts, policy, running)._replace(evidence=evidence)
    outside, unknown = outsiders(facts, running)
    if wanted is None or isinstance(wanted, HostproofError):
        return layered(
            persisted=Layer(_settled_text(at_boot)),
            running=Layer(str(running)),
            also=[("group", wanted), ("groups of the owners", unknown)],
            desired=f"{running}, {_name_of(facts, running)}",
            evidence=("file:" + SHM_GROUP_FILE, *BOOT),
        )
    group = known(wanted)
    status, why = _grade_shm_group(facts, outside)

    later = PASS
    if not isinstance(at_boot, HostproofError):
        later = _unless_fitting(status, facts, group_of(at_boot), group.gid)
    return layered(
        persisted=Layer(
            _text_of(at_boot) if later != PASS else _settled_text(at_boot), later, "after a reboot"
        ),
        running=Layer(str(running), _unless_fitting(status, facts, running, group.gid)),
        in_use=Layer(f"not in group {running}: " + ", ".join(outside), status) if outside else None,
        also=[("groups of the owners", unknown)],
        advice=Advice(
            both=[Apply(NAME, GROUP)],
            running=[Wait("reboot")] if policy.activation == "reboot" else [Apply(NAME, GROUP)],
            in_use=[
                *(_join(facts, outside, group.name) if running == group.gid else []),
                *_restarts(facts, outside),
            ],
        ),
        why=why,
        desired=f"{group.gid} ({group.name})",
        evidence=evidence,
    )


def _without_group(facts: Facts, policy: Policy, running: int) -> Verdict:
    """The verdict of a host that has no group of the name in the policy."""
    if not known(facts.instances) and not known(facts.accounts):
        raise Skip("No instance runs, and the host has no account of hugepages_users.")
    status, why = _grade_shm_group(facts, outsiders(facts, running)[0])
    return Verdict(
        status,
        why=f"The host has no group {policy.group}. {why}",
        fix="create the group, or set hugepages_group to the instance owner's group",
        desired=policy.group,
        running=str(running),
    )


def _unless_fitting(status: str, facts: Facts, gid: int, required: int) -> str:
    """The status of this group; PASS unless an owner is known not to be in it."""
    is_wrong = gid != required and attempt(fits_owners, facts, gid) is False
    return status if is_wrong else PASS


def _name_of(facts: Facts, gid: int) -> str:
    group = if_known(facts.group, None)
    return group.name if group is not None and group.gid == gid else "a group of every owner"


def _text_of(at_boot: Answer[boot_probe.SysctlAtBoot]) -> Answer[str]:
    if isinstance(at_boot, HostproofError):
        return at_boot
    return boot_probe.setting_text(at_boot)


def _settled_text(at_boot: Answer[boot_probe.SysctlAtBoot]) -> Answer[str]:
    """As _text_of, but unknown if something that was not read can change it."""
    text = _text_of(at_boot)
    return text if isinstance(at_boot, HostproofError) else at_boot.unknown or text


def _join(facts: Facts, outside: List[str], group: str) -> List[Step]:
    """The accounts that are not in the group; that of an instance is known from its process."""
    owners = {instance.sid: instance.user for instance in known(facts.instances)}
    names = {if_known(owners.get(name, name), f"the owner of {name}") for name in outside}
    return [
        Ask(
            f"add {name} to the group {group} (usermod -aG {group} "
            f"{'ACCOUNT' if name.startswith('the owner of ') else name})"
        )
        for name in sorted(names)
    ]


def _restarts(facts: Facts, outside: List[str]) -> List[Wait]:
    """The restart of the instances outside the group; an account without one needs none."""
    sids = [instance.sid for instance in known(facts.instances) if instance.sid in outside]
    return [Wait("instance_restart", ", ".join(sids))] if sids else []


def _grade_shm_group(facts: Facts, outsiders: List[str]) -> Tuple[str, str]:
    """Fail or warn. Old kernels accept a memlock limit instead of the group, so there only warn."""
    release = known(facts.release)
    who = f"Not in the group that may use huge pages: {', '.join(outsiders)}; " if outsiders else ""
    if requires_group(release):
        return FAIL, f"{who}kernel {release.text} returns EPERM without it."
    if (release.major, release.minor) >= FALLBACK_BEFORE:
        return WARN, (
            f"{who}whether kernel {release.text} accepts a memlock limit instead is not "
            "known, because distributions have backported the change of 5.16: do not rely on it."
        )
    return WARN, (
        f"{who}kernel {release.text} accepts a memlock limit instead, newer kernels do not."
    )
