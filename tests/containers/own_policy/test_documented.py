"""The commands of docs/molecule.md that test a policy of one's own, run as they stand.

The address of Hostproof in them leads to this checkout as it lies there. The project is made anew
in each run; its virtualenv is kept between runs while the requirements are the same.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

import shared_cache  # noqa: E402 - found by the path above

PAGE = (ROOT / "docs/molecule.md").read_text()
URL = "https://git.example.com/hostproof.git"
REQUIREMENTS = ("requirements.txt", "docs/examples/molecule/requirements.txt")


def commands() -> str:
    """What the page has to type after its mark, in one script."""
    _, mark, after = PAGE.partition("<!-- These commands are run as they stand")
    assert mark
    blocks = re.findall(r"^```sh\n(.*?)^```$", after, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    return "".join(blocks)


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the files of this checkout as they lie there."""
    folder = tmp_path_factory.mktemp("remote") / "hostproof.git"
    names = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, names):
        if os.path.lexists(ROOT / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    who = ("-c", "user.name=tests", "-c", "user.email=tests@example.com")
    git(folder, *who, "commit", "--quiet", "-m", "as it lies there")
    return folder


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder with nothing but the project's virtualenv of an earlier run, if there is one."""
    state = hashlib.sha256(sys.version.encode())
    for name in REQUIREMENTS:
        state.update((ROOT / name).read_bytes())
    folder = shared_cache.folder() / f"own-policy-{state.hexdigest()[:16]}"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        # Another checkout may be at it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        project = folder / "policy"
        for path in project.iterdir() if project.exists() else ():
            if path.is_dir() and not path.is_symlink():
                if path.name != ".venv":
                    shutil.rmtree(path)
            else:
                path.unlink()
        yield folder


@pytest.fixture(scope="module")
def done(remote: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """The commands, run by a shell that ends at the first that fails."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANSIBLE_", "MOLECULE_", "VIRTUAL_ENV", "PYTHON", "TESTS_"))
    }
    environment = {
        **kept,
        # A Python that is no virtualenv's.
        "PATH": f"{sys.base_prefix}/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "NO_COLOR": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{remote}.insteadOf",
        "GIT_CONFIG_VALUE_0": URL,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    result = subprocess.run(
        ["bash", "-euxc", commands()],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1500,
    )
    print(result.stdout[-20000:])
    return result


def test_the_commands_of_the_page_succeed(done):
    assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.parametrize(
    "step", ["create", "prepare", "converge", "idempotence", "verify", "destroy"]
)
def test_molecule_did_each_step_of_the_users_scenario(done, step):
    assert re.search(rf"\[default > {step}\] Executed: Successful", done.stdout)


def test_it_was_the_users_policy(done, place):
    """What was applied is in the project, and its tests are those that were run."""
    assert "include_role" not in done.stdout
    assert f"{place}/policy/molecule/default/tests" in done.stdout
    assert (place / "policy/molecule/default/inventory/group_vars").resolve() == (
        place / "policy/group_vars"
    )


def test_nothing_is_left_running(done, place):
    assert not list((place / "policy/hostproof/.cache/machines/container").glob("molecule-*.json"))
