# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid names of hosts: one rule for packs, ``init``, fixes, results, slices and merges.

Ansible evaluates templates, ranges, ports and patterns in a name, a shell splits words, and a
terminal obeys control characters. The rule forbids all these characters except colons of IPv6.

Standard library only: inventories/evidence.py runs with any Python.
"""

from __future__ import annotations

import ipaddress
import re

#: The rule in words, for messages.
RULE = "letters, digits and . _ - (or an IPv6 address), beginning with a letter, a digit or _"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")
_SCOPE = re.compile(r"[A-Za-z0-9_.-]{1,15}")
#: Groups that every inventory has.
_GROUPS = ("all", "ungrouped")


def is_host_name(name: object) -> bool:
    """Whether a host may have this name."""
    if not isinstance(name, str):
        return False
    if ":" not in name:
        return _NAME.fullmatch(name) is not None and name not in _GROUPS
    address, percent, scope = name.partition("%")
    if percent and _SCOPE.fullmatch(scope) is None:
        return False
    try:
        # It takes digits of other scripts for none, and any text for the scope, hence the above.
        return name.isascii() and ipaddress.IPv6Address(address).version == 6
    except ValueError:
        return False


def pattern_of(name: str) -> str:
    """The Ansible pattern (--limit) that matches only this host; ``name`` is a host's name.

    Ansible splits a pattern at each colon outside of brackets, unless all of it is an IPv6 address
    without a scope.
    """
    return name.replace(":", "[:]") if "%" in name else name
