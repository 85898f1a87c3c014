# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of a site: the role's variables and their rules."""

import re
from typing import Any, NamedTuple, Optional, Tuple

from ...collect.masking import masked
from ...evaluate.fields import Field, checked_by, entries, flag, matching, reader
from ...evaluate.fields import one_of as choice
from ...evaluate.finding import SEVERITIES, TAKES_EFFECT
from ...evaluate.policy import PolicyValues
from ...parsers.systemd import sysctl_d
from .commands import refusal

NAME = "custom"

#: Sources of a value, and comparisons. A check has one of each.
SOURCES = ("sysctl", "file", "package", "service", "mount", "command")
COMPARISONS = ("equals", "at_least", "at_most", "one_of", "matches")
#: States of a service.
RUNNING, STOPPED = SERVICE_STATES = ("running", "stopped")
#: States of a package.
INSTALLED, NOT_INSTALLED = "installed", "not installed"
MOST_CHECKS = 500
_MOST_TITLE, _MOST_PROBLEM, _MOST_TEXT = 60, 70, 2000
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
#: No part is empty or begins with a dot: the path stays below /proc/sys.
_SYSCTL = re.compile(r"(?=.{1,128}\Z)[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+:@-]{0,127}\Z")


def _text(most: int = _MOST_TEXT) -> Any:
    def read(values: PolicyValues, name: str) -> str:
        value = values[name]
        if not isinstance(value, str) or not value.isprintable():
            raise values.error(name, "must be a text on one line")
        if len(value) > most:
            raise values.error(name, f"must have at most {most} characters, not {len(value)}")
        return value

    return checked_by(read, "str")


def _path(values: PolicyValues, name: str) -> str:
    path = values.absolute(name, values[name])
    if "/../" in path + "/" or "//" in path:
        raise values.error(name, f"must be a path without .. and //, not {path!r}")
    return path


def _regex(values: PolicyValues, name: str) -> str:
    value = values[name]
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise values.error(name, "must be a regular expression")
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as problem:
        raise values.error(name, f"is not a regular expression: {problem}") from problem
    return value


def _scalar(values: PolicyValues, name: str) -> str:
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise values.error(
            name, "must be a number or a text; put yes, no, true and false in quotes"
        )
    return str(value)


def _scalars(values: PolicyValues, name: str) -> Tuple[str, ...]:
    value = values[name]
    ok = isinstance(value, (list, tuple)) and value
    if not ok or any(isinstance(v, bool) or not isinstance(v, (str, int, float)) for v in value):
        raise values.error(name, "must be a list of numbers or texts")
    return tuple(map(str, value))


def _shared_flag() -> Any:
    return Field(lambda values, name: values.flag(name), "bool", is_shared=True)


class CustomCheck(NamedTuple):
    """One check. Exactly one of SOURCES and one of COMPARISONS is set."""

    id: str = matching(_ID, "lower case letters, digits and _")
    title: str = _text(_MOST_TITLE)
    problem: str = _text(_MOST_PROBLEM)
    severity: str = choice(*SEVERITIES)
    why: str = _text()
    reference: str = _text()
    takes_effect: str = choice(*TAKES_EFFECT).optional("now")
    sysctl: Optional[str] = matching(_SYSCTL, "the name of a sysctl").optional()
    file: Optional[str] = checked_by(_path, "path").optional()
    package: Optional[str] = matching(_NAME, "the name of a package").optional()
    service: Optional[str] = matching(_NAME, "the name of a unit").optional()
    mount: Optional[str] = checked_by(_path, "path").optional()
    command: Tuple[str, ...] = checked_by(
        lambda values, name: values.names(name), "list", elements="str"
    ).optional(())
    pattern: Optional[str] = checked_by(_regex, "str").optional()
    option: Optional[str] = matching(_NAME, "the name of a mount option").optional()
    as_root: bool = flag().optional(False)
    equals: Optional[str] = checked_by(_scalar, "raw").optional()
    at_least: Optional[str] = checked_by(_scalar, "raw").optional()
    at_most: Optional[str] = checked_by(_scalar, "raw").optional()
    one_of: Tuple[str, ...] = checked_by(_scalars, "list", elements="raw").optional(())
    matches: Optional[str] = checked_by(_regex, "str").optional()
    if_absent: str = choice("fail", "pass", "skip").optional("fail")
    fix: Optional[str] = _text().optional()
    commands: Tuple[str, ...] = checked_by(
        lambda values, name: values.names(name), "list", elements="str"
    ).optional(())

    @property
    def source(self) -> str:
        return next(name for name in SOURCES if getattr(self, name))

    @property
    def comparison(self) -> str:
        return next(name for name in COMPARISONS if getattr(self, name))


