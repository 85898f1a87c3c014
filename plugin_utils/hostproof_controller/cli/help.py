# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof help [COMMAND]``: the same as ``--help``."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from . import options


def context_of(root: click.Context, names: Iterable[str]) -> click.Context:
    """The context of a command (``latency``, ``compare``), which its help text needs."""
    found = root
    for name in names:
        group = found.command
        command = group.get_command(found, name) if isinstance(group, click.Group) else None
        if command is None:
            raise click.NoSuchCommand(name, ctx=found)
        found = click.Context(command, parent=found, info_name=name)
    return found


class _CommandName(click.ParamType):
    name = "command"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        given = context_of(ctx.find_root(), ctx.params.get("names") or ())
        group = given.command
        names = group.list_commands(given) if isinstance(group, click.Group) else []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@options.command("help")
@click.argument(
    "names", metavar="[COMMAND]", type=_CommandName(), nargs=-1, help="name of a command"
)
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...]) -> int:
    click.echo(context_of(ctx.find_root(), names).get_help())
    return 0
