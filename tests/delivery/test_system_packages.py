"""The deb and the rpm: an installation into a bare root without a network, and an audit there."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"

#: No ansible-core has a part in it but the pinned one, which is in the package.
pytestmark = pytest.mark.one_core

#: What the root has of this machine: programs, libraries, and the Python that the package needs.
#: Nothing of it is Ansible.
BOUND = {
    "/usr/bin": "/bin",
    "/usr/sbin": "/sbin",
    "/usr/lib": "/lib",
    "/usr/lib64": "/lib64",
    f"/usr/lib/{PYTHON}": f"/usr/lib/{PYTHON}",
    "/usr/lib/locale": "/usr/lib/locale",
    "/dev": "/dev",
}
ENTER = """
set -e
while read -r from to; do mount --rbind "$from" "$1$to"; done <<EOF
{bound}
EOF
mount -t proc proc "$1/proc"
exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root sh -c "cd /root && $2"
"""


def needs():
    programs = ["unshare", "chroot", "dpkg-query"]
    missing = [program for program in programs if shutil.which(program) is None]
    if not Path(f"/usr/bin/{PYTHON}").exists():
        missing.append(f"/usr/bin/{PYTHON}")
    if os.geteuid() != 0:
        missing.append("root")
    if missing:
        pytest.skip(f"this machine does not have {', '.join(missing)}")
    namespaces = ["unshare", "--mount", "--net", "true"]
    if subprocess.run(namespaces, capture_output=True).returncode:
        pytest.skip("unshare --mount --net is not permitted here")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    needs()
    folder = tmp_path_factory.mktemp("wheel")
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    build = [sys.executable, "-m", "pip", *words, "--wheel-dir", str(folder), str(ROOT)]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(build, check=True, env=environment)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture
def bare(tmp_path):
    """A root with empty databases of packages, but for the Python of this machine."""
    root = tmp_path / "root"
    for name in (*BOUND.values(), "/proc", "/root", "/tmp", "/etc", "/usr/bin"):
        (root / name.lstrip("/")).mkdir(parents=True, exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    shutil.copy(f"/usr/bin/{PYTHON}", root / "usr/bin")
    shutil.copy("/usr/bin/env", root / "usr/bin")
    database = root / "var/lib/dpkg"
    (database / "info").mkdir(parents=True)
    (database / "updates").mkdir()
    result = subprocess.run(["dpkg-query", "--status", PYTHON], capture_output=True, text=True)
    (database / "status").write_text(result.stdout)
    return root


def inside(root, command):
    bound = "\n".join(f"{source} {target}" for source, target in BOUND.items())
    script = ENTER.format(bound=bound)
    return subprocess.run(
        ["unshare", "--mount", "--net", "sh", "-c", script, "sh", str(root), command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def built(kind, wheel, folder):
    program = {"deb": "dpkg-deb", "rpm": "rpmbuild"}[kind]
    if shutil.which(program) is None:
        pytest.skip(f"this machine does not have {program}")
    words = [sys.executable, ROOT / "packaging/build", kind, wheel, "--out", folder]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_an_installed_package_audits_without_a_network(kind, wheel, bare, tmp_path):
    package = built(kind, wheel, tmp_path / "dist")
    install = {
        "deb": ["dpkg", f"--root={bare}", "--install", str(package)],
        # Here a deb provides the Python that it requires.
        "rpm": ["rpm", f"--root={bare}", "--nodeps", "--install", str(package)],
    }[kind]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check_audit(bare)
    check_help(bare)


def check_help(bare):
    """Man pages, completion, and the collection, which the installed package builds itself."""
    page = gzip.decompress((bare / "usr/share/man/man1/hostproof-audit.1.gz").read_bytes())
    assert b"hostproof audit \\-i inventories/mine" in page
    for pattern in (
        "bash-completion/completions/hostproof",
        "zsh/*/_hostproof",
        "fish/vendor_completions.d/hostproof.fish",
    ):
        (script,) = (bare / "usr/share").glob(pattern)
        assert "_HOSTPROOF_COMPLETE" in script.read_text()
    done = inside(bare, "hostproof build-collection --out /tmp")
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = (bare / "tmp").glob("hostproof-hostproof-*.tar.gz")
    with tarfile.open(archive) as content:
        names = set(content.getnames())
    assert {"roles/hugepages/tasks/main.yml", "playbooks/audit.yml", "README.md"} <= names


def check_audit(bare):
    before = {path: path.stat().st_mtime_ns for path in (bare / "usr/lib/hostproof").rglob("*")}
    done = inside(bare, "hostproof audit --checks memory_pressure")
    assert done.returncode in (0, 2, 3, 5), done.stdout + done.stderr
    (report,) = (bare / "root/reports").glob("*/report.json")
    assert len(json.loads(report.read_text())["hosts"]) == 1
    assert f"/root/reports/{report.parent.name}" in done.stdout
    after = {path: path.stat().st_mtime_ns for path in (bare / "usr/lib/hostproof").rglob("*")}
    assert after == before


@pytest.mark.parametrize("name", ["none.whl", "hostproof-0.2.0-py3-none-any.whl"])
def test_what_is_no_wheel_is_one_sentence(tmp_path, name):
    words = [sys.executable, ROOT / "packaging/build", "deb", tmp_path / name]
    done = subprocess.run(words, capture_output=True, text=True)
    message = f"build: {tmp_path / name} is not a wheel of Hostproof\n"
    assert (done.returncode, done.stderr) == (1, message)
