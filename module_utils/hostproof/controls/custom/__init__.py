# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""custom: checks that a site defines. Read-only."""
