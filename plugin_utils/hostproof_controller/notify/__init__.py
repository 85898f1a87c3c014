# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about new findings: what they contain and how they are sent."""
