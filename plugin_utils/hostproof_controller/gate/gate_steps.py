# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a gate on the controller: each reads the ledger and what was measured, notes what
follows on disk, and says whether the next step may be made."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.latency.rules_change import gate
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, Finding, make_finding

from ..latency import baseline, change_findings, comparing
from ..latency.baseline import Baseline, NoBaseline
from ..latency.change_findings import Judged
from ..latency.verdict import percent
from . import gating
from .gating import Decision, Ledger, Limits

#: The report's name for what must be said about the run itself (report/store).
RUN_HOST = "(run)"

BEFORE, AFTER, REVERTED = "before", "after", "reverted"

_LATER = "read the reasons, and begin a new gate: ./hostproof apply --gate"


class Comparison(NamedTuple):
    """What was compared: verdicts by host, those of all hosts, and the findings of both."""

    verdicts: dict[str, comparing.HostVerdict]
    fleet: list[comparing.FleetVerdict]
    judged: dict[str, Judged]
    about_all: list[Finding]

    def with_gate(self, findings: dict[str, Finding]) -> list[Judged]:
        """All of it, with what the gate says of each host."""
        hosts = list(self.judged) + [host for host in findings if host not in self.judged]
        found_here = []
        for host in hosts:
            result = self.judged.get(host, Judged(host, [], {}))
            own_findings = [findings[host]] if host in findings else []
            found_here.append(result._replace(findings=own_findings + result.findings))
        if self.about_all:
            found_here.append(Judged(RUN_HOST, self.about_all, {}))
        return found_here


def compare(
    before: str,
    after: str,
    changed: Sequence[str],
    unchanged: Sequence[str],
    undo: str | None = None,
) -> Comparison:
    """Compare the baselines in two directories. A host without one on a side gets an error.

    ``undo`` is the command that puts the change back, where there is a better one than revert.
    """
    pairs = {
        host: (_load(before, host), _load(after, host)) for host in list(changed) + list(unchanged)
    }
    # Unchanged hosts are reported, but do not share the error budget of the checked hosts.
    verdicts = comparing.compare_hosts({host: pairs[host] for host in changed})
    verdicts.update(comparing.compare_hosts({host: pairs[host] for host in unchanged}))
    fleet = comparing.compare_fleet(verdicts, changed, unchanged)
    judged = {}
    for host in pairs:
        dates = [side.taken_at if isinstance(side, Baseline) else None for side in pairs[host]]
        judged[host] = change_findings.judge_host(
            verdicts[host], dates[0], dates[1], host in unchanged, undo
        )
    return Comparison(verdicts, fleet, judged, change_findings.judge_fleet(fleet, undo))


def begin(
    ledger: Ledger, number: int, parent: str, journal: dict[str, list[str]], released: Sequence[str]
) -> list[str]:
    """Note that a batch is measured. The reasons why it must not begin, none if it may.

    ``journal``: host to the applies that its change journal holds; a host whose journal could not
    be read is missing.
    """
    batch = ledger.batch(number)
    obstacle = ledger.obstacle(number)
    if obstacle:
        return [obstacle]
    reasons = [
        f"{host}: its change journal could not be read, so nothing could be reverted"
        for host in batch["hosts"]
        if host not in journal
    ]
    mine = {host: journal[host] for host in batch["hosts"] if host in journal}
    reasons += gating.others_open(parent, ledger.folder, mine, released)
    batch["journal"] = mine
    state = gating.STOPPED if reasons else gating.MEASURING
    ledger.move(number, state, reasons, expected=(gating.PLANNED,))
    return reasons


def allow_change(ledger: Ledger, number: int) -> list[str]:
    """Note that a batch changes, if what was measured before is fit to be compared with."""
    batch = ledger.batch(number)
    reasons = []
    steady = []
    sides = []
    for host in batch["hosts"]:
        side = _load(ledger.folder_of(number, BEFORE), host)
        if not isinstance(side, Baseline):
            reasons.append(f"{host}: {side}")
            continue
        reasons += [f"{host}: {text}" for text in comparing.unmeasured(side)]
        steady.append((host, comparing.stability(side)))
        sides.append(side)
    reasons += _too_few_windows(sides)
    if gating.is_restless([stability for _, stability in steady]):
        reasons += [
            "{0}: the baseline is not stable: {1}".format(host, ", ".join(stability.unstable))
            for host, stability in steady
            if stability.unstable
        ]
    state = gating.STOPPED if reasons else gating.CHANGING
    ledger.move(number, state, reasons, expected=(gating.MEASURING,))
    return reasons


