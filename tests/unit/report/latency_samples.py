"""Windows for the tests of the report: some from the outputs in the fixtures, some made up, seeded.

The made-up ones are lognormal durations around a middle, each window a little beside it, with one
slow request in a hundred.
"""

import random
from pathlib import Path

from ansible.module_utils.hostproof.collect.measured import Window, window_from_samples
from ansible.module_utils.hostproof.controls.latency.measurement import reports
from report_samples import AT, finding, make_line, pack

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "latency"
STARTED = 1_790_000_000.0


def reading(windows, remarks=()):
    """A reading of kind "windows", as a host records it."""
    entries = [window.to_json() for window in windows]
    return {"kind": "windows", "at": AT, "windows": entries, "remarks": list(remarks)}


def of_fixture(name):
    report = reports.read((FIXTURES / name).read_text())
    return reading(report.windows, report.remarks)


def active(middle, *, probe="disk_read", subject="/u02/a.dbf", layer="user", size=8192, n=1200):
    """Ten windows of ``n`` durations around ``middle`` microseconds."""
    dice = random.Random(f"{middle} {subject} {layer} {size}")
    windows = []
    for number in range(10):
        here = middle * dice.lognormvariate(0, 0.04)
        durations = [
            int(1000 * here * dice.lognormvariate(0, 0.12) * (12 if dice.random() < 0.01 else 1))
            for _ in range(n)
        ]
        started = STARTED + 60 * number
        windows.append(window_from_samples(probe, subject, layer, size, started, 3, durations, {}))
    return windows


def passive(middle, *, subject="sda", layer="read", count=10):
    """Windows as the kernel's counters give them: no distribution."""
    dice = random.Random(f"{middle} {subject} {layer}")
    windows = []
    for number in range(count):
        low, mean, high = sorted(middle * dice.lognormvariate(0, 0.1) for _ in range(3))
        windows.append(
            Window(
                probe="disk",
                subject=subject,
                layer=layer,
                size=None,
                started=STARTED + 60 * number,
                seconds=9.0,
                n=dice.randrange(300, 9000),
                minimum=low,
                mean=mean,
                p50=mean,
                p90=None,
                p99=None,
                maximum=high,
                bins=None,
                conditions={"mode": "passive"},
            )
        )
    return windows


def latency_line(host, cited, *, status="fail", **changes):
    """A host with a finding for each of ``cited``: {check: {key: reading}}."""
    evidence = {key: record for readings in cited.values() for key, record in readings.items()}
    findings = [
        finding(
            control="latency",
            check=f"latency.{check}",
            title=f"{check} is fast enough",
            status=status,
            evidence=list(readings),
            reference="docs/controls/latency.md",
        )
        for check, readings in cited.items()
    ]
    return make_line(host, findings, evidence=pack(evidence), **changes)


def example(host="db01"):
    """A host with each kind of drawing."""
    before = active(410) + active(2900, size=1 << 20)
    after = active(540) + active(2950, size=1 << 20)
    return latency_line(
        host,
        {
            "change": {
                "windows:before:disk_read": reading(before),
                "windows:after:disk_read": reading(after),
            },
            "cells": {"windows:cells": of_fixture("iolstats-seed-long.txt")},
            "disk": {"windows:disk": reading(passive(640) + passive(5200, subject="sdb"))},
        },
    )
