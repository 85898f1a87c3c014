"""./hostproof init: a first policy from what runs, which an audit accepts."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import wrapper
import yaml
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.probes.nfs import nfs_mounted
from ansible.module_utils.hostproof.probes.oracle import instances
from cases import cases
from hostproof_controller import policies
from hostproof_controller.cli import command, init

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
PACKS = sorted((ROOT / "docs/examples/evidence").glob("*.json"))
#: What Ansible would run on the controller, where it stood in a variable.
TEMPLATE = "/u02/{{ lookup('pipe', 'touch evil') }}"


def written(out: Path) -> dict[str, dict[str, Any]]:
    """Control to its variables."""
    files = (out / "group_vars/databases").iterdir()
    return {path.stem: yaml.safe_load(path.read_text()) or {} for path in files}


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.stem)
def test_a_policy_of_each_example_is_accepted(pack, tmp_path, capsys):
    assert command.main(["init", "--evidence", str(pack), "--out", str(tmp_path / "mine")]) == 0
    by_control = written(tmp_path / "mine")
    assert sorted(by_control) == list(init.READ)
    for control, variables in by_control.items():
        role = policies.controls()[control]
        assert set(variables) <= {role.variable(field) for field in role.fields}
        values = {
            field: variables.get(role.variable(field), role.defaults[field])
            for field in role.fields
        }
        assert CONTROLS[control].policy_from(values)
    assert yaml.safe_load((tmp_path / "mine/hosts.yml").read_text()) == {
        "all": {"children": {"databases": {"hosts": {pack.stem: {}}}}}
    }


def test_a_profile_is_written_and_read_again(tmp_path):
    out = tmp_path / "mine"
    words = ["init", "--evidence", str(PACKS[0]), "--out", str(out), "--profile", "oracle_19c_rac"]
    assert command.main(words) == 0
    assert written(out)["hostproof_profile"] == {"hostproof_profile": "oracle_19c_rac"}


def test_holds_what_runs(tmp_path):
    pack = ROOT / "docs/examples/evidence/db05.example.com.json"
    assert command.main(["init", "--evidence", str(pack), "--out", str(tmp_path / "mine")]) == 0
    by_control = written(tmp_path / "mine")
    assert by_control["hugepages"] == {
        "hugepages_instances": [{"sid": "LAB1", "sga": "256M"}, {"sid": "LAB2", "sga": "128M"}],
        "hugepages_users": ["oracle"],
    }
    assert [
        (mount["path"], mount["class"]) for mount in by_control["nfs_mounts"]["nfs_mounts_mounts"]
    ] == [("/u02/oradata", "datafiles"), ("/u03/redo", "redo"), ("/u04/archive", "backup")]
    folder = tmp_path / "mine/group_vars/databases"
    assert "LISTENER of /u01/app/oracle" in (folder / "listener_rate_limit.yml").read_text()
    assert "storage: ens4 (NFS /u02/oradata" in (folder / "flow_control.yml").read_text()


def test_what_stands_in_comments_is_accepted_too(tmp_path):
    pack = ROOT / "docs/examples/evidence/db05.example.com.json"
    assert command.main(["init", "--evidence", str(pack), "--out", str(tmp_path / "mine")]) == 0
    for path in (tmp_path / "mine/group_vars/databases").iterdir():
        _, _, examples = path.read_text().partition("# Yours to decide:\n")
        variables = yaml.safe_load(examples.replace("# ", ""))
        role = policies.controls()[path.stem]
        assert variables
        values = {
            field: variables.get(role.variable(field), role.defaults[field])
            for field in role.fields
        }
        assert CONTROLS[path.stem].policy_from(values)


def test_an_audit_accepts_it(tmp_path):
    (tmp_path / "packs").mkdir()
    shutil.copy(ROOT / "docs/examples/evidence/db05.example.com.json", tmp_path / "packs")
    environment = {**wrapper.environment(tmp_path), "HOSTPROOF_REPORTS": str(tmp_path / "reports")}

    def run(*typed: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [wrapper.HOSTPROOF, *typed],
            env=environment,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )

    done = run("init", "--evidence", "packs/db05.example.com.json", "--out", "mine")
    assert done.returncode == 0, done.stderr
    done = run("audit", "--evidence", "packs", "-i", "mine")
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = next((tmp_path / "reports").glob("*/findings.jsonl")).read_text().splitlines()
    by_check = {finding["check"]: finding for finding in json.loads(line)["findings"]}
    assert by_check["hugepages.pool_covers_sga"]["status"] == "pass"
    # Judged as listed: with the class that the file gives each.
    paths = ("/u02/oradata", "/u03/redo", "/u04/archive")
    titles = " ".join(finding["title"] for finding in json.loads(line)["findings"])
    assert all(path in titles for path in paths)


class TestHostileAnswers:
    @pytest.fixture
    def made(self, monkeypatch, tmp_path):
        """made(probe, answer): the text of every file, where a probe answers that."""

        def make(module: Any, name: str, answer: Any) -> str:
            monkeypatch.setattr(module, name, lambda *_: answer)
            pack = str(PACKS[0])
            assert command.main(["init", "--evidence", pack, "--out", str(tmp_path / "mine")]) == 0
            files = (tmp_path / "mine/group_vars/databases").iterdir()
            for path in files:
                text = json.dumps(yaml.safe_load(path.read_text()))
                assert "lookup" not in text
                assert "evil" not in text
            return "".join(
                path.read_text()
                for path in sorted((tmp_path / "mine/group_vars/databases").iterdir())
            )

        return make

    @cases("path", TEMPLATE, "/u02/a\nevil: 1", "/u02/{% raw %}evil", "/u02/\x1bevil")
    def test_of_mounts(self, made, path):
        mount = nfs_mounted.Mounted(path, "filer:/evil", "nfs", "rw", None, "/", ())
        text = made(nfs_mounted, "read_mounted", [mount])
        assert "Left out for its name" in text
        assert "\nevil" not in text
        assert "\x1b" not in text

    def test_of_a_source(self, made):
        mount = nfs_mounted.Mounted("/u02", "{{ evil }}:/x", "nfs", "rw", None, "/", ())
        assert "Left out for its name" in made(nfs_mounted, "read_mounted", [mount])

    def test_of_a_source_that_the_policy_refuses(self, made):
        mount = nfs_mounted.Mounted("/u02", "filer:evil", "nfs", "rw", None, "/", ())
        assert "Omitted, because the policy would be rejected" in made(
            nfs_mounted, "read_mounted", [mount]
        )

    def test_of_instances(self, made):
        segment = instances.Segment(1, 1 << 30, True, {})
        instance = instances.Instance(
            "{{ evil }}", "ora", 1, 1, "{{ evil }}", [segment], {}, OSError("no")
        )
        assert "Left out for its name" in made(instances, "find_instances", [instance])

    def test_of_what_cannot_be_read(self, made):
        from ansible.module_utils.hostproof.errors import Denied

        problem = Denied("file:/x\nevil: 1", "denied\nevil: 1")
        instance = instances.Instance("DB", "ora", 1, 1, "oracle", problem, {}, problem)
        assert "the SGA of DB could not be read" in made(instances, "find_instances", [instance])

    def test_of_other_file_systems(self, made):
        mount = nfs_mounted.Mounted("/home", "filer:/vol/home", "nfs", "rw", None, "/", ())
        text = made(nfs_mounted, "read_mounted", [mount])
        assert "Left out, if it holds no files of Oracle: /home" in text
        assert "nfs_mounts_mounts:" not in text


class TestWrongUse:
    def test_never_overwrites(self, tmp_path, capsys):
        (tmp_path / "mine").mkdir()
        assert command.main(["init", "--evidence", str(PACKS[0]), "--out", str(tmp_path)]) == 1
        assert "exists already; init overwrites nothing" in capsys.readouterr().err
        assert os.listdir(tmp_path) == ["mine"]

    @cases(
        "typed said",
        ([], "init needs --out DIR"),
        (["--out", "/tmp"], "exists already"),
        (["--out", "OUT", "--evidence", str(PACKS[0].parent)], "exactly one host, found: "),
        (["--out", "OUT", "--evidence", "/nonexistent"], "there is no evidence pack"),
        (["--out", "OUT", "--tags", "hugpages"], "did you mean hugepages?"),
    )
    def test_is_said(self, tmp_path, capsys, typed, said):
        words = [str(tmp_path / "out") if word == "OUT" else word for word in typed]
        assert command.main(["init", *words]) == 1
        assert said in capsys.readouterr().err
        assert not (tmp_path / "out").exists()


@cases("size text", (1 << 30, "1G"), (3 << 29, "1536M"), (4096, "4K"), (4097, "4097"), (0, "0"))
def test_sizes_are_exact(size, text):
    assert init.size_text(size) == text


@cases(
    "path name",
    *(("/u02/oradata", "datafiles"), ("/u03/redo", "redo"), ("/backup", "backup")),
    *(("/u01/app/oracle/diag", "adr"), ("/u01/app/oracle/product/19", "oracle_home")),
    *(("/voting", "crs_voting"), ("/u09", "datafiles")),
)
def test_classes_by_path(path, name):
    assert init.class_of(path) == name