def decide(
    ledger: Ledger,
    number: int,
    applied: dict[str, str],
    journal: dict[str, list[str]],
    limits: Limits,
) -> tuple[Decision, list[Judged]]:
    """Compare, decide, and note whether the batch is kept. ``journal``: as begin() takes it, now.

    ``applied``: host to "ok" or to what went wrong with its change.
    """
    batch = ledger.batch(number)
    compared = _compare_batch(ledger, batch, AFTER, _revert_command(ledger))
    decision = gating.decide(batch["hosts"], applied, compared.verdicts, compared.fleet, limits)
    batch["changed"] = {
        host: [name for name in journal[host] if name not in batch["journal"].get(host, [])]
        for host in batch["hosts"]
        if host in journal
    }
    lines = lines_by_host(decision.reasons)
    state = gating.KEPT if decision.keep else gating.HELD
    ledger.move(number, state, lines, expected=(gating.CHANGING,))
    findings = {
        host: _held(ledger, batch, host, decision)
        if not decision.keep
        else _gate(PASS, batch, "kept" + _unchanged(batch, host))
        for host in batch["hosts"]
    }
    return decision, compared.with_gate(findings)


def after_revert(
    ledger: Ledger, number: int, journal: dict[str, list[str]]
) -> tuple[list[str], list[Judged]]:
    """Note whether a held batch is as it was: the hosts' journals hold no more than before it.

    The sentences say what is left, none if nothing is. Latency is compared with that before the
    change where it was measured again.
    """
    batch = ledger.batch(number)
    left = _left(batch, journal)
    reasons = list(batch["reasons"])
    # Beside the reasons: a later try may leave nothing.
    batch["left"] = left
    again = comparing.compare_hosts(
        {
            host: tuple(_load(ledger.folder_of(number, side), host) for side in (BEFORE, REVERTED))
            for host in batch["hosts"]
        }
    )
    state = gating.HELD if left else gating.REVERTED
    ledger.move(number, state, reasons, expected=(gating.HELD, gating.CHANGING))
    findings = {}
    for host in batch["hosts"]:
        texts = [text for text in left if text.startswith(host + ": ")]
        state = "; ".join(texts) or "reverted, and its change journal shows nothing of it any more"
        findings[host] = _gate(
            FAIL,
            batch,
            f"{state}; {_after_revert(again[host])}",
            why="It was not kept: {0}".format("; ".join(_about(reasons, host)) or "see the others"),
            fix=_revert_command(ledger) if texts else _LATER,
        )
    undo = _revert_command(ledger) if left else "it was reverted; find out why it became slower"
    return left, _compare_batch(ledger, batch, AFTER, undo).with_gate(findings)


def open_batches(ledger: Ledger) -> list[dict[str, Any]]:
    """Batches with hosts that may be changed and were not checked; revert is offered for them."""
    return [batch for batch in ledger.batches if batch["state"] in (gating.CHANGING, gating.HELD)]


def kept_hosts(ledger: Ledger) -> list[str]:
    return [
        host for batch in ledger.batches if batch["state"] == gating.KEPT for host in batch["hosts"]
    ]


def leave_unjudged(ledger: Ledger) -> list[Judged]:
    """Findings for hosts that the gate did not check before it ended."""
    found_here = []
    for batch in ledger.batches:
        state = batch["state"]
        if state in (gating.KEPT, gating.HELD, gating.REVERTED):
            continue
        reasons = "; ".join(batch["reasons"]) or ledger.obstacle(batch["number"])
        for host in batch["hosts"]:
            if state == gating.CHANGING:
                finding = _gate(
                    FAIL,
                    batch,
                    "held: the gate ended in the middle of the change",
                    fix=_revert_command(ledger),
                )
            else:
                finding = _gate(
                    ERROR,
                    batch,
                    "not changed: {0}".format(reasons or "its batch never began"),
                    why="The policy was not applied to this host.",
                    fix=_LATER,
                )
            found_here.append(Judged(host, [finding], {}))
    return found_here


