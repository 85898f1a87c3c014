# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Baseline: the latency of a host, measured and stored on the controller in one file per host.

``HOST.json``: ``schema``, ``hostproof`` (version), ``host``, ``taken_at`` (UTC), the request
(``probes``, ``rounds``, ``seconds``, ``pause``) and the result (``windows``, ``remarks``).
"""

import errno
import json
import math
import os
import tempfile
from typing import Any, NamedTuple

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.collect import bounded
from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.errors import HostproofError

SCHEMA = 1

#: Bytes. A hundred windows of ten probes with full histograms are a fifth of it.
LIMIT = 64 * 1024 * 1024


class Baseline(NamedTuple):
    """``probes`` is the list as the user gave it; ``rounds`` windows of ``seconds`` were queried
    for, ``pause`` seconds apart. ``taken_at`` is RFC 3339, UTC."""

    host: str
    taken_at: str
    probes: list[dict[str, Any]]
    rounds: int
    seconds: float
    pause: float
    windows: list[Window]
    remarks: list[str]


class NoBaseline(HostproofError):
    """There is none of this host, or it cannot be read; the message says which and where."""


def path_of(folder: str, host: str) -> str:
    """Path of a host's baseline. No name leads out of the directory: slashes and a leading dot are
    replaced or escaped."""
    name = host.replace("/", "_")
    return os.path.join(folder, "_" + name if name.startswith(".") else name) + ".json"


def save(folder: str, baseline: Baseline) -> str:
    """Write a baseline, for its owner only and whole or not at all; its path."""
    make_folder(folder)
    content = dict(baseline._asdict(), schema=SCHEMA, hostproof=VERSION)
    content["windows"] = [window.to_json() for window in baseline.windows]
    path = path_of(folder, baseline.host)
    write_json(path, content)
    return path


def load(folder: str, host: str) -> Baseline:
    """The baseline of a host; NoBaseline for anything else than a whole one of this host."""
    path = path_of(folder, host)
    content = read_json(path, "baseline")
    if content.get("schema") != SCHEMA:
        raise NoBaseline(f"{path} is not a baseline of schema {SCHEMA}: record it again")
    try:
        made = Baseline(**{name: content[name] for name in Baseline._fields})
        windows = [Window.from_json(window) for window in made.windows]  # type: ignore[arg-type]
        made = made._replace(
            windows=windows,
            rounds=int(made.rounds),
            seconds=float(made.seconds),
            pause=float(made.pause),
            remarks=[str(remark) for remark in made.remarks],
        )
        if not (math.isfinite(made.seconds) and math.isfinite(made.pause)):
            raise ValueError("seconds and pause must be numbers")
    # OverflowError: JSON's numbers may be infinite, or too long for any float.
    except (KeyError, OverflowError, TypeError, ValueError) as problem:
        raise NoBaseline(f"{path} is not a whole baseline ({problem}): take it again") from problem
    if not isinstance(made.probes, list) or made.host != host:
        raise NoBaseline(f"{path} is a baseline of {made.host}, not of {host}")
    return made


def make_folder(folder: str) -> None:
    """Make a directory and those above it, each new one for its owner only."""
    above = os.path.dirname(os.path.abspath(folder))
    if not os.path.isdir(above):
        make_folder(above)
    try:
        os.mkdir(folder, 0o700)
    except OSError as problem:
        # Several hosts' files are written at once.
        if problem.errno != errno.EEXIST:
            raise


def write_json(path: str, content: dict[str, Any]) -> None:
    """Replace a file as a whole, on disk before this returns."""
    folder, name = os.path.split(path)
    handle, draft = tempfile.mkstemp(prefix="." + name + ".", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            text = json.dumps(content, indent=1, sort_keys=True) + "\n"
            stream.write(text.encode("ascii"))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    above = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(above)
    finally:
        os.close(above)


def read_json(path: str, what: str) -> dict[str, Any]:
    """The JSON object in a file; NoBaseline says what is wrong with it."""
    try:
        content = bounded.loads(bounded.read_regular(path, LIMIT), encoding="utf-8")
    except FileNotFoundError:
        raise NoBaseline(f"there is no {what} {path}") from None
    except (OSError, ValueError) as problem:
        raise NoBaseline(f"{path} cannot be read: {problem}") from problem
    if not isinstance(content, dict):
        raise NoBaseline(f"{path} holds no {what}")
    return content
