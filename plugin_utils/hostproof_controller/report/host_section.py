# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The section of a host: its heading, its findings, and the readings that they rest on.

A reading is once, below the findings, and each finding that rests on it links to it.
"""

from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.evaluate.finding import ERROR, LAYERS, PASS, SKIP, subject_of
from markupsafe import Markup, escape

from .anchors import finding_anchors, host_anchor
from .causes import Group, by_page, by_urgency, groups_of
from .evidence import shown_readings
from .host_state import HostState
from .latency_figure import Figure, content, figures_of, heading
from .memory_bars import memory_bars
from .shared_findings import once
from .store import recorded_apart
from .templating import moment, parts
from .text import as_typed, heading_of, one_line, printable
from .verdict import (
    STATUS_CLASSES,
    STATUS_GLYPHS,
    VERDICT_CLASSES,
    VERDICT_GLYPHS,
    count_statuses,
    host_verdict,
)

#: Maximum number of dependent findings that the closed element of their cause lists.
_RESTS_NAMED = 6
#: Hosts that a group of skipped checks names.
_HOSTS_NAMED = 8


class _Shown(NamedTuple):
    """Data that the findings of one host show in addition to their own fields.

    ``anchors`` and ``figures`` are by the id() of their finding; ``readings`` are the ids of the
    readings by evidence key, ``elsewhere`` the keys that only findings.jsonl has.
    """

    section: str
    anchors: dict[int, str]
    figures: dict[int, Figure]
    readings: dict[str, str]
    elsewhere: set[str]


#: Lines below a heading: a control, or a reason.
_Group = tuple[str, tuple[tuple[str, ...], ...]]

_NOTHING = _Shown("", {}, {}, {}, set())


class Skipped:
    """The skipped checks of all hosts of a page, by reason.

    Hosts have most of them in common, so that a page shows each group once, with its hosts.
    """

    def __init__(self) -> None:
        self._groups: dict[_Group, list[tuple[int, str]]] = {}
        self._hosts = 0

    def add(self, name: str, groups: Iterable[_Group]) -> None:
        """Add the groups of the next host of the page."""
        for group in groups:
            self._groups.setdefault(group, []).append((self._hosts, name))
        self._hosts += 1

    def section(self) -> Any:
        """The groups, folded; those of most hosts first."""
        if not self._groups:
            return ""
        ordered = sorted(self._groups.items(), key=lambda item: -len(item[1]))
        count = sum(len(lines) * len(hosts) for (_, lines), hosts in ordered)
        shared = [
            (reason, lines, " ".join(str(number) for number, _ in hosts), self._names(hosts))
            for (reason, lines), hosts in ordered
        ]
        return parts().skipped_of_hosts(count, shared)

    def _names(self, hosts: list[tuple[int, str]]) -> str:
        if len(hosts) == self._hosts:
            return f"all {self._hosts} hosts"
        names = ", ".join(one_line(name) for _, name in hosts[:_HOSTS_NAMED])
        more = len(hosts) - _HOSTS_NAMED
        return f"{names} and {more} more" if more > 0 else names


def host_section(state: HostState, several_runs: bool, skipped: Skipped | None = None) -> str:
    """Findings that need attention, then passed and skipped findings, folded, then evidence.

    A passed or skipped finding is one line: passed ones below their control, skipped ones below
    their reason. The rest of it, and its evidence, is in findings.jsonl. Only one with a chart is
    whole. ``skipped`` takes the skipped ones of a page of several hosts.
    """
    section = host_anchor(state.name)
    ordered = by_urgency(state.findings)
    groups = groups_of(ordered)
    quiet = [finding for finding in ordered if finding["status"] in (PASS, SKIP)]
    figures = figures_of(state, ordered)
    findings = [
        finding
        for finding in ordered
        if finding["status"] not in (PASS, SKIP) or id(finding) in figures
    ]
    drawn = [finding for finding in quiet if id(finding) in figures]
    readings = _readings(state, findings)
    shown = _Shown(
        section,
        finding_anchors(state.name, [*by_page(groups), *drawn]),
        figures,
        {key: f"{section}/e{number}" for number, key in enumerate(readings, 1)},
        _cited(ordered) - _cited(findings),
    )
    pieces = [_heading(state, ordered, section, several_runs)]
    if groups:
        pieces.append(_table(_group(group, shown) for group in groups))
    if skipped is not None:
        apart = [one for one in quiet if one["status"] == SKIP and id(one) not in figures]
        skipped.add(state.name, _by_reason(apart))
        quiet = [one for one in quiet if one["status"] == PASS or id(one) in figures]
    if quiet:
        pieces.append(_folded(quiet, shown))
    if skipped is not None and apart:
        pieces.append(parts().skipped_elsewhere(len(apart)))
    if readings:
        listed = [(shown.readings[key], key, *reading) for key, reading in readings.items()]
        pieces.append(parts().evidence(listed))
    inner = "".join(pieces)
    return f'<section class=h id="{section}">{inner}</section>'


def plain_table(findings: Iterable[dict[str, Any]]) -> Any:
    """Findings of a pseudo host: they have neither ids nor evidence."""
    ordered = by_urgency(findings)
    quiet = [finding for finding in ordered if finding["status"] in (PASS, SKIP)]
    loud = [finding for finding in ordered if finding["status"] not in (PASS, SKIP)]
    tables = [_table(_finding(finding, _NOTHING) for finding in loud)] if loud else []
    return Markup("").join([*tables, *([_folded(quiet, _NOTHING)] if quiet else [])])


def _folded(quiet: list[dict[str, Any]], shown: _Shown) -> Any:
    """Passed and skipped findings, folded into one line."""
    counts = count_statuses(quiet)
    label = ", ".join(
        f"{counts[status]} {words}"
        for status, words in ((PASS, "passed"), (SKIP, "not applicable"))
        if counts[status]
    )
    drawn = [finding for finding in quiet if id(finding) in shown.figures]
    lines = [finding for finding in quiet if id(finding) not in shown.figures]
    tables = [_table(_finding(finding, shown) for finding in drawn)] if drawn else []
    groups = (_by_control(lines), _by_reason(lines))
    return parts().quiet(label, Markup("").join([*tables, Markup(_lists(*groups))]))


def _by_control(findings: Iterable[dict[str, Any]]) -> tuple[_Group, ...]:
    """Passed findings: title, check without its control, severity, and value or reason."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for finding in findings:
        if finding["status"] == PASS:
            control, _, check = finding["check"].partition(".")
            values = [finding[layer] for layer in reversed(LAYERS) if finding[layer] is not None]
            value = values[0] if values else finding["why"]
            line = (heading_of(finding), check, finding["severity"], value)
            groups.setdefault(control, []).append(line)
    return tuple((control, tuple(lines)) for control, lines in groups.items())


