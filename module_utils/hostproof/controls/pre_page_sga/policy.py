# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the instances of a host should take their SGA: the role's variables, checked."""

import re
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ...policy import PolicyValues

NAME = "pre_page_sga"

AUTO = "auto"
UNMANAGED = "unmanaged"


class WantedInstance(NamedTuple):
    """An instance to judge. ``home``, ``version`` and ``alert_log`` are None where the host says.

    ``version`` has as many numbers as were given: (11, 2, 0, 4) or (19,).
    """

    sid: str
    home: Optional[str]
    version: Optional[Tuple[int, ...]]
    alert_log: Optional[str]


class Policy(NamedTuple):
    """The role's variables (roles/pre_page_sga/meta/argument_specs.yml), checked.

    ``instances`` is None for "auto": those that run and those of oratab. ``wanted``,
    ``use_large_pages`` and ``lock_sga`` are a value of the parameter, "auto" or "unmanaged".
    """

    instances: Optional[Tuple[WantedInstance, ...]]
    wanted: str
    use_large_pages: str
    lock_sga: str
    memory_target: str
    ask_instances: bool
    sqlplus_seconds: int
    allow_small_pages_at_next_start: bool


def policy_from(values):
    # type: (Dict[str, Any]) -> Policy
    """A Policy from the role's variables without their prefix; PolicyError names the variable."""
    given = PolicyValues(NAME, values, Policy._fields)
    return Policy(
        instances=_instances(given),
        wanted=_choice(given, "wanted", (AUTO, "TRUE", "FALSE", UNMANAGED)),
        use_large_pages=_choice(
            given, "use_large_pages", (AUTO, "ONLY", "TRUE", "AUTO_ONLY", UNMANAGED)
        ),
        lock_sga=_choice(given, "lock_sga", (AUTO, "TRUE", "FALSE", UNMANAGED)),
        memory_target=given.one_of("memory_target", ("zero", UNMANAGED)),
        ask_instances=given.flag("ask_instances"),
        sqlplus_seconds=given.whole_number("sqlplus_seconds", 1, 600),
        allow_small_pages_at_next_start=given.flag("allow_small_pages_at_next_start"),
    )


def _choice(given, name, choices):
    # type: (PolicyValues, str, Tuple[str, ...]) -> str
    """One of ``choices``, in any case; YAML makes a truth value of TRUE."""
    text = str(given[name])
    for choice in choices:
        if text.lower() == choice.lower():
            return choice
    raise given.error(name, "must be one of {0}, not {1!r}".format(", ".join(choices), given[name]))


def _instances(given):
    # type: (PolicyValues) -> Optional[Tuple[WantedInstance, ...]]
    value = given["instances"]
    if value == AUTO:
        return None
    if not isinstance(value, (list, tuple)):
        raise given.error("instances", "must be auto or a list of {sid, home, version}")
    listed = tuple(_instance(given, item) for item in value)
    sids = [instance.sid for instance in listed]
    twice = sorted({sid for sid in sids if sids.count(sid) > 1})
    if twice:
        raise given.error("instances", "lists a sid twice: " + ", ".join(twice))
    return listed


def _instance(given, item):
    # type: (PolicyValues, Any) -> WantedInstance
    if not isinstance(item, dict) or not item.get("sid"):
        raise given.error("instances", "has {0!r}, which needs a sid".format(item))
    sid = str(item["sid"])
    if not re.match(r"^[A-Za-z0-9_$#+-]+$", sid):
        raise given.error("instances", "{0!r} is no sid".format(sid))
    unknown = sorted(set(item) - {"sid", "home", "version", "alert_log"})
    if unknown:
        raise given.error("instances", "{0} has unknown {1}".format(sid, ", ".join(unknown)))
    return WantedInstance(
        sid,
        _path(given, sid, "home", item.get("home")),
        _version(given, sid, item.get("version")),
        _path(given, sid, "alert_log", item.get("alert_log")),
    )


def _path(given, sid, name, value):
    # type: (PolicyValues, str, str, Any) -> Optional[str]
    if not value:
        return None
    if not str(value).startswith("/"):
        raise given.error(
            "instances", "{0}: {1} {2!r} must be an absolute path".format(sid, name, value)
        )
    return str(value).rstrip("/")


def _version(given, sid, value):
    # type: (PolicyValues, str, Any) -> Optional[Tuple[int, ...]]
    """ "11.2.0.4", "19", "23ai": 11.2 and 12.1 differ, so older ones need their second number."""
    if not value:
        return None
    match = re.match(r"^(\d+(?:\.\d+)*)(?:c|g|ai)?$", str(value))
    if match is None:
        raise given.error(
            "instances",
            "{0}: version {1!r} must be a release such as 19 or 11.2.0.4".format(sid, value),
        )
    return tuple(int(number) for number in match.group(1).split("."))
