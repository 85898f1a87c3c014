# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""platform: Oracle release, distribution, kernel and architecture. Read-only."""
