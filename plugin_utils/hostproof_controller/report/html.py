# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.html: one self-contained page that opens from disk, prints, and does without a script.

A small report holds everything in line. In a large one a text that findings of one check share
stands once, in an appendix of checks, and each finding links to it (the script puts it in line
as one scrolls); the findings of the worst hosts stand in line, those of the others are packed and
unfold as one comes to them; what still does not fit is left out, and the page says what and where
it is. The page is put together in pieces, from one host at a time.
"""

import base64
import hashlib
import html
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.finding import LAYERS, PASS, SKIP, STATUSES, WAIVED

from .evidence import Shelf, Spool, shown_readings
from .latency_figure import Figure, by_urgency, content, figures_of, heading, table
from .page import LEGEND, PAGE_STYLE, SCRIPT, STYLE
from .store import RUN_HOST, WAIVERS_HOST, HostState, Results, is_pseudo, recorded_apart
from .text import fix_of, one_line, printable
from .verdict import (
    EXIT_MEANINGS,
    NOT_READY,
    READY,
    STATUS_GLYPHS,
    UNDETERMINED,
    VERDICT_GLYPHS,
    WARNINGS,
    HostFacts,
    controls_of,
    count_statuses,
    exit_code,
    host_verdict,
    status_totals,
    verdict_totals,
)

#: No page is larger than this, in bytes; the evidence gets what the findings leave.
PAGE_LIMIT = 14500000

#: Findings with more text than this share what they have in common; evidence beyond it is packed.
INLINE_FINDINGS = 4000000
INLINE_EVIDENCE = 2000000

#: Sections of a large report that stand in line, in bytes: a browser shows that much at once.
INLINE_SECTIONS = 1500000

#: With more hosts than these a cell of the matrix is a link only where it needs attention.
LINKED_HOSTS = 500

#: About how much markup one finding takes.
_MARKUP = 450

_CLASSES = {"fail": "F", "error": "E", "warn": "W", "waived": "V", "skip": "S", "pass": "P"}
_VERDICT_CLASSES = {NOT_READY: "F", UNDETERMINED: "E", WARNINGS: "W", READY: "P"}
_SHARED = ("title", "why", "fix", "reference")
_ABOUT_TITLES = {RUN_HOST: "About this run", WAIVERS_HOST: "About the waivers"}
_HOSTS_NAMED = 30

#: Lines of a table of latencies that stand in line where the figure itself is packed.
_LATENCY_ROWS = 12

#: Shows on paper only, at the end of the summary that a change board signs.
_SIGN_OFF = "<div class=sign><p>Prepared by, date<p>Reviewed by, date<p>Approved by, date</div>"


class _Shown(NamedTuple):
    """What the findings of one host show beside themselves.

    ``readings`` are note and text by evidence key, ``figures`` are of latencies, by the id() of
    their finding; ``shelf`` is where both go in a large report, ``section`` the host's id.
    """

    section: str
    shelf: Shelf | None
    readings: dict[str, tuple[str, str]]
    figures: dict[int, Figure]


class _Texts(NamedTuple):
    """What the findings of a check have in common: nothing at all in a small report.

    ``anchors`` are the ids of the checks in the appendix, ``common`` the shared texts by
    (check, status).
    """

    anchors: dict[str, str]
    common: dict[tuple[str, str], dict[str, str | None]]


class _Frequent:
    """The texts that come often: of any number it remembers a few, among them each that makes up
    more than a seventeenth of all, counted as often as it came or somewhat less."""

    MOST = 16

    def __init__(self) -> None:
        self.seen: dict[str | None, int] = {}
        self.total = 0

    def add(self, text: str | None) -> None:
        self.total += 1
        if text in self.seen:
            self.seen[text] += 1
        elif len(self.seen) < self.MOST:
            self.seen[text] = 1
        else:
            self.seen = {one: count - 1 for one, count in self.seen.items() if count > 1}

    def common(self) -> list[str | None]:
        """The text that a good part of the findings share; what few hosts say is not common."""
        text = max(self.seen, key=lambda text: self.seen[text], default=None)
        count = self.seen.get(text, 0)
        return [text] if count > 1 and count * 5 >= self.total else []


class _Waived:
    """The first hosts that a waiver covers, and how many there are."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.count = 0

    def add(self, name: str) -> None:
        self.count += 1
        if len(self.names) < _HOSTS_NAMED:
            self.names.append(name)


