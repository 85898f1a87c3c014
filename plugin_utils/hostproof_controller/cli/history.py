# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof history``: what the runs of the reports folder say together."""

from __future__ import annotations

import datetime
import json
import os
import time
from pathlib import Path

from ..history.trend import SOON_DAYS, Trend, folders, lasted, seconds, trend
from ..report.verdict import VERDICTS
from . import terminal
from .command import Given
from .environment import ROOT
from .errors import Refused, complain

#: Runs that are read where nobody says how many.
MOST_RUNS = 50
#: Rows of what stays broken on a terminal.
_SHOWN = 20

_HEADS = ("began", "judged", *reversed(VERDICTS), "failures", "run")
_BROKEN = ("since", "for", "runs", "severity", "host", "check", "title")


def run(given: Given) -> int:
    named = given["reports"][0] if given["reports"] else os.environ.get("HOSTPROOF_REPORTS")
    parent = Path(named or ROOT / "reports")
    if not parent.is_dir():
        raise Refused(f"there is no folder {parent}")
    most = given.last("last") or str(MOST_RUNS)
    if not most.isascii() or not most.isdigit() or not 0 < int(most) < 100_000:
        raise Refused(f"--last: {most} is no number of runs")
    found = trend(folders(parent, int(most)), datetime.date.today())
    for note in found.notes:
        complain(note)
    if not found.points:
        raise Refused(f"{parent} holds no run that judged a host")
    page = given.last("html")
    if page is not None:
        _write(page, found)
    form = given.last("format") or "text"
    if form == "json":
        print(json.dumps(_document(found), indent=1))
    elif form == "csv":
        print(terminal.as_csv(_BROKEN, _broken(found)), end="")
    else:
        _show(found)
    if page is not None and form == "text":
        terminal.say(f"\nPage: {page}")
    return 0


def _write(path: str, found: Trend) -> None:
    from ..history.page import render
    from ..report.render import write_private

    write_private(path, render(found, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())))


def _broken(found: Trend) -> list[tuple[str, ...]]:
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
        for one in found.broken
    ]


def _document(found: Trend) -> dict[str, object]:
    return {
        "runs": [one._asdict() for one in found.points],
        "broken": [one._asdict() for one in found.broken],
        "mended": len(found.mended),
        "mean_seconds_to_fix": found.mean_seconds,
        "waivers_that_end": [one._asdict() for one in found.endings],
        "notes": found.notes,
    }


def _show(found: Trend) -> None:
    rows = [
        (
            one.at,
            str(one.judged),
            *(str(one.verdicts[verdict]) for verdict in reversed(VERDICTS)),
            str(one.failed),
            one.run,
        )
        for one in found.points
    ]
    terminal.table(_HEADS, rows)
    broken = _broken(found)
    terminal.say(f"\nStays broken: {len(broken)}")
    if broken:
        terminal.table(_BROKEN, broken[:_SHOWN])
        if len(broken) > _SHOWN:
            terminal.say(f"and {len(broken) - _SHOWN} more; --format csv lists them")
    mean = found.mean_seconds
    told = "nothing was mended yet" if mean is None else f"{lasted(mean)} ({len(found.mended)})"
    terminal.say(f"\nMean time to fix: {told}")
    terminal.say(f"Waivers that end within {SOON_DAYS} days: {len(found.endings)}")
    if found.endings:
        terminal.table(
            ("ends", "days", "host", "check", "owner"),
            [(one.expires, str(one.days), one.host, one.check, one.owner) for one in found.endings],
        )
