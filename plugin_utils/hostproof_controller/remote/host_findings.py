# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as a host sent them, field by field: a field that is wrong is left out of its finding.

Neither the finding nor the other findings of the host are lost for it. A status that is wrong
becomes "error", and a finding that does not say of which check it is becomes an error of the host:
nothing that is unknown is ever a pass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate.finding import (
    ACTUAL_LAYERS,
    ERROR,
    LAYERS,
    SEVERITIES,
    STATUSES,
    TAKES_EFFECT,
    WAIVED,
)

from .. import commands
from ..report.findings import are_sound, is_check_id, is_check_of
from ..report.text import printable

#: The most characters of a text, and the largest number that any host measures.
MOST_TEXT = 100_000
MOST_NUMBER = 1 << 64

_VERBS = (
    "apply|audit|build-collection|detect-storage|diff|explain|gate|history|init|latency|measure"
    "|record|report|revert|verify"
)
#: hostproof in a sentence of a host, other than ./hostproof with a verb that a control advises,
#: without options but --tags: a host does not tell its reader which inventory, variables or hosts
#: to name, nor what to run before or behind it.
_FOREIGN_CALL = re.compile(
    rf"(?<!(?<![^ (:])\./)(?<![\w.-])hostproof (?:{_VERBS}|-)"
    r"|=\S{0,200}(?: sudo)? \./hostproof"
    r"|\./hostproof(?! (?:apply|audit|latency (?:baseline|compare)|explain)\b"
    r"(?!(?: --tags [\w,]+)? ?[;&|<>$`({])(?!.{0,1000}(?<![\w-])-(?!-tags )))"
)


def _has_foreign_call(text: str) -> bool:
    """Whether a reader could copy a call of Hostproof that no control advises from the text."""
    return _is_foreign(_unquoted(text))


def _is_foreign(unquoted: str) -> bool:
    if _PROGRAM not in unquoted:
        return False
    # A shell goes on behind an escaped line end, and a report shows all lines as one.
    line = " ".join(unquoted.split())
    # Most texts name a variable of ours. The pattern needs one of these, and is slower.
    return any(call in line for call in _CALLS) and _FOREIGN_CALL.search(line) is not None


_PROGRAM = "hostproof"
#: Every match of _FOREIGN_CALL has one of them.
_CALLS = (f"{_PROGRAM} ", f"./{_PROGRAM}")


def _unquoted(text: str) -> str:
    """The text without what a shell takes out of a word. Three calls are faster than translate."""
    return text.replace("\\", "").replace("'", "").replace('"', "")


class _Field(NamedTuple):
    """``is_right``: whether a value may be there. ``instead``: what is there if not."""

    is_right: Callable[[object], bool]
    instead: object


def accepted_findings(findings: Sequence[Any], *, is_plain: bool) -> list[dict[str, Any]]:
    """The findings of a host with what is wrong left out of each.

    ``is_plain``: all their texts are printable, so that only their structure is checked.
    """
    if is_plain and are_sound(findings, MOST_TEXT):
        return [
            finding if _has_fine_contents(finding) and not is_foreign else _taken(finding)
            for finding, is_foreign in zip(findings, _show_foreign_calls(findings), strict=True)
        ]
    return [_taken(finding) for finding in findings]


def _has_fine_contents(finding: dict[str, Any]) -> bool:
    """Check the fields that are_sound does not check, but for calls in texts."""
    return (finding["values"] is None or _are_values(finding["values"])) and (
        not finding["commands"] or _are_commands(finding["commands"])
    )


def _show_foreign_calls(findings: Sequence[dict[str, Any]]) -> list[bool]:
    """For each finding whether any of its texts has such a call.

    All texts are searched at once. No printable text has the characters that separate them here.
    """
    shown = (
        "\1".join([*filter(None, _texts_of(finding)), *finding["evidence"], *finding["because_of"]])
        for finding in findings
    )
    return [
        _PROGRAM in texts and any(map(_is_foreign, texts.split("\1")))
        for texts in (_unquoted("\0".join(shown)).split("\0") if findings else ())
    ]


