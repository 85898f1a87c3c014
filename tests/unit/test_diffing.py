"""./hostproof diff: what differs between two reports, and nothing else."""

import copy
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from hostproof_controller.cli import command

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

RUN = {"id": "r", "started": "2026-11-21T03:15:00Z", "hosts": 2}


def finding(check: str, status: str, title: str = "It is so", **more: Any) -> dict[str, Any]:
    fields = {
        "control": check.split(".")[0],
        "check": check,
        "title": title,
        "status": status,
        "severity": "high",
        "desired": "10",
        "persisted": None,
        "running": "10" if status == "pass" else "3",
        "in_use": None,
        "takes_effect": "now",
        "why": "It breaks.",
        "fix": None if status == "pass" else "mend it",
        "reference": "somewhere",
        "evidence": [],
        "waiver": None,
        "values": None,
        "commands": [],
        "because_of": [],
        "problem": None,
    }
    if status == "waived":
        fields["waiver"] = {
            **{"owner": "dba", "reason": "later", "expires": "2999-12-31"},
            "was": "fail",
        }
    return {**fields, **more}


def line(host: str, *findings: dict[str, Any], outcome: str = "judged") -> dict[str, Any]:
    return {
        "schema": 3,
        "run": RUN,
        "host": host,
        "at": "2026-11-21T03:15:20Z",
        "recorded_at": None,
        "outcome": outcome,
        "message": None if outcome == "judged" else "gone",
        "findings": list(findings),
        "evidence": None,
    }


