# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cluster of the host and its nodes: validated role variables."""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import checked_by, names, reader
from ...evaluate.policy import PolicyValues

NAME = "cluster_nodes"
_ACCOUNT = re.compile(r"[a-z_][a-z0-9_.-]{0,31}\Z")


def _name(values: PolicyValues, name: str) -> Optional[str]:
    value = values[name]
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise values.error(name, f"must be auto, none or the name of a cluster, not {value!r}")
    return None if value == "auto" else value


class Policy(NamedTuple):
    """``name`` is None if it is read from Clusterware, "none" if the host is not in a cluster."""

    name: Optional[str] = checked_by(_name, "str")
    """Name of the cluster of this host. C(auto) uses the name in the configuration of Grid
    Infrastructure. C(none) means that the host is not a node of a cluster.

    Default: auto
    """
    expected: Optional[Tuple[str, ...]] = names().none_for("auto")
    """The nodes of the cluster, by inventory name or hostname, such as all hosts of a group. A
    node without a result is an error of the cluster. C(auto) uses the nodes of the Grid
    Infrastructure configuration; without one, only the nodes with a result are known.

    Default: auto
    """

    ssh_accounts: Tuple[str, ...] = names(_ACCOUNT.match, "an account such as grid")
    """Accounts that must log in on every other node with ssh and without a password, such as
    C(grid) and C(oracle) before an installation. An audit logs in elsewhere only for these
    accounts, with C(BatchMode) and C(StrictHostKeyChecking), and runs only C(true) there.

    Default: []
    """


policy_from = reader(NAME, Policy)
