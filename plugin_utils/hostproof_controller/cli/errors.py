# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the command reports what is wrong: one line on stderr, and exit code 1."""

from __future__ import annotations

import sys

from ansible.module_utils.hostproof.errors import HostproofError

from ..report.text import one_line

EXIT_USAGE = 1
EXIT_INTERRUPTED = 130


class Refused(HostproofError):
    """The command cannot run as it was typed; the message is one sentence that states why."""


def complain(text: object) -> None:
    """Print one line to stderr; characters that a terminal would obey are written out."""
    print(f"hostproof: {one_line(str(text))}", file=sys.stderr)
