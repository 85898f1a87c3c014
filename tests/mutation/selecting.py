"""The test files that probably run a module: those named after it, and those that import it."""

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

#: So many imports lead from a test to a module, at most, where the name of the test does not tell.
FAR = 2


class Code(NamedTuple):
    """A checkout: its root, the folders with code, and the folder with tests.

    ``broad`` are test files that run most of the code and import little of it. Their tests have
    the names of controls or parsers.
    """

    root: Path
    folders: tuple[str, ...]
    tests: str
    broad: tuple[str, ...] = ()


class Selection:
    def __init__(self, code: Code) -> None:
        self._code = code
        self._names: dict[str, Path] = {}
        for folder in code.folders:
            for path in sorted((code.root / folder).rglob("*.py")):
                self._names[_dotted(path.relative_to(code.root / folder))] = path
        self._tests = sorted((code.root / code.tests).rglob("*.py"))
        beside = (code.root / code.tests).parent
        #: What is beside the tests: its imports count for a file that imports it.
        self._helpers = {
            path
            for path in (beside.rglob("*.py") if beside != code.root else ())
            if path not in self._tests
        }
        self._names.update({_dotted(path.relative_to(beside)): path for path in self._helpers})
        self._names.update({path.stem: path for path in self._tests})
        self._imports: dict[Path, set[Path]] = {}

    def test_files(self, module: Path, limit: int | None) -> list[Path]:
        """At most LIMIT test files, the most probable one first, or every test file."""
        if limit is None:
            return [test for test in self._tests if test.name.startswith("test_")]
        near = self._importers(module)
        in_folder = f"{module.parent.name}_{module.stem}"
        own = {module.stem, in_folder}
        controls = self._controls(module, near)
        words = own | controls
        terms = _terms(module)
        ranked = []
        for test in self._tests:
            if not test.name.startswith("test_"):
                continue
            distance = near.get(test, FAR + 1)
            text = test.read_text()
            # A control can be called by its name, from the registry.
            named = _is_named(test, words) or any(f'"{name}"' in text for name in controls)
            if named or distance <= FAR:
                uses = len(terms.findall(text)) if terms else 0
                share = uses / (1 + len(self.imported(test)))
                far = distance > 1
                rank = (not _is_named(test, own), far, far and not named, -share, distance)
                ranked.append((rank, test))
        return [test for _, test in sorted(ranked)][:limit]

    def _controls(self, module: Path, near: dict[Path, int]) -> set[str]:
        """The controls that have a module near this one."""
        distances: dict[str, int] = {}
        for path, distance in {module: 0, **near}.items():
            parts = path.parts
            if "controls" in parts[:-2] and "tests" not in parts:
                name = parts[parts.index("controls") + 1]
                distances[name] = min(distance, distances.get(name, distance))
        least = min(distances.values(), default=0)
        return {name for name, distance in distances.items() if distance == least}

    def _importers(self, module: Path) -> dict[Path, int]:
        """The files that import a module directly or by others, and by how many steps."""
        users = defaultdict(set)
        for path in self._names.values():
            for used in self.imported(path):
                users[used].add(path)
        distances = {module: 0}
        edge = [module]
        for distance in range(1, FAR + 2):
            edge = [user for path in edge for user in users[path] if user not in distances]
            distances.update(dict.fromkeys(edge, distance))
        del distances[module]
        return distances

    def imported(self, path: Path) -> set[Path]:
        if path not in self._imports:
            names: set[str] = set()
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    names.update(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    base = self._base(path, node)
                    names.add(base)
                    names.update(f"{base}.{alias.name}".lstrip(".") for alias in node.names)
            names = {name.removeprefix("ansible.module_utils.") for name in names}
            files = {self._names[name] for name in names if name in self._names}
            self._imports[path] = files
            for helper in files & self._helpers:
                self._imports[path] = self._imports[path] | self.imported(helper)
        return self._imports[path]

    def _base(self, path: Path, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        for folder in self._code.folders:
            if path.is_relative_to(self._code.root / folder):
                parts = path.relative_to(self._code.root / folder).parts[: -node.level]
                return ".".join([*parts, *([node.module] if node.module else [])])
        return node.module or ""


def _is_named(test: Path, words: set[str]) -> bool:
    return any(f"{test.stem}_".startswith(f"test_{word}_") for word in words)


def _terms(module: Path) -> re.Pattern[str] | None:
    """What a test of the module probably says: a public function or class, or a check."""
    terms = set()
    for node in ast.walk(ast.parse(module.read_bytes())):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            # A single word in lower case, such as parse, is in any test.
            if node.name[0] != "_" and re.search("[A-Z_]", node.name):
                terms.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            terms.update(re.findall(r"^[a-z_]+\.([a-z_]{4,})$", node.value))
    return re.compile(rf"\b({'|'.join(sorted(terms))})\b") if terms else None


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
