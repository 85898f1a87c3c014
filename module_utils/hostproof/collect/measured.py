# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A window: what a latency probe saw in some seconds. The unit of every comparison.

All probes give windows, so that one evaluation serves a TCP round trip, a disk read and a wait
event of an AWR report alike. Durations are microseconds; what a source does not tell is None.
"""

import math
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Union

from .histogram import Histogram

#: Fewer samples do not tell where the 99th of a hundred lies: with 1,000 the 95% interval of the
#: rank reaches from p98.4 to p99.6.
ENOUGH_FOR_P99 = 1000


class Window(NamedTuple):
    """``started`` is seconds since 1970, ``size`` the bytes of one request.

    ``layer`` says between which two points the time passed: ``net`` (SYN to SYN/ACK), ``kernel``
    (send to receive stamp), ``user`` (around the calls), ``host`` (user less kernel), ``device``
    (the block layer), ``server`` (an RPC), ``database`` (a wait event). ``bins`` is what
    Histogram.to_json gives, or {"log2": {k: n}} from a source that keeps only those, or None.
    ``conditions`` are what else was true: load, preemptions, retransmissions.
    """

    probe: str
    subject: str
    layer: str
    size: Optional[int]
    started: Optional[float]
    seconds: Optional[float]
    n: int
    minimum: Optional[float]
    mean: Optional[float]
    p50: Optional[float]
    p90: Optional[float]
    p99: Optional[float]
    maximum: Optional[float]
    bins: Optional[Dict[str, Any]]
    conditions: Dict[str, Any]

    def to_json(self) -> Dict[str, Any]:
        """A JSON object with a key for each field."""
        return dict(self._asdict())

    @classmethod
    def from_json(cls, values: Dict[str, Any]) -> "Window":
        """The window that to_json gave; ValueError names what is missing, too much or wrong."""
        if not isinstance(values, dict) or set(values) != set(cls._fields):
            wrong = sorted(set(cls._fields).symmetric_difference(values or ()))
            raise ValueError("not a window: {0}".format(", ".join(wrong)))
        made = cls(**values)
        wrong = [name for name in _TEXTS if not isinstance(values[name], str)]
        wrong += [name for name in _FIGURES if not _is_figure(values[name])]
        wrong += [name for name in ("size", "n") if not isinstance(values[name] or 0, int)]
        if values["n"] is None:
            wrong.append("n")
        if not isinstance(values["conditions"], dict):
            wrong.append("conditions")
        if wrong:
            raise ValueError("not a window: {0} cannot be so".format(", ".join(sorted(wrong))))
        try:
            made.log2_bins()
        except (AttributeError, KeyError, TypeError) as problem:
            raise ValueError(f"not a window: its bins are none: {problem!r}") from problem
        return made

    def log2_bins(self) -> Dict[int, int]:
        """Exponent k to number of values from 2**(k-1) to less than 2**k microseconds."""
        if self.bins is None:
            return {}
        if "log2" in self.bins:
            return {int(k): int(n) for k, n in sorted(self.bins["log2"].items(), key=_exponent)}
        return Histogram.from_json(self.bins).log2_bins()


class Measured(NamedTuple):
    """What probes gave; ``remarks`` are sentences about what could not be measured, and why.

    ``figures`` are what else a report counts, by name; None where there are none.
    """

    windows: List[Window]
    remarks: List[str]
    figures: Optional[Dict[str, Union[str, float]]] = None


_TEXTS = ("probe", "subject", "layer")
_FIGURES = ("size", "started", "seconds", "n", "minimum", "mean", "p50", "p90", "p99", "maximum")


def _is_figure(value: Any) -> bool:
    """None, or a number that a duration, a time or a count can be."""
    if value is None:
        return True
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def window_from_samples(
    probe: str,
    subject: str,
    layer: str,
    size: Optional[int],
    started: Optional[float],
    seconds: Optional[float],
    samples: Iterable[int],
    conditions: Dict[str, Any],
) -> Window:
    """The window of durations in nanoseconds. p99 is None where they are too few for one."""
    histogram = Histogram()
    histogram.add_many(samples)
    enough = histogram.count >= ENOUGH_FOR_P99
    return Window(
        probe=probe,
        subject=subject,
        layer=layer,
        size=size,
        started=started,
        seconds=seconds,
        n=histogram.count,
        minimum=histogram.minimum,
        mean=histogram.mean,
        p50=histogram.quantile(0.5),
        p90=histogram.quantile(0.9),
        p99=histogram.quantile(0.99) if enough else None,
        maximum=histogram.maximum,
        bins=histogram.to_json(),
        conditions=dict(conditions),
    )


def _exponent(item: Any) -> int:
    return int(item[0])
