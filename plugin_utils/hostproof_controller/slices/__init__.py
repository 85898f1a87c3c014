# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An audit in slices: each slice is an ansible-runner job for some hosts, here or on a node."""
