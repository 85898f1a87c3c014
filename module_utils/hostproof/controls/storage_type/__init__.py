# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What storage a host's database really stands on, and what follows for Oracle. Only looks."""
