# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""interconnect: MTU, bonds, subnets, paths and packet loss of a cluster's private network."""
