# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stays on the controller: what sends and checks, the report, the comparisons and the gate.

It may import what travels to hosts (``ansible.module_utils.hostproof``), never the other way. In a
checkout nothing but this shows Python where that is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

if sys.version_info < (3, 11):  # noqa: UP036 - ansible-core 2.16 starts with Python 3.10
    from ansible.errors import AnsibleError

    _THIS = ".".join(map(str, sys.version_info[:2]))
    raise AnsibleError(f"Python 3.11 or newer is required on the controller; this is {_THIS}")

_TRAVELS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "module_utils"
)


class _Travels:
    """Finds what travels when it is imported: Ansible is not loaded before, which takes 25 ms."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "ansible.module_utils.hostproof":
            return None
        return PathFinder.find_spec(name, [_TRAVELS], target)


if _Travels not in sys.meta_path:
    sys.meta_path.append(_Travels)
