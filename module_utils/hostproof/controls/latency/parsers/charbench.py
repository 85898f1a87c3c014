# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What charbench of Swingbench prints: its lines during the run, its summary, or results.xml.

Source: swingbench 2.5 to 2.8, charbench -v; the columns are chosen by the caller.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import decimal

_WHAT = "charbench output"
_TIME = re.compile(r"^\d{1,2}:\d{2}:\d{2}$")
_NUMBER = re.compile(r"^[\d.]{1,15}$")
_SUMMARY = re.compile(r"^\|\s*([A-Z][\w ./]{2,60}?)\s*\|\s*([\d,.]{1,20})\s*\|\s*$", re.MULTILINE)
_XML = re.compile(r"<(\w{1,60})>\s*([\d,.]{1,20})\s*</\1>")
#: The names of the summary, and of results.xml, to ours.
_NAMES = {
    "Average Transactions/sec": "tps",
    "Maximum Transactions/min": "most_tpm",
    "Total Completed Transactions": "completed",
    "Total Failed Transactions": "failed",
    "AverageTransactionsPerSecond": "tps",
    "MaximumTransactionRate": "most_tpm",
    "TotalCompletedTransactions": "completed",
    "TotalFailedTransactions": "failed",
}


class Run(NamedTuple):
    """Figures of the whole run; None where they are not printed. ``response`` is milliseconds."""

    tps: Optional[float]
    tpm: Optional[float]
    response: Optional[float]
    completed: Optional[float]
    failed: Optional[float]
    lines: int


def parse(text: str) -> Run:
    """ParseError where neither a line with TPM or TPS nor a summary is there."""
    found: Dict[str, float] = {}
    for name, value in [*_SUMMARY.findall(text), *_XML.findall(text)]:
        if name in _NAMES:
            found.setdefault(_NAMES[name], decimal(value.replace(",", "")))
    rows = _rows(text)
    # The first seconds, in which users log on, are not the benchmark.
    busy = [row for row in rows if row.get("TPS") or row.get("TPM")]
    tps, tpm, response = (_mean(busy, name) for name in ("TPS", "TPM", "Response"))
    tps = found.get("tps", tps)
    if tps is None and tpm is None:
        raise ParseError(_WHAT, "it has no transactions: run charbench with -v users,tpm,tps,resp")
    errors = max((row["Errors"] for row in rows if "Errors" in row), default=None)
    failed = found.get("failed", errors)
    return Run(tps, found.get("most_tpm", tpm), response, found.get("completed"), failed, len(busy))


def _rows(text: str) -> List[Dict[str, float]]:
    rows: List[Dict[str, float]] = []
    names: List[str] = []
    for line in text.split("\n"):
        words = line.split()
        if words[:1] == ["Time"] and len(words) > 1:
            names = words[1:]
        elif names and words and _TIME.match(words[0]):
            values = words[2:] if words[1:2] in (["AM"], ["PM"]) else words[1:]
            # The users are not a number: "[10/10]".
            columns = zip(names, values)
            rows.append({name: decimal(value) for name, value in columns if _NUMBER.match(value)})
    return rows


def _mean(rows: List[Dict[str, float]], name: str) -> Optional[float]:
    values = [row[name] for row in rows if name in row]
    return sum(values) / len(values) if values else None
