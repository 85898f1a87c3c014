# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What evidence keeps of a file of which a control needs a few lines only.

Such a file can hold passwords in comments and in settings of other programs. The ``kept`` function
of a parser returns the text with an empty line in the place of each line that the parser does not
use, so that line numbers stay right. The parser returns the same for both texts, and ``kept`` of
its own result has no effect.
"""

import re
from typing import Callable, Dict, List

#: File systems of other machines whose options hold accounts and passwords.
_WITH_ACCOUNTS = re.compile(
    r"(?:cifs|smb\w*|ncpfs?|davfs\w*|afp\w*|ceph|glusterfs|9p|ftpfs|fuse|fuse\..+)\Z"
)


def only(text: str, wanted: Callable[[str], bool]) -> str:
    """The lines to record."""
    return "\n".join([line if wanted(line) else "" for line in text.split("\n")])


def numbered(lines: Dict[int, str]) -> str:
    """A text with these lines at their numbers, from 1."""
    told: List[str] = [""] * max(lines, default=0)
    for number, line in lines.items():
        told[number - 1] = line
    return "\n".join(told)


def options(fstype: str, text: str) -> str:
    """Mount options; without NAME=VALUE if the file system is one that asks for an account."""
    if not _WITH_ACCOUNTS.match(fstype):
        return text
    return ",".join([word for word in text.split(",") if "=" not in word])
