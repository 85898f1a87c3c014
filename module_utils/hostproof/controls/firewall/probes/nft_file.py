# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of the unit nftables, with the files that it includes (nft(8), "Including files")."""

import fnmatch
import posixpath
import re
from typing import List

from ....collect.answer import attempt, known, unless_absent
from ....collect.host import Host
from ....errors import Absent, Unanswered
from ..parsers import nft_text
from ..parsers.packets import Tables

#: nft takes a path that is not absolute from here.
_FOLDER = "/etc/"
_PATH = re.compile(r"/etc/[\w./*?@+\[\]-]{1,200}\Z")
_MOST_FILES = 100


def read(host: Host, path: str, text: str) -> Tables:
    files: List[str] = []

    def include(name: str) -> List[str]:
        paths = _matching(host, path, name)
        files.extend(paths)
        if len(files) > _MOST_FILES:
            raise Unanswered("file:" + path, f"{path} includes more than {_MOST_FILES} files")
        return [_text_of(host, path, each) for each in paths]

    return nft_text.parse(nft_text.with_includes(text, include))


def _matching(host: Host, path: str, name: str) -> List[str]:
    # One that begins with a dot is sought in the working directory.
    is_elsewhere = name.startswith(".")
    name = posixpath.normpath(name if name.startswith("/") else _FOLDER + name)
    if is_elsewhere or not _PATH.match(name):
        raise Unanswered("file:" + path, f"{path} includes a file that is not below {_FOLDER}")
    found = [""]
    has_pattern = False
    for part in name.split("/")[1:]:
        has_pattern = has_pattern or bool(re.search(r"[*?\[]", part))
        if not has_pattern:
            found = [f"{folder}/{part}" for folder in found]
            continue
        # A pattern matches no name that begins with a dot.
        found = [
            f"{folder}/{each}"
            for folder in found
            for each in sorted(unless_absent(attempt(host.list_dir, folder), []))
            if fnmatch.fnmatchcase(each, part) and each.startswith(".") == part.startswith(".")
        ]
        if len(found) > _MOST_FILES:
            raise Unanswered("file:" + path, f"{path} includes more than {_MOST_FILES} files")
    return found


def _text_of(host: Host, path: str, included: str) -> str:
    text = attempt(host.read_text, included)
    if isinstance(text, Absent):
        why = f"{path} includes {included}, which does not exist: nft loads nothing of it"
        raise Unanswered("file:" + included, why)
    return str(known(text))
