# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control flow_control checks: most once for each interface, whose name stands before."""

from ...finding import Check

_ETHTOOL = "ethtool(8), --pause; kernel include/uapi/linux/ethtool.h, struct ethtool_pauseparam"
_802_3 = "IEEE 802.3, annex 31B (PAUSE) and table 28B-3 (its negotiation)"
_NTAP = "NetApp, Oracle Database on ONTAP, Ethernet flow control"
_LINK = "systemd.link(5)"
_CASE = "Performance Tuning: A Case Study (Sys Admin, June 2002), The Network Examined"

SUPPORTED = Check(
    "flow_control.supported",
    "The interface can do flow control",
    "low",
    "now",
    "An interface without PAUSE neither obeys a switch that is full nor holds one up.",
    _ETHTOOL,
)
WANTED = Check(
    "flow_control.wanted",
    "Flow control is set as wanted",
    "medium",
    "now",
    "A host that stalls and sends PAUSE (tx) makes switch and filer wait for it, and with them "
    "every other host.",
    _NTAP,
)
NEGOTIATED = Check(
    "flow_control.negotiated",
    "Flow control in force is what is wanted",
    "medium",
    "now",
    "Where PAUSE is negotiated, the link uses what both ends offer and not what is set here.",
    _802_3,
)
PERSISTED = Check(
    "flow_control.persisted",
    "Flow control is the same after a boot",
    "medium",
    "reboot",
    "What ethtool sets is gone with the next boot; then counts the first .link file that fits, "
    "and what runs after it.",
    _LINK + "; nm-settings(5), ethtool",
)
LINK_FILE_INVERTED = Check(
    "flow_control.link_file_inverted",
    "RxFlowControl and TxFlowControl are not mixed up",
    "medium",
    "reboot",
    "The manual describes RxFlowControl= and TxFlowControl= the wrong way round: after a boot "
    "RxFlowControl= is what ethtool calls rx.",
    _LINK + ", RxFlowControl=; systemd, ethtool_set_flow_control() in ethtool-util.c",
)
IGNORED_SETTINGS = Check(
    "flow_control.ignored_settings",
    "No setting of flow control is ignored",
    "medium",
    "reboot",
    "A setting that nothing reads looks right in its file and never comes into force.",
    _LINK + "; sysconfig.txt of initscripts, ETHTOOL_OPTS; nm-settings-ifcfg-rh(5)",
)
SPEED_DUPLEX = Check(
    "flow_control.speed_duplex",
    "Both ends of the cable agree on speed and duplex",
    "high",
    "now",
    "One end forced and the other negotiating ends in half duplex there: late collisions and "
    "lost frames.",
    "IEEE 802.3, clause 28; " + _CASE,
)
HALF_DUPLEX = Check(
    "flow_control.half_duplex",
    "The link is full duplex",
    "high",
    "now",
    "With half duplex there are collisions, and no PAUSE: 802.3x is for full duplex alone.",
    _802_3,
)
PATH_SPEED = Check(
    "flow_control.path_speed",
    "Host and filer have the same speed",
    "medium",
    "now",
    "The faster end overruns the buffers of the switch port in front of the slower one.",
    _CASE,
)
PATH_MTU = Check(
    "flow_control.path_mtu",
    "The MTU is the same along the path",
    "high",
    "now",
    "A frame longer than the next port takes is lost without a word: small requests work, large "
    "ones hang.",
    "RFC 4821, section 1; " + _NTAP,
)
BOND_MEMBERS_ALIKE = Check(
    "flow_control.bond_members_alike",
    "All members of a bond are alike",
    "medium",
    "now",
    "After a failover, or for the connections that the bond puts on the other member, other "
    "settings count.",
    "kernel Documentation/networking/bonding.rst",
)
PAUSE_FRAMES = Check(
    "flow_control.pause_frames",
    "No side makes the other pause",
    "medium",
    "now",
    "PAUSE that is sent (tx) says that this host is too slow; PAUSE that comes (rx) says that "
    "the switch or what is behind it is.",
    _802_3,
)
DROPS = Check(
    "flow_control.drops",
    "The interface drops nothing",
    "high",
    "now",
    "What the interface drops is sent again after a time-out that the database waits for.",
    "kernel Documentation/networking/statistics.rst; " + _CASE,
)
PRIORITY_FLOW_CONTROL = Check(
    "flow_control.priority_flow_control",
    "Priority flow control is not in use",
    "low",
    "now",
    "A port that pauses by priority (RoCE, iSCSI or FCoE with DCB) is not to be paused as a "
    "whole: such an interface is left alone.",
    "IEEE 802.1Qbb; dcb-pfc(8)",
)
SWITCH_PORT = Check(
    "flow_control.switch_port",
    "The switch port is found and uses flow control as it is set",
    "medium",
    "now",
    "What the host offers is worth what the port of the switch does with it.",
    "EtherLike-MIB (RFC 3635), dot3PauseTable; Q-BRIDGE-MIB (RFC 4363)",
)
FILER_PORT = Check(
    "flow_control.filer_port",
    "The filer's port uses flow control as it is set",
    "medium",
    "now",
    "A filer that obeys PAUSE stops for every host behind the same switch port.",
    _NTAP,
)
LINK = Check(
    "flow_control.link",
    "What one end of a link sends, the other obeys",
    "high",
    "now",
    "PAUSE that nobody obeys protects no buffer: frames are dropped, and sent again.",
    _CASE,
)

#: In the order of the report.
CHECKS = (
    SUPPORTED,
    WANTED,
    NEGOTIATED,
    PERSISTED,
    LINK_FILE_INVERTED,
    IGNORED_SETTINGS,
    SPEED_DUPLEX,
    HALF_DUPLEX,
    BOND_MEMBERS_ALIKE,
    PATH_SPEED,
    PATH_MTU,
    PAUSE_FRAMES,
    DROPS,
    PRIORITY_FLOW_CONTROL,
    SWITCH_PORT,
    FILER_PORT,
    LINK,
)
