# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""time_sync: one daemon keeps the clock, does not step it, and knows what time it is."""
