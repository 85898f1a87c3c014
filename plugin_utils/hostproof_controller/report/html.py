# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.html: one self-contained page that opens from disk, prints, and does without a script.

A small report holds everything in line. In a large one a text that findings of one check share
stands once, in an appendix of checks, and each finding links to it (the script puts it in line
as one scrolls); the findings of the worst hosts stand in line, those of the others are packed and
unfold as one comes to them; what still does not fit is left out, and the page says what and where
it is. Of very many hosts what is packed stands in files beside the page. The page is put together
in pieces, from one host at a time.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.finding import (
    ERROR,
    LAYERS,
    PASS,
    SEVERITIES,
    SKIP,
    STATUSES,
    WAIVED,
    subject_of,
)
from markupsafe import Markup

from .beside import FOLDER, Beside
from .causes import Action, First, Group, groups_of
from .evidence import Shelf, Spool, shown_readings
from .findings import Shared, made_once
from .host_state import HostState
from .latency_figure import Figure, by_urgency, content, figures_of, heading, table
from .store import (
    RUN_HOST,
    WAIVERS_HOST,
    Results,
    cluster_name,
    is_cluster,
    is_pseudo,
    recorded_apart,
)
from .templating import digest, moment, parts, static
from .text import fix_of, one_line
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
INLINE_FINDINGS = 2000000
INLINE_EVIDENCE = 2000000

#: So many causes are listed with how many hosts have each.
MOST_CAUSES = 100

#: Sections of a large report that stand in line, in bytes: a browser shows that much at once.
INLINE_SECTIONS = 400000

#: With more hosts than these what is packed stands in files beside the page.
BESIDE_HOSTS = 500

#: Rows of the matrix that are laid out at once: a table of thousands takes a browser seconds.
ROWS_AT_ONCE = 200

#: With more hosts than these a cell of the matrix is a link only where it needs attention.
LINKED_HOSTS = 200

#: About how much markup one finding takes.
_MARKUP = 450

_CLASSES = {"fail": "F", "error": "E", "warn": "W", "waived": "V", "skip": "S", "pass": "P"}
_VERDICT_CLASSES = {NOT_READY: "F", UNDETERMINED: "E", WARNINGS: "W", READY: "P"}
_SHARED = ("title", "why", "fix", "reference")
_BAD = (NOT_READY, UNDETERMINED)
_ABOUT_TITLES = {RUN_HOST: "About this run", WAIVERS_HOST: "About the waivers"}
_HOSTS_NAMED = 30

#: Lines of a table of latencies that stand in line where the figure itself is packed.
_LATENCY_ROWS = 12

#: Rows of the matrix on paper: with the rest of the summary they fit one page.
PAPER_HOSTS = 24

#: What goes away with a cause is named where it is folded, up to so many.
_RESTS_NAMED = 6

#: Where ``./hostproof sign`` writes who sealed the report. No text of a host looks like it.
SEAL_PLACE = "<p id=seal>Not sealed.</p>"


class _Shown(NamedTuple):
    """What the findings of one host show beside themselves.

    ``readings`` are note and text by evidence key, ``figures`` are of latencies, by the id() of
    their finding; ``shelf`` is where both go in a large report, ``section`` the host's id, and
    ``anchors`` are how often each id of a finding was given.
    """

    section: str
    shelf: Shelf | None
    readings: dict[str, tuple[str, str]]
    figures: dict[int, Figure]
    anchors: dict[str, int]


class _Texts(NamedTuple):
    """What the findings of a check have in common: nothing at all in a small report.

    ``anchors`` are the ids of the checks in the appendix, ``common`` the shared texts by
    (check, status), ``rows`` the markup of findings that stand for equal ones, by their id(): what
    is before the id of the row, that id within its host, and all behind it.
    """

    anchors: dict[str, str]
    common: dict[tuple[str, str], dict[str, str | None]]
    rows: dict[int, tuple[str, str, str]]


