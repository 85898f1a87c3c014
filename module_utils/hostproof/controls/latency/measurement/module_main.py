# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The main function that the latency modules of library/ share."""

from typing import Any, Callable, Dict, List

from ....collect.host_module import AnsibleModule
from ....collect.measured import Measured
from ....errors import HostproofError
from .window_table import result


class NothingMeasured(HostproofError):
    """Every measurement failed; ``remarks`` say why."""

    def __init__(self, remarks: List[str]) -> None:
        super().__init__("nothing could be measured: {0}".format("; ".join(remarks)))
        self.remarks = remarks


def windows_of(measured: Measured) -> Dict[str, Any]:
    """The result of a module: its windows. Raises NothingMeasured if there is none."""
    if not measured.windows:
        raise NothingMeasured(measured.remarks)
    return result(measured.windows, measured.remarks)


def run(
    name: str,
    argument_spec: Dict[str, Any],
    answer: Callable[[Dict[str, Any], bool], Dict[str, Any]],
    **options: Any,
) -> None:
    """Run a module. ``answer`` gets the parameters and whether this is check mode, and returns the
    result. A HostproofError, an OSError or a ValueError fails the module with its message."""
    module = AnsibleModule(argument_spec=argument_spec, supports_check_mode=True, **options)
    try:
        given = answer(dict(module.params), module.check_mode)
    except (HostproofError, OSError, ValueError) as problem:
        remarks = getattr(problem, "remarks", [])
        module.fail_json(msg=f"{name}: {problem}", remarks=remarks)
    module.exit_json(**given)
