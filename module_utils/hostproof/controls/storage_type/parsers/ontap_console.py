# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Saved output of a filer: ``vol options VOLUME``, ``df -g`` and ``df -Ag`` of Data ONTAP 7-Mode,
and ``volume show`` and ``storage aggregate show`` of ONTAP 9.

``vol options`` must follow its command and the prompt of the filer, because only the command has
the name of the volume. Tables are found by their headers too. Sources: WAFL performance VS
sequential reads, part I (2011), Data ONTAP 7.3.2; tests/fixtures/ontap_console/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Pattern, Tuple

from ....errors import ParseError, kind_of

_WHAT = "output of a filer"
#: "filer1> vol options vol1", "filer1*> df -Ag aggr1" (advanced mode has a star), "c1::> df -g".
_PROMPT = r"\s*[\w.():-]{0,80}\*?>"
_COMMAND = re.compile(_PROMPT + r"\s*(\S.*?)\s*\Z")
_NO_COMMAND = re.compile(r"(?:" + _PROMPT + r")?\s*\Z")
_VOL_OPTIONS = re.compile(r"vol options ([A-Za-z_][A-Za-z0-9_]{0,202})\Z")
_DF_AGGREGATES = re.compile(r"df (?:-A -?[gmkth]|-[gmkth] ?-A|-A[gmkth]?|-[gmkth]A)(?: \S+)*\Z")
_DF_VOLUMES = re.compile(
    r"df(?: -[gmkth])?(?: [^-\s]\S{0,200}| -vol\S{0,9} \S{1,200}| -vserver \S{1,200}){0,20}\Z"
)
_OPTION = re.compile(r"([a-z][a-z0-9_]{0,60})=([^\s,]{1,200})\Z")
_SIZE = r"[0-9]{1,15}(?:\.[0-9]{1,3})?(?:[KMGTP]?B)?"
_USE = rf"({_SIZE})\s+({_SIZE})\s+-?{_SIZE}\s+([0-9]{{1,3}}|---)%"
_AGGREGATE_ROW = re.compile(rf"(\S{{1,255}})\s+{_USE}\Z")
_VOLUME_ROW = re.compile(rf"(/\S{{1,255}})\s+{_USE}\s+\S.*\Z")
_AGGREGATE_SHOW_ROW = re.compile(
    rf"(\S{{1,255}})\s+({_SIZE})\s+()-?{_SIZE}\s+([0-9]{{1,3}})%\s+.*\Z"
)
_PERCENT = re.compile(r"([0-9]{1,3})%\Z")
#: The end of a table of ONTAP 9, and what the pager of its console leaves.
_END = re.compile(r"\d+ entr(?:y was|ies were) displayed\.")
_PAGER = "Press <space> to page down"
#: Limit of volumes and aggregates. No filer has more.
MOST = 2000

OPTIONS, AGGREGATES, VOLUMES, VOLUME_SHOW, AGGREGATE_SHOW = range(5)
#: Words of the headers of tables. ONTAP 9 adds the Vserver to those of df.
_HEADERS = {
    "Aggregate total used avail capacity": AGGREGATES,
    "Aggregate kbytes used avail capacity": AGGREGATES,
    "Filesystem total used avail capacity Mounted on": VOLUMES,
    "Filesystem kbytes used avail capacity Mounted on": VOLUMES,
    "Filesystem total used avail capacity Mounted on Vserver": VOLUMES,
    "Filesystem kbytes used avail capacity Mounted on Vserver": VOLUMES,
    "Vserver Volume Aggregate State Type Size Available Used%": VOLUME_SHOW,
    "Aggregate Size Available Used% State #Vols Nodes RAID Status": AGGREGATE_SHOW,
}
_ROWS: Dict[int, Pattern[str]] = {
    AGGREGATES: _AGGREGATE_ROW,
    VOLUMES: _VOLUME_ROW,
    AGGREGATE_SHOW: _AGGREGATE_SHOW_ROW,
}
_NAMES = {
    AGGREGATES: "df -A",
    VOLUMES: "df",
    AGGREGATE_SHOW: "storage aggregate show",
    VOLUME_SHOW: "volume show",
}
_VOLUME_SHOW_WORDS = 8


class Filled(NamedTuple):
    """An aggregate or volume, and its use in percent.

    Sizes are texts as the filer printed them. ``used`` is "" where it prints none. The name of a
    volume is /vol/NAME, or VSERVER:NAME in ``volume show``.
    """

    name: str
    total: str
    used: str
    percent: int


class Console(NamedTuple):
    """The options of each volume by name, the aggregates, and the use of volumes."""

    volumes: Dict[str, Dict[str, str]]
    aggregates: List[Filled]
    filled: List[Filled]


class _Block(NamedTuple):
    """One output: its kind, the line number of its command or header, and its lines by number.

    ``command`` is the command, "" for a table without one; ``header`` is whether the header is
    there.
    """

    kind: int
    number: int
    command: str
    lines: Dict[int, str]
    header: List[int]


