# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: a click group (command.py), a module for each command, and what they share."""
