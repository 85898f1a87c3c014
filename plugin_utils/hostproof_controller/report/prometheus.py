# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.prom: the run in Prometheus' text format, for the node exporter's textfile collector."""

import calendar
import time
from collections import Counter
from collections.abc import Iterable

from .store import HostState, Results
from .text import printable, remembered
from .verdict import READY, VERDICTS, exit_code

#: The value of hostproof_host_verdict: 0 is ready, more is worse.
VERDICT_VALUES = {verdict: value for value, verdict in enumerate(reversed(VERDICTS))}

_Labels = tuple[tuple[str, str], ...]


class Prometheus:
    """report.prom, written state by state. Each combination of name and labels stands once."""

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
        found = Counter(
            (finding["control"], finding["check"], finding["status"], finding["severity"])
            for one in states
            for finding in one.findings
        )
        if not found:
            return ""
        lines = [
            # Of these four none has anything to escape (store.problem_of_finding).
            f'hostproof_findings{{host="{name}",control="{control}",check="{check}",'
            f'status="{status}",severity="{severity}"}} {count}'
            for (control, check, status, severity), count in found.items()
        ]
        if not self._begun:
            lines = _head("findings", "Findings by host, check and status.") + lines
        self._begun = True
        return "\n".join([*lines, ""])

    def end(self) -> str:
        results = self._results
        verdicts: dict[_Labels, float] = {}
        judged: dict[_Labels, float] = {}
        for one in results.tally.hosts:
            host = _labels(host=one.name)
            value = VERDICT_VALUES[one.verdict]
            verdicts[host] = max(verdicts.get(host, VERDICT_VALUES[READY]), value)
            judged[host] = max(judged.get(host, 0), seconds(one.at))
        meaning = ", ".join(f"{value} {name}" for name, value in VERDICT_VALUES.items())
        verdict_meaning = f"Verdict of a host: {meaning}."
        answered = sum(run.answered for run in results.runs)
        lines: list[str] = []
        lines += _metric("host_verdict", verdict_meaning, verdicts.items())
        lines += _metric("host_judged_timestamp_seconds", "When a host was judged.", judged.items())
        lines += _single(
            "hosts_expected", "Hosts that the runs set out to judge.", results.expected
        )
        lines += _single("hosts_answered", "Hosts that left a result.", answered)
        lines += _single("exit_code", "Exit code of the run.", exit_code(results, self._strict))
        lines += _single(
            "report_timestamp_seconds", "When this report was rendered.", seconds(self._generated)
        )
        return "\n".join(lines) + "\n"


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
