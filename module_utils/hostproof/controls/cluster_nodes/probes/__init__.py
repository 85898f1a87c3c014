# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes that only cluster_nodes uses."""
