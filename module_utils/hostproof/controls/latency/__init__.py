# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""latency: how long disks, NFS mounts, the network and a database's waits take, against limits."""
