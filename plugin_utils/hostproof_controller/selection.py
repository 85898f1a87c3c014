# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which checks a run contains: --checks, --skip-checks and --set, or the variables of these names.

A control without a selected check is neither sent to a host nor read there.
"""

from __future__ import annotations

import difflib
import fnmatch
import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.evaluate.finding import SKIP, make_finding

from .policies import BadPolicy, plain
from .report.store import SELECTION
from .report.text import shorten

#: The variables of a selection.
CHECKS, SKIPPED, SET, SETS = (
    "hostproof_checks",
    "hostproof_skip_checks",
    "hostproof_set",
    "hostproof_sets",
)
_SETS_FILE = Path(__file__).with_name("check_sets.yml")
#: How ids end that concern a control as a whole.
_OF_CONTROLS = (".audited", ".policy_entry")
#: The keys of a set.
_KEYS = {"title", "checks", "skip"}


def prime(variables: Iterable[str]) -> None:
    """Import the ids of all checks before Ansible forks its workers, if a -e selects checks.

    Each worker would import every control otherwise, for each host.
    """
    if any(name in raw for raw in variables for name in (CHECKS, SKIPPED, SET)):
        _ids()


class Selection(NamedTuple):
    """Patterns of check ids. ``chosen`` None is every check."""

    chosen: tuple[str, ...] | None
    skipped: tuple[str, ...]

    def has(self, check: str) -> bool:
        chosen = self.chosen is None or any(
            fnmatch.fnmatchcase(check, pattern) for pattern in self.chosen
        )
        return chosen and not any(fnmatch.fnmatchcase(check, pattern) for pattern in self.skipped)


def selection_of(variables: Mapping[str, Any], template: Any) -> Selection | None:
    """The selection of a host's variables; None where they name none."""
    values = {
        name: plain(name, variables[name], template)
        for name in (CHECKS, SKIPPED, SET, SETS)
        if variables.get(name) not in (None, "", [])
    }
    if not values.keys() & {CHECKS, SKIPPED, SET}:
        return None
    chosen = _patterns(CHECKS, values.get(CHECKS, []))
    skipped = _patterns(SKIPPED, values.get(SKIPPED, []))
    for name in _words(SET, values.get(SET, [])):
        check_set = _set_named(name, {**built_in_sets(), **_own_sets(values.get(SETS, {}))})
        chosen += _patterns(f"the set {name}", check_set["checks"])
        skipped += _patterns(f"the set {name}", check_set.get("skip", []))
    return Selection(chosen or None, skipped)


@functools.cache
def built_in_sets() -> dict[str, dict[str, Any]]:
    """The sets that Hostproof brings with it, by name."""
    import yaml

    sets: dict[str, dict[str, Any]] = yaml.safe_load(_SETS_FILE.read_text(encoding="utf-8"))
    return sets


def _own_sets(value: object) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        raise BadPolicy(f"{SETS} must be a dictionary of sets")
    for name, entry in value.items():
        if not isinstance(entry, dict) or "checks" not in entry or set(entry) - _KEYS:
            raise BadPolicy(f"{SETS}: {name} must have checks, and may have skip and title")
    return value


def _set_named(name: str, sets: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    if name not in sets:
        near = difflib.get_close_matches(name, sets, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(sets))}"
        raise BadPolicy(f"there is no set {name!r}; {hint}")
    return sets[name]


def _words(name: str, value: object) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadPolicy(f"{name} must be a list of names")
    return tuple(word.strip() for word in words if word.strip())


def _patterns(name: str, value: object) -> tuple[str, ...]:
    """Patterns of check ids; BadPolicy for one that no check matches."""
    from ansible.module_utils.hostproof.controls.registry import NAMES

    from .report.renamed import current

    patterns = []
    for word in _words(name, value):
        pattern = f"{word}.*" if word in NAMES else word if "*" in word else current(word)
        if not _has_match(pattern):
            raise BadPolicy(f"{name}: there is no check {word!r}{_suggestion_for(word)}")
        patterns.append(pattern)
    return tuple(patterns)


def _has_match(pattern: str) -> bool:
    if pattern.startswith("custom.") or pattern == "*":
        return True
    return any(fnmatch.fnmatchcase(check, pattern) for check in _ids())


@functools.cache
def _ids() -> frozenset[str]:
    from ansible.module_utils.hostproof.controls.registry import check_ids

    return check_ids()


def _suggestion_for(word: str) -> str:
    from ansible.module_utils.hostproof.controls.registry import NAMES

    near = difflib.get_close_matches(word, [*_ids(), *NAMES], 1, 0.6)
    return f"; did you mean {near[0]}?" if near else "; ./hostproof checks lists them"


def notice(selection: Selection) -> dict[str, Any]:
    """The finding about checks that were left out: a verdict must not hide them."""
    chosen = "all checks" if selection.chosen is None else ", ".join(selection.chosen)
    skipped = f" without {', '.join(selection.skipped)}" if selection.skipped else ""
    why = f"This run contains {shorten(chosen + skipped, 500)}. {SELECTION.why}"
    return make_finding(SELECTION, SKIP, why=why)._replace(takes_effect=None).as_dict()


def controls_of(selection: Selection, controls: Iterable[str]) -> list[str]:
    """The controls that have a selected check."""
    names = {check.partition(".")[0] for check in _ids() if selection.has(check)}
    patterns = selection.chosen or ("*",)
    has_own = any(re.match(r"custom\.|\*", pattern) for pattern in patterns)
    return [
        control for control in controls if control in names or (control == "custom" and has_own)
    ]


def selected_findings(
    selection: Selection, findings: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The findings of selected checks, and the errors of a control as a whole."""
    return [
        finding
        for finding in findings
        if selection.has(finding["check"]) or finding["check"].endswith(_OF_CONTROLS)
    ]
