"""Script and playbook of report --fixes, run for real: as which account, and beside whose files."""

import os
import pty
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from cases import cases
from hostproof_controller import commands
from hostproof_controller.cli import command
from test_diffing import finding, line, report

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = [
    pytest.mark.one_core,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account"),
    pytest.mark.skipif(not shutil.which("runuser"), reason="runuser is not installed"),
]

OWNER = pwd.getpwnam("nobody")
#: A Python that another account can run.
PYTHON = "/usr/bin/python3"
TELLS = '#!/bin/sh\nid -u > "$ORACLE_HOME/ran"\n'


@pytest.fixture
def place():
    """A directory of root, with root's directories above it."""
    with tempfile.TemporaryDirectory(dir="/var/lib") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture
def home(place):
    """A home of another account: its lsnrctl and its makefile tell who runs them."""
    home = place / "home"
    for folder in (home / "bin", home / "rdbms/lib"):
        folder.mkdir(parents=True)
    (home / "bin/lsnrctl").write_text(TELLS)
    (home / "bin/lsnrctl").chmod(0o755)
    (home / "rdbms/lib/ins_rdbms.mk").write_text(f"dnfs_on:\n\tid -u > {home}/ran\n")
    for path in (home, *home.rglob("*")):
        os.chown(path, OWNER.pw_uid, OWNER.pw_gid)
    return home


@pytest.fixture(params=["script", "playbook"])
def run(request, tmp_path, capsys):
    """run(*lines) executes them as fixes of this machine; the exit code and what was printed."""

    def call(*lines):
        name = os.uname().nodename if request.param == "script" else "db1"
        folder = report(
            tmp_path / "run", line(name, finding("hugepages.a", "fail", commands=list(lines)))
        )
        assert command.main(["report", folder, "--fixes", str(tmp_path / "fixes")]) == 0
        capsys.readouterr()
        environment = {**os.environ, "ANSIBLE_PIPELINING": "1", "ANSIBLE_NOCOLOR": "1"}
        if request.param == "script":
            ours, its = pty.openpty()
            os.write(ours, b"y\n" * 9)
            # A program of another account must not be found first, nor a library of it.
            evil = tmp_path / "evil"
            evil.mkdir()
            for program in ("mkdir", "runuser", "ls", "awk", "uname"):
                (evil / program).write_text(f"#!/bin/sh\n: > {tmp_path}/evil/ran\n")
                (evil / program).chmod(0o755)
            done = subprocess.run(
                ["/bin/bash", str(tmp_path / f"fixes/{name}.sh"), "--all"],
                env={**environment, "PATH": f"{evil}:{environment['PATH']}"},
                stdin=its, capture_output=True, text=True, check=False,
            )  # fmt: skip
            os.close(ours)
            os.close(its)
            assert not (evil / "ran").exists()
        else:
            words = ["-e", "fixes_reviewed=db1", "-e", "ansible_connection=local"]
            words += ["-e", "ansible_become_method=su", "-e", "ansible_become_flags='-s /bin/sh'"]
            words += ["-e", f"ansible_python_interpreter={PYTHON}", "-i", "db1,"]
            playbook = str(tmp_path / "fixes/db1.yml")
            done = subprocess.run(
                [str(Path(sys.executable).with_name("ansible-playbook")), *words, playbook],
                env=environment, capture_output=True, text=True, check=False, cwd="/",
            )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    if request.param == "playbook" and not os.path.exists(PYTHON):
        pytest.skip(f"there is no {PYTHON}")
    return call


def test_a_program_of_a_home_runs_as_its_owner(run, home):
    words = f"env ORACLE_HOME={home} {home}/bin/lsnrctl start LISTENER"
    code, printed = run(f"runuser -u {OWNER.pw_name} -- {words}")
    assert code == 0, printed
    assert (home / "ran").read_text() == f"{OWNER.pw_uid}\n"


@cases(
    "form",
    "env ORACLE_HOME={0} make -C {0}/rdbms/lib -f ins_rdbms.mk dnfs_on",
    "make -C {0}/rdbms/lib -f ins_rdbms.mk dnfs_on",
    "runuser -u root -- env ORACLE_HOME={0} {0}/bin/lsnrctl start LISTENER",
    "env ORACLE_HOME={0} {0}/bin/lsnrctl start LISTENER",
    "{0}/bin/lsnrctl start LISTENER",
)
def test_root_runs_no_program_or_makefile_of_others(run, home, form):
    """A result of an older version, or of a hostile host, may have such a line."""
    run(form.format(home))
    assert not (home / "ran").exists()


def test_root_changes_nothing_below_a_directory_of_others(run, place, home):
    (place / "own").mkdir()
    (home / "link").symlink_to(place / "own")
    code, printed = run(f"mkdir -p {place}/own/new", f"mkdir -p {home}/link/evil")
    assert code != 0
    assert "another account can change" in printed
    assert [path.name for path in (place / "own").iterdir()] == ["new"]


@cases(
    "line account directories",
    ("umount /u01/oradata", None, ("/", "/u01")),
    ("mount '/u01/a b'", None, ("/", "/u01")),
    ("mount -o remount,hard /u01", None, ("/",)),
    ("mkdir -p /u03/a/b", None, ("/", "/u03", "/u03/a")),
    # cwd is a link that the process chose, so that the check fails there.
    ("mkdir -p /proc/7/cwd/x", None, ("/", "/proc", "/proc/7", "/proc/7/cwd")),
    ("grep -l huge /proc/[0-9]*/numa_maps", None, ()),
    # A name like that of the library does not make a path one of the system.
    ("mkdir -p /u03/libnetsnmp/a", None, ("/", "/u03", "/u03/libnetsnmp")),
    ("umount /u03/libnetsnmp.so", None, ("/", "/u03")),
    ("umount /lib64/../u03/libnetsnmp.so", None, ("/", "/lib64", "/lib64/..", "/lib64/../u03")),
    ("ln -sfn /usr/lib64/libnetsnmp.so.10 /usr/lib64/libnetsnmp.so", None, ()),
    (
        "ln -sfn /usr/local/lib/libnetsnmp.so.10 /usr/local/lib/libnetsnmp.so",
        None,
        ("/", "/usr", "/usr/local", "/usr/local/lib"),
    ),
    ("sysctl -w vm.nr_hugepages=1", None, ()),
    ("dmesg | grep -i nfs", None, ()),
    ("systemctl daemon-reload", None, ()),
    ("printf '%s\\n' 'a:/b /c nfs rw 0 0' >> /etc/fstab", None, ()),
)
def test_what_a_command_depends_on(line, account, directories):
    execution = commands.execution(line)
    assert (execution.account, execution.directories) == (account, directories)
