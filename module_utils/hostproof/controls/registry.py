# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
# mypy: disable-error-code="no-redef"
"""The registry of controls.

A new control adds its name to ``NAMES`` and one import to ``_imports_for_ansible``. A control is
imported when it is required, because importing all of them takes nearly a second."""

import importlib
from collections.abc import Mapping
from typing import Any, Callable, FrozenSet, Iterable, Iterator, Tuple

from ..apply.change import Plan
from ..evaluate.requirement import Requirement

#: The controls, in the order of the report.
NAMES: Tuple[str, ...] = (
    "accounts",
    "asm_drivers",
    "async_io",
    "block_devices",
    "cluster_nodes",
    "custom",
    "firewall",
    "flow_control",
    "hugepages",
    "interconnect",
    "io_pacing",
    "kernel_parameters",
    "latency",
    "listener_rate_limit",
    "memory_pressure",
    "name_resolution",
    "nfs_mounts",
    "packages",
    "platform",
    "pool_validation",
    "pre_page_sga",
    "process_limits",
    "space",
    "storage_type",
    "time_sync",
)


def _imports_for_ansible() -> None:
    """Never called. Ansible packs what a module imports, in functions too, so each control is
    named here once more; our payload holds only the requested controls."""
    from .accounts import control
    from .asm_drivers import control
    from .async_io import control
    from .block_devices import control
    from .cluster_nodes import control
    from .custom import control
    from .firewall import control
    from .flow_control import control
    from .hugepages import control
    from .interconnect import control
    from .io_pacing import control
    from .kernel_parameters import control
    from .latency import control
    from .listener_rate_limit import control
    from .memory_pressure import control
    from .name_resolution import control
    from .nfs_mounts import control
    from .packages import control
    from .platform import control
    from .pool_validation import control
    from .pre_page_sga import control
    from .process_limits import control
    from .space import control
    from .storage_type import control
    from .time_sync import control


class _Registry(Mapping):
    """Names of controls to their ``Control``."""

    def __getitem__(self, name: str) -> Any:
        if name not in NAMES:
            raise KeyError(name)
        return importlib.import_module(f"{__package__}.{name}.control").CONTROL

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __contains__(self, name: object) -> bool:
        return name in NAMES


CONTROLS = _Registry()


def planner(name: str) -> Callable[[Any, Any], Plan]:
    """The function ``plan`` of a control."""
    return CONTROLS[name].plan or _plan_nothing


def _plan_nothing(_facts: object, _policy: object) -> Plan:
    """The plan of a control that only audits."""
    return Plan(changes=[], refusals=[], pending=[], at_boot=[])


def requirements(name: str, policy: object) -> Iterable[Requirement]:
    """The requirements of a control's policy. The import is here because no host needs it."""
    module = CONTROLS[name].requirements
    if module is None:
        return ()
    submodule = importlib.import_module(f"{__package__}.{name}.{module}")
    return tuple(submodule.requirements(policy))


def check_ids() -> FrozenSet[str]:
    """Every check that can appear in a finding of a control: what a waiver may name."""
    return frozenset(check.id for control in CONTROLS.values() for check in control.checks)
