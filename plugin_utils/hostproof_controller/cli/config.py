# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof config``: the effective settings and their origin."""

from __future__ import annotations

import json

import click

from . import options, project_file, terminal

HEADS = ("key", "value", "origin", "environment variable", "option")


@options.command("config")
@options.format_option("text", "json")
@click.pass_obj
def command(variables: dict[str, str] | None, output_format: str) -> int:
    """Prints each setting of hostproof.yml with its effective value and its origin.

    An option of the command line overrides all of them.
    """
    settings = project_file.effective(variables or {})
    if output_format == "json":
        print(json.dumps({name: setting._asdict() for name, setting in settings.items()}, indent=1))
        return 0
    rows = [
        (name, setting.value or "-", setting.origin, key.variable, key.option or "-")
        for (name, setting), key in zip(settings.items(), project_file.KEYS.values(), strict=True)
    ]
    terminal.table(HEADS, rows, wraps=1)
    return 0
