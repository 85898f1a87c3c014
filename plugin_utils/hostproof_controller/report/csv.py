# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CSV that a spreadsheet shows and does not calculate."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import LAYERS

from .store import Results
from .text import printable

COLUMNS = (
    "host",
    "control",
    "check",
    "title",
    "status",
    "severity",
    *LAYERS,
    "takes_effect",
    "why",
    "fix",
    "commands",
    "reference",
)

#: Characters that start a formula in a spreadsheet, in any width, at the start of a CSV cell. If
#: the list separator is a semicolon, a cell starts after each semicolon.
_FORMULA = re.compile(
    r"""(?:\A|[;\t\n\r])[\s"']*"""
    "(?=[=+@\\-\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207c\u207a\u207b\u208c\u208a\u208b\u2212])"
)


def findings_as_csv(results: Results) -> str:
    """A row for each finding of each host."""
    findings = ((state.name, finding) for state in results.states for finding in state.findings)
    return as_csv(COLUMNS, (_row(host, finding) for host, finding in findings))


def _row(host: str, finding: dict[str, Any]) -> list[object]:
    values = {**finding, "host": host, "commands": "\n".join(finding["commands"])}
    return [values[name] for name in COLUMNS]


def as_csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows of any values, with a line of heads."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return stream.getvalue()


def _cell(value: object) -> str:
    text = "" if value is None else printable(str(value))
    # A spreadsheet may drop blanks in front, and take what follows for a formula.
    mark = "'" if text[:1].isspace() else ""
    return mark + _FORMULA.sub(r"\g<0>'", text)
