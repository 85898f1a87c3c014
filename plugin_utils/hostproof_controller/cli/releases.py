# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Since which release a check exists. An id is never given to another check."""

from __future__ import annotations

import functools
from pathlib import Path

import yaml

_FILE = Path(__file__).resolve().parents[1] / "check_releases.yml"
#: The release of a check that no release has yet.
NEXT = "the next release"


@functools.cache
def released() -> dict[str, list[str]]:
    """Release to the checks that came with it; packaging/release adds a release."""
    releases: dict[str, list[str]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return releases


def since(check: str) -> str:
    return next((release for release, ids in released().items() if check in ids), NEXT)
