"""The Python package: what it holds, and an audit with it in a directory without a network."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package as pip unpacks it."""
    folder = tmp_path_factory.mktemp("wheel")
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    build = [sys.executable, "-m", "pip", *words, "--wheel-dir", str(folder), str(ROOT)]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(build, check=True, env=environment)
    (wheel,) = folder.glob("hostproof-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(package, where, *words, **variables):
    """The command of the package; without a network where this account may take it away."""
    code = "import sys, hostproof; sys.exit(hostproof.main())"
    argv = [sys.executable, "-P", "-c", code, *words]
    if os.geteuid() == 0 and shutil.which("unshare"):
        argv = ["unshare", "--net", *argv]
    ours = ("ANSIBLE_", "HOSTPROOF_")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    environment = {**kept, "PYTHONPATH": str(package), "HOME": str(where), **variables}
    done = subprocess.run(
        argv, cwd=where, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_an_audit_leaves_its_report_where_it_was_typed(package, tmp_path):
    code, out, err = run(package, tmp_path, "audit", "--checks", "memory_pressure")
    assert code in (0, 2, 3, 5), err
    (report,) = (tmp_path / "reports").glob("*/report.json")
    assert json.loads(report.read_text())["hosts"]
    assert str(report.parent) in out
    assert not (package / "hostproof/reports").exists()
    assert not (package / "hostproof/.cache").exists()


@pytest.mark.parametrize("command", ["test"])
def test_what_needs_a_checkout_says_so(package, tmp_path, command):
    code, out, err = run(package, tmp_path, command)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "needs a checkout of Hostproof" in err


def test_explain_has_its_page(package, tmp_path):
    code, out, _ = run(package, tmp_path, "explain", "hugepages.pool_covers_sga")
    assert (code, "# hugepages.pool_covers_sga" in out) == (0, True)


def test_every_playbook_and_plugin_is_in_it(package):
    checked = ("action_plugins", "callback_plugins", "filter_plugins", "library", "plugin_utils")
    for name in (*checked, "module_utils", "roles"):
        inside = {
            str(path.relative_to(ROOT))
            for path in (ROOT / name).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        files = (package / "hostproof" / name).rglob("*")
        there = {str(path.relative_to(package / "hostproof")) for path in files}
        assert inside <= there
    playbooks = {path.name for path in (ROOT / "playbooks").glob("*.yml")}
    assert playbooks == {path.name for path in (package / "hostproof/playbooks").glob("*.yml")}


def test_the_builder_is_the_pinned_one():
    pinned = (ROOT / "requirements-dev.txt").read_text()
    assert all(
        f"\n{requirement}\n" in pinned for requirement in PROJECT["build-system"]["requires"]
    )


def test_the_pinned_versions_are_allowed():
    from packaging.requirements import Requirement

    listed = map(Requirement, PROJECT["project"]["dependencies"])
    allowed = {requirement.name: requirement for requirement in listed}
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert {pin.name for pin in pinned} == set(allowed)
    for pin in pinned:
        (version,) = pin.specifier
        assert version.version in allowed[pin.name].specifier


def test_it_builds_the_collection(package, tmp_path):
    code, out, err = run(package, tmp_path, "build-collection", "--out", str(tmp_path))
    assert code == 0, err
    (archive,) = tmp_path.glob("hostproof-hostproof-*.tar.gz")
    assert archive.name in out
