# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measuring how long answers take. Others use the modules of DOOR, and no others."""

DOOR = (
    "budget",
    "conditions",
    "disk_counters",
    "disk_latency",
    "hello",
    "measuring",
    "probe_list",
    "report",
    "reports",
    "responder",
    "tcp_latency",
    "traffic",
    "window_table",
)
