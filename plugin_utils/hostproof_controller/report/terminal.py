# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the summary. The command passes them to the task that prints it."""

from __future__ import annotations

import json
import os
import shutil
from typing import NamedTuple

#: Environment variable with a Terminal as JSON.
TERMINAL = "HOSTPROOF_TERMINAL"


class Terminal(NamedTuple):
    """``severity``: the least severity that is printed; ``fail_on``: that makes a run fail."""

    width: int = 100
    verbose: bool = False
    quiet: bool = False
    severity: str = "low"
    fail_on: str = "low"

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
