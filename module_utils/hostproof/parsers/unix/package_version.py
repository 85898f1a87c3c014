# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions of packages, compared as rpm compares them (rpmvercmp in rpm-version(7))."""

import re
from typing import List, Optional, Tuple

_NO_EPOCH = "(none):"


def compare(first: str, other: str) -> int:
    """-1, 0 or 1: the versions, and where they are equal the releases behind the hyphen.

    Every release of a version meets an ``other`` that names none ("2.17"). Epochs ("1:2.17") are
    compared first where both have one: old recordings of rpm have none."""
    (epoch, first), (other_epoch, other) = _epoch(first), _epoch(other)
    if epoch is not None and other_epoch is not None and epoch != other_epoch:
        return 1 if epoch > other_epoch else -1
    version, _hyphen, release = first.partition("-")
    required, hyphen, wanted_release = other.partition("-")
    order = _compare(_parts(version), _parts(required))
    return order if order or not hyphen else _compare(_parts(release), _parts(wanted_release))


def is_same(first: str, other: str) -> bool:
    """Whether it is the same version and release, with its epoch where both have one."""
    (epoch, first), (other_epoch, other) = _epoch(first), _epoch(other)
    return first == other and (None in (epoch, other_epoch) or epoch == other_epoch)


def _epoch(version: str) -> Tuple[Optional[int], str]:
    """The epoch, None where the version has none, and the rest. rpm prints "(none)" for 0."""
    if version.startswith(_NO_EPOCH):
        return 0, version[len(_NO_EPOCH) :]
    epoch, colon, rest = version.partition(":")
    if colon and re.match(r"[0-9]{1,10}\Z", epoch):
        return int(epoch), rest
    return None, version


def _parts(version: str) -> List[str]:
    return re.findall(r"[0-9]+|[A-Za-z]+|[~^]", version)


def _compare(mine: List[str], theirs: List[str]) -> int:
    """A number is newer than a word, a tilde is older than the end, a caret only than another
    part, and more parts are newer than fewer."""
    for left, right in zip(mine, theirs):
        if left.isdigit() and right.isdigit():
            left, right = left.lstrip("0"), right.lstrip("0")
            left, right = left.zfill(len(right)), right.zfill(len(left))
        if left == right:
            continue
        for mark in "~^":
            if mark in (left, right):
                return -1 if left == mark else 1
        if left.isdigit() != right.isdigit():
            return 1 if left.isdigit() else -1
        return 1 if left > right else -1
    rest, missing = mine[len(theirs) :], theirs[len(mine) :]
    if "~" in (rest[:1] + missing[:1]):
        return -1 if rest else 1
    return bool(rest) - bool(missing)
