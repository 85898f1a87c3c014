"""./hostproof history: what many runs say together."""

import datetime
import html.parser
import json
import re
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from hostproof_controller.cli import command
from hostproof_controller.history import page, trend
from test_diffing import finding, line

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

TODAY = datetime.date(2026, 11, 20)
EVIL = "<img src=x onerror=alert(1)>\x1b[2J\u202e'\"&"


def at(day: int, hour: int = 3) -> str:
    return f"2026-11-{day:02d}T{hour:02d}:00:00Z"


def told(host: str, day: int, *findings: dict[str, Any], outcome: str = "judged") -> dict[str, Any]:
    made = line(host, *findings, outcome=outcome)
    run = {"id": f"run{day:02d}", "started": at(day), "hosts": 2}
    return {**made, "run": run, "at": at(day)}


@pytest.fixture
def runs(tmp_path):
    """runs({day: lines}): the trend of these runs."""

    def make(days: dict[int, list[dict[str, Any]]]) -> trend.Trend:
        for day, lines in days.items():
            folder = tmp_path / f"reports/202611{day:02d}T030000Z-aaaa"
            folder.mkdir(parents=True)
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / "findings.jsonl").write_text(text)
        return trend.trend(trend.folders(tmp_path / "reports", 50), TODAY)

    return make


def a(status: str, title: str = "It is so", **more: Any) -> dict[str, Any]:
    return finding("hugepages.a", status, title, **more)


def ready(found: trend.Trend) -> list[int]:
    return [point.verdicts["ready"] for point in found.points]


def test_ready_hosts_after_each_run(runs):
    history = runs(
        {
            1: [told("db1", 1, a("fail")), told("db2", 1, a("fail"))],
            2: [told("db1", 2, a("pass")), told("db2", 2, a("fail"))],
            3: [told("db1", 3, a("pass")), told("db2", 3, a("pass"))],
        }
    )
    assert ready(history) == [0, 1, 2]
    assert [point.failed for point in history.points] == [2, 1, 0]
    assert history.open_failures == []
    assert sorted(history.fixed) == [86400.0, 2 * 86400.0]
    assert history.mean_seconds == 1.5 * 86400


def test_a_run_of_some_hosts_leaves_the_others_as_they_were(runs):
    history = runs(
        {1: [told("db1", 1, a("pass")), told("db2", 1, a("pass"))], 2: [told("db1", 2, a("fail"))]}
    )
    assert ready(history) == [2, 1]
    assert [point.audited for point in history.points] == [2, 1]


def test_a_run_of_one_control_leaves_the_others_as_they_were(runs):
    other = finding("latency.disk", "fail")
    history = runs({1: [told("db1", 1, a("fail"), other)], 2: [told("db1", 2, a("pass"))]})
    assert ready(history) == [0, 0]
    assert [failure.check for failure in history.open_failures] == ["latency.disk"]


def test_what_stays_broken_is_told_since_when_and_longest_first(runs):
    history = runs(
        {
            1: [told("db1", 1, a("fail"), finding("hugepages.b", "pass"))],
            2: [told("db1", 2, a("fail"), finding("hugepages.b", "fail"))],
            3: [told("db1", 3, a("fail"), finding("hugepages.b", "fail"))],
        }
    )
    assert [(failure.check, failure.since, failure.runs) for failure in history.open_failures] == [
        ("hugepages.a", at(1), 3),
        ("hugepages.b", at(2), 2),
    ]


@cases("statuses", ("pass", "fail"), ("fail", "pass"))
def test_of_equal_findings_the_failure_counts(runs, statuses):
    history = runs({1: [told("db1", 1, *map(a, statuses))]})
    assert [failure.since for failure in history.open_failures] == [at(1)]


@cases("status", "error")
def test_what_could_not_be_determined_is_neither_fixed_nor_new(runs, status):
    history = runs({1: [told("db1", 1, a("fail"))], 2: [told("db1", 2, a(status))]})
    assert [failure.since for failure in history.open_failures] == [at(1)]
    assert history.mean_seconds is None


@cases("status", "skip", "waived")
def test_what_ends_otherwise_is_not_fixed(runs, status):
    history = runs({1: [told("db1", 1, a("fail"))], 2: [told("db1", 2, a(status))]})
    assert (history.open_failures, history.fixed) == ([], [])


def test_what_is_gone_is_not_fixed(runs):
    first = [told("db1", 1, a("fail", "ONE: so"), a("pass", "TWO: so"))]
    history = runs({1: first, 2: [told("db1", 2, a("pass", "TWO: so"))]})
    assert (history.open_failures, history.fixed) == ([], [])


def test_a_host_that_no_longer_answers_is_not_ready_and_nothing_is_fixed(runs):
    reachable = finding("host.reachable", "error")
    history = runs(
        {
            1: [told("db1", 1, a("fail"))],
            2: [told("db1", 2, reachable, outcome="unreachable")],
            3: [told("db1", 3, a("pass"))],
        }
    )
    assert [point.verdicts["unreachable"] for point in history.points] == [0, 1, 0]
    assert history.fixed == [2 * 86400.0]
    assert ready(history) == [0, 0, 1]


