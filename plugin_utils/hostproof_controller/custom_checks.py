# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Your own checks: the files ``checks.d/*.yml`` in the directories of the inventories."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible.module_utils.hostproof.errors import HostproofError, PolicyError

if TYPE_CHECKING:
    from ansible.module_utils.hostproof.controls.custom.policy import CustomCheck
    from ansible.module_utils.hostproof.evaluate.finding import Check

FOLDER = "checks.d"
SUFFIXES = (".yml", ".yaml")
MOST_FILES = 200
_REQUIRED = ("id", "title", "problem", "severity", "why", "reference")


class Loaded(NamedTuple):
    """``place`` is FILE:LINE, ``values`` are the keys as the file has them."""

    place: str
    values: dict[str, Any]
    custom: CustomCheck

    @property
    def check(self) -> Check:
        from ansible.module_utils.hostproof.controls.custom.rules_custom import check_of

        return check_of(self.custom)


def load(sources: Iterable[str]) -> list[Loaded]:
    """The checks of some inventories (files, directories or host lists), in their order.

    HostproofError names file and line of the first entry that cannot be used.
    """
    return list(_load(tuple(sources)))


@functools.cache
def _load(sources: tuple[str, ...]) -> tuple[Loaded, ...]:
    all_loaded: list[Loaded] = []
    places: dict[str, str] = {}
    for path in _files(sources):
        # Few sites have own checks, and every run calls this function.
        from . import bounded_yaml

        for entry in bounded_yaml.load_list(str(path)):
            one = loaded(f"{path}:{entry.line}", entry.value)
            first = places.setdefault(one.custom.id, one.place)
            if first != one.place:
                raise HostproofError(
                    f"{one.place}: the id {one.custom.id} is used twice, first in {first}"
                )
            all_loaded.append(one)
    return tuple(all_loaded)


def _files(sources: tuple[str, ...]) -> list[Path]:
    folders = dict.fromkeys(
        (Path(source) if os.path.isdir(source) else Path(source).parent) / FOLDER
        for source in sources
        if "," not in source and os.path.exists(source)
    )
    files = [
        path
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.suffix in SUFFIXES and not path.name.startswith(".")
    ]
    if len(files) > MOST_FILES:
        raise HostproofError(f"{FOLDER} has {len(files)} files, and {MOST_FILES} are read")
    return files


def loaded(place: str, values: object) -> Loaded:
    """One entry; a HostproofError begins with its place and says what is wrong."""
    from ansible.module_utils.hostproof.controls.custom.policy import CustomCheck, policy_from

    if not isinstance(values, dict):
        raise HostproofError(f"{place}: an entry must be a dictionary of keys")
    name = f"{place}: {values['id']}" if isinstance(values.get("id"), str) else place
    for key in values:
        if key not in CustomCheck._fields:
            from .cli.suggestions import did_you_mean, quoted

            hint = did_you_mean(str(key), CustomCheck._fields)
            raise HostproofError(f"{name} has an unknown key {quoted(str(key))}{hint}")
    missing = [key for key in _REQUIRED if key not in values]
    if missing:
        raise HostproofError(f"{name} lacks {', '.join(missing)}")
    try:
        # Which hosts may run their own commands is known with their variables.
        policy = policy_from({"checks": [values], "own_commands": True})
    except PolicyError as problem:
        text = str(problem).removeprefix("custom_checks ")
        raise HostproofError(f"{place}: {text}") from problem
    return Loaded(place, values, policy.checks[0])
