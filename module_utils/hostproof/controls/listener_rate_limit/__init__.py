# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Listener rate limits: written where they count, known to the listener that runs, seen at work."""
