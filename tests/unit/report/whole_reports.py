"""Forms of a report as one text, and results as one list: what tests and benchmarks look at."""

from typing import Any

from hostproof_controller.report.document import Document
from hostproof_controller.report.html import Report, one_page
from hostproof_controller.report.junit import JUnit
from hostproof_controller.report.prometheus import Prometheus
from hostproof_controller.report.render import Form
from hostproof_controller.report.store import Results, read_entries
from hostproof_controller.report.summary import Summary
from hostproof_controller.report.totals import Totals


def whole(form: Form, results: Results) -> str:
    return "".join([form.begin(), *map(form.add, results.states), form.end()])


def render_document(results: Results, generated: str, strict: bool = False) -> str:
    return whole(Document(results, generated, strict), results)


def render_junit(results: Results) -> str:
    return whole(JUnit(results), results)


def render_prometheus(results: Results, generated: str, strict: bool = False) -> str:
    return whole(Prometheus(results, generated, strict), results)


def render_summary(results: Results, *arguments: Any, **named: Any) -> str:
    summary = Summary(results)
    results.show(summary)
    return summary.text(*arguments, **named)


def render_html(results: Results, generated: str, strict: bool = False) -> str:
    totals = Totals()
    results.show(totals)
    return "".join(one_page(Report(results, totals, generated, strict)))


def read_lines(paths: Any, notes: Any = None) -> list[dict[str, Any]]:
    return [entry.load() for entry in read_entries(paths, notes)]
