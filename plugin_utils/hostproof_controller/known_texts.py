# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is always said of a check stays here: a mark travels in its place, and comes back as it.

Title, reason, reference and the one advice of all checks are a tenth of what a host would be sent,
and most of what it would send back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

#: Stands for a text of the finding's own check. No rule and no program writes it.
MARK = "<~>"

#: The field of a finding to the text of its check, by the check's id.
Texts = dict[str, dict[str, str]]

_FIELDS = ("title", "why", "reference")


def places(tree: ast.Module) -> Iterator[tuple[str, str, ast.Constant]]:
    """The check, the field and the place of each text that a source gives as a constant."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                yield from _of_check(decorator, node)


def _of_check(
    decorator: ast.expr, rule: ast.FunctionDef
) -> Iterator[tuple[str, str, ast.Constant]]:
    if not (isinstance(decorator, ast.Call) and decorator.args):
        return
    if not (isinstance(decorator.func, ast.Attribute) and decorator.func.attr == "check"):
        return
    check = decorator.args[0]
    if not (isinstance(check, ast.Constant) and isinstance(check.value, str)):
        return
    given = [(one.arg, one.value) for one in decorator.keywords if one.arg in _FIELDS]
    if len(decorator.args) > 1:
        given.append(("title", decorator.args[1]))
    fixes = [*_fixes(rule)]
    if len(fixes) == 1:
        # With two, nobody could tell which of them a host means.
        given.append(("fix", fixes[0]))
    for field, value in given:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield check.value, str(field), value


def _fixes(rule: ast.FunctionDef) -> Iterator[ast.expr]:
    """What the verdicts of a rule advise; of anything else it is not known where it ends up."""
    for call in ast.walk(rule):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Verdict":
            yield from (one.value for one in call.keywords if one.arg == "fix")


def texts_of(tree: ast.Module) -> Texts:
    """What ``places`` finds, to be put back."""
    found: Texts = {}
    for check, field, value in places(tree):
        found.setdefault(check, {})[field] = str(value.value)
    return found


def restore(findings: Any, texts: Mapping[str, Mapping[str, str]]) -> None:
    """Put each check's own texts in place of the first mark in each field of its findings.

    ``findings`` may be anything at all. A second mark is a host's own, and stays.
    """
    for finding in findings if isinstance(findings, list) else ():
        check = finding.get("check") if isinstance(finding, dict) else None
        if isinstance(check, str) and check in texts:
            for field, text in texts[check].items():
                said = finding.get(field)
                if isinstance(said, str) and MARK in said:
                    finding[field] = said.replace(MARK, text, 1)
