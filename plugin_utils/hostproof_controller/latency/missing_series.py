# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that never came, and what had to be sent again, before and after a change.

No figure of a window tells of them: the answers that did come may be as quick as ever, and one
request in two hundred that waits 200 ms for its second try moves neither p50 nor p99.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.latency.probe_list import (
    DISK_READ,
    ELSEWHERE,
    REQUEST_RESPONSE,
    TCP,
)

from .baseline import Baseline
from .series import Series, series_of

#: Standard errors: minimum for a remark, and minimum for "worse" unless the share is clear. A host
#: that stalls sends a few requests again although nothing was lost.
_LOST = (0.0, 2.0)
_AGAIN = (2.0, 3.0)
_CLEAR_SHARE = 0.05

#: The layer that a probe always has.
_WHOLE = ("user", "server")


class Loss(NamedTuple):
    """``worse``: more than chance explains; otherwise this is only information."""

    name: str
    text: str
    worse: bool


class _Count(NamedTuple):
    """``asked`` in answers, or in windows where one connection carries all of a window."""

    lost: int
    asked: int
    reasons: dict[str, int]


def losses(before: Baseline, after: Baseline) -> list[Loss]:
    """Losses after the change that exceed those before it, one entry per probe.

    The caller reports probes without any window on a side.
    """
    sides = [_asking(side) for side in (before, after)]
    all_losses: list[Loss | None] = []
    for series in sides[0]:
        if series not in sides[1]:
            continue
        pair = [side[series] for side in sides]
        rounds = (before.rounds, after.rounds)
        lost = [_lost(series, *arguments) for arguments in zip(pair, rounds, strict=False)]
        has_size = series.size is not None
        what = "windows were cut off or are missing" if has_size else "answers were lost"
        all_losses.append(_judge(series, what, lost[0], lost[1], _LOST))
        again = [_sent_again(windows) for windows in pair]
        if again[0] is not None and again[1] is not None:
            what = "requests" if has_size else "connections"
            what += " were sent again"
            all_losses.append(_judge(series, what, again[0], again[1], _AGAIN))
    return [loss for loss in all_losses if loss is not None]


def _asking(baseline: Baseline) -> dict[Series, list[Window]]:
    """The series of probes that ask by themselves, each by the layer that it always has."""
    return {
        series: windows
        for series, windows in series_of(baseline.windows).items()
        if series.layer in _WHOLE and (series.probe == TCP or series.size is not None)
    }


def _lost(series: Series, windows: Sequence[Window], rounds: int) -> _Count:
    missing = max(0, rounds - len(windows))
    reasons: dict[str, int] = {}
    if series.size is not None:
        cut = [str(item.conditions["ended"]) for item in windows if item.conditions.get("ended")]
        for reason in cut:
            reasons[reason] = reasons.get(reason, 0) + 1
        return _Count(missing + len(cut), len(windows) + missing, reasons)
    lost = answered = 0
    for window in windows:
        failures = _failures(window)
        lost += sum(failures.values())
        answered += window.n
        for reason, number in failures.items():
            reasons[reason] = reasons.get(reason, 0) + number
    # A window that is missing had as many questions as the others.
    unanswered = int(round(missing * (lost + answered) / float(len(windows))))
    return _Count(lost + unanswered, lost + answered + unanswered, reasons)


def _failures(window: Window) -> dict[str, int]:
    failures: object = window.conditions.get("failures")
    if not isinstance(failures, dict):
        return {}
    # An answer from elsewhere is an answer.
    return {
        str(key): number
        for key, number in failures.items()
        if isinstance(number, int) and key != ELSEWHERE
    }


def _sent_again(windows: Sequence[Window]) -> _Count | None:
    """None where the kernel did not tell."""
    samples = [window for window in windows if isinstance(window.conditions.get("retrans"), int)]
    if not samples:
        return None
    requests = sum(_answered(window) for window in samples)
    # A request may be sent again more than once.
    again = min(requests, sum(window.conditions["retrans"] for window in samples))
    return _Count(again, requests, {}) if requests else None


def _answered(window: Window) -> int:
    """Of requests, those with time stamps may be in another layer than the user's."""
    answered = window.conditions.get("answered")
    return answered if isinstance(answered, int) else window.n


def _judge(
    series: Series, what: str, before: _Count, after: _Count, errors: tuple[float, float]
) -> Loss | None:
    if not before.asked or not after.asked:
        return None
    shares = [count.lost / float(count.asked) for count in (before, after)]
    difference = shares[1] - shares[0]
    if difference <= 0.0:
        return None
    pooled = (before.lost + after.lost) / float(before.asked + after.asked)
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / before.asked + 1.0 / after.asked))
    worse = difference >= _CLEAR_SHARE or difference >= errors[1] * error
    if not worse and difference < errors[0] * error:
        return None
    text = "{0} of {1} {2} after, {3} of {4} before".format(
        after.lost, after.asked, what, before.lost or "none", before.asked
    )
    if after.reasons:
        reasons = sorted(after.reasons.items(), key=_by_number)
        text += " ({0})".format(", ".join("{0}: {1}".format(*reason) for reason in reasons))
    return Loss(_name(series), text, worse)


def _by_number(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _name(series: Series) -> str:
    if series.probe == TCP:
        mode = series.mode or REQUEST_RESPONSE
        return f"{series.probe} {series.subject} {mode}"
    return f"{DISK_READ} {series.subject} {series.size} B"