def test_what_fails_again_fails_since_then(runs):
    days = {1: "fail", 2: "pass", 5: "fail", 6: "fail"}
    history = runs({day: [told("db1", day, a(status))] for day, status in days.items()})
    assert [(failure.since, failure.runs) for failure in history.open_failures] == [(at(5), 2)]


@cases("expires days", ("2026-11-19", [-1]), ("2026-12-20", [30]), ("2026-12-21", []))
def test_waivers_that_end_soon(runs, expires, days):
    finding = a("waived")
    finding["waiver"]["expires"] = expires
    history = runs({1: [told("db1", 1, finding)]})
    assert [ending.days for ending in history.expiring_waivers] == days


def test_only_the_newest_runs_are_read(runs, tmp_path):
    runs({day: [told("db1", day, a("pass"))] for day in range(1, 9)})
    names = [path.name for path in trend.folders(tmp_path / "reports", 3)]
    assert names == [f"202611{day:02d}T030000Z-aaaa" for day in (6, 7, 8)]


@cases(
    "duration said", (0, "0 min"), (3599, "59 min"), (3600, "1 h 00 min"), (50 * 3600, "2 d 2 h")
)
def test_durations(duration, said):
    assert trend.lasted(duration) == said


class _Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.told: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.told += attrs


class TestPage:
    @pytest.fixture
    def text(self, runs) -> str:
        waived = finding("hugepages.b", "waived")
        waived["waiver"].update(expires="2026-11-25", owner=EVIL)
        history = runs(
            {
                1: [told("db1", 1, a("pass")), told("db2", 1, a("fail", EVIL))],
                2: [told("db1", 2, a("fail"), waived), told("db2", 2, a("fail", EVIL))],
            }
        )
        return page.render(history, "2026-11-20T00:00:00Z")

    def test_shows_what_the_trend_says(self, text):
        assert "<h1>0 of 2 hosts are ready</h1>" in text
        assert text.count("<rect ") == 3
        assert "1 d" in text or "24 h" in text

    def test_nothing_that_a_host_answered_is_markup(self, text):
        reader = _Reader()
        reader.feed(text)
        assert "img" not in reader.tags
        assert "script" not in reader.tags
        assert not [name for name, _ in reader.told if name.startswith("on")]
        assert "&lt;img src=x" in text
        assert "\x1b" not in text
        assert "\u202e" not in text

    def test_loads_nothing(self, text):
        assert not re.search(r"https?://|url\(|@import", text)
        assert "default-src 'none'" in text

    def test_every_class_is_styled_and_every_table_has_heads(self, text):
        for name in re.findall(r'class="([a-z ]+)"', text):
            for word in name.split():
                assert f".{word}" in text or word == "n"
        assert text.count("<table>") == text.count("<thead>") == 3


class TestCommand:
    @pytest.fixture
    def reports(self, runs, tmp_path) -> str:
        runs({1: [told("db1", 1, a("fail"))], 2: [told("db1", 2, a("pass"), a("fail", EVIL))]})
        return str(tmp_path / "reports")

    def test_text(self, reports, capsys, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        assert command.main(["history", reports]) == 0
        text = capsys.readouterr().out
        assert "Open failures: 1" in text
        assert "Mean time to fix: 24 h 00 min (1 fixed)" in text
        assert "\x1b" not in text

    @cases("columns", 50, 60, 80, 120)
    def test_a_date_and_a_run_stay_whole_on_a_narrow_terminal(
        self, reports, capsys, monkeypatch, columns
    ):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert command.main(["history", reports]) == 0
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= columns
        assert "2026-11-01T" in text
        for run in Path(reports).iterdir():
            assert run.name in text
        assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text)

    def test_of_the_folder_that_runs_write_to(self, reports, capsys, monkeypatch):
        monkeypatch.setenv("HOSTPROOF_REPORTS", reports)
        assert command.main(["history", "--format", "json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert len(document["runs"]) == 2
        assert document["mean_seconds_to_fix"] == 86400

    def test_page_is_its_owner_s(self, reports, capsys, tmp_path):
        out = tmp_path / "trend.html"
        assert command.main(["history", reports, "--html", str(out)]) == 0
        assert out.stat().st_mode & 0o777 == 0o600
        assert f"Page: {out}" in capsys.readouterr().out

    def test_a_run_that_cannot_be_read_is_told(self, reports, capsys):
        bad = Path(reports, "20261103T030000Z-bbbb")
        bad.mkdir()
        (bad / "findings.jsonl").write_text("nonsense\n")
        assert command.main(["history", reports, "--format", "csv"]) == 0
        assert "bbbb/findings.jsonl, line 1" in capsys.readouterr().err

    @cases(
        "typed said",
        (["/nonexistent"], "there is no directory /nonexistent"),
        (["--last", "0"], "invalid value for '--last': 0 is not in the range 1<=x<=99999"),
        (["--last", "²"], "invalid value for '--last': '²' is not a valid integer"),
    )
    def test_wrong_use(self, capsys, typed, said, reports, monkeypatch):
        monkeypatch.setenv("HOSTPROOF_REPORTS", reports)
        assert command.main(["history", *typed]) == 1
        assert said in capsys.readouterr().err

    def test_no_run(self, tmp_path, capsys):
        assert command.main(["history", str(tmp_path)]) == 1
        assert "no run with an audited host" in capsys.readouterr().err