def _consistent(check: CustomCheck, values: PolicyValues) -> CustomCheck:
    """The check, or an error that names what is missing or does not fit together."""
    for kind, names in (("source", SOURCES), ("comparison", COMPARISONS)):
        if len([name for name in names if getattr(check, name)]) != 1:
            raise values.error(kind, f"must be exactly one of {', '.join(names)}")
    source = check.source
    if source == "file" and check.pattern is None:
        raise values.error("pattern", "must say which lines of the file count")
    if check.pattern is not None and source not in ("file", "command"):
        raise values.error("pattern", "belongs to file and command")
    if check.option is not None and source != "mount":
        raise values.error("option", "belongs to mount")
    _reject_secret_places(check, values)
    if check.as_root and source != "command":
        raise values.error("as_root", "belongs to command")
    _require_state(check, values)
    return check


def _reject_secret_places(check: CustomCheck, values: PolicyValues) -> None:
    sysctl = check.sysctl and "/proc/sys/" + sysctl_d.normalize(check.sysctl)
    for path in (sysctl, check.file, *check.command):
        # All that such a file holds would be blanked, wherever it is shown.
        if path and masked(path, "word") != "word":
            raise values.error(check.source, f"{path} holds secrets, and findings are shown")


def _require_state(check: CustomCheck, values: PolicyValues) -> None:
    if check.source == "service" and check.equals not in SERVICE_STATES:
        raise values.error("equals", f"must be {RUNNING} or {STOPPED} for a service")
    is_of_mount = check.source == "mount" and check.option is None
    if is_of_mount and check.equals not in ("mounted", "not mounted"):
        raise values.error("equals", 'must be "mounted" or "not mounted", or name an option')


class Policy(NamedTuple):
    """The role's variables."""

    checks: Tuple[CustomCheck, ...] = entries(CustomCheck, together=_consistent)
    """Your own checks. Each has C(id), C(title), C(problem), C(severity), C(why), C(reference),
    one source (C(sysctl), C(file), C(package), C(service), C(mount) or C(command)) and one
    comparison (C(equals), C(at_least), C(at_most), C(one_of) or C(matches)).

    C(pattern) selects lines of C(file) and C(command). C(option) is an option of C(mount).
    C(as_root) runs C(command) as the account of the audit. C(if_absent) is the status where the
    source has no value. C(takes_effect), C(fix) and C(commands) describe the correction.

    Files C(checks.d/*.yml) in the directory of the inventory contain the checks for all of its
    hosts. This variable contains the checks of a group or a host.

    Default: []
    """
    own_commands: bool = _shared_flag()
    """Whether your own checks can run any command. If false, they can run only commands of a fixed
    list that read and change nothing.

    Default: false
    """


def _allowed(policy: Policy, values: PolicyValues) -> Policy:
    if len(policy.checks) > MOST_CHECKS:
        raise values.error(
            "checks", f"has {len(policy.checks)} checks, and {MOST_CHECKS} are taken"
        )
    if policy.own_commands:
        return policy
    places = [place for place, _item in values.places("checks")]
    for place, check in zip(places, policy.checks):
        problem = refusal(check.command, check.as_root) if check.command else None
        if problem is not None:
            with values.entry("checks", place):
                raise values.error("checks", f"{check.id}: command {problem}")
    return policy


policy_from = reader(NAME, Policy, _allowed)
