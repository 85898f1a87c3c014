# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON of sar, ``sadf -j FILE -- -d -u ALL -W -q -n EDEV``: disks, CPUs, swap and interfaces.

Source: sadf(1), json_stats.c of sysstat 12. The rows have the names that sar's own tables have.
"""

from typing import Any, Dict, Iterator, List, Tuple

from ....errors import ParseError
from ....parsers.number import json_at
from .cpu_tables import CPU, INTERFACE, QUEUE, SWAP, Row
from .iostat import Disk

_WHAT = "the JSON of sadf"


def parse(text: str) -> Tuple[List[List[Disk]], List[Row]]:
    """The disks of each interval that has some, and the rows of all intervals, in order.

    The rows are CPUs, swap, run queue and lost frames. ParseError for anything but the JSON of
    sadf.
    """
    intervals = _intervals(text)
    try:
        disks = [[_disk(entry) for entry in one["disk"]] for one in intervals if "disk" in one]
        return disks, [row for interval in intervals for row in _rows(interval)]
    except ValueError as problem:
        raise ParseError(_WHAT, "it has a text instead of a number") from problem
    except (KeyError, TypeError, AttributeError) as problem:
        raise ParseError(_WHAT, f"lacks or mistakes {problem}") from problem


def _intervals(text: str) -> List[Dict[str, Any]]:
    start = text.find("{")
    if start < 0:
        raise ParseError(_WHAT, "there is no object")
    try:
        tree = json_at(text, start)
    except ValueError as problem:
        raise ParseError(_WHAT, "it is not JSON, or is cut off") from problem
    try:
        return [
            interval
            for host in tree["sysstat"]["hosts"]
            for interval in host["statistics"]
            if isinstance(interval, dict)
        ]
    except (KeyError, TypeError) as problem:
        raise ParseError(_WHAT, f"lacks or mistakes {problem}") from problem


#: Names of the JSON to those of the tables.
_OF_CPU = {"iowait": "%iowait", "steal": "%steal", "idle": "%idle", "irq": "%irq", "soft": "%soft"}
_OF_INTERFACE = ("rxerr", "txerr", "rxdrop", "txdrop", "rxfifo", "txfifo")


def _rows(interval: Dict[str, Any]) -> Iterator[Row]:
    for entry in interval.get("cpu-load", []) + interval.get("cpu-load-all", []):
        columns = {head: float(entry[name]) for name, head in _OF_CPU.items() if name in entry}
        yield Row(CPU, str(entry["cpu"]), columns)
    swap = interval.get("swap-pages")
    if swap is not None:
        columns = {f"{name}/s": float(swap[name]) for name in ("pswpin", "pswpout")}
        yield Row(SWAP, "", columns)
    queue = interval.get("queue")
    if queue is not None:
        yield Row(QUEUE, "", {"runq-sz": float(queue["runq-sz"])})
    for entry in interval.get("network", {}).get("net-edev", []):
        columns = {f"{name}/s": float(entry[name]) for name in _OF_INTERFACE if name in entry}
        yield Row(INTERFACE, str(entry["iface"]), columns)


def _disk(entry: Any) -> Disk:
    requests = float(entry["tps"])
    utilisation = entry.get("util-percent")
    return Disk(
        str(entry["disk-device"]),
        requests,
        float(entry["await"]) if requests else None,
        None if utilisation is None else float(utilisation),
    )
