# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof test``: the test runner, which parses what follows by itself."""

import os
import sys

from .command import Given
from .environment import ROOT, child_environment, environment_folder


def run(given: Given) -> int:
    programs = environment_folder() / "bin"
    environment = child_environment()
    environment["PATH"] = f"{programs}:{environment.get('PATH', os.defpath)}"
    command = [str(programs / "python"), str(ROOT / "tests/run"), *given.typed]
    sys.stdout.flush()
    os.execve(command[0], command, environment)
