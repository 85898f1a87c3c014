# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives to evidence packs."""

from __future__ import annotations

import copy
import json
import re
import time
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.collect import evidence

from .. import policies, runs
from ..host_names import is_host_name
from . import content, derived, layout, recording

#: Recorded are the readings of the controls without a profile and with this one: a cluster node
#: with ASM, for which they read most.
_PROFILE = "rac_asm"


def pack_of(path: Path) -> dict[str, Any]:
    """The pack of an archive (collect/evidence.py)."""
    host = layout.host_of(content.read(path, layout.is_selected), path)
    at = _recorded_at(host.date, path)
    readings = recording.record(host.holdings, _policies(), at)
    return {
        "schema": evidence.PACK_SCHEMA,
        "host": _name(host.name, path),
        "recorded_at": at,
        "hostproof": VERSION,
        "readings": evidence.without_secrets(readings),
    }


def archives_in(path: Path) -> list[Path]:
    """The archives that a path means: itself, or those in a directory; none if it has packs."""
    if not path.is_dir():
        if not path.name.endswith(content.SUFFIXES):
            endings = ", ".join(content.SUFFIXES)
            raise content.ArchiveError(
                f"{path}: not a directory, an evidence pack (.json) or an archive ({endings})"
            )
        return [path]
    if _is_archive(path):
        return [path]
    inside = sorted(path.iterdir())
    archives = [
        entry
        for entry in inside
        if (_is_archive(entry) if entry.is_dir() else entry.name.endswith(content.SUFFIXES))
    ]
    if archives and any(entry.suffix == ".json" for entry in inside):
        raise content.ArchiveError(f"{path}: it has evidence packs and archives; separate them")
    return archives


def _is_archive(path: Path) -> bool:
    """Whether a directory is the top of an archive of a known kind."""
    marks = [mark for _name, mark in layout.KINDS.values()]
    return any((path / mark).exists() for mark in (*marks, "data/insights_commands"))


def write(paths: list[Path], folder: Path) -> None:
    """A pack of each archive. A second archive of the same host gets a number."""
    names: set[str] = set()
    for path in paths:
        pack = pack_of(path)
        name, number = pack["host"], 1
        while name in names:
            number += 1
            name = f"{pack['host']}_{number}"
        names.add(name)
        pack["host"] = name
        text = json.dumps(pack, indent=1, sort_keys=True) + "\n"
        runs.write_file(folder / f"{name}.json", text)


def _policies() -> list[dict[str, Any]]:
    plain = {
        name: {field: copy.deepcopy(role.defaults[field]) for field in role.fields}
        for name, role in policies.controls().items()
    }
    chosen = {
        name: values | ({"profile": _PROFILE} if values.get("profile") == "none" else {})
        for name, values in plain.items()
    }
    return [chosen, plain]


def _recorded_at(date: str | None, path: Path) -> str:
    moment = derived.moment_of(date or "") or time.gmtime(path.stat().st_mtime)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", moment)


def _name(reported: str | None, path: Path) -> str:
    if reported is not None and is_host_name(reported):
        # The name of a file has at most 255 bytes, endings included.
        return reported[:200]
    stem = path.name.split(".tar")[0]
    for suffix in content.SUFFIXES:
        stem = stem.removesuffix(suffix)
    return "_" + re.sub(r"[^A-Za-z0-9._-]", "_", stem)[:200]
