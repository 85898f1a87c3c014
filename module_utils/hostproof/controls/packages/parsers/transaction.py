# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated transaction of a package manager.

Sources: apt-get(8) with --simulate; dnf(8) and yum(8) with --assumeno; zypper(8) with --xmlout.
"""

import re
from typing import List, NamedTuple, Tuple

from ....errors import ParseError, kind_of


class Transaction(NamedTuple):
    """Packages as NAME:ARCHITECTURE (apt-get) or NAME.ARCHITECTURE, sorted."""

    installed: Tuple[str, ...]
    upgraded: Tuple[str, ...]
    removed: Tuple[str, ...]


_APT = re.compile(r"Inst ([^\s:]+)(?::\S+)? (\[\S+\] )?\([^()]*\[([\w-]+)\]\)")
#: The sections of dnf and yum. Skipped packages have no section here.
_INSTALLED = ("Installing", "Installing dependencies", "Installing for dependencies")
_UPGRADED = ("Upgrading", "Updating", "Updating for dependencies", "Downgrading", "Reinstalling")
_REMOVED = (
    *("Removing", "Removing dependent packages", "Removing for dependencies"),
    "Removing unused dependencies",
)
_TITLE = re.compile(r"^ Package +Arch.*$", re.MULTILINE)
#: NAME ARCHITECTURE VERSION REPOSITORY SIZE UNIT, over one line or two.
_FIELDS = 6
_ZYPPER = re.compile(r"<(to-[a-z-]+|solvable)\b([^>]*)>")
_ATTRIBUTE = re.compile(r'\b([a-z]+)="([^"<>]*)"')


def parse_apt(text: str) -> Transaction:
    """The lines Inst and Remv of apt-get --simulate."""
    changes: List[Tuple[str, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(("Remv ", "Purg ")):
            changes.append(("removed", line[len("Remv ") :].partition(" ")[0]))
        elif line.startswith("Inst "):
            match = _APT.match(line)
            if match is None:
                raise ParseError("apt-get", f"{kind_of(line)} names no package", number)
            name, old, architecture = match.groups()
            changes.append(("upgraded" if old else "installed", f"{name}:{architecture}"))
    return _sorted(changes)


def parse_dnf(text: str) -> Transaction:
    """The table of dnf or yum; a long name has a separate line."""
    title = _TITLE.search(text)
    if title is None:
        raise ParseError("dnf", "it shows no transaction")
    changes: List[Tuple[str, str]] = []
    kind = ""
    fields: List[str] = []
    for number, line in enumerate(text[title.end() :].splitlines(), 1):
        if line.startswith("Transaction Summary"):
            break
        if line.startswith("  ") and line.split()[:1] == ["replacing"]:
            changes.append(("removed", " ".join(line.split()[1:2])))
        elif line.startswith(" ") and kind:
            fields += line.split()
        elif line.rstrip().endswith(":"):
            kind = _kind_of_section(line.strip()[:-1], number)
        if len(fields) == _FIELDS:
            changes.append((kind, f"{fields[0]}.{fields[1]}"))
            fields = []
        if len(fields) > _FIELDS:
            raise ParseError("dnf", f"{kind_of(line)} does not name a package", number)
    return _sorted(changes)


def _kind_of_section(title: str, number: int) -> str:
    for kind, titles in (("installed", _INSTALLED), ("upgraded", _UPGRADED), ("removed", _REMOVED)):
        if title in titles:
            return kind
    raise ParseError("dnf", f"{kind_of(title)} is an unknown section", number)


def parse_zypper(text: str) -> Transaction:
    """The summary of zypper --xmlout install --dry-run."""
    kinds = {"to-install": "installed", "to-remove": "removed"}
    changes: List[Tuple[str, str]] = []
    kind = ""
    for tag, rest in _ZYPPER.findall(text):
        if tag != "solvable":
            kind = kinds.get(tag, "upgraded")
        elif kind:
            attributes = dict(_ATTRIBUTE.findall(rest))
            if not attributes.get("name") or not attributes.get("arch"):
                raise ParseError("zypper", "a solvable has no name or no architecture")
            changes.append((kind, f"{attributes['name']}.{attributes['arch']}"))
    if "<install-summary" not in text:
        raise ParseError("zypper", "it shows no summary")
    return _sorted(changes)


def _sorted(changes: List[Tuple[str, str]]) -> Transaction:
    def of(kind: str) -> Tuple[str, ...]:
        return tuple(sorted({name for action, name in changes if action == kind}))

    return Transaction(of("installed"), of("upgraded"), of("removed"))
