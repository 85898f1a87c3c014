# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The number of hosts that an audit contacts at once, if no option sets it.

A host spends most of the time in the sampling window, so more hosts at once end a run sooner. Each
host needs memory (docs/runner.md). The number of ansible.cfg is exceeded only if there is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from .errors import Refused

#: Hosts at once of our ansible.cfg.
CONFIGURED = 100
_AS_CONFIGURED = re.compile(rf"^forks *= *{CONFIGURED} *$", re.MULTILINE)
#: Hosts at once where there is room: 1,000 take 3.5 GB then, 5,000 take 4.7 GB.
MANY = 200
#: Bytes that must be available for them.
ROOM = 6 * 1024**3

#: Maximum number of hosts at once that a user can set.
_MOST = 9999

_GROUPS = Path("/sys/fs/cgroup")


def in_this_memory(proc: Path = Path("/proc"), groups: Path = _GROUPS) -> int | None:
    """MANY where the machine, and the control group that we run in, have ROOM; else None.

    None also where the amount of memory is unknown (for example on macOS).
    """
    available = _available(proc)
    if available is None or available < ROOM:
        return None
    return MANY if all(limit >= ROOM for limit in _limits(proc, groups)) else None


def requested(typed: str | None, environment: Mapping[str, str]) -> int | None:
    """The number in ``--forks``, else in ANSIBLE_FORKS; None where neither says one.

    HostproofError where it is not a number of hosts. An empty ANSIBLE_FORKS says nothing.
    """
    text = typed if typed is not None else environment.get("ANSIBLE_FORKS")
    if typed is None and not text:
        return None
    number = (text or "").strip()
    if number.isascii() and number.isdigit() and len(number) < 6 and 0 < int(number) <= _MOST:
        return int(number)
    name = "ANSIBLE_FORKS" if typed is None else "--forks"
    raise Refused(f"{name}: {text or 'nothing'} is not a number of parallel hosts: 1 to {_MOST}")


def are_ours(settings: Path) -> bool:
    """Whether ansible.cfg has the number that Hostproof ships; a user may choose another."""
    return _AS_CONFIGURED.search(_text(settings)) is not None


def _available(proc: Path) -> int | None:
    for line in _text(proc / "meminfo").splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if name == "MemAvailable" and len(words) == 2 and words[0].isdigit():
            return int(words[0]) * 1024
    return None


def _limits(proc: Path, groups: Path) -> Iterator[int]:
    """In bytes: of our control group and of those it is in, as version 1 and as version 2 tell."""
    for line in _text(proc / "self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "memory" not in controllers.split(","):
            continue
        top = groups / "memory" if controllers else groups
        names = ("memory.limit_in_bytes",) if controllers else ("memory.max", "memory.high")
        # In a container the path may be the machine's, of which only the top is seen.
        own = PurePosixPath(path.strip("/"))
        for file in (top / folder / name for folder in (own, *own.parents) for name in names):
            text = _text(file).strip()
            if text.isdigit():
                yield int(text)


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
