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

from ..history.trend import SOON_DAYS, Trend, folders, lasted, seconds, trend
from ..layout import WORKPLACE
from ..report.verdict import VERDICTS
from . import options, terminal
from .errors import Refused, complain

#: Default number of runs to read.
MOST_RUNS = 50
#: Maximum number of open failures on a terminal.
_SHOWN = 20

_HEADS = ("started", "audited", *reversed(VERDICTS), "failures", "run")
_FAILURE_HEADS = ("since", "age", "runs", "severity", "host", "check", "title")


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
    found = trend(folders(parent, last), datetime.date.today())
    for note in found.notes:
        complain(note)
    if not found.points:
        raise Refused(f"{parent} has no run with an audited host")
    if html is not None:
        _write(html, found)
    if output_format == "json":
        print(json.dumps(_document(found), indent=1))
    elif output_format == "csv":
        print(terminal.as_csv(_FAILURE_HEADS, _failures(found)), end="")
    else:
        _show(found)
    if html is not None and output_format == "text":
        terminal.say(f"\nPage: {html}")
    return 0


def _write(path: str, found: Trend) -> None:
    from ..history.page import render
    from ..report.render import write_private

    write_private(path, render(found, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())))


def _failures(found: Trend) -> list[tuple[str, ...]]:
    now = seconds(found.points[-1].at)
    return [
        (
            one.since,
            lasted(max(0, now - seconds(one.since))),
            str(one.runs),
            one.severity,
            one.host,
            one.check,
            one.title,
        )
        for one in found.open_failures
    ]


def _document(found: Trend) -> dict[str, object]:
    return {
        "runs": [one._asdict() for one in found.points],
        "open_failures": [one._asdict() for one in found.open_failures],
        "fixed": len(found.fixed),
        "mean_seconds_to_fix": found.mean_seconds,
        "expiring_waivers": [one._asdict() for one in found.expiring_waivers],
        "notes": found.notes,
    }


def _show(found: Trend) -> None:
    rows = [
        (
            one.at,
            str(one.audited),
            *(str(one.verdicts[verdict]) for verdict in reversed(VERDICTS)),
            str(one.failed),
            one.run,
        )
        for one in found.points
    ]
    terminal.table(_HEADS, rows)
    failures = _failures(found)
    terminal.say(f"\nOpen failures: {len(failures)}")
    if failures:
        terminal.table(_FAILURE_HEADS, failures[:_SHOWN])
        if len(failures) > _SHOWN:
            terminal.say(f"and {len(failures) - _SHOWN} more; --format csv lists them")
    mean, fixed = found.mean_seconds, len(found.fixed)
    text = "no failure was fixed" if mean is None else f"{lasted(mean)} ({fixed} fixed)"
    terminal.say(f"\nMean time to fix: {text}")
    terminal.say(f"Waivers that expire within {SOON_DAYS} days: {len(found.expiring_waivers)}")
    if found.expiring_waivers:
        terminal.table(
            ("expires", "days", "host", "check", "owner"),
            [
                (one.expires, str(one.days), one.host, one.check, one.owner)
                for one in found.expiring_waivers
            ],
        )
