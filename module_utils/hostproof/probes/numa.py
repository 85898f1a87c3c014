# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the huge page pool is spread over the NUMA nodes (kernel hugetlbpage.rst, sysfs)."""

import re
from typing import List, NamedTuple

from ..errors import Absent
from ..host import Host

FOLDER = "/sys/devices/system/node"


class NodePool(NamedTuple):
    """The pages of one size on one node; ``key`` is the evidence behind it."""

    name: str
    pages: int
    free: int
    key: str


def read_node_pools(host, page_size):
    # type: (Host, int) -> List[NodePool]
    """The pool on each node, by node number. ``page_size`` in bytes; empty without NUMA."""
    try:
        names = host.list_dir(FOLDER)
    except Absent:
        return []
    nodes = [name for name in names if re.match(r"^node\d+$", name)]
    return [_read_node(host, name, page_size) for name in sorted(nodes, key=lambda n: int(n[4:]))]


def _read_node(host, name, page_size):
    # type: (Host, str, int) -> NodePool
    folder = "{0}/{1}/hugepages/hugepages-{2}kB/".format(FOLDER, name, page_size // 1024)
    return NodePool(
        name,
        host.read_number(folder + "nr_hugepages"),
        host.read_number(folder + "free_hugepages"),
        "file:{0}nr_hugepages".format(folder),
    )
