# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""IP addresses as text."""

import ipaddress


def is_address(text: str) -> bool:
    """Whether the text is an IPv4 or IPv6 address without a zone."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