class Survey:
    """What of all the findings must be known before the first byte of the page is written."""

    def __init__(self) -> None:
        self.evidence = 0
        self.waivers: set[tuple[tuple[str, str], ...]] = set()
        self.waived: dict[tuple[str, ...], _Waived] = {}
        self.recorded: list[str | None] = []
        self.recorded_hosts = 0
        self._findings = 0
        self._severities: dict[str, str] = {}
        self._texts: dict[tuple[str, str], dict[str, _Frequent]] = {}
        self._titles: dict[str, _Frequent] = {}

    def add(self, state: HostState) -> None:
        is_host = not is_pseudo(state.name)
        for finding in state.findings:
            texts = _texts_of(finding)
            if is_host:
                self._findings += _MARKUP + sum(len(finding[name] or "") for name in LAYERS)
                self._findings += sum(len(text or "") for text in texts.values())
            self._add_texts(finding, texts)
            if finding["status"] == WAIVED:
                waiver = finding["waiver"]
                self.waivers.add(tuple(sorted(waiver.items())))
                key = (finding["check"], waiver["was"], waiver["owner"], waiver["reason"])
                self.waived.setdefault((*key, waiver["expires"]), _Waived()).add(state.name)
        if self.evidence <= INLINE_EVIDENCE:
            self.evidence += _evidence_size(state)
        recorded = recorded_apart(state) if is_host else []
        if recorded:
            self.recorded_hosts += 1
            known = sorted(one for one in [*self.recorded, *recorded] if one)
            self.recorded = [known[0], known[-1]] if known else [None]

    def _add_texts(self, finding: dict[str, Any], texts: dict[str, str | None]) -> None:
        check = finding["check"]
        self._severities[check] = finding["severity"]
        key = (check, finding["status"])
        if key not in self._texts:
            self._texts[key] = {name: _Frequent() for name in _SHARED if name != "title"}
        by_name = self._texts[key]
        for name, text in texts.items():
            if name != "title":
                by_name[name].add(text)
        # The appendix has one title a check, whatever the status.
        if check not in self._titles:
            self._titles[check] = _Frequent()
        self._titles[check].add(texts["title"])

    @property
    def is_large(self) -> bool:
        return self._findings > INLINE_FINDINGS

    def texts(self) -> _Texts:
        if not self.is_large:
            return _Texts({}, {})
        anchors = {check: f"c{number}" for number, check in enumerate(sorted(self._titles), 1)}
        common = {
            key: {
                name: text
                for name, frequent in {**by_name, "title": self._titles[key[0]]}.items()
                for text in frequent.common()
            }
            for key, by_name in self._texts.items()
        }
        return _Texts(anchors, common)

    def checks(self, texts: _Texts) -> str:
        """The appendix: what is common to all findings of a check."""
        if not texts.anchors:
            return ""
        pieces = [
            "<section id=checks><h2>Checks <small>what their findings have in common</small></h2>"
        ]
        for check, anchor in texts.anchors.items():
            parts = []
            title = check
            for status in STATUSES:
                common = texts.common.get((check, status))
                if common:
                    title = common.get("title") or title
                    parts.append(_check_part(status, common))
            pieces.append(
                f"<div class=c id={anchor}><h3><span>{_esc(title)}</span> "
                f"<code>{_esc(check)}</code><small>{self._severities[check]}</small></h3>"
                f"{''.join(parts)}</div>"
            )
        return "".join(pieces) + "</section>"


