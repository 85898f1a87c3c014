# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m hostproof_controller.report``: render a report again, merge several, or query one."""

import argparse
import datetime
import os
import secrets
import shutil
import sys
import time
from typing import NoReturn

from ansible.module_utils.hostproof.collect.bounded import open_regular
from ansible.module_utils.hostproof.controls.registry import check_ids
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.finding import SEVERITIES

from . import query
from .document import flat_findings
from .render import Draft, render_folder, render_lines, with_waivers
from .store import FINDINGS_FILE, merge, merged_lines, read_entries
from .terminal import has_colors
from .text import one_line
from .waiver_file import load_waivers
from .waivers import Waiver

EXIT_USAGE = 1
EXIT_INTERRUPTED = 130

_DESCRIPTION = """\
Render the report of a run again, or one report of several runs or shards, without touching a host.
By host and control the latest result counts."""

_EPILOG = """\
With one DIR and without --out, the report is rendered in place; otherwise a new directory is
created. Exit code, as after a run: 0 no failure, 1 could not start, 2 a finding failed, 3 a value
could not be determined, 4 a host was unreachable. With --query: 0, or 1."""


class _Parser(argparse.ArgumentParser):
    """Usage errors exit with 1: argparse's own 2 means that a finding failed."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end the report.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except HostproofError as problem:
        _complain(problem)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="hostproof report",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("reports", nargs="+", metavar="DIR", help="report directory of a run")
    parser.add_argument("--out", metavar="DIR", help="new directory for the report")
    parser.add_argument("--query", metavar="EXPR", help="print the result of a JMESPath query")
    parser.add_argument("--waivers", metavar="FILE", help="apply the waivers of this YAML file")
    parser.add_argument("--strict", action="store_true", help="treat warnings as failures")
    parser.add_argument("-v", "--verbose", action="store_true", help="list skipped and passed")
    for name in ("--severity", "--fail-on"):
        parser.add_argument(name, choices=SEVERITIES, default=SEVERITIES[-1])
    parser.add_argument("--quiet", action="store_true", help="print no summary")
    return parser


def _run(options: argparse.Namespace) -> int:
    waivers = load_waivers(options.waivers) if options.waivers else None
    if options.query:
        _say(query.as_json(_query(options, waivers)))
        return 0
    in_place = len(options.reports) == 1 and not options.out and os.path.isdir(options.reports[0])
    if in_place:
        directory = options.reports[0]
        _find_lines(directory)
    else:
        directory = _merge_into_new(options)
    rendered = render_folder(
        directory,
        today=datetime.date.today(),
        known_checks=check_ids,
        waivers=waivers,
        strict=options.strict,
        color=has_colors(),
        width=shutil.get_terminal_size((100, 24)).columns,
        verbose=options.verbose,
        severity=options.severity,
        fail_on=options.fail_on,
    )
    if not options.quiet:
        _say(f"{rendered.summary}\n\nReport: {rendered.page}")
    return rendered.exit_code


def _complain(text: object) -> None:
    """A note or a problem, which may name what a file or a host stated."""
    print(f"hostproof report: {one_line(str(text))}", file=sys.stderr)


def _say(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; the exit code is still that of the report.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _merge_into_new(options: argparse.Namespace) -> str:
    """Make a new report directory that holds the merged lines of the given ones."""
    notes: list[str] = []
    results = merge(read_entries(options.reports, notes))
    for note in notes:
        _complain(note)
    directory = _make_folder(options.out)
    with Draft(os.path.join(directory, FINDINGS_FILE)) as draft:
        for line in render_lines(merged_lines(results)):
            draft.write(line)
        draft.replace()
    return directory


def _find_lines(directory: str) -> None:
    """Raise HostproofError, which names the file, where there is nothing to be rendered."""
    path = os.path.join(directory, FINDINGS_FILE)
    try:
        open_regular(path).close()
    except OSError as problem:
        raise HostproofError(f"{path}: {problem.strerror or problem}") from problem


def _make_folder(path: str | None) -> str:
    if path is None:
        os.makedirs("reports", mode=0o700, exist_ok=True)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    directory = path or os.path.join("reports", f"{stamp}-{secrets.token_hex(2)}")
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        raise HostproofError(f"{directory} exists already; a report is never overwritten") from None
    except OSError as problem:
        raise HostproofError(f"{directory}: {problem.strerror}") from problem
    return directory


def _query(options: argparse.Namespace, waivers: list[Waiver] | None) -> object:
    expression = query.Expression(options.query)
    notes: list[str] = []
    results = merge(read_entries(options.reports, notes))
    for note in notes:
        _complain(note)
    if waivers is not None:
        results = with_waivers(results, waivers, datetime.date.today(), check_ids())
    findings = flat_findings(results)
    result = expression.search(findings)
    for sentence in expression.unknown_fields(findings):
        _complain(sentence)
    return result


if __name__ == "__main__":
    sys.exit(main())
