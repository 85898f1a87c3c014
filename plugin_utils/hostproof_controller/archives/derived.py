# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of commands that an archive does not have, from output with the same facts."""

from __future__ import annotations

import json
import re
import time
from typing import Any

_PACKAGE = re.compile(r"(?P<name>\S+)-(?P<version>[^-\s]+-[^-\s]+)\.(?P<arch>[^.\s]+)(\s.*)?")
#: Of ``date`` in the locales C and en_US.
_DATE = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d) (?:([AP]M) )?UTC (\d{4})"
)
_UNIT = re.compile(r"^[\s*●×○]*(?P<name>[^\s.]\S*\.[a-z]+) +\S+ +(?P<state>[a-z]+) ")
_UNIT_FILE = re.compile(r"^(?P<name>\S+\.[a-z]+) +(?P<state>[a-z-]+)( |$)")
_INTERFACE = re.compile(r"(?P<index>\d+): (?P<name>[^\s:]+): <")
#: Characters of a line; a longer one is not part of such a list.
_MOST_OF_A_LINE = 2000
_ARE_ENABLED = ("alias", "enabled", "enabled-runtime", "generated", "indirect", "static")


def packages_of_json(text: str) -> str | None:
    """Packages as ``rpm --queryformat`` of the control packages prints them; Insights has JSON."""
    lines = []
    for line in text.splitlines():
        try:
            package: Any = json.loads(line)
            values = [package[key] for key in ("name", "version", "release", "arch")]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if not all(isinstance(value, str) and "\t" not in value for value in values):
            return None
        epoch = str(package.get("epoch", ""))
        before = f"{epoch}:" if epoch == "(none)" or re.fullmatch(r"[0-9]{1,10}", epoch) else ""
        lines.append("{}\t{}{}-{}\t{}\tinstalled\n".format(values[0], before, *values[1:]))
    return "".join(lines) or None


def packages_of_names(text: str) -> str | None:
    """The same from lines NAME-VERSION-RELEASE.ARCH with a date; None if a line is different."""
    lines = []
    for line in text.splitlines():
        match = _PACKAGE.fullmatch(line) if len(line) <= _MOST_OF_A_LINE else None
        if match:
            lines.append("{name}\t{version}\t{arch}\tinstalled\n".format(**match.groupdict()))
        elif ": " not in line:
            return None
    return "".join(lines) or None


def has_credentials(packages: str) -> bool:
    """Whether systemd-sysctl may read the credential sysctl.extra: since systemd 252."""
    match = re.search(r"^systemd\t(?:(?:\(none\)|\d+):)?(\d{2,4})[.\d~]*-", packages, re.MULTILINE)
    return match is None or int(match[1]) >= 252


def moment_of(date: str) -> time.struct_time | None:
    """The moment that ``date`` printed in UTC."""
    match = _DATE.fullmatch(date.strip())
    if not match:
        return None
    month, day, clock, half, year = match.groups()
    form = "%Y %b %d %I:%M:%S %p" if half else "%Y %b %d %H:%M:%S"
    try:
        return time.strptime(f"{year} {month} {day} {clock} {half or ''}".strip(), form)
    except ValueError:
        return None


def addresses(text: str) -> str | None:
    """``ip -o addr show`` from ``ip addr``; None if an address has no interface above it."""
    lines = []
    interface = None
    for line in text.splitlines():
        header = _INTERFACE.match(line)
        if header:
            interface = f"{header['index']}: {header['name']}"
        elif line.strip() and (interface is None or not line.startswith(" ")):
            return None
        elif line.split()[:1] in (["inet"], ["inet6"]):
            lines.append(f"{interface}    {line.strip()}\n")
    return "".join(lines) or None


def selinux_mode(text: str) -> str | None:
    """The mode that ``getenforce`` or ``sestatus`` prints: enforcing, permissive or disabled."""
    words = re.findall(
        r"^(?:Current mode: +|SELinux status: +(?=disabled))?([A-Za-z]+)$", text, re.MULTILINE
    )
    modes = {word.lower() for word in words} & {"enforcing", "permissive", "disabled"}
    return modes.pop() if len(modes) == 1 else None


def static_host_name(text: str) -> str | None:
    """The name in /etc/hostname as ``hostnamectl`` prints it."""
    match = re.search(r"^ *Static hostname: ([\w.-]{1,255})$", text, re.MULTILINE)
    return match[1] if match else None


def active_units(text: str) -> dict[str, str] | None:
    """State by unit of ``systemctl list-units``; None if the list is not whole."""
    if not re.search(r"^\d+ loaded units listed", text, re.MULTILINE):
        return None
    return _states(_UNIT, text)


def unit_files(text: str) -> dict[str, str] | None:
    """State by unit file of ``systemctl list-unit-files``; None if the list is not whole."""
    if not re.search(r"^\d+ unit files listed", text, re.MULTILINE):
        return None
    return _states(_UNIT_FILE, text)


def _states(row: re.Pattern[str], text: str) -> dict[str, str]:
    lines = (line for line in text.splitlines() if len(line) <= _MOST_OF_A_LINE)
    return {match["name"]: match["state"] for match in map(row.match, lines) if match}


def is_active(units: dict[str, str], names: list[str]) -> dict[str, Any]:
    """The answer of ``systemctl is-active``."""
    states = [units.get(name, "inactive") for name in names]
    code = 0 if "active" in states else 3
    return {"rc": code, "stdout": "".join(f"{state}\n" for state in states), "stderr": ""}


def is_enabled(files: dict[str, str], name: str) -> dict[str, Any]:
    """The answer of ``systemctl is-enabled`` about one unit."""
    state = files.get(name)
    if state is None:
        problem = f"Failed to get unit file state for {name}: No such file or directory\n"
        return {"rc": 1, "stdout": "", "stderr": problem}
    return {"rc": 0 if state in _ARE_ENABLED else 1, "stdout": state + "\n", "stderr": ""}
