# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the transfer sizes: what was asked for, and what the server granted."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...answer import Answer, attempt, if_known, known
from ...errors import HostproofError, Unanswered
from ...finding import FAIL, PASS, SKIP, WARN, Finding, found
from ...parsers import nfs_options
from ...parsers.nfs_options import LINUX
from ...parsers.size import human
from ...probes import nfs_persisted
from ...probes.nfs_mounted import Mounted
from .checks import TRANSFER_SIZE, TRANSFER_SIZE_LOWERED
from .facts import Facts
from .judge_mounted import source_parts
from .judge_options import SIZES, differences
from .judging import for_each_mount
from .layers import (
    Layers,
    contradictions,
    correct,
    persisted_words,
    running_words,
    seen_in,
    wished,
)
from .options_table import EXACTLY
from .policy import Policy

#: Oracle refuses files behind smaller requests (ORA-27054).
SMALLEST = 32768
#: The kernel rounds what it asks for down to whole pages.
_PAGE = 4096


def judge_transfer_size(mounts, facts, policy):
    # type: (List[Layers], Facts, Policy) -> List[Finding]
    servers = granted_by_server(facts)

    def judge_one(layers, facts, policy):
        # type: (Layers, Facts, Policy) -> Finding
        return _judge_size(layers, policy, servers)

    return for_each_mount(TRANSFER_SIZE, judge_one, mounts, facts, policy)


def _judge_size(layers, policy, servers):
    # type: (Layers, Policy, Servers) -> Finding
    if layers.running is None:
        return found(TRANSFER_SIZE, SKIP, why="Nothing is mounted here now.")
    wishes = {wish.name: wish for wish in layers.wishes if wish.name in SIZES}
    if layers.system != LINUX and not contradictions(wishes.values(), layers.running):
        return found(
            TRANSFER_SIZE,
            SKIP,
            why="mount of {0} shows what was asked for; what the server granted shows only: "
            "nfsstat -m {1}".format(layers.system, layers.path),
            desired=wished(wishes.values()),
            persisted=persisted_words(layers, SIZES),
            running=running_words(layers, SIZES) + " (asked)",
            evidence=layers.evidence(),
        )
    below = contradictions(wishes.values(), layers.running)
    asked = (if_known(layers.asked, None) if below else known(layers.asked)) or {}
    status, parts, server, older = PASS, [], False, False
    for name in SIZES:
        granted = _size(layers.running, name)
        if granted is None:
            raise Unanswered(
                seen_in(layers.system),
                "the kernel shows no {0} for {1}".format(name, layers.path),
            )
        wanted, requested = int(wishes[name].value), _size(asked, name)
        short = requested is not None and granted < requested - requested % _PAGE
        wrong = granted < wanted or (wishes[name].relation == EXACTLY and granted != wanted)
        if granted < SMALLEST or wrong:
            status = FAIL
        elif short and status == PASS:
            status = WARN
        older = older or (short and _is_older_than_asked(layers, asked, servers))
        server = server or (short and not older)
        if status != PASS and (granted < SMALLEST or wrong or short):
            parts.append(_sentence(name, granted, wanted, requested if short else None, older))
    if parts and any((_size(layers.running, name) or 0) < SMALLEST for name in SIZES):
        parts.append("Oracle refuses files behind less than 32 KiB (ORA-27054).")
    return found(
        TRANSFER_SIZE,
        status,
        why=" ".join(parts),
        fix=_raise_the_server(policy, layers) if server else correct(layers),
        desired=wished(wishes.values()),
        persisted=persisted_words(layers, SIZES),
        running=running_words(layers, SIZES),
        evidence=layers.evidence(),
    )


def _is_older_than_asked(layers, asked, servers):
    # type: (Layers, Dict[str, str], Servers) -> bool
    """Whether the mount was made before its sizes were asked for: they say nothing of the server.

    Then it differs in other settings too, or the server grants the sizes to a younger mount.
    """
    mounted, running = layers.judged.mounted, layers.running or {}
    if mounted is None or layers.sharing:
        # What it took over from the first mount of its superblock are that one's settings.
        return False
    written = if_known(layers.written, None) or {}
    if set(differences(written, asked, running, layers.system)).difference(SIZES):
        return True
    alike = servers[_server(mounted)]
    own = next(one for one in alike if one.path == layers.path)
    return own.age is not None and any(
        other.age is not None
        and other.age < own.age
        and all((other.sizes[name] or 0) >= (_size(asked, name) or 0) for name in SIZES)
        for other in alike
    )


def _size(settings, name):
    # type: (Dict[str, str], str) -> Optional[int]
    text = settings.get(name, "")
    return int(text) if text.isdecimal() else None


def _sentence(name, granted, wanted, requested, older):
    # type: (str, int, int, Optional[int], bool) -> str
    if requested is not None and older:
        return "{0}: mounted with {1}, before {2} was asked for.".format(
            name, human(granted), human(requested)
        )
    if requested is not None:
        return "{0}: {1} asked, the server grants {2}.".format(
            name, human(requested), human(granted)
        )
    return "{0}: mounted with {1}, wanted is {2}.".format(name, human(granted), human(wanted))


