# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of lost packets in the time window. Totals since boot are not checked: they are old."""

from typing import Dict, Sequence

from ...collect.answer import if_known, known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict, verdict_or_error
from ...evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from .facts import FILTER_FILE, NETSTAT, SAMPLE, SNMP, Facts, Losses
from .policy import NAME, Policy
from .subjects import BOOK

rules: Rules[Facts, Policy] = Rules(NAME)

_STRICT = 1
_MIB = "RFC 4293 and RFC 4113 (what the counters count)"


@rules.check(
    "interconnect.reassembly",
    "All fragmented packets are reassembled",
    "Fragmented packets were not reassembled",
    severity="high",
    takes_effect="now",
    why="The database block is lost and sent again. If losses continue, the node is evicted.",
    reference="My Oracle Support 2008933.1; " + _MIB,
    because_of=("kernel_parameters.reassembly", "interconnect.end_to_end"),
)
def reassembly(facts: Facts, policy: Policy) -> Verdict:
    return _judge(
        facts,
        policy,
        "Ip",
        ("ReasmFails",),
        "packets were not reassembled",
        "correct kernel_parameters.reassembly (net.ipv4.ipfrag_high_thresh); if losses continue, "
        "use jumbo frames on the private network (interconnect.jumbo_frames)",
        ("ReasmReqds",),
    )


@rules.check(
    "interconnect.udp_buffers",
    "No datagram is lost because of a full socket buffer",
    "Datagrams were lost because of a full socket buffer",
    severity="high",
    takes_effect="instance_restart",
    why="Each lost datagram is a lost database block. The buffer is too small, or its process "
    "did not read it fast enough.",
    reference="My Oracle Support 563566.1; " + _MIB,
    because_of=("kernel_parameters.socket_buffers",),
)
def udp_buffers(facts: Facts, policy: Policy) -> Verdict:
    return _judge(
        facts,
        policy,
        "Udp",
        ("RcvbufErrors", "SndbufErrors"),
        "datagrams were dropped",
        "correct kernel_parameters.socket_buffers, and restart the instances; if losses continue, "
        "find out what uses the CPUs of the host",
        ("InDatagrams",),
    )


@rules.check(
    "interconnect.reverse_path",
    "No packet is dropped by the reverse path filter",
    "Reverse path filter drops packets or is strict",
    severity="critical",
    takes_effect="now",
    why="With several private interfaces, a strict filter drops packets that arrive on a "
    "different interface than replies use, and the node is evicted.",
    reference=BOOK + "Multiple Private Interconnects and Oracle Linux; kernel "
    "Documentation/networking/ip-sysctl.rst, rp_filter",
    because_of=("kernel_parameters.reverse_path",),
)
def reverse_path(facts: Facts, policy: Policy) -> Verdict:
    """kernel_parameters.reverse_path checks the persisted value and sets it."""
    filters = {device.name: device.filter for device in known(facts.devices)}
    strict = [name for name, value in filters.items() if value == _STRICT]
    if not strict or len(filters) < 2:
        for answer in filters.values():
            known(answer)
    counted: Verdict = verdict_or_error(
        _judge,
        facts,
        policy,
        "TcpExt",
        ("IPReversePathFilter",),
        "packets were dropped by a reverse path filter",
        "find the interface that drops them (rp_filter 1 and traffic that returns another way), "
        "and set its rp_filter to 2 with kernel_parameters_values",
    )
    verdict = counted._replace(
        desired="0 or 2 where there are several",
        running=", ".join(
            f"{name} {if_known(value, 'unknown')}" for name, value in filters.items()
        ),
        values=None,
        evidence=[FILTER_FILE.format(name) for name in ("all", *filters)] + [SAMPLE],
    )
    if strict and len(filters) > 1:
        why = f"The filter of {', '.join(strict)} is strict (1), and there are {len(filters)}"
        dropped = "" if counted.status in (PASS, SKIP, ERROR) else f" {counted.why}"
        remedy = Ask(f"correct kernel_parameters.reverse_path, which sets {', '.join(strict)} to 2")
        return verdict._replace(
            status=FAIL,
            why=f"{why} devices of the interconnect.{dropped}",
            advice=Advice([remedy]),
        )
    # The counter covers all interfaces. If no filter here is strict, another interface drops them.
    statuses = {SKIP: PASS, FAIL: WARN}
    return verdict._replace(status=statuses.get(counted.status, counted.status))


def _judge(
    facts: Facts,
    policy: Policy,
    group: str,
    names: Sequence[str],
    what: str,
    fix: str,
    beside: Sequence[str] = (),
) -> Verdict:
    if facts.losses is None:
        raise Skip("hostproof_window_seconds is 0: no rate is measured.")
    losses: Losses = known(facts.losses)
    addresses = if_known(facts.addresses, [])
    if group != "TcpExt" and addresses and all(each.network.version == 6 for each in addresses):
        raise Unanswered("file:" + SNMP, f"the counters of {SNMP} are those of IPv4 alone")
    counted = losses.counted.get(group, {})
    lost = _sum(counted, group, names)
    rate = lost / losses.seconds
    counts = ", ".join(f"{counted[name]} {name}" for name in (*names, *beside) if name in counted)
    return Verdict(
        PASS if not lost else FAIL if rate > policy.max_losses_per_second else WARN,
        f"{lost} {what} in {losses.seconds:.0f} s, {rate:.2g} per second, on all interfaces "
        "together.",
        advice=Advice([Ask(fix)]),
        desired=f"none; above {policy.max_losses_per_second:g} per second fails",
        in_use=f"{counts} in {losses.seconds:.0f} s",
        evidence=[SAMPLE],
        values={"per_second": round(rate, 3)},
    )


def _sum(counted: Dict[str, int], group: str, names: Sequence[str]) -> int:
    file = NETSTAT if group == "TcpExt" else SNMP
    missing = [name for name in names if name not in counted]
    if missing:
        raise Unanswered(SAMPLE, f"{file} has no {group} {missing[0]}")
    values = [counted[name] for name in names]
    if min(values) < 0:
        raise Unanswered(SAMPLE, f"the counters {group} of {file} were reset in the window")
    return sum(values)
