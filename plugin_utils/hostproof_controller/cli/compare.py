# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof compare HOST HOST``: what two hosts differ in, such as a standby."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from ..cluster.pairs import differences
from ..history.trend import folders
from ..layout import WORKPLACE
from ..report.csv import as_csv
from ..report.host_state import HostState
from ..report.markdown import as_markdown
from ..report.store import Results, is_pseudo, merge, read_entries
from . import options, terminal
from .errors import Refused, complain
from .suggestions import did_you_mean, quoted

EXIT_OTHER = 3
#: Default number of runs to read.
MOST_RUNS = 50


@options.command(
    "compare",
    exits={0: "no difference", 1: "usage or setup error", EXIT_OTHER: "the hosts differ"},
)
@click.option(
    "--report",
    "reports",
    metavar="DIR",
    multiple=True,
    type=options.PATH,
    help=f"report directory with the hosts (default: the latest {MOST_RUNS} runs in reports/)",
)
@options.format_option("text", "json", "csv", "markdown")
@options.color_option
@click.argument("first", metavar="HOST", help="a host of the reports")
@click.argument("second", metavar="HOST", help="the other host")
def command(first: str, second: str, reports: tuple[str, ...], output_format: str) -> int:
    """Lists the settings in which two hosts differ, by control: what is required, persisted and
    running, and the status of a check that fails on one of them only.

    It reads the latest result of each host and contacts none.
    """
    results = _results(reports)
    one, other = _host(results, first), _host(results, second)
    rows = differences(one, other)
    heads = ("control", "setting", "layer", one.name, other.name)
    if output_format == "json":
        print(json.dumps([row._asdict() for row in rows], indent=1))
    elif output_format == "csv":
        print(as_csv(heads, rows), end="")
    elif output_format == "markdown":
        print(as_markdown(heads, rows), end="")
    else:
        if rows:
            terminal.table(heads, rows, wraps=1)
            terminal.say("")
        count = f"{len(rows)} difference{'' if len(rows) == 1 else 's'}"
        terminal.say(f"{count if rows else 'No difference'} between {one.name} and {other.name}")
    return EXIT_OTHER if rows else 0


def _results(reports: tuple[str, ...]) -> Results:
    parent = Path(os.environ.get("HOSTPROOF_REPORTS") or WORKPLACE / "reports")
    paths = list(reports) or [str(path) for path in folders(parent, MOST_RUNS)]
    if not paths:
        raise Refused(f"{parent} has no run: audit both hosts first, or name one with --report")
    notes: list[str] = []
    results = merge(read_entries(paths, notes), notes)
    for note in notes:
        complain(note)
    return results


def _host(results: Results, name: str) -> HostState:
    state = results.hosts.called(name)
    if state is None:
        known = [host.name for host in results.hosts if not is_pseudo(host.name)]
        hint = did_you_mean(name, known, 0) or "; audit it first, or name its run with --report"
        raise Refused(f"the reports have no host {quoted(name)}{hint}")
    return state
