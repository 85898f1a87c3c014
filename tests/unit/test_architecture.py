"""The arrows of the house plan: who may import whom (docs/architecture.md)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
TRAVELS = ROOT / "module_utils/hostproof"
STAYS = ROOT / "plugin_utils/hostproof_controller"
FILES = sorted(TRAVELS.rglob("*.py"))
#: What judges or changes; whoever looks at a host knows nothing of it.
JUDGING = {"controls", "checking", "audit", "fields", "registry", "apply", "journal", "change"}

#: Floor or file to what it may import of what travels; None for whatever is not in NEVER.
ONLY = {
    "parsers": {"errors", "parsers"},
    "finding": {"errors"},
    "errors": set(),
    "answer": {"errors"},
    "histogram": {"errors"},
    "measured": {"errors", "histogram"},
    "change": {"command", "errors"},
    "shell": {"errors"},
}
NEVER = {
    "probes": {*JUDGING, "finding", "policy", "latency", "snmp"},
    "snmp": {*JUDGING, "finding", "latency"},
    "latency": {*JUDGING, "snmp"},
    "host": {*JUDGING, "finding", "policy", "probes", "snmp", "latency"},
    "reader": {*JUDGING, "finding", "policy", "probes", "snmp", "latency", "host"},
    "apply": {"controls", "checking", "audit"},
    "controls": {"audit", "apply", "journal", "writer"},
}
#: Packages of which only some modules are used from outside: their __init__ says which.
DOORS = ("latency", "snmp")


def imports(path: Path, above: Path, package: str) -> Iterator[str]:
    """Modules that a file imports, by their names below ``package``."""
    here = [package, *path.relative_to(above).with_suffix("").parts]
    if here[-1] == "__init__":
        here.append("")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = here[: len(here) - node.level] if node.level else []
            parts = [*parts, *(node.module or "").split(".")]
            if parts[:2] == ["ansible", "module_utils"]:
                parts = parts[2:]
            base = ".".join(part for part in parts if part)
            for alias in node.names:
                inner = f"{base}.{alias.name}".replace(".", "/")
                is_module = any(
                    (root / inner).is_dir() or (root / f"{inner}.py").is_file()
                    for root in (ROOT / "module_utils", above.parent)
                )
                yield f"{base}.{alias.name}" if is_module else base


def inside(path: Path) -> set[str]:
    """What a file that travels imports of the others: "parsers.oracle.pfile"."""
    found = imports(path, TRAVELS, "hostproof")
    return {one.partition(".")[2] for one in found if one.startswith("hostproof.")}


def floor(name: str) -> str:
    return name.partition(".")[0]


def floor_of(path: Path) -> str:
    return path.relative_to(TRAVELS).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TRAVELS)))
class TestWhatTravels:
    def test_arrows_point_one_way(self, path):
        mine = floor_of(path)
        floors = {floor(one) for one in inside(path)} - {mine}
        if mine in ONLY:
            assert floors <= ONLY[mine]
        assert not floors & NEVER.get(mine, set())

    def test_it_never_imports_what_stays(self, path):
        assert not [
            one
            for one in imports(path, TRAVELS, "hostproof")
            if one.startswith(("hostproof_controller", "ansible"))
        ]


CONTROLS = [path for path in FILES if floor_of(path) == "controls" and path.stem != "__init__"]


@pytest.mark.parametrize("path", CONTROLS, ids=lambda path: str(path.relative_to(TRAVELS)))
def test_no_control_knows_another(path):
    mine = path.relative_to(TRAVELS / "controls").with_suffix("").parts[0]
    others = {one.split(".")[1] for one in inside(path) if one.startswith("controls.")}
    assert others <= {mine}


@pytest.mark.parametrize("door", DOORS)
def test_only_what_a_door_names_is_used_from_outside(door):
    names = next(
        ast.literal_eval(node.value)
        for node in ast.parse((TRAVELS / door / "__init__.py").read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DOOR"
    )
    users = [(path, TRAVELS, "hostproof") for path in FILES if floor_of(path) != door]
    users += [(path, STAYS, "hostproof_controller") for path in STAYS.rglob("*.py")]
    users += [
        (path, path.parent, "")
        for folder in ("library", "action_plugins")
        for path in (ROOT / folder).glob("*.py")
    ]
    used = {
        one.split(".")[2]
        for path, above, package in users
        for one in imports(path, above, package)
        if one.startswith(f"hostproof.{door}.")
    }
    assert sorted(used) == sorted(names)
    assert {path.stem for path in (TRAVELS / door).glob("*.py")} > set(names)


def imported_by(package: Path) -> dict[str, set[str]]:
    """The modules of a package to those of the same package that each imports."""
    above = package.parent
    graph = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(above).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        graph[name] = set(imports(path, package, package.name))
    return graph


@pytest.mark.parametrize(
    "package", [TRAVELS, STAYS / "cli", STAYS / "report"], ids=lambda path: path.name
)
def test_there_is_no_ring_of_imports(package):
    """What is imported within a function is imported late on purpose, and counts as well."""
    left = imported_by(package)
    assert any(left.values())
    while left:
        free = [name for name, needs in left.items() if not needs & set(left) - {name}]
        if not free:
            break
        for name in free:
            del left[name]
    assert sorted(left) == []


#: Ansible, Python and its libraries call these by their names.
CALLED_BY_NAME = [
    *("ActionModule", "CallbackModule", "FilterModule", "v2_*"),
    *("find_spec", "create_module", "exec_module", "visit_*", "_handle_error"),
    *("load_bytecode", "dump_bytecode"),
    # click
    *("format_commands", "format_options", "format_epilog", "shell_complete"),
]


def test_every_function_and_class_is_used():
    """By something else than its tests."""
    # Only the virtualenv of the tests has it, and the matrix reads this file too.
    import vulture

    found = vulture.Vulture(ignore_names=CALLED_BY_NAME, ignore_decorators=["@rules.check"])
    folders = ("module_utils", "plugin_utils", "library", "action_plugins", "callback_plugins")
    found.scavenge([str(ROOT / name) for name in (*folders, "filter_plugins")])
    kinds = ("function", "method", "property", "class")
    unused = [one for one in found.get_unused_code(min_confidence=60) if one.typ in kinds]
    assert [f"{one.filename.relative_to(ROOT)}: {one.name}" for one in unused] == []


LONGEST = 60


def test_no_function_is_longer_than_a_page():
    long = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for folder in ("module_utils", "plugin_utils", "library", "action_plugins")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= LONGEST
    ]
    assert long == []
