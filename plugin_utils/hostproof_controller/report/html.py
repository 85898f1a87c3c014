# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of a report, each a text that opens from disk, prints, and works without a script.

A report of up to ALL_IN_ONE hosts is one page. One of more hosts has an index, which groups what
needs attention by cause, and a page for each host (many_pages.py). Every page holds its style and
its script, and its policy lets nothing else run.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.evaluate.finding import PASS, SEVERITIES, SKIP, STATUSES

from .anchors import host_anchor
from .causes import Action, First, effect_of
from .host_section import Skipped, host_section, plain_table
from .host_state import HostState
from .store import RUN_HOST, Results, cluster_name, is_cluster
from .templating import digest, moment, parts, script, stylesheet
from .text import one_line
from .totals import Totals
from .verdict import (
    EXIT_MEANINGS,
    NOT_DATABASE_HOST,
    NOT_READY,
    STATUS_CLASSES,
    STATUS_GLYPHS,
    UNDETERMINED,
    UNREACHABLE,
    VERDICT_CLASSES,
    VERDICT_GLYPHS,
    WARNINGS,
    HostFacts,
    controls_of,
    exit_code,
    status_totals,
    verdict_totals,
)
from .waivers import WAIVERS_HOST

#: Up to this number of hosts are shown on one page.
ALL_IN_ONE = 100

#: Maximum number of causes in the list of causes with their hosts.
MOST_CAUSES = 100

#: Rows of the matrix that are laid out at once: a browser needs seconds for thousands of rows.
ROWS_AT_ONCE = 200

#: With more columns than these the heads of the matrix are vertical, and its cells wrap.
UPRIGHT_HEADS = 10

#: With more hosts than these a cell of the matrix is a link only where it needs attention.
LINKED_HOSTS = 200

#: So many hosts of an action and of a waiver are shown at once; the others unfold.
_HOSTS_NAMED = 8
_WAIVED_HOSTS_NAMED = 30

_BAD = (NOT_READY, UNREACHABLE, UNDETERMINED)
_ABOUT_TITLES = {RUN_HOST: "Run", WAIVERS_HOST: "Waivers"}

#: Rows of the matrix on paper: with the rest of the summary they fit one page.
PAPER_HOSTS = 14

#: Where ``./hostproof sign`` writes who sealed the report. No text of a host looks like it.
SEAL_PLACE = "<p id=seal>Not signed.</p>"

#: The address of a host's findings, by its name.
Link = Callable[[str], str]


class Report(NamedTuple):
    """Data of all pages of a report; ``totals`` covers the states of all hosts."""

    results: Results
    totals: Totals
    generated: str
    strict: bool


def one_page(report: Report) -> Iterator[str]:
    """The text of a report of any number of hosts as one page, in pieces."""
    results = report.results
    order = results.tally.worst_first()
    yield page_head(headline(results), results, "report.js")
    yield from summary(report, lambda host: "#" + host_anchor(host), single_page=True)
    yield "<section id=findings>"
    if order:
        yield "<h2>Findings by host</h2>"
        skipped = Skipped() if len(order) > 1 else None
        for place in order:
            yield host_section(results.hosts[place], len(results.runs) > 1, skipped)
        if skipped is not None:
            yield skipped.section()
    yield "</section></main>"
    yield page_end("report.js")


def page_head(title: str, results: Results, name: str) -> str:
    """From the first byte to the body; ``title`` follows the name of the product, ``name`` is the
    file of the page's script."""
    style = _style(results)
    return str(parts().head(title, style, digest(style), digest(script(name))))


def page_end(name: str) -> str:
    """The legend and the script of a page."""
    legend = "" if name == "links.js" else parts().footer()
    return f"{legend}<script>{script(name)}</script>\n"


def summary(report: Report, link: Link, *, single_page: bool) -> Iterator[str]:
    """All that is before the findings: what is signed. It opens ``main``.

    ``single_page``: the page shows the findings of the hosts itself.
    """
    results, totals = report.results, report.totals
    yield parts().header(headline(results), _recorded(results, totals))
    yield "<main>"
    yield _verdict_tiles(results)
    ready, actions = totals.first.actions() if totals.first.waiting else (0, [])
    causes = _causes(totals, len(actions)) if single_page else ([], 0)
    yield _first(results, totals.first, ready, actions, link, causes[1])
    yield parts().notes(_notes(results))
    # Hundreds of clusters and shared exports are below the hosts.
    clusters = [state for state in results.about if is_cluster(state.name)]
    yield from (_about(state) for state in results.about if not is_cluster(state.name))
    yield from _matrix(report, link, actions, single_page)
    yield from map(_about, clusters)
    yield _waived(totals)
    yield _facts(results, report.generated, report.strict, totals)
    yield parts().sign()
    if causes[0]:
        yield parts().causes_table(*causes)


