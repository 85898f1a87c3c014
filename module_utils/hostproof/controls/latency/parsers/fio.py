# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""fio's JSON output (``--output-format=json`` or ``json+``).

Sources: fio's HOWTO, "JSON output"; stat.c, add_ddir_status_json(). fio 3 tells latencies in
nanoseconds (``lat_ns``), fio 2 in microseconds (``lat``). Lines before the first brace are notes.
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import decimal, json_at

_WHAT = "fio's JSON"
_FAILED = re.compile(r"^fio: .{0,80}\berr=\s*([0-9]{1,4})\b", re.MULTILINE)
_UNITS = (("lat_ns", "clat_ns", 1), ("lat", "clat", 1000))


class Requests(NamedTuple):
    """The reads or the writes of one job. Durations are nanoseconds.

    ``lowest``, ``highest`` and ``mean`` are from submission to completion. ``percentiles`` and
    ``bins`` (duration, count; only json+) are from acceptance by the kernel to completion.
    ``runtime_ms`` is the run time of the job, ``bytes`` the amount, ``errors`` the number of failed
    requests of the job.
    """

    version: str
    job: str
    direction: str
    reads: int
    bytes: int
    runtime_ms: int
    lowest: int
    highest: int
    mean: float
    percentiles: Dict[float, int]
    bins: Tuple[Tuple[int, int], ...]
    errors: int


def parse(text: str, only_reads: bool = True) -> List[Requests]:
    """The jobs in order. Raises ParseError for what is not fio's JSON.

    With ``only_reads``, also for a job that wrote; without, each direction in use is one entry.
    """
    start = text.find("{")
    if start < 0:
        failed = _FAILED.search(text)
        why = f"fio failed with error {failed.group(1)}" if failed else kind_of(text.strip())
        raise ParseError(_WHAT, f"there is no object: {why}")
    try:
        tree = json_at(text, start)
        jobs = [
            _requests(tree, job, direction)
            for job in tree["jobs"]
            for direction in _directions(job, only_reads)
        ]
    except ValueError as problem:
        raise ParseError(_WHAT, "it is not JSON, or has a text instead of a number") from problem
    except (KeyError, TypeError, AttributeError, OverflowError) as problem:
        raise ParseError(_WHAT, f"lacks or mistakes {problem}") from problem
    if not jobs:
        raise ParseError(_WHAT, "there is no job")
    return jobs


def _directions(job: Any, only_reads: bool) -> List[str]:
    others = int(job["write"]["total_ios"]) or int(job.get("trim", {}).get("total_ios", 0))
    if not only_reads:
        return [name for name in ("read", "write") if int(job[name]["total_ios"])]
    if others:
        raise ParseError(_WHAT, "a job did not only read")
    return ["read"]


def _requests(tree: Any, job: Any, direction: str) -> Requests:
    read = job[direction]
    known = [units for units in _UNITS if units[0] in read]
    if not known:
        raise ParseError(_WHAT, "a job has no latencies")
    whole, taken, unit = known[0]
    return Requests(
        version=str(tree["fio version"]),
        job=str(job["jobname"]),
        direction=direction,
        reads=int(read["total_ios"]),
        # fio 2 wrote KiB here, and io_kbytes came with the bytes.
        bytes=int(read["io_bytes"]) * (1 if "io_kbytes" in read else 1024),
        runtime_ms=int(read["runtime"]),
        lowest=int(read[whole]["min"]) * unit,
        highest=int(read[whole]["max"]) * unit,
        mean=float(read[whole]["mean"]) * unit,
        percentiles={
            decimal(name): int(value) * unit
            for name, value in (_table(read[taken], "percentile") or {}).items()
            if not name.endswith("_count") and int(value) >= 0
        },
        bins=tuple(
            sorted(
                (int(name) * unit, int(count))
                for name, count in (_table(read[taken], "bins") or {}).items()
                if int(count)
            )
        ),
        errors=int(job.get("total_err", 0)) or int(job.get("error", 0)),
    )


def _table(latency: Any, name: str) -> Optional[Dict[str, Any]]:
    """fio writes {"0.00": 0} where it counted nothing."""
    table = latency.get(name)
    if table is not None and not isinstance(table, dict):
        raise TypeError(name)
    return table
