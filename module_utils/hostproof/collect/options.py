# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a module that may be from one number to another: each said once.

``OPTIONS`` of a module is an argument specification in which a number is ``whole(1, 100)`` or
``decimal(0, 3600)``; ``argument_spec`` makes Ansible's of it, and ``check`` holds the bounds.
"""

import os
from typing import Any, Dict, Optional

_BOUNDS = "bounds"


def whole(low: int, high: int, default: Optional[int] = None) -> Dict[str, Any]:
    return {"type": "int", "default": default, _BOUNDS: (low, high)}


def decimal(low: float, high: float, default: Optional[float] = None) -> Dict[str, Any]:
    return {"type": "float", "default": default, _BOUNDS: (low, high)}


def argument_spec(options: Dict[str, Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
    """The options as AnsibleModule takes them."""
    return {
        name: {key: value for key, value in option.items() if key != _BOUNDS and value is not None}
        for name, option in options.items()
    }


def check(options: Dict[str, Dict[str, Any]], values: Dict[str, Any]) -> None:
    """ValueError for a number out of its bounds; one that is not given has none."""
    for name in sorted(options):
        if _BOUNDS in options[name] and values[name] is not None:
            low, high = options[name][_BOUNDS]
            if not low <= values[name] <= high:
                raise ValueError(f"{name} must be from {low} to {high}")


def check_cpu(cpu: Optional[int]) -> None:
    """ValueError for a processor that this process may not be bound to."""
    if cpu is not None and cpu not in os.sched_getaffinity(0):
        raise ValueError(f"cpu {cpu} is none that this process may use")
