"""packaging/release: a release in a clone, and what it does not release."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from ansible.module_utils.hostproof import VERSION

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = runpy.run_path(str(ROOT / "packaging/release"))
NEW = "99.0.0"


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        (r"checks \- 44 ids\, <code>a\_b\.\*</code>\; more\.", "checks - 44 ids, `a_b.*`; more."),
        (
            r"nfs\_mounts\, <em>not ready</em> \(exit code 5\)",
            "nfs_mounts, *not ready* (exit code 5)",
        ),
        (r"2 \* 3 \< 7\, \_x", r"2 \* 3 \< 7, \_x"),
    ],
)
def test_the_changelog_is_plain_prose(escaped, plain):
    assert PROGRAM["plain"](escaped) == plain


@pytest.fixture
def clone(tmp_path):
    """A clone with an upgrade section and a fragment for a next release."""
    folder = tmp_path / "hostproof"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    page = folder / "docs/upgrading.md"
    page.write_text(f"{page.read_text()}\n## From {VERSION} to {NEW}\n")
    fragment = folder / "changelogs/fragments/of-this-test.yml"
    fragment.write_text("---\nbugfixes:\n  - of this test - a change, *and* ``hugepages_pages``.\n")
    git(folder, "config", "user.name", "Test")
    git(folder, "config", "user.email", "test@example.com")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "prepare")
    return folder


def git(folder, *words):
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def release(folder, version):
    words = [sys.executable, "packaging/release", version]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def test_a_release_is_a_commit_with_a_tag(clone):
    done = release(clone, NEW)
    assert done.returncode == 0, done.stderr
    assert git(clone, "tag", "--points-at", "HEAD").split() == [f"v{NEW}"]
    assert f'VERSION = "{NEW}"' in (clone / "module_utils/hostproof/__init__.py").read_text()
    assert f"\nversion: {NEW}\n" in (clone / "galaxy.yml").read_text()
    text = (clone / "CHANGELOG.md").read_text()
    assert f"## v{NEW}\n" in text
    assert "* of this test - a change, *and* `hugepages_pages`." in text
    assert not list((clone / "changelogs/fragments").glob("*.yml"))
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (VERSION, f"{VERSION} is not a later version than"),
        ("next", "next is not a later version than"),
        ("98.0.0", f"docs/upgrading.md has no section '## From {VERSION} to 98.0.0'"),
    ],
)
def test_what_is_refused_changes_nothing(clone, version, said):
    before = git(clone, "rev-parse", "HEAD")
    done = release(clone, version)
    assert (done.returncode, git(clone, "rev-parse", "HEAD")) == (1, before)
    assert said in done.stderr
    (clone / "new").write_text("x")
    assert "the tree has changes" in release(clone, NEW).stderr
