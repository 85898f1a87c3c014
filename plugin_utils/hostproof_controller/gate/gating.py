# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate: which hosts change together, whether a change is kept, and what is known of it.

The ledger (``gate.json``) is written on the controller before each step, and denies by default. A
batch starts only if every earlier batch is recorded as kept. A crash, an interrupt or an
unreachable host therefore stops the change automatically.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.errors import HostproofError

from ..latency import baseline
from ..latency.comparing import Figure, FleetVerdict, HostVerdict, SeriesVerdict, Stability
from ..latency.verdict import INCONCLUSIVE, SLOWER, median, percent
from ..report.text import LISTS_HOSTS, as_typed

LEDGER = "gate.json"
SCHEMA = 1

#: States of a batch, in the order in which they can follow.
PLANNED = "planned"
MEASURING = "measuring"
STOPPED = "stopped"  # before anything was changed
CHANGING = "changing"
HELD = "held"
KEPT = "kept"
REVERTED = "reverted"
STATES = (PLANNED, MEASURING, STOPPED, CHANGING, HELD, KEPT, REVERTED)

#: In these states, hosts of a batch may be changed without a check after the change.
_OPEN = (CHANGING, HELD)

HOLD, REVERT, KEEP = "hold", "revert", "keep"

#: As many unchanged hosts as the fleet's verdict needs to subtract what happened to them.
_CONTROLS = 4

#: By chance alone a steady baseline's second half differs from its first in up to a tenth of all
#: figures (docs/latency_rates.md); with many of them, some always do.
_UNSTABLE_SHARE = 0.2

_PERCENT = re.compile(r"^([0-9]{1,3})%$")
#: The full name of a host or group. Only Ansible can resolve wildcards, ranges, subscripts and
#: regular expressions.
_PLAIN = re.compile(r"[\w.:-]+\Z")
#: What Ansible splits a pattern without a comma by: colons and blanks that are not in brackets.
_BRACKETS = re.compile(r"\[[^\]]*\]")
_PIECE = re.compile(r"(?:[^\s:\[\]]|\[[^\]]*\])+")


class Refused(HostproofError):
    """The next step must not be made; the message says why, and what to do."""


class Limits(NamedTuple):
    """``inconclusive`` is keep or hold. ``tolerance`` is the share by which an inconclusive figure
    may be slower at the far end of its interval (1.0: twice as slow) and still be kept."""

    inconclusive: str
    tolerance: float


class Decision(NamedTuple):
    """``reasons`` are sentences, by host; those about all hosts are under None. ``other_paths`` say
    by host what was measured by another path than before: no reason, but to be known."""

    keep: bool
    reasons: list[tuple[str | None, str]]
    other_paths: list[tuple[str | None, str]]


# -- who changes together -------------------------------------------------------------------------


