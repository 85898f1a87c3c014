# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/etc/network/interfaces of Debian's ifupdown: PAUSE, and which interfaces a reboot brings up.

The file can hold passwords: only the lines of LINES must be read of it. Sources: interfaces(5);
Debian's package ethtool, README.Debian and /etc/network/if-up.d/ethtool, which sets it."""

from typing import Dict, List, NamedTuple, Optional

from ....errors import ParseError, kind_of

_WHAT = "interfaces"
#: What grep -E takes of a file.
LINES = (
    r"^[[:space:]]*(iface|auto|allow-[a-z]+|mapping|source|source-directory|"
    r"[Ee][Tt][Hh][Ee][Rr][Nn][Ee][Tt][-_][Pp][Aa][Uu][Ss][Ee][-_][A-Za-z]+)([[:space:]]|$)"
)
_PAUSE = "ethernet-pause-"
_FLAGS = {"on": True, "off": False}
_BROUGHT_UP = ("auto", "allow-auto", "allow-hotplug")


class Stanza(NamedTuple):
    """What one stanza sets of an interface; None is what it leaves."""

    interface: str
    autoneg: Optional[bool]
    rx: Optional[bool]
    tx: Optional[bool]


class Interfaces(NamedTuple):
    """``at_boot`` are names, which may be patterns; ``sources`` and ``folders`` are files (may be
    patterns) and directories that are read as if they was here."""

    stanzas: List[Stanza]
    at_boot: List[str]
    sources: List[str]
    folders: List[str]


def parse(text: str) -> Interfaces:
    """One file. ParseError for a PAUSE that is neither on nor off, or belongs to no interface."""
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
