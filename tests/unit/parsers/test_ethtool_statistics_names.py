"""Which counters of a driver count PAUSE and drops: names of the kernel's own tables.

i40e_ethtool.c, bnxt_ethtool.c (of 5.x and 6.x), bnx2x_ethtool.c and qede_ethtool.c.
"""

import pytest
from ansible.module_utils.hostproof.parsers.net import ethtool_statistics as statistics
from cases import cases

#: By driver: counters that its table has, and those of them that are taken.
TABLES = {
    "i40e": (
        ["rx_dropped", "rx_missed_errors", "tx_dropped", "port.rx_discards", "port.link_xon_rx",
         "port.link_xoff_rx", "port.link_xoff_tx", "port.tx_dropped_link_down"],
        ("port.link_xoff_rx", "port.link_xoff_tx"),
        {"rx_missed_errors", "rx_dropped", "port.rx_discards", "port.tx_dropped_link_down"},
    ),
    "bnxt_en": (
        ["[0]: rx_discards", "rx_total_ring_discards", "tx_total_ring_discards", "rx_stat_discard",
         "rx_pause_frames", "tx_pause_frames", "rx_pfc_frames", "tx_stat_discard"],
        ("rx_pause_frames", "tx_pause_frames"),
        {"rx_total_ring_discards", "tx_total_ring_discards", "rx_stat_discard", "tx_stat_discard"},
    ),
    "bnx2x": (
        ["[0]: rx_discards", "rx_discards", "rx_brb_discard", "rx_brb_truncate", "rx_pause_frames",
         "pfc_frames_received", "rx_phy_ip_err_discards", "tx_pause_frames"],
        ("rx_pause_frames", "tx_pause_frames"),
        {"rx_discards", "rx_brb_discard", "rx_brb_truncate", "rx_phy_ip_err_discards"},
    ),
    "qede": (
        ["rx_pause_frames", "tx_pause_frames", "rx_pfc_frames", "brb_truncates", "brb_discards",
         "no_buff_discards", "mac_filter_discards", "tx_err_drop_pkts"],
        ("rx_pause_frames", "tx_pause_frames"),
        {"no_buff_discards", "brb_discards", "brb_truncates", "tx_err_drop_pkts"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("driver", sorted(TABLES))
def test_the_kernels_names_are_found(driver):
    counters, pause, drops = TABLES[driver]
    names = statistics.names_of(driver, dict.fromkeys(counters, 0))
    assert (names.rx_pause[0], names.tx_pause[0]) == pause
    assert set(names.drops) == drops


@cases(
    "name",
    *("port.rx_priority_3_xoff", "port.rx_priority_3_xoff_rx", "port.tx_priority_0_xoff_tx"),
    *("rx_priority_3_xoff.nic", "rx_pfc_ena_frames_pri7", "rx_pfc_frames", "tx_pfc_frames"),
    *("pfc_frames_received", "pfc_frames_sent", "rx_prio3_pause"),
)
def test_pause_by_priority(name):
    assert statistics.priority_names({name: 1, "rx_pause_frames": 1}) == [name]


@cases("name", "port.rx_priority_3_xon_rx", "rx_pause_frames", "xpfc_frames")
def test_what_is_no_pause_by_priority(name):
    assert statistics.priority_names({name: 1}) == []
