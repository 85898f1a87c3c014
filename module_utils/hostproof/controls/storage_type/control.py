# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What storage a host's database really is on, and what follows for Oracle. Only looks.

The servers of the host's NFS mounts are queried over SNMP from the host itself, as the database
asks them; management addresses of SAN storage come from the policy. Sources: Oracle ZFS Storage
Appliance Administration Guide, "Configuring for Oracle Database Clients"; Oracle Database
Installation Guide for Linux, "Enabling HCC on Direct NFS Client".
"""

from ...evaluate.control import Control
from . import (
    rules_advice,
    rules_answers,
    rules_console,
    rules_database,
    rules_layout,
    rules_load,
    rules_parts,
    rules_space,
)
from .facts import Facts, read
from .policy import NAME, Policy, policy_from
from .snmp import snmp_targets

#: The check that needs the entry of the policy for the SNMP queries of the database.
NEEDS_ALL = {"credentials." + snmp_targets.DATABASE: (rules_answers.hcc.check.id,)}

CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    rules=(
        rules_answers.rules,
        rules_database.rules,
        rules_advice.rules,
        rules_space.rules,
        rules_layout.rules,
        rules_console.rules,
        rules_parts.rules,
        rules_load.rules,
    ),
    needs_all=NEEDS_ALL,
)
