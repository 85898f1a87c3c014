# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof read``: the output of another tool, and what is wrong by it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from . import options
from .errors import Refused

if TYPE_CHECKING:
    from ..measured_file import MeasuredFile

#: Exit codes: those of an audit without hosts.
_EXITS = {code: options.JUDGED[code] for code in (0, 1, 2, 3)}


@options.command("read", exits=_EXITS)
@click.option(
    "--before",
    metavar="FILE",
    type=options.FILE,
    help="output of the same tool before the change, to compare with",
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@click.argument("files", nargs=-1, required=True, type=options.FILE, help="output of a tool")
def command(before: str | None, as_json: bool, files: tuple[str, ...]) -> int:
    """Reads the output of a tool, prints its figures and checks them against the limits.

    Known are AWR and Statspack, SLOB, Orion, oratcptest, charbench, ApacheBench, tcpdump, tcpstat,
    dumps of Exadata cells, pstack, CVU and ORAchk; iostat -x, mpstat, vmstat, sar, sadf -j,
    nfsstat, nfsiostat, /proc/self/mountstats, ss -ti, ethtool -S, ping, hping and fio (JSON); df,
    vol options, ifstat and sysconfig -c of a filer, and counters of switch ports. The checks and
    limits are those of an audit.

    Two files of the same kind are before and after: the second is compared with the first. For
    several files after the same one, use --before.
    """
    from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL

    from ..report.verdict import EXIT_FAILED, EXIT_OK, EXIT_UNDETERMINED

    found = _read(files, before)
    if as_json:
        click.echo(json.dumps([item.as_json() for item in found], indent=2, sort_keys=True))
    for item in [] if as_json else found:
        _print(item)
    statuses = {finding["status"] for item in found for finding in item.findings}
    if FAIL in statuses:
        return EXIT_FAILED
    return EXIT_UNDETERMINED if ERROR in statuses else EXIT_OK


def _read(files: tuple[str, ...], before: str | None) -> list[MeasuredFile]:
    from ansible.module_utils.hostproof.errors import HostproofError

    from .. import measured_file
    from ..report.text import one_line

    found = []
    paths = [os.path.abspath(file) for file in files]
    for file, path in zip(files, paths, strict=True):
        try:
            earlier = os.path.abspath(before) if before else None
            if before is None and len(paths) == 2 and path == paths[1]:
                earlier = _of_same_kind(*paths)
            found.append(measured_file.read(path, earlier))
        except HostproofError as problem:
            raise Refused(f"{one_line(file)}: {problem}") from None
    return found


def _of_same_kind(first: str, second: str) -> str | None:
    """The first file if both have the output of one tool."""
    from .. import measured_file

    kind = measured_file.kind_of(first)
    is_same = measured_file.kind_of(second) == kind
    return first if kind and is_same else None


def _print(item: MeasuredFile) -> None:
    from .. import measured_file
    from ..report.role_result import lines_of
    from ..report.text import one_line

    click.echo(f"{item.path}: {measured_file.TITLES[item.format]}")
    for line in [*item.figures, *(f"note: {remark}" for remark in item.remarks)]:
        click.echo(f"  {one_line(line)}")
    if item.findings:
        for line in lines_of("findings", item.findings):
            click.echo(f"  {line}")
    else:
        click.echo("  no check has a limit for these figures; compare two files with --before")