def parse(text: str) -> Console:
    """The output of the commands. The last output of each volume and aggregate counts.

    ParseError if the text has none of them, or if an output cannot be parsed: it may contain the
    decisive value.
    """
    volumes: Dict[str, Dict[str, str]] = {}
    aggregates: Dict[str, Filled] = {}
    filled: Dict[str, Filled] = {}
    for block in _blocks(text):
        if block.kind == OPTIONS:
            name = _VOL_OPTIONS.match(block.command)
            volumes[name.group(1) if name else ""] = _options(block.lines, block.number)
        elif block.kind == VOLUME_SHOW:
            filled.update((one.name, one) for one in _volume_show(block))
        else:
            found = filled if block.kind == VOLUMES else aggregates
            found.update((one.name, one) for one in _table(block))
        if len(volumes) + len(aggregates) + len(filled) > MOST:
            raise ParseError(_WHAT, f"more than {MOST} volumes and aggregates", block.number)
    if not volumes and not aggregates and not filled:
        raise ParseError(
            _WHAT,
            "has none of 'vol options VOLUME' after a prompt such as 'filer1>', 'df -g', 'df -Ag', "
            "'volume show' and 'storage aggregate show'",
        )
    return Console(volumes, list(aggregates.values()), list(filled.values()))


def kept(text: str) -> str:
    """The text for the evidence: these commands and their output, without other commands."""
    lines: Dict[int, str] = {}
    for block in _blocks(text):
        if block.command:
            lines[block.number] = "> " + block.command
        for number in block.header:
            lines[number] = next(words for words, kind in _HEADERS.items() if kind == block.kind)
        lines.update(block.lines)
    return "".join(f"{lines.get(number, '')}\n" for number in range(1, max(lines, default=0) + 1))


def _blocks(text: str) -> List[_Block]:
    blocks: List[_Block] = []
    current: Optional[_Block] = None
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        command = _COMMAND.match(line[:500])
        if command:
            current = _of_command(" ".join(command.group(1).split()), number)
            blocks += [current] if current else []
            continue
        if _is_left_out(line):
            continue
        kind = _HEADERS.get(" ".join(line.split()))
        if kind is not None:
            if current is None or current.kind != kind or current.lines:
                current = _Block(kind, number, "", {}, [])
                blocks.append(current)
            current.header.append(number)
        elif current is not None and (current.command or _is_row(line, current)):
            current.lines[number] = line
        else:
            current = None
    return blocks


def _is_left_out(line: str) -> bool:
    is_rule = set(line) <= set("- ")
    return is_rule or bool(_NO_COMMAND.match(line[:500])) or line.startswith(_PAGER)


def _of_command(command: str, number: int) -> Optional[_Block]:
    """None for commands whose output only a header shows to be one of these."""
    for pattern, kind in (
        (_VOL_OPTIONS, OPTIONS),
        (_DF_AGGREGATES, AGGREGATES),
        (_DF_VOLUMES, VOLUMES),
    ):
        if pattern.match(command):
            return _Block(kind, number, command, {}, [])
    return None


def _is_row(line: str, block: _Block) -> bool:
    """Whether a line without a command belongs to a table: other text ends it."""
    if _END.match(line.strip()):
        return False
    return block.kind == VOLUME_SHOW or "%" in line or len(line.split()) == 1


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


def _table(block: _Block) -> List[Filled]:
    name = _NAMES[block.kind]
    if not block.header:
        raise ParseError(_WHAT, f"{name} has no header", block.number)
    filled = []
    for number, line in _joined(block):
        row = _ROWS[block.kind].match(line)
        if row is None:
            raise ParseError(_WHAT, f"not a row of {name}: {kind_of(line)}", number)
        path, total, used, percent = row.groups()
        if path.endswith("/.snapshot"):
            continue
        if percent == "---":
            raise ParseError(_WHAT, f"{name} does not show the use of {path}", number)
        filled.append(Filled(path.rstrip("/"), total, used, int(percent)))
    if not filled:
        raise ParseError(_WHAT, f"{name} lists nothing", block.number)
    return filled


def _joined(block: _Block) -> List[Tuple[int, str]]:
    """The rows. A long name is on a separate line, before the rest of its row."""
    rows: List[Tuple[int, str]] = []
    name = ""
    for number, line in block.lines.items():
        words = line.split()
        # The last column of storage aggregate show goes on below: "raid_dp," and "normal".
        goes_on = block.kind == AGGREGATE_SHOW and len(words) == 1 and line[:1] == " "
        if goes_on or _END.match(line.strip()):
            continue
        if len(words) == 1 and not name:
            name = words[0] + " "
            continue
        rows.append((number, name + line.strip()))
        name = ""
    if name:
        rows.append((max(block.lines), name))
    return rows


def _volume_show(block: _Block) -> List[Filled]:
    """The rows of ``volume show``: eight words each, on one line or on several."""
    filled = []
    words: List[str] = []
    for number, line in block.lines.items():
        words += line.split()
        if len(words) < _VOLUME_SHOW_WORDS:
            continue
        percent = _PERCENT.match(words[7])
        if len(words) > _VOLUME_SHOW_WORDS or (percent is None and words[7] != "-"):
            raise ParseError(_WHAT, f"not a row of volume show: {kind_of(line.strip())}", number)
        if percent is not None:
            filled.append(Filled(f"{words[0]}:{words[1]}", words[5], "", int(percent.group(1))))
        words = []
    if words or not filled:
        raise ParseError(_WHAT, "volume show is cut off or lists no volume", block.number)
    return filled
