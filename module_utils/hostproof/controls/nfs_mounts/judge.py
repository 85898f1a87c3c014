# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which judge answers for which check, and in which order the findings stand."""

from typing import Callable, List, Tuple, Union

from ...answer import attempt, known
from ...errors import HostproofError
from ...finding import SKIP, Check, Finding, found
from . import (
    checks,
    judge_direct_nfs,
    judge_mounted,
    judge_options,
    judge_sizes,
    judge_slots,
    judge_transport,
)
from .facts import Facts, JudgedMount
from .judging import JudgeMount, for_each_mount, undetermined
from .layers import SYSTEMS, Layers, layers_of
from .policy import Policy
from .wanted import judged_mounts, why_none

#: One finding, or one for each mount or Oracle home.
Judged = Union[Finding, List[Finding]]
Judge = Callable[[List[Layers], Facts, Policy], Judged]
_JudgeAll = Callable[[Facts, Policy, List[JudgedMount]], List[Finding]]


def judge(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """Every check, in the order of the report. What needs an unknown fact becomes an error."""
    if not isinstance(facts.system, HostproofError) and facts.system not in SYSTEMS:
        reason = "{0} is none of the systems whose NFS mounts are known: {1}.".format(
            facts.system, ", ".join(SYSTEMS)
        )
        return [found(check, SKIP, why=reason) for check in checks.CHECKS]
    mounts = attempt(_mounts, facts, policy)
    findings = []  # type: List[Finding]
    for check, judge_one in _JUDGES:
        try:
            answer = judge_one(known(mounts), facts, policy)
            findings.extend(answer if isinstance(answer, list) else [answer])
        except HostproofError as problem:
            findings.append(undetermined(check, problem))
    return findings


def _mounts(facts, policy):
    # type: (Facts, Policy) -> List[Layers]
    return [layers_of(one, facts, policy) for one in judged_mounts(facts, policy)]


def _each(check, judge_mount):
    # type: (Check, JudgeMount) -> Tuple[Check, Judge]
    """A check that is judged for one mount after the other."""
    return check, lambda mounts, facts, policy: for_each_mount(
        check, judge_mount, mounts, facts, policy
    )


def _all(check, judge_all):
    # type: (Check, _JudgeAll) -> Tuple[Check, Judge]
    """A check whose judge takes all mounts at once; there may be none."""
    return (
        check,
        lambda mounts, facts, policy: (
            judge_all(facts, policy, [one.judged for one in mounts])
            or [found(check, SKIP, why=why_none(facts))]
        ),
    )


_JUDGES = (
    (checks.MOUNTED, judge_mounted.judge_mounted),
    (checks.SAFE_TRANSPORT, judge_options.judge_safe_transport),
    (checks.LOCKS_BETWEEN_CLIENTS, judge_options.judge_locks_between_clients),
    _each(checks.OPTIONS_IN_FORCE, judge_options.judge_options_in_force),
    _each(checks.OPTIONS_PERSISTED, judge_options.judge_options_persisted),
    _each(checks.ONE_OWNER, judge_options.judge_one_owner),
    _each(checks.MOUNTED_AS_PERSISTED, judge_options.judge_mounted_as_persisted),
    (checks.TRANSFER_SIZE, judge_sizes.judge_transfer_size),
    (checks.TRANSFER_SIZE_LOWERED, judge_sizes.judge_transfer_size_lowered),
    _each(checks.SHARED_SUPERBLOCK, judge_options.judge_shared_superblock),
    _each(checks.CACHING, judge_options.judge_caching),
    _each(checks.V4_LEASE, judge_options.judge_v4_lease),
    _all(checks.NCONNECT, judge_transport.judge_nconnect),
    (checks.SLOT_TABLES_PERSISTED, judge_slots.judge_slot_tables_persisted),
    (checks.SLOT_TABLES_RUNNING, judge_slots.judge_slot_tables_running),
    _all(checks.LATENCY, judge_transport.judge_latency),
    _all(checks.CLIENT_QUEUE, judge_transport.judge_client_queue),
    _all(checks.RETRANSMISSIONS, judge_transport.judge_retransmissions),
    _all(checks.DIRECT_NFS_LIBRARY, judge_direct_nfs.judge_library),
    _all(checks.ORANFSTAB, judge_direct_nfs.judge_oranfstab),
    _all(checks.ORANFSTAB_ORDER, judge_direct_nfs.judge_oranfstab_order),
    _all(checks.DIRECT_NFS_IN_USE, judge_direct_nfs.judge_in_use),
    _each(checks.LOCAL_LOCKS_ADVICE, judge_options.judge_local_locks_advice),
)  # type: Tuple[Tuple[Check, Judge], ...]
