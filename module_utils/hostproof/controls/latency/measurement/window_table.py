# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows as a module gives them: for machines, and as lines of text for people."""

from typing import Any, Dict, List, Optional, Sequence

from ....collect.measured import Measured, Window
from ....errors import HostproofError
from .report import octave_of

_ROW = "{0:<24} {1:<8} {2:>8} {3:>8} {4:>10} {5:>10} {6:>10} {7:>10} {8:>10}"
_HEAD = ("subject", "layer", "bytes", "n", "min us", "p50 us", "p99 us", "max us", "mean us")


class NothingMeasured(HostproofError):
    """Every measurement failed; ``remarks`` are the reasons."""

    def __init__(self, remarks: List[str]) -> None:
        super().__init__("nothing could be measured: {0}".format("; ".join(remarks)))
        self.remarks = remarks


def windows_of(measured: Measured) -> Dict[str, Any]:
    """The result of a module: its windows. Raises NothingMeasured if there is none."""
    if not measured.windows:
        raise NothingMeasured(measured.remarks)
    return result(measured.windows, measured.remarks)


def result(windows: Sequence[Window], remarks: Sequence[str], **more: object) -> Dict[str, Any]:
    """What a module that measured or read windows returns."""
    return dict(
        more,
        changed=False,
        windows=[window.to_json() for window in windows],
        remarks=list(remarks),
        table=lines(windows),
    )


def lines(windows: Sequence[Window]) -> List[str]:
    """A heading and a line a window, none without; "-" is what the source does not tell.

    A source that counts by octaves tells below which value a percentile is: "<16384".
    """
    if not windows:
        return []
    rows = [
        (
            window.subject,
            window.layer,
            "-" if window.size is None else str(window.size),
            str(window.n),
            _number(window.minimum),
            _percentile(window, window.p50, 0.5),
            _percentile(window, window.p99, 0.99),
            _number(window.maximum),
            _number(window.mean),
        )
        for window in windows
    ]
    return [_ROW.format(*row).rstrip() for row in [_HEAD] + rows]


def _percentile(window: Window, value: Optional[float], share: float) -> str:
    if value is not None:
        return _number(value)
    octave = octave_of(window, share)
    if octave is None:
        return "-"
    return f">={octave[0]:g}" if octave[1] is None else f"<{octave[1]:g}"


def _number(microseconds: Optional[float]) -> str:
    return "-" if microseconds is None else f"{microseconds:.1f}"
