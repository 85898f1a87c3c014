# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What loads packet filter rules at boot: units of packages, and commands in scripts.

Sources: systemctl(1), UnitFileState; the unit files of these packages; ufw-framework(8).
"""

import re
from typing import Dict, List, NamedTuple, Tuple

from ....collect.answer import Answer, attempt, known, unless_newer
from ....collect.host import FoundLines, Host
from ....errors import Denied, NotRecorded, Unanswered
from ....parsers.kept_lines import LEFT_OUT
from ....probes.systemd import boot_scripts

#: Units whose rules are read.
UNITS = ("firewalld", "nftables", "iptables", "netfilter-persistent", "ufw")
#: Units with another format of rules, which is not read.
_OTHERS = (
    *("SuSEfirewall2", "SuSEfirewall2_init", "shorewall", "shorewall-lite", "ferm", "csf", "apf"),
    *("arno-iptables-firewall", "firehol", "fwbuilder"),
)
_PROPERTIES = ("Id", "UnitFileState", "ActiveState", "WantedBy")
SHOW = [
    "systemctl",
    "show",
    *(word for name in _PROPERTIES for word in ("-p", name)),
    *(f"{unit}.service" for unit in (*UNITS, *_OTHERS)),
]
#: As recordings of earlier releases have it.
FORMER_SHOW = [
    *("systemctl", "show", "-p", "Id", "-p", "UnitFileState"),
    *(f"{unit}.service" for unit in UNITS[:4]),
]
#: Commands that change rules. ExecStop of a unit acts at its end.
_CHANGES = (
    r"^(?!\s*Exec(?:Stop|Reload))[^#\n]*(?<![\w.-])"
    r"(?:iptables(?:-legacy|-nft)?(?:-restore)?(?![\w.-])|nft\s+(?:-[abdefijnosty]+\s+|-I\s+\S+\s+|--(?!check)[a-z]+\s+)*"
    r"(?:-[a-z]*f|--file|add|create|insert|replace|flush))"
)
_LISTS = re.compile(r"iptables[\w.-]{0,20}\s+(?:-[nvxtw]\w*\s+)*(?:-[LSV]|--list|--version)")
LINES_KEY = "lines:packet_filters"


class Loaders(NamedTuple):
    """``at_boot`` are the units that load rules after reboot, ``active`` those that did it.

    ``scripts`` are the lines that change rules at boot. ``is_complete`` is False for a recording of
    an earlier release, which has fewer units and no scripts.
    """

    at_boot: Tuple[str, ...]
    active: Tuple[str, ...]
    scripts: Answer[Tuple[str, ...]]
    is_complete: bool

    @property
    def others(self) -> List[str]:
        return [name for name in self.at_boot if name not in UNITS]


def read(host: Host) -> Loaders:
    answer = attempt(_show, host, SHOW)
    is_complete = not isinstance(answer, NotRecorded)
    rows = known(answer) if is_complete else _show(host, FORMER_SHOW)
    names = [row.get("Id", "").rpartition(".service")[0] for row in rows]
    units = {name: row for name, row in zip(names, rows) if name in (*UNITS, *_OTHERS)}
    return Loaders(
        tuple(name for name, row in units.items() if _is_loaded(row)),
        tuple(name for name, row in units.items() if row.get("ActiveState") == "active"),
        attempt(_read_scripts, host),
        is_complete,
    )


def _show(host: Host, argv: List[str]) -> List[Dict[str, str]]:
    output = host.run(argv)
    if output.rc != 0:
        raise Unanswered(
            "command:" + " ".join(argv),
            f"systemctl show ended with {output.rc}: {output.stderr.strip()[:200]}",
        )
    return [
        dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        for block in output.stdout.split("\n\n")
    ]


def _is_loaded(row: Dict[str, str]) -> bool:
    """A unit of a script in /etc/init.d is "generated", with a target that wants it."""
    state = row.get("UnitFileState")
    return state == "enabled" or (
        state in ("generated", "static", "alias", "indirect") and bool(row.get("WantedBy"))
    )


def _read_scripts(host: Host) -> Tuple[str, ...]:
    search = attempt(
        host.find_lines, "packet_filters", boot_scripts.PLACES, _CHANGES, True, _needed
    )
    found = unless_newer(search, FoundLines({}, {}, []))
    places = []
    for path in sorted(found.lines):
        origin = found.callers.get(path, path)
        lines = [number for number, text in found.lines[path] if _needed(path, text)]
        name = origin.rpartition("/")[2].rpartition(".service")[0]
        is_known = name in (*UNITS, *_OTHERS) or re.search(_SCRIPTS, origin)
        if lines and not is_known and boot_scripts.runs_at_boot(host, origin) is not False:
            places += [f"{path}:{number}" for number in lines]
    if found.unread and not places:
        path = sorted(found.unread)[0]
        raise Denied("file:" + path, f"{path} may not be read: it could load packet filter rules")
    return tuple(places)


#: Scripts and drop-ins of the units above.
_SCRIPTS = "/(?:S\\d+)?(?:{0})(?:\\.service\\.d/.*)?$".format("|".join((*UNITS, *_OTHERS)))


def _needed(_path: str, line: str) -> str:
    """The words can hold addresses and names, and decide nothing."""
    return LEFT_OUT if line and not _LISTS.search(line) else ""
