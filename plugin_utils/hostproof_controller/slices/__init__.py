# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An audit in slices: each an ansible-runner job of some of the hosts, here or on another node."""
