# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""latency: compares the latency of disks, NFS mounts, network and wait events with limits."""

from ...evaluate.control import Control
from . import (
    rules_blocking,
    rules_budget,
    rules_cells,
    rules_change,
    rules_counted,
    rules_files,
    rules_lobs,
    rules_network,
    rules_pools,
    rules_redo,
    rules_reports,
    rules_tool_figures,
    rules_tools,
    rules_work,
)
from .facts import Facts, read
from .policy import NAME, Policy, policy_from

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    rules=(
        rules_counted.rules,
        rules_files.rules,
        rules_network.rules,
        rules_pools.rules,
        rules_reports.rules,
        rules_tools.rules,
        rules_tool_figures.rules,
        rules_lobs.rules,
        rules_redo.rules,
        rules_blocking.rules,
        rules_work.rules,
        rules_cells.rules,
        rules_budget.rules,
        rules_change.rules,
    ),
)
