# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source files that may travel to a host: which module needs which, and how little of each.

A module is known by the name that it has on the host
(``ansible.module_utils.hostproof.evaluate.audit``, ``library.verify_controls``).
"""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = "ansible.module_utils.hostproof"
#: What ``ansible.module_utils.`` is called in the modules of the collection.
OF_COLLECTION = "ansible_collections.hostproof.hostproof.plugins.module_utils."

#: Modules of library/ are under this name in a payload.
MODULES = "library"

#: In the registry of controls: there for Ansible's own packing, which takes whatever is imported.
#: Which controls a payload holds is for the request to say.
NOT_FOLLOWED = "_imports_for_ansible"


#: What ansible-doc reads of a module.
_TEXTS = ("DOCUMENTATION", "EXAMPLES", "RETURN")


#: What represents the reference of a check: answers are a third smaller without references.
REFERENCE = "@"

_WORD = re.compile(r"\w+")

#: From where to where of a text, each (row from 1, column of bytes), and what takes its place.
_Change = tuple[tuple[int, int], tuple[int, int], str]


class Source(NamedTuple):
    """A module: its stripped text and its imports.

    ``imports`` are candidates: a name imported from a package may be a module or not.
    """

    path: str
    text: str
    imports: tuple[str, ...]


def read_sources(root: Path, library: Path) -> dict[str, tuple[Path, bytes]]:
    """Name to path and content of everything that may travel.

    The path is that of the checkout, because the host takes the name from it. In the collection the
    directory of the modules, ``library``, has another name.
    """
    paths = {}
    below = str(root / "module_utils")
    # Every run reads these hundreds of files; pathlib takes longer.
    for names in sorted(_files_below(below, ("hostproof",))):
        parts = [*names[:-1], names[-1].removesuffix(".py")]
        if parts[-1] == "__init__":
            parts.pop()
        place = Path("module_utils", *names)
        paths[".".join(["ansible.module_utils", *parts])] = (place, os.path.join(below, *names))
    for path in sorted(library.glob("*.py")):
        paths[f"{MODULES}.{path.stem}"] = (Path(MODULES, path.name), str(path))
    return {name: (place, _as_checkout(path)) for name, (place, path) in paths.items()}


def files_of_sources(root: Path, library: Path) -> list[str]:
    """The files of ``read_sources``."""
    below = str(root / "module_utils")
    paths = [os.path.join(below, *names) for names in _files_below(below, ("hostproof",))]
    return sorted([*paths, *map(str, library.glob("*.py"))])


def _files_below(root: str, folder: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The parts of the paths of the Python files in a directory and below it."""
    with os.scandir(os.path.join(root, *folder)) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield (*folder, entry.name)
            elif entry.is_dir(follow_symlinks=False):
                yield from _files_below(root, (*folder, entry.name))


def _as_checkout(path: str) -> bytes:
    """The source; modules of the collection import what travels by the collection's name."""
    with open(path, "rb") as file:
        return file.read().replace(OF_COLLECTION.encode(), b"ansible.module_utils.")


def prepare(name: str, path: Path, content: bytes) -> Source:
    """The source as it travels. ``path`` is relative to the root of the checkout."""
    text, tree = _stripped(content.decode("utf-8"))
    imports = _imports(tree, name, path.name == "__init__.py")
    return Source(str(path), text, tuple(sorted(set(imports))))


def closure(sources: dict[str, Source], roots: Iterable[str]) -> list[str]:
    """The roots and all that they import, packages above them included, sorted."""
    names: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in names or name not in sources:
            continue
        names.add(name)
        waiting.extend(sources[name].imports)
        above = name.rpartition(".")[0]
        if above:
            waiting.append(above)
    return sorted(names)


