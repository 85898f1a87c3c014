# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trend over many runs: number of ready hosts, open failures, fixed failures."""