def _by_reason(findings: Iterable[dict[str, Any]]) -> tuple[_Group, ...]:
    """Skipped findings: title, check and severity."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for finding in findings:
        if finding["status"] == SKIP:
            line = (heading_of(finding), finding["check"], finding["severity"])
            groups.setdefault(finding["why"], []).append(line)
    return tuple((reason, tuple(lines)) for reason, lines in groups.items())


@lru_cache(maxsize=64)
def _lists(passed: tuple[_Group, ...], skipped: tuple[_Group, ...]) -> str:
    """The markup of these lines: most hosts of a fleet have the same."""
    return str(parts().lists(passed, skipped))


def when_recorded(state: HostState) -> str:
    """Text after the time of the audit if the evidence was recorded at another time."""
    instants = recorded_apart(state)
    if not instants:
        return ""
    moments = [moment(instant) if instant else "at an unknown time" for instant in instants]
    return "; evidence recorded " + " and ".join(moments)


def _cited(findings: Iterable[dict[str, Any]]) -> set[str]:
    return {key for finding in findings for key in finding["evidence"]}


def _readings(state: HostState, findings: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Note and text by evidence key, in the order in which the findings name them."""
    known: dict[str, tuple[str, str]] = {}
    cited = _cited(findings)
    for part in state.parts:
        known.update(shown_readings(part, cited))
    keys = dict.fromkeys(key for finding in findings for key in finding["evidence"])
    return {key: known[key] for key in keys if key in known}


def _heading(
    state: HostState, ordered: list[dict[str, Any]], section: str, several_runs: bool
) -> str:
    verdict = host_verdict(ordered)
    counts = count_statuses(ordered)
    summary = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    if several_runs:
        summary += "; run {0}".format(state.parts[-1].line["run"]["id"])
    summary += f"; audited {moment(state.at)}{when_recorded(state)}"
    kind, glyph = VERDICT_CLASSES[verdict], VERDICT_GLYPHS[verdict]
    return str(parts().heading(kind, glyph, verdict, one_line(state.name), section, summary))


