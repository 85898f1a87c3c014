# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates a rule for each check of a site."""

import re
from functools import partial
from typing import Dict, List, Optional, Tuple

from ...collect.answer import known
from ...errors import Absent, HostproofError
from ...evaluate import comparing
from ...evaluate.checking import Rule, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, SKIP, Check, status_for
from ...parsers.unix import package_version
from . import patterns
from .facts import Facts, Layer
from .policy import INSTALLED, NAME, NOT_INSTALLED, CustomCheck, Policy

#: Shown where the source has no value.
_NONE = "no such value"
_EPOCH = re.compile(r"[0-9]{1,10}:")


def check_of(custom: CustomCheck) -> Check:
    return Check(
        id=f"{NAME}.{custom.id}",
        title=custom.title,
        severity=custom.severity,
        takes_effect=custom.takes_effect,
        why=custom.why,
        reference=custom.reference,
        problem=custom.problem,
    )


def rules_of(policy: Policy) -> List[Rule[Facts, Policy]]:
    return [Rule(check_of(check), partial(_judge, check), None) for check in policy.checks]


def _judge(custom: CustomCheck, facts: Facts, _policy: Policy) -> Verdict:
    """``fail`` where a known layer does not meet the comparison, also if another is unknown."""
    reading = facts.readings[custom.id]
    layers = {"persisted": reading.persisted, "running": reading.running}
    failed = [name for name, layer in layers.items() if _fails(custom, layer)]
    unknown = [layer.values for layer in layers.values() if _is_unknown(layer)]
    if not failed and unknown:
        known(unknown[0])
    status = status_for(failed)
    if custom.if_absent != FAIL and _is_only_absent(custom, layers):
        if custom.if_absent == SKIP:
            raise Skip(f"The host has no {_subject(custom)}.")
        status = PASS
    why = f"{' and '.join(failed)}: not {_wanted(custom)}"
    if unknown:
        why += "; not known: " + "; ".join(str(problem).rstrip(".") for problem in unknown)
    return Verdict(
        status,
        why=f"{custom.why.rstrip('.')}. ({why}.)" if status == FAIL else None,
        fix=custom.fix,
        commands=custom.commands,
        desired=_wanted(custom),
        persisted=_text(custom, reading.persisted),
        running=_text(custom, reading.running),
        values=_numbers(custom, layers) or None,
        evidence=reading.persisted.evidence + reading.running.evidence,
    )


def _is_only_absent(custom: CustomCheck, layers: Dict[str, Layer]) -> bool:
    is_absent = any(_is_absent(layer) for layer in layers.values())
    return is_absent and not any(_has_failing_value(custom, layer) for layer in layers.values())


def _numbers(custom: CustomCheck, layers: Dict[str, Layer]) -> Dict[str, Optional[float]]:
    """The value of each layer that has only one, for a check with a limit."""
    return {
        name: _decimal(layer.values[0])
        for name, layer in layers.items()
        if isinstance(layer.values, tuple)
        and len(layer.values) == 1
        and custom.comparison in ("at_least", "at_most")
    }


def _is_absent(layer: Layer) -> bool:
    return isinstance(layer.values, Absent) or layer.values == ()


def _is_unknown(layer: Layer) -> bool:
    return isinstance(layer.values, HostproofError) and not isinstance(layer.values, Absent)


def _fails(custom: CustomCheck, layer: Layer) -> bool:
    if layer.values is None or _is_unknown(layer):
        return False
    if _is_absent(layer):
        return custom.package is None or custom.equals != NOT_INSTALLED
    return _has_failing_value(custom, layer)


def _has_failing_value(custom: CustomCheck, layer: Layer) -> bool:
    if layer.values is None or isinstance(layer.values, HostproofError):
        return False
    if custom.comparison == "matches":
        return not _are_found(custom, layer.values)
    return not all(is_met(custom, value) for value in layer.values)


# -- comparing ------------------------------------------------------------------------------------


def is_met(custom: CustomCheck, value: str) -> bool:
    """Whether one value meets the comparison. What is no number meets no minimum or maximum."""
    comparison = custom.comparison
    if comparison == "matches":
        return _are_found(custom, (value,))
    if comparison == "one_of":
        return any(_is_wanted(custom, choice, value) for choice in custom.one_of)
    if comparison == "equals":
        is_any = custom.package is not None and custom.equals == INSTALLED
        return is_any or _is_wanted(custom, str(custom.equals), value)
    expected = str(getattr(custom, comparison))
    if custom.package is not None:
        order = package_version.compare(value, expected)
        return order >= 0 if comparison == "at_least" else order <= 0
    return _is_within(comparison, expected, value)


def _is_within(comparison: str, expected: str, value: str) -> bool:
    limits, there = comparing.numbers(expected), comparing.numbers(value)
    if limits is not None and there is not None:
        return comparing.is_met(comparison, limits, there)
    number, other = _decimal(value), _decimal(expected)
    if number is None or other is None:
        return False
    return number >= other if comparison == "at_least" else number <= other


def _are_found(custom: CustomCheck, values: Tuple[str, ...]) -> bool:
    """Whether each value has the pattern: the version of a package with or without its epoch."""
    pattern = str(custom.matches)
    if custom.package is None:
        return patterns.are_found(pattern, values)
    if patterns.are_found(pattern, tuple(map(_shown, values))):
        return True
    without = tuple(_EPOCH.sub("", value, count=1) for value in values)
    return without != values and patterns.are_found(pattern, without)


def _shown(version: str) -> str:
    """A version as programs show it: an epoch of 0 is not shown."""
    return version[2:] if version.startswith("0:") else version


def _is_wanted(custom: CustomCheck, expected: str, value: str) -> bool:
    is_version = custom.package is not None and package_version.is_same(value, expected)
    return is_version or _is_equal(expected, value)


def _is_equal(expected: str, value: str) -> bool:
    expected, value = " ".join(expected.split()), " ".join(value.split())
    numbers, other = comparing.numbers(expected), comparing.numbers(value)
    return expected == value or (numbers is not None and numbers == other)


def _decimal(text: str) -> Optional[float]:
    return float(text) if re.match(r"-?[0-9]{1,18}(\.[0-9]{1,18})?\Z", text.strip()) else None


# -- texts ----------------------------------------------------------------------------------------


def _subject(custom: CustomCheck) -> str:
    source = custom.source
    if source == "command":
        return "output of " + " ".join(custom.command)
    name = {"file": f"line in {custom.file} that matches {custom.pattern}"}.get(source)
    return name or f"{source} {getattr(custom, source)}"


def _wanted(custom: CustomCheck) -> str:
    comparison = custom.comparison
    value = getattr(custom, comparison)
    if comparison == "equals":
        return str(value)
    if comparison == "one_of":
        return "one of " + ", ".join(value)
    return f"{comparison.replace('_', ' ')} {value}"


def _text(custom: CustomCheck, layer: Layer) -> Optional[str]:
    if layer.values is None:
        return None
    if _is_absent(layer):
        return NOT_INSTALLED if custom.package is not None else _NONE
    if isinstance(layer.values, HostproofError):
        return "unknown"
    values = layer.values if custom.package is None else tuple(map(_shown, layer.values))
    shown: Tuple[str, ...] = tuple(dict.fromkeys(values))
    return ", ".join(value or '""' for value in shown[:5]) + (", ..." if len(shown) > 5 else "")
