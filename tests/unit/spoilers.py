"""Ways in which a reading of a host can be lost or spoilt: no check may get better by it."""

import copy
from collections.abc import Iterator
from typing import Any

from ansible.module_utils.hostproof.host import RecordedHost

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


def spoilt_recordings(
    evidence: dict[str, Reading], spoil: Any, lenient: tuple[str, ...]
) -> Iterator[tuple[str, RecordedHost]]:
    """(key, recording) with each reading in turn spoilt; that a file is absent is an answer too.

    ``lenient`` are beginnings of keys whose readers skip what they do not understand, and take
    an empty one: another host then.
    """
    for key, reading in sorted(evidence.items()):
        if spoil not in SILENT and ("error" in reading or key.startswith(lenient)):
            continue
        changed = copy.deepcopy(evidence)
        instead = spoil(changed.pop(key))
        if instead is not None:
            changed[key] = instead
        yield key, RecordedHost(changed)
