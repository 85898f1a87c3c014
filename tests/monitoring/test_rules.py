"""The alert rules and the dashboard of docs/examples/monitoring, by promtool.

promtool evaluates them over the series of a report.prom, so that a metric or a label that is
renamed here fails there. Grafana itself is in no package index: of the dashboard its queries run.
"""

import json
import re
import subprocess

import pytest
import yaml
from hostproof_controller.report.store import merge
from machines.needs import ROOT
from report_samples import finding, make_line
from whole_reports import render_prometheus

FOLDER = ROOT / "docs/examples/monitoring"
RULES = FOLDER / "hostproof.rules.yml"
NOW = "2026-11-21T04:00:00Z"


def lines():
    run = {"id": "20261121T031500Z-1a2b", "started": "2026-11-21T03:15:00Z", "hosts": 4}
    by_host = {
        "db01": [finding()],
        "db02": [finding(status="error")],
        "db03": [finding(status="pass")],
    }
    return [make_line(host, findings, run=run) for host, findings in by_host.items()]


def series():
    """The report's own series, as promtool's tests take them: the same value for four days."""
    text = render_prometheus(merge(lines()), NOW)
    rows = []
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            # Promtool's clock begins at 0: what has a time was just now.
            rows.append({"series": name, "values": f"{0 if 'timestamp' in name else value}x5760"})
    return rows


def promtool(tmp_path, **tests):
    path = tmp_path / "test.yml"
    case = {"interval": "1m", "input_series": series(), **tests}
    path.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "tests": [case]}))
    done = subprocess.run(["promtool", "test", "rules", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rules_are_rules():
    subprocess.run(["promtool", "check", "rules", str(RULES)], check=True, capture_output=True)


def test_the_report_is_what_an_exporter_takes():
    text = render_prometheus(merge(lines()), NOW)
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def expected(host, check=None, severity="critical"):
    labels = {"host": host, "severity": severity}
    return [labels | ({"check": check} if check else {})]


ALERTS = {
    "HostproofHostNotReady": ("1h", expected("db01")),
    "HostproofHostUnknown": ("2h", expected("db02", severity="warning")),
    "HostproofCriticalFinding": ("1h", expected("db01", "hugepages.pool_covers_sga")),
    "HostproofHostsMissing": ("1h", [{"severity": "warning"}]),
    "HostproofReportOld": ("49h", [{"severity": "warning"}]),
    "HostproofEvidenceOld": ("47h", []),
    "HostproofNoMetrics": ("2h", []),
}


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_each_alert_rises_for_what_it_says_and_for_nothing_else(tmp_path, name):
    when, labels = ALERTS[name]
    rules = {
        rule["alert"]: rule for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    }
    assert set(rules) == set(ALERTS)
    alerts = []
    for label_set in labels:
        annotations = {
            key: re.sub(
                r"\{\{ \$labels\.(\w+) \}\}", lambda match, values=label_set: values[match[1]], text
            )
            for key, text in rules[name]["annotations"].items()
        }
        alerts.append({"exp_labels": label_set, "exp_annotations": annotations})
    promtool(
        tmp_path, alert_rule_test=[{"eval_time": when, "alertname": name, "exp_alerts": alerts}]
    )


def queries():
    dashboard = json.loads((FOLDER / "hostproof.dashboard.json").read_text())
    return {
        panel["title"]: target["expr"].replace("$host", ".*")
        for panel in dashboard["panels"]
        for target in panel["targets"]
    }


VALUES = {
    "Ready hosts": [("{}", 1)],
    "Hosts not ready or undetermined": [("{}", 2)],
    "Age of the report": [("{}", 3600)],
    "Oldest evidence": [("{}", 3600)],
    "Verdicts": [
        (f'hostproof_host_verdict{{host="{host}"}}', value)
        for host, value in (("db01", 3), ("db02", 2), ("db03", 0))
    ],
    "Most frequent failures": [('{check="hugepages.pool_covers_sga",severity="critical"}', 1)],
    "Findings by status": [
        (f'{{status="{status}"}}', value)
        for status, value in (("fail", 1), ("error", 1), ("warn", 0), ("waived", 0))
    ],
}


@pytest.mark.parametrize("title", sorted(VALUES))
def test_each_panel_shows_what_its_title_says(tmp_path, title):
    samples = [{"labels": labels, "value": value} for labels, value in VALUES[title]]
    test = {"expr": queries()[title], "eval_time": "1h", "exp_samples": samples}
    promtool(tmp_path, promql_expr_test=[test])


def test_no_panel_is_left_out_here():
    assert set(queries()) == {*VALUES, "Open findings"}
