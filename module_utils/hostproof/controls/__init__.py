# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry of controls: a new control adds its line to CONTROLS, and nothing else here."""

from . import (
    flow_control,
    hugepages,
    io_pacing,
    listener_rate_limit,
    nfs_mounts,
    pre_page_sga,
    storage_type,
)

CONTROLS = {
    flow_control.NAME: flow_control,
    hugepages.NAME: hugepages,
    io_pacing.NAME: io_pacing,
    listener_rate_limit.NAME: listener_rate_limit,
    nfs_mounts.NAME: nfs_mounts,
    pre_page_sga.NAME: pre_page_sga,
    storage_type.NAME: storage_type,
}

#: Every check that can appear in a finding of a control: what a waiver may name.
CHECK_IDS = frozenset(check.id for control in CONTROLS.values() for check in control.CHECKS)
