# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latency limits: selects the limit of a figure and grades the figure.

The most specific limit is used: a limit for the storage, layer, size or event precedes a limit
without it. If two limits are equally specific, the later one is used, so that limits of the user
override the built-in ones.
"""

from typing import Any, Dict, NamedTuple, Optional, Sequence

from ...evaluate.finding import FAIL, PASS, WARN
from ...latency.probe_list import DISK, DISK_READ, NFS, POOL, REPORT, TCP
from .figures import Figure, milliseconds

ANY = "any"
STORAGE = (ANY, "hdd", "ssd", "nvme", "virtual", "nfs")
FIGURES = ("p50", "p90", "p99", "mean")
LAYERS = {
    DISK: ("read", "write"),
    DISK_READ: ("user", "device", "host"),
    NFS: ("server", "user", "host"),
    TCP: ("net", "kernel", "user", "server", "host"),
    POOL: ("checkout",),
    REPORT: ("database",),
}


class Threshold(NamedTuple):
    """A limit in milliseconds. None: any layer, size or event; nothing that fails."""

    probe: str
    storage: str
    layer: Optional[str]
    figure: str
    size: Optional[int]
    event: Optional[str]
    warn_ms: float
    fail_ms: Optional[float]
    source: str

    def text(self) -> str:
        """The limit as a layer of a finding shows it."""
        fails = "" if self.fail_ms is None else f", above {_limit(self.fail_ms)} fails"
        return f"{self.figure} at most {_limit(self.warn_ms)}{fails}"


class Subject(NamedTuple):
    """The attributes of a figure that select its limit."""

    probe: str
    storage: str
    layer: str
    size: Optional[int] = None
    event: Optional[str] = None


def threshold_from(options: object) -> Threshold:
    """A limit of the policy; ValueError says what is wrong with it."""
    if not isinstance(options, dict):
        raise ValueError(f"must be a dictionary, not {options!r}")
    unknown = sorted(str(name) for name in options if name not in Threshold._fields)
    if unknown:
        raise ValueError(
            "has unknown {0}; it takes {1}".format(", ".join(unknown), Threshold._fields)
        )
    probe = _choice(options, "probe", tuple(LAYERS), None)
    layer = options.get("layer")
    if layer is not None and layer not in LAYERS[probe]:
        raise ValueError(
            "layer of {0} must be one of {1}, not {2!r}".format(
                probe, ", ".join(LAYERS[probe]), layer
            )
        )
    event, size = _event(options, probe), _size(options)
    warn, fail = _limit_from(options, "warn_ms"), _limit_from(options, "fail_ms")
    if warn is None:
        raise ValueError("needs warn_ms")
    if fail is not None and fail < warn:
        raise ValueError(f"fail_ms {fail:g} must not be below warn_ms {warn:g}")
    return Threshold(
        probe=probe,
        storage=_choice(options, "storage", STORAGE, ANY),
        layer=layer,
        figure=_choice(options, "figure", FIGURES, None),
        size=size,
        event=event,
        warn_ms=warn,
        fail_ms=fail,
        source=str(options.get("source") or "policy"),
    )


def _event(options: Dict[str, Any], probe: str) -> Optional[str]:
    event = options.get("event")
    if event is None or (probe == REPORT and isinstance(event, str) and event):
        return event
    raise ValueError("event is the name of a wait event, for the probe report alone")


def _size(options: Dict[str, Any]) -> Optional[int]:
    size = options.get("size")
    if size is None:
        return None
    if isinstance(size, bool) or not str(size).isdecimal():
        raise ValueError(f"size must be a number of bytes, not {size!r}")
    return int(size)


def _choice(
    options: Dict[str, Any], name: str, choices: Sequence[str], otherwise: Optional[str]
) -> str:
    value = options.get(name, otherwise)
    if value not in choices:
        raise ValueError(
            "{0} must be one of {1}, not {2!r}".format(name, ", ".join(choices), value)
        )
    return str(value)


def _limit_from(options: Dict[str, Any], name: str) -> Optional[float]:
    value = options.get(name)
    if value is None:
        return None
    try:
        number = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = -1.0
    # Anything else than a number between (NaN too) fails the comparison.
    if not 0 < number < 1e9:
        raise ValueError(f"{name} must be milliseconds above 0, not {value!r}")
    return number


def choose(thresholds: Sequence[Threshold], subject: Subject, figure: str) -> Optional[Threshold]:
    """The limit for a figure ("p50") of a subject; None where there is none."""
    best: Optional[Threshold] = None
    rank = (-1, -1, -1, -1)
    for threshold in thresholds:
        pairs = (
            (threshold.event, subject.event),
            (None if threshold.storage == ANY else threshold.storage, subject.storage),
            (threshold.layer, subject.layer),
            (threshold.size, subject.size),
        )
        applies = threshold.probe == subject.probe and threshold.figure == figure
        if applies and all(required is None or required == actual for required, actual in pairs):
            own = tuple(int(required is not None) for required, _ in pairs)
            if own >= rank:
                best, rank = threshold, (own[0], own[1], own[2], own[3])
    return best


def grade(figure: Figure, threshold: Threshold) -> str:
    """PASS, WARN or FAIL: FAIL only where the whole interval is known to be above the limit."""
    if figure.value <= threshold.warn_ms * 1000.0:
        return PASS
    above = threshold.fail_ms is not None and figure.value > threshold.fail_ms * 1000.0
    if above and figure.low is not None and figure.low > (threshold.fail_ms or 0.0) * 1000.0:
        return FAIL
    return WARN


def _limit(value: float) -> str:
    return milliseconds(value * 1000.0)
