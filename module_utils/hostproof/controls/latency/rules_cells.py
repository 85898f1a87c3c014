# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dumps of Exadata cells that the policy names: slow requests, confined disks, balance."""

from typing import Dict, List, Set, Tuple

from ...collect.answer import known
from ...collect.measured import Window
from ...errors import HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import ERROR, FAIL, PASS, WARN
from .facts import EVIDENCE, Facts
from .figures import milliseconds
from .measurement import cells
from .measurement.median import median
from .measurement.report import octave_of, octaves_above
from .policy import NAME, Policy
from .subjects import REPORTS, Probed, recorded_figures

rules: Rules[Facts, Policy] = Rules(NAME)

_REFERENCE = (
    "F. Hoogland, Exadata: measuring the disk I/O of a storage server, dumps iolstats and "
    "devio_stats of cellsrv, 2013"
)

#: Requests of this many bytes and more belong to scans, whose latency follows from their size.
_SCAN = 64 << 10

#: Of fewer requests a share says nothing.
_FEWEST = 100

#: Latency this many times the service time: requests wait longer than they are served.
_QUEUED = 2.0

#: A mean latency below this (microseconds) is harmless with any queue.
_SHORT = 1000.0

_LEFT_OUT = "the text was shortened, and the lines that are missing are unknown"


def _devices(subject: Probed) -> Dict[str, Dict[str, float]]:
    devices = cells.by_name(recorded_figures(subject), cells.DEVICE)
    if not devices:
        dumps = [
            window for window in known(subject.answer).windows if _tool(window) == "devio_stats"
        ]
        if dumps:
            raise Unanswered(subject.key, "it was recorded without its devices; record it again")
        raise Skip("It is not a dump devio_stats.", (subject.key,))
    return devices


def _tool(window: Window) -> object:
    return window.conditions.get("tool")


@rules.check(
    "latency.cell_slow_requests",
    "Few requests to Exadata cell disks are slow",
    "Too many requests to an Exadata cell disk are slow",
    severity="high",
    takes_effect="now",
    why="A single-block read waits this long for the disk of the cell. An average hides it: the "
    "flash cache answers most requests.",
    reference=_REFERENCE,
    each=REPORTS,
)
def cell_slow_requests(subject: Probed, _facts: Facts, policy: Policy) -> List[Verdict]:
    windows = [window for window in known(subject.answer).windows if _tool(window) == "iolstats"]
    if not windows:
        raise Skip("It is not a dump iolstats.", (subject.key,))
    small = [window for window in windows if (window.size or 0) < _SCAN]
    if not small:
        raise Skip("All requests are of 64 KiB and more: scans.", (subject.key,))
    whole = cells.by_name(recorded_figures(subject), cells.DISK)
    names = sorted({(window.subject, window.layer) for window in small})
    return [
        _slow(
            subject,
            f"{disk} {layer}s",
            [window for window in small if (window.subject, window.layer) == (disk, layer)],
            bool(whole.get(disk, {}).get("whole")),
            policy,
        )
        for disk, layer in names
    ]


def _slow(
    subject: Probed, name: str, windows: List[Window], whole: bool, policy: Policy
) -> Verdict:
    """By the limit of the kind of disk; a name without a kind needs the same result by both."""
    is_flash = cells.is_flash(windows[0].subject)
    limit_ms = policy.cell_flash_slow_ms if is_flash else policy.cell_slow_ms
    verdict = _slower(subject, name, windows, whole, policy, limit_ms)
    if is_flash is not None:
        return verdict
    as_flash = _slower(subject, name, windows, whole, policy, policy.cell_flash_slow_ms)
    if verdict.status in (PASS, WARN) and as_flash.status != verdict.status:
        return as_flash._replace(
            status=ERROR,
            why="Could not be determined: the name of the cell disk does not tell whether it is "
            f"flash. As flash: {as_flash.in_use}.",
            advice=None,
        )
    return verdict


