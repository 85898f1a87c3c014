# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The distribution of a host as its os-release tells it, by the names of Oracle's books."""

import re
from typing import Dict, NamedTuple, Optional, Tuple

from ...errors import ParseError
from ..number import clipped

#: ID of os-release to the name in tables.
NAMES: Dict[str, str] = {"ol": "OL", "rhel": "RHEL", "sles": "SLES", "debian": "Debian"}
#: Rebuilds of RHEL. No book lists them.
REBUILDS: Tuple[str, ...] = ("centos", "rocky", "almalinux")
EL = ("OL", "RHEL")
#: IDs of os-release of RHEL and what is built from it.
EL_IDS = ("rhel", "ol", *REBUILDS)
#: The upstream version and the build: numbers up to the first field that is none.
_NUMBERS = re.compile(r"\d+(?:[.-]\d+)*")
_LONGEST = 20


class Distribution(NamedTuple):
    """``name`` is as in the tables, "" for one that they cannot name. ``text`` is for people.

    ``planned``: it is not installed yet.
    """

    name: str
    version: Tuple[int, ...]
    text: str
    rebuild: bool
    planned: bool = False


def of(variables: Dict[str, str]) -> Distribution:
    """From the variables of os-release; ParseError where a known one has no version."""
    identity, version = variables.get("ID", ""), variables.get("VERSION_ID", "")
    text = clean(variables.get("PRETTY_NAME") or f"{identity} {version}")
    rebuild = identity in REBUILDS
    name = "RHEL" if rebuild else NAMES.get(identity, "")
    if name in (*EL, "SLES") and not numbers(version):
        raise ParseError("os-release", "it has no version in VERSION_ID")
    return Distribution(name, numbers(version), text, rebuild)


def target(name: Optional[str], host: Distribution) -> Optional[Distribution]:
    """Such as "ol10"; None where that is the distribution of the host."""
    match = re.match(r"([a-z]+)([0-9]+)\Z", name or "")
    if match is None:
        return None
    system, version = NAMES[match.group(1)], numbers(match.group(2))
    if (host.name, host.version[:1], host.rebuild) == (system, version, False):
        return None
    return Distribution(system, version, f"{system} {match.group(2)}", False, planned=True)


def numbers(text: str) -> Tuple[int, ...]:
    """The leading numbers of a version: "5.15.0-1.43.el9uek" is (5, 15, 0, 1, 43)."""
    match = _NUMBERS.match(text)
    if match is None:
        return ()
    return tuple(clipped(part) for part in re.split("[.-]", match.group(0))[:_LONGEST])


def clean(text: str) -> str:
    """Text of the host, short and without control characters."""
    return "".join(character for character in text if character.isprintable())[:80].strip()