def html_pieces(results: Results, generated: str, strict: bool, survey: Survey) -> Iterator[str]:
    """The text of report.html in pieces; ``survey`` has seen all states."""
    texts = survey.texts()
    order = results.tally.worst_first()
    before = Spool()
    before.add(_header(results, generated, strict, survey))
    before.add("<main>" + _verdict_tiles(results) + _notes(results))
    before.add("".join(_about(state, texts) for state in results.about))
    for piece in _matrix(results, order):
        before.add(piece)
    before.add(_waived(survey) + _SIGN_OFF)
    after = survey.checks(texts) + "</main>" + _footer()
    room = PAGE_LIMIT - before.size - _size(after) - _size(STYLE + SCRIPT)

    shelf = Shelf()
    packer = None if survey.evidence <= INLINE_EVIDENCE else shelf
    sections, left_out = _sections(results, order, texts, packer, shelf, room)
    if packer:
        shelf.close_chunk()
        shelf.open(room - sections.size)
        for number, place in enumerate(order, 1):
            shelf.add_host(f"h{number}", results.hosts[place])
    yield _head(results)
    yield from before.pieces()
    yield "<section id=findings>"
    if order:
        notes = _left_out(texts, left_out, shelf, packer)
        yield "<h2>Findings by host</h2>" + "".join("<p class=dim>" + note for note in notes)
        yield from sections.pieces()
    yield "</section>" + after
    opening = "<script type=application/json id=ev>"
    for piece in shelf.pieces():
        yield opening + piece
        opening = ""
    yield "" if opening else "</script>"
    yield f"<script>{SCRIPT}</script>\n"


def _sections(
    results: Results,
    order: list[int],
    texts: _Texts,
    packer: Shelf | None,
    shelf: Shelf,
    room: int,
) -> tuple[Spool, int]:
    """The sections of the hosts, in line or with their findings on the shelf; how many fit not."""
    sections = Spool()
    in_line = min(room, INLINE_SECTIONS) if texts.anchors else room
    shelf.open(room)
    for number, place in enumerate(order, 1):
        if shelf.is_full:
            return sections, len(order) - number + 1
        section = f"h{number}"
        state = results.hosts[place]
        heading, findings = _host(state, section, texts, packer, results)
        whole = f"<section class=h id={section}>{heading}{findings}</section>"
        if not shelf.sections and sections.size + _size(whole) <= in_line:
            piece = whole
        else:
            found = shelf.found_number(_found(state))
            piece = f"<section class=h id={section} data-p={found}>{heading}</section>"
            shelf.add_section(section, findings)
        sections.add(piece)
        shelf.take(_size(piece))
    return sections, 0


def _found(state: HostState) -> dict[str, dict[str, int]]:
    """How many findings of each status there are, by control, as the filters of the page ask."""
    found: dict[str, dict[str, int]] = {}
    for finding in state.findings:
        counts = found.setdefault(finding["control"], {})
        name = _CLASSES[finding["status"]]
        counts[name] = counts.get(name, 0) + 1
    return found


def _head(results: Results) -> str:
    runs = ", ".join(run.id for run in results.runs) or "none"
    running = re.sub("[^A-Za-z0-9 .,:_+-]", "_", f"Hostproof {VERSION}, run {runs}")
    style = STYLE + PAGE_STYLE.format(running=running[:160])
    policy = "default-src 'none';style-src {0};script-src {1};base-uri 'none';form-action 'none'"
    return "".join(
        [
            "<!doctype html><html lang=en><meta charset=utf-8>",
            '<meta http-equiv=Content-Security-Policy content="',
            policy.format(_hash(style), _hash(SCRIPT)),
            '"><meta name=viewport content="width=device-width,initial-scale=1">',
            f"<title>Hostproof: {_esc(_headline(results))}</title><style>{style}</style>",
            "<body><a class=skiplink href=#findings>Skip to the findings</a>",
        ]
    )


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return "'sha256-{0}'".format(base64.b64encode(digest).decode("ascii"))


# The head of the page


def _header(results: Results, generated: str, strict: bool, survey: Survey) -> str:
    code = exit_code(results, strict)
    answered = sum(run.answered for run in results.runs)
    facts = [
        ("Run", _several([run.id for run in results.runs])),
        ("Started", _several([_moment(run.started) for run in results.runs])),
        ("Hosts judged", f"{answered} of {results.expected}"),
        ("Waivers", "{0} in force".format(len(survey.waivers) or "none")),
        (
            "Exit code",
            "{0}: {1}{2}".format(code, EXIT_MEANINGS[code], ", strict" if strict else ""),
        ),
        ("Report rendered", f"{_moment(generated)} by Hostproof {VERSION}"),
    ]
    recorded = _recorded_before(results, survey)
    if recorded:
        facts.insert(2, ("Evidence recorded", recorded))
    return "<header>{0}<h1>{1}</h1>{2}</header>".format(
        "<p class=brand><b>Hostproof</b> host readiness report",
        _esc(_headline(results)),
        "<dl class=meta>{0}</dl>".format(
            "".join(f"<div><dt>{name}<dd>{_esc(text)}</div>" for name, text in facts)
        ),
    )


