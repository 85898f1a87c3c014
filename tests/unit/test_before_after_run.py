"""./hostproof latency with the real probe, against a server whose delay is raised.

One delay is many times the other, so that no load of this machine turns one into the other.
"""

import contextlib
import json
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import wrapper
import yaml
from cases import cases
from latency_server import greet

pytestmark = [pytest.mark.two_cores, pytest.mark.long]

ROOT = Path(__file__).resolve().parents[2]


class SlowServer:
    """Answers each request after ``delay`` seconds."""

    def __init__(self) -> None:
        self.delay = 0.02
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(stream,), daemon=True).start()

    def _serve(self, stream: socket.socket) -> None:
        with stream, contextlib.suppress(OSError):
            request, reply = greet(stream)
            while stream.recv(request, socket.MSG_WAITALL):
                time.sleep(self.delay)
                stream.sendall(b"a" * reply)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture(scope="module")
def slow() -> Iterator[SlowServer]:
    server = SlowServer()
    yield server
    server.close()


class Tool:
    """./hostproof with the virtualenv of the tests, and folders of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self._environment = wrapper.environment(folder)
        probe = {"probe": "tcp", "host": "127.0.0.1", "port": port, "mode": "request_response"}
        here = {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "hostproof_become": False,
            "latency_probes": [{**probe, "samples": 6}],
            "latency_gate_windows": 6,
            "latency_gate_seconds": 4,
            "latency_gate_pause_seconds": 0,
        }
        (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": {"here": here}}}))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [wrapper.HOSTPROOF, *arguments, "-i", str(self.folder / "hosts.yml")],
            env={
                **self._environment,
                "HOSTPROOF_REPORTS": str(self.folder / "reports"),
                "HOSTPROOF_BASELINES": str(self.folder / "baselines"),
            },
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )

    def newest_report(self) -> Path:
        return max((self.folder / "reports").iterdir(), key=lambda path: path.stat().st_mtime_ns)

    def changes(self) -> list[dict[str, Any]]:
        document = json.loads((self.newest_report() / "report.json").read_text())
        return [finding for finding in document["findings"] if finding["check"] == "latency.change"]


@pytest.fixture(scope="module")
def tool(slow, tmp_path_factory) -> Tool:
    return Tool(tmp_path_factory.mktemp("before_after"), slow.port)


@pytest.fixture(scope="module")
def baseline(tool) -> subprocess.CompletedProcess[str]:
    return tool.run("latency", "baseline")


def test_a_baseline_is_a_file_a_host_for_its_owner_alone(tool, baseline):
    assert baseline.returncode == 0, baseline.stdout
    folder = Path(re.search(r"^Baseline: (.*)$", baseline.stdout, re.MULTILINE).group(1))
    assert [path.name for path in folder.iterdir()] == ["here.json"]
    assert (folder / "here.json").stat().st_mode & 0o777 == 0o600
    assert (folder.parent / "latest").resolve() == folder.resolve()


@pytest.mark.usefixtures("baseline")
def test_what_got_slower_fails_and_both_distributions_are_evidence(tool, slow, validate_line):
    slow.delay = 0.3
    done = tool.run("latency", "compare")
    assert done.returncode == 2, done.stdout
    slower = {change["title"].split(": ")[0]: change["status"] for change in tool.changes()}
    port = slow.port
    assert slower[f"tcp 127.0.0.1:{port} user 12 B"] == "fail"
    (line,) = [
        json.loads(text)
        for text in (tool.newest_report() / "findings.jsonl").read_text().splitlines()
        if '"host": "here"' in text
    ]
    validate_line(line)
    keys = {key for finding in line["findings"] for key in finding["evidence"]}
    assert {
        f"windows:{side}:tcp 127.0.0.1:{port} user 12 B" for side in ("before", "after")
    } <= keys


@pytest.mark.one_core
@pytest.mark.usefixtures("baseline")
def test_a_named_baseline_without_the_host_is_no_pass(tool, tmp_path):
    done = tool.run("latency", "compare", "--baseline", str(tmp_path))
    assert done.returncode == 3, done.stdout
    assert "there is no baseline" in json.dumps(tool.changes())


@pytest.mark.usefixtures("baseline")
def test_controls_that_match_no_host_are_refused_before_anything_is_measured(tool, slow):
    """They would be judged as if they had been changed."""
    reports = sorted((tool.folder / "reports").glob("*"))
    connections = slow.connections
    done = tool.run("latency", "compare", "-e", "latency_gate_unchanged_hosts=here,contorls")
    assert done.returncode == 1, done.stdout
    assert (
        "latency_gate_unchanged_hosts matches no host of the inventory: 'contorls'; hosts that "
        "must not change would count as changed: correct it, or leave it out"
    ) in done.stdout
    assert slow.connections == connections
    assert sorted((tool.folder / "reports").glob("*")) == reports


@pytest.mark.one_core
@pytest.mark.usefixtures("baseline")
def test_a_server_that_is_gone_is_no_pass(tool, slow):
    slow.close()
    done = tool.run("latency", "compare")
    # A connection that it took in its last moment makes this a failure: five of six are lost.
    assert done.returncode in (2, 3), done.stdout
    assert "error" in {change["status"] for change in tool.changes()} <= {"error", "fail"}


@pytest.mark.one_core
@cases(
    "arguments message",
    (["audit", "--gate"], "audit has no option '--gate'; it is an option of apply and revert"),
    (["revert", "--gate", "-i", "x"], "option '--gate' requires an argument, and -i is an opt"),
    (["revert", "--gate", "/"], "/ is not a directory of a gate"),
    (
        ["audit", "--baseline", "/"],
        "audit has no option '--baseline'; it is an option of latency compare",
    ),
    (
        ["latency", "compare", "--baseline", "/nonexistent"],
        "invalid value for '--baseline': Directory '/nonexistent' does not exist",
    ),
)
def test_wrong_use_ends_with_1_before_anything_runs(refused, arguments, message):
    assert message in refused(*arguments)


@pytest.mark.one_core
class TestAGateThatWasCutShort:
    """ansible-playbook ends as it does when the last host is gone, or is interrupted."""

    @pytest.fixture
    def ended(self, tmp_path) -> Any:
        tool = Tool(tmp_path, 1)
        batch = {"unchanged": [], "reasons": [], "journal": {}, "changed": {}}
        ledger = {
            "schema": 1,
            "started": "2026-11-21T18:00:00Z",
            "batches": [
                {**batch, "number": 1, "hosts": ["db01"], "state": "changing"},
                {**batch, "number": 2, "hosts": ["db02"], "state": "planned"},
            ],
        }

        def run(code: int) -> subprocess.CompletedProcess[str]:
            (tmp_path / "ledger").write_text(json.dumps(ledger))
            (tmp_path / "venv/bin/ansible-playbook").write_text(
                f'#!/bin/sh\nmkdir -p "$HOSTPROOF_BASELINE"\n'
                f'cp {tmp_path}/ledger "$HOSTPROOF_BASELINE/gate.json"\nexit {code}\n'
            )
            return tool.run("apply", "--gate")

        return tool, run

    @cases("code expected", (4, 2), (2, 2), (1, 2), (99, 130))
    def test_it_is_told_and_never_0(self, ended, code, expected):
        tool, run = ended
        done = run(code)
        assert done.returncode == expected, done.stdout
        document = json.loads((tool.newest_report() / "report.json").read_text())
        statuses = {finding["host"]: finding["status"] for finding in document["findings"]}
        assert statuses["db01"] == "fail"
        assert statuses["db02"] == "error"
        assert re.search(r"^Gate: .*/baselines/", done.stdout, re.MULTILINE)
