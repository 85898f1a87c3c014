# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""HOME/crs/install/crsconfig_params: what root.sh of Grid Infrastructure configured a cluster with.

Its place is what root.sh prints ("Using configuration parameter file"); its variables are not
documented, so that a file without them says nothing.
"""

from typing import NamedTuple, Optional, Tuple

FILE = "/crs/install/crsconfig_params"


class Config(NamedTuple):
    """``nodes`` as the installer named them; none with Oracle Restart."""

    cluster: Optional[str]
    nodes: Tuple[str, ...]


def parse(text: str) -> Config:
    rows = {}
    for line in text.split("\n"):
        name, equals, value = line.partition("=")
        if equals:
            rows[name.strip()] = value.strip()
    nodes = [node.strip() for node in rows.get("NODE_NAME_LIST", "").split(",")]
    return Config(rows.get("CLUSTER_NAME") or None, tuple(node for node in nodes if node))
