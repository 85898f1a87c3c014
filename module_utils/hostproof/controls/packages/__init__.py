# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""packages: packages of a distribution that an Oracle release requires."""
