"""./hostproof catalogue diff: an older version, made of a copy of this one, and what it prints."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from hostproof_controller import catalogue_diff, other_version
from hostproof_controller.catalogue_diff import Change
from hostproof_controller.cli import build_collection, catalogue
from hostproof_controller.cli.command import main
from hostproof_controller.cli.errors import Refused
from hostproof_controller.report.store import merge
from report.report_samples import finding, make_line

#: No ansible-core has a part in it but the one that runs both versions.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
PACKS = ROOT / "docs/examples/evidence"
PROGRAMS = Path(sys.executable).parent


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOSTPROOF_ENVIRONMENT", str(PROGRAMS.parent))
    for name in ("ANSIBLE_INVENTORY", "HOSTPROOF_RECORDS"):
        monkeypatch.delenv(name, raising=False)


def replace(path, old, new):
    text = path.read_text()
    assert old in text, path
    path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """A collection of 0.1.9: a check has another name, another has its id, and a limit is lower."""
    folder = tmp_path_factory.mktemp("older")
    build_collection.lay_out(folder)
    (folder / "MANIFEST.json").write_text("{}")
    travels = folder / "plugins/module_utils/hostproof"
    replace(travels / "__init__.py", f'VERSION = "{VERSION}"', 'VERSION = "0.1.9"')
    hugepages = travels / "controls/hugepages"
    for path in hugepages.rglob("*.py"):
        text = path.read_text()
        text = text.replace("hugepages.single_source", "hugepages.one_owner")
        path.write_text(text.replace("hugepages.no_overcommit", "hugepages.overcommit"))
    replace(
        folder / "roles/hugepages/defaults/main.yml",
        "memory_limit_percent: 70",
        "memory_limit_percent: 1",
    )
    return folder


@pytest.fixture
def packs(tmp_path):
    folder = tmp_path / "packs"
    folder.mkdir()
    for name in ("db01", "db02"):
        shutil.copy(PACKS / f"{name}.example.com.json", folder)
    return folder


@pytest.mark.long
def test_an_update_is_shown_check_by_check(older, packs, capsys):
    assert main(["catalogue", "diff", str(older), "--evidence", str(packs), "--json"]) == 0
    update = json.loads(capsys.readouterr().out)
    assert (update["old"], update["new"], update["packs"]) == ("0.1.9", VERSION, 2)
    db01, both = ["db01.example.com"], ["db01.example.com", "db02.example.com"]
    assert [tuple(change.values()) for change in update["changes"]] == [
        ("verdict", "(host)", "ready with warnings", "ready", db01),
        ("changed", "hugepages.ram_share", "warn", "pass", both),
        ("new", "hugepages.no_overcommit", "-", "pass", both),
        ("removed", "hugepages.overcommit", "pass", "-", both),
        (
            "renamed",
            "hugepages.single_source",
            "hugepages.one_owner",
            "hugepages.single_source",
            [],
        ),
        ("default", "hugepages_memory_limit_percent", "1", "70", []),
    ]


def test_names_of_hosts_are_bounded():
    hosts = [f"db{number}" for number in range(9)]
    row = catalogue.row(Change("changed", "space.free", "pass", "x" * 999, hosts))
    assert row[3] == "x" * 59 + "…"
    assert row[4] == "9: db0, db1, db2, db3, db4 and 4 more"


def test_statuses_of_one_check_are_counted():
    line = make_line("db01", [finding(status="pass"), finding(status="fail"), finding()])
    (check,) = {finding["check"] for finding in line["findings"]}
    before, now = merge([make_line("db01", [finding()])]), merge([line])
    same = other_version.Version(ROOT, VERSION, {check: "high"})
    low = same._replace(severities={check: "low"})
    changes = catalogue_diff.changes(low, same, before, now)
    assert [change[:4] for change in changes if change.name == check] == [
        ("changed", check, "fail", "2 fail, 1 pass"),
        ("severity", check, "low", "high"),
    ]


def test_the_latest_pack_of_each_host_is_taken(tmp_path, monkeypatch):
    records = tmp_path / "records"
    for run, name in (("20261101T", "db01"), ("20261102T", "db01"), ("20261101T", "db02")):
        (records / run).mkdir(parents=True, exist_ok=True)
        (records / run / f"{name}.json").write_text(run)
    monkeypatch.setenv("HOSTPROOF_RECORDS", str(records))
    assert catalogue.copy_packs(None, tmp_path / "into") == 2
    copied = {path.name: path.read_text() for path in (tmp_path / "into").iterdir()}
    assert copied == {"db01.json": "20261102T", "db02.json": "20261101T"}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_git_revision_is_read_without_a_change_of_the_checkout(tmp_path):
    checkout = tmp_path / "checkout"
    travels = checkout / "module_utils/hostproof"
    (travels / "controls").mkdir(parents=True)
    (travels / "__init__.py").write_text('VERSION = "0.0.9"\n')
    # As 0.1.0 has its checks.
    (travels / "controls/__init__.py").write_text(OLD_CONTROLS)
    git = ["git", "-C", str(checkout), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "old"], ["tag", "v0.0.9"]):
        subprocess.run([*git, *words], check=True)
    (travels / "__init__.py").write_text('VERSION = "0.1.0"\n')
    installed = other_version.installed("v0.0.9", tmp_path, checkout, PROGRAMS)
    assert (installed.version, installed.checks) == ("0.0.9", {"host.audited": "high"})
    assert (travels / "__init__.py").read_text() == 'VERSION = "0.1.0"\n'


OLD_CONTROLS = """
from types import SimpleNamespace
CHECK = SimpleNamespace(id="host.judged", severity="high")
CONTROLS = {"host": SimpleNamespace(CHECKS=[CHECK])}
"""


@cases("named", "v9.9.9", "--output=x", "HEAD:docs")
def test_what_is_neither_a_directory_nor_a_revision_is_one_sentence(tmp_path, named):
    with pytest.raises(HostproofError, match="there is no directory and no git revision"):
        other_version.installed(named, tmp_path / "scratch", ROOT, PROGRAMS)


def test_a_directory_without_hostproof_is_one_sentence(tmp_path, capsys):
    assert main(["catalogue", "diff", str(tmp_path), "--evidence", str(PACKS)]) == 1
    message = f"hostproof: {tmp_path} contains no Hostproof (no playbooks/audit.yml)\n"
    assert capsys.readouterr().err == message


def test_a_directory_whose_checks_cannot_be_read_is_one_sentence(tmp_path):
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks/audit.yml").touch()
    with pytest.raises(HostproofError, match="cannot read its checks: ModuleNotFoundError"):
        other_version.installed(str(tmp_path), tmp_path / "scratch", ROOT, PROGRAMS)


def test_no_pack_is_one_sentence(tmp_path):
    with pytest.raises(Refused, match="contains no evidence pack"):
        catalogue.copy_packs(tmp_path, tmp_path / "into")