def _recorded_before(results: Results, survey: Survey) -> str | None:
    """From when to when evidence was recorded that was judged at another time, and of how many."""
    if not survey.recorded:
        return None
    instants = dict.fromkeys(_moment(one) for one in survey.recorded if one)
    when = " to ".join(instants) or "at an unknown time"
    return f"{when}, of {survey.recorded_hosts} of {len(results.hosts)} hosts; judged later"


def _when_recorded(state: HostState) -> str:
    """What follows the instant of judgement where the evidence is of another."""
    instants = recorded_apart(state)
    if not instants:
        return ""
    told = [_moment(one) if one else "at an unknown time" for one in instants]
    return ", from evidence recorded " + " and ".join(told)


def _headline(results: Results) -> str:
    """The whole report in one sentence."""
    counts = verdict_totals(results)
    total = len(results.hosts)
    if not total:
        text = "No host was judged"
    elif counts[NOT_READY]:
        text = f"{_of_hosts(counts[NOT_READY], total)} not ready"
    elif counts[UNDETERMINED]:
        text = "{0} could not be determined".format(_of_hosts(counts[UNDETERMINED], total, ""))
    elif counts[WARNINGS]:
        text = f"{_of_hosts(counts[WARNINGS], total)} ready with warnings"
    else:
        text = "The host is ready" if total == 1 else f"All {total} hosts are ready"
    return text + ("; the run was cut short" if results.cut_short else "")


def _of_hosts(count: int, total: int, verb: str | None = None) -> str:
    if total == 1:
        subject, linking = "The host", "is"
    elif count == total:
        subject, linking = f"All {total} hosts", "are"
    else:
        subject = f"{count} of {total} hosts"
        linking = "is" if count == 1 else "are"
    return subject if verb == "" else f"{subject} {linking}"


def _several(texts: list[str]) -> str:
    shown = list(dict.fromkeys(texts))
    more = len(shown) - 4
    return ", ".join(shown[:4]) + (f" and {more} more" if more > 0 else "") or "none"


def _verdict_tiles(results: Results) -> str:
    tiles = "".join(
        '<li class="{0}{1}"><b>{2}</b><span>{3} {4}</span>'.format(
            _VERDICT_CLASSES[verdict],
            "" if count else " z",
            count,
            VERDICT_GLYPHS[verdict],
            verdict,
        )
        for verdict, count in verdict_totals(results).items()
    )
    totals = "".join(
        f"<li><b>{count}</b> {status}" for status, count in status_totals(results).items()
    )
    return (
        f'<ul class=tiles aria-label="Hosts by verdict">{tiles}</ul>'
        f'<ul class=tot aria-label="Findings by status"><li>Findings:{totals}</ul>'
    )


def _notes(results: Results) -> str:
    notes = list(results.notes)
    if results.cut_short:
        notes.insert(0, "The run was cut short: hosts are missing from this report.")
    return "".join(f"<p class=note role=note>{_esc(note)}" for note in notes)


def _about(state: HostState, texts: _Texts) -> str:
    return "<section class=a><h2>{0}</h2>{1}</section>".format(
        _ABOUT_TITLES.get(state.name, _esc(state.name)),
        _table(state.findings, texts, _Shown("", None, {}, {})),
    )


# The matrix


def _matrix(results: Results, order: list[int]) -> Iterator[str]:
    if not order:
        return
    controls = controls_of(results)
    head = "".join(f"<th scope=col>{_esc(control)}" for control in controls)
    yield (
        "<section id=matrix><h2>Hosts and controls <small>worst status of each "
        f"control</small></h2>{_filter(results, controls)}<div class=m tabindex=0 role=region "
        "aria-label='Hosts and controls'><table><thead><tr><th scope=col>Host<th "
        f"scope=col>Verdict{head}<tbody>"
    )
    for number, place in enumerate(order, 1):
        host = results.tally.hosts[place]
        yield _matrix_row(host, f"h{number}", controls, len(order) <= LINKED_HOSTS)
    yield "</table></div></section>"


