# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry of controls: a new control adds its name to both lists, and nothing else here.

A control is imported when it is asked for: all of them take the better part of a second, on a slow
host many, and most tasks need one.
"""

import importlib
from collections.abc import Mapping
from typing import Any, FrozenSet, Iterator

NAMES = (
    "flow_control",
    "hugepages",
    "io_pacing",
    "latency",
    "listener_rate_limit",
    "nfs_mounts",
    "pre_page_sga",
    "storage_type",
)


def _packed():
    # type: () -> Any
    """Never called: what Ansible finds imported, in functions too, it sends to a host."""
    from . import (
        flow_control,
        hugepages,
        io_pacing,
        latency,
        listener_rate_limit,
        nfs_mounts,
        pre_page_sga,
        storage_type,
    )

    return (
        flow_control,
        hugepages,
        io_pacing,
        latency,
        listener_rate_limit,
        nfs_mounts,
        pre_page_sga,
        storage_type,
    )


class _Registry(Mapping):
    """Names of controls to their modules."""

    def __getitem__(self, name):
        # type: (str) -> Any
        if name not in NAMES:
            raise KeyError(name)
        return importlib.import_module("{0}.{1}".format(__name__, name))

    def __iter__(self):
        # type: () -> Iterator[str]
        return iter(NAMES)

    def __len__(self):
        # type: () -> int
        return len(NAMES)

    def __contains__(self, name):
        # type: (object) -> bool
        return name in NAMES


CONTROLS = _Registry()


def check_ids():
    # type: () -> FrozenSet[str]
    """Every check that can appear in a finding of a control: what a waiver may name."""
    return frozenset(check.id for control in CONTROLS.values() for check in control.CHECKS)
