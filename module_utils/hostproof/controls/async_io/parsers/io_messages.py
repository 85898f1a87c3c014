# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about asynchronous I/O in alert logs and trace files.

Sources: Oracle Database Error Messages, ORA-27037 to ORA-27103; My Oracle Support 579108.1 and
1313555.1; tests/fixtures/io_messages/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ....parsers.oracle import alert_log

#: The kernel has no more contexts: fs.aio-max-nr on Linux, aio_maxreqs on AIX.
LIMIT = "limit"
#: A request did not return: the storage or the path to it stalled.
STALLED = "stalled"
#: The file system or the device does not support asynchronous or direct I/O.
REFUSED = "refused"
#: A request failed.
FAILED = "failed"

_CODES: Dict[str, str] = {
    "27090": LIMIT,
    "27079": LIMIT,
    "27061": STALLED,
    "27062": STALLED,
    "27083": STALLED,
    "27057": REFUSED,
    "27064": REFUSED,
    "27065": REFUSED,
    "27067": REFUSED,
    "27068": REFUSED,
    "56708": REFUSED,
    "27063": FAILED,
    "27069": FAILED,
    "27070": FAILED,
    "27072": FAILED,
    "27073": FAILED,
    "27091": FAILED,
    "27103": FAILED,
}
#: Messages without a number, in lower case. The database itself writes "kernelI/O".
_WORDS = (
    ("io_submit failed due to kernel limitations maxaio", "MAXAIO", LIMIT),
    ("running out of os kernel", "MAXAIO", LIMIT),
    ("lio_listio returned eagain", "lio_listio", LIMIT),
    ("i/o request got either eintr or eagain", "lio_listio", LIMIT),
    ("aiowait timed out", "aiowait", STALLED),
)
#: Extended regular expression for all messages. Old versions of awk do not support {2}.
PATTERN = "|".join(
    [f"ORA-{code}" for code in sorted(_CODES)]
    + ["error=270[0-9][0-9]", "MAXAIO", "OS kernel ?I/O", "lio_listio returned"]
    + ["EINTR or EAGAIN", "aiowait timed out"]
)
#: The same for lines with the time and the process of a message.
TIMES = (
    "^([*][*][*] .*)?[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:",
    "^[A-Z][a-z][a-z] [A-Z][a-z][a-z] [ 0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9] ",
)

_CODE = re.compile(r"\b(?:ORA-|error=)(\d{5})\b")
#: "Linux-x86_64 Error: 11: Resource temporarily unavailable", "SVR4 Error: 5: I/O error".
_ERRNO = re.compile(r"^(?:[\w-]+) Error: (\d{1,5}: .{1,80})$")
_TRACE = re.compile(r"Errors in file (\S+)\.trc\b", re.IGNORECASE)
#: The system error is in one of the next lines after a message.
_NEAR = 2


class Message(NamedTuple):
    """A message. ``code`` is "ORA-27062" or a word; ``at`` is None before the first time in the
    text.

    ``process`` is the trace file in the message without .trc (orcl_dbw0_4928), "" without one.
    ``errno`` is the system error, None without one.
    """

    code: str
    kind: str
    at: Optional[float]
    process: str
    errno: Optional[str]


def parse(text: str, offset: int, process: str = "") -> List[Message]:
    """All messages in the order of the text. ``offset`` is that of alert_log.moment."""
    messages: List[Message] = []
    at: Optional[float] = None
    trace, last = process, -_NEAR - 1
    for number, line in enumerate(text.split("\n")):
        line = line.strip()
        time = alert_log.moment(line, offset)
        if time is not None:
            at, trace = time, process
            continue
        named = _TRACE.search(line)
        if named is not None:
            trace = named.group(1).replace("\\", "/").rpartition("/")[2]
        errno = _ERRNO.match(line)
        if errno is not None and messages and number - last <= _NEAR:
            messages[-1] = messages[-1]._replace(errno=errno.group(1))
        message = _message(line)
        if message is not None:
            messages.append(message._replace(at=at, process=trace))
            last = number
    return messages


def _message(line: str) -> Optional[Message]:
    code = _CODE.search(line)
    if code is not None and code.group(1) in _CODES:
        return Message("ORA-" + code.group(1), _CODES[code.group(1)], None, "", None)
    small = line.lower()
    for words, name, kind in _WORDS:
        if words in small:
            return Message(name, kind, None, "", None)
    return None
