"""Which processes count as what their name says. Needs root, who alone starts some as others."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect import guarded, identity
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.identity import ANYBODY, OF_ROOT, ORACLE, Kind
from cases import cases

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes of others")

NOBODY = pwd.getpwnam("nobody")
DAEMON = pwd.getpwnam("daemon")
SLEEP = os.path.realpath(shutil.which("sleep") or "/bin/sleep")
KIND = Kind(users=("daemon",), programs=(SLEEP,))


@pytest.fixture
def base() -> Iterator[Path]:
    """pytest's own folders let nobody else in."""
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def home_of(base: Path, uid: int) -> Path:
    """HOME/bin/oracle of an account."""
    (base / "home/bin").mkdir(parents=True)
    program = base / "home/bin/oracle"
    shutil.copy(SLEEP, program)
    program.chmod(0o755)
    os.chown(program, uid, 0)
    return program


@contextmanager
def running(shown: str, program: str | Path, uid: int = 0, *before: str) -> Iterator[int]:
    """The pid of a process that shows a name, and runs a program as an account."""
    argv = [*before, "bash", "-c", 'exec -a "$0" "$1" 60', shown, str(program)]
    user = {"user": uid, "group": uid, "extra_groups": []} if uid else {}
    with subprocess.Popen(argv, cwd="/", **user) as process:  # type: ignore[call-overload]
        try:
            for _ in range(1000):
                with open(f"/proc/{process.pid}/cmdline", "rb") as stream:
                    if process.poll() is not None or stream.read().startswith(shown.encode()):
                        break
                time.sleep(0.01)
            if process.poll() is not None:
                pytest.skip(f"{argv[0]} does not run here")
            yield process.pid
        finally:
            process.kill()


def found(pid: int, shown: str, kind: Kind) -> bool:
    """The same answer of every way to look at processes."""
    ways = [
        [process.pid for process in LiveHost().processes("x", f"^{shown}$", kind)],
        [process.pid for process in LiveHost().open_files("x", f"^{shown}$", ["/"], kind)],
        [
            process.pid
            for process in LiveHost().holders("x", f"^{shown}$", kind).processes
            if process.files is not None
        ],
    ]
    results = [pid in pids for pids in ways]
    assert len(set(results)) == 1, results
    return results[0]


@cases(
    "uid program counts",
    (0, SLEEP, True),
    (DAEMON.pw_uid, SLEEP, True),
    (NOBODY.pw_uid, SLEEP, False),
    (0, "copy", False),
    (DAEMON.pw_uid, "copy", False),
)
def test_account_and_file_of_a_daemon(base, uid, program, counts):
    if program == "copy":
        program = base / "sleep"
        shutil.copy(SLEEP, program)
    with running("sleep", program, uid) as pid:
        assert found(pid, "sleep", KIND) is counts
        assert found(pid, "sleep", ANYBODY)
        assert found(pid, "sleep", OF_ROOT) is (uid == 0)


def test_a_program_that_was_replaced_since_counts(base):
    program = base / "sleep"
    shutil.copy(SLEEP, program)
    kind = Kind(programs=(str(program),))
    with running("sleep", program) as pid:
        assert found(pid, "sleep", kind)
        program.unlink()
        shutil.copy(SLEEP, program)
        assert found(pid, "sleep", kind)
        assert not found(pid, "sleep", KIND)


@cases("more", (), ("--mount",))
def test_a_user_namespace_is_another_host(more):
    with running("sleep", SLEEP, DAEMON.pw_uid, "unshare", "--user", "-r", *more) as pid:
        assert not found(pid, "sleep", KIND)


def test_a_mount_namespace_counts_only_for_a_unit(monkeypatch):
    with running("sleep", SLEEP, 0, "unshare", "--mount") as pid:
        assert not found(pid, "sleep", KIND)
        monkeypatch.setattr(identity, "unit_of", lambda _pid: "sleep.service")
        assert found(pid, "sleep", KIND)


def test_an_instance_is_of_an_account_of_oracle(base, monkeypatch):
    monkeypatch.setattr(identity, "_ORATABS", (str(base / "oratab"),))
    monkeypatch.setattr(guarded, "installing_group", lambda: None)
    monkeypatch.setattr(identity, "_ORACLE_GROUPS", ())
    shown = "ora_pmon_X"
    with running(shown, home_of(base, DAEMON.pw_uid), DAEMON.pw_uid) as pid:
        assert not found(pid, shown, ORACLE)
        (base / "oratab").write_text("")
        assert not found(pid, shown, ORACLE)
        os.chown(base / "oratab", DAEMON.pw_uid, 0)
        assert found(pid, shown, ORACLE)
        os.chown(base / "oratab", 0, 0)
        group = (DAEMON.pw_gid, frozenset((DAEMON.pw_uid,)))
        monkeypatch.setattr(guarded, "installing_group", lambda: group)
        assert found(pid, shown, ORACLE)
        (process,) = [
            candidate
            for candidate in LiveHost().processes("x", f"^{shown}$", ORACLE)
            if candidate.pid == pid
        ]
        assert process.runs("oracle")
        assert process.home("oracle") == str(base / "home")
    with running(shown, SLEEP, DAEMON.pw_uid) as pid:
        assert not found(pid, shown, ORACLE)


@cases(
    "own first unit",
    ("0::/system.slice/chronyd.service", "0::/init.scope", "chronyd.service"),
    ("1:name=systemd:/system.slice/a.service\n0::/", "1:name=systemd:/init.scope", "a.service"),
    ("0::/docker/x/system.slice/a.service", "0::/docker/x/init.scope", "a.service"),
    ("0::/db.slice/db-x.slice/a.service", "0::/init.scope", "a.service"),
    ("0::/docker/x/system.slice/a.service", "0::/init.scope", ""),
    ("0::/system.slice/docker-x.scope/system.slice/a.service", "0::/init.scope", ""),
    ("0::/user.slice/user-1.slice/user@1.service/app.slice/a.service", "0::/init.scope", ""),
    ("0::/system.slice/a.service/payload", "0::/init.scope", ""),
    ("0::/user.slice/user-1.slice/session-1.scope", "0::/init.scope", ""),
    # The account of a manager makes folders below it, and puts its processes there.
    ("0::/user.slice/user-1.slice/user@1.service/x.slice", "0::/init.scope", ""),
    ("0::/user.slice/user-1.slice/user@1.service", "0::/init.scope", ""),
    ("0::/system.slice/a.service/x.slice", "0::/init.scope", ""),
    ("0::/", "0::/", ""),
    ("0::/../../elsewhere/a.service", "0::/", ""),
    ("", "", ""),
)
def test_the_unit_of_a_process(monkeypatch, own, first, unit):
    def paths(pid):
        text = {7: own, 1: first}[pid]
        return identity._path_of_unit(text)

    monkeypatch.setattr(identity, "_cgroup_of", paths)
    assert identity.unit_of(7) == unit
