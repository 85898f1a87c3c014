# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of execution nodes that run slices: one SSH destination per line, and the directory of
its programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ansible.module_utils.hostproof.collect.bounded import open_regular
from ansible.module_utils.hostproof.errors import HostproofError

#: Most bytes of the file, and most nodes in it.
_MOST_BYTES = 1 << 20
_MOST_NODES = 1000

#: Rejects names that ssh would read as an option, or a shell as more than one word.
_NODE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%-]*\Z")
_DIRECTORY = re.compile(r"/[A-Za-z0-9_.+@/-]*\Z")

#: ssh must not prompt, and must end when the node no longer responds.
_SSH = (
    *("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"),
    *("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"),
)


class Node(NamedTuple):
    """``folder`` contains ansible-runner and ansible-playbook; None: they are in the PATH."""

    name: str
    folder: str | None

    @property
    def command(self) -> list[str]:
        """The command that runs a job from its standard input."""
        path = f'env PATH={self.folder}:"$PATH" ' if self.folder else ""
        return [*_SSH, "--", self.name, f"{path}ansible-runner worker"]


def read_nodes(path: Path) -> list[Node]:
    """The nodes of a file: NODE, or NODE DIRECTORY; text after # is a comment."""
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
        name, directory = words[0], words[1] if len(words) > 1 else None
        if (
            len(words) > 2
            or not _NODE.match(name)
            or (directory and not _DIRECTORY.match(directory))
        ):
            raise HostproofError(
                f"{path}, line {number}: not NODE, or NODE and the directory of its ansible-runner"
            )
        nodes.append(Node(name, directory))
    if not 0 < len(nodes) <= _MOST_NODES:
        raise HostproofError(f"{path} names {len(nodes)} nodes; 1 to {_MOST_NODES} can be used")
    return nodes
