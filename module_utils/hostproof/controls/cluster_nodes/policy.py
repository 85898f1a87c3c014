# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster a host belongs to: the role's variables and their checks."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import checked_by, names, reader
from ...evaluate.policy import PolicyValues

NAME = "cluster_nodes"


def _name(given: PolicyValues, name: str) -> Optional[str]:
    value = given[name]
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise given.error(name, f"must be auto, none or the name of a cluster, not {value!r}")
    return None if value == "auto" else value


class Policy(NamedTuple):
    """``name`` is None where Clusterware is to say it, and "none" where the host is in none."""

    name: Optional[str] = checked_by(_name, "str")
    """The cluster that this host is a node of, by a name of yours. C(auto) takes the name that Grid
    Infrastructure was configured with; C(none) says that the host is in no cluster.

    Default: auto
    """
    expected: Optional[Tuple[str, ...]] = names().none_for("auto")
    """The nodes of the cluster, by inventory name or hostname, such as all hosts of a group. A
    node without a result is an error of the cluster. C(auto) uses the nodes of the Grid
    Infrastructure configuration; without one, only the nodes with a result are known.

    Default: auto
    """


policy_from = reader(NAME, Policy)
