# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Saved output of Data ONTAP 7-Mode commands: ``vol options VOLUME`` and ``df -Ag``.

Each command is on a separate line before its output, after the prompt of the filer. Source
of both formats: WAFL performance VS sequential reads, part I (2011), Data ONTAP 7.3.2.
"""

import re
from typing import Dict, List, NamedTuple, Tuple

from ....errors import ParseError, kind_of

_WHAT = "output of a filer"
#: "filer1> vol options vol1", "filer1*> df -Ag aggr1" (advanced mode has a star).
_COMMAND = re.compile(r"\s*[\w.():-]{0,80}\*?>\s*(\S.*?)\s*\Z")
_VOL_OPTIONS = re.compile(r"vol options ([A-Za-z_][A-Za-z0-9_]{0,202})\Z")
_DF = re.compile(r"df (?:-A -?[gmkth]|-[gmkth] ?-A|-A[gmkth]|-[gmkth]A)(?: \S+)*\Z")
_OPTION = re.compile(r"([a-z][a-z0-9_]{0,60})=([^\s,]{1,200})\Z")
_HEADER = ["Aggregate", "total", "used", "avail", "capacity"]
_SIZE = r"[0-9]{1,15}(?:\.[0-9]{1,3})?(?:[KMGTP]?B)?"
_ROW = re.compile(rf"(\S{{1,255}})\s+({_SIZE})\s+({_SIZE})\s+-?({_SIZE})\s+([0-9]{{1,3}}|---)%\Z")
#: Limit of volumes and aggregates. No filer has more.
MOST = 2000


class Aggregate(NamedTuple):
    """``percent`` is the use in percent. Sizes are texts as the filer printed them."""

    name: str
    total: str
    used: str
    percent: int


class Console(NamedTuple):
    """The options of each volume by name, and the aggregates."""

    volumes: Dict[str, Dict[str, str]]
    aggregates: List[Aggregate]


def parse(text: str) -> Console:
    """The output of the commands. The last output of each volume and aggregate counts.

    ParseError if the text has neither command, or if an output cannot be parsed: it may contain the
    decisive value.
    """
    volumes: Dict[str, Dict[str, str]] = {}
    aggregates: Dict[str, Aggregate] = {}
    for number, command, lines in _outputs(text):
        name = _VOL_OPTIONS.match(command)
        if name:
            volumes[name.group(1)] = _options(lines, number)
        elif _DF.match(command):
            for aggregate in _aggregates(lines, number):
                aggregates[aggregate.name] = aggregate
        if len(volumes) + len(aggregates) > MOST:
            raise ParseError(_WHAT, f"more than {MOST} volumes and aggregates", number)
    if not volumes and not aggregates:
        raise ParseError(
            _WHAT,
            "has neither 'vol options VOLUME' nor 'df -Ag' after a prompt such as 'filer1>'",
        )
    return Console(volumes, list(aggregates.values()))


def kept(text: str) -> str:
    """The text for the evidence: the two commands and their output, without other commands."""
    lines: Dict[int, str] = {}
    for number, command, output in _outputs(text):
        if _VOL_OPTIONS.match(command) or _DF.match(command):
            lines[number] = "> " + command
            lines.update(output)
    return "".join(f"{lines.get(number, '')}\n" for number in range(1, max(lines, default=0) + 1))


def _outputs(text: str) -> List[Tuple[int, str, Dict[int, str]]]:
    """Line number, command, and output lines (by line number) of each command."""
    outputs: List[Tuple[int, str, Dict[int, str]]] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        command = _COMMAND.match(line[:500])
        if command:
            outputs.append((number, " ".join(command.group(1).split()), {}))
        elif line.strip() in ("", ">") or re.match(r"\s*[\w.():-]{0,80}\*?>\s*\Z", line[:500]):
            continue
        elif outputs:
            outputs[-1][2][number] = line
    return outputs


def _options(lines: Dict[int, str], command: int) -> Dict[str, str]:
    options: Dict[str, str] = {}
    for number, line in lines.items():
        for word in filter(None, re.split(r"[,\s]+", line)):
            option = _OPTION.match(word)
            if option is None:
                raise ParseError(_WHAT, f"not an option of a volume: {kind_of(word)}", number)
            options[option.group(1)] = option.group(2)
    if not options:
        raise ParseError(_WHAT, "vol options printed nothing", command)
    return options


def _aggregates(lines: Dict[int, str], command: int) -> List[Aggregate]:
    rows = list(lines.items())
    if not rows or rows[0][1].split() != _HEADER:
        raise ParseError(_WHAT, "df -A must start with " + " ".join(_HEADER), command)
    aggregates = []
    for number, line in rows[1:]:
        row = _ROW.match(line.strip())
        if row is None:
            raise ParseError(_WHAT, f"not a row of df -A: {kind_of(line.strip())}", number)
        name, total, used, _free, percent = row.groups()
        if name.endswith("/.snapshot"):
            continue
        if percent == "---":
            raise ParseError(_WHAT, f"df -A does not show the use of {name}", number)
        aggregates.append(Aggregate(name, total, used, int(percent)))
    if not aggregates:
        raise ParseError(_WHAT, "df -A lists no aggregate", command)
    return aggregates
