# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""space: free space, inodes, mount options and modes of Oracle's paths. It is read-only."""
