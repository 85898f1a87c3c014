# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""interconnect: whether the private network of a cluster carries what its nodes send each other."""
