# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a file that is recorded as evidence, if a control needs only a few lines.

The other lines can contain passwords, in comments or in settings of other programs. The ``kept``
function of a parser returns the text with an empty line in the place of each line that the parser
does not use, so that line numbers stay correct. The parser returns the same result for both texts,
and ``kept`` does not change its own result.
"""

import re
from typing import Callable, Dict, List

#: File systems of other machines whose options hold accounts and passwords.
_WITH_ACCOUNTS = re.compile(
    r"(?:cifs|smb\w*|ncpfs?|davfs\w*|afp\w*|ceph|glusterfs|9p|ftpfs|fuse|fuse\..+)\Z"
)


def only(text: str, keep: Callable[[str], bool]) -> str:
    """The lines to record."""
    return "\n".join([line if keep(line) else "" for line in text.split("\n")])


def numbered(lines: Dict[int, str]) -> str:
    """A text with these lines at their numbers, from 1."""
    result: List[str] = [""] * max(lines, default=0)
    for number, line in lines.items():
        result[number - 1] = line
    return "\n".join(result)


def options(fstype: str, text: str) -> str:
    """Mount options; without NAME=VALUE if the file system type uses an account."""
    if not _WITH_ACCOUNTS.match(fstype):
        return text
    return ",".join([word for word in text.split(",") if "=" not in word])
