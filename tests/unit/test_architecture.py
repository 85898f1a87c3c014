"""The arrows of the house plan: who may import whom (docs/architecture.md)."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from cases import cases
from programs import imported_program

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
TRAVELS = ROOT / "module_utils/hostproof"
STAYS = ROOT / "plugin_utils/hostproof_controller"
FILES = sorted(TRAVELS.rglob("*.py"))
#: Room to the rooms that it may import; within a room everything may import everything.
#: Rooms of a control are "controls.parsers", "controls.probes" and so on.
MAY = {
    "errors": set(),
    "parsers": {"errors"},
    "collect": {"errors", "parsers"},
    "probes": {"errors", "parsers", "collect"},
    "snmp": {"errors", "parsers", "collect"},
    "latency": {"errors", "parsers", "collect"},
    "apply": {"errors", "parsers", "collect", "probes", "evaluate"},
    "evaluate": {"errors", "parsers", "collect", "controls"},
    "controls.parsers": {"errors", "parsers"},
    "controls.probes": {"errors", "parsers", "collect", "probes", "controls.parsers"},
    "controls.snmp": {
        *("errors", "parsers", "collect", "probes", "snmp", "evaluate"),
        "controls.parsers",
    },
    "controls.measurement": {
        *("errors", "parsers", "collect", "probes", "latency"),
        *("controls.parsers", "controls.probes"),
    },
    "controls": {
        *("errors", "parsers", "collect", "probes", "snmp", "latency", "evaluate", "apply"),
        *("controls.parsers", "controls.probes", "controls.snmp", "controls.measurement"),
    },
}
#: The one file of evaluate/ that knows the controls: it runs them.
KNOWS_CONTROLS = "evaluate/audit.py"
#: The one file that extends a class of Ansible.
BASE_OF_MODULES = "host_module.py"
#: Only what changes a host carries these; ``change`` is the form of a plan.
CHANGING = {"transaction", "journal", "writer"}


@cache
def imports(path: Path, above: Path, package: str) -> frozenset[str]:
    """Modules that a file imports, by their names below ``package``."""
    return frozenset(imported(path, above, package))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Several tests ask for the same files, and parsing them is most of their time."""
    return list(ast.walk(ast.parse(path.read_text())))


@cache
def is_module(above: Path, name: str) -> bool:
    path = above / name
    return path.is_dir() or path.with_name(f"{path.name}.py").is_file()


def imported(path: Path, above: Path, package: str) -> Iterator[str]:
    here = [package, *path.relative_to(above).with_suffix("").parts]
    for node in nodes(path):
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
                named = any(
                    is_module(root, inner) for root in (ROOT / "module_utils", above.parent)
                )
                yield f"{base}.{alias.name}" if named else base


@cache
def inside(path: Path) -> frozenset[str]:
    """What a file that travels imports of the others: "parsers.oracle.pfile"."""
    modules = imports(path, TRAVELS, "hostproof")
    return frozenset(
        module.partition(".")[2] for module in modules if module.startswith("hostproof.")
    )


def room_of_module(name: str) -> str:
    """The room of "controls.latency.parsers.awr": "controls.parsers"."""
    parts = name.split(".")
    if parts[0] != "controls":
        return parts[0]
    inner = parts[2] if len(parts) > 2 else ""
    return f"controls.{inner}" if f"controls.{inner}" in MAY else "controls"


def module_of(path: Path) -> str:
    parts = path.relative_to(TRAVELS).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


# One test looks at all files and names those that fail: a test for each file costs every worker of
# pytest more than what it shows.
class TestWhatTravels:
    def test_arrows_point_one_way(self):
        wrong = {}
        for path in FILES:
            room = room_of_module(module_of(path))
            rooms = {room_of_module(name) for name in inside(path)} - {room, ""}
            allowed = MAY.get(room, set())
            if room == "evaluate" and str(path.relative_to(TRAVELS)) != KNOWS_CONTROLS:
                allowed = allowed - {"controls"}
            if not rooms <= allowed:
                wrong[module_of(path)] = rooms - allowed
        assert wrong == {}

    def test_it_never_imports_what_stays(self):
        assert [
            (module_of(path), name)
            for path in FILES
            if path.name != BASE_OF_MODULES
            for name in imports(path, TRAVELS, "hostproof")
            if name.startswith(("hostproof_controller", "ansible"))
        ] == []


