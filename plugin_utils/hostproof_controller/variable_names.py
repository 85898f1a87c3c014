# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which variables of a host are misspelt variables of Hostproof, and which belong to other roles.

A close misspelling of a variable of a selected control is rejected: its value would have no effect.
Any other name with a prefix of Hostproof can belong to another role. Each run lists such names in
one warning.
"""

from __future__ import annotations

import difflib
import fcntl
import functools
import tempfile
from collections.abc import Iterable, Mapping
from io import FileIO
from typing import Any

from . import policies
from .policies import OF_ALL, BadPolicy, controls, suggestion_for

#: Variables of the playbooks that begin as a control's do.
OF_PLAYBOOKS = frozenset(
    (
        "detect_storage_concurrency",
        "detect_storage_from",
        "detect_storage_output",
        "latency_gate_action",
        "latency_gate_unchanged_hosts",
        "latency_gate_inconclusive",
        "latency_gate_pause_seconds",
        "latency_gate_accept",
        "latency_gate_revert_later",
        "latency_gate_seconds",
        "latency_gate_serial",
        "latency_gate_settle_seconds",
        "latency_gate_tolerance",
        "latency_gate_windows",
    )
)
#: Decides about names that are not close to a variable of Hostproof.
UNKNOWN_VARIABLES = "hostproof_unknown_variables"
MODES = ("warn", "fail", "ignore")

OF_HOSTPROOF = frozenset(
    f"hostproof_{name}"
    for name in (
        "after_apply",
        "host_timeout",
        "baseline",
        "checks",
        "become",
        "entry_point",
        "evidence",
        "evidence_folder",
        # AWX passes the statistics of a job as variables to the next job of a workflow.
        "exit_code",
        "fail_on",
        "gate",
        "packs_skipped",
        "report",
        "revert_overwrite",
        "set",
        "sets",
        "skip_checks",
        "strict",
        "target_release",
        "unknown_variables",
        "waivers",
    )
)

#: Names of two variables are close from this ratio of difflib on.
_CLOSE = 0.85

#: Variables that Ansible gives every host: to know that they are not ours takes comparing.
_OF_ANSIBLE = (
    "environment",
    "group_names",
    "groups",
    "hostvars",
    "inventory_dir",
    "inventory_file",
    "inventory_hostname",
    "inventory_hostname_short",
    "play_hosts",
    "playbook_dir",
    "role_names",
)


def prime() -> None:
    """Prepare what all workers share, before they are forked."""
    _listed_file()
    every = tuple(controls())
    for name in _OF_ANSIBLE:
        closest(name, every)


@functools.cache
def known_variables(names: tuple[str, ...] | None = None) -> frozenset[str]:
    """Every variable that these controls or a playbook of Hostproof take; None: all controls."""
    own = {
        control.variable(name)
        for control in controls().values()
        if names is None or control.name in names
        for name in {*control.options, *control.defaults}
    }
    return frozenset(own) | OF_PLAYBOOKS | OF_HOSTPROOF


@functools.cache
def _known() -> frozenset[str]:
    """Known names, and the variables in which roles return their results."""
    return known_variables() | {f"{OF_ALL}{control}" for control in controls()}


def check(variables: Mapping[str, Any], names: Iterable[str], template: object) -> None:
    """BadPolicy for a misspelt variable of the controls ``names``; a warning for foreign names."""
    warn(_foreign(variables, names, template))


class Run:
    """Checks the variables of many hosts before a run contacts them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._foreign: set[str] = set()

    def check(self, variables: Mapping[str, Any]) -> None:
        """BadPolicy for a misspelt variable, and for a value that is none of its choices."""
        self._foreign.update(_foreign(variables, self._names, _untemplated))
        _refuse_bad_choices(variables)

    def check_host(self, variables: Mapping[str, Any]) -> None:
        """The same for all variables of a host, and BadPolicy for a selection or an own check that
        cannot be used: the sets of a site are in the variables of its hosts."""
        self.check(variables)
        _refuse_bad_selection(variables)
        if "custom" in self._names:
            _refuse_bad_checks(variables)

    def warn(self) -> None:
        """List the foreign names of all hosts in one warning."""
        warn(sorted(self._foreign))


def _untemplated(value: object, _variables: object = None) -> object:
    return value


def _foreign(variables: Mapping[str, Any], names: Iterable[str], template: Any) -> list[str]:
    """The foreign names that a warning must list. BadPolicy as ``hostproof_unknown_variables``
    says."""
    foreign = refuse_misspelt(variables, names)
    if not foreign:
        return []
    mode = policies.plain(UNKNOWN_VARIABLES, variables.get(UNKNOWN_VARIABLES, MODES[0]), template)
    if mode not in MODES:
        raise BadPolicy(f"{UNKNOWN_VARIABLES} must be one of {', '.join(MODES)}, not {mode!r}")
    if mode == "fail":
        near = suggestion_for(foreign[0], known_variables()) or ": remove it"
        raise BadPolicy(
            f"no control takes the variable {foreign[0]}{near} ({UNKNOWN_VARIABLES} is fail)"
        )
    return foreign if mode == "warn" else []


