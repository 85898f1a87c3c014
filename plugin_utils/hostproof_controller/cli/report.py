# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof report``: render again, merge, query, and export reports."""

from __future__ import annotations

import datetime
import os
import sys

import click
from ansible.module_utils.hostproof.controls.registry import check_ids

from ..report.formats import FORMATS, text_of
from ..report.render import with_waivers, write_private
from ..report.store import Results, merge, read_entries
from ..report.verdict import exit_code
from ..report.waiver_file import load_waivers
from . import options
from .errors import Refused, complain
from .signing import MANIFEST


@options.command(
    "report",
    exits={**options.JUDGED, 0: "no failure; always with --query and --fixes"},
)
@click.option("--out", metavar="DIR", type=options.NEW_DIRECTORY, help="new directory or file")
@click.option("--query", metavar="EXPR", help="print the result of a JMESPath query")
@options.with_verdict
@options.with_terminal
@click.option("-v", "--verbose", is_flag=True, help="list skipped and passed checks")
@options.format_option(
    *FORMATS, text="print the findings in this format (with --out: to this new file)", default=None
)
@click.option(
    "--world-readable", is_flag=True, help="make the --out file world-readable and replace it"
)
@click.option(
    "--fixes",
    metavar="DIR",
    type=options.NEW_DIRECTORY,
    help="write a fix script and playbook for each host to this new directory, for review",
)
@click.argument(
    "directories",
    metavar="DIR...",
    nargs=-1,
    required=True,
    type=click.Path(),
    help="report directory of a run",
)
def command(
    directories: tuple[str, ...],
    out: str | None,
    query: str | None,
    waivers: str | None,
    strict: bool,
    quiet: bool,
    severity: str | None,
    fail_on: str | None,
    verbose: bool,
    output_format: str | None,
    world_readable: bool,
    fixes: str | None,
) -> int:
    """Renders the report of a run again, or merges several runs, without contacting a host.

    The latest result of each host and control is used. With one DIR and without --out, the report
    is rendered in place; otherwise a new directory is made.
    """
    if output_format is None and fixes is None and not world_readable:
        terminal = [f"--severity={severity}"] * bool(severity)
        terminal += [f"--fail-on={fail_on}"] * bool(fail_on) + ["-v"] * verbose
        return _render(directories, out, query, waivers, strict, quiet, terminal)
    if query is not None or quiet:
        other = "--fixes" if fixes is not None else "--format"
        raise Refused(f"--{'quiet' if query is None else 'query'} cannot be used with {other}")
    _check_together(output_format, fixes, out, world_readable=world_readable)
    results = _results(directories, waivers)
    results.fail_on = fail_on or results.fail_on
    if fixes is not None:
        from .fixes import write

        return write(results, fixes)
    text = text_of(results, output_format or "", strict)
    _put(text, out, world_readable=world_readable)
    return exit_code(results, strict)


def _put(text: str, out: str | None, *, world_readable: bool) -> None:
    if out is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    elif world_readable:
        # In one step: what reads it meanwhile never finds half of it.
        write_private(out, text, mode=0o644)
    else:
        _write_new(out, text)


def _check_together(
    output_format: str | None, fixes: str | None, out: str | None, *, world_readable: bool
) -> None:
    if fixes is not None and out is not None:
        raise Refused("--out cannot be used with --fixes")
    if world_readable and (output_format is None or out is None):
        raise Refused("--world-readable requires --format and --out")
    if output_format is not None and fixes is not None:
        raise Refused("--format cannot be used with --fixes")


def _render(
    directories: tuple[str, ...],
    out: str | None,
    query: str | None,
    waivers: str | None,
    strict: bool,
    quiet: bool,
    terminal: list[str],
) -> int:
    from ..report.__main__ import main

    in_place = len(directories) == 1 and not out and not query
    if in_place and os.path.exists(os.path.join(directories[0], MANIFEST)):
        raise Refused(f"{directories[0]} is signed and cannot be rendered in place: use --out DIR")
    valued = {"--out": out, "--query": query, "--waivers": waivers}
    words = [f"{name}={value}" for name, value in valued.items() if value is not None]
    words += ["--strict"] * strict + ["--quiet"] * quiet + terminal
    return main([*words, "--", *directories])


def _results(directories: tuple[str, ...], waivers: str | None) -> Results:
    notes: list[str] = []
    results = merge(read_entries(directories, notes), notes)
    for note in notes:
        complain(note)
    if waivers is None:
        return results
    return with_waivers(results, load_waivers(waivers), datetime.date.today(), check_ids())


def _write_new(path: str, text: str) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as problem:
        raise Refused(f"--out: {path}: {problem.strerror}") from problem
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text)