CONTROLS = [
    path
    for path in FILES
    if module_of(path).startswith("controls.") and module_of(path) != "controls.registry"
]


class TestControl:
    def test_no_control_knows_another(self):
        assert CONTROLS
        known = {
            module_of(path): {
                name.split(".")[1] for name in inside(path) if name.startswith("controls.")
            }
            - {path.relative_to(TRAVELS / "controls").parts[0]}
            for path in CONTROLS
        }
        assert {name: others for name, others in known.items() if others} == {}

    def test_no_control_writes(self):
        assert [
            (module_of(path), name)
            for path in CONTROLS
            for name in inside(path)
            if name.startswith("apply.") and name.split(".")[1] in CHANGING
        ] == []

    def test_no_file_that_travels_is_an_ansible_module(self):
        """Only library/ uses the base of the modules: parsers and controls know no Ansible."""
        base = "collect." + BASE_OF_MODULES[: -len(".py")]
        assert [module_of(path) for path in FILES if base in inside(path)] == []


#: Library modules and parts of the controller that belong to one control.
OWNED = {
    "listener_rate_limit": ("library/listener_probe.py",),
    "storage_type": ("library/storage_type.py",),
    "latency": (
        *(f"library/latency_{name}.py" for name in ("disk", "tcp", "responder", "report")),
        *(f"library/latency_{name}.py" for name in ("gate", "baseline")),
        *(f"library/{name}.py" for name in ("compare_latency", "measure_latency")),
        *(f"library/{name}.py" for name in ("pool_latency", "sga_cost", "packet_path")),
    ),
}
#: Folders of the controller that belong to the control latency.
OF_LATENCY = ("latency", "gate")
SHARED_ROOMS = ("parsers", "probes", "snmp", "latency")


def users_of_modules() -> dict[str, set[str]]:
    """Module that travels to who uses it, directly or not: controls, and others by their path."""
    graph = {module_of(path): inside(path) for path in FILES}
    graph["controls.registry"] = set()
    owner_of = {path: control for control, paths in OWNED.items() for path in paths}
    users: dict[str, set[str]] = {name: set() for name in graph}

    def use(names: set[str], user: str) -> None:
        seen: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in seen and name in graph:
                seen.add(name)
                users[name].add(user)
                waiting += graph[name]

    for path in CONTROLS:
        use({module_of(path)}, path.relative_to(TRAVELS / "controls").parts[0])
    outside = [
        *((path, path.parent, "") for path in (ROOT / "library").glob("*.py")),
        *((path, path.parent, "") for path in (ROOT / "action_plugins").glob("*.py")),
        *((path, STAYS, "hostproof_controller") for path in STAYS.rglob("*.py")),
    ]
    for path, above, package in outside:
        modules = {
            name.partition(".")[2]
            for name in imports(path, above, package)
            if name.startswith("hostproof.")
        }
        shown = f"library/{path.name}" if path.parent.name != "hostproof_controller" else str(path)
        user = owner_of.get(shown, str(path))
        if path.is_relative_to(STAYS) and path.relative_to(STAYS).parts[0] in OF_LATENCY:
            user = "latency"
        if path.is_relative_to(STAYS) and path.name.startswith("latency_"):
            user = "latency"
        use({name for name in modules if not name.startswith("controls.")}, user)
    return users


def test_what_one_control_alone_uses_lies_in_its_folder():
    controls = {path.name for path in (TRAVELS / "controls").iterdir() if path.is_dir()}
    misplaced = {
        name: user
        for name, users in users_of_modules().items()
        if name.startswith(tuple(f"{room}." for room in SHARED_ROOMS))
        and not (TRAVELS / name.replace(".", "/")).is_dir()
        and len(users) == 1
        for user in users
        if user in controls
    }
    assert misplaced == {}


class Fence(NamedTuple):
    """A part of the code that a newcomer can skip. ``doors``: what may import it from outside."""

    inside: str
    doors: set[str]


