# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The TCP connections of a host to NFS servers: the kernel's, and those of Direct NFS."""

from typing import List

from ...collect.answer import attempt, unless_absent
from ...collect.host import Host
from ...parsers.net import proc_net_tcp

NFS_PORT = 2049


def read_connections(host: Host) -> List[proc_net_tcp.Socket]:
    """The established ones. The kernel's own have no inode of a process."""
    sockets = proc_net_tcp.parse(host.read_text("/proc/net/tcp"))
    # A kernel without IPv6 has no second file.
    text = unless_absent(attempt(host.read_text, "/proc/net/tcp6"), None)
    if text is not None:
        sockets += proc_net_tcp.parse(text)
    return [
        socket
        for socket in sockets
        if socket.remote_port == NFS_PORT and socket.state == proc_net_tcp.ESTABLISHED
    ]
