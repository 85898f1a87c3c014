"""Which test files depend on Ansible: what they show may differ between its releases.

A file does if it, or a module of ours that it imports, imports anything of Ansible but our own
target code (which the tests only find under Ansible's name), or names one of its programs. All
others ask code that knows no Ansible, and what that answers depends on Python alone. A file whose
tests all are marked as one_core varies only our code; it is not even collected.
"""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
UNIT = TESTS / "unit"
CONTROLLER = ROOT / "plugin_utils"

#: Our own code, under the name that Ansible gives it on a target.
OURS = "ansible.module_utils.hostproof"
PROGRAMS = {"ansible", "ansible-playbook", "ansible-doc", "ansible-inventory", "ansible-runner"}

#: The mark of tests that do not depend on Ansible.
ONE_CORE = "one_core"

#: They read and change a machine: Python's own calls, which a newer one may answer otherwise.
OF_PYTHON = (
    "test_command_changes.py",
    "test_journal_and_apply.py",
    "test_live_host.py",
    "test_mount_changes.py",
    "test_open_files.py",
)


def files_of_python() -> list[Path]:
    """The files whose answer may depend on the Python that runs them."""
    return [UNIT / name for name in OF_PYTHON]


def files() -> list[Path]:
    """The files of tests/unit that a release of Ansible may change the answer of."""
    paths = sorted(UNIT.glob("**/test_*.py"))
    return [path for path in paths if not is_one_core(path) and touches(path)]


def is_one_core(path: Path) -> bool:
    """Whether every test of the file is marked as one_core, by its ``pytestmark``."""
    body = ast.parse(path.read_text()).body
    marks = [node for node in body if isinstance(node, ast.Assign) and names_mark(node)]
    return any(
        isinstance(part, ast.Attribute) and part.attr == ONE_CORE
        for mark in marks
        for part in ast.walk(mark.value)
    )


def names_mark(node: ast.Assign) -> bool:
    return any(isinstance(name, ast.Name) and name.id == "pytestmark" for name in node.targets)


def touches(path: Path) -> bool:
    """Whether the file does, or one that it needs. Modules may need each other in circles."""
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        itself, helpers = needs(here)
        if itself:
            return True
        waiting += helpers
    return False


@cache
def needs(path: Path) -> tuple[bool, list[Path]]:
    """Whether a file depends on Ansible by itself, and the files of ours that it imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    return any(is_ansible(node) for node in nodes), helpers_of(path, nodes)


def is_ansible(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Path(node.value).name in PROGRAMS
    return any(name.split(".")[0] == "ansible" and not is_ours(name) for name in imported(node))


def is_ours(name: str) -> bool:
    return name == OURS or name.startswith(OURS + ".")


def imported(node: ast.AST) -> list[str]:
    """Every module that a statement may import: ``from a import b`` is a.b as well."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        # From a package itself: the modules beside the file.
        package = f"{node.module}." if node.module else ""
        return [package + alias.name for alias in node.names]
    return []


def helpers_of(path: Path, nodes: list[ast.AST]) -> list[Path]:
    """The modules of the tests, and of what stays on the controller, that the file imports."""
    names = {name for node in nodes for name in imported(node)}
    candidates = {
        folder / f"{part}.py"
        for folder in (path.parent, UNIT, TESTS, CONTROLLER)
        for name in names
        for part in (name.split(".")[0], "/".join(name.split(".")[:2]), name.replace(".", "/"))
    }
    return sorted(helper for helper in candidates - {path} if helper.is_file())
