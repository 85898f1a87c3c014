# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""SNMP queries: messages, output of the net-snmp tools, sessions with agents."""
