# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.prom: the run in Prometheus' text format, for the node exporter's textfile collector."""

import calendar
import time
from typing import Dict, Iterable, List, Tuple

from .store import Results
from .text import printable
from .verdict import READY, VERDICTS, exit_code, host_verdict

#: The value of hostproof_host_verdict: 0 is ready, more is worse.
VERDICT_VALUES = {verdict: value for value, verdict in enumerate(reversed(VERDICTS))}

_Labels = Tuple[Tuple[str, str], ...]


def render_prometheus(results, generated, strict=False):
    # type: (Results, str, bool) -> str
    """The text of report.prom. Each combination of name and labels stands once."""
    findings = {}  # type: Dict[_Labels, float]
    verdicts = {}  # type: Dict[_Labels, float]
    judged = {}  # type: Dict[_Labels, float]
    for state in results.states:
        for finding in state.findings:
            labels = _labels(
                host=state.name,
                control=finding["control"],
                check=finding["check"],
                status=finding["status"],
                severity=finding["severity"],
            )
            findings[labels] = findings.get(labels, 0) + 1
    for state in results.hosts:
        host = _labels(host=state.name)
        value = VERDICT_VALUES[host_verdict(state.findings)]
        verdicts[host] = max(verdicts.get(host, VERDICT_VALUES[READY]), value)
        judged[host] = max(judged.get(host, 0), seconds(state.at))
    meaning = ", ".join("{0} {1}".format(value, name) for name, value in VERDICT_VALUES.items())
    lines = []  # type: List[str]
    lines += _metric("findings", "Findings by host, check and status.", findings.items())
    lines += _metric("host_verdict", "Verdict of a host: {0}.".format(meaning), verdicts.items())
    lines += _metric("host_judged_timestamp_seconds", "When a host was judged.", judged.items())
    lines += _single("hosts_expected", "Hosts that the runs set out to judge.", results.expected)
    lines += _single(
        "hosts_answered", "Hosts that left a result.", sum(run.answered for run in results.runs)
    )
    lines += _single("exit_code", "Exit code of the run.", exit_code(results, strict))
    lines += _single(
        "report_timestamp_seconds", "When this report was rendered.", seconds(generated)
    )
    return "\n".join(lines) + "\n"


def seconds(instant):
    # type: (str) -> int
    """Seconds since 1970 of a UTC instant; 0 for one that is none."""
    try:
        return calendar.timegm(time.strptime(instant, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return 0


def _metric(name, meaning, samples):
    # type: (str, str, Iterable[Tuple[_Labels, float]]) -> List[str]
    full = "hostproof_" + name
    lines = ["# HELP {0} {1}".format(full, meaning), "# TYPE {0} gauge".format(full)]
    for labels, value in samples:
        pairs = ",".join('{0}="{1}"'.format(key, text) for key, text in labels)
        lines.append("{0}{1} {2}".format(full, "{" + pairs + "}" if pairs else "", value))
    return lines if len(lines) > 2 else []


def _single(name, meaning, value):
    # type: (str, str, float) -> List[str]
    return _metric(name, meaning, [((), value)])


def _labels(**texts):
    # type: (str) -> _Labels
    # Escaped here and not when written: two texts that look the same are one series.
    return tuple((key, _escaped(text)) for key, text in texts.items())


def _escaped(text):
    # type: (str) -> str
    return printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
