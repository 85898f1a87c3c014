# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measuring how long answers take. Others use the modules of DOOR, and no others."""

DOOR = (
    "budget",
    "disk_counters",
    "hello",
    "lobs",
    "measuring",
    "probe_list",
    "report",
    "reports",
    "responder",
    "series",
    "traffic",
    "window_table",
    "work",
)
