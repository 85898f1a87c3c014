# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfs_mounts: the options requested, granted and in use, Direct NFS, and the health of the
wire."""
