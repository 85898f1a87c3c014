"""The collection hostproof.hostproof: built, installed into an empty place, used by a project that
knows nothing of this one."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.hostproof import VERSION
from hostproof_controller.cli import build_collection as collection
from hostproof_controller.cli import command
from machines.needs import ROOT

PROGRAMS = Path(sys.executable).parent

pytestmark = pytest.mark.skipif(
    not (PROGRAMS / "ansible-galaxy").exists(), reason="ansible-galaxy is not beside this Python"
)

#: Both ways in: the playbook of the collection, and roles and modules in one's own tasks.
SITE = """\
---
- name: The collection's audit
  import_playbook: hostproof.hostproof.audit
"""
OWN = """\
---
- name: Our own play
  hosts: here
  gather_facts: false
  tasks:
    - name: A role
      ansible.builtin.import_role:
        name: hostproof.hostproof.io_pacing
        tasks_from: verify

    - name: A module that judges
      hostproof.hostproof.verify_controls:
        controls: [io_pacing]
      register: judged

    - name: A module that goes the ordinary way
      hostproof.hostproof.oracle_parameter:
        pfile: "{{ playbook_dir }}/init.ora"
        sid: ORCL
      register: parameters

    - name: A filter
      ansible.builtin.assert:
        that:
          - "('A = 1' | hostproof.hostproof.from_oracle_net).by_name.A[0] == '1'"
          - judged.findings | length > 5
          - parameters is not failed
