# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Alert logs and trace files: where they lie, and what is read of them.

They can be of many gigabytes, and are on a server that does not answer: commands with a time limit
read them, as the owner of the home, and only what is required leaves the commands."""

import re
from typing import List, Optional

from ...collect.answer import known
from ...collect.command import Command
from ...collect.host import Host, Output
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.number import integer
from ...parsers.oracle import alert_log_large_pages
from ..nfs import nfs_files
from .next_start import Database

#: Seconds: reading a long alert log takes a while.
LOG_TIMEOUT = 60.0
#: Lines after the last start that are checked.
LOG_LINES = 400

_STARTING = "Starting ORACLE instance"


class NoStart(Unanswered):
    """The alert log was read to its end, and no start is in it: it was rotated."""


def find(host: Host, database: Database, path: Optional[str], variable: str) -> str:
    """The policy's path, else where the instance states, else where the base directory has it.

    ``variable`` is the one that can list it.
    """
    if path is not None:
        return path
    answer = database.asked
    if not isinstance(answer, HostproofError) and answer.trace is not None:
        return f"{answer.trace}/alert_{database.sid}.log"
    return _search(host, database.sid, known(database.home), variable)


def _search(host: Host, sid: str, home: str, variable: str) -> str:
    """BASE/diag/rdbms/DATABASE/SID/trace: the database's name can be another than the SID."""
    above = _base_of(home, variable) + "/diag/rdbms"
    argv = ["find", above, "-mindepth", "4", "-maxdepth", "4", "-name", "alert_" + sid + ".log"]
    paths = host.run_as_reader(argv, [above], nfs_files.TIMEOUT).stdout.split()
    if len(paths) != 1:
        raise Unanswered(
            "command:" + " ".join(argv),
            f"the alert log of {sid} was not found below {above}: list it in {variable}",
        )
    return paths[0]


def _base_of(home: str, variable: str) -> str:
    """ORACLE_BASE by the layout that Oracle recommends: BASE/product/..."""
    base, separator, _rest = home.partition("/product/")
    if not separator:
        raise Unanswered(
            "dir:" + home,
            f"{home} is not in BASE/product: list the alert log in {variable}",
        )
    return base


def read_last_start(host: Host, path: str, user: str) -> alert_log_large_pages.Start:
    """What the alert log states of the last start; its lines count from that start.

    The log can be of many gigabytes: only the lines of the last start leave the commands.
    """
    argv = ["grep", "-a", "-n", "-e", "^" + _STARTING, path]
    output = run_as(host, argv, user)
    key = "command:" + " ".join(argv)
    if "No such file" in output.stderr:
        raise Absent(key, f"{path}: No such file or directory")
    numbers = re.findall(r"^(\d+):", output.stdout, re.MULTILINE)
    if output.rc == 1 and not output.stdout and not output.stderr:
        raise NoStart(key, f"{path} shows no start of an instance")
    if output.rc not in (0, 1) or not numbers:
        raise Unanswered(
            key, f"{path} shows no start of an instance {output.stderr.strip()}".strip()
        )
    first = integer(numbers[-1])
    shown = ["sed", "-n", "-e", f"{first},{first + LOG_LINES}p"]
    shown += ["-e", f"{first + LOG_LINES}q", path]
    block = run_as(host, shown, user)
    if block.rc != 0:
        raise Unanswered("command:" + " ".join(shown), f"{path}: {block.stderr}")
    return alert_log_large_pages.parse(block.stdout)


def run_as(host: Host, argv: List[str], user: str, name: str = "") -> Output:
    """As the owner of the home, whose files these are; ``name`` where the argv would be none."""
    limits = nfs_files.LIMITS
    return host.ask(
        Command(name or " ".join(argv), tuple(argv), user=user, timeout=LOG_TIMEOUT, limits=limits)
    )
