# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cluster_nodes: the cluster of a host, and traits that must be equal on all nodes. Read-only."""
