"""./hostproof waive: the entry that it adds, and what it does not add."""

from pathlib import Path

import pytest
import yaml
from cases import cases
from hostproof_controller.cli import command
from hostproof_controller.report.waiver_file import load_waivers

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/waivers.yml"
WORDS = {
    "--host": "db01",
    "--until": "2099-06-30",
    "--owner": "Dana Admin",
    "--reason": "It's meant: CHG-1 #2",
}


def waive(file: Path, check: str = "hugepages.shm_group", **changed: str) -> int:
    words = {**WORDS, **{f"--{name}": value for name, value in changed.items()}}
    options = [word for pair in words.items() for word in pair]
    return command.main(["waive", check, "--waivers", str(file), *options])


def test_a_new_file_and_a_second_entry(tmp_path, capsys):
    file = tmp_path / "waivers.yml"
    assert waive(file) == 0
    assert "hugepages.shm_group on db01 until 2099-06-30 (Dana Admin)" in capsys.readouterr().out
    assert waive(file, "time_sync.ctss", host="*") == 0
    assert waive(file, "time_sync.ctss", host="*", subject="a") == 0
    assert [str(waiver) for waiver in load_waivers(str(file))] == [
        "hugepages.shm_group on db01",
        "time_sync.ctss on *",
        "time_sync.ctss of a on *",
    ]
    assert yaml.safe_load(file.read_text())[0]["reason"] == WORDS["--reason"]


def test_comments_and_other_entries_stay(tmp_path):
    file = tmp_path / "waivers.yml"
    file.write_text(EXAMPLE.read_text().rstrip("\n"))
    before = file.read_text()
    assert waive(file) == 0
    assert file.read_text().startswith(before + "\n- check: hugepages.shm_group\n")


@cases(
    "content changed said",
    (None, {"until": "2027-03"}, "--until must be a day, YYYY-MM-DD, not '2027-03'"),
    (None, {"until": "2020-01-31"}, "--until: 2020-01-31 is over"),
    (None, {"owner": " "}, "owner must be a text"),
    (None, {"check": "hugepages.shm_grup"}, "did you mean hugepages.shm_group?"),
    ("[]\n", {}, "an entry cannot be added to this form of a list"),
    ("- a: 1\n", {}, "unknown key 'a'"),
    (
        "- {check: hugepages.shm_group, hosts: [db01, db02], owner: a, reason: b, "
        "expires: 2099-01-01}\n",
        {},
        "has a waiver of hugepages.shm_group on db01 already",
    ),
)
def test_what_cannot_be_added_changes_nothing(tmp_path, capsys, content, changed, said):
    file = tmp_path / "waivers.yml"
    if content is not None:
        file.write_text(content)
    assert waive(file, **changed) == 1
    assert said in capsys.readouterr().err
    assert (file.read_text() if file.exists() else None) == content
