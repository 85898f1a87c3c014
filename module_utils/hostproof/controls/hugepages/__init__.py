# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""hugepages: the pool covers every SGA, persists across reboots, and is used by the instances."""
