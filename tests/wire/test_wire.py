"""Who knows Oracle's listeners must take the stand-in for one, and our pings for pings.

The parties share nothing with Hostproof. What they said once is kept in tests/fixtures/tns, and
dissected.json of it is what the parser of packets is tested with.
"""

import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import oracledb
import pytest
from ansible.module_utils.hostproof.probes.oracle import tns_ping
from conftest import Capture, Kept, Packet, listening
from listener_home import OracleHome, wait_for_new_second

#: So that nothing of this machine is in the evidence.
CLIENT = {"program": "app", "machine": "client.example.com", "osuser": "app", "terminal": "app"}

ASKS = {
    "unknown_service": "(CONNECT_DATA=(SERVICE_NAME=nosuch))",
    "unknown_sid": "(CONNECT_DATA=(SID=NOSUCH))",
    "resend": "(CONNECT_DATA=(SERVICE_NAME=lab.example.com))",
    "redirect": "(CONNECT_DATA=(SERVER=shared)(SERVICE_NAME=lab.example.com))",
}

#: Code that python-oracledb gives to what it hears. 4011: the connection was closed, after ACCEPT.
CODES = {
    "unknown_service": ["DPY-6001"],
    "unknown_sid": ["DPY-6003"],
    "resend": ["DPY-4011"],
    "redirect": ["DPY-4011"],
}

KINDS = {
    "ping": ["client 1", "listener 4"],
    "unknown_service": ["client 1", "listener 4"],
    "unknown_sid": ["client 1", "listener 4"],
    "resend": ["client 1", "listener 11", "client 1", "listener 2"],
    "redirect": ["client 1", "listener 5,6", "client 1", "listener 2"],
}


def dsn(home: OracleHome, connect_data: str) -> str:
    address = f"(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT={home.port}))"
    return f"(DESCRIPTION={address}{connect_data})"


def connect(home: OracleHome, connect_data: str) -> str:
    """What python-oracledb says about an attempt to connect."""
    values: dict[str, Any] = {"user": "app", "password": "none", **CLIENT}
    with pytest.raises(oracledb.Error) as problem:
        oracledb.connect(dsn=dsn(home, connect_data), disable_oob=True, **values)
    return str(problem.value)


def named(text: str) -> str:
    """What does not change from one attempt to the next."""
    lines = [line for line in text.splitlines() if not line.startswith(("DPY-6005", "Help:"))]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def captures(home: OracleHome, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Capture]:
    """Each conversation with what tshark heard of it."""
    folder = tmp_path_factory.mktemp("captures")
    conversations = {}
    with listening(folder / "ping.pcapng", home.port) as conversations["ping"]:
        assert tns_ping.ping("127.0.0.1", home.port, 10, 0.0).outcome == "answered"
    for name, connect_data in ASKS.items():
        with listening(folder / f"{name}.pcapng", home.port) as conversations[name]:
            connect(home, connect_data)
    return conversations


@pytest.mark.parametrize("name", KINDS)
def test_tshark_sees_the_packets_of_a_listener(captures: dict[str, Capture], name: str) -> None:
    seen = [f"{packet.sender} {packet.fields['tns.type']}" for packet in captures[name].packets()]
    assert seen[: len(KINDS[name])] == KINDS[name]


def test_tshark_takes_our_ping_for_one(captures: dict[str, Capture]) -> None:
    ours, answer = captures["ping"].packets()
    assert ours.fields["tns.connect_data"] == "(CONNECT_DATA=(COMMAND=ping))"
    assert ours.fields["tns.connect_data_offset"] == "58"
    assert ours.fields["tns.length"] == str(len(ours.payload)) == "87"
    assert "(ERR=0)" in answer.fields["tns.refuse_data"]


@pytest.mark.parametrize("name", sorted(set(KINDS) - {"redirect"}))
def test_every_packet_dissects_cleanly(captures: dict[str, Capture], name: str) -> None:
    assert captures[name].unclean() == ""


