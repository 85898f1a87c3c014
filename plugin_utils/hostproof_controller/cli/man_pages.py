# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the man pages: ``python -m hostproof_controller.cli.man_pages DIR``.

For the build of a package. It requires click-man, which is in requirements-dev.txt.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from ansible.module_utils.hostproof import VERSION
from click_man.man import ManPage

from .command import COMMANDS, VARIABLES, every_command, hostproof
from .examples import OF_COMMANDS
from .help import context_of
from .options import Command


def pages() -> Iterator[tuple[str, str]]:
    """File name and text of each page: the group's, then one for each command."""
    root = click.Context(hostproof, info_name="hostproof", **hostproof.context_settings)
    yield "hostproof.1", _page(root, COMMANDS) + _section("ENVIRONMENT", VARIABLES)
    for words in every_command():
        context = context_of(root, words.split())
        command = context.command
        inner = command.commands.values() if isinstance(command, click.Group) else ()
        page = _page(
            context,
            {str(subcommand.name): subcommand.get_short_help_str(100) for subcommand in inner},
        )
        if isinstance(command, Command):
            codes = {str(code): meaning for code, meaning in command.exits.items()}
            page += _section("EXIT STATUS", codes)
        if words in OF_COMMANDS:
            page += f".SH EXAMPLE\n{_roff('./hostproof ' + OF_COMMANDS[words])}\n"
        yield f"hostproof-{words.replace(' ', '-')}.1", page


def _page(context: click.Context, commands: dict[str, str]) -> str:
    command = context.command
    page = ManPage(context.command_path)
    page.version = VERSION
    page.short_help = _roff(command.get_short_help_str(limit=100))
    page.synopsis = " ".join(command.collect_usage_pieces(context))
    page.description = _roff(inspect.cleandoc(command.help or ""))
    page.commands = [(name, _roff(summary)) for name, summary in commands.items()]
    params = command.get_params(context)
    records = [param.get_help_record(context) for param in params]
    page.options = [(names, _roff(text)) for names, text in filter(None, records)]
    return str(page)


def _section(title: str, items: dict[str, str]) -> str:
    lines = [f".SH {title}"]
    for name, text in items.items():
        lines += [".TP", rf"\fB{_roff(name)}\fP", _roff(text)]
    return "\n".join(lines) + "\n"


def _roff(text: str) -> str:
    """Text of a page: a line that begins with a dot or a quote would be a request of roff.

    A package has the command in the PATH.
    """
    lines = (
        text.replace("./hostproof", "hostproof")
        .replace("\\", "\\e")
        .replace("-", "\\-")
        .split("\n")
    )
    return "\n".join(rf"\&{line}" if line.startswith((".", "'")) else line for line in lines)


def main(arguments: list[str]) -> int:
    """Write the pages to a new or existing directory."""
    (name,) = arguments or ["."]
    directory = Path(name)
    directory.mkdir(parents=True, exist_ok=True)
    for file, text in pages():
        (directory / file).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
