# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about asynchronous I/O in the logs of an instance, with their time.

awk reads the logs once, as the owner of the home. It prints only the newest messages, each after
its time and its trace file. Source: POSIX, awk.
"""

from typing import List

from ....collect.host import Host
from ....errors import Absent, Unanswered
from ....probes.oracle import alert_logs
from ..parsers import io_messages
from ..parsers.io_messages import Message

#: Limit of messages per log: the newest.
MOST = 1000
#: Kilobytes. A larger trace file is a dump.
_LARGEST_TRACE = 32768
#: Names in trace files of the processes that write database files (find -name).
_WRITERS = ("dbw?", "bw??", "lgwr", "lg??", "ckpt")

_AWK = """\
FNR == 1 && traces {{ time = ""; file = "Errors in file " FILENAME ":" }}
/{times}/ {{ time = $0; if (!traces) file = ""; next }}
/Errors in file / && !traces {{ file = $0; next }}
/{messages}/ {{ n++; kept[n % {most}] = time "\\n" file "\\n" $0; near = 2; next }}
near > 0 {{ near--; if (/ Error: [0-9]+: /) kept[n % {most}] = kept[n % {most}] "\\n" $0 }}
END {{ for (i = n > {most} ? n - {most} + 1 : 1; i <= n; i++) print kept[i % {most}] }}
"""


def _program() -> str:
    def escaped(pattern: str) -> str:
        return pattern.replace("/", "\\/")

    return _AWK.format(
        times="|".join(map(escaped, io_messages.TIMES)),
        messages=escaped(io_messages.PATTERN),
        most=MOST,
    )


def read_alert_log(host: Host, path: str, user: str, offset: int) -> List[Message]:
    """The messages in an alert log. ``offset``: seconds by which local time is ahead of UTC."""
    name = "messages of " + path
    output = alert_logs.run_as(host, ["awk", _program(), path], user, name)
    if "No such file" in output.stderr:
        raise Absent("command:" + name, f"{path}: No such file or directory")
    if output.rc != 0:
        raise Unanswered("command:" + name, f"{path}: {output.stderr.strip()[:200]}")
    return io_messages.parse(output.stdout, offset)


def read_traces(
    host: Host, directory: str, sid: str, days: int, user: str, offset: int
) -> List[Message]:
    """The messages in trace files of the writing processes that were changed in these days."""
    name = f"messages of the traces of {sid} in {directory}"
    argv = ["find", directory, "-maxdepth", "1", "-type", "f", "-mtime", f"-{days}"]
    argv += ["-size", f"-{_LARGEST_TRACE}k", "("]
    for number, writer in enumerate(_WRITERS):
        argv += ["-o"] if number else []
        argv += ["-name", f"{sid}_{writer}_*.trc"]
    argv += [")", "-exec", "awk", "-v", "traces=1", _program(), "{}", "+"]
    output = alert_logs.run_as(host, argv, user, name)
    if output.rc != 0:
        raise Unanswered("command:" + name, f"{directory}: {output.stderr.strip()[:200]}")
    return io_messages.parse(output.stdout, offset)
