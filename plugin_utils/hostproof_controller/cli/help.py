# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof help [COMMAND]``: the same as ``--help``."""

from __future__ import annotations

from typing import cast

import click
from click.shell_completion import CompletionItem

from . import options


def _group(ctx: click.Context) -> click.Group:
    return cast(click.Group, ctx.find_root().command)


class _CommandName(click.ParamType):
    name = "command"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names = _group(ctx).list_commands(ctx)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@options.command("help")
@click.argument(
    "name", metavar="[COMMAND]", type=_CommandName(), required=False, help="name of a command"
)
@click.pass_context
def command(ctx: click.Context, name: str | None) -> int:
    root = ctx.find_root()
    if name is None:
        click.echo(root.get_help())
        return 0
    found = _group(ctx).get_command(root, name)
    if found is None:
        raise click.NoSuchCommand(name, ctx=root)
    click.echo(found.get_help(click.Context(found, parent=root, info_name=name)))
    return 0
