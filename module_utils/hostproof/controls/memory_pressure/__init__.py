# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""memory_pressure: swap, /dev/shm for automatic memory management, memory of NUMA nodes."""
