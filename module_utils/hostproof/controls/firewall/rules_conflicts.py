# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check of other programs on ports that Oracle needs."""

from ...collect.answer import known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask, Run, Step
from ...evaluate.checking import Rules, Verdict
from ...evaluate.finding import FAIL, PASS
from .facts import Facts
from .policy import NAME, Policy
from .subjects import RESERVED, SOCKETS, Reserved

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "firewall.port_conflict",
    "No other program has the port",
    "Another program has a port that Oracle needs",
    severity="high",
    takes_effect="service_restart",
    why="The Oracle process cannot bind its port, and root.sh or the start of Clusterware fails.",
    reference="Oracle Grid Infrastructure Installation Guide for Linux, Port Numbers and "
    "Protocols; CVU, Port Availability (PRVG-00330)",
    each=RESERVED,
)
def port_conflict(reserved: Reserved, facts: Facts, _policy: Policy) -> Verdict:
    port = reserved.port
    sockets = [
        socket
        for socket in known(facts.sockets)
        if (socket.protocol, socket.port) == (port.protocol, port.port)
    ]
    if any(not socket.programs for socket in sockets):
        raise Unanswered(SOCKETS, "the port is in use, and only root can read by which program")
    programs = sorted({name for socket in sockets for name in socket.programs})
    others = [name for name in programs if name not in reserved.programs]
    return Verdict(
        FAIL if others else PASS,
        f"{', '.join(others)} listens on {port.port}/{port.protocol}.",
        advice=Advice([_step(name, reserved) for name in others]),
        desired=f"free, or {reserved.programs[0]}",
        running=", ".join(programs) or "free",
    )


def _step(program: str, reserved: Reserved) -> Step:
    port = f"{reserved.port.port}/{reserved.port.protocol}"
    if program == "avahi-daemon":
        # The socket would start it again.
        units = ("avahi-daemon.socket", "avahi-daemon.service")
        return Run("systemctl", "disable", "--now", *units, text="stop and disable avahi-daemon")
    return Ask(f"give {program} another port than {port}, or stop and disable its service")
