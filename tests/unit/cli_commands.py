"""The commands of ./hostproof as tests read them: names, options, arguments and exit codes."""

from typing import Any

import click
from hostproof_controller.cli import command, options


def commands() -> dict[str, options.Command]:
    """Every command that does something, by its words (``latency compare``)."""
    every: dict[str, Any] = command.every_command()
    return {words: entry for words, entry in every.items() if not isinstance(entry, click.Group)}


def options_of(name: str) -> dict[str, click.Option]:
    """The options of a command, with those of Ansible, each under all its names."""
    entry = commands()[name]
    root = click.Context(command.hostproof, **command.hostproof.context_settings)
    params = entry.get_params(click.Context(entry, info_name=name, parent=root))
    return {
        word: param
        for param in params
        if isinstance(param, click.Option)
        for word in (*param.opts, *param.secondary_opts)
    }
