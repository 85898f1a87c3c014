# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filer's end of the path: which of its ports serves an address, and its PAUSE modes.

ONTAP tells both (NETAPP-MIB, netportTable and logicalInterfaceTable). Any other agent is asked
with IF-MIB and EtherLike-MIB, which few filers have: the mode then is unknown. What was read on a
Linux filer with ethtool comes from the policy.
"""

from typing import NamedTuple, Tuple

from .ethernet_port import Port

ONTAP, INTERFACES, POLICY = "ONTAP", "IF-MIB", "policy"


class FilerPort(NamedTuple):
    """``filer`` is where it was asked, ``address`` what the host mounts from, ``mac`` as Linux
    writes it, "" where it is unknown. ``how`` is one of the three above.
    """

    filer: str
    address: str
    mac: str
    port: Port
    how: str

    @property
    def name(self):
        # type: () -> str
        return "{0} {1}".format(self.filer, self.port.name)


class Filer(NamedTuple):
    """The ports behind an address; more than one where the filer bundles them."""

    name: str
    address: str
    ports: Tuple[FilerPort, ...]
    evidence: Tuple[str, ...]
