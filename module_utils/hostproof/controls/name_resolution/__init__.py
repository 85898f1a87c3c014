# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""names: whether a host and its cluster are found by name, where they are, and by whom."""
