"""Direct NFS as a real machine shows it: mapped libraries, channels, and files behind links."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect.answer import known
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.nfs_mounts.probes import direct_nfs
from ansible.module_utils.hostproof.errors import Absent
from ansible.module_utils.hostproof.probes.nfs import nfs_connections
from ansible.module_utils.hostproof.probes.oracle.oracle_homes import OracleHome
from cases import cases
from packs import ROOT

STAND_IN = ROOT / "tests/standins/instance.py"
SID = f"DNFS{os.getpid()}"


@pytest.fixture
def home(tmp_path: Path) -> OracleHome:
    """A home of 19c with Direct NFS linked in, named through a link."""
    real = tmp_path / "19.0.0"
    for name in ("lib/libodm19.so", "lib/libnfsodm19.so", "rdbms/lib/odm/libnfsodm19.so"):
        (real / name).parent.mkdir(parents=True, exist_ok=True)
        (real / name).write_text(name.split("/")[-1])
    (tmp_path / "19").symlink_to("19.0.0")
    return OracleHome(str(tmp_path / "19"), (SID,), ("oratab",), False)


@pytest.fixture
def filer() -> Iterator[str]:
    """A loopback address of its own that listens on the port of NFS."""
    with socket.socket() as server:
        address = f"127.77.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
        server.bind((address, nfs_connections.NFS_PORT))
        server.listen()
        yield address


@pytest.fixture
def stand_in(home: OracleHome, filer: str) -> Iterator[int]:
    odm = f"{home.path}/rdbms/lib/odm/libnfsodm19.so"
    argv = [sys.executable, str(STAND_IN), "--sid", SID, "--process", "dbw0", "--map", odm]
    argv += ["--connect", f"{filer}:{nfs_connections.NFS_PORT}"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready")
        yield process.pid
        process.terminate()


def test_a_process_with_a_channel(home, stand_in, filer):
    live = LiveHost()
    seen = direct_nfs.read_direct_nfs(live, [home])
    (process,) = [candidate for candidate in known(seen.processes) if candidate.sid == SID]
    real = os.path.realpath(home.path)
    assert (process.pid, process.home) == (stand_in, "")
    assert process.libraries == (f"{real}/rdbms/lib/odm/libnfsodm19.so",)
    assert process.has_direct_nfs([]) is True
    channels = [
        connection for connection in known(seen.connections) if connection.inode in process.sockets
    ]
    assert [channel.remote for channel in channels] == [filer]
    kept = RecordedHost(json.loads(json.dumps(live.evidence)))
    again = direct_nfs.read_direct_nfs(kept, [home])
    assert (again.homes, again.processes, again.connections) == (
        seen.homes,
        seen.processes,
        seen.connections,
    )


def test_libraries_and_files_behind_a_link(home):
    real = Path(os.path.realpath(home.path))
    (real / "dbs").mkdir()
    (real / "dbs/oranfstab").write_text("server: filer1\npath: nowhere.invalid\n")
    seen = direct_nfs.read_direct_nfs(LiveHost(), [home])
    (entry,) = seen.homes
    assert known(entry.path) == str(real)
    assert known(entry.library).linked
    assert known(entry.order).places == (f"{real}/dbs/oranfstab", "/etc/oranfstab")
    assert known(seen.files[f"{real}/dbs/oranfstab"]).servers[0].name == "filer1"
    assert known(seen.addresses["nowhere.invalid"]) == ()
    assert "127.0.0.1" in [address.address for address in known(seen.own)]


@cases("how linked", ("copy", True), ("link", True), ("other", False))
def test_libodm_that_is_libnfsodm(home, how, linked):
    real = Path(os.path.realpath(home.path))
    (real / "rdbms/lib/odm/libnfsodm19.so").unlink()
    plain = real / "lib/libodm19.so"
    plain.unlink()
    if how == "link":
        plain.symlink_to("libnfsodm19.so")
    else:
        plain.write_text("libnfsodm19.so" if how == "copy" else "LIBNFSODM19.SO")
    (entry,) = direct_nfs.read_direct_nfs(LiveHost(), [home]).homes
    library = known(entry.library)
    assert (library.linked, library.copy) == (linked, str(plain) if linked else "")


def test_a_home_that_is_gone(tmp_path):
    home = OracleHome(str(tmp_path / "gone"), (), (), False)
    (entry,) = direct_nfs.read_direct_nfs(LiveHost(), [home]).homes
    assert all(isinstance(answer, Absent) for answer in (entry.path, entry.library, entry.order))
