# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""process_limits: what a login, a unit and each running process of Oracle may open and lock."""