def lines_of(judged: Sequence[Judged]) -> list[str]:
    """The findings in a line each, for people."""
    return [
        "{0}: {1}: {2}: {3}".format(
            result.host,
            finding.status,
            finding.title.split(": ")[0],
            finding.running or finding.why,
        )
        for result in judged
        for finding in result.findings
    ]


# -- helpers --------------------------------------------------------------------------------------


def _load(folder: str, host: str) -> Any:
    """The baseline, or the sentence that states why there is none."""
    try:
        return baseline.load(folder, host)
    except NoBaseline as problem:
        return str(problem)


def _too_few_windows(sides: Sequence[Baseline]) -> list[str]:
    """Why no comparison with these could keep a change, however good it is."""
    needed, figures = comparing.windows_needed(sides)
    rounds = min([side.rounds for side in sides] or [needed])
    if rounds >= needed:
        return []
    text = (
        "{0} windows per side give no interval if {1} figures of {2} hosts are evaluated at once: "
        "it takes {3} (latency_gate_windows), or fewer hosts in a batch (latency_gate_serial)"
    )
    return [text.format(rounds, figures, len(sides), needed)]


def _compare_batch(ledger: Ledger, batch: dict[str, Any], side: str, undo: str) -> Comparison:
    """A host that only was next to this batch is checked with its own, and by nothing else."""
    number = batch["number"]
    others = {host for other in ledger.batches if other is not batch for host in other["hosts"]}
    compared = compare(
        ledger.folder_of(number, BEFORE),
        ledger.folder_of(number, side),
        batch["hosts"],
        batch["unchanged"],
        undo,
    )
    judged = {host: result for host, result in compared.judged.items() if host not in others}
    return compared._replace(judged=judged)


def _left(batch: dict[str, Any], journal: dict[str, list[str]]) -> list[str]:
    left = []
    for host in batch["hosts"]:
        if host not in journal:
            left.append(f"{host}: it is unknown whether it was reverted")
            continue
        more = gating.own_applies(batch, host, journal[host])
        if more:
            left.append("{0}: not reverted: {1}".format(host, ", ".join(more)))
    return left


def _after_revert(verdict: comparing.HostVerdict) -> str:
    if not verdict.measured:
        return "latency was not measured again"
    texts = [
        f"{series.series.name} {figure.name} {percent(figure.comparison.interval.ratio)} of before"
        for series in verdict.series
        for figure in series.figures
    ]
    return "; ".join(verdict.other_paths + ["latency measured again: " + ", ".join(texts)])


def _held(ledger: Ledger, batch: dict[str, Any], host: str, decision: Decision) -> Finding:
    own = [reason for about, reason in decision.reasons if about in (host, None)]
    others = sorted({about for about, _ in decision.reasons if about not in (host, None)})
    why = own or ["because of {0}".format(", ".join(str(other) for other in others))]
    return _gate(
        FAIL,
        batch,
        "held: changed, and not kept" + _unchanged(batch, host),
        why="It was not kept: {0}.".format("; ".join(why)),
        fix=_revert_command(ledger),
    )


def _unchanged(batch: dict[str, Any], host: str) -> str:
    """Text for a host whose change journal shows no change; otherwise empty."""
    return "; nothing was changed on this host" if batch["changed"].get(host) == [] else ""


def _gate(
    status: str,
    batch: dict[str, Any],
    running: str,
    why: str | None = None,
    fix: str | None = None,
) -> Finding:
    return make_finding(
        gate.check,
        status,
        title="Batch {0}: {1}".format(batch["number"], gate.check.title),
        why=why,
        fix=fix,
        desired="measured before and after, and kept",
        running=running,
    )


def _revert_command(ledger: Ledger) -> str:
    return f"./hostproof revert --gate {ledger.folder}"


def lines_by_host(reasons: Sequence[tuple[str | None, str]]) -> list[str]:
    return [text if host is None else f"{host}: {text}" for host, text in reasons]


def _about(lines: Sequence[str], host: str) -> list[str]:
    return [line for line in lines if line.startswith(host + ": ")]
