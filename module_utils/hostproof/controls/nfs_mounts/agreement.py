# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the layers of a mount agree with what is required of it, and with one another."""

from typing import Dict, Iterable, List, Optional, Tuple

from ...collect.answer import if_known
from ...parsers.nfs import nfs_options
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.number import clipped
from . import options_table
from .mount_layers import Layers, because, persisted_words, required, running_words
from .options_table import CACHING, LOCKS, NOT, POLICY, Requirement

TRANSPORT = ("recovery", "proto")
SIZES = ("rsize", "wsize")
#: Options that the kernel shows but that need more than a comparison, or belong to another check.
_NOT_COMPARED = frozenset(
    SIZES + ("vers", "sec", "nconnect", "max_connect", "port", "softreval", "write", "xprtsec")
)


def contradictions(
    requirements: Iterable[Requirement], settings: Optional[Dict[str, str]]
) -> List[Requirement]:
    """The requirements that settings do not fulfil; none where there are no settings."""
    if settings is None:
        return []
    return [
        requirement
        for requirement in requirements
        if not options_table.is_fulfilled(requirement, settings)
    ]


def names_of(requirements: Iterable[Requirement]) -> List[str]:
    return [requirement.name for requirement in requirements]


def is_of_other_options(requirement: Requirement, layers: Layers) -> bool:
    """Whether a requirement is checked among the options, and not by a separate check."""
    if requirement.name in TRANSPORT + SIZES:
        return False
    if requirement.name in LOCKS:
        # Where hosts share files locks are checked apart, where not only what the policy names.
        return requirement.source == POLICY and not options_table.is_shared(layers.wanted)
    return not (requirement.relation == NOT and requirement.name in CACHING)


def wrong_of(
    requirements: List[Requirement], layers: Layers
) -> Tuple[List[Requirement], List[Requirement]]:
    """The requirements that the kernel and the next reboot are known to contradict."""
    requested = if_known(layers.requested, None)
    return contradictions(requirements, layers.running), contradictions(requirements, requested)


def disagreement(requirements: List[Requirement], layers: Layers) -> Optional[str]:
    """Contradictions of the requirements, by layer; None if there are none."""
    running, requested = wrong_of(requirements, layers)
    parts = []
    if running:
        parts.append("mounted with " + running_words(layers, names_of(running)))
    if requested:
        parts.append("persisted as " + persisted_words(layers, names_of(requested)))
    if not parts:
        return None
    both = running + [requirement for requirement in requested if requirement not in running]
    return "{0}; wanted is {1} ({2}).".format("; ".join(parts), required(both), because(both))


def running_or(desired: str, requirements: List[Requirement], layers: Layers) -> str:
    """The running layer; where it fulfils the requirements it is what is desired, word for word.

    So a reader sees at once which of the layers differs.
    """
    if layers.running is not None and not contradictions(requirements, layers.running):
        return desired
    return running_words(layers, names_of(requirements))


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def when_it_changes(layers: Layers) -> str:
    if not layers.sharing:
        return "The next mount changes it."
    return "It stays so as long as one of {0} is mounted, whose superblock it shares.".format(
        ", ".join(layers.sharing)
    )


def differences(
    requested: Dict[str, str], persisted: Dict[str, str], running: Dict[str, str], system: str
) -> List[str]:
    """The settings in which a mount is not what was requested, as far as they can be compared.

    ``requested`` is what is written, ``persisted`` what it means. Sizes that a server did not grant
    are for rules_sizes.py; a size that is larger than asked is an older mount.
    """
    names = [
        name
        for name in sorted(nfs_options.GRANTED - _NOT_COMPARED)
        if name in persisted and name in running and persisted[name] != running[name]
    ]
    if system != LINUX:
        names = [name for name in names if name in requested]
    if "sec" in persisted and "sec" in requested and running.get("sec") != persisted["sec"]:
        names.append("sec")
    if _is_other_version(running.get("vers"), requested.get("vers")):
        names.append("vers")
    names += [name for name in SIZES if _is_larger(running.get(name, ""), persisted.get(name, ""))]
    return names


def _is_other_version(granted: Optional[str], requested: Optional[str]) -> bool:
    """Whether both versions are stated and differ. A request for 4 also permits 4.1."""
    return bool(granted and requested) and not f"{granted}.".startswith(f"{requested}.")


def _is_larger(granted: str, requested: str) -> bool:
    are_numbers = granted.isdecimal() and requested.isdecimal()
    return are_numbers and clipped(granted) > clipped(requested)
