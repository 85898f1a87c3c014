# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the huge page pool is spread over the NUMA nodes (kernel hugetlbpage.rst, sysfs)."""

import re
from typing import List, NamedTuple, Optional

from ...collect.answer import attempt, unless_absent
from ...collect.host import Host
from ...errors import Absent, Unanswered
from ...parsers.number import clipped

FOLDER = "/sys/devices/system/node"


class NodePool(NamedTuple):
    """The pages of one size on one node; ``key`` is the evidence behind it."""

    name: str
    pages: int
    free: int
    key: str


class NodeMemory(NamedTuple):
    """Memory of a node: bytes. ``free`` is with what the page cache can give back."""

    name: str
    total: int
    free: int
    key: str


_TOTAL, _FREE = "MemTotal", ("MemFree", "Active(file)", "Inactive(file)")
_ROW = re.compile(r"^Node \d+ ([A-Za-z()]+): +(\d+) kB$", re.MULTILINE)


def read_memory(host: Host) -> List[NodeMemory]:
    """Every node that has memory, by number; empty without NUMA."""
    names = unless_absent(attempt(host.list_dir, FOLDER), [])
    nodes = [name for name in names if re.match(r"^node\d+$", name)]
    memory = []
    for name in sorted(nodes, key=lambda node: clipped(node[4:])):
        path = f"{FOLDER}/{name}/meminfo"
        rows = {row: clipped(amount) * 1024 for row, amount in _ROW.findall(host.read_text(path))}
        if not all(row in rows for row in (_TOTAL, *_FREE)):
            raise Unanswered("file:" + path, f"{path} tells no memory")
        if rows[_TOTAL]:
            free = sum(rows[row] for row in _FREE)
            memory.append(NodeMemory(name, rows[_TOTAL], free, "file:" + path))
    return memory


def read_node_pools(host: Host, page_size: int) -> List[NodePool]:
    """The pool on each node, by node number. ``page_size`` in bytes; empty without NUMA.

    A node without local memory has no pool, and is left out.
    """
    try:
        names = host.list_dir(FOLDER)
    except Absent:
        return []
    nodes = [name for name in names if re.match(r"^node\d+$", name)]
    pools = [
        _read_node(host, name, page_size) for name in sorted(nodes, key=lambda n: clipped(n[4:]))
    ]
    return [pool for pool in pools if pool is not None]


def _read_node(host: Host, name: str, page_size: int) -> Optional[NodePool]:
    folder = f"{FOLDER}/{name}/hugepages/hugepages-{page_size // 1024}kB/"
    pages = unless_absent(attempt(host.read_number, folder + "nr_hugepages"), None)
    if pages is None:
        return None
    return NodePool(
        name,
        pages,
        host.read_number(folder + "free_hugepages"),
        f"file:{folder}nr_hugepages",
    )
