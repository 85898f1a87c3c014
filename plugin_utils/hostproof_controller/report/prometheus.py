# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.prom: the run in Prometheus' text format, for the node exporter's textfile collector.

A series a finding would be thousands for each host, nearly all of them passes. So checks are told
where they are neither pass nor skip, MOST_CHECKS a host, and all statuses as counts a host.
"""

import calendar
import math
import time
from collections import Counter
from collections.abc import Iterable

from ansible.module_utils.hostproof.evaluate.finding import PASS, SEVERITIES, SKIP, STATUSES

from .host_state import HostState
from .store import Results
from .text import printable, remembered
from .verdict import (
    NOT_DATABASE_HOST,
    NOT_READY,
    READY,
    UNDETERMINED,
    UNREACHABLE,
    WARNINGS,
    exit_code,
)

#: The value of hostproof_host_verdict. Alert rules compare with it, so a value never changes.
VERDICT_VALUES = {
    READY: 0,
    WARNINGS: 1,
    UNDETERMINED: 2,
    NOT_READY: 3,
    UNREACHABLE: 4,
    NOT_DATABASE_HOST: 5,
}

#: Series of checks for one host; what is beyond is one series with this in place of a check.
MOST_CHECKS = 150
MORE = "(more)"

_QUIET = (PASS, SKIP)

_Labels = tuple[tuple[str, str], ...]


class Prometheus:
    """report.prom, written state by state. Each combination of name and labels is once."""

    def __init__(self, results: Results, generated: str, strict: bool = False) -> None:
        self._results = results
        self._generated = generated
        self._strict = strict
        self._begun = False
        names = [host.name for host in results.tally.hosts]
        names += [state.name for state in results.about]
        # Names that look the same are one series: what all of them have is needed at the first.
        seen = Counter(map(_escaped, names))
        self._twins: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            if seen[_escaped(name)] > 1:
                self._twins.setdefault(_escaped(name), []).append(place)

    def begin(self) -> str:
        return ""

    def add(self, state: HostState) -> str:
        name = _escaped(state.name)
        states = [state]
        if name in self._twins:
            states = [self._results.states[place] for place in self._twins[name]]
            # The others of them have nothing left to say.
            self._twins[name] = []
        counts = Counter(
            (finding["control"], finding["check"], finding["status"], finding["severity"])
            for twin in states
            for finding in twin.findings
            if finding["status"] not in _QUIET
        )
        if not counts:
            return ""
        counts = _bounded(counts)
        lines = [
            # These four need no escaping (store.problem_of_finding).
            f'hostproof_findings{{host="{name}",control="{control}",check="{check}",'
            f'status="{status}",severity="{severity}"}} {count}'
            for (control, check, status, severity), count in counts.items()
        ]
        if not self._begun:
            lines = _head("findings", "Findings that are neither pass nor skip.") + lines
        self._begun = True
        return "\n".join([*lines, ""])

    def end(self) -> str:
        results = self._results
        verdicts: dict[_Labels, float] = {}
        judged: dict[_Labels, float] = {}
        recorded: dict[_Labels, float] = {}
        counts: dict[_Labels, float] = {}
        for facts in results.tally.hosts:
            host = _labels(host=facts.name)
            value = VERDICT_VALUES[facts.verdict]
            verdicts[host] = max(verdicts.get(host, VERDICT_VALUES[READY]), value)
            judged[host] = max(judged.get(host, 0), seconds(facts.at))
            if facts.recorded_at is not None:
                recorded[host] = min(recorded.get(host, math.inf), seconds(facts.recorded_at))
            for status, count in facts.counts.items():
                of_status = _labels(host=facts.name, status=status)
                counts[of_status] = counts.get(of_status, 0) + count
        meaning = ", ".join(f"{value} {name}" for name, value in VERDICT_VALUES.items())
        verdict_meaning = f"Verdict of a host: {meaning}."
        answered = sum(run.answered for run in results.runs)
        lines: list[str] = []
        lines += _metric("host_verdict", verdict_meaning, verdicts.items())
        lines += _metric(
            "host_judged_timestamp_seconds", "Time of the audit of a host.", judged.items()
        )
        lines += _metric(
            "host_recorded_timestamp_seconds",
            "When the oldest evidence on a host was read.",
            recorded.items(),
        )
        lines += _metric("host_findings", "All findings of a host by status.", counts.items())
        lines += _single("hosts_expected", "Hosts that the runs should audit.", results.expected)
        lines += _single("hosts_answered", "Hosts that left a result.", answered)
        lines += _single("exit_code", "Exit code of the run.", exit_code(results, self._strict))
        lines += _single(
            "report_timestamp_seconds", "When this report was rendered.", seconds(self._generated)
        )
        return "\n".join(lines) + "\n"


def _bounded(counts: Counter[tuple[str, str, str, str]]) -> Counter[tuple[str, str, str, str]]:
    """The worst this number of; the others together, by status and severity."""
    if len(counts) <= MOST_CHECKS:
        return counts
    ordered = sorted(
        counts, key=lambda key: (STATUSES.index(key[2]), SEVERITIES.index(key[3]), key[1])
    )
    kept = Counter({key: counts[key] for key in ordered[:MOST_CHECKS]})
    for key in ordered[MOST_CHECKS:]:
        kept[MORE, MORE, key[2], key[3]] += counts[key]
    return kept


def seconds(instant: str) -> int:
    """Seconds since 1970 of a UTC instant; 0 for one that is none."""
    try:
        return calendar.timegm(time.strptime(instant, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return 0


def _metric(name: str, meaning: str, samples: Iterable[tuple[_Labels, float]]) -> list[str]:
    lines = _samples(name, samples)
    return _head(name, meaning) + lines if lines else []


def _head(name: str, meaning: str) -> list[str]:
    full = "hostproof_" + name
    return [f"# HELP {full} {meaning}", f"# TYPE {full} gauge"]


def _samples(name: str, samples: Iterable[tuple[_Labels, float]]) -> list[str]:
    lines = []
    for labels, value in samples:
        pairs = ",".join(f'{key}="{text}"' for key, text in labels)
        lines.append("hostproof_{0}{1} {2}".format(name, "{" + pairs + "}" if pairs else "", value))
    return lines


def _single(name: str, meaning: str, value: float) -> list[str]:
    return _metric(name, meaning, [((), value)])


def _labels(**texts: str) -> _Labels:
    # Escaped here and not when written: two texts that look the same are one series.
    return tuple((key, _escaped(text)) for key, text in texts.items())


@remembered
def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
