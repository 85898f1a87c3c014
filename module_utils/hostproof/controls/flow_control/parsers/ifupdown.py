# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/etc/network/interfaces of Debian's ifupdown: PAUSE, and interfaces that are set up at boot.

The file can contain passwords: read only the lines that match LINES. Sources: interfaces(5);
Debian's package ethtool, README.Debian and /etc/network/if-up.d/ethtool, which sets PAUSE."""

from typing import Dict, List, NamedTuple, Optional

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
    stanzas: List[Stanza] = []
    at_boot: List[str] = []
    sources: List[str] = []
    folders: List[str] = []
    now: Optional[Dict[str, Optional[bool]]] = None
    name = ""

    def close() -> None:
        if now is not None:
            stanzas.append(Stanza(name, now["autoneg"], now["rx"], now["tx"]))

    for number, line in enumerate(text.split("\n"), 1):
        words = line.rstrip("\\").split()
        if not words or words[0].startswith("#"):
            continue
        option = words[0].lower().replace("_", "-")
        if option.startswith(_PAUSE):
            what = option[len(_PAUSE) :]
            if now is None or what not in now or len(words) != 2 or words[1] not in _FLAGS:
                raise ParseError(_WHAT, f"no PAUSE setting: {kind_of(line.strip())}", number)
            now[what] = _FLAGS[words[1]]
            continue
        if words[0] in ("iface", "mapping") or words[0] in _BROUGHT_UP or words[0] == "source":
            close()
            now = None
        if words[0] == "iface" and len(words) > 1:
            name, now = words[1], {"autoneg": None, "rx": None, "tx": None}
        elif words[0] in _BROUGHT_UP:
            at_boot += words[1:]
        elif words[0] == "source":
            sources += words[1:]
        elif words[0] == "source-directory":
            close()
            now = None
            folders += words[1:]
    close()
    return Interfaces(stanzas, at_boot, sources, folders)
