# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes a host by plan, with a journal from which it can be reverted."""
