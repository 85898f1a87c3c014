# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof history``: what the runs of the reports directory say together."""

from __future__ import annotations

import datetime
import json
import os
import time
from pathlib import Path

import click

from ..history.trend import SOON_DAYS, Trend, folders, lasted, trend
from ..layout import WORKPLACE
from ..report.csv import as_csv
from ..report.prometheus import seconds
from ..report.verdict import VERDICTS
from . import options, terminal
from .errors import Refused, complain

#: Default number of runs to read.
MOST_RUNS = 50
#: Maximum number of open failures on a terminal.
_SHOWN = 20

_HEADS = ("started", "audited", *reversed(VERDICTS), "failures", "run")
_FAILURE_HEADS = ("since", "age", "runs", "severity", "host", "check", "problem")


@options.command("history")
@click.option("--html", metavar="FILE", type=options.NEW_FILE, help="write the trend to this file")
@click.option(
    "--last",
    metavar="N",
    type=click.IntRange(1, 99_999),
    default=MOST_RUNS,
    help=f"number of latest runs to read (default: {MOST_RUNS})",
)
@options.format_option("text", "json", "csv")
@click.argument(
    "reports",
    metavar="[REPORTS]",
    type=click.Path(file_okay=False),
    required=False,
    help="directory that contains the runs (default: HOSTPROOF_REPORTS, or reports/)",
)
def command(reports: str | None, html: str | None, last: int, output_format: str) -> int:
    """Shows the trend of all runs in a directory.

    It has ready hosts by run, open failures, the mean time to fix, and waivers that expire soon.
    """
    parent = Path(reports or os.environ.get("HOSTPROOF_REPORTS") or WORKPLACE / "reports")
    if not parent.is_dir():
        raise Refused(f"there is no directory {parent}")
    history = trend(folders(parent, last), datetime.date.today())
    for note in history.notes:
        complain(note)
    if not history.points:
        raise Refused(f"{parent} has no run with an audited host")
    if html is not None:
        _write(html, history)
    if output_format == "json":
        print(json.dumps(_document(history), indent=1))
    elif output_format == "csv":
        print(as_csv(_FAILURE_HEADS, _failures(history)), end="")
    else:
        _show(history)
    if html is not None and output_format == "text":
        terminal.say(f"\nPage: {html}")
    return 0


def _write(path: str, history: Trend) -> None:
    from ..history.page import render
    from ..report.render import write_private

    write_private(path, render(history, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())))


def _failures(history: Trend) -> list[tuple[str, ...]]:
    now = seconds(history.points[-1].at)
    return [
        (
            failure.since,
            lasted(max(0, now - seconds(failure.since))),
            str(failure.runs),
            failure.severity,
            failure.host,
            failure.check,
            failure.title,
        )
        for failure in history.open_failures
    ]


def _document(history: Trend) -> dict[str, object]:
    return {
        "runs": [point._asdict() for point in history.points],
        "open_failures": [failure._asdict() for failure in history.open_failures],
        "fixed": len(history.fixed),
        "mean_seconds_to_fix": history.mean_seconds,
        "expiring_waivers": [waiver._asdict() for waiver in history.expiring_waivers],
        "notes": history.notes,
    }


def _show(history: Trend) -> None:
    rows = [
        (
            point.at,
            str(point.audited),
            *(str(point.verdicts[verdict]) for verdict in reversed(VERDICTS)),
            str(point.failed),
            point.run,
        )
        for point in history.points
    ]
    terminal.table(_HEADS, rows)
    failures = _failures(history)
    terminal.say(f"\nOpen failures: {len(failures)}")
    if failures:
        terminal.table(_FAILURE_HEADS, failures[:_SHOWN])
        if len(failures) > _SHOWN:
            terminal.say(f"and {len(failures) - _SHOWN} more; --format csv lists them")
    mean, fixed = history.mean_seconds, len(history.fixed)
    text = "no failure was fixed" if mean is None else f"{lasted(mean)} ({fixed} fixed)"
    terminal.say(f"\nMean time to fix: {text}")
    terminal.say(f"Waivers that expire within {SOON_DAYS} days: {len(history.expiring_waivers)}")
    if history.expiring_waivers:
        terminal.table(
            ("expires", "days", "host", "check", "owner"),
            [
                (waiver.expires, str(waiver.days), waiver.host, waiver.check, waiver.owner)
                for waiver in history.expiring_waivers
            ],
        )