class _Frequent:
    """The texts that come often: of any number it remembers a few, among them each that makes up
    more than a seventeenth of all, counted as often as it came or somewhat less."""

    MOST = 16

    def __init__(self) -> None:
        self.seen: dict[str | None, int] = {}
        self.total = 0

    def add(self, text: str | None, times: int) -> None:
        self.total += times
        if text in self.seen:
            self.seen[text] += times
        elif len(self.seen) < self.MOST:
            self.seen[text] = times
        else:
            # Each of it is counted against one of every other.
            least = min(times, *self.seen.values())
            self.seen = {one: count - least for one, count in self.seen.items() if count > least}
            if times > least:
                self.seen[text] = times - least

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
        self.severities: dict[str, str] = {}
        self.first = First()
        self._findings = 0
        self._alike: dict[int, tuple[Shared, int]] = {}
        self._texts: dict[tuple[str, str], dict[str, _Frequent]] = {}
        self._titles: dict[str, _Frequent] = {}

    def add(self, state: HostState) -> None:
        is_host = not is_pseudo(state.name)
        if is_host:
            self.first.add(state)
        for finding in state.findings:
            if is_host and isinstance(finding, Shared):
                # One for all, when all are known.
                count = self._alike.get(id(finding), (finding, 0))[1]
                self._alike[id(finding)] = finding, count + 1
            else:
                self._add_finding(finding, is_host, 1)
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

    def _settle(self) -> None:
        """Count what several hosts say alike."""
        alike, self._alike = self._alike, {}
        for finding, count in alike.values():
            self._add_finding(finding, True, count)

    def _add_finding(self, finding: dict[str, Any], is_host: bool, times: int) -> None:
        if is_host:
            self._findings += times * _size_of(finding)
        texts = _texts_of(finding)
        check = finding["check"]
        self.severities[check] = finding["severity"]
        key = (check, finding["status"])
        if key not in self._texts:
            self._texts[key] = {name: _Frequent() for name in _SHARED if name != "title"}
        by_name = self._texts[key]
        for name, text in texts.items():
            if name != "title":
                by_name[name].add(text, times)
        # The appendix has one title a check, whatever the status.
        if check not in self._titles:
            self._titles[check] = _Frequent()
        self._titles[check].add(texts["title"], times)

    @property
    def is_large(self) -> bool:
        self._settle()
        return self._findings > INLINE_FINDINGS

    def texts(self) -> _Texts:
        if not self.is_large:
            return _Texts({}, {}, {})
        anchors = {check: f"c{number}" for number, check in enumerate(sorted(self._titles), 1)}
        common = {
            key: {
                name: text
                for name, frequent in {**by_name, "title": self._titles[key[0]]}.items()
                for text in frequent.common()
            }
            for key, by_name in self._texts.items()
        }
        return _Texts(anchors, common, {})

    def checks(self, texts: _Texts) -> str:
        """The appendix: what is common to all findings of a check."""
        if not texts.anchors:
            return ""
        pieces = [parts().checks_begin()]
        for check, anchor in texts.anchors.items():
            told = []
            title: str | None = check
            for status in STATUSES:
                common = texts.common.get((check, status))
                if common:
                    title = common.get("title") or title
                    told.append((_CLASSES[status], STATUS_GLYPHS[status], status, common))
            pieces.append(parts().check(anchor, title, check, self.severities[check], told))
        return "".join(pieces) + "</section>"


def html_pieces(
    results: Results,
    generated: str,
    strict: bool,
    survey: Survey,
    beside: Beside | None = None,
) -> Iterator[str]:
    """The text of report.html in pieces; ``survey`` has seen all states.

    A page of many hosts may have files ``beside`` it; without them it is one file.
    """
    texts = survey.texts()
    order = results.tally.worst_first()
    style, script = _style(results), static("report.js")
    before = Spool()
    for piece in _summary(results, generated, strict, survey, texts):
        before.add(piece)
    after = f"{survey.checks(texts)}</main>{parts().footer()}"
    room = PAGE_LIMIT - before.size - _size(after) - _size(style + script)

    shelf = Shelf(beside if texts.anchors and len(order) > BESIDE_HOSTS else None)
    packer = None if survey.evidence <= INLINE_EVIDENCE else shelf
    sections, left_out = _sections(results, order, texts, packer, shelf, room)
    shelf.severities = survey.severities
    if packer:
        shelf.close_chunk()
        shelf.open(room - sections.size)
        for place in order:
            shelf.add_host(_anchor(results.hosts.names[place]), results.hosts[place])
    # What the script itself loads may run; what stands in the page still may not.
    trusted = digest(script) + (" 'strict-dynamic'" if shelf.beside else "")
    yield parts().head(_headline(results), style, digest(style), trusted)
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
    yield f"<script>{script}</script>\n"


