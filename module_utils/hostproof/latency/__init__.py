# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latency code that several controls use: probe list, transaction budget, probe greeting."""
