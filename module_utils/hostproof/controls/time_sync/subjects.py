# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts are checked, and what the rules and the plan of time_sync share."""

from typing import List, Optional, Tuple

from ...collect.answer import if_known, known
from ...errors import Absent
from ...evaluate.checking import Skip
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.oracle import releases
from .facts import Chrony, Facts
from .parsers import chrony_conf
from .policy import Policy

#: The section that each release has.
BOOK = (
    "Oracle Grid Infrastructure Installation and Upgrade Guide for Linux, Setting Network Time "
    "Protocol for Cluster Time Synchronization"
)


def applies(facts: Facts, policy: Policy) -> None:
    """Raise Skip where no clock has to be ready for anything, or what is unknown."""
    if isinstance(facts.kernel, Absent):
        raise Skip("Not a Linux host.")
    if policy.profile is None and not is_node(facts, policy) and not facts.software.is_there():
        raise Skip("No Oracle software was found on this host, and no profile announces any.")


def is_node(facts: Facts, policy: Policy) -> bool:
    """Whether the host is, or must be, a node of a cluster."""
    return (policy.profile is not None and policy.profile.cluster) or bool(known(facts.cluster))


#: Releases of Clusterware that deprecate CTSS, and those that no longer support it (Oracle Database
#: Upgrade Guide 19c, Deprecated Features; 26ai, Desupported Features).
_DEPRECATED, _DESUPPORTED = 19, 23


def ctss_alone(facts: Facts, policy: Policy) -> Tuple[str, str]:
    """(status, sentence) where only CTSS keeps the clocks alike: by the newest release that is
    announced or installed."""
    versions = [
        one for one in if_known(facts.software.homes, {}).values() if isinstance(one, tuple)
    ]
    if policy.profile is not None and policy.profile.release:
        versions.append(policy.profile.release)
    if not versions:
        return WARN, (
            "Clusterware deprecates CTSS from 19c and does not support it from 23ai; its release "
            "is not known."
        )
    newest = max(versions)
    name = releases.name_of(newest)
    if newest[0] >= _DESUPPORTED:
        return FAIL, f"CTSS is desupported in {name}."
    if newest[0] >= _DEPRECATED:
        return WARN, f"CTSS is deprecated in {name}."
    return PASS, f"Clusterware {name} supports that."


def steps(chrony: Chrony) -> List[chrony_conf.MakeStep]:
    """Every makestep, in order: the last one counts."""
    return [
        chrony_conf.makestep(directive)
        for directive in chrony.directives()
        if directive.name == "makestep"
    ]


def other_steps(chrony: Chrony, updates: int) -> List[str]:
    """The directives other than makestep by which chronyd steps the clock more than policy allows.

    initstepslew steps at the start only; the last leapsecmode counts (chrony.conf(5)).
    """
    directives = chrony.directives()
    others = [
        directive for directive in directives if directive.name == "initstepslew" and updates == 0
    ]
    modes = [directive for directive in directives if directive.name == "leapsecmode"]
    others += [
        directive
        for directive in modes[-1:]
        if [word.lower() for word in directive.words] == ["step"]
    ]
    return [
        f"{directive.place} ({' '.join((directive.name, *directive.words[:1]))})"
        for directive in others
    ]


def is_too_long(step: Optional[chrony_conf.MakeStep], updates: int) -> bool:
    """Whether chronyd steps for longer than it may; without a makestep it never does."""
    return step is not None and (step.updates < 0 or step.updates > updates)