def _imports(tree: ast.Module, name: str, is_package: bool) -> Iterator[str]:
    package = name if is_package else name.rpartition(".")[0]
    for node in _statements(tree, NOT_FOLLOWED):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.names:
            above = package.split(".")
            if node.level:
                above = above[: len(above) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            else:
                base = node.module or ""
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


#: Where a node has statements. Expressions have none, and most nodes are expressions.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _statements(node: ast.AST, left_out: str = "") -> Iterator[ast.AST]:
    """All nested statements of a node, except those of functions with the name ``left_out``."""
    for block in _BLOCKS:
        for child in getattr(node, block, ()):
            if isinstance(child, ast.FunctionDef) and child.name == left_out:
                continue
            yield child
            yield from _statements(child, left_out)


def strip(text: str) -> str:
    """The same program on the same lines, without comments, docstrings, documentation texts,
    annotations, references of checks, imports that only these use and wide indentation. A field of
    a class keeps a short annotation, because a NamedTuple is made of it.

    Line numbers of a traceback still lead to the source.
    """
    return _stripped(text)[0]


def _stripped(text: str) -> tuple[str, ast.Module]:
    """The stripped text, and its tree, whose columns are those before unused imports left."""
    # Not splitlines(), which splits at more than Python does.
    lines = io.StringIO(text, newline="\n").readlines()
    tree = ast.parse(text)
    left_out = [*_annotations(tree, lines), *_references(tree)]
    short = _without_comments(_changed(text, [*_documentation(tree), *left_out]))
    removed = "\n".join(_text_of(lines, change) for change in left_out)
    stripped = ast.parse(short)
    return _changed(short, _unused_imports(stripped, short, removed)), stripped


def _changed(text: str, changes: Iterable[_Change]) -> str:
    """The text with the changes. The number of lines stays the same."""
    lines = io.StringIO(text, newline="\n").readlines()
    for (first, begin), (last, end), instead in sorted(changes, reverse=True):
        # Columns of ast are bytes.
        head = lines[first - 1].encode()[:begin].decode()
        tail = lines[last - 1].encode()[end:].decode()
        line = head + instead + tail
        lines[first - 1 : last] = [line if line.strip() else "\n", *["\n"] * (last - first)]
    return "".join(lines)


def _documentation(tree: ast.Module) -> Iterator[_Change]:
    """Where docstrings and a module's documentation stand, and what takes their place."""
    for node in (tree, *_statements(tree)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            yield _span(node.body[0], _in_place_of(node.body))
        if isinstance(node, ast.ClassDef):
            for statement in node.body[1:]:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    yield _span(statement, "")
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) in _TEXTS:
            yield _span(statement, "")


def _in_place_of(body: list[ast.stmt]) -> str:
    """A docstring alone, or one with a statement on its line, is a statement that stays."""
    if len(body) == 1:
        return "pass"
    return "0" if body[1].lineno == body[0].end_lineno else ""


def _annotations(tree: ast.Module, lines: list[str]) -> Iterator[_Change]:
    """Where the annotations of functions and of what is local to them stand."""

    def annotated(begin: tuple[int, int] | None, mark: bytes, node: ast.expr) -> Iterator[_Change]:
        before = lines[node.lineno - 1].encode()[: node.col_offset].rstrip()
        # One in brackets is rare, and travels.
        if before.endswith(mark):
            place = len(before[: -len(mark)].rstrip())
            yield begin or (node.lineno, place), _end(node), ""

    for node in (tree, *_statements(tree)):
        if isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign):
                    where = field.annotation
                    yield (where.lineno, where.col_offset), _end(where), "int"
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            for argument in [
                *arguments.posonlyargs,
                *arguments.args,
                *arguments.kwonlyargs,
                arguments.vararg,
                arguments.kwarg,
            ]:
                if argument is not None and argument.annotation is not None:
                    yield from annotated(None, b":", argument.annotation)
            if node.returns is not None:
                yield from annotated(None, b"->", node.returns)
        if isinstance(node, ast.FunctionDef | ast.Module):
            for name in _annotated_names(node):
                if name.value is None:
                    yield _span(name, "pass")
                else:
                    yield from annotated(_end(name.target), b":", name.annotation)


