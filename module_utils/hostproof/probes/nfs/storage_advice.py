# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Public recommendations of vendors of NFS storage for their mounts.

A table, and a comparison with the options that the kernel granted. It contains only recommendations
for every mount of a product. Those that depend on the files of a mount and on the programs that
open them are in nfs_mounts.
"""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...parsers.nfs import nfs_options
from ...parsers.number import clipped


class Requirement(NamedTuple):
    """An option by its name in nfs_options: one of ``values``, or a number of ``least`` or more."""

    name: str
    values: Tuple[str, ...]
    least: int = 0

    @property
    def text(self) -> str:
        if self.least:
            return f"{self.name} {self.least} or more"
        return "{0} {1}".format(self.name, " or ".join(self.values))


class Advice(NamedTuple):
    """``products`` are names of rules. ``flow_control`` is for people."""

    products: Tuple[str, ...]
    requirements: Tuple[Requirement, ...]
    flow_control: str
    source: str


#: NetApp's best size of a request.
BEST_TRANSFER = 262144
_MIB = 1048576

_NETAPP = "NetApp, Oracle Database on ONTAP: NFS mount options; NFS transfer sizes"
_NO_PAUSE = "NetApp: no flow control on storage ports, one slow host would pause all others"

ADVICE = (
    Advice(
        ("ONTAP", "ThinkSystem DM"),
        (
            Requirement("recovery", ("hard",)),
            Requirement("proto", ("tcp", "rdma")),
            Requirement("vers", ("3", "4.1", "4.2")),
            Requirement("timeo", ("600",)),
            # An SVM grants 65536 unless it was told otherwise: it works, and it costs.
            Requirement("rsize", (), BEST_TRANSFER),
            Requirement("wsize", (), BEST_TRANSFER),
        ),
        _NO_PAUSE,
        _NETAPP,
    ),
    Advice(
        ("Data ONTAP 7-Mode", "N series"),
        (
            Requirement("recovery", ("hard",)),
            Requirement("proto", ("tcp",)),
            Requirement("timeo", ("600",)),
            Requirement("rsize", (), 32768),
            Requirement("wsize", (), 32768),
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


def cost_of(size: int, best: int = BEST_TRANSFER) -> str:
    """The cost of requests of a size that works, but is below the best one."""
    return (
        f"It works: a read of 1 MiB takes {-(-_MIB // size)} requests in place of "
        f"{-(-_MIB // best)}, which slows a single stream (backup, full scan) and hardly many "
        "small ones; 64 KiB is what ONTAP grants by default."
    )


def raise_the_server(size: int) -> str:
    """How a server comes to grant larger requests, and whom that touches."""
    return (
        f"raise the server's maximum to {size} (ONTAP, privilege advanced: vserver nfs modify "
        f"-vserver SVM -tcp-max-xfer-size {size}; that is SVM-wide, so every client of the SVM "
        "gets it at its next mount; Linux: /proc/fs/nfsd/max_block_size while nfsd is stopped; "
        "never lower it under a mount)"
    )


class Transfers(NamedTuple):
    """The verdict on sizes below the recommendation, the same as in nfs_mounts.transfer_size.

    ``refused``: Oracle rejects one of them; ``why`` and ``fix`` are "" if all sizes are large
    enough.
    """

    refused: bool
    why: str
    fix: str


def small_transfers(advice: Advice, settings: Dict[str, str]) -> List[int]:
    """The sizes of a mount that are below what is advised, in bytes."""
    return [
        clipped(settings[requirement.name])
        for requirement in advice.requirements
        if requirement.least
        and settings.get(requirement.name, "").isdecimal()
        and not _holds(requirement, settings[requirement.name])
    ]


def judge_transfers(small: List[int], best: int = BEST_TRANSFER) -> Transfers:
    """``best`` is what the vendor advises at least: older products grant no more."""
    if not small:
        return Transfers(False, "", "")
    fix = raise_the_server(best)
    if min(small) < nfs_options.LEAST_TRANSFER:
        why = " Oracle rejects files with less than 32 KiB (ORA-27054)."
        return Transfers(True, why, fix)
    return Transfers(False, " " + cost_of(min(small)), fix)


def advice_of(product: Optional[str]) -> Optional[Advice]:
    return next((advice for advice in ADVICE if product in advice.products), None)


def contradictions(advice: Advice, settings: Dict[str, str]) -> List[str]:
    """Each option of a mount that is otherwise, as "name value"."""
    return [
        "{0} {1}".format(requirement.name, settings.get(requirement.name, "not shown"))
        for requirement in advice.requirements
        if not _holds(requirement, settings.get(requirement.name))
    ]


def _holds(requirement: Requirement, value: Optional[str]) -> bool:
    if requirement.least:
        return value is not None and value.isdecimal() and clipped(value) >= requirement.least
    return value in requirement.values
