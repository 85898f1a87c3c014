# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry of a policy that a fix requires, as YAML with the file that it belongs to."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from ..host_names import is_host_name
from ..layout import ROOT

#: Characters of the fixes of an action in which variables are searched.
_LONGEST = 4000
_VARIABLE = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b")


@functools.cache
def _examples() -> dict[str, tuple[str, object]]:
    """By variable: its control, and its value in the example inventory. Lists of several groups of
    hosts are one list."""
    import yaml

    examples: dict[str, tuple[str, object]] = {}
    for path in sorted((ROOT / "inventories/example/group_vars").glob("*/*.yml")):
        for name, value in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).items():
            known = examples.setdefault(name, (path.stem, value))[1]
            if isinstance(known, list) and isinstance(value, list) and known is not value:
                _add(known, value)
    return examples


def _add(known: list[Any], more: list[Any]) -> None:
    """Add what ``known`` lacks; an entry of the same name gets the names of both."""
    by_name = {entry["name"]: entry for entry in known if _has_name(entry)}
    for entry in more:
        same = by_name.get(entry["name"]) if _has_name(entry) else None
        if same is None:
            known.append(entry)
            continue
        for key, value in entry.items():
            if isinstance(value, list) and isinstance(same.get(key), list):
                same[key] += [item for item in value if item not in same[key]]


def _has_name(entry: object) -> bool:
    return isinstance(entry, dict) and "name" in entry


def entry_of(fix: str, hosts: Sequence[str], options: str = "") -> str:
    """The lines of YAML for the variables that a fix names, below their file; "" for none.

    The values are those of the example inventory: of a list the entries whose names are in the
    fix, with the groups that the fix names, or the first. ``options`` are those of the run:
    without -i, this machine is of inventories/local.
    """
    import yaml

    names = dict.fromkeys(_VARIABLE.findall(fix[:_LONGEST]))
    values: dict[str, dict[str, Any]] = {}
    for name in names:
        if name in _examples():
            control, value = _examples()[name]
            values.setdefault(control, {})[name] = _of_fix(value, fix)
    is_one = len(hosts) == 1 and is_host_name(hosts[0])
    place = f"host_vars/{hosts[0]}" if is_one else "group_vars/all"
    if [*hosts] == ["localhost"] and "-i" not in options.split():
        place = f"inventories/local/{place}"
    return "".join(
        f"# {place}/{control}.yml, for example:\n{yaml.safe_dump(of_control, sort_keys=False)}"
        for control, of_control in values.items()
    )


def _of_fix(value: object, fix: str) -> object:
    if not isinstance(value, list):
        return value
    words = {*re.findall(r"[\w.+-]+", fix)}
    named = [entry for entry in value if _has_name(entry) and entry["name"] in words]
    return [_with_named(entry, words) for entry in named or value[:1]]


def _with_named(entry: object, words: set[str]) -> object:
    """The entry with those names of its lists that are in the fix, or with all of them."""
    if not isinstance(entry, dict):
        return entry
    return {
        key: [name for name in value if name in words] or value
        if isinstance(value, list)
        else value
        for key, value in entry.items()
    }
