# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""HOME/crs/install/crsconfig_params: what root.sh of Grid Infrastructure configured a cluster with.

Its place is what root.sh prints ("Using configuration parameter file"); its variables are not
documented, so that a file without them says nothing.
"""

from typing import Dict, NamedTuple, Optional, Tuple

from .. import kept_lines

FILE = "/crs/install/crsconfig_params"


_KEPT = ("CLUSTER_NAME", "NODE_NAME_LIST", "CRS_NODEVIPS", "SCAN_NAME")


class Config(NamedTuple):
    """``nodes``, ``vips`` and ``scan`` as the installer named them; none with Oracle Restart."""

    cluster: Optional[str]
    nodes: Tuple[str, ...]
    vips: Tuple[str, ...] = ()
    scan: Optional[str] = None


def kept(text: str) -> str:
    """The part of the file that evidence keeps (kept_lines.py)."""
    return kept_lines.only(text, lambda line: line.partition("=")[0].strip() in _KEPT)


def parse(text: str) -> Config:
    rows = {}
    for line in text.split("\n"):
        name, equals, value = line.partition("=")
        if equals:
            rows[name.strip()] = value.strip().strip("'\"")
    # rac1-vip/255.255.255.0/eth0,...; AUTO with the Grid Naming Service.
    vips = [vip.partition("/")[0] for vip in _list(rows, "CRS_NODEVIPS")]
    return Config(
        rows.get("CLUSTER_NAME") or None,
        _list(rows, "NODE_NAME_LIST"),
        tuple(vip for vip in vips if vip and vip != "AUTO"),
        rows.get("SCAN_NAME") or None,
    )


def _list(rows: Dict[str, str], name: str) -> Tuple[str, ...]:
    return tuple(word.strip() for word in rows.get(name, "").split(",") if word.strip())
