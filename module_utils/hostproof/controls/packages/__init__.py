# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""packages: what an Oracle release needs of the packages of a distribution."""