def check_controls(
    pattern: Any, matched: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> None:
    """Refused where a pattern of hosts that stay unchanged, one of a list of such, or a name in it
    matches no host: those would be changed, or be checked as if they were. ``groups`` are those of
    the inventory."""
    items = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    if not all(isinstance(item, str) for item in items):
        raise Refused(
            "latency_gate_unchanged_hosts must be a pattern of hosts or a list of them, "
            f"not {pattern!r}"
        )
    patterns = [item for item in items if item.strip()]
    if not patterns:
        return
    lost = _without_host(patterns, groups)
    if lost or not matched:
        raise Refused(
            "latency_gate_unchanged_hosts matches no host of the inventory: {0!r}; hosts that must "
            "not change would count as changed: correct it, or leave it out ({1} lists the "
            "hosts)".format(", ".join(lost or patterns), as_typed(LISTS_HOSTS))
        )


def _without_host(patterns: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The names in the patterns that match no host."""
    hosts = set(groups.get("all", ()))
    filled = hosts | {name for name in groups if groups[name]}
    lost = []
    for part in [part for item in patterns for part in _parts(item, filled)]:
        excludes, name = part.startswith("!"), part.lstrip("!&")
        if not _PLAIN.match(name) and not _is_split_no_more(part):
            continue
        if excludes and name not in hosts and name not in groups:
            raise Refused(
                f"{part!r} in latency_gate_unchanged_hosts is neither a host nor a group of the "
                "inventory: "
                f"correct it, or leave it out ({as_typed(LISTS_HOSTS)} lists the hosts)"
            )
        # The exclusion of an empty group has no effect.
        if not excludes and name not in filled:
            lost.append(name)
    return lost


def _parts(pattern: str, known: set[str]) -> list[str]:
    """The patterns of which a pattern consists, split as Ansible does: at commas where there is
    one, else at colons, which an address of IPv6 has too."""
    if "," in pattern:
        return [part.strip() for part in pattern.split(",") if part.strip()]
    whole = pattern.strip()
    if whole in known or whole.startswith("~"):
        return [whole]
    return _PIECE.findall(whole)


def _is_split_no_more(part: str) -> bool:
    """Whether a part has a colon of which Ansible makes nothing: it was next to a comma."""
    return not part.startswith("~") and ":" in _BRACKETS.sub("", part)


def batches(
    hosts: Sequence[str], serial: Any, where: str = "latency_gate_serial"
) -> list[list[str]]:
    """The hosts in batches, as Ansible's serial divides them: a number, "30%", or a list of such,
    of which the last is used for all that follow. Refused for anything else."""
    sizes = serial if isinstance(serial, (list, tuple)) else [serial]
    if not sizes:
        raise Refused(f"{where} must not be empty")
    counts = [_size(size, len(hosts), where) for size in sizes]
    all_batches: list[list[str]] = []
    rest = list(hosts)
    while rest:
        count = counts[min(len(all_batches), len(counts) - 1)]
        all_batches.append(rest[:count])
        rest = rest[count:]
    return all_batches


def _size(size: Any, hosts: int, where: str) -> int:
    text = str(size).strip()
    share = _PERCENT.match(text)
    if share and 1 <= int(share.group(1)) <= 100:
        return max(1, hosts * int(share.group(1)) // 100)
    if isinstance(size, bool) or not text.isdecimal() or int(text) < 1:
        raise Refused(
            f'{where} must be a number of hosts, a share such as "30%", or a list of these, '
            f"not {size!r}"
        )
    return int(text)


def plan(hosts: Sequence[str], unchanged: Sequence[str], serial: Any) -> list[dict[str, Any]]:
    """The batches of a ledger. ``unchanged`` are measured with every batch and never changed.

    Where they are fewer than a fleet's verdict needs, hosts of later batches, then of earlier ones,
    are measured too: nothing happens to them while a batch changes.
    """
    changed = [host for host in hosts if host not in set(unchanged)]
    # The limit of the run excludes some of them.
    unchanged = [host for host in unchanged if host in set(hosts)]
    if not changed:
        raise Refused(
            "there is no host to change: every host is one of latency_gate_unchanged_hosts"
        )
    divided = batches(changed, serial)
    all_batches = []
    for number, members in enumerate(divided):
        later = [host for batch in divided[number + 1 :] for host in batch]
        earlier = [host for batch in reversed(divided[:number]) for host in batch]
        borrowed = (later + earlier)[: max(0, _CONTROLS - len(unchanged))]
        all_batches.append(
            {
                "number": number + 1,
                "hosts": members,
                "unchanged": list(unchanged) + borrowed,
                "state": PLANNED,
                "reasons": [],
                "journal": {},
                "changed": {},
            }
        )
    return all_batches


# -- the ledger -----------------------------------------------------------------------------------


class Ledger:
    """The gate's state on disk. ``batches`` as plan() gives them; save() writes it whole."""

    def __init__(self, folder: str, content: dict[str, Any]) -> None:
        self.folder = folder
        self._content = content

    @property
    def name(self) -> str:
        return os.path.basename(os.path.normpath(self.folder))

    @property
    def started(self) -> str:
        return str(self._content["started"])

    @property
    def batches(self) -> list[dict[str, Any]]:
        batches: list[dict[str, Any]] = self._content["batches"]
        return batches

    def batch(self, number: int) -> dict[str, Any]:
        if not 1 <= number <= len(self.batches):
            raise Refused(f"{self.folder} has no batch {number}")
        return self.batches[number - 1]

    def folder_of(self, number: int, side: str) -> str:
        """Where the baselines of a batch are: ``side`` is before, after or reverted."""
        return os.path.join(self.folder, f"batch-{number}", side)

    def move(
        self, number: int, state: str, reasons: Sequence[str] = (), expected: Sequence[str] = ()
    ) -> None:
        """Note the new state of a batch, on disk before this returns. Refused where the batch is
        in none of the ``expected`` states: a step is missing, or was made twice."""
        batch = self.batch(number)
        if expected and batch["state"] not in expected:
            raise Refused(
                "batch {0} of {1} is {2}, and can only be {3} after it was {4}".format(
                    number, self.folder, batch["state"], state, " or ".join(expected)
                )
            )
        batch["state"] = state
        batch["reasons"] = list(reasons)
        self.save()

    def save(self) -> None:
        baseline.make_folder(self.folder)
        baseline.write_json(os.path.join(self.folder, LEDGER), self._content)

    def obstacle(self, number: int) -> str | None:
        """Why this batch must not begin: one before it that was not kept. None if it may."""
        for batch in self.batches[: number - 1]:
            if batch["state"] != KEPT:
                return "batch {0} ({1}) was not kept: {2}".format(
                    batch["number"], ", ".join(batch["hosts"]), _state_in_words(batch)
                )
        return None


def create(directory: str, planned: list[dict[str, Any]], started: str) -> Ledger:
    """A new ledger on disk; Refused where there is one already."""
    if os.path.exists(os.path.join(directory, LEDGER)):
        raise Refused(f"{directory} already has a gate: name a new directory")
    ledger = Ledger(directory, {"schema": SCHEMA, "started": started, "batches": planned})
    ledger.save()
    return ledger


def load(folder: str) -> Ledger:
    """The ledger in a directory; HostproofError for anything that is none."""
    path = os.path.join(folder, LEDGER)
    content = baseline.read_json(path, "ledger of a gate")
    try:
        if content["schema"] != SCHEMA or not content["batches"] or not content["started"]:
            raise ValueError("of another version")
        for number, batch in enumerate(content["batches"], 1):
            lists = (batch["hosts"], batch["unchanged"], batch["reasons"])
            if batch["number"] != number or batch["state"] not in STATES:
                raise ValueError(f"batch {number}")
            if not all(isinstance(item, list) for item in lists):
                raise ValueError(f"batch {number}")
            if not all(isinstance(batch[name], dict) for name in ("journal", "changed")):
                raise ValueError(f"batch {number}")
    except (KeyError, TypeError, ValueError) as problem:
        raise HostproofError(
            f"{path} is not a complete ledger of a gate ({problem!r}): check manually "
            "which hosts it "
            "changed, and move it"
        ) from problem
    return Ledger(folder, content)


def others_open(
    parent: str, own: str, open_now: dict[str, list[str]], released: Sequence[str]
) -> list[str]:
    """Changes of earlier gates that are still open on these hosts, as sentences.

    ``open_now``: host to the applies in its change journal. A gate that was held or interrupted is
    over for a host whose journal holds no more than before that gate. Otherwise a new baseline
    would be recorded with the change that was held.
    """
    sentences = []
    names = sorted(os.listdir(parent)) if os.path.isdir(parent) else []
    for name in names:
        directory = os.path.join(parent, name)
        if os.path.islink(directory) or os.path.realpath(directory) == os.path.realpath(own):
            continue
        if name in released or not os.path.exists(os.path.join(directory, LEDGER)):
            continue
        for batch in load(directory).batches:
            if batch["state"] not in _OPEN:
                continue
            for host in batch["hosts"]:
                if own_applies(batch, host, open_now.get(host, [])):
                    sentences.append(
                        f"{host} still has what gate {name} changed and did not keep "
                        f"({_state_in_words(batch)}): ./hostproof revert --gate {directory}, or "
                        f"accept it with -e latency_gate_accept={name}"
                    )
    return sentences


def own_applies(batch: dict[str, Any], host: str, applies: Sequence[str]) -> list[str]:
    """Those of a host's applies that are the gate's: what it noted as changed, or where it ended
    before it could note that, all that were not there before it."""
    noted = batch["changed"].get(host)
    if noted is not None:
        return [name for name in applies if name in noted]
    return [name for name in applies if name not in batch["journal"].get(host, [])]


def _state_in_words(batch: dict[str, Any]) -> str:
    words = {
        PLANNED: "it never began",
        MEASURING: "it ended while it was measured before the change",
        STOPPED: "it was stopped before anything was changed",
        CHANGING: "it ended in the middle of the change",
        HELD: "it was put on hold",
        REVERTED: "it was reverted",
        KEPT: "it was kept",
    }[batch["state"]]
    return "; ".join([words] + [str(reason) for reason in batch["reasons"] + batch.get("left", [])])


# -- the decision ---------------------------------------------------------------------------------


def decide(
    hosts: Sequence[str],
    applied: dict[str, str],
    verdicts: dict[str, HostVerdict],
    fleet_verdicts: Sequence[FleetVerdict],
    limits: Limits,
) -> Decision:
    """Whether the change of a batch is kept. ``applied``: host to "ok", or to what went wrong.

    A host of which nothing is known, neither that the change came to its end nor what it did to
    latency, is a reason to hold.
    """
    reasons: list[tuple[str | None, str]] = []
    restless = is_restless([_stability(verdicts[host]) for host in hosts if host in verdicts])
    for host in hosts:
        went = applied.get(host, "nothing is known of it after the change began")
        if went != "ok":
            reasons.append((host, f"the change did not come to its end: {went}"))
        verdict = verdicts.get(host)
        if verdict is None:
            reasons.append((host, "its latency was not compared"))
            continue
        others = [verdicts[name] for name in verdicts if name not in hosts]
        reasons += [(host, reason) for reason in _host_reasons(verdict, others, limits, restless)]
    for fleet in fleet_verdicts:
        if fleet.comparison.verdict == SLOWER and fleet.whole is None:
            text = f"all changed hosts together became slower: {fleet.name}"
            reasons.append((None, text))
    other_paths: list[tuple[str | None, str]] = [
        (host, text) for host in hosts if host in verdicts for text in verdicts[host].other_paths
    ]
    return Decision(not reasons, reasons, other_paths)


def is_restless(stabilities: Sequence[Stability]) -> bool:
    """Whether more figures of the baselines moved by themselves than chance lets move."""
    unstable = sum(len(stability.unstable) for stability in stabilities)
    return unstable > _UNSTABLE_SHARE * sum(stability.figures for stability in stabilities)


def _stability(verdict: HostVerdict) -> Stability:
    figures = [
        (series.series.name, figure)
        for series in verdict.series
        for figure in series.figures
        if figure.is_central and series.series.layer != "host"
    ]
    known = [pair for pair in figures if pair[1].comparison.stable is not None]
    return Stability(
        [name for name, figure in known if figure.comparison.stable is False], len(known)
    )


def _host_reasons(
    verdict: HostVerdict, others: Sequence[HostVerdict], limits: Limits, restless: bool
) -> list[str]:
    reasons = list(verdict.problems)
    reasons += [f"{loss.name}: {loss.text}" for loss in verdict.lost if loss.worse]
    if not verdict.problems and not verdict.measured:
        reasons.append("not a single figure could be compared")
    for series in verdict.series:
        whole = verdict.whole_of(series)
        if series.problem and whole is None:
            reasons.append(f"{series.series.name}: {series.problem}")
        if series.series.layer == "host" and whole is not None:
            continue  # a part of what decides
        if series.gone and whole is None:
            reasons.append(f"{series.series.name}: {series.gone}")
        reasons += _reasons_of_figures(series, others, limits, restless)
    return reasons


def _reasons_of_figures(
    series: SeriesVerdict, others: Sequence[HostVerdict], limits: Limits, restless: bool
) -> list[str]:
    reasons = []
    for figure in series.figures:
        reason = _figure_reason(series, figure, limits, restless)
        if reason:
            beside = _beside(others, series, figure)
            reasons.append(f"{series.series.name} {figure.name}: {reason}{beside}")
    return reasons


def _figure_reason(
    series: SeriesVerdict, figure: Figure, limits: Limits, restless: bool
) -> str | None:
    comparison = figure.comparison
    ratio = percent(comparison.interval.ratio)
    if comparison.verdict == SLOWER:
        return f"slower ({ratio})"
    if comparison.verdict != INCONCLUSIVE:
        return None
    if comparison.suspect and comparison.interval.ratio > 1.0:
        return f"suspect ({ratio})"
    if not figure.is_central:
        return None  # the tail moves by itself; it is held for what it shows, not for what it may
    if comparison.stable is False and restless:
        return "the baseline was not stable, so that no verdict is due"
    if comparison.interval.low <= 0.0:
        # If it was not requested, the number of its windows depends on chance.
        needed = comparison.needed
        return f"too few windows to tell, it needs about {needed}" if series.asked else None
    if comparison.interval.high > 1.0 + limits.tolerance:
        return f"inconclusive, and could be {comparison.interval.high:.1f} times as slow"
    if limits.inconclusive == HOLD:
        return f"inconclusive ({ratio})"
    return None


def _beside(others: Sequence[HostVerdict], series: SeriesVerdict, figure: Figure) -> str:
    """Ratios of the same figure on unchanged hosts; empty if none of them has it."""
    ratios = [
        beside.comparison.interval.ratio
        for host in others
        for peer in host.series
        if peer.series._replace(subject="") == series.series._replace(subject="")
        for beside in peer.figures
        if beside.name == figure.name
    ]
    if not ratios:
        return ""
    return f"; on unchanged hosts: {percent(median(ratios))}"
