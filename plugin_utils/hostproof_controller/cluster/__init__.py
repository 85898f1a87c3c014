# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of the nodes of a cluster by their findings: nodes that differ from their peers.

No host is queried, so that old runs, evidence packs and merged runs can be compared too.
"""
