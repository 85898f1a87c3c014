# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way to a host: payload, transport, limits, and validation of what the host answers."""
