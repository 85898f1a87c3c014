"""A container with a way of known length (tests/standins/slow_way.py), and the gate run on it."""

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

import wrapper  # noqa: E402
from machines import container  # noqa: E402
from machines.box import Box  # noqa: E402
from machines.machine import TOOLS, Finding  # noqa: E402

#: What apply writes. The prepared container has a file of this name without limits.
DROP_IN = "/etc/security/limits.d/zz-hostproof-process_limits.conf"
SECOND = "second"

#: How late replies are, and how much later after the change; milliseconds. A ratio is judged with
#: a margin of 5 %. A busy machine adds some milliseconds to each, so the way is long.
USUAL, HIDDEN = 200, 120
#: Of a window. The requests of one begin twice as far apart as the way is long, and a little more.
SAMPLES, SECONDS = 4, 2.0
#: The responder's port, and that of the way to it.
RESPONDER, WAY = 7501, 7500


class Gated(NamedTuple):
    """What ``./hostproof apply --gate`` did. ``folder`` holds its ledger and its windows."""

    rc: int
    output: str
    folder: Path
    findings: list[Finding]

    @property
    def batches(self) -> list[dict[str, Any]]:
        batches: list[dict[str, Any]] = json.loads((self.folder / "gate.json").read_text())[
            "batches"
        ]
        return batches

    def states(self) -> list[str]:
        return [batch["state"] for batch in self.batches]

    def gate(self, host: str) -> Finding:
        """What the gate says of the host in the end: before it puts back, it says that it holds."""
        findings = [
            finding
            for finding in self.findings
            if (finding["host"], finding["check"]) == (host, "latency.gate")
        ]
        return findings[-1]

    def p50(self, side: str) -> float:
        """The median over the windows of the container's kernel p50 in batch 1; microseconds."""
        text = (self.folder / "batch-1" / side / "box.json").read_text()
        figures = [
            window["p50"] for window in json.loads(text)["windows"] if window["layer"] == "kernel"
        ]
        return statistics.median(figures)


class GateBox(Box):
    """The container of the gate. The control is process_limits, which writes one file."""

    def __init__(self, folder: Path) -> None:
        super().__init__("latency_gate")
        self.control = "process_limits"
        self.folder = folder
        self.environment = wrapper.environment(folder)
        self.send(ROOT / "tests/standins/slow_way.py", ROOT / "module_utils/hostproof")

    def make_way(self) -> None:
        settings = ["127.0.0.1", RESPONDER, ["127.0.0.1/32"], 3600, 8, 1 << 30]
        start = (
            "from hostproof.controls.latency.measurement import responder; "
            f"responder.start(responder.Settings(*{settings!r}))"
        )
        self.run(f"cd {TOOLS} && python3 - <<'EOF'\n{start}\nEOF")
        self._start_way(HIDDEN)

    def make_way_constant(self) -> None:
        """From now on the change makes nothing slower."""
        self.run("pkill -f [s]low_way.py")
        self._start_way(0)

    def _start_way(self, more: int) -> None:
        words = f"{WAY} {RESPONDER} {USUAL} {more} {DROP_IN} nofile"
        self.run(f"setsid -f {TOOLS}/slow_way.py {words} >/tmp/slow_way.log 2>&1; sleep 1")

    def is_delayed(self) -> bool:
        return "nofile" in self.run(f"cat {DROP_IN}")

    # -- the gate ---------------------------------------------------------------------------------

    def gate(self, name: str, second: dict[str, Any], **variables: object) -> Gated:
        """``./hostproof apply --gate`` with box first, and then the same container once more.

        ``second`` are variables of its second name.
        """
        options = {
            "latency_probes": [
                {
                    "probe": "tcp",
                    "host": "127.0.0.1",
                    "port": WAY,
                    "mode": "request_response",
                    "samples": SAMPLES,
                }
            ],
            "latency_gate_serial": 1,
            "latency_gate_windows": 5,
            "latency_gate_seconds": SECONDS,
            "latency_gate_pause_seconds": 0,
            "latency_gate_settle_seconds": 1,
            # Five windows bound an interval loosely.
            "latency_gate_tolerance": 10,
            **variables,
        }
        names = self.write_second(second)
        ran = self.hostproof(
            *("apply", "--gate", *self._inventories(), "-i", str(names)),
            *("--tags", self.control, "-e", json.dumps(options)),
            name=name,
        )
        match = re.search(r"^Gate: (.+)$", ran.stdout, re.MULTILINE)
        assert match, "it made no ledger"
        reports = sorted((self.folder / name / "reports").glob("*/findings.jsonl"))
        lines = reports[-1].read_text().splitlines() if reports else []
        findings = [
            {"host": line["host"], **finding}
            for line in map(json.loads, lines)
            for finding in line["findings"]
        ]
        return Gated(ran.returncode, ran.stdout, Path(match[1]), findings)

    def revert_gate(self, gated: Gated) -> subprocess.CompletedProcess[str]:
        """``./hostproof revert --gate`` of what it held."""
        inventories = (*self._inventories(), "-i", str(self.folder / "second.yml"))
        return self.hostproof("revert", "--gate", str(gated.folder), *inventories, name="revert")

    def _inventories(self) -> list[str]:
        return [word for path in self.inventories for word in ("-i", str(path))]

    def write_second(self, variables: dict[str, Any]) -> Path:
        """An inventory with a second name of the container, in the same group."""
        host = {**container.variables(self.scenario, container.state(self.scenario)), **variables}
        path = self.folder / "second.yml"
        path.write_text(yaml.safe_dump({"container": {"hosts": {SECOND: host}}}))
        return path

    def hostproof(self, *arguments: str, name: str) -> subprocess.CompletedProcess[str]:
        """The command itself, with the programs that the tests run with."""
        folder = self.folder / name
        ran = subprocess.run(
            [wrapper.HOSTPROOF, *arguments],
            env={
                **self.environment,
                "ANSIBLE_NOCOLOR": "1",
                "HOSTPROOF_REPORTS": str(folder / "reports"),
                "HOSTPROOF_BASELINES": str(folder / "baselines"),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        print(ran.stdout)
        return ran


@pytest.fixture(scope="session")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GateBox]:
    machine = GateBox(tmp_path_factory.mktemp("latency"))
    machine.make_way()
    yield machine
