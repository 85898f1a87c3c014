# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flow control (IEEE 802.3x PAUSE) from the host's interface over the switch to the filer."""
