"""An audit under ansible-runner, as AWX starts it, and from projects that are not this checkout."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

#: What is shown is where our own results lie; the virtualenvs of other releases have no runner.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent

#: Answers, but not what was asked.
NONSENSE = "#!/bin/sh\ncat >/dev/null\necho '{\"nonsense\": '\n"

OUTCOMES = {"good": "judged", "gone": "unreachable", "broken": "failed"}

#: Somebody's own settings: nothing of Hostproof is named there, and pipelining is off.
FOREIGN = "[defaults]\nforks = 5\nstdout_callback = minimal\n"


class Run(NamedTuple):
    """``code`` is what ansible-runner ended with, ``artifacts`` the job's own folder."""

    code: int
    output: str
    artifacts: Path

    @property
    def report(self) -> Path:
        (folder,) = (self.artifacts / "reports").iterdir()
        return folder

    @property
    def lines(self) -> list[dict[str, Any]]:
        text = (self.report / "findings.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    @property
    def stats(self) -> dict[str, Any]:
        """What the job tells the next one."""
        events = map(Path.read_text, (self.artifacts / "job_events").glob("*.json"))
        (last,) = (text for text in events if '"playbook_on_stats"' in text)
        return dict(json.loads(last)["event_data"]["artifact_data"])

    @property
    def exit_code(self) -> int:
        return int(json.loads((self.report / "report.json").read_text())["exit_code"])


def reports_here() -> set[str]:
    return {path.name for path in (ROOT / "reports").glob("*")}


def clean_environment(home: Path) -> dict[str, str]:
    unwanted = ("ANSIBLE_", "HOSTPROOF_", "AWX_", "RUNNER_", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return {**kept, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(home)}


def inventory(folder: Path) -> dict[str, Any]:
    python = folder / "nonsense"
    python.write_text(NONSENSE)
    python.chmod(0o755)
    here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    gone = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
    broken = {**here, "ansible_python_interpreter": str(python)}
    return {"all": {"hosts": {"good": here, "gone": gone, "broken": broken}}}


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """runner(project, playbook, options...): one job in a private folder of its own."""

    def run(project: Path, playbook: str, *options: str) -> Run:
        folder = tmp_path_factory.mktemp("job")
        for name in ("inventory", "env", "home"):
            (folder / name).mkdir()
        (folder / "project").symlink_to(project)
        (folder / "inventory/hosts.json").write_text(json.dumps(inventory(folder)))
        (folder / "env/extravars").write_text('{"hostproof_window_seconds": 0}')
        before = reports_here()
        done = subprocess.run(
            [PROGRAMS / "ansible-runner", "run", folder, "-p", playbook, "--ident", "1", *options],
            env=clean_environment(folder / "home"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        # Other tests may run beside this one, with a folder of their own for reports.
        assert reports_here() == before, "a report outside of the job's folder"
        return Run(done.returncode, done.stdout, folder / "artifacts/1")

    return run


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's project with this checkout somewhere in it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "vendor").mkdir()
    (folder / "vendor/hostproof").symlink_to(ROOT)
    (folder / "ansible.cfg").write_text(FOREIGN)
    (folder / "site.yml").write_text("- import_playbook: vendor/hostproof/playbooks/audit.yml\n")
    return folder


def check_complete(run: Run, validate_line: Callable[[dict[str, Any]], None]) -> None:
    assert {line["host"]: line["outcome"] for line in run.lines} == OUTCOMES, run.output
    for line in run.lines:
        validate_line(line)
        assert line["run"]["hosts"] == len(OUTCOMES)
    (good,) = (line for line in run.lines if line["host"] == "good")
    assert len({finding["control"] for finding in good["findings"]}) > 5
    names = {path.name for path in run.report.iterdir()}
    assert names == {"findings.jsonl", "report.html", "report.json", "report.prom", "report.xml"}
    # A host was unreachable, unless this machine itself fails: 2 goes before 4.
    statuses = {finding["status"] for finding in good["findings"]}
    assert run.exit_code == (2 if "fail" in statuses else 4)
    # Ansible has one word for all that is not 0.
    assert run.code == 2
    assert (run.artifacts / "rc").read_text() == "2"
    # The next job of a workflow knows where it lies, though this one failed.
    stats = run.stats
    assert run.artifacts / stats["hostproof_report"] == run.report
    assert int(stats["hostproof_exit_code"]) == run.exit_code


@pytest.mark.long
def test_the_report_of_a_job_is_complete_and_lies_in_its_artifacts(runner, validate_line):
    """ansible-runner puts callbacks of its own in place of ours: none is needed."""
    check_complete(runner(ROOT, "playbooks/audit.yml"), validate_line)


@pytest.mark.long
def test_a_job_of_a_foreign_project_is_the_same(runner, project, validate_line):
    check_complete(runner(project, "site.yml"), validate_line)


@pytest.mark.long
def test_a_job_in_which_nothing_failed_succeeds(runner):
    chosen = ["--limit", "good", "--cmdline", "--tags io_pacing"]
    run = runner(ROOT, "playbooks/audit.yml", *chosen)
    assert (run.code, run.exit_code) == (0, 0), run.output
    assert {line["host"] for line in run.lines} == {"good"}


def test_every_playbook_finds_what_it_needs_in_a_foreign_project(project):
    """Modules, plugins and roles: what is not found is an error here already."""
    playbooks = sorted(path.name for path in (ROOT / "playbooks").glob("*.yml"))
    done = subprocess.run(
        [
            PROGRAMS / "ansible-playbook",
            "--syntax-check",
            "-i",
            "localhost,",
            *(f"vendor/hostproof/playbooks/{name}" for name in playbooks),
        ],
        cwd=project,
        env=clean_environment(project),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


def test_the_execution_environment_has_the_versions_of_the_requirements():
    """It names packages of its own, which ansible-builder installs before any requirement."""
    named = yaml.safe_load((ROOT / "execution-environment.yml").read_text())["dependencies"]
    files = [ROOT / named["python"], ROOT / "requirements-slices.txt"]
    pins = [line for file in files for line in file.read_text().splitlines()]
    assert named["ansible_core"]["package_pip"] in pins
    assert named["ansible_runner"]["package_pip"] in pins
