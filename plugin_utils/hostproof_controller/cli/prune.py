# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof prune``: delete old runs."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import click

from ..layout import WORKPLACE
from . import options, terminal
from .errors import Refused

#: The name that a run gives its directory (play.new_name).
_RUN = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}\Z")


@options.command("prune")
@click.option(
    "--keep", metavar="N", type=click.IntRange(min=1), required=True, help="number of runs to keep"
)
@click.option("--dry-run", is_flag=True, help="print the runs and delete nothing")
@click.argument(
    "reports",
    metavar="[REPORTS]",
    type=click.Path(file_okay=False),
    required=False,
    help="directory that contains the runs (default: HOSTPROOF_REPORTS, or reports/)",
)
def command(reports: str | None, keep: int, dry_run: bool) -> int:
    """Deletes the oldest runs of a directory.

    Only directories with the name that Hostproof gives a run are deleted. A signed report is kept.
    """
    parent = Path(reports or os.environ.get("HOSTPROOF_REPORTS") or WORKPLACE / "reports")
    if not parent.is_dir():
        raise Refused(f"there is no directory {parent}")
    runs = sorted(one for one in parent.iterdir() if _RUN.match(one.name) and not one.is_symlink())
    old = [one for one in runs[:-keep] if one.is_dir() and not list(one.glob("*.sig"))]
    for one in old:
        if not dry_run:
            shutil.rmtree(one)
        terminal.say(f"{'Would delete' if dry_run else 'Deleted'} {one}")
    if not old:
        terminal.say(f"Nothing to delete: {len(runs)} runs")
    return 0