def _slower(
    subject: Probed,
    name: str,
    windows: List[Window],
    whole: bool,
    policy: Policy,
    limit_ms: float,
) -> Verdict:
    limit = limit_ms * 1000.0
    total = sum(window.n for window in windows)
    pairs = [octaves_above(window, limit) for window in windows]
    certain, possible = (100.0 * sum(pair[place] for pair in pairs) / total for place in (0, 1))
    most = max(windows, key=lambda window: window.n)
    text = (
        f"at least {certain:.2g} % of {total:,} requests took {limit_ms:g} ms or "
        f"longer; {most.size} bytes: {_percentiles(most)}"
    )
    status, why = PASS, None
    if total < _FEWEST:
        status, why = ERROR, f"Could not be determined: {total} requests are too few for a share."
    elif certain > policy.cell_slow_percent:
        status, why = FAIL, f"{name}: {text}."
    elif possible > policy.cell_slow_percent:
        status = WARN
        why = f"{name}: {text}. Up to {possible:.2g} % may have: the dump counts by powers of two."
    elif not whole:
        status, why = ERROR, f"Could not be determined: {_LEFT_OUT}."
    values: Dict[str, float] = {f"{name} slow_percent": round(certain, 3)}
    for share in (0.5, 0.99):
        octave = octave_of(most, share)
        if octave is not None and octave[1] is not None:
            values[f"{name} {most.size} p{share * 100:g}_below_ms"] = octave[1] / 1000.0
    return Verdict(
        status,
        why=why,
        advice=Advice(
            [
                Ask(
                    "compare the disk with its peers (latency.cell_confined, metric "
                    "CD_IO_TM_R_SM_RQ of cellcli), then check scans and backups in the same hours, "
                    "and for what the flash cache does not hold"
                )
            ]
        ),
        of=name,
        desired=f"at most {policy.cell_slow_percent:g} % take {limit_ms:g} ms or longer",
        in_use=text,
        evidence=(subject.key,),
        values=dict(values),
    )


def _percentiles(window: Window) -> str:
    texts = []
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        octave = octave_of(window, share)
        if octave is not None:
            low, high = octave
            texts.append(
                f"{name} {milliseconds(low)} or more"
                if high is None
                else f"{name} {milliseconds(low)} to {milliseconds(high)}"
            )
    return ", ".join(texts)


