# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/cpuinfo: processors that the kernel uses (proc(5); the rows depend on the architecture)."""

import re
from typing import Dict, NamedTuple

from ....errors import ParseError

_WHAT = "cpuinfo"
#: Rows with the model on x86, POWER and older ARM, and the rows that describe an ARM core.
_MODELS = ("model name", "cpu", "Processor")
_ARM = ("CPU implementer", "CPU part", "CPU variant", "CPU revision")
_BLANKS = re.compile(r"\s+")


class Processors(NamedTuple):
    """``online`` is the number of logical processors that the kernel uses."""

    model: str
    online: int


def parse(text: str) -> Processors:
    rows: Dict[str, str] = {}
    count = 0
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            name = name.strip()
            count += name == "processor"
            rows.setdefault(name, value.strip())
    if not count:
        raise ParseError(_WHAT, "it has no processor")
    model = next((rows[name] for name in _MODELS if rows.get(name)), "")
    model = model or " ".join(f"{name} {rows[name]}" for name in _ARM if name in rows)
    if not model:
        raise ParseError(_WHAT, "no row names a model")
    return Processors(_BLANKS.sub(" ", model), count)
