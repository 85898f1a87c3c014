# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Required parameters of instances: validated role variables."""

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


def _version(values: PolicyValues, name: str) -> Tuple[int, ...]:
    """A release such as "11.2.0.4", "19" or "23ai". Old ones need the second number of it."""
    release = oracle_release(values[name])
    if release is None:
        raise values.error(name, f"{values[name]!r} must be a release such as 19 or 11.2.0.4")
    return release


class WantedInstance(NamedTuple):
    """An instance to check. ``home``, ``version`` and ``alert_log`` None: read them from the host.

    ``version`` has as many numbers as were given: (11, 2, 0, 4) or (19,).
    """

    sid: str = instance_name()
    home: Optional[str] = absolute_path().optional()
    version: Optional[Tuple[int, ...]] = checked_by(_version, "str").optional()
    alert_log: Optional[str] = absolute_path().optional()


def _value(*choices: str) -> Any:
    """A value of a parameter in upper or lower case. YAML converts TRUE to a boolean."""

    def read(values: PolicyValues, name: str) -> str:
        text = str(values[name])
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise values.error(name, f"must be one of {', '.join(choices)}, not {values[name]!r}")

    return checked_by(read, "raw")


class Policy(NamedTuple):
    """The role's variables.

    ``instances`` is None for "auto": running ones and those in oratab. ``value``,
    ``use_large_pages`` and ``lock_sga`` are a value of the parameter, "auto" or "unmanaged".
    """

    instances: Optional[Tuple[WantedInstance, ...]] = entries(WantedInstance).none_for(AUTO)
    """The databases to check in addition to running ones, each with C(sid). C(home), C(version)
    (such as C(19) or C(11.2.0.4)) and C(alert_log) are required only if they cannot be read from
    the host.

    C(auto) uses those in C(oratab) that have a parameter file.

    Default: auto
    """
    value: str = _value(AUTO, "TRUE", "FALSE", UNMANAGED)
    """Required C(pre_page_sga): C(auto), C(true), C(false) or C(unmanaged), in upper or lower
    case.

    C(auto) uses the release and the actual pages of the SGA. Up to 11.2 it accepts any value if
    the whole SGA is in huge pages, and requires C(FALSE) otherwise. For 12.1 and later it warns
    about C(FALSE), and apply does not change it. For 19.22 and later and for 23ai it warns
    about any entry.

    Default: auto
    """
    use_large_pages: str = _value(AUTO, "ONLY", "TRUE", "AUTO_ONLY", UNMANAGED)
    """Required C(use_large_pages): C(auto), C(only), C(true), C(auto_only) or C(unmanaged), in
    upper or lower case.

    C(auto) accepts C(ONLY), and C(TRUE) while the whole SGA is in huge pages.

    Default: auto
    """
    lock_sga: str = _value(AUTO, "TRUE", "FALSE", UNMANAGED)
    """Required C(lock_sga): C(auto), C(true), C(false) or C(unmanaged), in upper or lower case.

    C(auto) accepts both values if they fit the page size of the SGA, C(memory_target) and memlock.

    Default: auto
    """
    memory_target: str = one_of("zero", UNMANAGED)
    """C(zero) requires that Automatic Memory Management is off, because its SGA is never in
    huge pages. C(unmanaged) does not check it.

    Default: zero
    """
    query_instances: bool = flag()
    """Whether running instances are queried, with C(sqlplus / as sysdba) as their owner. The
    query reads four views and creates an entry in the audit trail of the instance each time.

    If C(false), no program of a database home is run, the running values are unknown, and
    checks that need them are C(error).

    Default: true
    """
    sqlplus_timeout: int = whole_number(1, 600)
    """Maximum time of an answer of C(sqlplus), from 1 to 600 seconds.

    Default: 20
    """
    allow_small_pages_at_next_start: bool = flag()
    """Accept C(pre_page_sga=TRUE) up to release 11.2 if the SGA is in huge pages now but
    C(use_large_pages) is not C(ONLY). If the pool is too small at a later start, every login
    takes seconds.

    Default: false
    """


policy_from = reader(NAME, Policy)
