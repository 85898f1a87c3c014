# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemctl show prints of several units: lines of KEY=value, an empty one between units.

Source: systemctl(1), show; dbus-execute.c and systemctl-show.c of systemd for ExecStart and
EnvironmentFiles (which systemd before 247 calls EnvironmentFile).
"""

import re
from typing import Dict, List, Tuple

_ARGV = re.compile(r"argv\[\]=([^;]{0,4000}) ;")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z0-9_]{1,64})\}|([A-Za-z0-9_]{1,64}))\Z")


def parse(text: str) -> List[Dict[str, str]]:
    """The properties of each unit; of one that is printed on several lines the last counts, but of
    files, which are joined by line feeds."""
    units: List[Dict[str, str]] = []
    for block in text.split("\n\n"):
        found: Dict[str, str] = {}
        for line in block.split("\n"):
            name, equals, value = line.partition("=")
            if name in ("EnvironmentFile", "EnvironmentFiles") and equals:
                found["files"] = (found.get("files", "") + "\n" + value).strip()
            elif equals:
                found[name] = value
        if found:
            units.append(found)
    return units


def environment_files(unit: Dict[str, str]) -> List[str]:
    """The paths, in the order in which they are read."""
    return [line.partition(" (")[0] for line in unit.get("files", "").split("\n") if line]


def argv(unit: Dict[str, str]) -> Tuple[str, ...]:
    """The command of ExecStart before variables are put in; none where there is none."""
    match = _ARGV.search(unit.get("ExecStart", ""))
    return tuple(match.group(1).split()) if match else ()


def expanded(words: Tuple[str, ...], files: List[str]) -> Tuple[str, ...]:
    """With variables from the texts of environment files, of which the last one counts.

    As systemd.exec(5) has it: one that stands alone is split at blanks.
    """
    values: Dict[str, str] = {}
    for text in files:
        for line in text.split("\n"):
            name, equals, value = line.strip().partition("=")
            if equals and not name.startswith(("#", ";")):
                values[name.strip()] = value.strip().strip("\"'")
    found: List[str] = []
    for word in words:
        match = _VARIABLE.match(word)
        found += values.get(match.group(1) or match.group(2), "").split() if match else [word]
    return tuple(found)