"""
HOSTS = {
    "all": {
        "vars": {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        },
        "hosts": {"here": None},
        "children": {"hostproof_evidence": {"hosts": {"db02.example.com": None}}},
    }
}


def run(*words, cwd, home, **settings):
    """Without a setting of ours: a foreign project, the home of somebody new."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    kept |= {"HOME": str(home), "ANSIBLE_COLLECTIONS_PATH": str(cwd / "collections")}
    kept |= settings
    return subprocess.run(
        [str(PROGRAMS / words[0]), *words[1:]], cwd=cwd, env=kept, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    assert command.main(["build-collection", "--out", str(folder)]) == 0
    (path,) = folder.glob("hostproof-hostproof-*.tar.gz")
    return path


def repository(folder):
    """A Git repository with the files of this checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    wanted = [name for name in names if not name.startswith(("tests/", "docs/", "molecule/"))]
    for name in wanted:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    author = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "-A", "-f"], [*author, "commit", "-q", "-m", "A"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return f"git+file://{folder}"


@pytest.fixture(scope="module")
def project(request, built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "home").mkdir()
    source = str(built) if request.param == "file" else repository(folder / "checkout")
    options = ["--offline"] if request.param == "file" else []
    done = run(
        *("ansible-galaxy", "collection", "install", source, *options, "-p", "collections"),
        cwd=folder,
        home=folder / "home",
    )
    assert done.returncode == 0, done.stderr
    (folder / "site.yml").write_text(SITE)
    (folder / "own.yml").write_text(OWN)
    (folder / "hosts.yml").write_text(yaml.safe_dump(HOSTS))
    (folder / "init.ora").write_text("*.sga_target=1G\n")
    return folder


@pytest.mark.long
@pytest.mark.parametrize("project", ["file"], indirect=True)
def test_a_foreign_project_audits_with_it(project):
    """By the payload. Without pipelining, the default, modules are sent: the next test."""
    done = run(
        *("ansible-playbook", "-i", "hosts.yml", "site.yml"),
        *("-e", f"hostproof_evidence_folder={ROOT / 'docs/examples/evidence'}"),
        cwd=project,
        home=project / "home",
        ANSIBLE_PIPELINING="true",
    )
    output = done.stdout + done.stderr
    # db02 is not ready, and the run says so; what is ours to show goes on with the other host.
    assert re.search(r"db02.example.com is not ready; the run has exit code 2", output)
    (folder,) = (project / "reports").iterdir()
    lines = [json.loads(line) for line in (folder / "findings.jsonl").read_text().splitlines()]
    judged = {line["host"]: line["findings"] for line in lines if line["findings"]}
    assert len(judged["db02.example.com"]) > 100
    page = (folder / "report.html").read_text()
    assert "<!doctype html>" in page
    # Nobody who has the collection alone has ./hostproof.
    assert "ansible-playbook hostproof.hostproof.apply" in page + output
    assert not re.findall(
        r"\./hostproof (?:apply|audit|revert|record|verify)[^\n<]*", page + output
    )


@pytest.mark.long
@pytest.mark.parametrize("project", ["git"], indirect=True)
def test_its_roles_modules_and_filters_work_in_tasks_of_others(project):
    done = run("ansible-playbook", "-i", "hosts.yml", "own.yml", cwd=project, home=project / "home")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"here +: ok=6 .* failed=0", done.stdout)


@pytest.mark.parametrize("project", ["file", "git"], indirect=True)
def test_nothing_is_written_to_what_is_installed(project):
    installed = project / "collections/ansible_collections/hostproof/hostproof"
    names = {path.name for path in installed.rglob("*")}
    assert not {".cache", "reports", "baselines"} & names


def test_one_file_describes_the_collection():
    described = yaml.safe_load((ROOT / "galaxy.yml").read_text())
    assert described["version"] == VERSION
    assert "invalid" not in json.dumps(described)
    runtime = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())
    modules = sorted(path.stem for path in (ROOT / "library").glob("*.py"))
    assert runtime["action_groups"]["all"] == modules
    for link in (ROOT / "plugins").iterdir():
        assert link.resolve().is_relative_to(ROOT) and link.resolve().is_dir()


def test_what_is_in_it(built):
    with tarfile.open(built) as archive:
        names = archive.getnames()
    for path in ("meta/runtime.yml", "LICENSE", "README.md", "plugins/modules/storage_type.py"):
        assert path in names
    unwanted = re.compile(r"__pycache__|^tests/")
    assert not [name for name in names if unwanted.search(name)]


def test_every_call_has_its_whole_name(tmp_path):
    collection.lay_out(tmp_path)
    modules = {path.stem for path in (ROOT / "library").glob("*.py")}
    roles = {path.name for path in (ROOT / "roles").iterdir()}
    called = []

    def look(value):
        if isinstance(value, list):
            for item in value:
                look(item)
        elif isinstance(value, dict):
            called.extend(key for key in value if key.rpartition(".")[2] in modules)
            for key, item in value.items():
                if key.endswith(("import_role", "include_role")) and "{{" not in item["name"]:
                    called.append(item["name"])
                look(item)

    for path in [*(tmp_path / "playbooks").rglob("*.yml"), *(tmp_path / "roles").rglob("tasks/*")]:
        look(yaml.safe_load(path.read_text()))
    names = {name.rpartition(".")[2] for name in called}
    assert {"verify_controls", "apply_control", "render_report"} <= names
    assert {name for name in roles if (ROOT / "roles" / name / "tasks/main.yml").exists()} <= names
    assert [name for name in called if not name.startswith("hostproof.hostproof.")] == []


def test_every_python_file_says_under_which_licence_it_is(tmp_path):
    collection.lay_out(tmp_path)
    files = [path for path in (tmp_path / "plugins").rglob("*.py") if path.stat().st_size]
    assert len(files) > 300
    bare = [
        str(path.relative_to(tmp_path))
        for path in files
        if "GPL-3.0-or-later" not in path.read_text()[:400] and path.name != "bootstrap.py"
    ]
    assert bare == []


def test_a_folder_that_is_not_there_is_said(tmp_path, capsys):
    assert command.main(["build-collection", "--out", str(tmp_path / "no")]) == 1
    assert "invalid value for '--out': Directory " in capsys.readouterr().err
    assert shutil.which("ansible-galaxy", path=str(PROGRAMS))
