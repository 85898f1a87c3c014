# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ifcfg files of /etc/sysconfig/network-scripts: their interface and its ETHTOOL_OPTS.

A file can contain passwords: read only the lines that match LINES. Source: initscripts,
sysconfig.txt (the files are read by a shell)."""

import shlex
from typing import List, NamedTuple, Optional

from ....errors import ParseError, kind_of
from ....parsers.net.ethtool_pause import PauseCommand, commands_in

_WHAT = "ifcfg file"

#: Limit of characters in a line: the time to split shell words grows with the square of the length.
_LONGEST = 8192

#: Pattern for grep -E.
LINES = r"^[[:space:]]*(DEVICE|HWADDR|NM_CONTROLLED|ONBOOT|MASTER|ETHTOOL_OPTS|UUID)="


class Ifcfg(NamedTuple):
    """An ifcfg file. ``pause`` are the PAUSE options in ETHTOOL_OPTS, in their order."""

    device: Optional[str]
    mac: Optional[str]
    nm_controlled: bool
    onboot: bool
    uuid: str
    pause: List[PauseCommand]


def parse(text: str) -> Ifcfg:
    values = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if len(line) > _LONGEST:
            raise ParseError(_WHAT, f"a line of more than {_LONGEST} characters", number)
        name, equals, value = line.partition("=")
        if not equals or not name.replace("_", "").isalnum():
            raise ParseError(_WHAT, f"no setting: {kind_of(name)}", number)
        try:
            words = shlex.split(value, comments=True)
        except ValueError as problem:
            raise ParseError(_WHAT, str(problem), number) from problem
        values[name] = " ".join(words)
    device = values.get("DEVICE") or None
    options = values.get("ETHTOOL_OPTS", "")
    for variable in ("${DEVICE}", "$DEVICE"):
        options = options.replace(variable, device or "")
    return Ifcfg(
        device=device,
        mac=values.get("HWADDR", "").lower() or None,
        nm_controlled=values.get("NM_CONTROLLED", "yes").lower() not in ("no", "false"),
        onboot=values.get("ONBOOT", "yes").lower() not in ("no", "false"),
        uuid=values.get("UUID", ""),
        pause=commands_in(options),
    )
