# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""umask and Oracle variables in the start files of a login shell (sh(1), umask)."""

import re
from typing import List, NamedTuple, Tuple

#: Oracle Database Installation Guide for Linux, unset these before an installation.
VARIABLES = ("ORACLE_HOME", "ORACLE_SID", "ORACLE_BASE", "ORA_NLS10", "TNS_ADMIN", "ORA_CRS_HOME")

_UMASK = re.compile(r"(?:^|[;&|{(]|\b(?:then|else|do)\b)\s*umask\s+(?!-S)([0-7]{1,4}|[ugoa]\S*)")
_VARIABLE = re.compile(r"(?:^|[;&\s])(" + "|".join(VARIABLES) + r")=")


class Settings(NamedTuple):
    """umasks as written, in order: octal digits or a symbolic mode. variables by name, once."""

    umasks: Tuple[str, ...]
    variables: Tuple[str, ...]


def parse(text: str) -> Settings:
    """Settings in a start file, without comments."""
    umasks: List[str] = []
    variables: List[str] = []
    for line in text.split("\n"):
        code = re.split(r"(?:^|\s)#", line, maxsplit=1)[0]
        umasks.extend(_UMASK.findall(code))
        variables.extend(one for one in _VARIABLE.findall(code) if one not in variables)
    return Settings(tuple(umasks), tuple(variables))


def kept(text: str) -> str:
    """The settings alone: a start file can hold passwords."""
    found = parse(text)
    lines = ["umask " + one for one in found.umasks] + [one + "=" for one in found.variables]
    return "\n".join(lines)
