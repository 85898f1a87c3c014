# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the summary, and colours. The command passes them to the task that prints it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from functools import cache
from typing import NamedTuple

#: Styles of rich for statuses, verdicts, severities and changes.
STYLES = {
    "fail": "bold red",
    "error": "magenta",
    "warn": "yellow",
    "waived": "cyan",
    "skip": "dim",
    "pass": "green",
    "critical": "bold",
    "new": "red",
    "fixed": "green",
    "changed": "yellow",
    "gone": "dim",
    "not ready": "bold red",
    "unreachable": "bold magenta",
    "undetermined": "bold magenta",
    "not a database host": "dim",
    "ready with warnings": "bold yellow",
    "ready": "bold green",
}

#: Environment variable with a Terminal as JSON.
TERMINAL = "HOSTPROOF_TERMINAL"


class Terminal(NamedTuple):
    """``severity``: the least severity that is printed; ``fail_on``: that makes a run fail."""

    width: int = 100
    verbose: bool = False
    quiet: bool = False
    severity: str = "low"
    fail_on: str = "low"
    color: bool = False

    def words(self) -> list[str]:
        """The same as options of report/__main__.py."""
        words = [f"--severity={self.severity}", f"--fail-on={self.fail_on}"]
        return words + ["--verbose"] * self.verbose + ["--quiet"] * self.quiet


def terminal() -> Terminal:
    """The options of this run; without the command, those of a plain ansible-playbook."""
    setting = os.environ.get(TERMINAL)
    if setting:
        return Terminal(**json.loads(setting))
    return Terminal(width=shutil.get_terminal_size((100, 24)).columns)


def has_colors() -> bool:
    """Whether this process prints colours: on a terminal, or with --color always."""
    if "NO_COLOR" in os.environ:
        return False
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def painted(name: str, text: str) -> str:
    """The text in the style of a status or a verdict, as codes of a terminal."""
    begin, end = _codes(name)
    return f"{begin}{text}{end}" if text else text


@cache
def _codes(name: str) -> tuple[str, str]:
    """The codes before and after a text in this style."""
    if name not in STYLES:
        return "", ""
    from rich.color import ColorSystem
    from rich.style import Style

    shown = Style.parse(STYLES[name]).render(" ", color_system=ColorSystem.STANDARD)
    begin, _, end = shown.partition(" ")
    return begin, end


def codes() -> frozenset[str]:
    """Every code of a terminal that painted() uses."""
    return frozenset(code for name in STYLES for code in _codes(name))
