# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""slob.conf: what a run of SLOB was told to do. Source: SLOB 2.4.2 to 2.5.3, its own and runit.sh.

It is a shell's, and holds a password: it is read line by line, and of it these settings alone.
"""

import re
from typing import Dict

from ....errors import ParseError

#: Parameters that must be equal for two runs with the same work.
WORK = (
    "UPDATE_PCT",
    "SCAN_PCT",
    "SCALE",
    "WORK_UNIT",
    "REDO_STRESS",
    "THREADS_PER_SCHEMA",
    "RUN_TIME",
    "WORK_LOOP",
)
#: What has sessions sleep or wait for each other; the older names too.
PAUSES = ("THINK_TM_FREQUENCY", "THINK_TM_MODULUS")
HOT = ("DO_HOTSPOT", "DO_UPDATE_HOTSPOT", "HOT_SCHEMA_FREQUENCY")

_LINE = re.compile(
    r"^\s*(?:export\s+)?({})=(\"[^\"]*\"|'[^']*'|[^\s;#]*)".format("|".join(WORK + PAUSES + HOT))
)
_VALUE = re.compile(r"^[A-Za-z0-9.]{0,20}$")


def parse(text: str) -> Dict[str, str]:
    """Setting to value, as the last line has it. ParseError where none of WORK is set."""
    settings: Dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.match(line)
        if match:
            name, value = match.group(1), match.group(2).strip("\"'")
            if not _VALUE.match(value):
                raise ParseError("slob.conf", f"{name} is neither a number nor a word", number)
            settings[name] = value
    if not any(name in settings for name in WORK):
        raise ParseError("slob.conf", "it sets nothing that SLOB reads")
    return settings
