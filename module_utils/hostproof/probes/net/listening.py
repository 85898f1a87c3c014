# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses and ports on which programs of this host listen, as ss(8) shows without privileges."""

from typing import List

from ...collect.host import Host
from ...parsers.net import listening_sockets
from ...parsers.net.listening_sockets import ARGV, Listening

KEY = "command:" + " ".join(ARGV)


def read(host: Host) -> List[Listening]:
    return listening_sockets.parse(host.read_output(ARGV))
