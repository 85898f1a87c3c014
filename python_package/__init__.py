# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed toolkit: the directories of a checkout in one Python package, and its command."""

import os
import sys

ROOT = os.path.dirname(os.path.realpath(__file__))


def main() -> int:
    """Run the command line; returns the exit code."""
    controller = os.path.join(ROOT, "plugin_utils")
    sys.path.insert(0, controller)
    # Programs that Hostproof starts import the controller as well.
    others = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = controller + (os.pathsep + others if others else "")
    from hostproof_controller.cli.command import main as command

    return command()
