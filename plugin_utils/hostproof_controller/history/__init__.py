# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What many runs say together: how many hosts are ready, what stays broken, what was fixed."""
