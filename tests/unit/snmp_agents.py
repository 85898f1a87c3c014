"""SNMP agents for unit tests: net-snmp's tools as far as the probes use them, over a record.

An Agent answers a request from ``OID|type|value`` lines, with the output and the errors of
net-snmp 5.9. ``Filers`` is a Machine on which these tools are installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect.host import Secret
from default_policies import default_policy
from packs import FIXTURES, RECORDED_AT, Machine

RECORDS = FIXTURES / "storage_type/records"
NO_SUCH = "No Such Object available on this agent at this OID"
PAST_END = "No more variables left in this MIB View (It is past the end of the MIB tree)"
NO_SUCH_NAME = "Error in packet\nReason: (noSuchName) There is no such variable name in this MIB.\n"
NUMBERS = {"2": "INTEGER", "65": "Counter32", "66": "Gauge32", "70": "Counter64"}

Key = tuple[int, ...]


def storage_policy(**changes: Any) -> dict[str, Any]:
    """The policy of the role's defaults, as the modules take it, with some values changed."""
    values = default_policy("storage_type", secrets=True)
    assert set(changes) <= set(values)
    return values | changes


def key_of(oid: str) -> Key:
    return tuple(int(arc) for arc in oid.strip(".").split("."))


class Agent:
    """``silent``: "" or the error text that the tool prints instead of an answer."""

    def __init__(self, rows: dict[str, tuple[str, str]], silent: str = "") -> None:
        self.rows = {key_of(oid): row for oid, row in rows.items()}
        self.silent = silent
        self.engine: bytes | None = None
        self.closed = False

    @classmethod
    def recorded(cls, path: Path) -> Agent:
        rows: dict[str, tuple[str, str]] = {}
        for line in path.read_text(errors="surrogateescape").splitlines():
            if line.count("|") >= 2:
                oid, tag, value = line.split("|", 2)
                # snmpsim serves the last of two lines with one OID.
                rows[oid] = (tag, value)
        return cls(rows)

    @classmethod
    def of(cls, name: str) -> Agent:
        return cls.recorded(RECORDS / f"{name}.snmprec")

    def reply(self, argv: list[str]) -> tuple[int, str, str]:
        """Exit code, output and errors of the tool."""
        if self.silent:
            return 1, "", self.silent
        tool, version = argv[0], argv[argv.index("-v") + 1]
        oids = argv[argv.index("-r") + 3 :]
        if tool in ("snmpbulkwalk", "snmpwalk"):
            return 0, self._walk(oids[0]), ""
        if tool == "snmpbulkget":
            return 0, self._bulk(oids[0]), ""
        answers = [self._get(oid) if tool == "snmpget" else self._next(oid) for oid in oids]
        if version != "1":
            return 0, "".join(f".{oid} = {text}\n" for oid, text in answers), ""
        there = [row for row in answers if row[1] not in (NO_SUCH, PAST_END)]
        output = "".join(f".{oid} = {text}\n" for oid, text in there)
        return (0, output, "") if len(there) == len(answers) else (2, output, NO_SUCH_NAME)

    def _get(self, oid: str) -> tuple[str, str]:
        row = self.rows.get(key_of(oid))
        return oid, NO_SUCH if row is None else shown(*row)

    def _next(self, oid: str) -> tuple[str, str]:
        start = key_of(oid)
        first = min((key for key in self.rows if key > start), default=None)
        if first is None:
            return oid, PAST_END
        return ".".join(map(str, first)), shown(*self.rows[first])

    def _walk(self, oid: str) -> str:
        root = key_of(oid)
        below = sorted(key for key in self.rows if key[: len(root)] == root)
        if not below:
            return f".{oid} = {NO_SUCH}\n"
        return "".join(f".{'.'.join(map(str, k))} = {shown(*self.rows[k])}\n" for k in below)

    def _bulk(self, oid: str, rows: int = 40) -> str:
        lines = []
        for _ in range(rows):
            oid, text = self._next(oid)
            lines.append(f".{oid} = {text}\n")
            if text == PAST_END:
                break
        return "".join(lines)


