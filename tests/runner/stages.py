"""The stages of ./hostproof test: their commands, time limits and the scopes that select them."""

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
LOGS = CACHE / "logs"

#: Stages that --quick leaves out: they need a machine, a container or packages of their own.
SLOW = ("containers", "snmp", "wire", "browser", "lab", "pools", "delays", "monitoring", "delivery")
#: Stages that only --all runs. It also runs every story of the lab and every row of the matrix.
ONLY_ALL = ("pools", "delays", "monitoring", "delivery")
#: What --all adds to the other stages.
ADDED = {
    "lint": "ansible-lint of all files, the collection and ansible-test",
    "unit": "tests marked long",
    "containers": "molecule and the stories of each role",
    "matrix": "the other rows",
    "snmp": "other agents, paths and modules",
    "wire": "packets, names and logins on cables",
    "browser": "the other pages and reports",
    "lab": "the other stories and the reboots",
}
#: The second lane. An emulated machine keeps one processor busy, one step after the other.
SECOND_LANE = ("lab", "delays")
#: Stages that run with full priority: each of their steps waits for the one before it.
FIRST = ("lab",)
#: Stages that run only where they are named, and alone: the benchmarks measure an idle machine, and
#: the environment stage builds images for minutes.
ALONE = ("bench", "environment")
#: Stages that must not run at the same time: both start stand-ins with the same process names.
APART = frozenset({"unit", "matrix"})
#: Stages that give the same answer on a busy machine. They get no second try.
ASKED_ONCE = ("lint", "types", *ALONE)

#: How many of the slowest tests the summary names.
SLOWEST = 10

PROGRAMS = (
    "packaging/build",
    "packaging/release",
    "tests/advice",
    "tools/control_pages",
    "tests/language",
    "tests/lines",
    "tests/replay_compare",
    "tools/role_files",
    "tests/run",
    "tests/run_browser",
    "tests/run_containers",
    "tests/run_delays",
    "tests/run_environment",
    "tests/run_lab",
    "tests/run_monitoring",
    "tests/run_pools",
    "tests/run_sanity",
    "tests/run_snmp",
    "tests/run_wire",
    "tests/matrix/run",
    "tests/attack/run",
    "tests/fuzz/run",
    "tests/bench/async_io.py",
    "tests/bench/latency_disk.py",
    "tests/bench/latency_tcp.py",
    "tests/bench/latency_verdict.py",
    "tests/bench/mountstats.py",
    "tests/bench/oracle_net.py",
    "tests/bench/parsers_linear.py",
    "tests/bench/pool_validation.py",
    "tests/bench/record_windows.py",
    "tests/bench/run",
    "tests/bench/snmp_many.py",
    "tests/machines/bound.py",
)
BENCHMARKS = (
    "tests/bench/async_io.py",
    "tests/bench/latency_disk.py",
    "tests/bench/latency_tcp.py",
    "tests/bench/latency_verdict.py",
    "tests/bench/mountstats.py",
    "tests/bench/oracle_net.py",
    "tests/bench/parsers_linear.py",
    "tests/bench/pool_validation.py",
    "tests/bench/run",
    "tests/bench/snmp_many.py",
)
#: Folders of the checkout that hold no sources.
GENERATED = {
    ".git",
    ".cache",
    ".ansible",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    "reports",
    "baselines",
}


class Stage(NamedTuple):
    """One stage. A stage is one or more commands, run one after the other.

    ``seconds``: after this time the stage counts as hung. ``budget``: seconds that it should take
    on two processors beside the other lane; the summary names a stage that takes longer. ``table``:
    its output is shown even if it passes. ``failed_only``: options that make its command run only
    what failed the last time.
    """

    name: str
    commands: list[list[str]]
    seconds: int
    budget: int
    table: bool = False
    failed_only: tuple[str, ...] = ()


