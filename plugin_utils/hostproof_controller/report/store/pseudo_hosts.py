# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of a report that are no hosts: the run itself, the waivers and the clusters."""

from ..waivers import WAIVERS_HOST

#: Pseudo hosts: what must be said about the run itself or about the waivers. They get no verdict.
RUN_HOST = "(run)"
PSEUDO_HOSTS = (RUN_HOST, WAIVERS_HOST)

#: Begins the name of what is said about a cluster: "(cluster rac1)".
_CLUSTER = "(cluster "


def cluster_host(name: str) -> str:
    """The pseudo host of a cluster."""
    return f"{_CLUSTER}{name})"


def is_cluster(name: str) -> bool:
    return name.startswith(_CLUSTER)


def cluster_name(host: str) -> str:
    """The cluster that a pseudo host represents."""
    return host[len(_CLUSTER) : -1]


def is_pseudo(name: str) -> bool:
    return name in PSEUDO_HOSTS or is_cluster(name)
