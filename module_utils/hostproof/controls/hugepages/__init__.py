# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""hugepages: the pool covers every SGA, survives the reboot, and the instances really use it."""
