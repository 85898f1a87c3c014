# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands of AIX print, and its tunables of input and output. Source: AIX Commands
Reference, ioo."""

from typing import Dict, List

from ...collect.host import Host
from ...errors import Unanswered
from ...parsers.unix import ioo

IOO = ["ioo", "-a"]


def said(host: Host, argv: List[str]) -> str:
    """What a command prints; Unanswered with its words if it fails."""
    output = host.run(argv)
    if output.rc != 0:
        words = " ".join((output.stdout + output.stderr).split())
        raise Unanswered(
            "command:" + " ".join(argv),
            "{0} ended with {1}: {2}".format(" ".join(argv), output.rc, words),
        )
    return output.stdout


def tunables(host: Host) -> Dict[str, str]:
    try:
        return ioo.parse(said(host, IOO))
    except Unanswered as problem:
        # Its manual: only root may run it, also to look.
        raise Unanswered(problem.key, f"{problem}; run it as root") from problem
