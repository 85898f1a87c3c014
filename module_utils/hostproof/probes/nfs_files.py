# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that may lie on NFS, read through commands with a time limit.

A server that does not answer blocks whoever opens, lists or resolves a path on it; a command can
be ended, this program could not.
"""

import re
from typing import List, NamedTuple, Optional

from ..command import Command
from ..errors import Absent, Denied, Unanswered
from ..host import Host, Output

#: Seconds until a server counts as one that does not answer.
TIMEOUT = 5.0

#: ls -Lin: inode, mode, links, uid, gid, size, three words of time, name (POSIX, ls).
_LISTED = re.compile(r"^\s*(\d+) -\S+ +\d+ +\d+ +\d+ +(\d+) +\S+ +\S+ +\S+ (\S+)$")


class File(NamedTuple):
    """A plain file, links followed: size in bytes."""

    name: str
    inode: int
    size: int


def read_text(host, path, user=None):
    # type: (Host, str, Optional[str]) -> str
    """As Host.read_text."""
    return run(host, ["cat", path], user)


def read_text_without(host, key, path):
    # type: (Host, str, str) -> str
    """As read_text, with "***" for what follows ``key`` and a colon on a line."""
    return run(host, argv_without(key, path))


def argv_without(key, path):
    # type: (str, str) -> List[str]
    return ["sed", "s/{0}[[:blank:]]*:.*/{0}:***/".format(key), path]


def real_path(host, path):
    # type: (Host, str) -> str
    """As Host.real_path."""
    return run(host, ["readlink", "-v", "-e", path]).rstrip("\n")


def link_target(host, path):
    # type: (Host, str) -> str
    """What a link holds; nothing that it leads to is touched."""
    return run(host, ["readlink", "-v", path]).rstrip("\n")


def list_files(host, folder):
    # type: (Host, str) -> List[File]
    """The plain files in a folder; links count as what they lead to, broken ones not at all."""
    argv = ["ls", "-Lin", folder + "/"]
    output = host.run(argv, TIMEOUT)
    broken_links = output.rc == 1 and "Permission denied" not in output.stderr
    text = output.stdout if broken_links else _stdout(argv, output)
    matches = map(_LISTED.match, text.split("\n"))
    return [File(m.group(3), int(m.group(1)), int(m.group(2))) for m in matches if m]


def same_content(host, one, other):
    # type: (Host, str, str) -> bool
    """Whether two files are equal byte for byte."""
    argv = ["cmp", "-s", one, other]
    output = host.run(argv, TIMEOUT)
    if output.rc not in (0, 1):
        raise Unanswered("command:" + " ".join(argv), "{0} and {1} not compared".format(one, other))
    return output.rc == 0


def run(host, argv, user=None):
    # type: (Host, List[str], Optional[str]) -> str
    """What a command prints about files; Absent, Denied or Unanswered where it fails.

    ``user`` runs it where a user chose the path: root would read what that user may not.
    """
    if user is None:
        return _stdout(argv, host.run(argv, TIMEOUT))
    wanted = Command(" ".join(argv), tuple(argv), user=user, timeout=TIMEOUT)
    return _stdout(argv, host.ask(wanted))


def _stdout(argv, output):
    # type: (List[str], Output) -> str
    if output.rc == 0:
        return output.stdout
    key = "command:" + " ".join(argv)
    if "Permission denied" in output.stderr:
        raise Denied(key, "{0}: Permission denied".format(argv[-1]))
    if re.search("No such file|Not a directory", output.stderr):
        raise Absent(key, "{0}: No such file or directory".format(argv[-1]))
    raise Unanswered(
        key, "{0} ended with {1}: {2}".format(argv[0], output.rc, output.stderr.strip())
    )
