# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ethtool -S``: counters of a driver as text or JSON, and those that count PAUSE and drops.

The names differ from driver to driver. Sources: the kernel's drivers/net/ethernet (the *_ethtool.c
and *_stats tables of each driver); ethtool.c, do_gstringsstats(); netlink/stats.c.
"""

import re
from typing import Dict, List, NamedTuple, Sequence

from ...errors import ParseError, kind_of
from .. import glob_pattern
from ..number import integer, json_tree

_WHAT = "ethtool -S"
_LINE = re.compile(r"^\s+(\S.*):\s*(\d+)$")


def parse(text: str) -> Dict[str, int]:
    """Counters by name. ParseError if the text contains no counter."""
    if text.lstrip()[:1] == "[":
        return _parse_json(text)
    lines = text.split("\n")
    if not lines[0].startswith(("NIC statistics", "Standard stats for ")):
        raise ParseError(_WHAT, "there is no head line", 1)
    counters: Dict[str, int] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        match = _LINE.match(line.rstrip())
        if match is None:
            # Drivers for virtual machines put headings among their counters (vmxnet3).
            heading = line.strip()
            if line[0].isspace() and ":" not in heading[:-1] and heading != ":":
                continue
            raise ParseError(_WHAT, f"no counter: {kind_of(line)}", number)
        # vmxnet3 repeats a name for each queue: the value of the NIC is their sum.
        name = match.group(1).rstrip()
        counters[name] = counters.get(name, 0) + integer(match.group(2))
    if not counters:
        raise ParseError(_WHAT, "there is no counter")
    return counters


def _parse_json(text: str) -> Dict[str, int]:
    records = json_tree(_WHAT, text)
    if not isinstance(records, list) or len(records) != 1 or not isinstance(records[0], dict):
        raise ParseError(_WHAT, "not one interface")
    counters = {
        name: value
        for name, value in records[0].items()
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0
    }
    if not counters:
        raise ParseError(_WHAT, "there is no counter")
    return counters


class Names(NamedTuple):
    """Counters of a driver: PAUSE frames that stop the sender, by direction, and drops."""

    rx_pause: Sequence[str]
    tx_pause: Sequence[str]
    drops: Sequence[str]


_INTEL_1G = Names(
    ("rx_flow_control_xoff",),
    ("tx_flow_control_xoff",),
    ("rx_no_buffer_count", "rx_missed_errors", "rx_fifo_errors", "tx_fifo_errors"),
)
_MELLANOX = Names(
    ("rx_pause_ctrl_phy",),
    ("tx_pause_ctrl_phy",),
    ("rx_out_of_buffer", "rx_discards_phy", "tx_discards_phy", "rx_steer_missed_packets"),
)

#: By driver as /sys/class/net/X/device/driver names it.
DRIVERS = {
    "e1000": _INTEL_1G,
    "e1000e": _INTEL_1G,
    "igb": _INTEL_1G,
    "igc": _INTEL_1G,
    "ixgbe": _INTEL_1G._replace(
        drops=("rx_no_buffer_count", "rx_missed_errors", "rx_no_dma_resources", "rx_fifo_errors")
    ),
    "i40e": Names(
        ("port.link_xoff_rx",),
        ("port.link_xoff_tx",),
        (
            "rx_missed_errors",
            "rx_dropped",
            "port.rx_discards",
            "port.rx_dropped",  # name of port.rx_discards in older kernels
            "port.tx_dropped_link_down",
        ),
    ),
    "ice": Names(
        ("link_xoff_rx.nic",), ("link_xoff_tx.nic",), ("rx_dropped.nic", "tx_dropped_link_down.nic")
    ),
    "mlx5_core": _MELLANOX,
    "mlx4_en": Names(("rx_pause",), ("tx_pause",), ("rx_dropped", "rx_over_errors")),
    "mlx4_core": Names(("rx_pause",), ("tx_pause",), ("rx_dropped", "rx_over_errors")),
    "bnxt_en": Names(
        ("rx_pause_frames",),
        ("tx_pause_frames",),
        (
            "rx_total_ring_discards",
            "tx_total_ring_discards",
            "rx_total_oom_discards",
            "rx_total_discard_pkts",
            "tx_total_discard_pkts",
            "rx_stat_discard",
            "tx_stat_discard",
        ),
    ),
    "bnx2x": Names(
        ("rx_pause_frames",),
        ("tx_pause_frames",),
        ("rx_discards", "rx_brb_discard", "rx_brb_truncate", "rx_phy_ip_err_discards"),
    ),
    "bnx2": Names(
        ("rx_xoff_frames",),
        ("tx_xoff_frames",),
        ("rx_discards", "rx_fw_discards", "rx_ftq_discards"),
    ),
    "tg3": Names(
        ("rx_xoff_pause_rcvd",), ("tx_xoff_sent",), ("rx_discards", "rxbds_empty", "tx_discards")
    ),
    "qede": Names(
        ("rx_pause_frames",),
        ("tx_pause_frames",),
        ("no_buff_discards", "brb_discards", "brb_truncates", "tx_err_drop_pkts"),
    ),
    "be2net": Names(
        ("rx_pause_frames",),
        ("tx_pauseframes",),
        ("rx_drops_no_pbuf", "rx_drops_no_frags", "rx_drops_mtu", "rxpp_fifo_overflow_drop"),
    ),
    "cxgb4": Names(("rx_pause_frames",), ("tx_pause_frames",), ("rx_ovflow0", "rx_ovflow1")),
    "enic": Names(
        ("rx_pause_frames",), ("tx_pause_frames",), ("rx_no_bufs", "rx_drop", "rx_frames_drop")
    ),
    "sfc": Names(
        ("port_rx_pause",), ("port_tx_pause",), ("port_rx_nodesc_drops", "port_rx_overflow")
    ),
    "atlantic": Names(("rx_pause",), ("tx_pause",), ("InDroppedDma", "InDroppedPackets")),
    "r8169": Names((), (), ("rx_missed",)),
    "vmxnet3": Names((), (), ("drv dropped rx total", "drv dropped tx total", "pkts rx OOB")),
    "virtio_net": Names((), (), ("rx_drops", "tx_drops", "rx_queue_*_drops")),
    # The kernel has no counter for packets that the limits of an EC2 instance drop.
    "ena": Names(
        (),
        (),
        (
            "bw_in_allowance_exceeded",
            "bw_out_allowance_exceeded",
            "pps_allowance_exceeded",
            "conntrack_allowance_exceeded",
            "rx_drops",
            "tx_drops",
        ),
    ),
    "hv_netvsc": Names((), (), ("rx_no_memory", "tx_no_memory", "rx_comp_busy")),
    "gve": Names((), (), ("rx_dropped", "tx_dropped", "rx_desc_err_dropped_pkt")),
}

#: For drivers that are not listed: names that several drivers share.
ANY_DRIVER = Names(
    (
        "rx_pause_frames",
        "rx_flow_control_xoff",
        "rx_pause_ctrl_phy",
        "rx_xoff_pause_rcvd",
        "rx_pause",
        "MACControlFramesReceived",
    ),
    (
        "tx_pause_frames",
        "tx_flow_control_xoff",
        "tx_pause_ctrl_phy",
        "tx_xoff_sent",
        "tx_pause",
        "MACControlFramesTransmitted",
    ),
    ("rx_missed_errors", "rx_discards", "rx_out_of_buffer", "rx_fifo_errors", "rx_no_buffer_count"),
)

#: PAUSE of one priority: rx_prio3_pause (mlx5), port.rx_priority_3_xoff, in newer kernels
#: port.rx_priority_3_xoff_rx (i40e), rx_pb_3_pxoff (ixgbe), rx_pfc_ena_frames_pri3 (bnxt_en),
#: rx_pause_prio_3 (mlx4). PAUSE of all priorities: rx_pfc_frames (bnxt_en, qede),
#: pfc_frames_received (bnx2x).
_PRIORITY = re.compile(
    r"^(?:(?:port\.)?(?:rx|tx)_(?:prio\d_pause|pause_prio_\d|"
    r"priority_\d_xoff(?:_rx|_tx)?(?:\.nic)?|pb_\d_pxoff|pfc_ena_frames_pri\d|pfc_frames)|"
    r"pfc_frames_(?:received|sent))$"
)


def _present(names: Sequence[str], counters: Dict[str, int]) -> List[str]:
    """The counters that exist for these names; * is the number of a queue."""
    return [
        counter
        for name in names
        for counter in ([name] if "*" not in name else sorted(counters))
        if counter in counters and glob_pattern.fits(counter, name)
    ]


def names_of(driver: str, counters: Dict[str, int]) -> Names:
    """The names that this version of the driver has."""
    known = DRIVERS.get(driver, ANY_DRIVER)
    present = [_present(names, counters) for names in known]
    return Names(present[0][:1], present[1][:1], present[2])


def priority_names(counters: Dict[str, int]) -> List[str]:
    """The counters of PAUSE by priority (802.1Qbb), also those that are 0."""
    return sorted(name for name in counters if _PRIORITY.match(name))


def of_any_driver(counters: Dict[str, int]) -> Names:
    """The names in an output whose driver is not known: those of all drivers."""
    every = [ANY_DRIVER, *DRIVERS.values()]
    found = [
        list(dict.fromkeys(name for names in every for name in _present(names[place], counters)))
        for place in range(3)
    ]
    return Names(*found)
