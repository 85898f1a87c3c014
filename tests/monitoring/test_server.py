"""report.prom on the way that docs/report.md shows: exporter, server, alerts and dashboard.

The node exporter's textfile collector reads the file, a Prometheus scrapes the exporter, and what
Grafana would ask is asked of the server, in the same words. Both are of the distribution and have
ports of their own.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hostproof_controller.cli import command
from report_samples import write_folder
from test_rules import ALERTS, FOLDER, RULES, lines

#: Seconds after which a server that does not answer counts as broken.
PATIENCE = 90
#: What Grafana puts where a query has $host: for "All", and for two that were chosen.
CHOSEN = (".*", "(db01|db02)")
SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def get(port: int, path: str, **words: str) -> str:
    url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(words)}"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as problem:
        raise AssertionError(f"{url}: {problem.read().decode()}") from None


@contextlib.contextmanager
def running(argv: list[str], log: Path) -> Iterator[None]:
    """A program as an account that owns nothing, where root starts it."""
    account: dict[str, Any] = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
    with log.open("wb") as stream:
        process = subprocess.Popen(argv, stdout=stream, stderr=stream, **account)
    try:
        yield
    except AssertionError:
        print(log.read_text(errors="replace")[-2000:])
        raise
    finally:
        process.terminate()
        process.wait()


def until(asked: Callable[[], Any]) -> Any:
    """What it answers, as soon as it answers anything."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError, AssertionError):
            if answer := asked():
                return answer
        time.sleep(0.2)
    raise AssertionError("nothing came in time")


class Server:
    """A Prometheus that has scraped the exporter, which reads the file ``prom``; both are ports."""

    def __init__(self, exporter: int, port: int, prom: Path) -> None:
        self.exporter, self.port, self.prom = exporter, port, prom

    def data(self, path: str, **words: str) -> Any:
        answer = json.loads(get(self.port, f"/api/v1/{path}", **words))
        assert answer["status"] == "success"
        assert not answer.get("warnings")
        return answer["data"]

    def series(self, expression: str) -> list[Any]:
        return list(self.data("query", query=expression)["result"])


def write(reports: Path, prom: Path, *more: str) -> None:
    arguments = ["report", str(reports), "--format", "prometheus", "--out", str(prom), *more]
    assert command.main(arguments) == 2


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        read, kept = folder / "textfile", folder / "data"
        read.mkdir(mode=0o755)
        kept.mkdir()
        kept.chmod(0o777)
        write(write_folder(folder / "report", lines()), read / "hostproof.prom", "--world-readable")
        exporter, port = free_port(), free_port()
        settings = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(folder / "hostproof.rules.yml")],
            "scrape_configs": [
                {"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{exporter}"]}]}
            ],
        }
        (folder / "prometheus.yml").write_text(yaml.safe_dump(settings))
        (folder / "hostproof.rules.yml").write_bytes(RULES.read_bytes())
        node = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile"]
        node += [f"--collector.textfile.directory={read}"]
        node += [f"--web.listen-address=127.0.0.1:{exporter}"]
        prometheus = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
        prometheus += [f"--storage.tsdb.path={kept}", f"--web.listen-address=127.0.0.1:{port}"]
        with running(node, folder / "node.log"), running(prometheus, folder / "server.log"):
            made = Server(exporter, port, read / "hostproof.prom")
            until(lambda: made.series("hostproof_exit_code"))
            yield made


def samples(text: str) -> set[tuple[str, frozenset[tuple[str, str]], float]]:
    result = set()
    for line in text.splitlines():
        if match := SAMPLE.fullmatch(line):
            name, labels, value = match.groups()
            pairs = frozenset(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""))
            result.add((name, pairs, float(value)))
    return result


def test_the_server_has_each_sample_of_the_file_and_no_other(server: Server) -> None:
    had = set()
    for sample in server.series('{__name__=~"hostproof_.+"}'):
        labels = {
            key: text for key, text in sample["metric"].items() if key not in ("instance", "job")
        }
        had.add((labels.pop("__name__"), frozenset(labels.items()), float(sample["value"][1])))
    expected = samples(server.prom.read_text())
    assert len(expected) > 20
    assert had == expected
    (error,) = server.series("node_textfile_scrape_error")
    assert error["value"][1] == "0"


def panels() -> list[tuple[str, str, str]]:
    dashboard = json.loads((FOLDER / "hostproof.dashboard.json").read_text())
    return [
        (panel["title"], panel["type"], target["expr"])
        for panel in dashboard["panels"]
        for target in panel["targets"]
    ]


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize(("title", "kind", "query"), panels(), ids=[panel[0] for panel in panels()])
def test_each_panel_has_data(
    server: Server, title: str, kind: str, query: str, chosen: str
) -> None:
    expression = query.replace("$host", chosen)
    if kind in ("timeseries", "state-timeline"):
        now = time.time()
        span = {"start": str(now - 300), "end": str(now), "step": "1"}
        rows = server.data("query_range", query=expression, **span)["result"]
        assert any(row["values"] for row in rows)
    else:
        assert server.series(expression)


def test_the_choice_of_hosts_is_the_hosts(server: Server) -> None:
    dashboard = json.loads((FOLDER / "hostproof.dashboard.json").read_text())
    (variable,) = [entry for entry in dashboard["templating"]["list"] if entry["type"] == "query"]
    match = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"])
    assert match is not None
    # Grafana asks a server of this age so.
    hosts = server.data(f"label/{match[2]}/values", **{"match[]": match[1]})
    assert hosts == ["db01", "db02", "db03"]


def test_the_server_takes_the_rules_and_raises_what_is_wrong(server: Server) -> None:
    def judged() -> Any:
        (group,) = server.data("rules")["groups"]
        # All of them are judged after the samples have come.
        raised = {rule["name"] for rule in group["rules"] if rule["alerts"]}
        return group["rules"] if "HostproofHostNotReady" in raised else None

    rules = until(judged)
    assert {rule["name"]: rule["health"] for rule in rules} == dict.fromkeys(ALERTS, "ok")
    assert {rule["name"]: [alert["state"] for alert in rule["alerts"]] for rule in rules} == {
        "HostproofHostNotReady": ["firing"],
        "HostproofHostUnknown": ["pending"],
        "HostproofCriticalFinding": ["firing"],
        "HostproofHostsMissing": ["firing"],
        "HostproofReportOld": [],
        "HostproofEvidenceOld": ["firing"] * more_than_a_week_old(server.prom.read_text()),
        "HostproofNoMetrics": [],
    }


def more_than_a_week_old(text: str) -> int:
    """How many hosts: the samples are of a day that stays, and the server's clock goes on."""
    recorded = "hostproof_host_recorded_timestamp_seconds"
    times = [value for name, _, value in samples(text) if name == recorded]
    assert len(times) == 3
    return sum(time.time() - value > 7 * 86400 for value in times)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write a file that others may not read")
def test_what_the_user_does_not_make_readable_the_exporter_cannot_read(server: Server) -> None:
    server.prom.chmod(0o600)
    try:
        text = get(server.exporter, "/metrics")
    finally:
        server.prom.chmod(0o644)
    assert "node_textfile_scrape_error 1" in text
    assert "hostproof_" not in text
