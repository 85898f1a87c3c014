"""Which of these tests the matrix runs with each ansible-core: what depends on it, and no more."""

import ast
import sys
from pathlib import Path

import pytest
from cases import cases

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "matrix"))

import touching  # noqa: E402


@pytest.fixture(scope="module")
def names() -> set[str]:
    """The selected files. Every process of pytest would wait for this during the collection."""
    return {path.relative_to(touching.UNIT).as_posix() for path in touching.files()}


def test_what_runs_plays_and_modules_is_selected(names):
    """One of each kind: plays, a command of ./hostproof, imports, a play by a helper."""
    assert {
        "test_modules.py",
        "test_audit_run.py",
        "test_latency_modules.py",
        "test_gate_playbooks.py",
    } <= names


def test_what_depends_on_python_is_there_and_not_selected_anyway(names):
    for path in touching.files_of_python():
        assert path.is_file()
        assert path.name not in names


def test_what_only_judges_is_not(names):
    assert not {name for name in names if name.startswith(("controls/", "parsers/", "latency/"))}
    assert "test_run.py" not in names


def test_a_file_that_varies_only_our_code_says_why(names):
    """It touches Ansible, and the matrix leaves it out: a comment above the mark is the reason."""
    left_out = [
        path
        for path in sorted(touching.UNIT.glob("**/test_*.py"))
        if touching.touches(path) and touching.is_one_core(path)
    ]
    assert len(left_out) > 20
    for path in left_out:
        assert path.relative_to(touching.UNIT).as_posix() not in names
        before, mark, _ = path.read_text().partition("\npytestmark =")
        assert mark and before.splitlines()[-1].startswith("#"), path


@cases(
    "source expected",
    ("pytestmark = pytest.mark.one_core", True),
    ("pytestmark = [pytest.mark.one_core, pytest.mark.skipif(True)]", True),
    ("pytestmark = pytest.mark.two_cores", False),
    ("@pytest.mark.one_core\ndef test_x(): pass", False),
)
def test_only_a_mark_of_the_whole_file_leaves_it_out(tmp_path, source, expected):
    (tmp_path / "test_x.py").write_text(source)
    assert touching.is_one_core(tmp_path / "test_x.py") is expected


@cases(
    "source expected",
    ("import ansible", True),
    ("from ansible import constants", True),
    ("from ansible.modules import latency_tcp", True),
    ("from ansible.module_utils.basic import AnsibleModule", True),
    ("from ansible.plugins.loader import action_loader", True),
    ("run(['ansible-playbook', 'x.yml'])", True),
    ("Path(sys.executable).with_name('ansible')", True),
    ("run('/venv/bin/ansible-doc')", True),
    ("import ansible.module_utils.hostproof.collect.host", False),
    ("from ansible.module_utils import hostproof", False),
    ("from ansible.module_utils.hostproof.collect import host", False),
    ("from ansible.module_utils.hostproof.collect.host import Host", False),
    ("say('Ansible is not asked')", False),
    ("import ansible_like", False),
)
def test_what_counts_as_ansible(source, expected):
    assert any(touching.is_ansible(node) for node in ast.walk(ast.parse(source))) is expected


def test_a_helper_counts_for_what_imports_it(tmp_path, monkeypatch):
    monkeypatch.setattr(touching, "UNIT", tmp_path)
    (tmp_path / "plays.py").write_text("run('ansible-playbook')")
    (tmp_path / "between.py").write_text("from plays import run\nimport test_far")
    (tmp_path / "test_far.py").write_text("import between")
    (tmp_path / "test_none.py").write_text("import json")
    assert [path.name for path in touching.files()] == ["test_far.py"]
