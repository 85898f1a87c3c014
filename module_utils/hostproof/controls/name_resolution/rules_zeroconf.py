# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zero configuration networking, which Clusterware does itself: multicast DNS and HAIP; proxyt."""

from typing import Iterable, List

from ...collect import shell
from ...collect.answer import if_known, known
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Edit, Run, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import FAIL, PASS, status_for
from .facts import Facts
from .policy import NAME, Policy
from .probes.zeroconf import PROCESSES, PROXYT, PROXYT_PROCESSES, ROUTE, SYSCONFIG, UNITS
from .subjects import listed, skip_unmanaged

rules: Rules[Facts, Policy] = Rules(NAME)

#: More devices with the route than a host has.
_MOST_ROUTES = 8


@rules.check(
    "name_resolution.zeroconf",
    "avahi-daemon is off and 169.254.0.0/16 has no route",
    "avahi-daemon or a route to 169.254.0.0/16 disturbs the cluster",
    severity="high",
    takes_effect="now",
    why="After a failure of the private network the node does not join the cluster again while "
    "avahi-daemon runs. The route sends packets to HAIP addresses over another interface.",
    reference="My Oracle Support 1501093.1 (avahi-daemon), 1161144.1 (NOZEROCONF); CVU tasks "
    "zeroconf check and avahi-daemon",
)
def zeroconf(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("zeroconf", policy)
    if not _is_node(facts, policy):
        raise Skip("No Clusterware was found here, and the profile is not one of a cluster.")
    state = facts.zeroconf
    enabled, daemons = if_known(state.enabled, ()), if_known(state.daemons, 0)
    routes, adds = if_known(state.routes, ()), if_known(state.script, False)
    faults: List[str] = []
    if daemons:
        faults.append("avahi-daemon runs")
    if enabled:
        faults.append(f"avahi-daemon starts after reboot ({listed(enabled)})")
    remarks = [f"{listed(routes)} has the route 169.254.0.0/16"] if routes else []
    if adds:
        remarks.append(f"{SYSCONFIG} does not set NOZEROCONF, so network scripts add it")
    off = Run("systemctl", "disable", "--now", *reversed(UNITS), text="stop avahi-daemon for good")
    off_steps: List[Step] = [off] if daemons or enabled else []
    later: List[Step] = [Edit(SYSCONFIG, "NOZEROCONF=yes")] if adds else []
    delete = ("ip", "route", "del", "169.254.0.0/16", "scope", "link", "proto", "boot")
    lines = [shell.line(*delete)] * min(len(routes), _MOST_ROUTES)
    now: List[Step] = [Step("delete the route", lines)] if routes else []
    return layered(
        persisted=_layer(
            (state.enabled, state.script),
            f"{listed(enabled, 'no unit')} enabled; "
            f"{'route at the start of an interface' if adds else 'no route'}",
            status_for(enabled, adds),
        ),
        running=_layer(
            (state.daemons, state.routes),
            f"{daemons} processes; {listed(routes, 'no')} route",
            status_for(daemons, routes),
        ),
        also=[
            ("units", state.enabled),
            ("processes", state.daemons),
            ("routes", state.routes),
            ("NOZEROCONF", state.script),
        ],
        why=f"{'; '.join(faults + remarks)}.",
        advice=Advice(
            both=[*off_steps, *later, *now],
            persisted=[*off_steps, *later],
            running=[*off_steps, *now],
        ),
        desired="no avahi-daemon, no route",
        evidence=[f"command:systemctl is-enabled {unit}" for unit in UNITS]
        + ["processes:" + PROCESSES, "command:" + " ".join(ROUTE)]
        + ["file:" + SYSCONFIG],
    )


def _layer(answers: Iterable[object], text: str, status: str) -> Layer:
    """A layer of several answers, which the rule names one by one if they are unknown."""
    is_unknown = any(isinstance(one, HostproofError) for one in answers)
    return Layer("unknown" if is_unknown and status == PASS else text, status)


@rules.check(
    "name_resolution.proxyt",
    "proxyt is off",
    "proxyt runs or starts after reboot",
    severity="medium",
    takes_effect="now",
    why="The Cluster Verification Utility, which the installer runs, rejects such a node.",
    reference='Cluster Verification Utility, Daemon "proxyt" not configured and running',
)
def proxyt(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("zeroconf", policy)
    if not _is_node(facts, policy):
        raise Skip("No Clusterware was found here, and the profile is not one of a cluster.")
    state = facts.proxyt
    enabled, daemons = if_known(state.enabled, False), if_known(state.daemons, 0)
    off: List[Step] = [Run("systemctl", "disable", "--now", PROXYT, text="stop proxyt for good")]
    if daemons and not enabled:
        off.append(Ask("end a process that still runs, and find out what starts it"))
    return layered(
        persisted=_layer(
            [state.enabled],
            "enabled" if enabled else "not enabled",
            FAIL if enabled else PASS,
        ),
        running=_layer([state.daemons], f"{daemons} processes", FAIL if daemons else PASS),
        also=[("the unit", state.enabled), ("processes", state.daemons)],
        why=f"{daemons} processes run, and {PROXYT} is {'enabled' if enabled else 'not enabled'}.",
        advice=Advice(off, off, off),
        desired="not running, not enabled",
        evidence=["command:systemctl is-enabled " + PROXYT, "processes:" + PROXYT_PROCESSES],
    )


def _is_node(facts: Facts, policy: Policy) -> bool:
    if (
        policy.profile is not None
        and policy.profile.cluster
        or policy.scan_names
        or policy.cluster_names
    ):
        return True
    return known(facts.cluster).name is not None
