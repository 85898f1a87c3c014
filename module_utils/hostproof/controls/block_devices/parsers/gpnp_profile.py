# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile of a cluster, GRID_HOME/gpnp/NODE/profiles/peer/profile.xml.

Sources: Oracle Clusterware Administration and Deployment Guide, Grid Plug and Play; profiles of
public clusters (11.2 to 20c).
"""

from typing import Dict, List, Optional

from ....parsers import xml_events

_ELEMENT, _ATTRIBUTE = "ASM-Profile", "DiscoveryString"
#: The value of a new cluster, until ASM writes another one.
_NEVER_SET = "++no-value-at-profile-creation--never-updated-through-ASM++"


def disk_string(text: str) -> Optional[str]:
    """The disk string of ASM, "" if it is not set. None for a profile without ASM."""
    found: List[str] = []

    def begin(name: str, attributes: Dict[str, str]) -> None:
        if name == _ELEMENT:
            found.append(attributes.get(_ATTRIBUTE, ""))

    xml_events.read("profile.xml", text, begin, _nothing, _nothing)
    if not found:
        return None
    return "" if found[-1] == _NEVER_SET else found[-1]


def _nothing(_text: str) -> None:
    """Ends of elements and texts between them are not used."""
