# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups and accounts that own Oracle software: policy, facts, rules, plan."""
