# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation of a host's answer on arrival: an answer is untrusted and may be malformed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from .. import known_findings, run_options
from ..host_names import pattern_of
from ..known_findings import KnownFinding
from ..report.text import printable
from . import host_findings, payload
from .host_findings import MOST_NUMBER, MOST_TEXT

#: The number of findings per host may give, and how deep an answer.
MOST_FINDINGS = 20_000
MOST_DEPTH = 30

#: What of an answer Ansible may see, by module. Nothing else passes: not ansible_facts, which would
#: set variables, nor warnings, nor what begins with an underscore.
KEYS = {
    "verify_controls": ("findings", "evidence"),
    "apply_control": ("changed", "diff", "pending", "reboot_pending", "idle"),
    "revert_control": ("changed", "diff", "reverted"),
    "record_evidence": ("evidence", "readings", "hostproof", "remarks"),
    "measure_latency": ("windows", "remarks", "table"),
    "change_journal": ("applies",),
    "aix_attributes": ("changed", "diff", "configured", "prior", "running", "legal"),
    "latency_disk": ("changed", "windows", "first_pass", "remarks", "table"),
    "latency_report": ("changed", "kind", "windows", "figures", "remarks", "table"),
    "latency_responder": ("changed", "address", "port", "pid", "ended"),
    "latency_tcp": ("changed", "windows", "remarks", "table"),
    "listener_probe": ("changed", "sent", "pings", "burst"),
    "oracle_parameter": ("changed", "diff", "parameters", "version", "parameter_file"),
    "packet_path": ("changed", "passed", "ways"),
    "pool_latency": ("changed", "windows", "remarks", "table"),
    "sga_cost": ("changed", "table", "rows", "size", "reasons", "first_touch", "ratios"),
    "storage_type": ("changed", "storage", "lines", "seconds"),
}


#: Keys whose values hold neither numbers nor depth.
_FLAT = frozenset(("evidence", "msg", "failed", "skipped"))


class Invalid(Exception):
    """An answer that is not what the module gives; the message says how, in a sentence."""


