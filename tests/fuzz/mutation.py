"""Changes to text and to JSON that keep enough of their structure to get past the first check."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

#: What a number may become: the ends of the kernel's types, and what no type holds.
NUMBERS = [
    "0",
    "-1",
    "1",
    "00",
    "08",
    "0x1f",
    "2147483648",
    "4294967295",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "9" * 40,
    "9" * 400,
    "9" * 5000,
    "1e999",
    "1e5",
    "nan",
    "inf",
    "1.5",
    ".",
    "1.",
    "1,000",
    "+7",
    "1_0",
    "\u0663",
    "\u00b2",
    "",
]
PIECES = [
    *("\n", "\r", " ", "\t", "\0", "\f", "\x0b", "\x1b[2J", "\x85", "\u2028", "\ufeff", "=", ":"),
    *("-", "+", "/", ",", ";", "|", "#", "*", "%", "%n", "{0}", "$(x)", "(", ")", "[", "]", "{"),
    *("}", '"', "'", "\\", "\\\n", "\\x4", "\\777", "\udcff", "\u00e9", "unlimited", "none"),
    "True",
]
#: What a leaf of JSON may become.
LEAVES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**40,
    "",
    "x",
    "9" * 5000,
    [],
    {},
    [[]],
    {"": 0},
]

_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(r"[^\s=:,;|()\[\]{}\"]+")
#: How often a piece is put one behind the other: enough for a pattern that is cubic to be seen.
_RUN = 3000


def mutated(text: str, chance: random.Random) -> str:
    """The text with one to four changes."""
    for _ in range(chance.choice((1, 1, 2, 2, 3, 4))):
        text = chance.choice(_CHANGES)(text, chance)
    return text


def _number(text: str, chance: random.Random) -> str:
    return _replaced(_NUMBER, text, chance.choice(NUMBERS), chance)


def _word(text: str, chance: random.Random) -> str:
    """A word becomes another of the same text, or a piece."""
    other = _picked(_WORD, text, chance)
    word = other.group() if other and chance.random() < 0.7 else chance.choice(PIECES)
    return _replaced(_WORD, text, word, chance)


def _replaced(pattern: re.Pattern[str], text: str, by: str, chance: random.Random) -> str:
    match = _picked(pattern, text, chance)
    return text if match is None else text[: match.start()] + by + text[match.end() :]


def _picked(pattern: re.Pattern[str], text: str, chance: random.Random) -> re.Match[str] | None:
    """One that begins behind some place; all of a long text would take too long to find."""
    at = chance.randint(0, len(text))
    return pattern.search(text, at) or pattern.search(text)


def _line(text: str, chance: random.Random) -> str:
    """A line goes, comes twice, trades places, ends early, or many come one behind the other."""
    lines = text.split("\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    way = chance.randrange(7)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(other, lines[at])
    elif way == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif way == 3:
        lines[at] = lines[at][: chance.randint(0, len(lines[at]))]
    elif way == 4:
        words = lines[at].split(" ")
        del words[chance.randrange(len(words)) :]
        lines[at] = " ".join(words)
    elif way == 5:
        lines[at] = lines[at] + " " + lines[other]
    else:
        lines[at:at] = [lines[other]] * chance.choice((2, 30))
    return "\n".join(lines)


def _piece(text: str, chance: random.Random) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(PIECES) + text[at:]


def _stretch(text: str, chance: random.Random) -> str:
    """A stretch goes, comes twice, or the text ends there."""
    at = chance.randint(0, len(text))
    to = min(len(text), at + chance.choice((1, 5, 20, 200)))
    return chance.choice((text[:at], text[:at] + text[to:], text[:to] + text[at:], text[at:]))


def _long(text: str, chance: random.Random) -> str:
    """A very long run of one piece, or of one of the text's own words."""
    if chance.random() < 0.9:
        return _piece(text, chance)
    word = _picked(_WORD, text, chance)
    own = word.group() + chance.choice((" ", ":", "=", "")) if word else "a"
    piece = chance.choice((chance.choice(PIECES), own[:20], chance.choice(" \t1aA-.:(")))
    at = chance.randint(0, len(text))
    return text[:at] + piece * (_RUN // max(1, len(piece))) + text[at:]


def _json(text: str, chance: random.Random) -> str:
    """As JSON, where it is some."""
    if text.lstrip()[:1] not in ("{", "["):
        return _number(text, chance)
    try:
        return json.dumps(changed_tree(json.loads(text), chance))
    except (ValueError, RecursionError):
        return _word(text, chance)


def changed_tree(tree: Any, chance: random.Random) -> Any:
    """A copy with one leaf, key or branch changed."""
    if isinstance(tree, dict) and tree and chance.random() < 0.9:
        key = chance.choice(sorted(tree))
        left = {name: value for name, value in tree.items() if name != key}
        way = chance.random()
        if way < 0.1:
            return left
        return {
            **left,
            (chance.choice(PIECES) if way < 0.15 else key): changed_tree(tree[key], chance),
        }
    if isinstance(tree, list) and tree and chance.random() < 0.9:
        at = chance.randrange(len(tree))
        way = chance.random()
        if way < 0.15:
            return tree[:at] + tree[at + 1 :]
        if way < 0.25:
            return tree + [tree[at]]
        return tree[:at] + [changed_tree(tree[at], chance)] + tree[at + 1 :]
    if isinstance(tree, str) and tree and chance.random() < 0.6:
        return mutated(tree, chance)
    return chance.choice(LEAVES)


_CHANGES: list[Callable[[str, random.Random], str]] = [
    _number,
    _number,
    _word,
    _word,
    _line,
    _line,
    _piece,
    _stretch,
    _long,
    _json,
]
