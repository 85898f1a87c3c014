# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same program with short names for what a module keeps to itself: less to send.

That is a function or a constant whose name begins with one underscore, as long as nothing else of
what travels imports it, has an attribute or a text of that name. Classes keep their names: those of
exceptions are read by people. A traceback still names the file and the line.
"""

from __future__ import annotations

import ast
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from string import ascii_uppercase

from .short_names import Change, changed, is_program, name_changes

#: Whoever writes one of these reaches a module's names by others' means.
_LOOKS_AT_NAMES = {"globals", "vars", "eval", "exec"}


def told_names(text: str) -> set[str]:
    """The names under which a source may reach into another: imported, of attributes, in texts."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.alias):
            found.add(node.name)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def shorten_private(text: str, told: set[str]) -> str:
    """The text with short private names, on the same lines. ``told`` are the names by which any
    source that travels reaches into another."""
    tree = ast.parse(text)
    there = _names(tree)
    if there & _LOOKS_AT_NAMES:
        return text
    own = [name for name in _private(tree) if name not in told]
    free = (name for name in _capitals() if name not in there)
    short = {name: new for name, new in zip(own, free, strict=False) if len(new) < len(name)}
    # Columns of ast are bytes.
    lines = [line.encode() for line in io.StringIO(text, newline="\n")]
    changes = [*name_changes(tree, short, lines), *_definitions(tree, short, lines)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = short.get(node.id, node.id)
        elif isinstance(node, ast.FunctionDef) and node in tree.body:
            node.name = short.get(node.name, node.name)
    shortened = changed(lines, changes)
    return shortened if is_program(tree, shortened) else text


def _private(tree: ast.Module) -> list[str]:
    """The private functions and constants of a module that nothing within it has the name of."""
    given: Counter[str] = Counter()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            given[node.name] += 1
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            given.update(_bound(node))
    bound = Counter(_bound(tree))
    return [
        name
        for name, times in given.items()
        if re.fullmatch("_[^_].*", name) and bound[name] == times
    ]


def _bound(tree: ast.AST) -> Iterator[str]:
    """Whatever gives a name a meaning, anywhere, once each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            yield node.name or ""
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names


def _names(tree: ast.AST) -> set[str]:
    """Every name that stands in a text."""
    return {*_bound(tree), *(one.id for one in ast.walk(tree) if isinstance(one, ast.Name))}


def _definitions(tree: ast.Module, short: dict[str, str], lines: list[bytes]) -> Iterator[Change]:
    """Where the names of functions stand."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in short:
            name = node.name.encode()
            begin = lines[node.lineno - 1].index(name, node.col_offset)
            yield node.lineno, begin, begin + len(name), short[node.name].encode()


def _capitals() -> Iterator[str]:
    yield from ascii_uppercase
    yield from (f"{letter}{digit}" for digit, letter in product("0123456789", ascii_uppercase))
