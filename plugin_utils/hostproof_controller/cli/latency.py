# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof latency``: measure latency before and after a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@click.group("latency", invoke_without_command=True, context_settings=options.HELP_OPTIONS)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Measures latency before and after a change.

    Run baseline before the change and compare after it (docs/latency_gate.md).
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return 0


@options.command("baseline", exits=options.ANSIBLE, hosts=True)
@options.with_verdict
def baseline(ansible: AnsibleOptions, **values: Any) -> int:
    """Measure latency as a baseline for latency compare."""
    from .play import Play

    return Play("baseline", ansible, **values).run()


@options.command("compare", exits=options.JUDGED, hosts=True)
@options.with_verdict
@options.with_terminal
@click.option(
    "--baseline",
    metavar="DIR",
    type=options.DIRECTORY,
    help="baseline directory (default: the latest)",
)
def compare(ansible: AnsibleOptions, **values: Any) -> int:
    """Measure latency again and compare it with a baseline."""
    from .play import Play

    return Play("compare", ansible, **values).run()


command.add_command(baseline)
command.add_command(compare)