def shown(tag: str, value: str) -> str:
    """A value as the tools print it with -Onxte."""
    if tag in NUMBERS:
        return f"{NUMBERS[tag]}: {value}"
    if tag == "67":
        return value
    if tag == "6":
        return f"OID: .{value.strip('.')}"
    if tag == "64":
        return f"IpAddress: {value}"
    data = bytes.fromhex(value) if tag.endswith("x") else value.encode("utf-8", "surrogateescape")
    if not data:
        return '""'
    rows = [data[at : at + 16] for at in range(0, len(data), 16)]
    return "Hex-STRING: " + "\n".join("".join(f"{byte:02X} " for byte in row) for row in rows)


class Asked(NamedTuple):
    argv: list[str]
    secret: Secret


class Filers(Machine):
    """A host that reaches agents, by "address:port". Who is not there does not answer."""

    def __init__(self, **agents: Agent) -> None:
        super().__init__()
        self.agents: dict[str, Agent] = {}
        self.asked: list[Asked] = []
        self.later: dict[str, Agent] = {}
        self.paused = 0.0
        self.has_tools = True

    def like(self, machine: Machine) -> Filers:
        """The same host, with these tools: it shares files and evidence with the other."""
        self.__dict__.update(vars(machine))
        return self

    def agent(self, address: str, agent: Agent, port: int = 161) -> Filers:
        self.agents[f"udp:{address}:{port}"] = agent
        return self

    def wait_for_window(self, name: str, seconds: float) -> None:
        self.paused += seconds
        self.agents.update(self.later)

    def run_with_secret(self, key: str, argv: list[str], secret: Secret, timeout: float = 20.0):
        if key not in self.evidence:
            self.asked.append(Asked(argv, secret))
            self.evidence[key] = self._tool(argv)
        return super().run_with_secret(key, argv, secret, timeout)

    def ask_udp(self, key: str, address: str, port: int, message: bytes, timeout: float) -> bytes:
        agent = self.agents.get(f"udp:{address}:{port}")
        reading: dict[str, Any] = {"kind": "udp", "at": RECORDED_AT}
        if agent is not None and agent.closed:
            reading.update(error="absent", message=f"{key}: Connection refused")
        elif agent is None or agent.engine is None:
            reading.update(error="unanswered", message=f"{key}: timed out")
        else:
            reading["reply"] = report(agent.engine).hex()
        self.evidence[key] = reading
        return super().ask_udp(key, address, port, message, timeout)

    def _answer(self, key: str, kind: str, ask: Any, record: Any = None) -> dict[str, Any]:
        if key.startswith(("snmp:", "udp:")):
            return super(Machine, self)._answer(key, kind, ask, record)
        return super()._answer(key, kind, ask, record)

    def _tool(self, argv: list[str]) -> dict[str, Any]:
        reading: dict[str, Any] = {"kind": "command", "at": RECORDED_AT}
        if not self.has_tools:
            return {**reading, "error": "absent", "message": f"{argv[0]}: No such file"}
        place = argv[argv.index("-r") + 2]
        agent = self.agents.get(place)
        if agent is None or agent.closed:
            rc, output, errors = 1, "", f"Timeout: No Response from {place}.\n"
        else:
            rc, output, errors = agent.reply(argv)
        return {**reading, "argv": argv, "rc": rc, "stdout": output, "stderr": errors}


def report(engine: bytes) -> bytes:
    """An agent's answer to discovery, as far as it is read."""

    def item(tag: int, content: bytes) -> bytes:
        assert len(content) < 128
        return bytes([tag, len(content)]) + content

    security = item(0x30, item(4, engine) + item(2, b"\1") + item(2, b"\2") + 3 * item(4, b""))
    return item(0x30, item(2, b"\3") + item(0x30, b"") + item(4, security) + item(0x30, b""))
