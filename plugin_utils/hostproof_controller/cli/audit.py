# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof audit``: run all checks, read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..targets import RELEASES, SYSTEMS
from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@options.command("audit", exits=options.JUDGED, hosts=True)
@click.option(
    "--evidence",
    metavar="PATH",
    type=options.PATH,
    help="audit evidence packs or support archives instead of hosts: a directory or a file",
)
@click.option(
    "--target-release",
    type=click.Choice(RELEASES),
    help="check the readiness for an upgrade to this Oracle release",
)
@click.option(
    "--target-os",
    type=click.Choice(SYSTEMS),
    help="check the readiness for a migration to this distribution",
)
@options.with_profile
@options.with_verdict
@options.with_terminal
@options.with_selection
@click.option("--slices", metavar="N", help="split the run into N parallel jobs, or auto")
@click.option(
    "--slice-nodes",
    metavar="FILE",
    type=options.FILE,
    help="run the slices on these nodes over SSH (docs/runner.md)",
)
def command(ansible: AnsibleOptions, **values: Any) -> int:
    """Reads each host once, runs the checks, and writes a report to reports/."""
    from .play import Play

    return Play("audit", ansible, **values).run()