def _summary(
    results: Results, generated: str, strict: bool, survey: Survey, texts: _Texts
) -> Iterator[str]:
    """All that stands before the findings of hosts: what is signed."""
    yield parts().header(_headline(results), _recorded(results, survey))
    yield "<main>"
    yield _verdict_tiles(results)
    yield _first(survey)
    yield parts().notes(_notes(results))
    for state in results.about:
        yield _about(state, texts)
    yield from _matrix(results, survey)
    yield _waived(survey)
    yield _facts(results, generated, strict, survey)
    yield parts().sign()


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
        state = results.hosts[place]
        section = _anchor(state.name)
        heading, findings = _host(state, section, texts, packer, results)
        whole = f'<section class=h id="{section}">{heading}{findings}</section>'
        if not shelf.sections and sections.size + _size(whole) <= in_line:
            piece = whole
        else:
            found = shelf.found_number(_found(state, shelf))
            piece = f'<section class=h id="{section}" data-p={found}>{heading}</section>'
            shelf.add_section(section, findings)
        sections.add(piece)
        shelf.take(_size(piece))
    return sections, 0


def _found(state: HostState, shelf: Shelf) -> dict[int, str]:
    """A letter for each finding, by the number of its check, as the filters of the page ask."""
    found: dict[int, str] = {}
    for finding in state.findings:
        number = shelf.check_number(finding["check"])
        found[number] = found.get(number, "") + _CLASSES[finding["status"]]
    return found


def _style(results: Results) -> str:
    """The stylesheet, with the line that stands at the foot of every printed page."""
    runs = ", ".join(run.id for run in results.runs) or "none"
    running = re.sub("[^A-Za-z0-9 .,:_+-]", "_", f"Hostproof {VERSION}, run {runs}")
    return static("report.css").replace("THE RUN", running[:160])


# Ids that stay the same from one report to the next


def _slug(text: str) -> str:
    """The text as part of an id; what had to be replaced or cut is told apart by a hash."""
    kept = re.sub("[^A-Za-z0-9._-]", "_", text)[:100]
    if kept == text:
        return kept
    mark = blake2b(text.encode("utf-8", "backslashreplace"), digest_size=3).hexdigest()
    return f"{kept}~{mark}"


def _anchor(host: str) -> str:
    """The id of a host's section. No other id of the page has a colon."""
    return "h:" + _slug(host)


def _finding_anchor(in_host: str, shown: _Shown) -> str:
    """HOST/CHECK, or HOST/CHECK/SUBJECT where the check judges several."""
    if not shown.section:
        return ""
    name = f"{shown.section}/{in_host}"
    shown.anchors[name] = shown.anchors.get(name, 0) + 1
    return name if shown.anchors[name] == 1 else f"{name}~{shown.anchors[name]}"


@made_once
def _anchor_in_host(finding: dict[str, Any]) -> str:
    subject = subject_of(finding["title"])
    return str(finding["check"]) + (f"/{_slug(subject)}" if subject else "")


# The head of the page


def _first(survey: Survey) -> str:
    """The actions that make most hosts ready; nothing where all are."""
    if not survey.first.waiting:
        return ""
    ready, actions = survey.first.actions()
    if not actions:
        return ""
    waiting = survey.first.waiting
    these = "this" if len(actions) == 1 else f"these {len(actions)}"
    if not ready:
        sentence = f"what most of the {waiting} hosts need that are not ready"
    elif waiting == 1:
        sentence = f"with {these} the host becomes ready"
    else:
        sentence = f"with {these}, {ready} of the {waiting} hosts that are not ready become so"
    return str(
        parts().first(
            sentence,
            [
                (
                    one,
                    [(_anchor(name), one_line(name)) for name in one.hosts],
                    max(0, one.on - len(one.hosts)),
                )
                for one in actions
            ],
            _causes(survey, len(actions)),
        )
    )


