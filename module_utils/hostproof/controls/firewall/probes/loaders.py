# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What loads packet filter rules at boot: units of packages, and commands in scripts.

Sources: systemctl(1), UnitFileState; the unit files of these packages; ufw-framework(8).
"""

import re
from typing import Dict, List, NamedTuple, Tuple

from ....collect.answer import Answer, attempt, known, unless_newer
from ....collect.host import FoundLines, Host
from ....errors import Denied, NotRecorded
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
_NAMES = "|".join(re.escape(name) for name in (*UNITS, *_OTHERS))
#: Commands that change rules. "ufw reload" and "firewall-cmd --reload" load files of services.
_COMMANDS = (
    r"iptables(?:-legacy|-nft)?(?:-restore|-apply)?(?![\w./-])",
    r"nft\s+(?:-[abdefijnosty]+\s+|-I\s+\S+\s+|--(?!check)[a-z]+\s+){0,9}[\"']?"
    r"(?:-[a-z]*[fi](?!\w)|--file|--interactive|add|create|insert|replace|flush|delete|destroy)",
    r"\w+=[\"']?(?:[\w/.-]*/|\$\((?:which|command -v)\s+)?(?:nft|ufw|firewall-cmd)[\"')]*\s*$",
    r"ufw(?:-init)?\s+(?:--?\w[\w-]*\s+){0,9}"
    r"(?:enable|disable|start|stop|restart|reset|default|allow|deny|reject|limit|route|insert"
    r"|prepend|delete)(?!\w)",
    r"firewall-(?:offline-)?cmd\s.{0,200}--(?:add|remove|set|change|new|delete|direct|panic-on"
    r"|passthrough|load|lockdown-on|policy-set|disabled|runtime-to-permanent|reset)",
    r"(?:csf|apf)\s+-[a-gi-km-uw-z]|ferm\s+(?:-\w+\s+){0,9}/",
)
#: A unit, or a command with its name, that a script starts or stops.
_STARTED = re.compile(
    r"systemctl\s+(?:-\S+\s+){0,9}(?P<verb>[a-z-]+)\s+(?:\S+\s+){0,9}?"
    rf"(?P<unit>{_NAMES})(?:\.service)?(?![\w.-])"
    rf"|(?<![\w.-])(?:rc(?=SuSE))?(?P<name>{_NAMES})\s+(?P<action>[a-z-]+)(?![\w.-])"
)
#: ExecStop of a unit acts at its end. A # within a word begins no comment.
_CHANGES = (
    r"^(?:#!\s*(?:\S{0,100}/)?(?:nft\s+-\w*f|iptables-restore)"
    r"|(?!\s*(?:Exec(?:Stop|Reload)|Description|Documentation|-\s+[\w.-]+\s*$))"
    rf"(?:[^#\n]|(?<=\S)#)*(?:(?<![\w.-])(?:{'|'.join(_COMMANDS)})"
    rf"|{re.sub('[?]P<[a-z]+>', '?:', _STARTED.pattern)}))"
)
#: Commands of iptables that list rules, or are for packets that the host does not receive itself.
_HARMLESS = re.compile(
    r"iptables(?:-legacy|-nft)?\s+(?:-[nvxw]\w*\s+|-t\s*(?!nat)\w+\s+){0,9}"
    r"(?:-[LSV]|--list|--version|-t\s*nat(?!\w)|-[AIDP]\s+FORWARD(?!\w))"
)
#: After these a unit that boots has the rules of its files.
_LOADS = ("start", "restart", "try-restart", "reload", "reload-or-restart", "condrestart", "enable")
_OTHER_VERBS = ("stop", "disable", "mask", "kill", "flush", "clear", "safe-start", "safe-restart")
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
    at_boot = tuple(name for name, row in units.items() if _is_loaded(row))
    return Loaders(
        at_boot,
        tuple(name for name, row in units.items() if row.get("ActiveState") == "active"),
        attempt(_read_scripts, host, at_boot),
        is_complete,
    )


def _show(host: Host, argv: List[str]) -> List[Dict[str, str]]:
    output = host.read_output(argv)
    return [
        dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        for block in output.split("\n\n")
    ]


def _is_loaded(row: Dict[str, str]) -> bool:
    """A unit of a script in /etc/init.d is "generated", with a target that wants it."""
    state = row.get("UnitFileState")
    return state == "enabled" or (
        state in ("generated", "static", "alias", "indirect") and bool(row.get("WantedBy"))
    )


def _read_scripts(host: Host, at_boot: Tuple[str, ...]) -> Tuple[str, ...]:
    search = attempt(
        host.find_lines, "packet_filters", boot_scripts.PLACES, _CHANGES, True, _needed
    )
    found = unless_newer(search, FoundLines({}, {}, []))
    places = []
    for path in sorted(found.lines):
        origin = found.callers.get(path, path)
        lines = [
            number
            for number, text in found.lines[path]
            if _needed(path, text) not in ("", *at_boot)
        ]
        is_known = _OF_PACKAGES.match(origin) is not None
        if lines and not is_known and boot_scripts.runs_at_boot(host, origin) is not False:
            places += [f"{path}:{number}" for number in lines]
    if found.unread and not places:
        path = sorted(found.unread)[0]
        raise Denied("file:" + path, f"{path} may not be read: it could load packet filter rules")
    return tuple(places)


#: The units above as packages have them, and those for IPv6.
_OF_PACKAGES = re.compile(
    rf"(?:/usr)?/lib/systemd/system/(?:{_NAMES}|ip6tables)\.service\Z"
    rf"|/etc/.*/(?:S\d+)?(?:{_NAMES}|ip6tables)\Z"
)


def _needed(_path: str, line: str) -> str:
    """The unit that a line starts, or LEFT_OUT: the words can hold addresses and names."""
    if line in (LEFT_OUT, *UNITS, *_OTHERS):
        return line
    line = _HARMLESS.sub("", line)
    if not re.search(_CHANGES, line):
        return ""
    match = _STARTED.search(line)
    if match is None or any(re.search(rf"(?<![\w.-])(?:{each})", line) for each in _COMMANDS):
        return LEFT_OUT
    verb = match.group("verb") or match.group("action")
    if verb in _LOADS:
        return match.group("unit") or match.group("name")
    return LEFT_OUT if verb in _OTHER_VERBS else ""
