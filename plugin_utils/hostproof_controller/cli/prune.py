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
    runs = sorted(
        path for path in parent.iterdir() if _RUN.match(path.name) and not path.is_symlink()
    )
    old = [path for path in runs[:-keep] if path.is_dir() and not list(path.glob("*.sig"))]
    for run in old:
        if not dry_run:
            shutil.rmtree(run)
        terminal.say(f"{'Would delete' if dry_run else 'Deleted'} {run}")
    if not old:
        terminal.say(f"Nothing to delete: {len(runs)} runs")
    return 0