def filters(
    statuses: dict[str, int],
    severities: set[str],
    controls: list[str],
    clusters: list[str] | None,
    actions: int = 0,
) -> Any:
    """The filters; the script shows them, because it is the script that they need.

    ``clusters`` is None on a page of one host; ``actions`` are those of *Fix first*.
    """
    entries = [
        (STATUS_CLASSES[status], STATUS_GLYPHS[status], status, count)
        for status, count in statuses.items()
        if count
    ]
    known = [severity for severity in SEVERITIES if severity in severities]
    return parts().filter(entries, known, controls, clusters, actions)


def _style(results: Results) -> str:
    """The stylesheet, with the line that is at the foot of every printed page."""
    runs = ", ".join(run.id for run in results.runs) or "none"
    running = re.sub("[^A-Za-z0-9 .,:_+-]", "_", f"Hostproof {VERSION}, run {runs}")
    return stylesheet().replace("THE RUN", running[:160])


# The head of the page


def _first(
    results: Results, first: First, ready: int, actions: list[Action], link: Link, causes: int
) -> str:
    """The actions that make most hosts ready; nothing where all are. ``causes``: their number."""
    if not actions:
        return ""
    counts = verdict_totals(results)
    # The same numbers as in the headline and the tiles.
    these = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _BAD if counts[verdict])
    effect = effect_of(first, ready, len(actions))
    sentence = f"{effect[0].upper()}{effect[1:]} ({these})"
    named = [[(link(name), one_line(name)) for name in action.hosts] for action in actions]
    shown = [
        (action, hosts[:_HOSTS_NAMED], hosts[_HOSTS_NAMED:])
        for action, hosts in zip(actions, named, strict=True)
    ]
    return str(parts().first(sentence, shown, causes))


def _causes(totals: Totals, most: int) -> tuple[list[Action], int]:
    """Causes on all hosts, if there are more than ``most``, and the number of causes."""
    causes = totals.first.by_hosts()
    if totals.first.waiting < 2 or len(causes) <= most:
        return [], 0
    return causes[:MOST_CAUSES], len(causes)


def _facts(results: Results, generated: str, strict: bool, totals: Totals) -> str:
    code = exit_code(results, strict)
    answered = sum(run.answered for run in results.runs)
    facts = [
        ("Run", _several([run.id for run in results.runs])),
        ("Started", _several([moment(run.started) for run in results.runs])),
        ("Hosts audited", f"{answered} of {results.expected}"),
        ("Waivers", "{0} active".format(len(totals.waivers) or "none")),
        (
            "Exit code",
            "{0}: {1}{2}".format(code, EXIT_MEANINGS[code], ", strict" if strict else ""),
        ),
        ("Report created", f"{moment(generated)} by Hostproof {VERSION}"),
    ]
    return str(parts().facts(facts, SEAL_PLACE))


def _recorded(results: Results, totals: Totals) -> str:
    """Period in which evidence was recorded, and number of hosts that were audited later."""
    if not totals.recorded:
        moments = sorted({moment(host.at) for host in results.tally.hosts})
        return " to ".join(dict.fromkeys([moments[0], moments[-1]])) if moments else "never"
    instants = dict.fromkeys(moment(instant) for instant in totals.recorded if instant)
    when = " to ".join(instants) or "at an unknown time"
    return f"{when} ({totals.recorded_hosts} of {len(results.hosts)} hosts), audited later"


def headline(results: Results) -> str:
    """The whole report in one sentence."""
    counts = verdict_totals(results)
    total = len(results.hosts)
    if not total:
        text = "No host was audited"
    elif counts[NOT_READY]:
        text = f"{_of_hosts(counts[NOT_READY], total)} not ready"
    elif counts[UNREACHABLE]:
        text = f"{_of_hosts(counts[UNREACHABLE], total)} unreachable"
    elif counts[UNDETERMINED]:
        text = f"{_of_hosts(counts[UNDETERMINED], total)} undetermined"
    elif counts[NOT_DATABASE_HOST]:
        kind = "a database host" if counts[NOT_DATABASE_HOST] == 1 else "database hosts"
        text = f"{_of_hosts(counts[NOT_DATABASE_HOST], total)} not {kind}"
    elif counts[WARNINGS]:
        text = f"{_of_hosts(counts[WARNINGS], total)} ready with warnings"
    else:
        text = "The host is ready" if total == 1 else f"All {total} hosts are ready"
    return text + _of_clusters(results) + ("; run interrupted" if results.cut_short else "")


