# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that are read twice or measured, at both ends of a window."""

import subprocess
from functools import partial
from typing import (
    Any,
    Callable,
    Dict,
    List,
)

from ...errors import (
    HostproofError,
)
from .. import guarded_read, window
from ..measured import Measured
from .answers import Measure, error_reading, text_of_file
from .commands import run_command


def sampled_sources(files: List[str], commands: List[List[str]]) -> List[str]:
    return ["file:" + path for path in files] + ["command:" + " ".join(argv) for argv in commands]


class Sampling(window.Task):
    """Files and commands that are read when the window opens and when it closes."""

    def __init__(self, key: str, files: List[str], commands: List[List[str]]) -> None:
        super().__init__(key, "sample")
        self._sources = (files, commands)
        self._errors: Dict[str, str] = {}
        self._began = 0.0
        self._first: Dict[str, str] = {}

    def begin(self) -> None:
        self._began = window.now()
        self._first = _read_sources(self._sources[0], self._sources[1], self._errors)

    def end(self) -> Dict[str, Any]:
        # Include the duration of the first reading: both readings of a source are that far apart.
        passed = window.now() - self._began
        first = self._first
        second = _read_sources(self._sources[0], self._sources[1], self._errors)
        for source in self._errors:
            first.pop(source, None)
            second.pop(source, None)
        return {
            "seconds": round(passed, 3),
            "first": first,
            "second": second,
            "errors": self._errors,
        }


#: Seconds for one reading of a sample: others wait for it, and a sick driver blocks each command.
_READING_LIMIT = 60.0


def _read_sources(
    files: List[str], commands: List[List[str]], errors: Dict[str, str]
) -> Dict[str, str]:
    """The text of each source; those that give none go to ``errors``."""
    texts: Dict[str, str] = {}
    until = window.now() + _READING_LIMIT
    asks = [partial(read_sampled, path) for path in files]
    asks += [partial(_read_output, argv) for argv in commands]
    for source, ask in zip(sampled_sources(files, commands), asks):
        if source in errors:
            continue
        if window.now() >= until:
            errors[source] = f"{source}: was not read, those before it took {_READING_LIMIT:g} s"
            continue
        try:
            texts[source] = ask()
        except (OSError, subprocess.TimeoutExpired, ValueError) as problem:
            errors[source] = error_reading(source, problem)["message"]
    return texts


def read_sampled(path: str) -> str:
    answer = guarded_read.kernels(path, "file")
    return text_of_file(path) if answer is None else str(answer[0])


def _read_output(argv: List[str]) -> str:
    output = run_command(argv, 20.0)
    if output["rc"] != 0:
        raise ValueError("ended with {0}: {1}".format(output["rc"], output["stderr"].strip()))
    return str(output["stdout"])


def measurement_of(measure: Measure) -> window.Measurement:
    return window.Measurement(
        "windows:" + measure.name,
        "windows",
        measure.how,
        lambda seconds: run_measurement(partial(measure.measure, seconds)),
    )


def not_measured() -> Any:
    raise ValueError("no probe measured it in this run")


def measures_nothing() -> Any:
    """For a reading that a window has given: it is never requested."""
    raise ValueError("no window has passed for it")


def run_measurement(measure: Callable[[], Measured]) -> Dict[str, Any]:
    try:
        measured = measure()
    except HostproofError as problem:
        raise ValueError(str(problem)) from problem
    result = {
        "windows": [window.to_json() for window in measured.windows],
        "remarks": list(measured.remarks),
    }
    return result if measured.figures is None else dict(result, figures=measured.figures)
