# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of nfs_mounts check one by one: the mounts, with the path before the title."""

from typing import Callable, List, Union

from ...collect.answer import attempt
from ...errors import HostproofError
from ...evaluate.checking import Skip, Subjects
from ...evaluate.finding import FAIL, WARN, Finding
from .checked_mounts import guessed_mounts, judged_mounts, unknown_mounts, why_none
from .facts import Facts, JudgedMount
from .mount_layers import SYSTEMS, Layers, layers_of
from .policy import Policy

NFS_5 = "nfs(5)"
NETAPP = "NetApp, Oracle Database on ONTAP"
INSTALLATION = "Oracle Database Installation Guide for Linux"


#: Name of the mounts that a reboot makes, in a finding where they are not known.
UNKNOWN_MOUNTS = "Mounts after a reboot"


def mounts(facts: Facts, policy: Policy) -> List[Union[Layers, HostproofError]]:
    """The mounts to check. What a reboot mounts can be unknown; the mounts of now are checked."""
    return [*judged_layers(facts, policy), *unknown(facts, policy)]


def unknown(facts: Facts, policy: Policy) -> List[HostproofError]:
    """The error in place of mounts that the policy does not list and that only a reboot makes."""
    return unknown_mounts(facts) if policy.mounts is None else []


def judged_layers(facts: Facts, policy: Policy) -> List[Layers]:
    """The mounts to check. Where these are not known no rule can check."""
    if not isinstance(facts.system, HostproofError) and facts.system not in SYSTEMS:
        raise Skip(
            "{0} is none of the systems whose NFS mounts are known: {1}.".format(
                facts.system, ", ".join(SYSTEMS)
            )
        )
    return [layers_of(mount, facts, policy) for mount in judged_mounts(facts, policy)]


def unlisted(
    facts: Facts, policy: Policy, matters: Callable[[JudgedMount], bool] = lambda _: True
) -> List[Union[Layers, HostproofError]]:
    """Each mount that holds Oracle files and that the policy's list does not have; the error in
    their place where they are not known. ``matters`` picks those to check."""
    if policy.mounts is None:
        return []
    others = attempt(_guessed_layers, facts, policy, matters)
    if isinstance(others, HostproofError):
        return [others]
    return [*others, *(unknown_mounts(facts) if others else [])]


def _guessed_layers(
    facts: Facts, policy: Policy, matters: Callable[[JudgedMount], bool]
) -> List[Layers]:
    return [
        layers_of(mount, facts, policy) for mount in guessed_mounts(facts, policy) if matters(mount)
    ]


def _with_unlisted(facts: Facts, policy: Policy) -> List[Union[Layers, HostproofError]]:
    return [*mounts(facts, policy), *unlisted(facts, policy)]


def _path(layers: Layers) -> str:
    return layers.path


def say_guess(finding: Finding, layers: Layers) -> Finding:
    if not layers.judged.guessed or finding.status not in (WARN, FAIL):
        return finding
    return finding._replace(
        why=f"{finding.why} Checked as {layers.wanted.file_class} with sharing "
        f"{layers.wanted.sharing}, a guess from what is open on it."
    )


MOUNTS = Subjects(
    mounts,
    none=lambda facts, _policy: why_none(facts),
    name=_path,
    finish=say_guess,
    unknown=UNKNOWN_MOUNTS,
)
#: Also those that the policy does not list.
MOUNTS_AND_UNLISTED = MOUNTS.found_by(_with_unlisted)
#: Where the verdict does not rest on what is on a mount.
MOUNTS_OF_ANY_CLASS = Subjects(mounts, none=MOUNTS.none, name=_path, unknown=UNKNOWN_MOUNTS)
