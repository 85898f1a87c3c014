"""The stand-ins of the listener and of its tools do what their documentation says."""

import re
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.probes.oracle import tns_ping
from cases import cases
from listener_home import STANDINS, OracleHome, wait_for_new_second


@pytest.fixture
def home(tmp_path: Path) -> Iterator[OracleHome]:
    home = OracleHome(tmp_path / "home")
    yield home
    home.lsnrctl("stop")


def burst(home: OracleHome, count: int) -> tns_ping.Burst:
    wait_for_new_second()
    return tns_ping.summarize(
        tns_ping.at_once("127.0.0.1", home.port, count, 20, time.monotonic() + 60)
    )


def pid_of(home: OracleHome) -> int:
    program = str(home.folder / "bin/tnslsnr").encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().split(b"\0")[0] == program:
                return int(folder.name)
        except OSError:
            continue
    raise AssertionError("no such process")


def backlog_of(home: OracleHome) -> str:
    command = ["ss", "-Hltn", f"sport = :{home.port}"]
    return subprocess.run(command, capture_output=True, text=True).stdout.split()[2]


def test_the_process_looks_like_a_listener(home: OracleHome) -> None:
    with home.running():
        folder = Path("/proc", str(pid_of(home)))
        words = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        assert words == [bytes(home.folder / "bin/tnslsnr"), b"LISTENER", b"-inherit"]
        assert (folder / "comm").read_text() == "tnslsnr\n"
        assert f"ORACLE_HOME={home.folder}".encode() in (folder / "environ").read_bytes()


def test_status_as_documented(home: OracleHome) -> None:
    code, output = home.lsnrctl("status")
    assert code == 1
    home.write()
    code, output = home.lsnrctl("status")
    assert code == 1
    assert output.endswith(
        "TNS-12541: TNS:no listener\n TNS-12560: TNS:protocol adapter error\n"
        "  TNS-00511: No listener\n   Linux Error: 111: Connection refused\n"
    )
    with home.running():
        code, output = home.lsnrctl("status")
    assert code == 0
    assert re.search(r"^LSNRCTL for Linux: Version 19\.0\.0\.0\.0 - Production on ", output, re.M)
    assert re.search(r"^Alias {21}LISTENER$", output, re.M)
    assert f"Listener Parameter File   {home.listener_ora}\n" in output
    assert f"Listener Log File         {home.log}\n" in output
    assert f"  (DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT={home.port})))" in output
    assert 'Service "LAB1" has 1 instance(s).' in output
    assert output.endswith("The command completed successfully\n")


def test_start_twice_and_stop_twice(home: OracleHome) -> None:
    home.write()
    code, output = home.lsnrctl("start")
    assert code == 0
    assert f"Starting {home.folder}/bin/tnslsnr: please wait..." in output
    code, output = home.lsnrctl("start")
    assert code == 1
    assert "TNS-01106: Listener using listener name LISTENER has already been started" in output
    assert home.lsnrctl("stop")[0] == 0
    assert home.lsnrctl("stop")[0] == 1


def test_without_oracle_home_nothing_works(home: OracleHome) -> None:
    code, output = home.lsnrctl("status", ORACLE_HOME="")
    assert (code, output[:12]) == (1, "Message 1070")


def test_the_prompt(home: OracleHome) -> None:
    with home.running():
        output = home.lsnrctl(said="status\nset current_listener other\nnonsense\nexit\n")[1]
    assert output.count("LSNRCTL> ") == 4
    assert "Current Listener is OTHER" in output
    assert 'NL-00853: undefined command "nonsense"' in output


@cases(
    "broken",
    "LISTENER = (ADDRESS = (PROTOCOL = TCP)(HOST = 127.0.0.1)(PORT = 1)\n",
    "LISTENER\n",
    "LISTENER =\n(ADDRESS = (PROTOCOL = TCP))\n",
    "OTHER = (ADDRESS = (PROTOCOL = TCP)(HOST = 127.0.0.1)(PORT = 1))\nLISTENER = ()\n",
)
def test_it_does_not_start_with_a_broken_file(home: OracleHome, broken: str) -> None:
    home.listener_ora.write_text(broken)
    code, output = home.lsnrctl("start")
    assert code == 1
    assert "NL-00303" in output
    assert "Listener failed to start. See the error message(s) above..." in output


def test_it_does_not_start_where_another_listens(home: OracleHome) -> None:
    with socket.create_server(("127.0.0.1", home.port)):
        home.write()
        code, output = home.lsnrctl("start")
    assert code == 1
    assert "TNS-12542: TNS:address already in use" in output


def test_queuesize_is_the_backlog(home: OracleHome) -> None:
    with home.running():
        assert backlog_of(home) == "128"
    with home.running("(QUEUESIZE = 32)"):
        assert backlog_of(home) == "32"


