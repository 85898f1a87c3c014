# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a vendor of NFS storage advises for its own mounts, where that is public.

A table, and a comparison with what the kernel granted. What depends on the files of a mount and on
who opens them is left to nfs_mounts: here stands only what holds for every mount of the product.
"""

from typing import Dict, List, NamedTuple, Optional, Tuple


class Wish(NamedTuple):
    """An option by its name in nfs_options: one of ``values``, or a number of ``least`` or more."""

    name: str
    values: Tuple[str, ...]
    least: int = 0

    @property
    def text(self):
        # type: () -> str
        if self.least:
            return "{0} {1} or more".format(self.name, self.least)
        return "{0} {1}".format(self.name, " or ".join(self.values))


class Advice(NamedTuple):
    """``products`` are names of rules. ``flow_control`` is for people."""

    products: Tuple[str, ...]
    wishes: Tuple[Wish, ...]
    flow_control: str
    source: str


_NETAPP = "NetApp, Oracle Database on ONTAP: NFS mount options; NFS transfer sizes"
_NO_PAUSE = "NetApp: no flow control on storage ports, one slow host would pause all others"

ADVICE = (
    Advice(
        ("ONTAP",),
        (
            Wish("recovery", ("hard",)),
            Wish("proto", ("tcp", "rdma")),
            Wish("vers", ("3", "4.1", "4.2")),
            Wish("timeo", ("600",)),
            # What an SVM grants unless it was told otherwise; 262144 is NetApp's best.
            Wish("rsize", (), 65536),
            Wish("wsize", (), 65536),
        ),
        _NO_PAUSE,
        _NETAPP,
    ),
    Advice(
        ("Data ONTAP 7-Mode", "N series"),
        (
            Wish("recovery", ("hard",)),
            Wish("proto", ("tcp",)),
            Wish("timeo", ("600",)),
            Wish("rsize", (), 32768),
            Wish("wsize", (), 32768),
        ),
        _NO_PAUSE,
        _NETAPP + "; MOS 359515.1",
    ),
    Advice(
        ("ZFS Storage Appliance",),
        (),
        "its agent has no EtherLike-MIB: read the ports in its CLI",
        "Oracle ZFS Storage Appliance Administration Guide, SNMP",
    ),
)


def advice_of(product):
    # type: (Optional[str]) -> Optional[Advice]
    return next((one for one in ADVICE if product in one.products), None)


def contradictions(advice, settings):
    # type: (Advice, Dict[str, str]) -> List[str]
    """Each option of a mount that is otherwise, as "name value"."""
    return [
        "{0} {1}".format(wish.name, settings.get(wish.name, "not shown"))
        for wish in advice.wishes
        if not _holds(wish, settings.get(wish.name))
    ]


def _holds(wish, value):
    # type: (Wish, Optional[str]) -> bool
    if wish.least:
        return value is not None and value.isdecimal() and int(value) >= wish.least
    return value in wish.values
