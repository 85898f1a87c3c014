# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof checks``: list all checks."""

from __future__ import annotations

import json

import click
from ansible.module_utils.hostproof.controls.registry import NAMES

from . import options, terminal
from .errors import Refused
from .explain import OWN, all_checks, own_checks
from .names import ControlName
from .releases import since
from .suggestions import did_you_mean, quoted

HEADS = ("check", "title", "severity", "takes effect", "control")


@options.command("checks")
@click.option(
    "--control",
    metavar="CONTROL",
    type=ControlName(),
    help="only checks of this control",
)
@options.format_option("text", "json", "csv", "markdown")
@options.own_checks_option
def command(control: str | None, output_format: str, inventories: tuple[str, ...]) -> int:
    """Lists every check: id, title, severity, when its fix takes effect, control."""
    if control is not None and control not in NAMES:
        hint = did_you_mean(control, NAMES)
        raise Refused(
            f"there is no control {quoted(control)}{hint or '; there are ' + ', '.join(NAMES)}"
        )
    own = (one.check for one in own_checks(inventories))
    checks = [check for check in (*all_checks(), *own) if control in (None, check.control)]
    rows = [
        (check.id, check.title, check.severity, check.takes_effect.replace("_", " "), check.control)
        for check in checks
    ]
    if output_format == "json":
        records = [
            {
                **check._asdict(),
                "control": check.control,
                "since": None if check.control == OWN else since(check.id),
            }
            for check in checks
        ]
        print(json.dumps(records, indent=1))
    elif output_format == "csv":
        print(terminal.as_csv(HEADS, rows), end="")
    elif output_format == "markdown":
        print(terminal.as_markdown(HEADS, rows), end="")
    else:
        terminal.table(HEADS, rows, wraps=1)
    return 0
