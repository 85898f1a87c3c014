# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle Net files as plain values, for jmespath and templates."""

import re
from bisect import bisect_left
from collections import OrderedDict
from typing import Any, Dict, Iterable, List

from .oracle_net import NetFile, Pair


def as_data(net: NetFile) -> Dict[str, Any]:
    """The parameters of a file.

    ``parameters``: the tree, a mapping for each pair with ``name`` (capitals), ``line``, and one of
    ``value``, ``list`` and ``pairs``. ``by_name``: the same by name; every name leads to a list,
    for any of them may stand more than once. ``addresses``: every ADDRESS wherever it stands, with
    its ``parameter``, ``line`` and pairs. ``repeated`` and ``included`` as in NetFile.
    """
    line_ends = [match.start() for match in re.finditer("\n", net.text)]
    return {
        "parameters": [_tree(parameter, line_ends) for parameter in net.parameters],
        "by_name": _by_name(net.parameters),
        "addresses": [
            _address(parameter, address, line_ends)
            for parameter in net.parameters
            for address in parameter.inside("ADDRESS")
        ],
        "repeated": net.repeated(),
        "included": net.included(),
    }


def _tree(pair: Pair, line_ends: List[int]) -> Dict[str, Any]:
    tree: Dict[str, Any] = {
        "name": pair.name.upper(),
        "line": bisect_left(line_ends, pair.start) + 1,
    }
    if pair.aliases:
        tree["aliases"] = [name.upper() for name in pair.aliases]
    if pair.pairs:
        tree["pairs"] = [_tree(child, line_ends) for child in pair.pairs]
    elif pair.items:
        tree["list"] = [word.text for word in pair.items]
    else:
        tree["value"] = pair.value
    return tree


def _by_name(pairs: Iterable[Pair]) -> Dict[str, List[object]]:
    by_name: OrderedDict[str, List[Any]] = OrderedDict()
    for pair in pairs:
        for name in (pair.name,) + pair.aliases:
            by_name.setdefault(name.upper(), []).extend(_plain(pair))
    return dict(by_name)


def _plain(pair: Pair) -> List[object]:
    if pair.pairs:
        return [_by_name(pair.pairs)]
    return [word.text for word in pair.items] if pair.items else [pair.value]


def _address(parameter: Pair, address: Pair, line_ends: List[int]) -> Dict[str, Any]:
    fields: Dict[str, Any] = {
        "parameter": parameter.name.upper(),
        "line": bisect_left(line_ends, address.start) + 1,
    }
    for pair in address.pairs:
        fields.setdefault(pair.name.upper(), pair.value)
    return fields
