#!/usr/bin/env python3
"""What a report costs: time of each form against json.dumps of the same results, and its size.

Usage: tests/bench/report_scale.py [HOSTS [CHECKS]]   (1000 hosts, 30 checks unless told)
"""

import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(ROOT / "plugin_utils"),
    str(ROOT / "tests" / "unit" / "report"),
    str(ROOT / "tests"),
]

from hostproof_controller.report.store import merge  # noqa: E402
from report_samples import fleet  # noqa: E402
from whole_reports import (  # noqa: E402
    render_document,
    render_html,
    render_junit,
    render_prometheus,
    render_summary,
)

NOW = "2026-11-21T04:00:00Z"
ROW = "{:<10} {:<12} {:>8} {:>8} {:>9}"


def timed(work):
    started = time.perf_counter()
    answer = work()
    return time.perf_counter() - started, answer


def measure(case, lines):
    floor, text = timed(lambda: json.dumps(lines))
    print(ROW.format(case, "json.dumps", f"{floor:.2f}", "1.0", f"{len(text) / 1e6:.2f}"))
    spent, results = timed(lambda: merge(lines))
    print(ROW.format(case, "merge", f"{spent:.2f}", f"{spent / floor:.1f}", ""))
    forms = {
        "summary": lambda: render_summary(results),
        "report.json": lambda: render_document(results, NOW),
        "report.xml": lambda: render_junit(results),
        "report.prom": lambda: render_prometheus(results, NOW),
        "report.html": lambda: render_html(results, NOW),
    }
    for name, work in forms.items():
        spent, text = timed(work)
        size = len(text.encode()) / 1e6
        print(ROW.format(case, name, f"{spent:.2f}", f"{spent / floor:.1f}", f"{size:.2f}"))


def main():
    arguments = [int(argument) for argument in sys.argv[1:3]]
    hosts, checks = arguments + [1000, 30][len(arguments) :]
    print(f"{hosts} hosts, {checks} checks each, with evidence")
    print(ROW.format("case", "form", "s", "ratio", "MB"))
    measure("mixed", fleet(hosts, checks, evidence=True))
    measure("all fail", fleet(hosts, checks, statuses="fail", evidence=True))


if __name__ == "__main__":
    main()
