# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters of a running instance as the figures that reports are kept as."""

from ...errors import Unanswered
from ...probes.oracle.next_start import PREFETCH_PARAMETERS
from ...probes.oracle.oracle_parameters import Asked
from .measurement import lobs, work
from .measurement.lobs import Figures
from .parsers import report_parameters
from .parsers.report_parameters import Parameter

_EVENT = "event"


def figures_of(instance: Asked) -> Figures:
    """What the rules of parameters need; Unanswered for a recording of earlier versions."""
    values = instance.running
    if _EVENT not in values:
        raise Unanswered(instance.key, "it was recorded without these parameters; record it again")
    figures: Figures = {
        lobs.PARAMETERS: 1.0,
        lobs.WHOLE: 0.0,
        lobs.RELEASE: ".".join(str(number) for number in instance.full or instance.version),
    }
    for name in (lobs.SECUREFILE, lobs.COMPATIBLE):
        value = values.get(name)
        if value:
            figures[name] = value.lower()
    for name in PREFETCH_PARAMETERS:
        value = values.get(name)
        if value:
            figures[work.PARAMETER + name] = value
    text = "".join((values[_EVENT] or "").replace("'", "").replace('"', "").split()).lower()
    event = report_parameters.reclaim_event(Parameter(text, cut=False))
    if event is not None:
        figures[lobs.EVENT] = lobs.NOT_SHOWN if event.level is None else float(event.level)
    return figures