def test_in_a_redirection_only_the_address_is_unclear(captures: dict[str, Capture]) -> None:
    """python-oracledb waits for it in a packet of its own, tshark looks for it in the REDIRECT."""
    lines = captures["redirect"].unclean().splitlines()
    assert len(lines) == 1
    assert "Data (6)" in lines[0]


def test_the_dissection_is_the_one_that_was_kept(
    captures: dict[str, Capture], kept: Kept, versions: dict[str, str]
) -> None:
    kept.check("ping.tshark.txt", versions["tshark"], captures["ping"].dissection())
    packets = {name: capture.packets()[: len(KINDS[name])] for name, capture in captures.items()}
    kept.keep_packets(packets)


def told_by_nmap(home: OracleHome, *options: str) -> str:
    command = ["nmap", "-n", "-sT", "-p", str(home.port), *options, "127.0.0.1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    kept = [line for line in lines if line.startswith((f"{home.port}/tcp", "|"))]
    return "\n".join(kept).replace(str(home.port), "PORT") + "\n"


def test_nmap_finds_a_listener_and_its_release(
    home: OracleHome, kept: Kept, versions: dict[str, str]
) -> None:
    output = told_by_nmap(home, "-sV", "--script", "oracle-tns-version")
    assert "oracle-tns" in output
    assert "19.0.0.0.0" in output
    kept.check("nmap-version.txt", versions["nmap"], output)


def test_nmap_tells_a_sid_that_is_served_from_others(
    home: OracleHome, kept: Kept, versions: dict[str, str], tmp_path: Path
) -> None:
    names = tmp_path / "sids"
    names.write_text("ORCL\nLAB1\nXE\n")
    options = ["--script", "+oracle-sid-brute", "--script-args", f"oraclesids={names}"]
    output = told_by_nmap(home, *options)
    assert "LAB1" in output
    assert "ORCL" not in output
    kept.check("nmap-sid-brute.txt", versions["nmap"], output)


def test_python_oracledb_understands_every_answer(
    home: OracleHome, kept: Kept, versions: dict[str, str]
) -> None:
    answers = {name: named(connect(home, connect_data)) for name, connect_data in ASKS.items()}
    for name, codes in CODES.items():
        assert [code for code in codes if code in answers[name]] == codes, answers[name]
    text = "".join(f"{name}: {answer}\n" for name, answer in answers.items())
    kept.check("oracledb.txt", versions["oracledb"], text.replace(str(home.port), "PORT"))


def test_python_oracledb_is_delayed_by_the_limit_and_not_refused(tmp_path: Path) -> None:
    home = OracleHome(tmp_path / "home")
    with home.running("(RATE_LIMIT=10)"):
        wait_for_new_second()
        began = time.monotonic()
        ended: list[float] = []
        answers: list[str] = []

        def attempt() -> None:
            answers.append(connect(home, ASKS["unknown_service"]))
            ended.append(time.monotonic() - began)

        threads = [threading.Thread(target=attempt) for _ in range(25)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all("DPY-6001" in answer for answer in answers)
    rate = tns_ping.drain_rate(sorted(ended))
    assert rate == pytest.approx(10, rel=0.25)
    assert "* establish * 1158" in home.log.read_text()


def test_the_pings_of_a_burst_are_all_dissected(tmp_path: Path) -> None:
    home = OracleHome(tmp_path / "home")
    with home.running("(RATE_LIMIT=10)"):
        wait_for_new_second()
        with listening(tmp_path / "burst.pcapng", home.port) as capture:
            deadline = time.monotonic() + 60
            burst = tns_ping.at_once("127.0.0.1", home.port, 25, 20, deadline)
        assert tns_ping.summarize(burst, 10).verdict == "delayed"
        packets = capture.packets()
        assert capture.unclean() == ""
    kinds = [packet.fields["tns.type"] for packet in packets]
    assert (kinds.count("1"), kinds.count("4"), len(kinds)) == (25, 25, 50)
    answers = [packet for packet in packets if packet.sender == "listener"]
    assert all("(ERR=0)" in text(packet) for packet in answers)


def text(packet: Packet) -> str:
    return packet.payload.decode("latin-1")
