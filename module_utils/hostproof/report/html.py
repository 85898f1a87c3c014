# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.html: one self-contained page that opens from disk, prints, and does without a script.

A small report holds everything in line. In a large one a text that findings of one check share
stands once, in an appendix of checks, and each finding links to it (the script puts it in line
as one scrolls); what still does not fit is left out, worst hosts first kept, and the page says
what and where it is.
"""

import base64
import hashlib
import html
import re
from functools import lru_cache
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .. import VERSION
from ..finding import LAYERS, PASS, SKIP, STATUSES, WAIVED
from .evidence import Shelf, shown_readings
from .latency_figure import Figure, by_urgency, content, figures_of, heading, table
from .page import LEGEND, PAGE_STYLE, SCRIPT, STYLE
from .store import RUN_HOST, WAIVERS_HOST, HostState, Results
from .text import one_line, printable
from .verdict import (
    EXIT_MEANINGS,
    NOT_READY,
    READY,
    STATUS_GLYPHS,
    UNDETERMINED,
    VERDICT_GLYPHS,
    WARNINGS,
    controls_of,
    count_statuses,
    exit_code,
    host_verdict,
    status_totals,
    verdict_totals,
    worst_by_control,
)

#: No page is larger than this, in bytes; the evidence gets what the findings leave.
PAGE_LIMIT = 14500000

#: Findings with more text than this share what they have in common; evidence beyond it is packed.
INLINE_FINDINGS = 4000000
INLINE_EVIDENCE = 2000000

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
    shelf: Optional[Shelf]
    readings: Dict[str, Tuple[str, str]]
    figures: Dict[int, Figure]


class _Texts(NamedTuple):
    """What the findings of a check have in common: nothing at all in a small report.

    ``anchors`` are the ids of the checks in the appendix, ``common`` the shared texts by
    (check, status). ``brief``: what is neither shared nor needed to act is left out.
    """

    anchors: Dict[str, str]
    common: Dict[Tuple[str, str], Dict[str, Optional[str]]]
    brief: bool


def render_html(results, generated, strict=False):
    # type: (Results, str, bool) -> str
    """The text of report.html."""
    order = list(VERDICT_GLYPHS)
    hosts = sorted(results.hosts, key=lambda state: order.index(host_verdict(state.findings)))
    ids = {state.name: "h{0}".format(number) for number, state in enumerate(hosts, 1)}
    texts = _shared_texts(results)
    inline = _evidence_size(results) <= INLINE_EVIDENCE
    shelf = Shelf()
    before = [
        _header(results, generated, strict),
        "<main>",
        _verdict_tiles(results),
        _notes(results, texts),
        "".join(_about(state, texts) for state in results.about),
        _matrix(results, hosts, ids),
        _waived(results),
        _SIGN_OFF,
    ]
    after = [_checks(results, texts), "</main>", _footer()]
    room = PAGE_LIMIT - sum(_size(piece) for piece in before + after) - _size(STYLE + SCRIPT)
    packer = None if inline else shelf
    sections = [_host(state, ids[state.name], texts, packer, results) for state in hosts]
    if sum(_size(section) for section in sections) > room:
        texts = texts._replace(brief=True)
        sections = [_host(state, ids[state.name], texts, packer, results) for state in hosts]
    kept = _fitting(sections, room)
    room -= sum(_size(section) for section in kept)
    packed = None if inline else _pack(shelf, hosts, ids, room)
    notes = _left_out(texts, len(sections) - len(kept), shelf, packed)
    findings = _findings_section(kept, notes)
    body = "".join([*before, findings, *after])
    return _document(results, body, packed)


def _document(results, body, packed):
    # type: (Results, str, Optional[str]) -> str
    runs = ", ".join(run.id for run in results.runs) or "none"
    running = re.sub("[^A-Za-z0-9 .,:_+-]", "_", "Hostproof {0}, run {1}".format(VERSION, runs))
    style = STYLE + PAGE_STYLE.format(running=running[:160])
    policy = "default-src 'none';style-src {0};script-src {1};base-uri 'none';form-action 'none'"
    return "".join(
        [
            "<!doctype html><html lang=en><meta charset=utf-8>",
            '<meta http-equiv=Content-Security-Policy content="',
            policy.format(_hash(style), _hash(SCRIPT)),
            '"><meta name=viewport content="width=device-width,initial-scale=1">',
            "<title>Hostproof: {0}</title><style>{1}</style>".format(
                _esc(_headline(results)), style
            ),
            "<body><a class=skiplink href=#findings>Skip to the findings</a>",
            body,
            "<script type=application/json id=ev>{0}</script>".format(packed) if packed else "",
            "<script>{0}</script>\n".format(SCRIPT),
        ]
    )


def _hash(content):
    # type: (str) -> str
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return "'sha256-{0}'".format(base64.b64encode(digest).decode("ascii"))


# The head of the page


def _header(results, generated, strict):
    # type: (Results, str, bool) -> str
    code = exit_code(results, strict)
    answered = sum(run.answered for run in results.runs)
    waivers = {
        tuple(sorted(finding["waiver"].items()))
        for state in results.states
        for finding in state.findings
        if finding["status"] == WAIVED
    }
    facts = [
        ("Run", _several([run.id for run in results.runs])),
        ("Started", _several([_moment(run.started) for run in results.runs])),
        ("Hosts judged", "{0} of {1}".format(answered, results.expected)),
        ("Waivers", "{0} in force".format(len(waivers) or "none")),
        (
            "Exit code",
            "{0}: {1}{2}".format(code, EXIT_MEANINGS[code], ", strict" if strict else ""),
        ),
        ("Report rendered", "{0} by Hostproof {1}".format(_moment(generated), VERSION)),
    ]
    return "<header>{0}<h1>{1}</h1>{2}</header>".format(
        "<p class=brand><b>Hostproof</b> host readiness report",
        _esc(_headline(results)),
        "<dl class=meta>{0}</dl>".format(
            "".join("<div><dt>{0}<dd>{1}</div>".format(name, _esc(text)) for name, text in facts)
        ),
    )


def _headline(results):
    # type: (Results) -> str
    """The whole report in one sentence."""
    counts = verdict_totals(results)
    total = len(results.hosts)
    if not total:
        text = "No host was judged"
    elif counts[NOT_READY]:
        text = "{0} not ready".format(_of_hosts(counts[NOT_READY], total))
    elif counts[UNDETERMINED]:
        text = "{0} could not be determined".format(_of_hosts(counts[UNDETERMINED], total, ""))
    elif counts[WARNINGS]:
        text = "{0} ready with warnings".format(_of_hosts(counts[WARNINGS], total))
    else:
        text = "The host is ready" if total == 1 else "All {0} hosts are ready".format(total)
    return text + ("; the run was cut short" if results.cut_short else "")


def _of_hosts(count, total, verb=None):
    # type: (int, int, Optional[str]) -> str
    if total == 1:
        subject, linking = "The host", "is"
    elif count == total:
        subject, linking = "All {0} hosts".format(total), "are"
    else:
        subject = "{0} of {1} hosts".format(count, total)
        linking = "is" if count == 1 else "are"
    return subject if verb == "" else "{0} {1}".format(subject, linking)


def _several(texts):
    # type: (List[str]) -> str
    shown = list(dict.fromkeys(texts))
    more = len(shown) - 4
    return ", ".join(shown[:4]) + (" and {0} more".format(more) if more > 0 else "") or "none"


def _verdict_tiles(results):
    # type: (Results) -> str
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
        "<li><b>{0}</b> {1}".format(count, status)
        for status, count in status_totals(results).items()
    )
    return (
        '<ul class=tiles aria-label="Hosts by verdict">{0}</ul>'
        '<ul class=tot aria-label="Findings by status"><li>Findings:{1}</ul>'.format(tiles, totals)
    )


def _notes(results, texts):
    # type: (Results, _Texts) -> str
    notes = list(results.notes)
    if results.cut_short:
        notes.insert(0, "The run was cut short: hosts are missing from this report.")
    return "".join("<p class=note role=note>{0}".format(_esc(note)) for note in notes)


def _about(state, texts):
    # type: (HostState, _Texts) -> str
    return "<section class=a><h2>{0}</h2>{1}</section>".format(
        _ABOUT_TITLES.get(state.name, _esc(state.name)),
        _table(state.findings, texts, _Shown("", None, {}, {})),
    )


# The matrix


def _matrix(results, hosts, ids):
    # type: (Results, List[HostState], Dict[str, str]) -> str
    if not hosts:
        return ""
    controls = controls_of(results)
    head = "".join("<th scope=col>{0}".format(_esc(control)) for control in controls)
    rows = "".join(_matrix_row(state, ids[state.name], controls) for state in hosts)
    return (
        "<section id=matrix><h2>Hosts and controls <small>worst status of each control</small></h2>"
        "{0}<div class=m tabindex=0 role=region aria-label='Hosts and controls'><table>"
        "<thead><tr><th scope=col>Host<th scope=col>Verdict{1}<tbody>{2}</table></div></section>"
    ).format(_filter(results, controls), head, rows)


def _matrix_row(state, section, controls):
    # type: (HostState, str, List[str]) -> str
    verdict = host_verdict(state.findings)
    worst = worst_by_control(state.findings)
    cells = []
    for control in controls:
        if control not in worst:
            cells.append("<td>")
            continue
        status = worst[control]
        count = sum(
            finding["control"] == control and finding["status"] == status
            for finding in state.findings
        )
        cells.append(
            "<td class={0}><a href=#{1}>{2} {3}{4}</a>".format(
                _CLASSES[status],
                section,
                STATUS_GLYPHS[status],
                "{0} ".format(count) if count > 1 and status not in (PASS, SKIP) else "",
                status,
            )
        )
    return (
        "<tr data-h={0}><th scope=row><a href=#{0}>{1}</a><td class={2}><b>{3} {4}</b>{5}".format(
            section,
            _esc(one_line(state.name)),
            _VERDICT_CLASSES[verdict],
            VERDICT_GLYPHS[verdict],
            verdict,
            "".join(cells),
        )
    )


def _filter(results, controls):
    # type: (Results, List[str]) -> str
    """The filters; the script shows them, because it is the script that they need."""
    totals = count_statuses(finding for state in results.hosts for finding in state.findings)
    boxes = "".join(
        "<label class={0}><input type=checkbox value={0} checked> {1} {2} ({3})</label>".format(
            _CLASSES[status], STATUS_GLYPHS[status], status, count
        )
        for status, count in totals.items()
        if count
    )
    options = "".join("<option>{0}".format(_esc(control)) for control in controls)
    return (
        "<form id=filter hidden role=search aria-label='Filter hosts and findings'>"
        "<fieldset><legend>Status</legend>{0}</fieldset>"
        "<label><span class=lab>Control</span>"
        "<select name=control><option value=''>all{1}</select></label>"
        "<label><span class=lab>Host contains</span><input type=search name=host></label>"
        "<button type=reset>Show all</button><output aria-live=polite></output></form>"
    ).format(boxes, options)


def _waived(results):
    # type: (Results) -> str
    """Who answers for what until when."""
    groups = {}  # type: Dict[Tuple[str, ...], List[str]]
    for state in results.states:
        for finding in state.findings:
            if finding["status"] == WAIVED:
                waiver = finding["waiver"]
                key = (finding["check"], waiver["was"], waiver["owner"], waiver["reason"])
                groups.setdefault((*key, waiver["expires"]), []).append(state.name)
    if not groups:
        return ""
    rows = "".join(
        "<tr class=V><th scope=row><code>{0}</code><td>{1}<td>{2}<td>{3}<td>{4}<td>{5}".format(
            _esc(check),
            _esc("{0} {1}".format(STATUS_GLYPHS[was], was)),
            _esc(_named(names)),
            _esc(owner),
            _esc(reason),
            _esc(expires),
        )
        for (check, was, owner, reason, expires), names in sorted(groups.items())
    )
    return (
        "<section id=waived><h2>Waived <small>accepted by their owners until a date</small></h2>"
        "<table class=w><thead><tr><th scope=col>Check<th scope=col>Was<th scope=col>Hosts"
        "<th scope=col>Owner<th scope=col>Reason<th scope=col>Expires<tbody>{0}</table></section>"
    ).format(rows)


def _named(names):
    # type: (List[str]) -> str
    more = len(names) - _HOSTS_NAMED
    return ", ".join(names[:_HOSTS_NAMED]) + (" and {0} more".format(more) if more > 0 else "")


# The findings


def _findings_section(sections, notes):
    # type: (List[str], List[str]) -> str
    if not sections:
        return "<section id=findings></section>"
    return "<section id=findings><h2>Findings by host</h2>{0}{1}</section>".format(
        "".join("<p class=dim>" + note for note in notes), "".join(sections)
    )


def _fitting(sections, room):
    # type: (List[str], int) -> List[str]
    """The first sections that fit into ``room`` bytes."""
    for count, section in enumerate(sections):
        room -= _size(section)
        if room < 0:
            return sections[:count]
    return sections


def _left_out(texts, hosts, shelf, packed):
    # type: (_Texts, int, Shelf, Optional[str]) -> List[str]
    """What this page does not hold, or not in plain sight, and where it is."""
    notes = []
    if texts.anchors:
        notes.append(
            "What the findings of a check have in common stands once, under "
            "<a href=#checks>Checks</a>; each finding links to it."
        )
    if texts.brief:
        notes.append(
            "Reasons and references that differ from host to host are left out to keep this page "
            "usable: report.json holds them."
        )
    if hosts:
        notes.append(
            "The findings of {0} hosts are left out to keep this page usable: report.json holds "
            "them.".format(hosts)
        )
    if packed:
        notes.append(
            "The raw evidence is packed into this page and unfolds with JavaScript; "
            "findings.jsonl holds it too."
        )
    if packed and shelf.figures:
        notes.append(
            "Latencies are drawn when they are unfolded, with JavaScript; {0}.".format(
                "findings.jsonl holds them"
                if texts.brief
                else "their tables stand here without it, the longer ones cut"
            )
        )
    if shelf.left_out:
        notes.append(
            "The evidence of {0} hosts is left out to keep this page usable: findings.jsonl holds "
            "it.".format(shelf.left_out)
        )
    return notes


def _host(state, section, texts, shelf, results):
    # type: (HostState, str, _Texts, Optional[Shelf], Results) -> str
    """The section of a host: what needs attention, then what passed or does not apply, folded."""
    verdict = host_verdict(state.findings)
    ordered = by_urgency(state)
    loud = [finding for finding in ordered if finding["status"] not in (PASS, SKIP)]
    quiet = [finding for finding in ordered if finding["status"] in (PASS, SKIP)]
    readings = {}  # type: Dict[str, Tuple[str, str]]
    if shelf is None:
        for part in state.parts:
            readings.update(shown_readings(part))
    shown = _Shown(section, shelf, readings, figures_of(state))
    counts = count_statuses(state.findings)
    told = ", ".join("{0} {1}".format(count, status) for status, count in counts.items() if count)
    if len(results.runs) > 1:
        told += "; run {0}".format(state.parts[-1].line["run"]["id"])
    name = _esc(one_line(state.name))
    pieces = [
        "<section class=h id={0}><h3><span class='v {2}'>{3} {4}</span>{1}"
        "<small>{5}; judged {6}</small></h3>".format(
            section,
            name,
            _VERDICT_CLASSES[verdict],
            VERDICT_GLYPHS[verdict],
            verdict,
            _esc(told),
            _esc(_moment(state.at)),
        )
    ]
    if loud:
        pieces.append(_table(loud, texts, shown))
    if quiet:
        label = ", ".join(
            "{0} {1}".format(count, words)
            for count, words in ((counts[PASS], "passed"), (counts[SKIP], "not applicable"))
            if count
        )
        pieces.append(
            "<details class=o><summary>{0}</summary>{1}</details>".format(
                label, _table(quiet, texts, shown)
            )
        )
    return "".join(pieces) + "</section>"


def _table(findings, texts, shown):
    # type: (List[Dict[str, Any]], _Texts, _Shown) -> str
    return (
        "<table class=g><colgroup><col><col span=4><col><thead><tr><th scope=col>Finding"
        "<th scope=col>Desired<th scope=col>Persisted<th scope=col>Running<th scope=col>In use"
        "<th scope=col>Takes effect{0}</table>"
    ).format("".join(_finding(finding, texts, shown) for finding in findings))


def _finding(finding, texts, shown):
    # type: (Dict[str, Any], _Texts, _Shown) -> str
    status = finding["status"]
    common = texts.common.get((finding["check"], status), {})
    own = {name: finding[name] for name in _SHARED if finding[name] != common.get(name, ())}
    check = _esc(finding["check"])
    anchor = texts.anchors.get(finding["check"])
    name = "<a href=#{0}>{1}</a>".format(anchor, check) if anchor else check
    head = "<b>{0} {1}</b> ".format(STATUS_GLYPHS[status], status)
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
    prose = _prose(finding, own, texts)
    if figure is not None:
        prose += _latency(figure, status in (PASS, SKIP), texts, shown)
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


def _layer(text):
    # type: (Optional[str]) -> str
    return "<td>—" if text is None else "<td>" + _esc(text)


def _prose(finding, own, texts):
    # type: (Dict[str, Any], Dict[str, Optional[str]], _Texts) -> str
    """Why, waiver, fix and reference, as far as the appendix does not say them."""
    pieces = []
    if own.get("why") and not texts.brief:
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
    if own.get("reference") and not texts.brief:
        pieces.append("<p class=r>" + _esc(own["reference"] or ""))
    return "".join(pieces)


def _fix(text):
    # type: (str) -> str
    return "<pre class=x>{0}</pre>".format(_esc(text))


def _latency(figure, folded, texts, shown):
    # type: (Figure, bool, _Texts, _Shown) -> str
    """The drawings and the table of a finding; in a large report the script adds the drawings."""
    anchor = "{0}l{1}".format(shown.section, figure.number)
    if figure.seen is not None:
        return "<p class=ev><a href=#{0}>the figure of another finding</a>".format(anchor)
    marker = ""
    if shown.shelf is None:
        inner = content(figure)
    else:
        folded = True
        marker = " data-l={0}".format(shown.shelf.figure_number(figure.keys))
        inner = "" if texts.brief else table(figure, _LATENCY_ROWS)
    return "<details class=l id={0}{1}{2}><summary>{3}</summary><div>{4}</div></details>".format(
        anchor, marker, "" if folded else " open", _esc(heading(figure)), inner
    )


def _evidence(finding, readings):
    # type: (Dict[str, Any], Dict[str, Tuple[str, str]]) -> str
    keys = finding["evidence"]
    if not keys:
        return ""
    names = _esc(", ".join(keys))
    shown = [(key, readings[key]) for key in keys if key in readings]
    if not shown:
        return "<p class=ev>{0} (not kept)".format(names)
    return "<details class=e><summary>Evidence: {0}</summary>{1}</details>".format(
        names,
        "".join(
            "<h4>{0} <small>{1}</small></h4><pre>\n{2}</pre>".format(
                _esc(key), _esc(note), html.escape(text, quote=False)
            )
            for key, (note, text) in shown
        ),
    )


# Large reports


def _evidence_size(results):
    # type: (Results) -> int
    """About how many bytes the evidence takes in line; stops counting when it is too many."""
    total = 0
    for state in results.states:
        for part in state.parts:
            readings = shown_readings(part)
            sizes = {key: len(text) + 60 for key, (_, text) in readings.items()}
            for finding in part.findings:
                total += sum(sizes.get(key, 0) for key in finding["evidence"])
        for figure in figures_of(state).values():
            total += len(content(figure))
        if total > INLINE_EVIDENCE:
            break
    return total


def _shared_texts(results):
    # type: (Results) -> _Texts
    size = sum(
        _MARKUP
        + sum(len(finding[name] or "") for name in (*LAYERS, "title", "why", "fix", "reference"))
        for state in results.hosts
        for finding in state.findings
    )
    if size <= INLINE_FINDINGS:
        return _Texts({}, {}, False)
    counts = {}  # type: Dict[Tuple[str, str], Dict[str, Dict[Optional[str], int]]]
    titles = {}  # type: Dict[str, Dict[str, Dict[Optional[str], int]]]
    for state in results.states:
        for finding in state.findings:
            by_name = counts.setdefault((finding["check"], finding["status"]), {})
            # The appendix has one title a check, whatever the status.
            by_check = titles.setdefault(finding["check"], {})
            for name in _SHARED:
                seen = (by_check if name == "title" else by_name).setdefault(name, {})
                seen[finding[name]] = seen.get(finding[name], 0) + 1
    anchors = {check: "c{0}".format(number) for number, check in enumerate(sorted(titles), 1)}
    common = {
        key: dict(_most_common(by_name), **_most_common(titles[key[0]]))
        for key, by_name in counts.items()
    }
    return _Texts(anchors, common, False)


def _most_common(by_name):
    # type: (Dict[str, Dict[Optional[str], int]]) -> Dict[str, Optional[str]]
    """The texts that a good part of the findings share; what few hosts say is not common."""
    common = {}
    for name, seen in by_name.items():
        text = max(seen, key=lambda text: seen[text])
        if seen[text] > 1 and seen[text] * 5 >= sum(seen.values()):
            common[name] = text
    return common


def _checks(results, texts):
    # type: (Results, _Texts) -> str
    """The appendix: what is common to all findings of a check."""
    if not texts.anchors:
        return ""
    severities = {
        finding["check"]: finding["severity"]
        for state in results.states
        for finding in state.findings
    }
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
            "<div class=c id={0}><h3><span>{1}</span> <code>{2}</code><small>{3}</small></h3>{4}"
            "</div>".format(anchor, _esc(title), _esc(check), severities[check], "".join(parts))
        )
    return "".join(pieces) + "</section>"


def _check_part(status, common):
    # type: (str, Dict[str, Optional[str]]) -> str
    pieces = [
        "<div class={0}><b class=v>{1} {2}</b>".format(
            _CLASSES[status], STATUS_GLYPHS[status], status
        )
    ]
    if common.get("why"):
        pieces.append("<p class=y>{0}</p>".format(_esc(common["why"] or "")))
    if common.get("fix"):
        pieces.append(_fix(common["fix"] or ""))
    if common.get("reference"):
        pieces.append("<p class=r>{0}</p>".format(_esc(common["reference"] or "")))
    return "".join(pieces) + "</div>"


def _pack(shelf, hosts, ids, room):
    # type: (Shelf, List[HostState], Dict[str, str], int) -> Optional[str]
    shelf.open(room)
    for state in hosts:
        shelf.add_host(ids[state.name], state)
    return shelf.text()


def _footer():
    # type: () -> str
    return "<footer><h2>How to read this report</h2>{0}</footer>".format(LEGEND)


# Small helpers


def _effect(value):
    # type: (Optional[str]) -> str
    return value.replace("_", " ") if value else "—"


def _moment(instant):
    # type: (str) -> str
    return instant.replace("T", " ").replace("Z", " UTC")


def _size(text):
    # type: (str) -> int
    return len(text.encode("utf-8", "backslashreplace"))


@lru_cache(maxsize=8192)
def _esc(text):
    # type: (str) -> str
    return html.escape(printable(text))
