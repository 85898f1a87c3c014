# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readings of a host as the report shows them."""

import json
from typing import Any

from ansible.module_utils.hostproof.collect.evidence import decode
from ansible.module_utils.hostproof.errors import HostproofError

from .host_state import Part
from .latency_series import text_of
from .text import printable


def shown_readings(part: Part, keys: set[str]) -> dict[str, tuple[str, str]]:
    """Note and text by evidence key, for those of the required readings that the part has."""
    cited = {key for finding in part.findings for key in finding["evidence"]} & keys
    if not cited or part.line["evidence"] is None:
        return {}
    try:
        evidence = decode(part.line["evidence"])
    except HostproofError as problem:
        return {key: ("", str(problem)) for key in cited}
    return {key: show_reading(evidence[key]) for key in cited if key in evidence}


def show_reading(reading: object) -> tuple[str, str]:
    """A reading (collect/host) for people: a note and the text, every character showable."""
    try:
        return _shown(reading)
    except (RecursionError, ValueError) as problem:
        return "", f"this reading cannot be shown: {problem}"


def _shown(reading: object) -> tuple[str, str]:
    if not isinstance(reading, dict):
        return "", printable(json.dumps(reading))
    note = str(reading.get("at", ""))
    if "error" in reading:
        return note, printable("{0}: {1}".format(reading["error"], reading.get("message", "")))
    if reading.get("kind") == "command":
        note = "{0}, exit code {1}".format(note, reading.get("rc"))
        text = str(reading.get("stdout", ""))
        if reading.get("stderr"):
            text += "\n[stderr]\n" + str(reading["stderr"])
    elif isinstance(reading.get("text"), str):
        text = reading["text"]
    elif reading.get("kind") == "sample":
        note = "{0}, two readings {1} s apart".format(note, reading.get("seconds"))
        text = _both_texts(reading)
    elif reading.get("kind") == "windows":
        text = text_of(reading)
    else:
        rest = {key: value for key, value in reading.items() if key not in ("kind", "at")}
        text = json.dumps(rest, indent=1)
    return printable(note), printable(text) or "(empty)"


def _both_texts(reading: dict[str, Any]) -> str:
    """The texts of a sample: every source as it was first, then as it was second."""
    parts = []
    for name in ("first", "second", "errors"):
        texts = reading.get(name)
        if isinstance(texts, dict):
            for source in sorted(texts):
                parts.append(f"[{name}] {source}\n{texts[source]}\n")
    return "\n".join(parts)
