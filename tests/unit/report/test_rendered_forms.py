"""Every form of some reports as text, compared with the files in tests/unit/report/rendered.

If a change is meant, review the difference after
HOSTPROOF_WRITE_FIXTURES=1 pytest -k rendered_forms tests/unit
"""

import json
import os
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path
from typing import Any

import latency_samples
import pytest
from ansible.module_utils.hostproof import VERSION
from hostproof_controller.report.store import Results, merge
from report_samples import RUN, finding, fleet, make_line
from stored import text_of
from test_report_forms import nasty_results
from test_report_html import Page
from whole_reports import (
    render_document,
    render_html,
    render_junit,
    render_prometheus,
    render_summary,
)

NOW = "2026-11-21T04:00:00Z"
FOLDER = Path(__file__).with_name("rendered")


def of_causes() -> Results:
    """Findings that rest on others, by subject, with commands and numbers."""
    cause = finding(check="hugepages.pool_persisted", status="fail", severity="high")
    rests = [
        finding(
            check=f"hugepages.rest{number}",
            title=f"ORCL{number}: The SGA is in huge pages",
            status=("fail", "warn", "error")[number % 3],
            because_of=["hugepages.pool_persisted"],
            values={"running": number, "wanted": 9, "unit": "pages"},
            failing_layer="running",
            commands=[f"sysctl -w vm.nr_hugepages={number}"],
        )
        for number in range(3)
    ]
    lines = [make_line(name, [cause, *rests[: number + 2]]) for number, name in enumerate("ab")]
    return merge(lines)


def of_a_cut_run() -> Results:
    lines = fleet(4, 3, seed=3)
    return merge([dict(line, run=dict(RUN, hosts=9)) for line in lines])


REPORTS: dict[str, Callable[[], Results]] = {
    "fleet": lambda: merge(fleet(7, 4, evidence=True, seed=2)),
    "waived": lambda: merge(fleet(2, 2, statuses="waived")),
    "one-host": lambda: merge(fleet(1, 6, seed=5)),
    "nothing": lambda: merge([]),
    "cut-run": of_a_cut_run,
    "causes": of_causes,
    "latency": lambda: merge([latency_samples.example()]),
    "hostile": nasty_results,
}


def page(results: Results, **options: Any) -> str:
    """The text of a page with its links and identifiers."""
    shown = Page(render_html(results, NOW, **options))
    attributes = [
        " ".join([tag, *(f"{name}={value}" for name, value in found.items() if value)])
        for tag, found in shown.tags
        if found and tag not in ("meta", "path", "use")
    ]
    words = "\n".join(" ".join(line.split()) for line in "".join(shown.shown).split("\n"))
    return "\n".join([words, *attributes])


FORMS: dict[str, Callable[[Results], str]] = {
    "summary": render_summary,
    "narrow-summary": lambda results: render_summary(results, True, 44, verbose=True),
    "severe-summary": lambda results: render_summary(results, severity="high"),
    "document": lambda results: text_of(json.loads(render_document(results, NOW)), 2),
    "strict-document": lambda results: text_of(
        {
            name: value
            for name, value in json.loads(render_document(results, NOW, strict=True)).items()
            if name not in ("findings", "hosts")
        },
        2,
    ),
    "junit": render_junit,
    "prometheus": lambda results: render_prometheus(results, NOW),
    "strict-prometheus": lambda results: "\n".join(
        line for line in render_prometheus(results, NOW, strict=True).split("\n") if "exit" in line
    ),
    "page": page,
}


#: Forms of which only the lines are stored that another form has not, or that the report of no host
#: has not.
BESIDE = {"severe-summary": "summary", "strict-document": "document"}
BESIDE_NOTHING = ("document", "prometheus", "page")
#: How lines break in 44 columns is stored for the other reports.
WIDE = ("waived", "one-host", "cut-run")


def printable(text: str) -> list[str]:
    return [ascii(line.rstrip())[1:-1] for line in text.replace(VERSION, "VERSION").split("\n")]


def beside(other: list[str], lines: list[str]) -> list[str]:
    found = [line for line in unified_diff(other, lines, n=0) if line[0] != "@"]
    return [line for line in found[2:] if line[:3] != '-{"']


def rendered(report: str) -> str:
    blocks = []
    shown: dict[str, list[str]] = {}
    for form, render in FORMS.items():
        if form == "narrow-summary" and report in WIDE:
            continue
        lines = shown[form] = printable(render(REPORTS[report]()))
        if form in BESIDE:
            lines = beside(shown[BESIDE[form]], lines)
        if form in BESIDE_NOTHING and report != "nothing":
            lines = beside(printable(render(REPORTS["nothing"]())), lines)
        blocks += [f"==== {form}", *lines]
    return "\n".join(blocks) + "\n"


@pytest.mark.parametrize("report", REPORTS)
def test_each_form(report: str):
    """If it is meant: HOSTPROOF_WRITE_FIXTURES=1 pytest -k rendered_forms tests/unit"""
    path = FOLDER / f"{report}.txt"
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(rendered(report))
    assert rendered(report) == path.read_text()


def test_no_file_without_a_report():
    assert {path.stem for path in FOLDER.iterdir()} == set(REPORTS)
