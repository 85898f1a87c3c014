# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The trend as one HTML file that opens from disk and loads nothing. Jinja2 escapes every value."""

from __future__ import annotations

from pathlib import Path

from ansible.module_utils.hostproof import VERSION

from ..report.prometheus import seconds
from ..report.text import one_line
from ..report.verdict import READY, VERDICTS
from .trend import SOON_DAYS, Trend, lasted

TEMPLATES = Path(__file__).with_name("templates")

#: Size of the drawing, in units of its viewBox.
WIDTH, HEIGHT = 900, 220
#: Best at the bottom of a column; the letters are what is read where colour is not.
_CLASSES = dict(
    zip(
        reversed(VERDICTS),
        ("ready", "warnings", "none", "unknown", "unreachable", "bad"),
        strict=True,
    )
)
_MOST_FAILURES = 200


def render(trend: Trend, generated: str) -> str:
    """The text of the page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = lambda value: one_line(str(value))
    environment.filters["minute"] = lambda instant: str(instant)[:16].replace("T", " ")
    mean = trend.mean_seconds
    last = trend.points[-1]
    return environment.get_template("history.html.j2").render(
        trend=trend,
        columns=columns(trend),
        width=WIDTH,
        height=HEIGHT,
        verdicts=list(reversed(VERDICTS)),
        classes=_CLASSES,
        ready=last.verdicts[READY],
        hosts=sum(last.verdicts.values()),
        failures=trend.open_failures[:_MOST_FAILURES],
        more=max(0, len(trend.open_failures) - _MOST_FAILURES),
        mean=None if mean is None else lasted(mean),
        age=lambda failure: lasted(seconds(last.at) - seconds(failure.since)),
        soon=SOON_DAYS,
        generated=generated,
        version=VERSION,
    )


def columns(trend: Trend) -> list[dict[str, object]]:
    """Rectangles: a column a run, a piece a verdict; the most hosts of any run are the height."""
    most = max(sum(point.verdicts.values()) for point in trend.points) or 1
    step = WIDTH / len(trend.points)
    rectangles: list[dict[str, object]] = []
    for place, point in enumerate(trend.points):
        top = float(HEIGHT)
        for verdict in reversed(VERDICTS):
            count = point.verdicts[verdict]
            height = HEIGHT * count / most
            top -= height
            if count:
                rectangles.append(
                    {
                        "x": round(place * step, 2),
                        "y": round(top, 2),
                        "width": round(max(step * 0.86, 0.5), 2),
                        "height": round(height, 2),
                        "kind": _CLASSES[verdict],
                        "title": f"{point.at}: {count} {verdict}",
                    }
                )
    return rectangles
