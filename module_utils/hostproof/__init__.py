# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostproof: reads, checks and changes the host settings that an Oracle database depends on."""

VERSION = "0.3.0"
