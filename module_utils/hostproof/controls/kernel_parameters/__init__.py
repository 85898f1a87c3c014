# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_parameters: what Oracle's documents require of the kernel, now and after a reboot."""