def _matrix_row(host: HostFacts, section: str, controls: list[str], linked: bool) -> str:
    cells = []
    for control in controls:
        if control not in host.controls:
            cells.append("<td>")
            continue
        status = host.controls[control]
        count = host.alike[control]
        quiet = status in (PASS, SKIP)
        text = "{0} {1}{2}".format(
            STATUS_GLYPHS[status], f"{count} " if count > 1 and not quiet else "", status
        )
        if linked or not quiet:
            text = f"<a href=#{section}>{text}</a>"
        cells.append(f"<td class={_CLASSES[status]}>{text}")
    return (
        "<tr data-h={0}><th scope=row><a href=#{0}>{1}</a><td class={2}><b>{3} {4}</b>{5}".format(
            section,
            _esc(one_line(host.name)),
            _VERDICT_CLASSES[host.verdict],
            VERDICT_GLYPHS[host.verdict],
            host.verdict,
            "".join(cells),
        )
    )


def _filter(results: Results, controls: list[str]) -> str:
    """The filters; the script shows them, because it is the script that they need."""
    totals = results.tally.of_hosts
    boxes = "".join(
        "<label class={0}><input type=checkbox value={0} checked> {1} {2} ({3})</label>".format(
            _CLASSES[status], STATUS_GLYPHS[status], status, count
        )
        for status, count in totals.items()
        if count
    )
    options = "".join(f"<option>{_esc(control)}" for control in controls)
    return (
        "<form id=filter hidden role=search aria-label='Filter hosts and "
        f"findings'><fieldset><legend>Status</legend>{boxes}</fieldset><label><span "
        "class=lab>Control</span><select name=control><option "
        f"value=''>all{options}</select></label><label><span class=lab>Host contains</span><input "
        "type=search name=host></label><button type=reset>Show all</button><output "
        "aria-live=polite></output></form>"
    )


def _waived(survey: Survey) -> str:
    """Who answers for what until when."""
    if not survey.waived:
        return ""
    rows = "".join(
        "<tr class=V><th scope=row><code>{0}</code><td>{1}<td>{2}<td>{3}<td>{4}<td>{5}".format(
            _esc(check),
            _esc(f"{STATUS_GLYPHS[was]} {was}"),
            _esc(_named(hosts)),
            _esc(owner),
            _esc(reason),
            _esc(expires),
        )
        for (check, was, owner, reason, expires), hosts in sorted(
            survey.waived.items(), key=lambda one: one[0]
        )
    )
    return (
        "<section id=waived><h2>Waived <small>accepted by their owners until a "
        "date</small></h2><table class=w><thead><tr><th scope=col>Check<th scope=col>Was<th "
        "scope=col>Hosts<th scope=col>Owner<th scope=col>Reason<th "
        f"scope=col>Expires<tbody>{rows}</table></section>"
    )


def _named(hosts: _Waived) -> str:
    more = hosts.count - len(hosts.names)
    return ", ".join(hosts.names) + (f" and {more} more" if more > 0 else "")


# The findings


def _left_out(texts: _Texts, hosts: int, shelf: Shelf, packer: Shelf | None) -> list[str]:
    """What this page does not hold, or not in plain sight, and where it is."""
    notes = []
    if texts.anchors:
        notes.append(
            "What the findings of a check have in common stands once, under <a "
            "href=#checks>Checks</a>; each finding links to it."
        )
    if shelf.sections:
        notes.append(
            f"The findings of the last {shelf.sections} hosts below are packed into this page, and "
            "stand there with JavaScript as one comes to them; paper has those that one came to. "
            "report.json holds all of them."
        )
    if hosts:
        notes.append(
            f"The findings of {hosts} hosts are left out to keep this page usable: report.json "
            "holds them."
        )
    if packer and not packer.is_empty:
        notes.append(
            "The raw evidence is packed into this page and unfolds with JavaScript; "
            "findings.jsonl holds it too."
        )
        if packer.figures:
            notes.append(
                "Latencies are drawn when they are unfolded, with JavaScript; their tables stand "
                "here without it, the longer ones cut."
            )
    if shelf.left_out:
        notes.append(
            f"The evidence of {shelf.left_out} hosts is left out to keep this page usable: "
            "findings.jsonl holds it."
        )
    return notes


