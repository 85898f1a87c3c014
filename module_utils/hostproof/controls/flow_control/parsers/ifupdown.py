# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/etc/network/interfaces of Debian's ifupdown: PAUSE, and interfaces that are set up at boot.

The file can contain passwords: read only the lines that match LINES. Sources: interfaces(5);
Debian's package ethtool, README.Debian and /etc/network/if-up.d/ethtool, which sets PAUSE."""

from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of

_WHAT = "interfaces"
#: Pattern for grep -E.
LINES = (
    r"^[[:space:]]*(iface|auto|allow-[a-z]+|mapping|source|source-directory|"
    r"[Ee][Tt][Hh][Ee][Rr][Nn][Ee][Tt][-_][Pp][Aa][Uu][Ss][Ee][-_][A-Za-z]+)([[:space:]]|$)"
)
_PAUSE = "ethernet-pause-"
_FLAGS = {"on": True, "off": False}
_BROUGHT_UP = ("auto", "allow-auto", "allow-hotplug")
#: Words that end the stanza before them.
_STARTS = ("iface", "mapping", "source", "source-directory", *_BROUGHT_UP)
#: The values of a stanza under the names of its options.
_Pause = Dict[str, Optional[bool]]


class Stanza(NamedTuple):
    """PAUSE settings of one stanza; None if the stanza does not set the value."""

    interface: str
    autoneg: Optional[bool]
    rx: Optional[bool]
    tx: Optional[bool]


class Interfaces(NamedTuple):
    """Contents of a file. ``at_boot`` are interface names or patterns, ``sources`` are included
    files or patterns, and the last field are included directories."""

    stanzas: List[Stanza]
    at_boot: List[str]
    sources: List[str]
    folders: List[str]


def parse(text: str) -> Interfaces:
    """Parse one file. ParseError if PAUSE is neither on nor off, or is outside of a stanza."""
    stanzas: List[Tuple[str, _Pause]] = []
    at_boot: List[str] = []
    sources: List[str] = []
    folders: List[str] = []
    named = dict.fromkeys(_BROUGHT_UP, at_boot)
    named.update({"source": sources, "source-directory": folders})
    now: Optional[_Pause] = None
    for number, line, words in _lines(text):
        option = words[0].lower().replace("_", "-")
        if option.startswith(_PAUSE):
            what = option[len(_PAUSE) :]
            if now is None or what not in now or len(words) != 2 or words[1] not in _FLAGS:
                raise ParseError(_WHAT, f"no PAUSE setting: {kind_of(line.strip())}", number)
            now[what] = _FLAGS[words[1]]
        elif words[0] in _STARTS:
            now = None
        if words[0] == "iface" and len(words) > 1:
            now = {"autoneg": None, "rx": None, "tx": None}
            stanzas.append((words[1], now))
        elif words[0] in named:
            named[words[0]].extend(words[1:])
    return Interfaces([Stanza(name, **pause) for name, pause in stanzas], at_boot, sources, folders)


def _lines(text: str) -> Iterator[Tuple[int, str, List[str]]]:
    """(number, line, words) of the lines that are neither empty nor a comment."""
    for number, line in enumerate(text.split("\n"), 1):
        words = line.rstrip("\\").split()
        if words and not words[0].startswith("#"):
            yield number, line, words