#: Names of modules begin with hostproof (travels), hostproof_controller (stays), library or
#: action_plugins. Each part has a README.md that explains it.
FENCES = {
    "module_utils/hostproof/controls/latency": Fence(
        r"hostproof\.(controls\.)?latency\b|hostproof_controller\.(latency|gate)\b"
        r"|(library|action_plugins)\.(latency_|compare_latency|measure_latency|pool_latency|sga_cost)",
        {
            "hostproof.controls.registry",
            # The limits of a pool are part of the latency budget.
            "hostproof.controls.pool_validation.facts",
            # The report draws the series of a run.
            "hostproof_controller.report.latency_series",
            # ./hostproof read evaluates files with its readers and rules.
            "hostproof_controller.measured_file",
            # A verify play that is part of a gate says so.
            "hostproof_controller.cli.play",
        },
    ),
    "module_utils/hostproof/controls/storage_type": Fence(
        r"hostproof\.controls\.storage_type\b|library\.storage_type",
        {"hostproof.controls.registry"},
    ),
    "module_utils/hostproof/controls/io_pacing": Fence(
        r"hostproof\..*(\.|_)(aix|solaris|powerha|lsattr|sys_parm|io_pacing)(_\w+)?\b"
        r"|library\.aix_attributes",
        {
            *("hostproof.controls.registry", "hostproof.controls.async_io.control"),
            *("hostproof.controls.async_io.facts", "hostproof.controls.flow_control.facts"),
            "hostproof.controls.kernel_parameters.control",
            *("hostproof.controls.kernel_parameters.facts", "hostproof.probes.nfs.nfs_persisted"),
        },
    ),
}


def all_imports() -> dict[str, set[str]]:
    """Every module of the product to the modules of the product that it imports."""
    graph = {}
    for path in FILES:
        above = {f"hostproof.{name}" for name in inside(path)}
        graph[f"hostproof.{module_of(path)}"] = above
    for path in STAYS.rglob("*.py"):
        parts = path.relative_to(STAYS.parent).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        graph[name] = {*imports(path, STAYS, "hostproof_controller")}
    for folder in ("library", "action_plugins"):
        for path in (ROOT / folder).glob("*.py"):
            graph[f"{folder}.{path.stem}"] = {*imports(path, path.parent, "")}
    return graph


@pytest.mark.parametrize("part", FENCES)
def test_a_fenced_part_is_entered_by_its_doors_only(part):
    fence = FENCES[part]
    assert (ROOT / part / "README.md").is_file()
    entered = {
        name: sorted(filter(re.compile(fence.inside).match, names))
        for name, names in all_imports().items()
        if not re.match(fence.inside, name)
    }
    assert {name for name, names in entered.items() if names} == fence.doors


def imported_by(package: Path) -> dict[str, frozenset[str]]:
    """The modules of a package to those of the same package that each imports."""
    above = package.parent
    graph = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(above).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        graph[name] = imports(path, package, package.name)
    return graph


@cases("package", TRAVELS, STAYS, ids=lambda path: path.name)
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
    *("find_spec", "create_module", "exec_module", "visit_*", "handle_*", "_handle_error"),
    *("load_bytecode", "dump_bytecode"),
    *("_parse_returned_data", "__init_subclass__"),
    "_imports_for_ansible",
    # click
    *("format_commands", "format_options", "format_epilog", "shell_complete", "convert"),
    # io.RawIOBase
    "readable",
    # urllib
    "redirect_request",
    # io
    "readable",
]


def test_every_function_and_class_is_used():
    """By something else than its tests."""
    # Only the virtualenv of the tests has it, and the matrix reads this file too.
    import vulture

    scan = vulture.Vulture(ignore_names=CALLED_BY_NAME, ignore_decorators=["@rules.check"])
    folders = ("module_utils", "plugin_utils", "library", "action_plugins", "callback_plugins")
    scan.scavenge([str(ROOT / name) for name in (*folders, "filter_plugins")])
    kinds = ("function", "method", "property", "class")
    unused = [item for item in scan.get_unused_code(min_confidence=60) if item.typ in kinds]
    assert [f"{item.filename.relative_to(ROOT)}: {item.name}" for item in unused] == []


LONGEST = 60


def test_no_function_is_longer_than_a_page():
    long = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for folder in ("module_utils", "plugin_utils", "library", "action_plugins")
        for path in (ROOT / folder).rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= LONGEST
    ]
    assert long == []


MOST_COMPLEX = 25


def test_no_function_is_too_complex():
    """tests/lines counts them."""
    complexity = imported_program("lines").complexity
    above = {
        f"{path.relative_to(ROOT)}: {node.name}": complexity(node)
        for folder in ("module_utils", "plugin_utils", "library", "action_plugins")
        for path in (ROOT / folder).rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 8
    }
    assert {name: value for name, value in above.items() if value > MOST_COMPLEX} == {}
