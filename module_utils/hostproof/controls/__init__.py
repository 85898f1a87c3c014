# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controls, one directory each; registry.py names them."""
