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
    context = root
    for name in names:
        group = context.command
        command = group.get_command(context, name) if isinstance(group, click.Group) else None
        if command is None:
            raise click.NoSuchCommand(name, ctx=context)
        context = click.Context(command, parent=context, info_name=name)
    return context


class _CommandName(click.ParamType):
    name = "command"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        context = context_of(ctx.find_root(), ctx.params.get("names") or ())
        group = context.command
        names = group.list_commands(context) if isinstance(group, click.Group) else []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@options.command("help")
@click.argument(
    "names", metavar="[COMMAND]", type=_CommandName(), nargs=-1, help="name of a command"
)
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...]) -> int:
    click.echo(context_of(ctx.find_root(), names).get_help())
    return 0
