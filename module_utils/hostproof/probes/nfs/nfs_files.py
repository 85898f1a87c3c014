# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that may be on NFS, read through commands with a time limit.

An unreachable server blocks every process that opens, lists or resolves a path on it. A command can
be killed; this program cannot be interrupted.
"""

import re
from typing import List, NamedTuple, Optional, Sequence

from ...collect.command import OUTPUT_LIMIT, Command
from ...collect.host import Host, Output, Record
from ...errors import Absent, Denied, Unanswered
from ...parsers.number import integer

#: Seconds until a server counts as one that does not answer.
TIMEOUT = 5.0

#: Maximum output that such a command may write: slightly more than is accepted.
LIMITS = {"FSIZE": (OUTPUT_LIMIT + 1, OUTPUT_LIMIT + 1)}

#: ls -Lin: inode, mode, links, uid, gid, size, three words of time, name (POSIX, ls).
_LISTED = re.compile(r"^\s*(\d+) -\S+ +\d+ +\d+ +\d+ +(\d+) +\S+ +\S+ +\S+ (\S+)$")


class File(NamedTuple):
    """A plain file, links followed: size in bytes."""

    name: str
    inode: int
    size: int


def read_text(
    host: Host,
    path: str,
    user: Optional[str] = None,
    named_by: Sequence[str] = (),
    record: Optional[Record] = None,
) -> str:
    """As Host.read_text; ``named_by`` are the files that the path was taken from."""
    return run(host, ["cat", path], user, named_by, record)


def read_text_without(host: Host, key: str, path: str, named_by: Sequence[str] = ()) -> str:
    """As read_text, with "***" for what follows ``key`` and a colon on a line."""
    return run(host, argv_without(key, path), named_by=named_by)


def argv_without(key: str, path: str) -> List[str]:
    return ["sed", f"s/{key}[[:blank:]]*:.*/{key}:***/", path]


def real_path(host: Host, path: str, named_by: Sequence[str] = ()) -> str:
    """As Host.real_path."""
    return run(host, ["readlink", "-v", "-e", path], named_by=named_by).rstrip("\n")


def link_target(host: Host, path: str) -> str:
    """What a link holds; nothing that it leads to is touched."""
    argv = ["readlink", "-v", path]
    folder = path.rpartition("/")[0] or "/"
    return _stdout(argv, host.run_as_reader(argv, [folder], TIMEOUT)).rstrip("\n")


def list_files(host: Host, folder: str, named_by: Sequence[str] = ()) -> List[File]:
    """The plain files in a directory; links count as what they lead to, broken ones not at
    all."""
    argv = ["ls", "-Lin", folder + "/"]
    output = host.run_as_reader(argv, [folder + "/"], TIMEOUT, named_by)
    broken_links = output.rc == 1 and "Permission denied" not in output.stderr
    text = output.stdout if broken_links else _stdout(argv, output)
    matches = map(_LISTED.match, text.split("\n"))
    return [File(m.group(3), integer(m.group(1)), integer(m.group(2))) for m in matches if m]


def same_content(host: Host, path: str, other: str, named_by: Sequence[str] = ()) -> bool:
    """Whether two files are equal byte for byte."""
    argv = ["cmp", "-s", path, other]
    output = host.run_as_reader(argv, [path, other], TIMEOUT, named_by)
    if output.rc not in (0, 1):
        raise Unanswered("command:" + " ".join(argv), f"{path} and {other} not compared")
    return output.rc == 0


def run(
    host: Host,
    argv: List[str],
    user: Optional[str] = None,
    named_by: Sequence[str] = (),
    record: Optional[Record] = None,
) -> str:
    """The output of a command about files; Absent, Denied or Unanswered if it fails.

    ``user`` runs it if a user chose the path, because root could read more than the user may.
    Without ``user``, it runs as the account that can change the target of the path
    (guarded_read.py).
    """
    if user is None:
        paths = [argv[-1]] if argv[-1].startswith("/") else []
        return _stdout(argv, host.run_as_reader(argv, paths, TIMEOUT, named_by, record))
    command = Command(" ".join(argv), tuple(argv), user=user, timeout=TIMEOUT, limits=LIMITS)
    return _stdout(argv, host.ask(command, record))


def _stdout(argv: List[str], output: Output) -> str:
    if output.rc == 0:
        return output.stdout
    key = "command:" + " ".join(argv)
    if "Permission denied" in output.stderr:
        raise Denied(key, f"{argv[-1]}: Permission denied")
    if re.search("No such file|Not a directory", output.stderr):
        raise Absent(key, f"{argv[-1]}: No such file or directory")
    raise Unanswered(key, f"{argv[0]} ended with {output.rc}: {output.stderr.strip()}")
