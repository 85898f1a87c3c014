# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""block_devices: the disks below databases and ASM, their paths, queues and owners."""
