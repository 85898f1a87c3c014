# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source files that may travel to a host: which module needs which, and how little of each.

A module is known by the name that it has on the host
(``ansible.module_utils.hostproof.evaluate.audit``, ``library.verify_controls``).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from . import known_texts
from .private_names import shorten_private
from .short_names import shorten

PACKAGE = "ansible.module_utils.hostproof"
#: What ``ansible.module_utils.`` is called in the modules of the collection.
OF_COLLECTION = "ansible_collections.hostproof.hostproof.plugins.module_utils."

#: Modules of library/ stand under this name in a payload.
MODULES = "library"

#: In the registry of controls: there for Ansible's own packing, which takes whatever is imported.
#: Which controls a payload holds is for the request to say.
NOT_FOLLOWED = "_imports_for_ansible"


#: What ansible-doc reads of a module.
_TEXTS = ("DOCUMENTATION", "EXAMPLES", "RETURN")


#: Two characters that would be one word.
_WORDS = re.compile(r"\w\w")

#: From where to where of a text, each (row from 1, column of bytes), and what takes its place.
_Change = tuple[tuple[int, int], tuple[int, int], str]


class Source(NamedTuple):
    """A module: its text without what only people and linters read, and its imports.

    ``imports`` are candidates: a name imported from a package may be a module or not. ``checks``
    are the texts that stay here.
    """

    path: str
    text: str
    imports: tuple[str, ...]
    checks: known_texts.Texts


def read_sources(root: Path, library: Path) -> dict[str, tuple[Path, bytes]]:
    """Name to path (relative to ``root``) and content of everything that may travel.

    ``library`` is the folder of the modules, below ``root`` too.
    """
    found = {}
    for path in sorted((root / "module_utils/hostproof").rglob("*.py")):
        parts = list(path.relative_to(root / "module_utils").with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(["ansible.module_utils", *parts])] = path
    for path in sorted(library.glob("*.py")):
        found[f"{MODULES}.{path.stem}"] = path
    return {name: (path.relative_to(root), _as_checkout(path)) for name, path in found.items()}


def _as_checkout(path: Path) -> bytes:
    """The source; modules of the collection import what travels by the collection's name."""
    return path.read_bytes().replace(OF_COLLECTION.encode(), b"ansible.module_utils.")


def prepare(name: str, path: Path, content: bytes, keywords: set[str], told: set[str]) -> Source:
    """``keywords`` are the names of arguments in the calls of all that travels, ``told`` those by
    which one source reaches into another."""
    text = content.decode("utf-8")
    is_package = path.name == "__init__.py"
    tree = ast.parse(text)
    imports = tuple(sorted(set(_imports(tree, name, is_package))))
    marks = [(*_place(value), repr(known_texts.MARK)) for _, _, value in known_texts.places(tree)]
    short = shorten_private(shorten(tighten(strip(text, tree, marks)), keywords), told)
    return Source(str(path), short, imports, known_texts.texts_of(tree))


def closure(sources: dict[str, Source], roots: Iterable[str]) -> list[str]:
    """The roots and all that they import, packages above them included, sorted."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or name not in sources:
            continue
        found.add(name)
        waiting.extend(sources[name].imports)
        above = name.rpartition(".")[0]
        if above:
            waiting.append(above)
    return sorted(found)


def _imports(tree: ast.Module, name: str, is_package: bool) -> Iterator[str]:
    package = name if is_package else name.rpartition(".")[0]
    for node in _walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")
            if node.level:
                above = above[: len(above) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            else:
                base = node.module or ""
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and child.name == NOT_FOLLOWED:
            continue
        yield child
        yield from _walk(child)


def strip(text: str, tree: ast.Module | None = None, also: Iterable[_Change] = ()) -> str:
    """The same program on the same lines, without comments, docstrings, documentation texts and
    annotations. A field of a class keeps one, for a NamedTuple is made of it, and a short one.
    ``also`` is what else is to change.

    Line numbers of a traceback still lead to the source.
    """
    # Not splitlines(), which splits at more than Python does.
    lines = io.StringIO(text, newline="\n").readlines()
    tree = tree or ast.parse(text)
    spans = [*_documentation(tree), *_annotations(tree, lines), *also]
    for (first, begin), (last, end), instead in sorted(spans, reverse=True):
        # Columns of ast are bytes.
        head = lines[first - 1].encode()[:begin].decode()
        tail = lines[last - 1].encode()[end:].decode()
        lines[first - 1 : last] = [head + instead + tail, *["\n"] * (last - first)]
    return _without_typing(_without_comments("".join(lines)))


def _documentation(tree: ast.Module) -> Iterator[_Change]:
    """Where docstrings and a module's documentation stand, and what takes their place."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            yield _span(node.body[0], "pass" if len(node.body) == 1 else "0")
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) in _TEXTS:
            yield _span(statement, "0")


