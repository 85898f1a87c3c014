"""The stand-in of the listener, and tshark listening to what is said to it."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/unit"))

from listener_home import OracleHome  # noqa: E402

EVIDENCE = ROOT / "tests/fixtures/tns"

#: nmap asks these ports for a listener before it asks them for anything else.
PORTS = (1521, 1522, 1525, 1526, 14238, 20000)

#: The fields of a TNS packet that tshark tells, under its own names.
FIELDS = (
    *("tns.type", "tns.length", "tns.version", "tns.compat_version", "tns.sdu_size"),
    *("tns.connect_data_length", "tns.connect_data_offset", "tns.connect_data"),
    *("tns.refuse_reason_user", "tns.refuse_reason_system", "tns.refuse_data_length"),
    *("tns.refuse_data", "tns.redirect_data_length", "tns.redirect_data"),
)

#: A packet that tshark could not make sense of, or warns about.
UNCLEAN = "tns && (_ws.malformed || _ws.expert.severity >= 0x600000)"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="keep what the parties say as evidence")


class Packet(NamedTuple):
    """A TNS packet as tshark saw it. ``fields`` are texts."""

    sender: str
    payload: bytes
    fields: dict[str, str]


class Capture:
    """What was said on the loopback interface from or to a port, in ``file``."""

    def __init__(self, file: Path, port: int) -> None:
        self.file = file
        self.port = port

    def tshark(self, *options: str) -> str:
        command = ["tshark", "-r", str(self.file), "-d", f"tcp.port=={self.port},tns", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def packets(self) -> list[Packet]:
        names = ("tcp.srcport", "tcp.payload", *FIELDS)
        options = [option for name in names for option in ("-e", name)]
        lines = self.tshark("-Y", "tns", "-T", "fields", "-E", "separator=/t", *options)
        packets = []
        for line in lines.splitlines():
            source, payload, *values = line.split("\t")
            sender = "listener" if int(source) == self.port else "client"
            fields = {name: value for name, value in zip(FIELDS, values, strict=True) if value}
            packets.append(Packet(sender, bytes.fromhex(payload.replace(":", "")), fields))
        return packets

    def unclean(self) -> str:
        """Packets that tshark could not make sense of, or warns about."""
        return self.tshark("-Y", UNCLEAN)

    def dissection(self) -> str:
        """Every TNS packet in words, without what another run would have otherwise."""
        text = self.tshark("-Y", "tns", "-O", "tns")
        parts = re.findall(
            r"^Transparent Network Substrate Protocol.*?(?=^\S|\Z)", text, re.M | re.S
        )
        return "\n".join(part.strip("\n") + "\n" for part in parts)


@contextlib.contextmanager
def listening(file: Path, port: int) -> Iterator[Capture]:
    """Everything that is said meanwhile is in the capture."""
    command = ["tshark", "-i", "lo", "-f", f"tcp port {port}", "-w", str(file)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "Capture started" in line:
            break
    time.sleep(0.5)
    try:
        yield Capture(file, port)
        time.sleep(1)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=600)


class Kept:
    """The evidence of an earlier run. ``check`` compares where the party is of the same version."""

    def __init__(self, record: bool) -> None:
        self.record = record

    def check(self, name: str, version: str, text: str) -> None:
        path = EVIDENCE / name
        whole = f"{version}\n\n{text}"
        if self.record:
            path.write_text(whole)
        known, _, expected = path.read_text().partition("\n\n")
        assert expected, f"{path} is empty"
        if known == version:
            assert text == expected

    def keep_packets(self, conversations: dict[str, list[Packet]]) -> None:
        if self.record:
            content = {
                name: [
                    {
                        "from": packet.sender,
                        "payload": packet.payload.hex(),
                        "tshark": packet.fields,
                    }
                    for packet in packets
                ]
                for name, packets in conversations.items()
            }
            (EVIDENCE / "dissected.json").write_text(json.dumps(content, indent=1) + "\n")


@pytest.fixture(scope="session")
def kept(request: pytest.FixtureRequest) -> Kept:
    return Kept(request.config.getoption("--record"))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OracleHome]:
    """A listener without a limit, on a port that nmap takes for a listener's."""
    home = OracleHome(tmp_path_factory.mktemp("wire") / "home", *PORTS)
    with home.running():
        yield home


def version_of(name: str) -> str:
    command = [name, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    match = re.search(r"\d+\.[\d.]+", done.stdout)
    assert match, done.stdout
    return f"{name} {match.group()}"


@pytest.fixture(scope="session")
def versions() -> dict[str, Any]:
    """What the parties call themselves."""
    import oracledb

    return {
        "tshark": version_of("tshark"),
        "nmap": version_of("nmap"),
        "oracledb": f"python-oracledb {oracledb.__version__}",
    }
