# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of a cluster side by side, from their findings alone: who is the odd one out, and in what.

No host is queried: old runs, packs and several runs that were put together are compared as well.
"""
