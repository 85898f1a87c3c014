# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zero configuration networking, which Clusterware does itself: multicast DNS and HAIP; proxyt."""

from typing import List

from ...collect.answer import if_known, known
from ...evaluate.checking import Rules, Skip, Verdict, by_layers, failing
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import Facts
from .policy import NAME, Policy
from .probes.zeroconf import PROCESSES, PROXYT, PROXYT_PROCESSES, ROUTE, SYSCONFIG, UNITS
from .subjects import listed, skip_unmanaged

rules = Rules(NAME)


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
        raise Skip("This host is not a node of a cluster.")
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
    verdict = Verdict(
        FAIL if faults else WARN if remarks else PASS,
        f"{'; '.join(faults + remarks)}.",
        fix=f"stop and disable both units of avahi-daemon; set NOZEROCONF=yes in "
        f"{SYSCONFIG} where network scripts start interfaces, and delete the route",
        commands=_commands(bool(faults), len(routes)),
        desired="no avahi-daemon, no route",
        persisted=f"{listed(enabled, 'no unit')} enabled; "
        f"{'route at the start of an interface' if adds else 'no route'}",
        running=f"{daemons} processes; {listed(routes, 'no')} route",
        evidence=[f"command:systemctl is-enabled {unit}" for unit in UNITS]
        + ["processes:" + PROCESSES, "command:" + " ".join(ROUTE)]
        + ["file:" + SYSCONFIG],
        failing_layer=failing(running=bool(daemons or routes), persisted=bool(enabled or adds)),
    )
    layers = [("units", state.enabled), ("processes", state.daemons)]
    return by_layers(verdict, [*layers, ("routes", state.routes), ("NOZEROCONF", state.script)])


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
        raise Skip("This host is not a node of a cluster.")
    state = facts.proxyt
    enabled, daemons = if_known(state.enabled, False), if_known(state.daemons, 0)
    verdict = Verdict(
        FAIL if enabled or daemons else PASS,
        f"{daemons} processes run, and {PROXYT} is {'enabled' if enabled else 'not enabled'}.",
        fix="stop and disable the daemon",
        commands=[f"systemctl disable --now {PROXYT}"],
        desired="not running, not enabled",
        persisted="enabled" if enabled else "not enabled",
        running=f"{daemons} processes",
        evidence=["command:systemctl is-enabled " + PROXYT, "processes:" + PROXYT_PROCESSES],
        failing_layer=failing(running=bool(daemons), persisted=enabled),
    )
    return by_layers(verdict, [("the unit", state.enabled), ("processes", state.daemons)])


def _is_node(facts: Facts, policy: Policy) -> bool:
    if (
        policy.profile is not None
        and policy.profile.cluster
        or policy.scan_names
        or policy.cluster_names
    ):
        return True
    return known(facts.cluster).name is not None


def _commands(is_avahi: bool, routes: int) -> List[str]:
    commands = ["systemctl disable --now " + " ".join(reversed(UNITS))] if is_avahi else []
    return commands + ["ip route del 169.254.0.0/16 scope link proto boot"] * min(routes, 8)