def _raise_the_server(policy, layers):
    # type: (Policy, Layers) -> str
    return (
        "raise the server's maximum (ONTAP: vserver nfs modify -tcp-max-xfer-size {0}; Linux: "
        "/proc/fs/nfsd/max_block_size while nfsd is stopped), then stop what uses {1} and: umount "
        "{1} && mount {1}; never lower it under a mount".format(policy.transfer_size, layers.path)
    )


# -- lowered under a mount ------------------------------------------------------------------------


class _Granted(NamedTuple):
    """What one mount has and asked for (None: the most that there is), and its age in seconds."""

    path: str
    superblock: Optional[str]
    sizes: Dict[str, Optional[int]]
    asked: Answer[Dict[str, Optional[int]]]
    age: Optional[int]


#: A server and a version of the protocol: each has its own limits.
Servers = Dict[Tuple[str, Optional[str]], List[_Granted]]


def judge_transfer_size_lowered(mounts, facts, policy):
    # type: (List[Layers], Facts, Policy) -> List[Finding]
    """Whether a younger mount of the server got less, which puts an older one in danger."""
    servers = granted_by_server(facts)

    def judge_one(layers, facts, policy):
        # type: (Layers, Facts, Policy) -> Finding
        return judge_lowered(layers, servers)

    return for_each_mount(TRANSFER_SIZE_LOWERED, judge_one, mounts, facts, policy)


def granted_by_server(facts):
    # type: (Facts) -> Servers
    """Every mount of the host; only Linux shows what was granted."""
    servers = {}  # type: Servers
    for mount in known(facts.mounted) if known(facts.system) == LINUX else ():
        servers.setdefault(_server(mount), []).append(_granted(mount, facts))
    return servers


def judge_lowered(layers, servers):
    # type: (Layers, Servers) -> Finding
    check = TRANSFER_SIZE_LOWERED
    if layers.judged.mounted is None:
        return found(check, SKIP, why="Nothing is mounted here now.")
    if layers.system != LINUX:
        return found(check, SKIP, why="Only Linux shows what a server granted.")
    alike = servers[_server(layers.judged.mounted)]
    own = next(one for one in alike if one.path == layers.path)
    others = [one for one in alike if one.superblock != own.superblock]
    if not others:
        return found(
            check,
            SKIP,
            why="No other mount of this server shows what it grants now.",
            evidence=layers.judged.mounted.evidence,
        )
    status, parts = PASS, []  # type: str, List[str]
    unknown = None  # type: Optional[HostproofError]
    for other in others:
        for name in SIZES:
            if (other.sizes[name] or 0) >= (own.sizes[name] or 0):
                continue
            if isinstance(other.asked, HostproofError):
                unknown = other.asked
            elif not _asked_for_as_much(own, other.asked, name):
                continue
            elif own.age is None or other.age is None:
                status = FAIL if status == FAIL else WARN
                parts.append(_less(own, other, name, "which of the two is older is not known"))
            elif other.age < own.age:
                status = FAIL
                parts.append(
                    _less(own, other, name, "it is {0} s younger".format(own.age - other.age))
                )
    if unknown is not None and status == PASS:
        raise unknown
    return found(
        check,
        status,
        why=" ".join(parts[:4] + [check.why]),
        fix="put the server's maximum back to {0} at once (ONTAP: vserver nfs modify "
        "-tcp-max-xfer-size), or stop what uses {1} and: umount {1} && mount {1}".format(
            max(own.sizes[name] or 0 for name in SIZES), layers.path
        ),
        desired="no younger mount of the server gets less",
        running=_in_words(own),
        in_use="; ".join("{0} {1}".format(one.path, _in_words(one)) for one in others[:4]),
        evidence=layers.evidence(),
    )


def _less(own, other, name, age):
    # type: (_Granted, _Granted, str, str) -> str
    return "{0} asked for as much {1} and got {2}, this one has {3}; {4}.".format(
        other.path, name, human(other.sizes[name] or 0), human(own.sizes[name] or 0), age
    )


def _in_words(granted):
    # type: (_Granted) -> str
    return ",".join("{0}={1}".format(name, granted.sizes[name]) for name in SIZES)


def _server(mount):
    # type: (Mounted) -> Tuple[str, Optional[str]]
    settings = nfs_options.parse(mount.options)
    return settings.get("addr") or source_parts(mount.source)[0], settings.get("vers")


def _granted(mount, facts):
    # type: (Mounted, Facts) -> _Granted
    settings = nfs_options.parse(mount.options)
    traffic = if_known(facts.traffic, None)
    counted = traffic.mounts.get(mount.path) if traffic else None
    return _Granted(
        path=mount.path,
        superblock=mount.superblock,
        sizes={name: _size(settings, name) for name in SIZES},
        asked=attempt(_asked_sizes, mount, facts),
        age=counted.age if counted else None,
    )


def _asked_sizes(mount, facts):
    # type: (Mounted, Facts) -> Dict[str, Optional[int]]
    asked = {}  # type: Dict[str, str]
    for entry in nfs_persisted.of_path(facts.persisted, mount.path)[:1]:
        asked = nfs_options.effective(nfs_persisted.asked(facts.persisted, entry), LINUX)
    return {name: _size(asked, name) for name in SIZES}


def _asked_for_as_much(own, asked, name):
    # type: (_Granted, Dict[str, Optional[int]], str) -> bool
    size = asked[name]
    return size is None or size >= (own.sizes[name] or 0)
