# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command: one table of verbs (verbs.py), and a module for each thing that they do."""