def test_a_reload_knows_new_services_and_no_new_rate(home: OracleHome) -> None:
    with home.running():
        home.write("(RATE_LIMIT = 5)", "SID_LIST_LISTENER = (SID_DESC = (SID_NAME = NEW1))\n")
        code, output = home.lsnrctl("reload")
        assert code == 0
        assert '"NEW1"' in home.lsnrctl("services")[1]
        assert burst(home, 20).verdict == "not_delayed"
        assert home.lsnrctl("stop")[0] == 0
        assert home.lsnrctl("start")[0] == 0
        assert burst(home, 12).verdict == "delayed"


@cases(
    "more end verdict",
    ("", "CONNECTION_RATE_LISTENER = 5\n", "not_delayed"),
    ("(RATE_LIMIT = yes)", "", "not_delayed"),
    ("(RATE_LIMIT = no)", "CONNECTION_RATE_LISTENER = 5\n", "not_delayed"),
    ("(RATE_LIMIT = yes)", "CONNECTION_RATE_LISTENER = 5\n", "delayed"),
    ("(rate_limit = 5)", "", "delayed"),
    ("(RATE_LIMIT = 500)", "CONNECTION_RATE_LISTENER = 5\n", "delayed"),
    ("(RATE_LIMIT = 5)", "CONNECTION_RATE_LISTENER = 500\n", "not_delayed"),
)
def test_what_limits_and_what_does_not(home: OracleHome, more: str, end: str, verdict: str) -> None:
    with home.running(more, end):
        assert burst(home, 12).verdict == verdict


def test_tns_admin_and_a_read_only_home_move_the_file(home: OracleHome, tmp_path: Path) -> None:
    home.write()
    elsewhere = tmp_path / "admin"
    elsewhere.mkdir()
    home.listener_ora.rename(elsewhere / "listener.ora")
    assert home.lsnrctl("start", TNS_ADMIN=str(elsewhere))[0] == 0
    assert f"{elsewhere}/listener.ora" in home.lsnrctl("status", TNS_ADMIN=str(elsewhere))[1]
    assert home.lsnrctl("stop", TNS_ADMIN=str(elsewhere))[0] == 0
    moved = tmp_path / "base/homes/OraDB19Home1/network/admin"
    moved.mkdir(parents=True)
    (elsewhere / "listener.ora").rename(moved / "listener.ora")
    (home.folder / "install").mkdir()
    table = home.folder / "install/orabasetab"
    table.write_text(f"#orabasetab file\n{home.folder}:{tmp_path}/base:OraDB19Home1:Y:\n")
    assert f"System parameter file is {moved}/listener.ora\n" in home.lsnrctl("start")[1]


def test_a_client_that_says_nothing_is_dropped(home: OracleHome) -> None:
    with (
        home.running(end="INBOUND_CONNECT_TIMEOUT_LISTENER = 1\n"),
        socket.create_connection(("127.0.0.1", home.port), 60) as stream,
    ):
        began = time.monotonic()
        assert stream.recv(10) == b""
        assert time.monotonic() - began > 0.9
    assert "* establish * <unknown sid> * 12525" in home.log.read_text()


def cluster(folder: Path, name: str, *words: str) -> tuple[int, str]:
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / name
    if not program.exists():
        program.symlink_to(STANDINS / name)
    done = subprocess.run([str(program), *words], capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_crsctl(tmp_path: Path) -> None:
    code, output = cluster(tmp_path, "crsctl", "check", "crs")
    assert (code, output.count("is online")) == (0, 4)
    code, output = cluster(tmp_path, "crsctl", "query", "crs", "activeversion")
    assert output == "Oracle Clusterware active version on the cluster is [19.0.0.0.0]\n"
    code, output = cluster(tmp_path, "crsctl", "stat", "res", "ora.LISTENER.lsnr")
    assert "STATE=ONLINE on " in output
    assert cluster(tmp_path, "crsctl", "stat", "res", "ora.X.lsnr")[0] == 1
    (tmp_path / ".standin").mkdir()
    (tmp_path / ".standin/cluster.json").write_text('{"online": false}')
    code, output = cluster(tmp_path, "crsctl", "check", "crs")
    assert (code, output[:8]) == (1, "CRS-4639")


def test_srvctl(tmp_path: Path) -> None:
    code, output = cluster(tmp_path, "srvctl", "status", "listener", "-l", "LISTENER")
    assert code == 0
    assert "Listener LISTENER is running on node(s): " in output
    assert "End points: TCP:1521" in cluster(tmp_path, "srvctl", "config", "listener")[1]
    assert cluster(tmp_path, "srvctl", "stop", "listener")[0] == 0
    code, output = cluster(tmp_path, "srvctl", "stop", "listener")
    assert (code, output[:9]) == (2, "PRCC-1016")
    code, output = cluster(tmp_path, "srvctl", "status", "listener")
    assert "Listener LISTENER is not running" in output
    code, output = cluster(tmp_path, "srvctl", "status", "listener", "-listener", "nosuch")
    assert (code, output[:9]) == (1, "PRCN-2066")
    code, output = cluster(tmp_path, "srvctl", "modify", "listener", "-rate", "10")
    assert (code, output[:9]) == (1, "PRKO-2000")
