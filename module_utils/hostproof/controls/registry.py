# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry of controls: a new control adds one line, in ``_packed``.

A control is imported when it is asked for: all of them take the better part of a second, on a slow
host many, and most tasks need one.
"""

import importlib
from collections.abc import Mapping
from typing import Any, FrozenSet, Iterator, Tuple


def _packed() -> Any:
    """Every control by its plan, a line each. Never called on a host: what Ansible finds imported,
    in functions too, it sends there."""
    from .async_io import plan as async_io  # noqa: F401
    from .block_devices import plan as block_devices  # noqa: F401
    from .cluster_nodes import plan as cluster_nodes  # noqa: F401
    from .flow_control import plan as flow_control  # noqa: F401
    from .hugepages import plan as hugepages  # noqa: F401
    from .interconnect import plan as interconnect  # noqa: F401
    from .io_pacing import plan as io_pacing  # noqa: F401
    from .kernel_parameters import plan as kernel_parameters  # noqa: F401
    from .latency import plan as latency  # noqa: F401
    from .listener_rate_limit import plan as listener_rate_limit  # noqa: F401
    from .memory_pressure import plan as memory_pressure  # noqa: F401
    from .names import plan as names  # noqa: F401
    from .nfs_mounts import plan as nfs_mounts  # noqa: F401
    from .pool_validation import plan as pool_validation  # noqa: F401
    from .pre_page_sga import plan as pre_page_sga  # noqa: F401
    from .process_limits import plan as process_limits  # noqa: F401
    from .storage_type import plan as storage_type  # noqa: F401
    from .time_sync import plan as time_sync  # noqa: F401

    return locals()


#: The names that the function would bind, in their order: they are listed nowhere else.
NAMES: Tuple[str, ...] = _packed.__code__.co_varnames


class _Registry(Mapping):
    """Names of controls to their modules."""

    def __getitem__(self, name: str) -> Any:
        if name not in NAMES:
            raise KeyError(name)
        return importlib.import_module(f"{__name__}.{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __contains__(self, name: object) -> bool:
        return name in NAMES


CONTROLS = _Registry()


def planner(name: str) -> Any:
    """``plan`` of a control: in its one file, or in plan.py of its package.

    The latter is imported here, so that it travels where a plan is made and nowhere else.
    """
    control = CONTROLS[name]
    if hasattr(control, "__path__"):
        control = importlib.import_module(f"{control.__name__}.plan")
    return control.plan


def check_ids() -> FrozenSet[str]:
    """Every check that can appear in a finding of a control: what a waiver may name."""
    return frozenset(check.id for control in CONTROLS.values() for check in control.CHECKS)