def _causes(survey: Survey, told: int) -> tuple[list[Action], int]:
    """What hosts lack by cause, where there is more than what was told; and how many that are."""
    found = survey.first.by_hosts()
    if survey.first.waiting < 2 or len(found) <= told:
        return [], 0
    return found[:MOST_CAUSES], len(found)


def _facts(results: Results, generated: str, strict: bool, survey: Survey) -> str:
    code = exit_code(results, strict)
    answered = sum(run.answered for run in results.runs)
    facts = [
        ("Run", _several([run.id for run in results.runs])),
        ("Started", _several([moment(run.started) for run in results.runs])),
        ("Hosts judged", f"{answered} of {results.expected}"),
        ("Waivers", "{0} in force".format(len(survey.waivers) or "none")),
        (
            "Exit code",
            "{0}: {1}{2}".format(code, EXIT_MEANINGS[code], ", strict" if strict else ""),
        ),
        ("Report rendered", f"{moment(generated)} by Hostproof {VERSION}"),
    ]
    return str(parts().facts(facts, SEAL_PLACE))


def _recorded(results: Results, survey: Survey) -> str:
    """From when to when evidence was recorded, and of how many hosts it was judged at another
    time."""
    if not survey.recorded:
        moments = sorted({moment(host.at) for host in results.tally.hosts})
        return " to ".join(dict.fromkeys([moments[0], moments[-1]])) if moments else "never"
    instants = dict.fromkeys(moment(one) for one in survey.recorded if one)
    when = " to ".join(instants) or "at an unknown time"
    return f"{when}, of {survey.recorded_hosts} of {len(results.hosts)} hosts; judged later"


def _when_recorded(state: HostState) -> str:
    """What follows the instant of judgement where the evidence is of another."""
    instants = recorded_apart(state)
    if not instants:
        return ""
    told = [moment(one) if one else "at an unknown time" for one in instants]
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
    return text + _of_clusters(results) + ("; the run was cut short" if results.cut_short else "")


def _of_clusters(results: Results) -> str:
    """What a cluster lacks does not show in its hosts."""
    bad = [name for name, verdict in results.clusters.items() if verdict in _BAD]
    if not bad:
        return ""
    if len(bad) == 1:
        return f"; cluster {bad[0]}: {results.clusters[bad[0]]}"
    return f"; {len(bad)} of {len(results.clusters)} clusters are not ready or not known"


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
    verdicts = [
        (_VERDICT_CLASSES[verdict], count, VERDICT_GLYPHS[verdict], verdict)
        for verdict, count in verdict_totals(results).items()
    ]
    return str(parts().tiles(verdicts, status_totals(results)))


def _notes(results: Results) -> list[str]:
    cut = "The run was cut short: hosts are missing from this report."
    return [cut, *results.notes] if results.cut_short else list(results.notes)


def _about(state: HostState, texts: _Texts) -> str:
    shown = _Shown("", None, {}, {}, {})
    rows = [_finding(finding, texts, shown) for finding in state.findings]
    title = _ABOUT_TITLES.get(state.name, state.name)
    if is_cluster(state.name):
        title = f"Cluster {cluster_name(state.name)}"
    return str(parts().about(title, parts().table(rows)))


# The matrix


def _matrix(results: Results, survey: Survey) -> Iterator[str]:
    order = results.tally.worst_first()
    if not order:
        return
    controls = controls_of(results)
    paper = (PAPER_HOSTS, len(order)) if len(order) > PAPER_HOSTS else None
    yield parts().matrix(controls, _filter(results, controls, survey), paper)
    for number, place in enumerate(order):
        host = results.tally.hosts[place]
        yield _matrix_row(host, controls, len(order) <= LINKED_HOSTS, number >= ROWS_AT_ONCE)
    more = parts().more(ROWS_AT_ONCE) if len(order) > ROWS_AT_ONCE else ""
    yield f"</table></div>{more}</section>"


def _matrix_row(host: HostFacts, controls: list[str], linked: bool, later: bool) -> str:
    cells: list[tuple[str, str, bool] | None] = []
    for control in controls:
        if control not in host.controls:
            cells.append(None)
            continue
        status = host.controls[control]
        count = host.alike[control]
        quiet = status in (PASS, SKIP)
        text = "{0} {1}{2}".format(
            STATUS_GLYPHS[status], f"{count} " if count > 1 and not quiet else "", status
        )
        cells.append((_CLASSES[status], text, linked or not quiet))
    kind, glyph = _VERDICT_CLASSES[host.verdict], VERDICT_GLYPHS[host.verdict]
    name = one_line(host.name)
    anchor = _anchor(host.name)
    return str(parts().row(anchor, name, kind, glyph, host.verdict, cells, host.cluster, later))