def stages(*, quick: bool = False, everything: bool = True) -> list[Stage]:
    """Every stage, ``ALONE`` included, in the order in which the first lane takes them.

    ``everything``: all of each stage, not only every kind of proof once.
    ``quick``: only the rows of the matrix that need no virtualenv.
    """
    python = sys.executable
    pytest = [python, "-m", "pytest", "-rsfE", f"--durations={SLOWEST}"]
    # The tests of a file run in one process: they share expensive fixtures.
    marked = [] if everything else ["-m", "not long"]
    number = workers() if everything else str(os.cpu_count() or 1)
    unit = [*pytest, "-n", number, "--dist", "loadfile", *marked, "tests/unit"]
    units = [unit, [python, "tests/advice", "--unused"]] if everything else [unit]
    short = [] if everything else ["--short"]
    rows = ["--quick"] if quick else [] if everything else ["--one-row"]
    boxes = [] if everything else ["--once"]
    matrix = [[python, "tests/matrix/run", *rows]]
    again = ("--last-failed",)
    return [
        Stage("lint", lint_commands(short=not everything), 900, 120 if everything else 60),
        Stage("types", type_commands(), 600, 45),
        Stage("unit", units, 4500, 750 if everything else 420, failed_only=again),
        Stage("containers", [["tests/run_containers", *boxes]], 3000, 300 if everything else 90),
        Stage("matrix", matrix, 2400, 420 if everything else 30, True, again),
        Stage("snmp", snmp_commands(python, short=not everything), 1200, 240 if everything else 45),
        Stage("wire", [["tests/run_wire", *short]], 600, 180 if everything else 45),
        Stage("browser", [["tests/run_browser", *short]], 1200, 150 if everything else 20),
        Stage("lab", [["tests/run_lab", *short]], 4800, 2100 if everything else 150, False, again),
        Stage("pools", [["tests/run_pools"]], 1200, 240),
        Stage("delays", [[python, "tests/run_delays"]], 1200, 150, table=True),
        Stage("monitoring", [["tests/run_monitoring"]], 600, 60),
        Stage("delivery", [[*pytest, "tests/delivery"]], 1800, 420, failed_only=again),
        Stage("bench", [[python, name] for name in BENCHMARKS], 2400, 2400, table=True),
        Stage("environment", [["tests/run_environment"]], 1800, 600),
    ]


def type_commands() -> list[list[str]]:
    """mypy on the code for hosts and for the controller, the action plugins and the programs."""
    packages = [["mypy", "-p", name] for name in ("hostproof", "hostproof_controller")]
    actions = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("action_plugins/*.py"))]
    return [*packages, ["mypy", *actions], *(["mypy", name] for name in PROGRAMS)]


def workers() -> str:
    """Three for two processors: many tests wait for a play or a server."""
    return str((3 * (os.cpu_count() or 1) + 1) // 2)


def snmp_commands(python: str, *, short: bool = False) -> list[list[str]]:
    """Tests with real agents, and the recognition of recorded agents."""
    if short:
        return [["tests/run_snmp", "--short"]]
    return [["tests/run_snmp"], *([python, f"tests/snmp/{name}.py"] for name in ("truth", "pause"))]


def lint_commands(*, short: bool = False) -> list[list[str]]:
    """One command a linter. ansible-lint runs yamllint as well, but only on Ansible's files.

    ``short``: ansible-lint for the roles alone, which takes a third of its time, and without the
    collection and ansible-test, whose rules are of Ansible's repositories.
    """
    commands = [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["yamllint", "--strict", "."],
        ["ansible-lint", *(["roles"] if short else [])],
        ["shellcheck", *shell_files()],
        ["antsibull-changelog", "lint"],
        *([] if short else [["tests/run_sanity"]]),
    ]
    if (ROOT / "changelogs/changelog.yaml").exists():
        commands.append(["antsibull-changelog", "lint-changelog-yaml", "changelogs/changelog.yaml"])
    return commands


def shell_files() -> list[str]:
    """Shell scripts of the checkout, found by suffix, or by the first line of files without one."""
    paths = []
    for folder, names, files in os.walk(ROOT):
        names[:] = [n for n in names if n not in GENERATED and not n.startswith(".venv")]
        for name in files:
            path = Path(folder, name)
            if path.suffix == ".sh" or (not path.suffix and is_shell(path)):
                paths.append(str(path.relative_to(ROOT)))
    return sorted(paths)


def is_shell(path: Path) -> bool:
    """Whether the first line of the file names a shell."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as stream:
        return re.match(rb"#!\s*\S*/(?:env )?(?:ba|da)?sh\b", stream.readline(80)) is not None
