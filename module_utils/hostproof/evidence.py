# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence as it travels and as it is kept.

On its way to the controller it is base64 of zlib of JSON (key to reading, see host.py). An
evidence pack is one JSON file a host: ``schema``, ``host``, ``recorded_at`` (UTC),
``hostproof`` (version) and ``readings``.
"""

import base64
import json
import zlib
from typing import Any, Dict, Iterable

from .errors import HostproofError
from .masking import masked

PACK_SCHEMA = 1

#: Bytes. What inflates to more is not read: a host must not be able to fill the controller.
LIMIT = 64 * 1024 * 1024

Readings = Dict[str, Dict[str, Any]]


def encode(readings):
    # type: (Readings) -> str
    """Readings as one line of ASCII; bytes that are not UTF-8 survive, passwords do not."""
    text = json.dumps(
        {key: _masked(key, readings[key]) for key in readings},
        sort_keys=True,
        separators=(",", ":"),
    )
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def _masked(key, reading):
    # type: (str, Dict[str, Any]) -> Dict[str, Any]
    found = {name: reading[name] for name in ("text", "stdout") if name in reading}
    return dict(reading, **{name: masked(key, text) for name, text in found.items()})


def decode(text):
    # type: (str) -> Readings
    """The readings that ``encode`` packed."""
    try:
        inflater = zlib.decompressobj()
        inflated = inflater.decompress(base64.b64decode(text, validate=True), LIMIT)
        if inflater.unconsumed_tail:
            raise HostproofError(
                "evidence inflates to more than {0} MiB and is not read".format(LIMIT // 1048576)
            )
        if not inflater.eof:
            raise ValueError("its end is missing")
        readings = json.loads(inflated.decode("ascii"))
    except (ValueError, zlib.error) as problem:
        raise HostproofError("evidence cannot be unpacked: {0}".format(problem)) from problem
    if not isinstance(readings, dict):
        raise HostproofError("evidence is not a JSON object")
    return readings


def cited(readings, findings):
    # type: (Readings, Iterable[Any]) -> Readings
    """The readings that the findings name."""
    keys = {key for finding in findings for key in finding.evidence}
    return {key: reading for key, reading in readings.items() if key in keys}


def load_pack(path):
    # type: (str) -> Readings
    """The readings of the evidence pack at ``path``; a clear error for anything else."""
    try:
        with open(path, "rb") as stream:
            pack = json.loads(stream.read().decode("utf-8"))
    except FileNotFoundError:
        raise HostproofError(
            "there is no evidence pack {0}: record the host first".format(path)
        ) from None
    except (OSError, ValueError) as problem:
        raise HostproofError(
            "evidence pack {0} cannot be read: {1}".format(path, problem)
        ) from problem
    if not isinstance(pack, dict) or pack.get("schema") != PACK_SCHEMA:
        raise HostproofError(
            "{0} is not an evidence pack of schema {1}: record the host again".format(
                path, PACK_SCHEMA
            )
        )
    readings = pack.get("readings")
    if not isinstance(readings, dict) or not all(isinstance(r, dict) for r in readings.values()):
        raise HostproofError("evidence pack {0} holds no readings".format(path))
    return readings