def _filter(results: Results, controls: list[str], survey: Survey) -> str:
    """The filters; the script shows them, because it is the script that they need."""
    statuses = [
        (_CLASSES[status], STATUS_GLYPHS[status], status, count)
        for status, count in results.tally.of_hosts.items()
        if count
    ]
    known = set(survey.severities.values())
    severities = [one for one in SEVERITIES if one in known]
    clusters = sorted({host.cluster for host in results.tally.hosts if host.cluster})
    return parts().filter(statuses, severities, controls, clusters)


def _waived(survey: Survey) -> str:
    """Who answers for what until when."""
    if not survey.waived:
        return ""
    rows = [
        (check, f"{STATUS_GLYPHS[was]} {was}", _named(hosts), owner, reason, expires)
        for (check, was, owner, reason, expires), hosts in sorted(
            survey.waived.items(), key=lambda one: one[0]
        )
    ]
    return str(parts().waived(rows))


def _named(hosts: _Waived) -> str:
    more = hosts.count - len(hosts.names)
    return ", ".join(hosts.names) + (f" and {more} more" if more > 0 else "")


# The findings


def _left_out(texts: _Texts, hosts: int, shelf: Shelf, packer: Shelf | None) -> list[str]:
    """What this page does not hold, or not in plain sight, and where it is."""
    notes = []
    where = (
        f"in the files of {FOLDER} beside this page" if shelf.beside else "packed into this page"
    )
    if texts.anchors:
        notes.append(
            "What the findings of a check have in common stands once, under <a "
            "href=#checks>Checks</a>; each finding links to it."
        )
    if shelf.sections:
        notes.append(
            f"The findings of the last {shelf.sections} hosts below are {where}, and "
            "stand here with JavaScript as one comes to them; paper has those that one came to. "
            "report.json holds all of them."
        )
    if hosts:
        notes.append(
            f"The findings of {hosts} hosts are left out to keep this page usable: report.json "
            "holds them."
        )
    if packer and not packer.is_empty:
        notes.append(
            f"The raw evidence is {where} and unfolds with JavaScript; findings.jsonl holds it too."
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
    quiet = [finding for finding in ordered if finding["status"] in (PASS, SKIP)]
    readings: dict[str, tuple[str, str]] = {}
    if shelf is None:
        for part in state.parts:
            readings.update(shown_readings(part))
    shown = _Shown(section, shelf, readings, figures_of(state), {})
    counts = count_statuses(ordered)
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    if len(results.runs) > 1:
        told += "; run {0}".format(state.parts[-1].line["run"]["id"])
    told += f"; judged {moment(state.at)}{_when_recorded(state)}"
    heading = parts().heading(
        _VERDICT_CLASSES[verdict],
        VERDICT_GLYPHS[verdict],
        verdict,
        one_line(state.name),
        section,
        told,
    )
    pieces = []
    groups = groups_of(ordered)
    if groups:
        pieces.append(_table(_group(one, texts, shown) for one in groups))
    if quiet:
        label = ", ".join(
            f"{count} {words}"
            for count, words in ((counts[PASS], "passed"), (counts[SKIP], "not applicable"))
            if count
        )
        rows = _table(_finding(finding, texts, shown) for finding in quiet)
        pieces.append(parts().quiet(label, rows))
    return heading, "".join(pieces)


def _group(group: Group, texts: _Texts, shown: _Shown) -> str:
    """A cause, with what goes away with it folded below."""
    rests: Any = ""
    if group.rests:
        count = len(group.rests)
        words = "Goes away with it" if group.cause["status"] != ERROR else "Unknown with it"
        names = [
            " ".join(filter(None, (one["check"], one_line(subject_of(one["title"])))))
            for one in group.rests[:_RESTS_NAMED]
        ]
        more = count - len(names)
        told = ", ".join(names) + (f" and {more} more" if more > 0 else "")
        rests = parts().rests(
            f"{words}: {count} {'finding' if count == 1 else 'findings'}",
            told,
            _table(_finding(one, texts, shown) for one in group.rests),
        )
    return _finding(group.cause, texts, shown, rests)


def _table(rows: Iterable[str]) -> Any:
    """Findings, which are markup already, below their headings."""
    return parts().table(Markup("".join(rows)))


@made_once
def _texts_of(finding: dict[str, Any]) -> dict[str, str | None]:
    """What findings of one check may have in common; the fix with its commands below it."""
    return {name: fix_of(finding) if name == "fix" else finding[name] for name in _SHARED}


@made_once
def _size_of(finding: dict[str, Any]) -> int:
    """About how many characters a finding takes on the page."""
    texts = [finding[name] for name in LAYERS] + list(_texts_of(finding).values())
    return _MARKUP + sum(len(text) for text in texts if text)


class _Row(NamedTuple):
    """A finding as its template takes it: ``own`` are the texts that the appendix does not have,
    ``bare`` has no layers; ``figure``, ``rests`` and ``evidence`` are markup."""

    finding: dict[str, Any]
    glyph: str
    anchor: str | None
    own: dict[str, str | None]
    bare: bool
    figure: Any
    rests: Any
    evidence: Any


def _finding(finding: dict[str, Any], texts: _Texts, shown: _Shown, rests: Any = "") -> str:
    # Others say the same: all but the host is known then. Not where more than that is shown.
    is_shared = isinstance(finding, Shared) and shown.shelf is not None
    is_shared = is_shared and not rests and id(finding) not in shown.figures
    row = texts.rows.get(id(finding)) if is_shared else None
    if row is None:
        row = _row_of(finding, texts, shown, rests)
        if is_shared:
            texts.rows[id(finding)] = row
    before, name, behind = row
    anchor = _finding_anchor(name, shown)
    return f'{before} id="{anchor}"{behind}' if anchor else before + behind


def _row_of(
    finding: dict[str, Any], texts: _Texts, shown: _Shown, rests: Any
) -> tuple[str, str, str]:
    # A template for the whole of it would take half of the time of the page. No character of an id
    # means anything in markup.
    status = finding["status"]
    figure = shown.figures.get(id(finding))
    drawn: Any = "" if figure is None else _latency(figure, status in (PASS, SKIP), shown)
    marked, evidence = "", ""
    if shown.shelf is None:
        evidence = _evidence(finding, shown.readings)
    elif finding["evidence"]:
        marked = f" data-e={shown.shelf.set_number(finding['evidence'])}"
    cells = _cells(finding, texts, drawn, rests, evidence)
    return f"<tbody class={_CLASSES[status]}", _anchor_in_host(finding), f"{marked}>{cells}"


def _cells(finding: dict[str, Any], texts: _Texts, figure: Any, rests: Any, evidence: Any) -> Any:
    status = finding["status"]
    common = texts.common.get((finding["check"], status), {})
    own = {name: text for name, text in _texts_of(finding).items() if text != common.get(name, ())}
    row = _Row(
        finding,
        STATUS_GLYPHS[status],
        texts.anchors.get(finding["check"]),
        own,
        status == SKIP and not any(finding[layer] for layer in LAYERS),
        figure,
        rests,
        evidence,
    )
    return parts().cells(row)


def _latency(figure: Figure, folded: bool, shown: _Shown) -> Any:
    """The drawings and the table of a finding; in a large report the script adds the drawings."""
    anchor = f"{shown.section}/l{figure.number}"
    if figure.seen is not None:
        return parts().latency_elsewhere(anchor)
    marker = None
    if shown.shelf is None:
        inner = content(figure)
    else:
        folded = True
        marker = shown.shelf.figure_number(figure.keys)
        inner = table(figure, _LATENCY_ROWS)
    return parts().latency(anchor, marker, not folded, heading(figure), inner)


def _evidence(finding: dict[str, Any], readings: dict[str, tuple[str, str]]) -> Any:
    keys = finding["evidence"]
    if not keys:
        return ""
    shown = [(key, *readings[key]) for key in keys if key in readings]
    return parts().evidence(", ".join(keys), shown)


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


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))
