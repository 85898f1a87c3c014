# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ids and file names of the report's pages. They are the same from one report to the next."""

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import subject_of

from .shared_findings import once

#: Below it stand the pages of the hosts, in a report of many.
HOSTS_FOLDER = "hosts"

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")

#: No file of Windows can be called so, whatever follows the first dot.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)", re.IGNORECASE)


def slug(text: str) -> str:
    """The text as part of an id; what had to be replaced or cut is told apart by a hash."""
    kept = re.sub("[^A-Za-z0-9._-]", "_", text)[:100]
    return kept if kept == text else f"{kept}~{_mark(text, 3)}"


def host_anchor(host: str) -> str:
    """The id of a host's section. No other id of the page has a colon."""
    return "h:" + slug(host)


@once
def anchor_in_host(finding: dict[str, Any]) -> str:
    """CHECK, or CHECK/SUBJECT where the check checks several."""
    subject = subject_of(finding["title"])
    return str(finding["check"]) + (f"/{slug(subject)}" if subject else "")


def finding_anchors(host: str, findings: Iterable[dict[str, Any]]) -> dict[int, str]:
    """The id of each finding of a host, by the id() of the finding."""
    section = host_anchor(host)
    times: dict[str, int] = {}
    anchors = {}
    for finding in findings:
        name = f"{section}/{anchor_in_host(finding)}"
        times[name] = times.get(name, 0) + 1
        anchors[id(finding)] = name if times[name] == 1 else f"{name}~{times[name]}"
    return anchors


def page_names(hosts: Iterable[str]) -> dict[str, str]:
    """The file name of each host's page: letters, digits, dot, dash and underscore.

    A host's name can hold anything. A name that is a safe file name stays as it is. Any other one,
    and one that differs from another in case alone, gets a hash of itself. No two are the same on
    a file system that ignores case.
    """
    names: dict[str, str] = {}
    used: set[str] = set()
    odd = []
    # In a separate order, in which names without capitals come first.
    for host in sorted(hosts, key=lambda host: (host != host.lower(), host)):
        is_plain = _PLAIN_NAME.match(host) and not _DEVICES.match(host)
        if is_plain and host.lower() not in used:
            used.add(host.lower())
            names[host] = f"{host}.html"
        else:
            odd.append(host)
    for host in odd:
        kept = re.sub("[^A-Za-z0-9._-]", "_", host)[:80].lstrip(".-") or "host"
        kept = f"host-{kept}" if _DEVICES.match(kept) else kept
        name = marked = f"{kept}-{_mark(host, 6)}"
        number = 1
        while name.lower() in used:
            number += 1
            name = f"{marked}-{number}"
        used.add(name.lower())
        names[host] = f"{name}.html"
    return names


def _mark(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=size).hexdigest()
