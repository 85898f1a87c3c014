# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking SNMP agents, and what their answers mean. Others use the modules of DOOR alone."""

DOOR = (
    "database_snmp",
    "ethernet_port",
    "filer_port",
    "snmp_targets",
    "storage_agent",
    "storage_definitions",
    "storage_health",
    "storage_match",
    "storage_rules",
    "switch_port",
    "tools",
)
