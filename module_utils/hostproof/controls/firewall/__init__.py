# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""firewall: rules that drop or limit traffic on ports of Oracle. Read-only."""
