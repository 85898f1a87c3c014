# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that answer with one line."""

from typing import List

from ...collect.host import Host
from ...errors import Unanswered


def read(host: Host, argv: List[str]) -> str:
    """The one line that a command prints; Unanswered for anything else."""
    output = host.run(argv)
    lines = output.stdout.strip().splitlines()
    if output.rc != 0 or len(lines) != 1:
        command = " ".join(argv)
        problem = f"{command} ended with {output.rc} and no usable line"
        raise Unanswered("command:" + command, problem)
    return lines[0]