def _annotations(tree: ast.Module, lines: list[str]) -> Iterator[_Change]:
    """Where the annotations of functions and of what is local to them stand."""

    def annotated(begin: tuple[int, int] | None, mark: bytes, node: ast.expr) -> Iterator[_Change]:
        before = lines[node.lineno - 1].encode()[: node.col_offset].rstrip()
        # One in brackets is rare, and travels.
        if before.endswith(mark):
            yield begin or (node.lineno, len(before) - len(mark)), _end(node), ""

    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign):
                    where = field.annotation
                    yield (where.lineno, where.col_offset), _end(where), "int"
        if not isinstance(node, ast.FunctionDef):
            continue
        given = node.args
        for one in [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]:
            if one is not None and one.annotation is not None:
                yield from annotated(None, b":", one.annotation)
        if node.returns is not None:
            yield from annotated(None, b"->", node.returns)
        for local in _locals(node):
            if local.value is None:
                yield _span(local, "pass")
            else:
                yield from annotated(_end(local.target), b":", local.annotation)


def _locals(node: ast.AST) -> Iterator[ast.AnnAssign]:
    """The annotated names of a function; functions and classes within it have their own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.AnnAssign):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _locals(child)


def tighten(text: str) -> str:
    """The same without the spaces between what would stand apart without them."""
    lines = text.split("\n")
    gaps = []
    last = None
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, column = token.start
        if last and last.end[0] == row and last.end[1] < column and not depth:
            line = lines[row - 1]
            beside = line[last.end[1] - 1] + line[column]
            if not _WORDS.fullmatch(beside) and last.type not in (tokenize.INDENT, tokenize.DEDENT):
                gaps.append((row - 1, last.end[1], column))
        # From Python 3.12 on what an f-string holds are tokens too.
        name = tokenize.tok_name[token.type]
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")
        last = token
    for row, begin, end in reversed(gaps):
        lines[row] = lines[row][:begin] + lines[row][end:]
    return "\n".join(lines)


def _span(node: ast.stmt, instead: str) -> _Change:
    return (*_place(node), instead)


def _place(node: ast.expr | ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), _end(node)


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _without_typing(text: str) -> str:
    """Without the names of typing that only annotations used."""
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines = text.split("\n")
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "typing" and not node.level:
            names = [alias.name for alias in node.names if alias.name in used]
            assert node.end_lineno is not None
            rest = [""] * (node.end_lineno - node.lineno)
            kept = f"from typing import {','.join(names)}" if names else ""
            lines[node.lineno - 1 : node.end_lineno] = [kept, *rest]
    return "\n".join(lines)


def _without_comments(text: str) -> str:
    """No comments, and of the space before a line what Python needs: a column for each level."""
    lines = text.split("\n")
    level, begins = 0, True
    columns: dict[int, int] = {}
    inside: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (row, column), (last, _) = token.start, token.end
        if token.type == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1][:column]
        elif token.type == tokenize.INDENT:
            level += 1
        elif token.type == tokenize.DEDENT:
            level -= 1
        elif token.type == tokenize.NEWLINE:
            begins = True
        elif token.type != tokenize.NL:
            # A line that goes on in brackets may begin anywhere; one within a text is the text.
            columns.setdefault(row, level if begins else 0)
            begins = False
            inside.update(range(row + 1, last + 1))
    kept = [line.rstrip() for line in lines]
    for row, column in columns.items():
        if row not in inside:
            kept[row - 1] = " " * column + kept[row - 1].lstrip()
    return "\n".join(line if row in inside else kept[row - 1] for row, line in enumerate(lines, 1))
