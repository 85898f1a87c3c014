# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_parameters: what Oracle's documents ask of the kernel, now and after the next boot."""