def _of_clusters(results: Results) -> str:
    """Clusters that are not ready: verdicts of hosts do not include those of clusters."""
    bad = [name for name, verdict in results.clusters.items() if verdict in _BAD]
    if not bad:
        return ""
    if len(bad) == 1:
        return f"; cluster {bad[0]}: {results.clusters[bad[0]]}"
    return f"; {len(bad)} of {len(results.clusters)} clusters are not ready or undetermined"


def _of_hosts(count: int, total: int) -> str:
    if total == 1:
        subject, linking = "The host", "is"
    elif count == total:
        subject, linking = f"All {total} hosts", "are"
    else:
        subject = f"{count} of {total} hosts"
        linking = "is" if count == 1 else "are"
    return f"{subject} {linking}"


def _several(texts: list[str]) -> str:
    shown = list(dict.fromkeys(texts))
    more = len(shown) - 4
    return ", ".join(shown[:4]) + (f" and {more} more" if more > 0 else "") or "none"


def _verdict_tiles(results: Results) -> str:
    verdicts = [
        (VERDICT_CLASSES[verdict], count, VERDICT_GLYPHS[verdict], verdict)
        for verdict, count in verdict_totals(results).items()
        # These two are rare: without hosts they have no tile.
        if count or verdict not in (UNREACHABLE, NOT_DATABASE_HOST)
    ]
    return str(parts().tiles(verdicts, status_totals(results)))


def _notes(results: Results) -> list[str]:
    cut = "The run was interrupted: this report is incomplete."
    return [cut, *results.notes] if results.cut_short else list(results.notes)


def _about(state: HostState) -> str:
    title = _ABOUT_TITLES.get(state.name, state.name)
    if is_cluster(state.name):
        title = f"Cluster {cluster_name(state.name)}"
    return str(parts().about(title, plain_table(state.findings)))


# The matrix


def _matrix(report: Report, link: Link, actions: list[Action], single_page: bool) -> Iterator[str]:
    results = report.results
    order = results.tally.worst_first()
    if not order:
        return
    controls = controls_of(results)
    # A control that does not apply to any host has no column: its name is below the table.
    columns = [
        control
        for control in controls
        if any(host.controls.get(control, SKIP) != SKIP for host in results.tally.hosts)
    ]
    clusters = sorted({host.cluster for host in results.tally.hosts if host.cluster})
    statuses = results.tally.of_hosts
    if not single_page:
        # The index shows no findings but those that need attention.
        statuses = {status: statuses[status] for status in STATUSES[:3]}
    shown = filters(statuses, report.totals.severities, controls, clusters, len(actions))
    needed: dict[str, list[int]] = {}
    for number, action in enumerate(actions, 1):
        for name in action.hosts:
            needed.setdefault(name, []).append(number)
    paper = (PAPER_HOSTS, len(order)) if len(order) > PAPER_HOSTS else None
    yield parts().matrix(columns, shown, paper, len(columns) > UPRIGHT_HEADS)
    for number, place in enumerate(order):
        host = results.tally.hosts[place]
        linked = len(order) <= LINKED_HOSTS
        row_actions = " ".join(map(str, needed.get(host.name, [])))
        yield _matrix_row(host, columns, link, linked, row_actions, number >= ROWS_AT_ONCE)
    more = parts().more(ROWS_AT_ONCE) if len(order) > ROWS_AT_ONCE else ""
    absent = [control for control in controls if control not in columns]
    yield f"</table></div>{more}{parts().absent(absent)}</section>"


def _matrix_row(
    host: HostFacts, controls: list[str], link: Link, linked: bool, actions: str, later: bool
) -> str:
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
        cells.append((STATUS_CLASSES[status], text, linked or not quiet))
    kind, glyph = VERDICT_CLASSES[host.verdict], VERDICT_GLYPHS[host.verdict]
    name = one_line(host.name)
    anchor = host_anchor(host.name)
    return str(
        parts().row(
            anchor,
            link(host.name),
            name,
            kind,
            glyph,
            host.verdict,
            cells,
            host.cluster,
            actions,
            later,
        )
    )


def _waived(totals: Totals) -> str:
    """Rows of the waivers: check, owner and end."""
    if not totals.waived:
        return ""
    rows = [
        (
            check,
            f"{STATUS_GLYPHS[was]} {was}",
            ", ".join(hosts[:_WAIVED_HOSTS_NAMED]),
            hosts[_WAIVED_HOSTS_NAMED:],
            owner,
            reason,
            expires,
        )
        for (check, was, owner, reason, expires), hosts in sorted(
            totals.waived.items(), key=lambda item: item[0]
        )
    ]
    return str(parts().waived(rows))