def checked(module: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer's known keys with values of the right shape, every text of them printable.

    Invalid fields of a finding are omitted (host_findings.py).
    """
    result = {key: answer[key] for key in KEYS[module] if key in answer}
    is_plain = bool(getattr(answer, "plain", False))
    findings = result.pop("findings") if "findings" in result else None
    if findings is not None and not isinstance(result.get("evidence"), str):
        # The findings hold without it.
        result.pop("evidence", None)
    for name in ("failed", "skipped"):
        if answer.get(name) is True:
            result[name] = True
    if isinstance(answer.get("msg"), str):
        result["msg"] = answer["msg"][:MOST_TEXT]
    if not (is_plain and result.keys() <= _FLAT):
        result = _clean(result, 0)
    for name, (is_right, what) in _SHAPES.items():
        if name in result and not is_right(result[name]):
            raise Invalid(f"{name} is {what}")
    if "findings" in KEYS[module] and "findings" in answer:
        result["findings"] = _findings(findings, is_plain=is_plain)
        texts = getattr(answer, "texts", ())
        if is_plain and texts:
            known_findings.hand_over(texts, result["findings"])
    return result


def _findings(findings: Any, *, is_plain: bool) -> list[dict[str, Any]]:
    if not isinstance(findings, list):
        raise Invalid("findings is not a list")
    if len(findings) > MOST_FINDINGS:
        raise Invalid(f"there are more than {MOST_FINDINGS} findings")
    new = [finding for finding in findings if not isinstance(finding, KnownFinding)]
    accepted = host_findings.accepted_findings(new, is_plain=is_plain)
    following = iter(payload.with_references(accepted))
    return [one if isinstance(one, KnownFinding) else next(following) for one in findings]


def _clean(value: Any, depth: int) -> Any:
    """Numbers that every reader of JSON takes, texts that a terminal and a file take."""
    if depth > MOST_DEPTH:
        raise Invalid(f"it is nested deeper than {MOST_DEPTH} levels")
    if isinstance(value, str):
        return value if value.isprintable() else printable(value)
    if isinstance(value, dict):
        return {
            key if key.isprintable() else printable(key): _clean(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if not -MOST_NUMBER < value < MOST_NUMBER:
        raise Invalid("it holds a number that is none, or larger than any that is measured")
    return value


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_windows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


_SIDES = frozenset(("before", "after", "before_header", "after_header"))


def _is_diff(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and item.keys() <= _SIDES and all(map(_is_text, item.values()))
        for item in value
    )


#: Required type of each key, and the error text for other types.
_SHAPES = {
    "changed": (_is_bool, "neither true nor false"),
    "reboot_pending": (_is_bool, "neither true nor false"),
    "idle": (_is_bool, "neither true nor false"),
    "pending": (_is_texts, "no list of texts"),
    "reverted": (_is_texts, "no list of texts"),
    "remarks": (_is_texts, "no list of texts"),
    "table": (_is_texts, "no list of texts"),
    "applies": (_is_texts, "no list of texts"),
    "evidence": (_is_text, "no text"),
    "hostproof": (_is_text, "no text"),
    "windows": (_is_windows, "no list of windows"),
    "diff": (_is_diff, "no list of differences between texts"),
}


def with_all_controls(
    findings: list[dict[str, Any]], required: Iterable[str]
) -> list[dict[str, Any]]:
    """The findings, and an error for each control that was to be checked and has none."""
    judged = {finding["control"] for finding in findings}
    return findings + [_not_judged(name) for name in sorted(required) if name not in judged]


def _not_judged(control: str) -> dict[str, Any]:
    return error_of(
        control,
        f"{control}.audited",
        "Control was audited",
        "The host's answer holds no finding of this control, so nothing is known about it.",
    )


def error_of(control: str, check: str, title: str, why: str) -> dict[str, Any]:
    """A finding that states that something could not be determined."""
    return {
        "control": control,
        "check": check,
        "title": title,
        "status": "error",
        "severity": "critical",
        "desired": "a finding of every check",
        "persisted": None,
        "running": "none",
        "in_use": None,
        "takes_effect": None,
        "why": why,
        "fix": "audit it again and read the output of Ansible:",
        "reference": f"docs/controls/{control}.md",
        "evidence": [],
        "waiver": None,
        "values": None,
        "commands": [f"./hostproof audit --tags {control} -vvv"],
        "because_of": [],
        "problem": None,
        "failing_layer": None,
    }


def not_applied(control: str, message: str) -> dict[str, Any]:
    """The finding that a control's change was rejected or not taken: verify will not come to it."""
    return {
        **error_of(control, f"{control}.applied", "Change was applied", message[:MOST_TEXT]),
        "status": "fail",
        "desired": "as the policy requires",
        "running": "not as the policy requires",
        "fix": "check the plan:",
        "commands": [f"./hostproof apply --check --diff --tags {control}"],
    }


def completed(
    findings: list[dict[str, Any]], host: str, inventories: Sequence[str]
) -> list[dict[str, Any]]:
    """The findings with the run's options and the host in commands that call ./hostproof."""
    named = run_options.of_inventories(inventories)
    limit = f"--limit {shlex.quote(pattern_of(host))}"
    return [
        _completed(finding, named, limit) if finding["commands"] else finding
        for finding in findings
    ]


def _completed(finding: dict[str, Any], inventories: list[str], limit: str) -> dict[str, Any]:
    lines = [_for_host(line, inventories, limit) for line in finding["commands"]]
    return finding if lines == finding["commands"] else {**finding, "commands": lines}


#: What ./hostproof does with hosts of an inventory.
_WITH_HOSTS = frozenset(
    ("apply", "audit", "detect-storage", "latency", "record", "revert", "verify")
)


def _for_host(line: str, inventories: list[str], limit: str) -> str:
    """The line with what it does not say itself."""
    words = line.split()
    if words[:1] != ["./hostproof"] or not _WITH_HOSTS.intersection(words[1:2]):
        return line
    more = [] if _names(words, "-i", "--inventory") else inventories
    more = [*more, *run_options.without_inventories()]
    if not _names(words, "-l", "--limit"):
        more.append(limit)
    return " ".join([line, *more])


def _names(words: list[str], short: str, long: str) -> bool:
    return any(
        word.startswith(short) or word == long or word.startswith(f"{long}=") for word in words
    )