def report(folder: Path, *lines: dict[str, Any]) -> str:
    folder.mkdir()
    (folder / "findings.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(folder)


BEFORE = (
    line(
        "db1",
        finding("hugepages.a", "fail"),
        finding("hugepages.b", "pass"),
        finding("hugepages.c", "warn"),
        finding("hugepages.d", "pass", "ONE: It is so"),
        finding("hugepages.d", "fail", "TWO: It is so"),
        finding("hugepages.e", "skip"),
    ),
    line("db2", finding("hugepages.a", "pass")),
)


@pytest.fixture
def compared(tmp_path, capsys):
    """compared(lines, options): exit code and differences from BEFORE to these lines."""

    def compare(*now: dict[str, Any], options: tuple[str, ...] = ()) -> tuple[int, list[Any]]:
        old = report(tmp_path / "old", *BEFORE)
        new = report(tmp_path / "new", *now)
        code = command.main(["diff", old, new, "--format", "json", *options])
        changes = json.loads(capsys.readouterr().out)
        return code, [
            (change["kind"], change["host"], change["check"], change["before"], change["now"])
            for change in changes
        ]

    return compare


def changed(host: int, place: int, **more: Any) -> list[dict[str, Any]]:
    now = copy.deepcopy(list(BEFORE))
    now[host]["findings"][place].update(more)
    return now


def test_the_same_is_no_difference(compared):
    assert compared(*BEFORE) == (0, [])


def test_one_fix_shows_exactly_that(compared):
    now = changed(0, 0, status="pass", running="10", fix=None)
    assert compared(*now) == (3, [("fixed", "db1", "hugepages.a", "fail", "pass")])


def test_two_hosts_of_one_report(compared):
    now = [*BEFORE, line("db3", finding("hugepages.a", "pass"), finding("hugepages.b", "fail"))]
    same = ("--as", "db1=db3")
    code, changes = compared(*now, options=same)
    assert (code, changes[0]) == (2, ("new", "db3", "hugepages.b", "pass", "fail"))
    assert ("fixed", "db3", "hugepages.a", "fail", "pass") in changes
    assert {change[1] for change in changes} == {"db3"}


@cases(
    "pairs words",
    (["db1"], "'db1': must be a host of each report"),
    (["db1="], "must be a host of each report"),
    (["db9=db1"], "the first report has no host 'db9'; did you mean db"),
    (["db1=x"], "the second report has no host 'x'"),
    (["db1=db2", "db2=db2"], "a host is in two pairs"),
)
def test_pairs_that_cannot_be_compared(tmp_path, capsys, pairs, words):
    folder = report(tmp_path / "old", *BEFORE)
    options = [word for pair in pairs for word in ("--as", pair)]
    assert command.main(["diff", folder, folder, *options]) == 1
    assert words in capsys.readouterr().err


@cases("status", "fail", "error", "warn")
def test_new_is_what_was_no_problem(compared, status):
    now = changed(0, 1, status=status)
    assert compared(*now) == (2, [("new", "db1", "hugepages.b", "pass", status)])


def test_an_instance_is_not_another(compared):
    now = changed(0, 3, status="fail")
    now[0]["findings"][4]["status"] = "pass"
    code, changes = compared(*now)
    assert code == 2
    assert {change[0] for change in changes} == {"new", "fixed"}


@cases("place status code", (0, "warn", 3), (0, "error", 3), (2, "fail", 2), (5, "pass", 3))
def test_changed_is_from_one_status_to_another_of_its_kind(compared, place, status, code):
    before = BEFORE[0]["findings"][place]["status"]
    now = changed(0, place, status=status)
    check = BEFORE[0]["findings"][place]["check"]
    assert compared(*now) == (code, [("changed", "db1", check, before, status)])


def test_what_is_waived_is_no_problem_any_more(compared):
    waived = finding("hugepages.a", "waived")
    now = changed(0, 0, status="waived", waiver=waived["waiver"])
    assert compared(*now) == (3, [("fixed", "db1", "hugepages.a", "fail", "waived")])


def test_a_value_alone_is_shown_where_that_is_wanted(compared, tmp_path):
    now = changed(0, 0, running="4")
    assert compared(*now) == (0, [])


def test_a_value_alone_with_values(compared):
    now = changed(0, 0, running="4")
    code, changes = compared(*now, options=("--all-changes",))
    assert (code, changes) == (3, [("changed", "db1", "hugepages.a", "fail", "fail")])


def test_a_check_that_is_gone_is_worse(compared):
    now = changed(0, 0)
    del now[0]["findings"][1]
    assert compared(*now) == (2, [("gone", "db1", "hugepages.b", "pass", None)])


def test_a_title_that_says_something_else_is_the_same_finding(compared):
    assert compared(*changed(0, 1, title="It is so since today")) == (0, [])


def test_a_host_that_is_gone_is_one_difference(compared):
    assert compared(BEFORE[0])[1][-1] == ("gone", "db2", "(all)", "ready", None)


def test_a_host_that_no_longer_answers_is_two(compared):
    reachable = finding("host.reachable", "error")
    code, changes = compared(line("db1", reachable, outcome="unreachable"), BEFORE[1])
    assert code == 2
    assert changes == [
        ("new", "db1", "host.reachable", None, "error"),
        ("gone", "db1", "(all)", "not ready", None),
    ]


def test_a_host_more(compared):
    more = line("db3", finding("hugepages.a", "pass"))
    assert compared(*BEFORE, more)[1][-1] == ("new", "db3", "(all)", None, "ready")


def test_a_host_more_that_fails(compared):
    more = line("db3", finding("hugepages.a", "fail"), finding("hugepages.b", "pass"))
    code, changes = compared(*BEFORE, more)
    assert code == 2
    assert changes == [("new", "db3", "hugepages.a", None, "fail")]


class TestForms:
    @pytest.fixture
    def folders(self, tmp_path) -> list[str]:
        now = changed(0, 1, status="fail", running="\x1b[2J|=cmd\u202e")
        now[0]["findings"][0].update(status="pass", running="10")
        return [report(tmp_path / "old", *BEFORE), report(tmp_path / "new", *now)]

    def test_text(self, folders, capsys, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        assert command.main(["diff", *folders]) == 2
        text = capsys.readouterr().out
        assert text.splitlines()[-1] == "1 new, 1 fixed"
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "It is so: 3 → 10" in text

    def test_text_without_any(self, folders, capsys):
        assert command.main(["diff", folders[0], folders[0]]) == 0
        assert capsys.readouterr().out == "No difference\n"

    def test_csv_and_markdown(self, folders, capsys):
        assert command.main(["diff", *folders, "--format", "csv"]) == 2
        rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
        assert [row[:3] for row in rows[1:]] == [
            ["new", "db1", "hugepages.b"],
            ["fixed", "db1", "hugepages.a"],
        ]
        assert command.main(["diff", *folders, "--format", "markdown"]) == 2
        assert "\\|\\=cmd" in capsys.readouterr().out.replace("=", "\\=")

    def test_findings_files_do_as_well(self, folders, capsys):
        files = [f"{folder}/findings.jsonl" for folder in folders]
        assert command.main(["diff", *files]) == 2

    @cases(
        "typed said",
        ([], "diff needs BEFORE (report directory or findings file, earlier run)"),
        (["/etc"], "diff needs AFTER (report directory or findings file, later run)"),
        (["/nonexistent", "/etc"], "'BEFORE': Path '/nonexistent' does not exist"),
        (["/etc", "/etc"], "/etc/findings.jsonl: No such file"),
        (["/etc", "/etc", "/c"], "diff: got unexpected extra argument (/c)"),
    )
    def test_what_cannot_be_compared(self, capsys, typed, said):
        assert command.main(["diff", *typed]) == 1
        assert said in capsys.readouterr().err


def test_a_problem_is_printed_by_its_problem(tmp_path, capsys):
    """The title of a check states what is required: the opposite of what is found."""
    title, problem = "ONE: Only one place sets it", "Several places set it"
    well = [line("db1", finding("hugepages.a", "pass", title, problem=problem))]
    unwell = [line("db1", finding("hugepages.a", "warn", title, problem=problem))]
    for number, (before, after) in enumerate([(well, unwell), (unwell, well)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        old, new = report(folder / "old", *before), report(folder / "new", *after)
        command.main(["diff", old, new])
        shown = capsys.readouterr().out
        assert "ONE: Several places set it" in shown and "Only one place" not in shown