def _references(tree: ast.Module) -> Iterator[_Change]:
    """Where the references of checks stand: only the controller has them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rules.check":
            for keyword in node.keywords:
                if keyword.arg == "reference":
                    place = keyword.value
                    yield (place.lineno, place.col_offset), _end(place), repr(REFERENCE)


def _annotated_names(node: ast.AST) -> Iterator[ast.AnnAssign]:
    """The annotated names of a function or module; functions and classes in it have their own."""
    for block in _BLOCKS:
        for child in getattr(node, block, ()):
            if isinstance(child, ast.AnnAssign):
                yield child
            elif not isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield from _annotated_names(child)


def _span(node: ast.stmt, instead: str) -> _Change:
    return (node.lineno, node.col_offset), _end(node), instead


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    if node.end_lineno is None or node.end_col_offset is None:
        raise AssertionError
    return node.end_lineno, node.end_col_offset


def _text_of(lines: list[str], change: _Change) -> str:
    """The text that a change takes away. Columns of ast are bytes."""
    (first, begin), (last, end), _ = change
    text = "".join(lines[first - 1 : last]).encode()
    return text[begin : len(text) - len(lines[last - 1].encode()) + end].decode()


def _unused_imports(tree: ast.Module, text: str, removed: str) -> Iterator[_Change]:
    """The imports of a module that only removed code used. They leave the tree as well.

    ``tree`` and ``text`` are what is left; words in strings count as uses. A name that the removed
    code never used stays, because another module can import it from here.
    """
    words = Counter(_WORD.findall(text))
    unused = {word for word in _WORD.findall(removed) if words[word] == 1}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            used = [
                alias
                for alias in node.names
                if (alias.asname or alias.name.partition(".")[0]) not in unused
            ]
            if len(used) < len(node.names):
                node.names = used
                yield _span(node, ast.unparse(node) if used else "")


def _without_comments(text: str) -> str:
    """No comments, one space for each level of indentation, and no other spaces at both ends of a
    line outside a text of several lines."""
    lines = text.split("\n")
    in_text: set[int] = set()
    #: The rows at which a statement begins, and how deep each is.
    levels: dict[int, int] = {}
    level = 0
    begins = True
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
        elif token.type != tokenize.NL and begins:
            levels[row] = level
            begins = False
        # From Python 3.12 on an f-string is several tokens: its texts are those of more lines.
        in_text.update(range(row, last))
    for row, line in enumerate(lines, 1):
        if row - 1 not in in_text:
            line = " " * levels.get(row, 0) + line.lstrip() if line.strip() else ""
        lines[row - 1] = line if row in in_text else line.rstrip()
    return "\n".join(lines)


#: A function, class or constant of a module, as stripped sources hold it.
_DEFINED = re.compile(r"^(?:(?:def|class) )?(\w+)(?=[:(]| = )", re.MULTILINE)


def without_unused(sources: list[Source], rest: str) -> list[Source]:
    """The sources without functions, classes and constants that none of them uses.

    The name of one occurs once in its module, and neither in ``rest`` nor in a source that has the
    name of the module as well; words in strings count. The lines stay the same.
    """
    before: list[Source] = []
    in_rest = set(_WORD.findall(rest))
    counts = [Counter(_WORD.findall(source.text)) for source in sources]
    while sources != before:
        before, sources = sources, list(sources)
        places: dict[str, set[int]] = {}
        for place, words in enumerate(counts):
            for word in words:
                places.setdefault(word, set()).add(place)
        for place, source in enumerate(before):
            module = Path(source.path).stem
            # Sources of a package import from it without its name.
            importing = (
                set(range(len(before))) if module == "__init__" else places.get(module, set())
            )
            unused = {
                name
                for name in _DEFINED.findall(source.text)
                if counts[place][name] == 1
                and name not in in_rest
                and not (places[name] & importing) - {place}
            }
            if unused:
                text = _without(source.text, unused)
                sources[place] = source._replace(text=text)
                counts[place] = Counter(_WORD.findall(text))
    return sources


def kept_lines(text: str) -> list[int]:
    """The numbers, from 1, of the lines that travel: all but empty ones outside of strings."""
    in_strings: set[int] = set()
    if '"""' in text:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant | ast.JoinedStr):
                in_strings.update(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = enumerate(text.split("\n"), 1)
    return [number for number, line in lines if line or number in in_strings]


def without_empty_lines(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(lines[number - 1] for number in kept_lines(text))


def _calls(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node))


def _without(text: str, names: set[str]) -> str:
    """The text without what a module defines by these names."""
    lines = text.split("\n")
    removed: list[str] = []
    for node in ast.parse(text).body:
        match node:
            # A decorator may store what it decorates.
            case ast.FunctionDef(name=name, decorator_list=[]):
                pass
            case ast.ClassDef(name=name, decorator_list=[]):
                pass
            # A call may do more than give the value.
            case ast.Assign(targets=[ast.Name(id=name)]) if not _calls(node):
                pass
            case _:
                continue
        if name in names:
            last = _end(node)[0]
            removed += lines[node.lineno - 1 : last]
            lines[node.lineno - 1 : last] = [""] * (last - node.lineno + 1)
    shorter = "\n".join(lines)
    return _changed(shorter, _unused_imports(ast.parse(shorter), shorter, "\n".join(removed)))
