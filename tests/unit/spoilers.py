"""Ways in which a reading of a host can be lost or spoilt: no check may get better by it."""

import copy
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.evaluate.finding import PASS, SKIP, Finding, worst

#: Judges a host: the name of each check, and what was found.
#: Newer than every reading: a key that is missing was not left out by an older release.
LATER = "99.0"

Judge = Callable[[RecordedHost], dict[str, list[Finding]]]
Reading = dict[str, Any]
_GARBAGE = "\x00\ud800 garbage [ : =\n\n\u00b2"


def removed(_reading: Reading) -> Reading | None:
    return None


def denied(reading: Reading) -> Reading:
    return {"kind": reading["kind"], "error": "denied", "message": "no permission"}


def timed_out(reading: Reading) -> Reading:
    return {"kind": reading["kind"], "error": "unanswered", "message": "timed out"}


def hollow(reading: Reading) -> Reading:
    """A recording of which somebody cut the answer out."""
    return {"kind": reading["kind"]}


def of_another_kind(reading: Reading) -> Reading:
    return dict.fromkeys(("text", "names", "target", "stat", "processes", "argv", "rc"), 5) | {
        "kind": reading["kind"]
    }


def garbled(reading: Reading) -> Reading:
    """The right shape, with an answer that is none."""
    return _with_texts(reading, _GARBAGE)


def emptied(reading: Reading) -> Reading:
    """Text that ends before it begins, and commands that say nothing and are content."""
    return _with_texts(reading, "")


def _with_texts(reading: Reading, text: str) -> Reading:
    spoilt = dict(reading)
    for name in ("text", "stdout"):
        if name in spoilt:
            spoilt[name] = text
    for name in ("first", "second"):
        if name in spoilt:
            spoilt[name] = dict.fromkeys(spoilt[name], text)
    if "windows" in spoilt:
        spoilt["windows"] = [text] if text else []
        spoilt["remarks"] = []
    return spoilt


SPOILERS = (removed, denied, timed_out, hollow, of_another_kind, garbled, emptied)
#: Nothing was answered at all.
SILENT = (removed, denied, timed_out, hollow, of_another_kind)


#: Controls cannot tell the others from these: a RecordedHost raises Unanswered for each.
DISTINCT = (removed, denied, garbled, emptied)


def spoilt_recordings(
    evidence: dict[str, Reading], spoil: Any, lenient: tuple[str, ...]
) -> Iterator[tuple[str, RecordedHost]]:
    """(key, recording) with each reading in turn spoilt; that a file is absent is an answer too."""
    for key, reading in sorted(evidence.items()):
        if spoil in ways(key, reading, lenient):
            yield key, spoilt_recording(evidence, key, spoil)


def in_turn(
    evidence: dict[str, Reading], spoils: tuple[Any, ...], turn: int, lenient: tuple[str, ...]
) -> Iterator[tuple[str, RecordedHost]]:
    """As spoilt_recordings, each reading in one way. In another turn the way is another one, so
    that hosts with the same readings try all of them together."""
    for key, reading in sorted(evidence.items()):
        possible = [spoil for spoil in ways(key, reading, lenient) if spoil in spoils]
        spoil = possible[(zlib.crc32(key.encode()) + turn) % len(possible)]
        yield key, spoilt_recording(evidence, key, spoil)


def ways(key: str, reading: Reading, lenient: tuple[str, ...]) -> tuple[Any, ...]:
    """How a reading can be spoilt. ``lenient`` are beginnings of keys whose readers skip what they
    do not understand, and take an empty one: another host then."""
    return SILENT if "error" in reading or key.startswith(lenient) else SPOILERS


def spoilt_recording(evidence: dict[str, Reading], key: str, spoil: Any) -> RecordedHost:
    # Judging changes no reading, and a copy of all of them would cost as much as judging.
    changed = dict(evidence)
    instead = spoil(changed.pop(key))
    if instead is not None:
        changed[key] = instead
    return RecordedHost(changed, LATER)


def summary(findings: dict[str, list[Finding]]) -> dict[str, str]:
    return {
        check: worst([finding.status for finding in group]) for check, group in findings.items()
    }


def better_for_less(
    judge: Judge, evidence: dict[str, Reading], turn: int, lenient: tuple[str, ...]
) -> list[tuple[str, str]]:
    """(key, check) of what passes without a reading that it did not pass with."""
    before = summary(judge(RecordedHost(copy.deepcopy(evidence), LATER)))
    better = []
    for key, spoilt in in_turn(evidence, DISTINCT, turn, lenient):
        after = summary(judge(spoilt))
        assert set(after) == set(before)
        better += [(key, check) for check in after if after[check] == PASS != before[check]]
    return better


def sure_of_nothing(
    judge: Judge, evidence: dict[str, Reading], lenient: tuple[str, ...]
) -> set[tuple[str, str]]:
    """(check, key) of what passes, or is skipped, and cites a reading that says nothing."""
    findings = judge(RecordedHost(copy.deepcopy(evidence), LATER))
    cited = {
        (name, key) for name in findings for finding in findings[name] for key in finding.evidence
    }
    assert len(cited) > 20
    return {
        (check, key)
        for key, spoilt in in_turn(evidence, (removed, denied), 0, lenient)
        for check, status in summary(judge(spoilt)).items()
        if (check, key) in cited and status in (PASS, SKIP)
    }
