# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zero configuration networking: avahi-daemon, and the route to link-local addresses; proxyt.

Sources: systemctl(1), is-enabled; ip-route(8); initscripts, ifup-eth, which adds the route unless
NOZEROCONF of /etc/sysconfig/network has a value.
"""

import re
from typing import Dict, List, NamedTuple, Tuple

from ....collect.answer import Answer, attempt, known, unless_absent
from ....collect.host import Host
from ....collect.identity import OF_ROOT, Kind
from ....errors import Absent, Unanswered

UNITS = ("avahi-daemon.service", "avahi-daemon.socket")
PROCESSES = "avahi"
ROUTE = ("ip", "-4", "-o", "route", "show", "exact", "169.254.0.0/16")
#: A daemon that CVU does not accept on a node.
PROXYT = "proxyt.service"
PROXYT_PROCESSES = "proxyt"
SYSCONFIG = "/etc/sysconfig/network"
#: Its package adds the route when it starts an interface; NetworkManager does not.
SCRIPT = "/etc/sysconfig/network-scripts/ifup-eth"

_DAEMON = r"^(/\S+/)?avahi-daemon(:|$)"
_PROXYT = r"^(/\S+/)?proxyt(:|$)"
_RUNS_AS = Kind(users=("avahi",))
#: What avahi-daemon.service has while D-Bus or its socket alone starts it.
_OFF = ("enabled-runtime", "disabled", "static", "indirect", "alias", "masked")
_STATES = ("enabled", *_OFF, "masked-runtime", "not-found")


class Zeroconf(NamedTuple):
    """``enabled`` are units that start after reboot. ``routes`` are devices with the route that
    no address of theirs made. ``script`` is whether an interface start adds the route."""

    enabled: Answer[Tuple[str, ...]]
    daemons: Answer[int]
    routes: Answer[Tuple[str, ...]]
    script: Answer[bool]


class Proxyt(NamedTuple):
    """Whether proxyt starts after reboot, and the number of its processes."""

    enabled: Answer[bool]
    daemons: Answer[int]


def read_proxyt(host: Host) -> Proxyt:
    return Proxyt(
        enabled=attempt(_is_enabled, host, PROXYT),
        daemons=attempt(lambda: len(host.processes(PROXYT_PROCESSES, _PROXYT, OF_ROOT))),
    )


def read(host: Host) -> Zeroconf:
    return Zeroconf(
        enabled=attempt(lambda: tuple(unit for unit in UNITS if _is_enabled(host, unit))),
        daemons=attempt(lambda: len(host.processes(PROCESSES, _DAEMON, _RUNS_AS))),
        routes=attempt(_read_routes, host),
        script=attempt(_adds_route, host),
    )


def _is_enabled(host: Host, unit: str) -> bool:
    argv = ["systemctl", "is-enabled", unit]
    output = attempt(host.run, argv)
    if isinstance(output, Absent):
        return False  # without systemd, no unit starts
    state, message = known(output).stdout.strip(), known(output).stderr.strip()
    # systemd 219 of EL7 prints no state for a unit that does not exist.
    if state not in _STATES and (state or "No such file" not in message):
        answer = (state or message)[:80]
        raise Unanswered("command:" + " ".join(argv), f"systemctl answered {answer!r}")
    return bool(state == "enabled")


def _read_routes(host: Host) -> Tuple[str, ...]:
    """Without those of the kernel, which an address such as that of HAIP makes."""
    output = host.run(list(ROUTE))
    lines: List[List[str]] = [line.split() for line in output.stdout.splitlines() if line.strip()]
    if output.rc != 0 or any("dev" not in words[:-1] for words in lines):
        raise Unanswered("command:" + " ".join(ROUTE), f"ip route ended with {output.rc}")
    interfaces: Dict[str, None] = {}
    for words in lines:
        if "kernel" not in words:
            interfaces[words[words.index("dev") + 1]] = None
    return tuple(interfaces)


def _adds_route(host: Host) -> bool:
    if isinstance(attempt(host.stat, SCRIPT), Absent):
        return False
    known(attempt(host.stat, SCRIPT))
    pattern = r"^[ \t]*(?:export[ \t]+)?NOZEROCONF="
    lines = unless_absent(attempt(host.read_lines, SYSCONFIG, pattern), [])
    values = [re.sub(r"[ \t]#.*", "", line.partition("=")[2]).strip("\"' \t") for line in lines]
    return not (values and values[-1])
