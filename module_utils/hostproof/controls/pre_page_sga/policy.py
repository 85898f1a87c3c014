# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the instances of a host should take their SGA: the role's variables and their checks."""

from typing import Any, NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    absolute_path,
    checked_by,
    entries,
    flag,
    instance_name,
    one_of,
    reader,
    whole_number,
)
from ...evaluate.policy import PolicyValues, oracle_release

NAME = "pre_page_sga"

AUTO = "auto"
UNMANAGED = "unmanaged"


def _version(given: PolicyValues, name: str) -> Tuple[int, ...]:
    """ "11.2.0.4", "19", "23ai": 11.2 and 12.1 differ, so older ones need their second number."""
    release = oracle_release(given[name])
    if release is None:
        raise given.error(name, f"{given[name]!r} must be a release such as 19 or 11.2.0.4")
    return release


class WantedInstance(NamedTuple):
    """An instance to judge. ``home``, ``version`` and ``alert_log`` are None where the host says.

    ``version`` has as many numbers as were given: (11, 2, 0, 4) or (19,).
    """

    sid: str = instance_name()
    home: Optional[str] = absolute_path().optional()
    version: Optional[Tuple[int, ...]] = checked_by(_version, "str").optional()
    alert_log: Optional[str] = absolute_path().optional()


def _value(*choices: str) -> Any:
    """A value of a parameter in any case: YAML makes a truth value of TRUE."""

    def read(given: PolicyValues, name: str) -> str:
        text = str(given[name])
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise given.error(name, f"must be one of {', '.join(choices)}, not {given[name]!r}")

    return checked_by(read, "raw")


class Policy(NamedTuple):
    """The role's variables (roles/pre_page_sga/meta/argument_specs.yml).

    ``instances`` is None for "auto": those that run and those of oratab. ``wanted``,
    ``use_large_pages`` and ``lock_sga`` are a value of the parameter, "auto" or "unmanaged".
    """

    instances: Optional[Tuple[WantedInstance, ...]] = entries(WantedInstance).none_for(AUTO)
    wanted: str = _value(AUTO, "TRUE", "FALSE", UNMANAGED)
    use_large_pages: str = _value(AUTO, "ONLY", "TRUE", "AUTO_ONLY", UNMANAGED)
    lock_sga: str = _value(AUTO, "TRUE", "FALSE", UNMANAGED)
    memory_target: str = one_of("zero", UNMANAGED)
    ask_instances: bool = flag()
    sqlplus_seconds: int = whole_number(1, 600)
    allow_small_pages_at_next_start: bool = flag()


policy_from = reader(NAME, Policy)
