# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence as it travels and as it is kept.

On its way to the controller it is base64 of zlib of JSON (key to reading, see host/__init__.py). An
evidence pack is one JSON file per host: ``schema``, ``host``, ``recorded_at`` (UTC),
``hostproof`` (version) and ``readings``.
"""

import base64
import json
import zlib
from typing import Any, Dict, Iterable, Tuple

from ..errors import HostproofError
from . import bounded
from .readings import release_of

PACK_SCHEMA = 1

#: Bytes. Larger data is rejected: a host must not be able to fill the control machine.
LIMIT = 64 * 1024 * 1024

Readings = Dict[str, Dict[str, Any]]


def encode(readings: Readings) -> str:
    """Readings as one line of ASCII; bytes that are not UTF-8 survive, secrets do not."""
    text = json.dumps(without_secrets(readings), sort_keys=True, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def without_secrets(readings: Readings) -> Readings:
    """The readings with every string masked, keys included. All evidence passes here."""
    # The patterns are needed only for writing evidence.
    from .masking import masked_key, masked_value

    return {masked_key(key): masked_value(key, readings[key]) for key in readings}


def decode(text: str) -> Readings:
    """The readings that ``encode`` packed."""
    try:
        readings = bounded.loads(bounded.inflate(base64.b64decode(text, validate=True), LIMIT))
    except ValueError as problem:
        raise HostproofError(f"evidence cannot be unpacked: {problem}") from problem
    if not isinstance(readings, dict):
        raise HostproofError("evidence is not a JSON object")
    return readings


def cited(readings: Readings, findings: Iterable[Any]) -> Readings:
    """The readings that the findings name, whose keys may be masked already."""
    from .masking import masked_key

    keys = {key for finding in findings for key in finding.evidence}
    if keys <= readings.keys():
        return {key: readings[key] for key in readings if key in keys}
    return {
        key: reading for key, reading in readings.items() if key in keys or masked_key(key) in keys
    }


def open_pack(path: str) -> Tuple[Readings, str]:
    """The readings of the evidence pack at ``path``, and the release that recorded them, "" if the
    pack names none: the arguments of a RecordedHost."""
    try:
        pack = bounded.loads(bounded.read_regular(path, LIMIT), encoding="utf-8")
    except FileNotFoundError:
        raise HostproofError(f"there is no evidence pack {path}: record the host first") from None
    except (OSError, RecursionError, ValueError) as problem:
        raise HostproofError(f"evidence pack {path} cannot be read: {problem}") from problem
    if not isinstance(pack, dict) or pack.get("schema") != PACK_SCHEMA:
        raise HostproofError(
            f"{path} is not an evidence pack of schema {PACK_SCHEMA}: record the host again"
        )
    found = pack.get("readings")
    if not isinstance(found, dict) or not all(isinstance(r, dict) for r in found.values()):
        raise HostproofError(f"evidence pack {path} holds no readings")
    return found, release_of(pack.get("hostproof"))
