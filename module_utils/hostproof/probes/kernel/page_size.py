# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes of an ordinary page: the unit of kernel.shmall and of /proc/buddyinfo's orders."""

from ...collect.host import Host
from ...errors import Unanswered
from ...parsers.number import integer

_GETCONF = ["getconf", "PAGESIZE"]


def read(host: Host) -> int:
    output = host.run(_GETCONF)
    try:
        if output.rc != 0:
            raise ValueError("it failed")
        size = integer(output.stdout.strip())
        if size <= 0:
            raise ValueError("no page has no bytes")
        return size
    except ValueError:
        answered = "getconf answered " + output.stdout[:40]
        raise Unanswered("command:" + " ".join(_GETCONF), answered) from None
