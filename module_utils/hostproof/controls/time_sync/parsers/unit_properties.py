# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemctl show prints of several units: lines of KEY=value, an empty one between units.

Source: systemctl(1), show; dbus-execute.c and systemctl-show.c of systemd for ExecStart and
EnvironmentFiles (which systemd before 247 calls EnvironmentFile).
"""

import re
from typing import Dict, List, NamedTuple, Tuple

from ....parsers import kept_lines

_ARGV = re.compile(r"argv\[\]=([^;]{0,4000}) ;")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z0-9_]{1,64})\}|([A-Za-z0-9_]{1,64}))\Z")


def parse(text: str) -> List[Dict[str, str]]:
    """The properties of each unit; of one that is printed on several lines the last counts, but of
    files, which are joined by line feeds."""
    units: List[Dict[str, str]] = []
    for block in text.split("\n\n"):
        properties: Dict[str, str] = {}
        for line in block.split("\n"):
            name, equals, value = line.partition("=")
            if name in ("EnvironmentFile", "EnvironmentFiles") and equals:
                properties["files"] = (properties.get("files", "") + "\n" + value).strip()
            elif equals:
                properties[name] = value
        if properties:
            units.append(properties)
    return units


def environment_files(unit: Dict[str, str]) -> List[str]:
    """The paths, in the order in which they are read."""
    return [line.partition(" (")[0] for line in unit.get("files", "").split("\n") if line]


def argv(unit: Dict[str, str]) -> Tuple[str, ...]:
    """The command of ExecStart before variables are put in; none where there is none."""
    match = _ARGV.search(unit.get("ExecStart", ""))
    return tuple(match.group(1).split()) if match else ()


class Variables(NamedTuple):
    """Gives the part of an environment file that evidence keeps: these variables
    (kept_lines.py)."""

    names: Tuple[str, ...]

    def __call__(self, text: str) -> str:
        return kept_lines.only(text, lambda line: _pair(line)[0] in self.names)


def variables(words: Tuple[str, ...]) -> Variables:
    """The variables that a command takes from its environment files."""
    matches = [_VARIABLE.match(word) for word in words]
    return Variables(
        tuple(sorted({match.group(1) or match.group(2) for match in matches if match}))
    )


def expanded(words: Tuple[str, ...], files: List[str]) -> Tuple[str, ...]:
    """With variables from the texts of environment files, of which the last one counts.

    As systemd.exec(5) has it: one that is alone is split at blanks.
    """
    values: Dict[str, str] = {}
    for text in files:
        values.update(_pair(line) for line in text.split("\n"))
    result: List[str] = []
    for word in words:
        match = _VARIABLE.match(word)
        result += values.get(match.group(1) or match.group(2), "").split() if match else [word]
    return tuple(result)


def _pair(line: str) -> Tuple[str, str]:
    """Name and value of a variable; two empty texts for any other line."""
    name, equals, value = line.strip().partition("=")
    if not equals or name.startswith(("#", ";")):
        return "", ""
    return name.strip(), value.strip().strip("\"'")