@rules.check(
    "latency.cell_confined",
    "No Exadata cell disk is confined",
    "An Exadata cell confined a disk that underperforms",
    severity="high",
    takes_effect="now",
    why="The cell takes a disk that underperforms out of service to test it. Redundancy is lower "
    "meanwhile, and the disk is often replaced.",
    reference=_REFERENCE,
    each=REPORTS,
)
def cell_confined(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    devices = _devices(subject)
    confined = {
        name: device for name, device in devices.items() if device.get("confined_intervals")
    }
    if not confined and not all(device.get("whole") for device in devices.values()):
        raise Unanswered(subject.key, _LEFT_OUT + ", or the dump was cut off")
    text = "; ".join(
        "{0}: trigerConfine in {1:g} of {2:g} intervals of 3 s".format(
            name, device["confined_intervals"], device["intervals"]
        )
        for name, device in confined.items()
    )
    return Verdict(
        FAIL if confined else PASS,
        why=f"{text}." if confined else None,
        advice=Advice(
            [
                Ask(
                    "read LIST PHYSICALDISK DETAIL and LIST ALERTHISTORY of cellcli for the disk, "
                    "and have it replaced if it stays slow"
                )
            ]
        ),
        desired="trigerConfine 0",
        in_use=text or "trigerConfine 0 of {0}".format(", ".join(devices)),
        evidence=(subject.key,),
    )


@rules.check(
    "latency.cell_queues",
    "Requests to Exadata cell disks do not wait in queues",
    "Requests to an Exadata cell disk wait longer than they are served",
    severity="medium",
    takes_effect="now",
    why="Latency is far above the service time: requests wait in the queue of the cell, and a "
    "faster disk does not help.",
    reference=_REFERENCE,
    each=REPORTS,
)
def cell_queues(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    devices = _devices(subject)
    shown, queued = [], []
    values: Dict[str, float] = {}
    for name, device in devices.items():
        if "latency_us" not in device or "service_us" not in device:
            continue
        latency, service = device["latency_us"], device["service_us"]
        text = f"{name}: latency {milliseconds(latency)}, service time {milliseconds(service)}"
        values[f"{name} latency_ms"] = round(latency / 1000.0, 4)
        values[f"{name} service_ms"] = round(service / 1000.0, 4)
        shown.append(text)
        if latency >= _SHORT and latency > _QUEUED * service:
            queued.append(text)
    if not shown:
        raise Unanswered(subject.key, "no device had a request in those seconds")
    if not queued and not all(entry.get("whole") for entry in devices.values()):
        raise Unanswered(subject.key, _LEFT_OUT + ", or the dump was cut off")
    return Verdict(
        WARN if queued else PASS,
        why="{0}.".format("; ".join(queued)) if queued else None,
        advice=Advice(
            [
                Ask(
                    "spread the load over more disks or hours: check backups, rebalances and "
                    "scans; then see iolstats for the sizes that wait"
                )
            ]
        ),
        desired=f"latency at most {_QUEUED:g} times the service time",
        in_use="; ".join(shown[:10]),
        values=dict(values),
        evidence=(subject.key,),
    )


@rules.check(
    "latency.cell_balance",
    "Exadata cells do similar amounts of I/O",
    "An Exadata cell does less I/O than its peers",
    severity="medium",
    takes_effect="now",
    why="The load of a disk group is spread evenly. A cell with less I/O has slow or missing "
    "disks, and the others work for it.",
    reference=_REFERENCE,
)
def cell_balance(facts: Facts, policy: Policy) -> Verdict:
    peers, keys = _peers(facts)
    unread = [answer for answer in facts.reports.values() if isinstance(answer, HostproofError)]
    if peers and unread:
        raise unread[0]
    several = {kind: ones for kind, ones in peers.items() if len(ones) > 1}
    if not several:
        raise Skip("latency_probes names no reports with iolstats dumps of two cells or more.")
    low, shown = [], []
    values: Dict[str, float] = {}
    for kind, ones in several.items():
        for cell, total in ones:
            middle = median(sorted(other for name, other in ones if name != cell))
            shown.append(f"{cell} ({kind}): {total:,.0f} requests")
            values[f"{cell} {kind}"] = total
            if total < middle * (1.0 - policy.instance_percent / 100.0):
                low.append(f"{cell} ({kind}) did {100.0 - 100.0 * total / middle:.1f} % less")
    return Verdict(
        WARN if low else PASS,
        why="{0} than the middle of the other cells.".format(", ".join(low)) if low else None,
        advice=Advice(
            [
                Ask(
                    "reset the statistics of all cells at the same time "
                    "(cellsrv_resetstats(iolstats)) and dump them again together; then check for "
                    "disks that are offline or confined"
                )
            ]
        ),
        desired=f"within {policy.instance_percent:g} % of the other cells",
        in_use="; ".join(shown),
        values=dict(values),
        evidence=tuple(sorted(keys)),
    )


def _peers(facts: Facts) -> Tuple[Dict[str, List[Tuple[str, float]]], Set[str]]:
    """By kind of disk, the cells with the number of their requests; and the evidence."""
    totals: Dict[str, float] = {}
    keys: Set[str] = set()
    for name, answer in facts.reports.items():
        if isinstance(answer, HostproofError):
            continue
        for disk, counts in cells.by_name(answer.figures or {}, cells.DISK).items():
            cell = cells.cell_of(disk)
            if cell and "ios" in counts:
                totals[cell] = totals.get(cell, 0.0) + counts["ios"]
                keys.add(EVIDENCE + name)
    peers: Dict[str, List[Tuple[str, float]]] = {}
    for cell, total in totals.items():
        kind, name = cell.split(" ", 1)
        peers.setdefault(kind, []).append((name, total))
    return peers, keys
