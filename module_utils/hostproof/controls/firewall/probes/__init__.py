# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readings that only firewall uses."""
