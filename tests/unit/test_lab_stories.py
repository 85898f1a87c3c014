"""Which stories of the lab a second try runs."""

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_core

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machines import stories  # noqa: E402


@pytest.fixture
def noted(tmp_path, monkeypatch):
    monkeypatch.setattr(stories, "OPEN", tmp_path / "machines/open.json")


def test_stories_are_the_files_of_the_scenario():
    assert {"hugepages", "nfs_mounts_1_apply", "profile"} <= set(stories.names())


def test_a_story_of_several_parts_is_told_from_its_beginning(noted):
    stories.write_open([Path("x/test_nfs_mounts_3_faults.py"), Path("x/test_profile.py")])
    again = stories.read_open()
    assert again[0] == "nfs_mounts_1_apply"
    assert again[-1] == "profile"
    assert all(name.startswith("nfs_mounts_") for name in again[:-1])


def test_a_story_of_one_file_is_itself():
    assert stories.whole(["hugepages_boot"]) == ["hugepages_boot"]


def test_without_a_note_all_stories_run(noted):
    assert stories.read_open() == stories.names()
    stories.write_open([])
    assert stories.read_open() == []
