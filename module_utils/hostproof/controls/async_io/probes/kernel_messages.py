# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of the kernel, from the journal (also before the last boot) or from dmesg.

An empty result is valid only if this user may read the kernel's messages.
"""

from typing import List, NamedTuple

from ....collect.answer import attempt
from ....collect.host import Host
from ....errors import Denied, HostproofError, ParseError, Unanswered, kind_of
from ....parsers.number import decimal, integer
from ..parsers import kernel_log

#: Limit of matching entries: the newest.
MOST = 5000
DMESG = ["dmesg"]
CLOCK = ["date", "+%s %z"]


class Clock(NamedTuple):
    """Seconds since 1970, and seconds by which local time is ahead of UTC."""

    now: float
    offset: int


def read_clock(host: Host) -> Clock:
    output = host.run(CLOCK)
    words = output.stdout.split()
    key = "command:" + " ".join(CLOCK)
    if output.rc != 0 or len(words) != 2 or len(words[1]) != 5 or words[1][0] not in "+-":
        raise Unanswered(key, f"date told {kind_of(output.stdout)}")
    hours, minutes = integer(words[1][1:3]), integer(words[1][3:])
    offset = hours * 3600 + minutes * 60
    return Clock(float(integer(words[0])), -offset if words[1][0] == "-" else offset)


def journal(pattern: str) -> List[str]:
    argv = ["journalctl", "--no-pager", "-o", "short-unix", "-n", str(MOST)]
    return argv + ["--grep", pattern, "_TRANSPORT=kernel"]


def read(host: Host, pattern: str, clock: Clock) -> List[kernel_log.Entry]:
    """Matching entries, oldest first. From dmesg all entries, because it cannot search."""
    argv = journal(pattern)
    output = attempt(host.run, argv, 30.0)
    key = "command:" + " ".join(argv)
    if isinstance(output, HostproofError):
        return _since_boot(host, clock)
    if "not seeing messages from" in output.stderr or "insufficient permissions" in output.stderr:
        raise Denied(key, "this user may not see the kernel's messages in the journal")
    if output.stderr.strip() or output.rc not in (0, 1):
        # No journal, or journalctl cannot search (before 237, or without PCRE). 1: no match.
        return _since_boot(host, clock)
    return kernel_log.of_journal(output.stdout)


def _since_boot(host: Host, clock: Clock) -> List[kernel_log.Entry]:
    output = host.run(DMESG)
    key = "command:" + " ".join(DMESG)
    if output.rc != 0 and "not permitted" in output.stderr:
        raise Denied(key, "this user may not read the kernel's messages (kernel.dmesg_restrict)")
    if output.rc != 0:
        raise Unanswered(key, f"dmesg ended with {output.rc}: {output.stderr.strip()[:200]}")
    up = host.read_text("/proc/uptime").split()
    if not up:
        raise ParseError("uptime", "it is empty")
    return kernel_log.of_dmesg(output.stdout, clock.now - decimal(up[0]))