def _host(
    state: HostState, section: str, texts: _Texts, shelf: Shelf | None, results: Results
) -> tuple[str, str]:
    """The heading of a host's section, and its findings: what needs attention, then what passed or
    does not apply, folded."""
    ordered = by_urgency(state)
    verdict = host_verdict(ordered)
    loud = [finding for finding in ordered if finding["status"] not in (PASS, SKIP)]
    quiet = [finding for finding in ordered if finding["status"] in (PASS, SKIP)]
    readings: dict[str, tuple[str, str]] = {}
    if shelf is None:
        for part in state.parts:
            readings.update(shown_readings(part))
    shown = _Shown(section, shelf, readings, figures_of(state))
    counts = count_statuses(ordered)
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    if len(results.runs) > 1:
        told += "; run {0}".format(state.parts[-1].line["run"]["id"])
    name = _esc(one_line(state.name))
    heading = (
        f"<h3><span class='v {_VERDICT_CLASSES[verdict]}'>{VERDICT_GLYPHS[verdict]} {verdict}"
        f"</span>{name}<small>{_esc(told)}; judged {_esc(_moment(state.at))}"
        f"{_esc(_when_recorded(state))}</small></h3>"
    )
    pieces = []
    if loud:
        pieces.append(_table(loud, texts, shown))
    if quiet:
        label = ", ".join(
            f"{count} {words}"
            for count, words in ((counts[PASS], "passed"), (counts[SKIP], "not applicable"))
            if count
        )
        pieces.append(
            f"<details class=o><summary>{label}</summary>{_table(quiet, texts, shown)}</details>"
        )
    return heading, "".join(pieces)


def _table(findings: list[dict[str, Any]], texts: _Texts, shown: _Shown) -> str:
    return (
        "<table class=g><colgroup><col><col span=4><col><thead><tr><th scope=col>Finding<th "
        "scope=col>Desired<th scope=col>Persisted<th scope=col>Running<th scope=col>In use<th "
        "scope=col>Takes effect{0}</table>"
    ).format("".join(_finding(finding, texts, shown) for finding in findings))


def _texts_of(finding: dict[str, Any]) -> dict[str, str | None]:
    """What findings of one check may have in common; the fix with its commands below it."""
    return {name: fix_of(finding) if name == "fix" else finding[name] for name in _SHARED}


def _finding(finding: dict[str, Any], texts: _Texts, shown: _Shown) -> str:
    status = finding["status"]
    common = texts.common.get((finding["check"], status), {})
    own = {name: text for name, text in _texts_of(finding).items() if text != common.get(name, ())}
    check = _esc(finding["check"])
    anchor = texts.anchors.get(finding["check"])
    name = f"<a href=#{anchor}>{check}</a>" if anchor else check
    head = f"<b>{STATUS_GLYPHS[status]} {status}</b> "
    if anchor:
        title = "<span>{0}</span> ".format(_esc(own["title"])) if "title" in own else ""
        head += title + name
    else:
        head += "{0}<small><code>{1}</code> · {2}</small>".format(
            _esc(finding["title"]), name, finding["severity"]
        )
    if status == SKIP and not any(finding[layer] for layer in LAYERS):
        cells = "<td colspan=5 class=n>{0}".format(_esc(finding["why"]))
        own.pop("why", None)
    else:
        cells = "".join(_layer(finding[layer]) for layer in LAYERS)
        cells += "<td class=n>" + _effect(finding["takes_effect"])
    figure = shown.figures.get(id(finding))
    prose = _prose(finding, own)
    if figure is not None:
        prose += _latency(figure, status in (PASS, SKIP), shown)
    marker = ""
    if shown.shelf is None:
        prose += _evidence(finding, shown.readings)
    elif finding["evidence"]:
        marker = " data-e={0}".format(shown.shelf.set_number(finding["evidence"]))
    return "<tbody class={0}{1}><tr><th scope=row>{2}{3}{4}".format(
        _CLASSES[status],
        marker,
        head,
        cells,
        "<tr><td class={0} colspan=6>{1}".format("'d t'" if figure else "d", prose)
        if prose
        else "",
    )


