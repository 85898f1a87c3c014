# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of other tools as findings: Oracle's CVU and ORAchk."""
