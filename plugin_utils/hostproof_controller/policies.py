# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies from a host's variables: read by name, templated only where a value holds a template.

A control's variables, their types and defaults are in its role (``meta/argument_specs.yml``,
``defaults/main.yml``); both are read once, before workers are forked.
"""

from __future__ import annotations

import base64
import contextlib
import difflib
import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import yaml

from . import cache, targets
from .layout import ROLES

#: Variables of a role that decide what its tasks do, not what a host should be.
OF_TASKS = ("verify_fail_on", "allow_reboot")

#: What the options begin with that several roles share. Their defaults are in the specification.
OF_ALL = "hostproof_"

#: How deep and how large a value may be. Nobody's policy is; an alias bomb in an inventory is.
MOST_DEPTH = 20
MOST_ITEMS = 100_000
MOST_TEXT = 1 << 20
MOST_NUMBER = 1 << 64

#: Defaults of variables that the environment can give: the inventory overrides them.
_OF_ENVIRONMENT = {"hostproof_profile": "HOSTPROOF_PROFILE"}

_TRUE = ("true", "yes", "on", "1", "y", "t")
_FALSE = ("false", "no", "off", "0", "n", "f")


class BadPolicy(Exception):
    """A variable that cannot be used; the message is one sentence that names it."""


class Control(NamedTuple):
    """What a role says of its variables: names without prefix to their options and defaults."""

    name: str
    options: dict[str, dict[str, Any]]
    defaults: dict[str, Any]
    shared: frozenset[str]

    def variable(self, field: str) -> str:
        return f"{OF_ALL if field in self.shared else self.name + '_'}{field}"

    @property
    def fields(self) -> list[str]:
        return [name for name in self.options if name not in OF_TASKS]


@functools.cache
def controls() -> dict[str, Control]:
    """Every control that has a role, by name."""
    all_controls = {}
    for name, (options, defaults) in _roles().items():
        prefix = f"{name}_"
        shared = {key: value["default"] for key, value in options.items() if key.startswith(OF_ALL)}
        all_controls[name] = Control(
            name,
            {
                key.removeprefix(prefix).removeprefix(OF_ALL): option
                for key, option in options.items()
            },
            {key.removeprefix(prefix): default for key, default in defaults.items()}
            | {key.removeprefix(OF_ALL): option for key, option in shared.items()},
            frozenset(key.removeprefix(OF_ALL) for key in shared),
        )
    return all_controls


def _roles() -> dict[str, list[Any]]:
    """The options of each role's verify entry point, and its defaults.

    Kept as JSON for the next run: to read YAML takes ten times as long.
    """
    files = {
        specs.parents[1].name: (
            specs.read_bytes(),
            specs.parents[1].joinpath("defaults/main.yml").read_bytes(),
        )
        for specs in sorted(ROLES.glob("*/meta/argument_specs.yml"))
    }
    state = hashlib.sha256(repr(files).encode()).hexdigest()[:32]

    def read() -> bytes:
        options = {
            name: [_yaml(specs)["argument_specs"]["verify"].get("options") or {}, _yaml(defaults)]
            for name, (specs, defaults) in files.items()
        }
        return json.dumps(options).encode()

    roles: dict[str, list[object]] = json.loads(
        cache.get_or_create(cache.folder_of("roles", state) / "roles.json", read)
    )
    return roles


def _yaml(content: bytes) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(content, Loader=loader) or {}


class Policies(NamedTuple):
    """Per control its plain values, and those that must not be shown, packed (audit.unpack)."""

    shown: dict[str, dict[str, Any]]
    secret: dict[str, str]


def policies_of(
    names: Iterable[str], variables: Mapping[str, Any], template: Callable[..., object]
) -> Policies:
    """The policies of controls by a host's variables.

    ``template(value, variables)`` is Ansible's templar; it is queried only for what holds a
    template.
    """
    shown: dict[str, dict[str, Any]] = {}
    secret: dict[str, str] = {}
    every: dict[str, Any] = {}

    def answer(value: object) -> Any:
        if not every:
            # A template may name a variable that only its role gives a value.
            every.update({**all_defaults(), **variables})
        return template(value, every)

    for name in names:
        values, hidden = _values(control_named(name), variables, answer)
        shown[name] = values
        if hidden:
            secret[name] = base64.b64encode(json.dumps(hidden).encode()).decode()
    return Policies(shown, secret)


def control_named(name: str) -> Control:
    known = controls()
    if name not in known:
        raise BadPolicy(f"there is no control {name}{suggestion_for(name, known)}")
    return known[name]


def chosen_by_tags(tags: Iterable[str], skipped: Iterable[str]) -> list[str]:
    """The controls that --tags and --skip-tags choose; no tag chooses all."""
    tags, skipped = set(tags) or {"all"}, set(skipped)
    return [
        control
        for control in controls()
        if ("all" in tags or control in tags) and control not in skipped
    ]


def all_defaults() -> dict[str, Any]:
    return {
        control.variable(name): value
        for control in controls().values()
        for name, value in control.defaults.items()
    }


def _value_of(
    control: Control, field: str, variables: Mapping[str, Any], answer: Callable[[object], object]
) -> Any:
    name = control.variable(field)
    if name in variables:
        return plain(name, variables[name], answer)
    if name in _OF_ENVIRONMENT and os.environ.get(_OF_ENVIRONMENT[name]):
        return os.environ[_OF_ENVIRONMENT[name]]
    constants = constants_of(control.name)
    if field in constants:
        return constants[field]
    if field in control.defaults:
        return plain(name, control.defaults[field], answer)
    raise BadPolicy(f"{name} has no value")


def _values(
    control: Control, variables: Mapping[str, Any], answer: Callable[[object], object]
) -> tuple[dict[str, Any], dict[str, Any]]:
    facts = variables.get("ansible_facts") or {}
    shown: dict[str, Any] = {}
    hidden: dict[str, Any] = {}
    for field in control.fields:
        name = control.variable(field)
        if name in facts:
            raise BadPolicy(
                f"{name} is a fact of this host, and a host must not set its own policy: set it "
                "in the inventory"
            )
        value = _value_of(control, field, variables, answer)
        if name == targets.PROFILE and variables.get(targets.RELEASE) is not None:
            value = targets.profile_of(value, plain(name, variables[targets.RELEASE], answer))
        option = control.options[field]
        if option.get("type") == "bool":
            value = _boolean(name, value)
        (hidden if option.get("no_log") else shown)[field] = value
    return shown, hidden


@functools.cache
def constants_of(name: str) -> dict[str, Any]:
    """The defaults of a control that hold no template, as JSON has them: the same for all hosts."""
    control = controls()[name]
    values = {}
    for field, value in control.defaults.items():
        with contextlib.suppress(BadPolicy):
            values[field] = plain(control.variable(field), value, _no_constant)
    return values


def _no_constant(value: object) -> Any:
    raise BadPolicy("it holds a template")


def prime() -> None:
    """Read what all workers share, before they are forked."""
    for name in controls():
        constants_of(name)


def _boolean(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise BadPolicy(f"{name} must be true or false, not {shown_value(value)}")


def shown_value(value: object) -> str:
    """The value as a sentence can hold it."""
    text = repr(value)
    return text if len(text) <= 200 else text[:199] + "…"


def plain(name: str, value: object, answer: Callable[[object], object]) -> Any:
    """The value as JSON has it, templates answered."""
    return _plain(name, value, answer, _Room(), 0)


class _Room:
    """Remaining size limits of a variable."""

    def __init__(self) -> None:
        self.items = MOST_ITEMS
        self.characters = MOST_TEXT

    def take(self, name: str, depth: int) -> None:
        """Count one value. BadPolicy if there are too many, or if it is too deep."""
        self.items -= 1
        if self.items < 0 or depth > MOST_DEPTH:
            raise BadPolicy(
                f"{name} is nested deeper than {MOST_DEPTH} levels or holds more than {MOST_ITEMS} "
                "values, which is too much for a policy; check it for an alias or a loop"
            )


def _check_keys(name: str, value: Mapping[Any, Any], room: _Room, depth: int) -> None:
    if not all(isinstance(key, str) for key in value):
        raise BadPolicy(f"{name} has a key that is no text: put it in quotes")
    for key in value:
        _plain_text(name, key, None, room, depth)


def _plain(
    name: str, value: object, answer: Callable[[object], object] | None, room: _Room, depth: int
) -> Any:
    room.take(name, depth)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if not -MOST_NUMBER < value < MOST_NUMBER:
            raise BadPolicy(f"{name} contains an impossible number: correct it")
        return value
    if isinstance(value, str):
        return _plain_text(name, value, answer, room, depth)
    if isinstance(value, Mapping):
        _check_keys(name, value, room, depth)
        return {str(k): _plain(name, item, answer, room, depth + 1) for k, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, item, answer, room, depth + 1) for item in value]
    if answer is not None:
        # Such as what a vault keeps.
        return _answered(name, value, answer, room, depth)
    raise BadPolicy(
        f"{name} holds a {type(value).__name__}, which is not a text, number, list or "
        "map: put it in "
        "quotes"
    )


def _plain_text(
    name: str, value: str, answer: Callable[[object], object] | None, room: _Room, depth: int
) -> Any:
    room.characters -= len(value)
    if room.characters < 0:
        raise BadPolicy(f"{name} holds more than {MOST_TEXT} characters: no policy does")
    if answer is not None and any(mark in value for mark in ("{{", "{%", "{#")):
        return _answered(name, value, answer, room, depth)
    return str(value)


def _answered(
    name: str, value: object, answer: Callable[[object], object], room: _Room, depth: int
) -> Any:
    try:
        result = answer(value)
    except Exception as problem:
        words = " ".join(str(problem).split())[:300]
        raise BadPolicy(f"{name} cannot be templated: {words}") from None
    # The result of a template is never templated again.
    return _plain(name, result, None, room, depth)


def environment_variables() -> dict[str, str]:
    """The variables of Hostproof that the environment gives."""
    return {name: os.environ[key] for name, key in _OF_ENVIRONMENT.items() if os.environ.get(key)}


def suggestion_for(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name.lower(), list(known), 1, 0.6)
    return f": did you mean {close[0]}?" if close else ""
