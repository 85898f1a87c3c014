# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks apply only to a node of a cluster."""

from ...collect.answer import known
from ...evaluate.checking import Skip
from .facts import Facts
from .policy import Policy


def applies(facts: Facts, _policy: Policy) -> None:
    if known(facts.cluster) is None:
        raise Skip("Not a cluster node: the policy names no cluster, and Clusterware has none.")
