# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof checks``: list all checks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click
from ansible.module_utils.hostproof.controls.registry import CONTROLS, NAMES, requirements
from ansible.module_utils.hostproof.evaluate.finding import Check
from ansible.module_utils.hostproof.evaluate.policy import PROFILE_FIELD
from ansible.module_utils.hostproof.evaluate.requirement import Requirement

from ..policies import BadPolicy, controls
from ..report.csv import as_csv
from ..report.markdown import as_markdown
from ..selection import SET, Selection, selection_of
from . import options, terminal
from .errors import Refused
from .explain import OWN, all_checks, own_checks
from .names import ControlName, ProfileName, SetName
from .releases import since
from .suggestions import did_you_mean, quoted

HEADS = ("check", "title", "severity", "takes effect", "control")
OF_PROFILE = ("check", "subject", "required", "source")


@options.command("checks")
@click.option(
    "--control",
    metavar="CONTROL",
    type=ControlName(),
    help="only checks of this control",
)
@click.option(
    "--profile",
    metavar="PROFILE",
    type=ProfileName("none"),
    help="list what this profile requires: check, subject, required value, source",
)
@click.option(
    "--set",
    "set_name",
    metavar="NAME",
    type=SetName(),
    help="only checks of this set: preinstall, prepatch, upgrade, quarterly",
)
@options.format_option("text", "json", "csv", "markdown")
@options.own_checks_option
def command(
    control: str | None,
    profile: str | None,
    set_name: str | None,
    output_format: str,
    inventories: tuple[str, ...],
) -> int:
    """Lists every check: id, title, severity, when its fix takes effect, control.

    With --profile: the values that the profile requires of a host before the installation.
    """
    if control is not None:
        _check_control(control)
    chosen = None if set_name is None else _selected_by(set_name)
    if profile is not None:
        required = [
            requirement
            for name in NAMES
            if control in (None, name)
            for requirement in _required(name, profile)
        ]
        _show_required(required, chosen, output_format)
        return 0
    own = (own_check.check for own_check in own_checks(inventories))
    checks = [
        check
        for check in (*all_checks(), *own)
        if control in (None, check.control) and (chosen is None or chosen.has(check.id))
    ]
    rows = [
        (check.id, check.title, check.severity, check.takes_effect.replace("_", " "), check.control)
        for check in checks
    ]
    _show([_record(check) for check in checks], HEADS, rows, output_format, wraps=1)
    return 0


def _check_control(name: str) -> None:
    if name not in NAMES:
        hint = did_you_mean(name, NAMES) or f"; there are {', '.join(NAMES)}"
        raise Refused(f"there is no control {quoted(name)}{hint}")


def _record(check: Check) -> dict[str, Any]:
    first = None if check.control == OWN else since(check.id)
    return {**check._asdict(), "control": check.control, "since": first}


def _selected_by(name: str) -> Selection:
    """The checks of a set that Hostproof has."""
    try:
        selection = selection_of({SET: name}, lambda value: value)
    except BadPolicy as problem:
        raise Refused(f"--set: {problem}") from None
    if selection is None:
        raise Refused("--set: name a set")
    return selection


def _required(name: str, profile: str) -> Iterable[Requirement]:
    """What a control requires with the defaults of its variables and this profile."""
    if CONTROLS[name].requirements is None:
        return ()
    control = controls()[name]
    values = {field: control.defaults[field] for field in control.fields}
    return requirements(name, CONTROLS[name].policy_from({**values, PROFILE_FIELD: profile}))


def _show_required(
    required: list[Requirement], chosen: Selection | None, output_format: str
) -> None:
    shown = [one for one in required if chosen is None or chosen.has(one.check)]
    records = [requirement._asdict() for requirement in shown]
    rows = [tuple(requirement) for requirement in shown]
    _show(records, OF_PROFILE, rows, output_format, wraps=3)


def _show(
    records: list[dict[str, Any]],
    heads: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    output_format: str,
    *,
    wraps: int,
) -> None:
    if output_format == "json":
        print(json.dumps(records, indent=1))
    elif output_format == "csv":
        print(as_csv(heads, rows), end="")
    elif output_format == "markdown":
        print(as_markdown(heads, rows), end="")
    else:
        terminal.table(heads, rows, wraps=wraps)
