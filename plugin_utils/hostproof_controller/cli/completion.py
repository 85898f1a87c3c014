# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof completion``: shell completion of click; the shell runs the command for it."""

from __future__ import annotations

from typing import Any, cast

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from . import options

#: The command as the user typed it: click's own scripts only find a command in PATH.
_TYPED = {
    "bash": ("=bash_complete $1)", '=bash_complete "${1/#\\~/$HOME}")'),
    "zsh": ("=zsh_complete %(prog_name)s)", "=zsh_complete ${~words[1]})"),
    "fish": (
        "(commandline -t) %(prog_name)s)",
        "(commandline -t) (string replace -r '^~' $HOME -- (commandline -opc)[1]))",
    ),
}
#: zsh: click offers nothing where the command is not in PATH.
_ZSH_IN_PATH = "    (( ! $+commands[%(prog_name)s] )) && return 1\n"


def _class_of(shell: type[ShellComplete]) -> type[ShellComplete]:
    before, after = _TYPED[shell.name]
    template = shell.source_template.replace(before, after).replace(_ZSH_IN_PATH, "")
    return type(f"Typed{shell.__name__}", (shell,), {"source_template": template})


SHELLS = {shell.name: _class_of(shell) for shell in (BashComplete, ZshComplete, FishComplete)}


def complete(group: click.Group, variable: str, instruction: str) -> int:
    """Answer a shell, which asks ``bash_complete`` or ``bash_source`` in the variable."""
    shell, _, what = instruction.partition("_")
    if shell not in SHELLS or what not in ("complete", "source"):
        return 1
    made: Any = SHELLS[shell](group, {}, "hostproof", variable)
    click.echo(made.source() if what == "source" else made.complete())
    return 0


@options.command("completion")
@click.argument("shell", metavar="SHELL", type=click.Choice(list(SHELLS)), help=", ".join(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Prints the completion of your shell.

    bash: add this line, with the full path, to ~/.bashrc: source <(./hostproof completion bash).
    zsh: write the output to the file _hostproof in a directory of $fpath.
    fish: write the output to ~/.config/fish/completions/hostproof.fish.
    """
    group = cast(click.Group, ctx.find_root().command)
    return complete(group, "_HOSTPROOF_COMPLETE", f"{shell}_source")
