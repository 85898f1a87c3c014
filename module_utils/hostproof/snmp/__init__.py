# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking SNMP agents: messages, output of the tools, sessions."""
