# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges facts against policies: checks, findings, the rule loop."""
