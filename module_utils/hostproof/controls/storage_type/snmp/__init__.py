# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""SNMP objects that only storage_type uses."""
