# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of interface counters within the sampling window."""

from typing import List, Optional, Tuple

from ...collect import shell
from ...errors import Absent, Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip, undetermined
from ...evaluate.finding import PASS, WARN
from ...parsers.nfs.nfs_options import LINUX
from .facts import Facts
from .nics import NicFacts, capital, skip_if_left_alone
from .policy import NAME, Policy
from .probes.nic_pause import Traffic
from .subjects import CASE, IEEE_802_3, NICS

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "flow_control.pause_frames",
    "PAUSE frames do not exceed the limit",
    "PAUSE frames exceed the limit",
    severity="medium",
    takes_effect="now",
    why="Sent PAUSE frames (tx) show that this host is too slow. Received PAUSE frames (rx) "
    "show that the switch, or a device behind it, is too slow.",
    reference=IEEE_802_3,
    each=NICS,
)
def pause_frames(nic: NicFacts, _facts: Facts, policy: Policy) -> Verdict:
    if isinstance(nic.pause, Absent):
        raise Skip(f"{nic.name}: {nic.pause}.")
    traffic = known_or_skip(nic.traffic)
    if traffic.rx_pause is None and traffic.tx_pause is None and not traffic.restarted:
        raise Skip(f"The driver {nic.nic.driver} does not count PAUSE frames.")
    reasons = _above_limit(traffic, policy.pause_frames_limit)
    text = "{0}, {1} within {2:.1f} s".format(
        _counted("rx", traffic.rx_pause), _counted("tx", traffic.tx_pause), traffic.seconds
    )
    missing = [
        name for name, n in (("rx", traffic.rx_pause), ("tx", traffic.tx_pause)) if n is None
    ]
    if missing and not reasons:
        if traffic.restarted:
            return _counters_restarted(traffic, traffic.restarted)
        raise Skip(
            "The driver {0} does not count {1}; {2}.".format(
                nic.nic.driver, " and ".join(missing), text
            ),
            traffic.evidence,
        )
    return Verdict(
        WARN if reasons else PASS,
        why=capital("; ".join(reasons)) + ".",
        fix="reduce the load of the end that sends PAUSE (receive buffers and interrupts of a "
        "host, load of a filer); the limit is flow_control_pause_frames_limit",
        desired=f"at most {policy.pause_frames_limit} in each direction",
        in_use=text,
        values={
            "rx": traffic.rx_pause,
            "tx": traffic.tx_pause,
            "seconds": round(traffic.seconds, 1),
            "unit": "frames",
        },
        evidence=traffic.evidence,
    )


def _above_limit(traffic: Traffic, limit: int) -> List[str]:
    reasons = []
    if (traffic.tx_pause or 0) > limit:
        reasons.append(
            f"this host sent {traffic.tx_pause} PAUSE frames (tx): it receives too slowly, and the "
            "switch waits"
        )
    if (traffic.rx_pause or 0) > limit:
        reasons.append(
            f"this host received {traffic.rx_pause} PAUSE frames (rx): the switch or a device "
            "behind it is congested"
        )
    return reasons


def _counters_restarted(traffic: Traffic, names: Tuple[str, ...]) -> Verdict:
    text = "counters were reset in the time window ({0})".format(", ".join(names))
    return undetermined(Unanswered(traffic.evidence[0], text))._replace(
        fix="run again; if it repeats, search dmesg for resets of the driver"
    )


def _counted(name: str, number: Optional[int]) -> str:
    return f"{name} not counted" if number is None else f"{name} {number}"


@rules.check(
    "flow_control.drops",
    "Interface drops do not exceed the limit",
    "Interface drops packets",
    severity="high",
    takes_effect="now",
    why="A dropped packet is sent again only after a timeout, and the database waits for it.",
    reference="kernel Documentation/networking/statistics.rst; " + CASE,
    each=NICS,
)
def drops(nic: NicFacts, _facts: Facts, policy: Policy) -> Verdict:
    traffic = known_or_skip(nic.traffic)
    if not traffic.drops and not traffic.restarted_drops:
        raise Skip(f"No counter of {nic.name} would show a drop.", traffic.evidence)
    over = {name: n for name, n in sorted(traffic.drops.items()) if n > policy.drops_limit}
    if not over and traffic.restarted_drops:
        return _counters_restarted(traffic, traffic.restarted_drops)
    lost = ", ".join(f"{name} {n}" for name, n in over.items())
    paused = traffic.rx_pause or traffic.tx_pause
    return Verdict(
        WARN if over else PASS,
        why="Lost within {0:.1f} s: {1}{2}.".format(
            traffic.seconds, lost, "" if paused else ", without any PAUSE"
        ),
        fix="set more receive buffers, check speed and flow control of both ends; the limit is "
        "flow_control_drops_limit",
        commands=[shell.line("ethtool", "-g", nic.name)] if nic.system == LINUX else [],
        desired=f"at most {policy.drops_limit} of each kind",
        in_use="{0} within {1:.1f} s".format(lost or "none", traffic.seconds),
        values=dict(traffic.drops),
        evidence=traffic.evidence,
    )


@rules.check(
    "flow_control.priority_flow_control",
    "Priority flow control is not in use",
    "Priority flow control is in use",
    severity="low",
    takes_effect="now",
    why="A port with priority flow control (RoCE, or iSCSI and FCoE with DCB) must not be "
    "paused as a whole. The other flow control checks skip this interface.",
    reference="IEEE 802.1Qbb; dcb-pfc(8)",
    each=NICS,
)
def priority_flow_control(nic: NicFacts, _facts: Facts, _policy: Policy) -> Verdict:
    skip_if_left_alone(nic)
    if isinstance(nic.priorities, Absent):
        raise Skip(f"{nic.priorities}.", [nic.priorities.key])
    return Verdict(
        PASS,
        running="no priority pauses",
        evidence=list(nic.evidence) or [f"command:dcb pfc show dev {nic.name} prio-pfc"],
    )
