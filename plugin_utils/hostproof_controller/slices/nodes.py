# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The execution nodes that run slices: one per line, as ssh knows it, and where its programs
are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ansible.module_utils.hostproof.collect.bounded import open_regular
from ansible.module_utils.hostproof.errors import HostproofError

#: Bytes of the file, and nodes in it.
_MOST_BYTES = 1 << 20
_MOST_NODES = 1000

#: Nothing that ssh would take for an option, or a shell for more than a word.
_NODE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%-]*\Z")
_FOLDER = re.compile(r"/[A-Za-z0-9_.+@/-]*\Z")

#: ssh asks nobody, and tells when the node is gone.
_SSH = (
    *("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"),
    *("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"),
)


class Node(NamedTuple):
    """``folder`` has ansible-runner and ansible-playbook; None: they are in the node's PATH."""

    name: str
    folder: str | None

    @property
    def command(self) -> list[str]:
        """What runs a job that comes on its standard input."""
        path = f'env PATH={self.folder}:"$PATH" ' if self.folder else ""
        return [*_SSH, "--", self.name, f"{path}ansible-runner worker"]


def read_nodes(path: Path) -> list[Node]:
    """The nodes of a file: NODE, or NODE FOLDER; what follows a # is a comment."""
    try:
        with open_regular(str(path)) as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError as problem:
        raise HostproofError(f"{path}: {problem.strerror}") from problem
    if len(content) > _MOST_BYTES:
        raise HostproofError(f"{path} has more than {_MOST_BYTES} bytes")
    nodes = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, folder = words[0], words[1] if len(words) > 1 else None
        if len(words) > 2 or not _NODE.match(name) or (folder and not _FOLDER.match(folder)):
            raise HostproofError(
                f"{path}, line {number}: not NODE, or NODE and the directory of its ansible-runner"
            )
        nodes.append(Node(name, folder))
    if not 0 < len(nodes) <= _MOST_NODES:
        raise HostproofError(f"{path} names {len(nodes)} nodes; 1 to {_MOST_NODES} can be used")
    return nodes