def _group(group: Group, shown: _Shown) -> str:
    """A cause, with the findings that it also resolves folded below."""
    rests: Any = ""
    if group.rests:
        count = len(group.rests)
        words = "Also resolves" if group.cause["status"] != ERROR else "Same cause:"
        names = [
            " ".join(filter(None, (rest["check"], one_line(subject_of(rest["title"])))))
            for rest in group.rests[:_RESTS_NAMED]
        ]
        more = count - len(names)
        summary = ", ".join(names) + (f" and {more} more" if more > 0 else "")
        rests = parts().rests(
            f"{words} {count} {'finding' if count == 1 else 'findings'}",
            summary,
            _table(_finding(rest, shown) for rest in group.rests),
        )
    return _finding(group.cause, shown, rests)


def _table(rows: Iterable[str]) -> Any:
    """Findings, which are markup already, below their headings."""
    return parts().table(Markup("".join(rows)))


def _finding(finding: dict[str, Any], shown: _Shown, rests: Any = "") -> str:
    figure = shown.figures.get(id(finding))
    anchor = shown.anchors.get(id(finding))
    status = finding["status"]
    # The slugs of an anchor leave nothing to escape.
    begin = f"<tbody class={STATUS_CLASSES[status]}" + (f' id="{anchor}">' if anchor else ">")
    if figure is None:
        content = _content(finding)
    else:
        drawings = _latency(figure, status in (PASS, SKIP), shown)
        content = _words_of(finding, has_figure=True) + str(drawings)
    keys = finding["evidence"]
    links = _citations(_reading_links(keys, shown)) if keys else ""
    return f"{begin}{content}{rests}{links}"


@once
def _content(finding: dict[str, Any]) -> str:
    """The markup of a finding without a figure, up to what hosts differ in."""
    return _words_of(finding, has_figure=False) + memory_bars(finding)


def _words_of(finding: dict[str, Any], *, has_figure: bool) -> str:
    return _words(
        _texts_of(finding),
        finding.get("failing_layer"),
        tuple(finding["commands"]),
        tuple(map(finding["waiver"].get, _OF_WAIVER)) if finding["waiver"] else (),
        has_figure,
    )


#: The fields of a finding that hold one text or none, and those of a waiver that are shown.
_TEXTS = (
    "status",
    "check",
    "severity",
    "why",
    *LAYERS,
    "takes_effect",
    "reference",
    "title",
    "problem",
    "fix",
)
_OF_WAIVER = ("expires", "owner", "reason")
_texts_of = itemgetter(*_TEXTS)


@lru_cache(maxsize=4096)
def _words(
    texts: tuple[str | None, ...],
    failing_layer: str | None,
    commands: tuple[str, ...],
    waiver: tuple[str | None, ...],
    has_figure: bool,
) -> str:
    """The markup of these texts. Hosts share them, and rendering them takes most of the time."""
    finding: dict[str, Any] = dict(zip(_TEXTS, texts, strict=True))
    finding |= {"failing_layer": failing_layer, "commands": list(commands)}
    finding |= dict(zip(_OF_WAIVER, waiver or (None,) * len(_OF_WAIVER), strict=True))
    advice = as_typed(finding["fix"] or "")
    typed = as_typed("\n".join(commands))
    finding["title"] = heading_of(finding)
    bare = finding["status"] in (SKIP, ERROR) and not any(finding[layer] for layer in LAYERS)
    return str(
        parts().finding(finding, STATUS_GLYPHS[finding["status"]], advice, typed, bare, has_figure)
    )


def _citations(links: list[tuple[str, str | None]]) -> str:
    keys = (
        f'<a href="#{escape(anchor)}">{_shown_key(key)}</a>' if anchor else _shown_key(key)
        for key, anchor in links
    )
    return f"<p class=ev>{', '.join(keys)}"


@lru_cache(maxsize=4096)
def _shown_key(key: str) -> str:
    return str(escape(printable(key)))


def _reading_links(keys: list[str], shown: _Shown) -> list[tuple[str, str | None]]:
    """Evidence keys with the ids of their readings, then those without, and where they are."""
    links: list[tuple[str, str | None]] = [
        (key, shown.readings[key]) for key in keys if key in shown.readings
    ]
    if len(links) == len(keys):
        return links
    missing = [key for key in keys if key not in shown.readings]
    for words, some in (
        ("in findings.jsonl", [key for key in missing if key in shown.elsewhere]),
        ("not kept", [key for key in missing if key not in shown.elsewhere]),
    ):
        if some:
            links.append((f"{', '.join(some)} ({words})", None))
    return links


def _latency(figure: Figure, folded: bool, shown: _Shown) -> Any:
    """The drawings and the table of a finding, or where they are."""
    anchor = f"{shown.section}/l{figure.number}"
    if figure.seen is not None:
        return parts().latency_elsewhere(anchor)
    return parts().latency(anchor, not folded, heading(figure), content(figure))
