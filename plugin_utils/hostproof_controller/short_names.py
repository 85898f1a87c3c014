# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same program with short names for what is local to a function: less to send.

A name stays as it is wherever it could be seen from outside: what is global or built in, functions
within functions, and parameters but for those of private functions whose name no call anywhere
gives. What comes of it is compared with what it was made of, and sent only
where nothing but these names differs.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
from collections.abc import Iterable, Iterator
from itertools import count
from string import ascii_lowercase

#: Whoever calls these looks at names.
_LOOKS_AT_NAMES = {"locals", "vars", "eval", "exec", "dir"}

#: Of the source of an f-string: a text within it, a name that is no attribute, or any character.
_PIECE = re.compile(r"""(?:'[^'\n]*'|"[^"\n]*")|(?<![\w.])([A-Za-z_]\w*)|.""", re.DOTALL)

#: Row from 1, columns of bytes, and what takes the place of what stands there.
Change = tuple[int, int, int, bytes]


def keywords_of(text: str) -> set[str]:
    """The names that calls give to arguments."""
    return {
        node.arg
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.keyword) and node.arg is not None
    }


def shorten(text: str, keywords: set[str] | None = None) -> str:
    """The text with short names, on the same lines. ``keywords`` are those of all that it could be
    called from; None where that is not known."""
    tree = ast.parse(text)
    known = _module_names(tree) | set(dir(builtins))
    # Columns of ast are bytes.
    lines = [line.encode() for line in io.StringIO(text, newline="\n")]
    changes: list[Change] = []
    private = [] if keywords is None else list(_private(tree))
    for function in _functions(tree):
        own = {}
        if function in private:
            own = {one.arg: one for one in function.args.args if one.arg not in (keywords or ())}
        short = _short_names(function, known, set(own))
        changes += name_changes(function, short, lines)
        for name, one in own.items():
            if name in short:
                end = one.col_offset + len(name.encode())
                changes.append((one.lineno, one.col_offset, end, short[name].encode()))
                one.arg = short[name]
        _rename(function, short)
    shortened = changed(lines, changes)
    return shortened if is_program(tree, shortened) else text


def changed(lines: list[bytes], changes: Iterable[Change]) -> str:
    """The text with what stands in other places."""
    for row, begin, end, instead in sorted(set(changes), reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:begin] + instead + line[end:]
    return b"".join(lines).decode()


def is_program(tree: ast.Module, text: str) -> bool:
    """Whether a text is this program."""
    try:
        return ast.dump(ast.parse(text)) == ast.dump(tree)
    except SyntaxError:
        return False


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The outermost functions, methods among them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child
        else:
            yield from _functions(child)


def _private(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions that nobody outside calls by their name, nor with ``**``."""
    unpacking = {
        ast.unparse(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and any(one.arg is None for one in node.keywords)
    }
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            continue
        if node.name.startswith("_") and node.name not in unpacking:
            yield node


def _module_names(node: ast.AST) -> set[str]:
    """What is named outside functions and classes: what a class has, no function sees by itself."""
    found = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            found.add(child.name)
            continue
        if isinstance(child, ast.alias):
            found.add((child.asname or child.name).partition(".")[0])
        elif isinstance(child, ast.Name):
            found.add(child.id)
        found |= _module_names(child)
    return found


def _short_names(
    function: ast.FunctionDef, known: set[str], parameters: set[str]
) -> dict[str, str]:
    """Local names of a function, and those parameters, to shorter ones, each function's beginning
    with the first."""
    bound: dict[str, None] = {}
    used: set[str] = set()
    # What a function is given by default comes from around it, from a class perhaps.
    around = [*function.args.defaults, *function.args.kw_defaults, *function.decorator_list]
    kept = known | {name.id for one in around if one for name in _names_in(one)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            used.add(node.id)
            if isinstance(node.ctx, ast.Store):
                bound[node.id] = None
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound[node.name] = None
        elif isinstance(node, ast.arg):
            if node.arg in parameters and node in function.args.args:
                bound[node.arg] = None
            else:
                kept.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            kept.add(node.name)
        elif isinstance(node, ast.alias):
            kept.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Global | ast.Nonlocal):
            kept.update(node.names)
        elif isinstance(node, ast.ClassDef):
            return {}
    if used & _LOOKS_AT_NAMES:
        return {}
    free = (name for name in _letters() if name not in used and name not in kept)
    return {name: next(free) for name in bound if name not in kept and len(name) > 1}


def _names_in(node: ast.AST) -> Iterator[ast.Name]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Name))


def _letters() -> Iterator[str]:
    yield from ascii_lowercase
    for number in count():
        yield from (f"{letter}{number}" for letter in ascii_lowercase)


def _rename(function: ast.FunctionDef, short: dict[str, str]) -> None:
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            node.id = short.get(node.id, node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            node.name = short.get(node.name, node.name)


def name_changes(node: ast.AST, short: dict[str, str], lines: list[bytes]) -> Iterator[Change]:
    """Where the names stand."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr):
            # Before Python 3.12 nobody tells where a name in it stands.
            yield from _in_text(child, short, lines)
            continue
        if isinstance(child, ast.Name) and child.id in short:
            end = child.col_offset + len(child.id.encode())
            yield child.lineno, child.col_offset, end, short[child.id].encode()
        elif isinstance(child, ast.ExceptHandler) and child.name in short:
            line = lines[child.lineno - 1]
            named = re.search(rb"\bas (%s)\s*:" % child.name.encode(), line)
            if named:
                yield child.lineno, *named.span(1), short[child.name].encode()
        yield from name_changes(child, short, lines)


def _in_text(text: ast.JoinedStr, short: dict[str, str], lines: list[bytes]) -> Iterator[Change]:
    """The names in the braces of an f-string."""
    assert text.end_lineno is not None and text.end_col_offset is not None
    for row in range(text.lineno, text.end_lineno + 1):
        line = lines[row - 1]
        begin = text.col_offset if row == text.lineno else 0
        end = text.end_col_offset if row == text.end_lineno else len(line)
        for first, last in _braces(line[begin:end].decode()):
            source = line[begin:end].decode()[first:last]
            for piece in _PIECE.finditer(source):
                if piece[1] in short:
                    at = begin + len(line[begin:end].decode()[: first + piece.start()].encode())
                    yield row, at, at + len(piece[1]), short[piece[1]].encode()


def _braces(source: str) -> Iterator[tuple[int, int]]:
    """What stands in the outermost braces: from where to where."""
    depth = begin = 0
    for place in re.finditer(r"\{\{|\}\}|\{|\}", source):
        mark = place[0]
        if depth == 0 and mark == "{":
            depth, begin = 1, place.end()
        elif depth and mark[0] == "{":
            depth += len(mark)
        elif depth and mark[0] == "}":
            depth -= 1
            if depth == 0:
                yield begin, place.start()
            elif mark == "}}":
                depth -= 1
                if depth == 0:
                    yield begin, place.start() + 1