def _layer(text: str | None) -> str:
    return "<td>—" if text is None else "<td>" + _esc(text)


def _prose(finding: dict[str, Any], own: dict[str, str | None]) -> str:
    """Why, waiver, fix and reference, as far as the appendix does not say them."""
    pieces = []
    if own.get("why"):
        pieces.append("<p class=y>" + _esc(own["why"] or ""))
    if finding["waiver"]:
        waiver = finding["waiver"]
        pieces.append(
            "<p class=u>until {0} by {1}: {2}".format(
                _esc(waiver["expires"]), _esc(waiver["owner"]), _esc(waiver["reason"])
            )
        )
    if own.get("fix"):
        pieces.append(_fix(own["fix"] or ""))
    if own.get("reference"):
        pieces.append("<p class=r>" + _esc(own["reference"] or ""))
    return "".join(pieces)


def _fix(text: str) -> str:
    return f"<pre class=x>{_esc(text)}</pre>"


def _latency(figure: Figure, folded: bool, shown: _Shown) -> str:
    """The drawings and the table of a finding; in a large report the script adds the drawings."""
    anchor = f"{shown.section}l{figure.number}"
    if figure.seen is not None:
        return f"<p class=ev><a href=#{anchor}>the figure of another finding</a>"
    marker = ""
    if shown.shelf is None:
        inner = content(figure)
    else:
        folded = True
        marker = f" data-l={shown.shelf.figure_number(figure.keys)}"
        inner = table(figure, _LATENCY_ROWS)
    return "<details class=l id={0}{1}{2}><summary>{3}</summary><div>{4}</div></details>".format(
        anchor, marker, "" if folded else " open", _esc(heading(figure)), inner
    )


def _evidence(finding: dict[str, Any], readings: dict[str, tuple[str, str]]) -> str:
    keys = finding["evidence"]
    if not keys:
        return ""
    names = _esc(", ".join(keys))
    shown = [(key, readings[key]) for key in keys if key in readings]
    if not shown:
        return f"<p class=ev>{names} (not kept)"
    return "<details class=e><summary>Evidence: {0}</summary>{1}</details>".format(
        names,
        "".join(
            f"<h4>{_esc(key)} "
            f"<small>{_esc(note)}</small></h4><pre>\n{html.escape(text, quote=False)}</pre>"
            for key, (note, text) in shown
        ),
    )


# Large reports


def _evidence_size(state: HostState) -> int:
    """About how many bytes the evidence of a host takes in line."""
    total = 0
    for part in state.parts:
        readings = shown_readings(part)
        sizes = {key: len(text) + 60 for key, (_, text) in readings.items()}
        for finding in part.findings:
            total += sum(sizes.get(key, 0) for key in finding["evidence"])
    return total + sum(len(content(figure)) for figure in figures_of(state).values())


def _check_part(status: str, common: dict[str, str | None]) -> str:
    pieces = [f"<div class={_CLASSES[status]}><b class=v>{STATUS_GLYPHS[status]} {status}</b>"]
    if common.get("why"):
        pieces.append("<p class=y>{0}</p>".format(_esc(common["why"] or "")))
    if common.get("fix"):
        pieces.append(_fix(common["fix"] or ""))
    if common.get("reference"):
        pieces.append("<p class=r>{0}</p>".format(_esc(common["reference"] or "")))
    return "".join(pieces) + "</div>"


def _footer() -> str:
    return f"<footer><h2>How to read this report</h2>{LEGEND}</footer>"


# Small helpers


def _effect(value: str | None) -> str:
    return value.replace("_", " ") if value else "—"


def _moment(instant: str) -> str:
    return instant.replace("T", " ").replace("Z", " UTC")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))


@lru_cache(maxsize=8192)
def _esc(text: str) -> str:
    return html.escape(printable(text))
