# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the checks apply: on a node of a cluster."""

from ...collect.answer import known
from ...evaluate.checking import Rules, Skip
from .facts import Facts
from .policy import NAME, Policy


def _in_cluster(facts: Facts, _policy: Policy) -> None:
    if known(facts.cluster) is None:
        raise Skip("This host is in no cluster: none is named, and Clusterware has none.")


rules = Rules(NAME, applies=_in_cluster)
