# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""latency: compares the latency of disks, NFS mounts, network and wait events with limits."""