def _taken(finding: Any) -> dict[str, Any]:
    values = finding if isinstance(finding, dict) else {}
    control, check = values.get("control"), values.get("check")
    if not (isinstance(check, str) and isinstance(control, str) and is_check_of(check, control)):
        return _unknown(control)
    record: dict[str, Any] = {"control": str(control), "check": str(check)}
    left_out = []
    for name, field in _FIELDS.items():
        value = values.get(name)
        if name in values and field.is_right(value):
            record[name] = _printable(value)
        else:
            left_out.append(name)
            record[name] = [] if field.instead == [] else field.instead
    left_out += sorted(printable(str(name))[:40] for name in values.keys() - record.keys())[:10]
    record["title"] = record["title"] or check
    record["reference"] = record["reference"] or f"docs/controls/{control}.md"
    if left_out:
        record["why"] = f"{record['why']} {_LEFT_OUT.format(', '.join(left_out))}".strip()
    return record


#: Remark about omitted fields.
_LEFT_OUT = "Hostproof left out of the host's answer what no control sends: {0}."


def _unknown(control: Any) -> dict[str, Any]:
    """The error in place of a finding that does not say of which check it is."""
    name = control if isinstance(control, str) and control in NAMES else "host"
    return {
        "control": name,
        "check": f"{name}.audited",
        "title": "Every finding names its check",
        "status": ERROR,
        "severity": "critical",
        "desired": "a finding of a check",
        "persisted": None,
        "running": "one of none",
        "in_use": None,
        "takes_effect": None,
        "why": "The host sent a finding that does not say of which check it is, so that nothing "
        "is known about what it found.",
        "fix": "audit it again and read the output of Ansible",
        "reference": "docs/limits.md, hosts that do not answer",
        "evidence": [],
        "waiver": None,
        "values": None,
        "commands": [],
        "because_of": [],
        "problem": None,
        "failing_layer": None,
    }


def _printable(value: Any) -> object:
    """Texts that a terminal and a file take, in a value whose shape is known."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [printable(item) for item in value]
    if isinstance(value, dict):
        return {printable(name): _printable(item) for name, item in value.items()}
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MOST_TEXT and not _has_foreign_call(value)


def _is_text_or_null(value: Any) -> bool:
    return value is None or value == "" or _is_text(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) and 0 < len(item) <= MOST_TEXT for item in value
    )


def _are_shown(value: Any) -> bool:
    return _are_texts(value) and not any(map(_has_foreign_call, value))


def _are_check_ids(value: Any) -> bool:
    return _are_texts(value) and all(map(is_check_id, value))


def _are_commands(value: Any) -> bool:
    """All of them, or none: half of a remedy may mean something else than the whole."""
    return _are_texts(value) and all(map(commands.is_from_host, value))


def _are_values(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(isinstance(name, str) and _is_value(item) for name, item in value.items())
    )


def _is_value(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_TEXT
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return value is None or (isinstance(value, (int, float)) and abs(value) < MOST_NUMBER)


def _is_word_of(*words: Any) -> Callable[[object], bool]:
    return lambda value: value in words


_texts_of = itemgetter("title", "problem", "why", *LAYERS, "fix", "reference")
_FIELDS = {
    "title": _Field(_is_text, ""),
    "status": _Field(_is_word_of(*(status for status in STATUSES if status != WAIVED)), ERROR),
    "severity": _Field(_is_word_of(*SEVERITIES), SEVERITIES[0]),
    **{name: _Field(_is_text_or_null, None) for name in LAYERS},
    "takes_effect": _Field(_is_word_of(None, *TAKES_EFFECT), None),
    "why": _Field(_is_text, ""),
    "fix": _Field(_is_text_or_null, None),
    "reference": _Field(_is_text, ""),
    "evidence": _Field(_are_shown, []),
    # A host cannot waive its own findings.
    "waiver": _Field(_is_word_of(None), None),
    "values": _Field(_are_values, None),
    "commands": _Field(_are_commands, []),
    "because_of": _Field(_are_check_ids, []),
    "problem": _Field(_is_text_or_null, None),
    "failing_layer": _Field(_is_word_of(None, *ACTUAL_LAYERS), None),
}
