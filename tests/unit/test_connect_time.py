"""tests/bench/connect_time.py: the stages of a connection through a listener, and their cost."""

import json
import socket
import struct
import threading

import pytest
from ansible.module_utils.hostproof.parsers.oracle import tns_packet
from listener_home import OracleHome
from test_benchmarks import loaded

ACCEPT = struct.pack(">HHHHHHHHII", 312, 0, 2048, 2048, 1, 0, 32, 0, 0, 0)


@pytest.fixture
def program(monkeypatch):
    return loaded("connect_time", monkeypatch)


def packet(kind: int, body: bytes) -> bytes:
    return struct.pack(">HHBBH", 8 + len(body), 0, kind, 0, 0) + body


class Server:
    """STAND-IN for a listener and its server process: RESEND, ACCEPT, protocol negotiation."""

    def __init__(self, negotiates: bool = True) -> None:
        self.requests: list[bytes] = []
        self._negotiates = negotiates
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.target = f"127.0.0.1:{self._socket.getsockname()[1]}/SALES"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                stream, _peer = self._socket.accept()
            except OSError:
                return
            with stream:
                for answer in (packet(11, b""), packet(2, ACCEPT)):
                    self.requests.append(stream.recv(4096))
                    stream.sendall(answer)
                self.requests.append(stream.recv(4096))
                if self._negotiates:
                    stream.sendall(packet(6, b"\0\0\x01\x06\0Linux\0"))

    def __enter__(self):
        return self

    def __exit__(self, *problem) -> None:
        self._socket.close()


def test_each_connection_reaches_the_server_process(program, tmp_path, capsys):
    saved = tmp_path / "run.json"
    with Server() as server:
        assert program.main([server.target, "--connections", "3", "--save", str(saved)]) == 0
    times = json.loads(saved.read_text())["ms"]
    assert {stage: len(values) for stage, values in times.items()} == dict.fromkeys(
        ("tcp", "accept", "server"), 3
    )
    for tcp, accept, process in zip(*times.values(), strict=True):
        assert tcp <= accept <= process
    first = tns_packet.split(server.requests[0])[0][0]
    assert (first.kind, b"SERVICE_NAME=SALES" in first.body) == (tns_packet.CONNECT, True)
    assert server.requests[2][8:] == program.NEGOTIATION
    assert "server       3" in capsys.readouterr().out


def test_a_server_that_does_not_negotiate_is_measured_up_to_accept(program):
    with Server(negotiates=False) as server:
        assert set(program.connection(*address(server.target), "SALES")) == {"tcp", "accept"}


def test_the_listener_refuses_an_unknown_service(program, tmp_path, capsys):
    home = OracleHome(tmp_path / "home")
    home.write()
    with home.running():
        target = f"127.0.0.1:{home.port}/NONE"
        assert program.main([target, "--connections", "1"]) == 1
    assert "12514" in capsys.readouterr().err


def test_a_refused_logon_is_the_expected_end(program, monkeypatch):
    """python-oracledb is replaced here: no database is at hand."""

    class Oracledb:
        class Error(Exception):
            pass

        @classmethod
        def connect(cls, user, password, dsn):
            raise cls.Error(
                "ORA-01017: invalid credential" if user == program.NOBODY else "ORA-28000: locked"
            )

    monkeypatch.setitem(__import__("sys").modules, "oracledb", Oracledb)
    monkeypatch.setenv("HOSTPROOF_PASSWORD", "-")
    program.logon_of("db01:1521/SALES", None, True)()
    with pytest.raises(program.Failed, match="ORA-28000"):
        program.logon_of("db01:1521/SALES", "SCOTT", False)()
    assert program.logon_of("db01:1521/SALES", None, False) is None


def test_what_pre_page_sga_costs_in_article_003(program, tmp_path, capsys):
    """14.340 s without and 2.547 s with huge pages, through the listener."""
    files = []
    for label, milliseconds in (("small pages", 14340.0), ("huge pages", 2547.0)):
        files.append(tmp_path / f"{label}.json")
        run = {"label": label, "target": "-", "ms": {"tcp": [1.0], "logon": [milliseconds]}}
        files[-1].write_text(json.dumps(run))
    assert program.main(["--compare", *map(str, files)]) == 0
    shown = capsys.readouterr().out
    assert "huge pages saves 11793.00 ms of 14340.00 ms of small pages (82.2%)" in shown


def address(target: str) -> tuple[str, int]:
    host, port = target.partition("/")[0].split(":")
    return host, int(port)
