# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns of names, as glob(7) has them: *, ?, [abc], [a-z], [!abc] or [^abc].

Files of a host hold such patterns, of any length. The module fnmatch makes regular expressions of
them, which before Python 3.9 take time without end, and [ without ] is searched for from each [ on.
This takes time in proportion to the pattern, times the name, which is short."""

import re
from functools import lru_cache
from typing import FrozenSet, List, NamedTuple, Optional, Tuple


class _Set(NamedTuple):
    negated: bool
    characters: FrozenSet[str]
    ranges: Tuple[Tuple[str, str], ...]


_WILD = re.compile(r"[*?\[]")
#: Pieces of a pattern that match any number of characters, and one character.
_MANY, _ONE = None, ""


def fits(name: str, pattern: str) -> bool:
    """Whether the whole name is one of the pattern; case counts."""
    if not _WILD.search(pattern):
        return name == pattern
    pieces = _pieces(pattern)
    at = place = 0
    after_star: Optional[int] = None
    tried = 0
    while at < len(name):
        piece = pieces[place] if place < len(pieces) else "end"
        if piece is _MANY:
            place += 1
            after_star, tried = place, at
        elif _is_one_of(name[at], piece):
            at, place = at + 1, place + 1
        elif after_star is None:
            return False
        else:
            # The last * takes one character more; what the others took can stay.
            tried += 1
            at, place = tried, after_star
    return all(piece is _MANY for piece in pieces[place:])


def _is_one_of(character: str, piece: object) -> bool:
    if isinstance(piece, _Set):
        is_member = character in piece.characters or any(
            low <= character <= high for low, high in piece.ranges
        )
        return is_member != piece.negated
    return bool(piece in (_ONE, character))


@lru_cache(maxsize=256)
def _pieces(pattern: str) -> List[object]:
    pieces: List[object] = []
    at, last = 0, pattern.rfind("]")
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "*":
            # Several stars in a row mean the same as one.
            pieces += [] if pieces[-1:] == [_MANY] else [_MANY]
        elif character == "?":
            pieces.append(_ONE)
        elif character == "[" and at < last:
            begin = at + (pattern[at] in "!^")
            end = pattern.find("]", begin + 1)
            if end < 0:
                pieces.append(character)
                continue
            pieces.append(_set(pattern[begin:end], begin > at))
            at = end + 1
        else:
            pieces.append(character)
    return pieces


def _set(body: str, negated: bool) -> _Set:
    characters, ranges = set(), []
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            ranges.append((body[at], body[at + 2]))
            at += 3
        else:
            characters.add(body[at])
            at += 1
    return _Set(negated, frozenset(characters), tuple(ranges))
