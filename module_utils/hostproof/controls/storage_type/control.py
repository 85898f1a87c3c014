# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Identifies the storage of the host's database and checks its state and its Oracle features.

The control is read-only. The host itself queries the servers of its NFS mounts over SNMP, as the
database does. The policy lists the management addresses of SAN storage. Sources: Oracle ZFS Storage
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

#: The check that needs the credentials ``database`` of the policy.
NEEDS_ALL = {"snmp_credentials." + snmp_targets.DATABASE: (rules_answers.hcc.check.id,)}

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
