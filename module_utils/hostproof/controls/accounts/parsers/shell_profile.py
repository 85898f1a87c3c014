# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""umask, TZ and Oracle variables in the start files of a login shell (sh(1), umask)."""

import re
from typing import List, NamedTuple, Tuple

#: Oracle Database Installation Guide for Linux, unset these before an installation.
VARIABLES = ("ORACLE_HOME", "ORACLE_SID", "ORACLE_BASE", "ORA_NLS10", "TNS_ADMIN", "ORA_CRS_HOME")

#: One directly behind a bracket is for a subshell only.
_UMASK = re.compile(
    r"(?:^|[;&|{)]|\b(?:then|else|do)\b)\s*(?:(?:builtin|command|eval)\s+)?"
    r"umask\s+(?:-[-\w]+\s+)?[\"']?([0-7]{1,4}(?!\w)|[ugoa][-+=\w,]*|[$`])"
)
_VARIABLE = re.compile(r"(?:^|[;&|\s]|\bexport\s[\"'])(" + "|".join(VARIABLES) + r")=")


_VALUE = r"TZ=(\"[^\"]*\"|'[^']*'|\$\([^)]*\)|`[^`]*`|[^\s;&|}]*)(?=[\s;&|}]|$)"
#: TZ of the shell. TZ=UTC date is for one command only.
_ZONE = re.compile(
    r"\b(?:export|(?:declare|typeset) -\w*x)\s(?:[^;&|]{0,200}\s)?[\"']?" + _VALUE + "|"
    r"(?:^|[;&|{(]|\b(?:then|else|do)\b)\s*" + _VALUE + r"\s*(?=$|[;&|}]|\w+=)"
)
_PLAIN = re.compile(r"[A-Za-z0-9_+,./<>:-]{0,64}\Z")
#: Stands for a zone that only the shell knows.
COMPUTED = "$"


class Settings(NamedTuple):
    """umasks as written, in order: octal digits, a symbolic mode, or $ for one that only the shell
    knows. variables by name, once. ``zones`` are the values of TZ, in order."""

    umasks: Tuple[str, ...]
    variables: Tuple[str, ...]
    zones: Tuple[str, ...]


def parse(text: str) -> Settings:
    """Settings in a start file, without comments."""
    umasks: List[str] = []
    variables: List[str] = []
    zones: List[str] = []
    for line in text.split("\n"):
        code = re.split(r"(?:^|\s)#", line, maxsplit=1)[0]
        if not re.search(r"umask[`)]\S* +(?:-eq|=+) +\S?0+\b", code):
            # Only where nothing else sets it, as in /etc/bashrc of EL 9.
            umasks.extend(_UMASK.findall(code))
        variables.extend(
            variable for variable in _VARIABLE.findall(code) if variable not in variables
        )
        zones.extend(_zone(first or second) for first, second in _ZONE.findall(code))
    return Settings(tuple(umasks), tuple(variables), tuple(zones))


def _zone(word: str) -> str:
    text = word.strip("\"'")
    return text if _PLAIN.match(text) else COMPUTED


def kept(text: str) -> str:
    """The settings alone: a start file can hold passwords."""
    settings = parse(text)
    lines = ["umask " + umask for umask in settings.umasks] + [
        variable + "=" for variable in settings.variables
    ]
    lines += ["TZ=" + zone for zone in settings.zones]
    return "\n".join(lines)
