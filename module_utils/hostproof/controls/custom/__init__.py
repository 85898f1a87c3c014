# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""custom: the checks that a site writes itself. It only looks."""