def refuse_misspelt(variables: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """The names with a prefix of Hostproof that it does not know, sorted.

    BadPolicy for a close misspelling of a variable of the controls ``names``, for the former name
    of one, and for a variable that a host sets by a fact.
    """
    known, selected = _known(), tuple(sorted(names))
    foreign = []
    for name in variables:
        if not isinstance(name, str) or name in known:
            continue
        _refuse_renamed(name, selected)
        close = closest(name, selected)
        if close is not None:
            raise BadPolicy(f"no control takes the variable {name}: did you mean {close}?")
        if _has_our_prefix(name):
            foreign.append(name)
    _refuse_facts(variables)
    return sorted(foreign)


def _refuse_renamed(name: str, selected: tuple[str, ...]) -> None:
    if not _has_our_prefix(name):
        return
    # Imported only here, because tools import this module without Ansible.
    from ansible.module_utils.hostproof.evaluate.policy import OLD_VARIABLES, moved

    if OLD_VARIABLES.get(name) in known_variables(selected):
        raise BadPolicy(str(moved(name)))


@functools.lru_cache(maxsize=4096)
def closest(name: str, selected: tuple[str, ...]) -> str | None:
    """The variable of these controls that ``name`` is a misspelling of; None: it is none."""
    if name.startswith(("_", "ansible_")):
        # Private names of a play or a role, and the variables of Ansible.
        return None
    begin, _, end = name.lower().rpartition("_")
    # Only names that have something in common are compared, because comparing is slow.
    if not begin or (begin[:3] not in _beginnings() and end not in _endings()):
        return None
    close = difflib.get_close_matches(name.lower(), known_variables(selected), 1, _CLOSE)
    return close[0] if close else None


def _has_our_prefix(name: str) -> bool:
    return name.startswith(_prefixes())


@functools.cache
def _prefixes() -> tuple[str, ...]:
    return (*(f"{control}_" for control in controls()), OF_ALL, "detect_storage_")


@functools.cache
def _beginnings() -> frozenset[str]:
    return frozenset(prefix[:3] for prefix in _prefixes())


@functools.cache
def _endings() -> frozenset[str]:
    return frozenset(variable.rpartition("_")[2] for variable in known_variables())


@functools.cache
def _listed_file() -> FileIO:
    """The names that were already listed: a file without a name that all workers inherit."""
    # Without a buffer: a worker must not read the buffer of its parent.
    return tempfile.TemporaryFile(buffering=0)


def warn(names: Iterable[str]) -> None:
    """List names in a warning. A name is listed once per run, also by several workers."""
    names = list(names)
    if not names:
        return
    listed = _listed_file()
    fcntl.lockf(listed, fcntl.LOCK_EX)
    try:
        listed.seek(0)
        known = set(listed.read().decode().split())
        new = [name for name in names if name not in known]
        listed.write("".join(f"{name}\n" for name in new).encode())
    finally:
        fcntl.lockf(listed, fcntl.LOCK_UN)
    if new:
        from .remote.transport import warn as warning

        word, verb = ("variable", "is") if len(new) == 1 else ("variables", "are")
        warning(
            f"Hostproof: the {word} {', '.join(new)} {verb} not used by any control. Set "
            f"{UNKNOWN_VARIABLES} to ignore if other roles use them."
        )


def _refuse_bad_choices(variables: Mapping[str, Any]) -> None:
    """BadPolicy for a value that is none of the choices of its variable.

    A value that is not plain text, or holds a template, is validated when its host is audited.
    """
    choices = _choices()
    for name in choices.keys() & variables.keys():
        value = variables[name]
        if isinstance(value, str) and "{" not in value and value not in choices[name]:
            suggestion = suggestion_for(value, choices[name]) or "."
            raise BadPolicy(
                f"{name} cannot be {policies.shown_value(value)}{suggestion} "
                f"Valid values: {', '.join(choices[name])}"
            )


def _refuse_bad_selection(variables: Mapping[str, Any]) -> None:
    """BadPolicy for a check or a set that does not exist. A template is read with its host."""
    from . import selection

    names = (selection.CHECKS, selection.SKIPPED, selection.SET, selection.SETS)
    values = {name: variables[name] for name in names if name in variables}
    if not _has_template(values):
        selection.selection_of(values, _untemplated)


def _refuse_bad_checks(variables: Mapping[str, Any]) -> None:
    """BadPolicy for an entry of ``custom_checks`` that cannot be used."""
    entries = variables.get("custom_checks")
    if not isinstance(entries, list) or not entries or _has_template(entries):
        return
    from ansible.module_utils.hostproof.errors import HostproofError

    from . import custom_checks

    for number, entry in enumerate(entries, 1):
        try:
            values = policies.plain("custom_checks", entry, _untemplated)
            custom_checks.loaded(f"custom_checks, entry {number}", values)
        except HostproofError as problem:
            raise BadPolicy(str(problem)) from None


def _has_template(value: object) -> bool:
    """Whether a text in the value is a template, or is known only later, such as one in a vault."""
    if isinstance(value, Mapping):
        return any(_has_template(item) for item in (*value, *value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_template, value))
    if isinstance(value, str):
        return any(mark in value for mark in ("{{", "{%", "{#"))
    return not (value is None or isinstance(value, bool | int | float))


@functools.cache
def _choices() -> dict[str, tuple[str, ...]]:
    """The variables that take one of several words, and these words."""
    return {
        control.variable(name): tuple(option["choices"])
        for control in controls().values()
        for name, option in control.options.items()
        if option.get("type", "str") == "str" and option.get("choices")
    }


def _refuse_facts(variables: Mapping[str, Any]) -> None:
    """BadPolicy where a host gathered what would be a variable of ours."""
    facts = variables.get("ansible_facts")
    for name in facts if isinstance(facts, Mapping) else ():
        if name in known_variables():
            raise BadPolicy(
                f"{name} is a fact of this host, and a host must not set its own policy: set it "
                "in the inventory"
            )
