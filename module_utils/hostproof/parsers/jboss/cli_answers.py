# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``jboss-cli --output-json`` prints: one JSON object for each operation, in their order.

Sources: tests/fixtures/pool_validation/SOURCES.md.
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional

from ...errors import ParseError, kind_of
from ..number import json_tree

_WHAT = "answers of jboss-cli"

#: An answer ends, and the next one begins: no text in JSON has an end of line.
_BETWEEN = re.compile(r"^\}\s*^\{", re.MULTILINE)
_CODE = re.compile(r"\b(?:WFLY[A-Z]{1,12}|JBAS)[0-9]{4,6}\b")


class Item(NamedTuple):
    """One resource that a wildcard found. ``address``: kind to name, as "data-source": "FG".

    ``values`` are text; None is an expression that only the server resolves.
    """

    address: Dict[str, str]
    values: Dict[str, Optional[str]]


def parse(text: str, number: int) -> List[Any]:
    """The results of this number of operations; ParseError where one failed or is missing."""
    results: List[Any] = []
    for answer in json_tree(_WHAT, "[" + _BETWEEN.sub("},{", text) + "]"):
        if not isinstance(answer, dict) or answer.get("outcome") != "success":
            reason = answer.get("failure-description") if isinstance(answer, dict) else answer
            raise ParseError(_WHAT, "an operation failed: " + _shown(str(reason)))
        results.append(answer.get("result"))
    if len(results) != number:
        raise ParseError(_WHAT, f"{len(results)} operations of {number} were answered")
    return results


def items(result: object) -> List[Item]:
    """The resources of a ``:query`` with a wildcard."""
    if not isinstance(result, list):
        raise ParseError(_WHAT, "it is not a list of resources")
    resources = []
    for resource in result:
        try:
            address = {
                str(key): str(name) for part in resource["address"] for key, name in part.items()
            }
            attributes = resource.get("result") or {}
            if resource["outcome"] != "success":
                raise ValueError(resource["outcome"])
            resources.append(Item(address, values(attributes)))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ParseError(_WHAT, "it holds no resource: " + _shown(str(resource))) from None
    return resources


def values(result: object) -> Dict[str, Optional[str]]:
    """The attributes of one resource; what is undefined is left out."""
    if not isinstance(result, dict):
        raise ParseError(_WHAT, "it is not a resource")
    return {str(name): _text(value) for name, value in result.items() if value is not None}


def _text(value: object) -> Optional[str]:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        text = str(value)
        return None if "${" in text else text
    # {"EXPRESSION_VALUE": "${...}"}
    return None


def _shown(text: str) -> str:
    """The server's code of a failure; the text around it quotes what the operation held."""
    code = _CODE.search(text)
    return code.group() if code else kind_of(text)
