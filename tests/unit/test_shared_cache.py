"""tests/shared_cache.py: where the tests keep what every checkout of an account may use."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

import shared_cache  # noqa: E402 - found by the path above


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch):
    monkeypatch.delenv("HOSTPROOF_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    shared_cache.folder.cache_clear()
    yield
    shared_cache.folder.cache_clear()


def test_it_is_in_the_cache_of_the_account(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert shared_cache.folder() == tmp_path / ".cache/hostproof-tests"
    assert shared_cache.folder().stat().st_mode & 0o777 == 0o700


def test_xdg_cache_home_moves_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert shared_cache.folder() == tmp_path / "xdg/hostproof-tests"


def test_hostproof_cache_names_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HOSTPROOF_CACHE", str(tmp_path / "mine"))
    assert shared_cache.folder() == tmp_path / "mine"


def test_a_folder_that_others_may_write_to_is_refused(monkeypatch, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("HOSTPROOF_CACHE", str(tmp_path / "open"))
    with pytest.raises(shared_cache.Refused, match="other accounts may write .*chmod go-w"):
        shared_cache.folder()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
def test_a_folder_of_another_account_is_refused(monkeypatch, tmp_path):
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 54321, 54321)
    monkeypatch.setenv("HOSTPROOF_CACHE", str(tmp_path / "theirs"))
    with pytest.raises(shared_cache.Refused, match="belongs to user 54321, not to user 0"):
        shared_cache.folder()


def test_a_link_at_its_default_place_is_refused(monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "hostproof-tests").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(shared_cache.Refused, match="is a link or a file"):
        shared_cache.folder()


def test_a_file_in_its_place_and_a_relative_path_are_refused(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    for name, reason in (
        (str(tmp_path / "file"), "cannot be made"),
        ("here", "not an absolute path"),
    ):
        monkeypatch.setenv("HOSTPROOF_CACHE", name)
        with pytest.raises(shared_cache.Refused, match=reason):
            shared_cache.folder()
