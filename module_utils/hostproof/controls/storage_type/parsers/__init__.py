# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parsers of formats that only storage_type reads."""
