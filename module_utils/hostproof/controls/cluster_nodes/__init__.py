# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster a host is a node of, and what should be the same on all of them. Only looks."""
