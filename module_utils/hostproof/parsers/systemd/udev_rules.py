# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""udev rules: those that run ``ethtool -A`` for an interface, and what the others assign.

Source: udev(7), rules files; systemd, src/udev/udev-rules.c.
"""

import re
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ...errors import ParseError, kind_of
from .. import glob_pattern, kept_lines
from ..net.ethtool_pause import PauseCommand, commands_in
from .link_file import NO, UNKNOWN, YES, Device

_WHAT = "udev rules"
_TOKEN = re.compile(
    r'\s*([A-Z_]+(?:\{[^}]*\})?)\s*(==|!=|\+=|-=|:=|=)\s*e?"((?:[^"\\]|\\.)*)"\s*,?'
)
#: What represents the interface in a command.
_OWN_NAME = re.compile(r"\$(?:name|kernel|env\{INTERFACE\})|%k|%E\{INTERFACE\}")


#: Programs that a rule starts, except those that a control checks.
_OTHER_PROGRAMS = re.compile(
    r'(\bRUN(?:\{\w+\})?\s*(?:\+=|:=|=)\s*)"(?:(?!ethtool|sysctl|GOTO)[^"\\]|\\.)*"'
)

_NOTHING = re.compile(r"(?!)()")

#: A condition or an assignment: key, operator, value.
Token = Tuple[str, str, str]


class Rule(NamedTuple):
    line: int
    tokens: Tuple[Token, ...]

    @property
    def conditions(self) -> Tuple[Token, ...]:
        return tuple(token for token in self.tokens if token[1] in ("==", "!="))


class PauseRule(NamedTuple):
    """A rule that sets PAUSE. ``conditions`` are (key, operator, value)."""

    line: int
    conditions: Tuple[Tuple[str, str, str], ...]
    command: PauseCommand

    def fits(self, device: Device, name: str, driver: Optional[str]) -> str:
        """Whether it is for an interface when a reboot adds it: link_file.YES, NO or UNKNOWN.

        ``name`` is the interface's, ``driver`` the one of sysfs; ``device.driver`` is udev's.
        """
        own = self.command.device
        if _OWN_NAME.search(own) is None and own != name:
            return NO
        # It has one of the kernel's names first, and its own after that.
        names = tuple(device.names) + (name,)
        values: Dict[str, Sequence[Optional[str]]] = {
            "KERNEL": names,
            "NAME": names,
            "ENV{INTERFACE}": names,
            "ATTR{address}": (device.mac,),
            "ATTRS{address}": (device.mac,),
            "DRIVERS": (driver,),
            "ENV{ID_NET_DRIVER}": (device.driver,),
            "ENV{ID_PATH}": (device.path,),
            "ATTR{type}": ("1",),
            "SUBSYSTEM": ("net",),
            "SUBSYSTEMS": ("net",),
            # A boot adds it, and tells so once more when it got another name.
            "ACTION": ("add", "move"),
        }
        answers = [_fits_one(condition, values) for condition in self.conditions]
        if NO in answers:
            return NO
        return UNKNOWN if UNKNOWN in answers else YES


def _fits_one(condition: Tuple[str, str, str], values: Dict[str, Sequence[Optional[str]]]) -> str:
    key, operator, value = condition
    if key not in values or None in values[key]:
        return UNKNOWN
    answers = [
        any(glob_pattern.fits(str(item).lower(), pattern.lower()) for pattern in value.split("|"))
        == (operator == "==")
        for item in values[key]
    ]
    if key == "ACTION" and answers[0]:
        return YES  # every interface is added
    if len(set(answers)) > 1:
        return UNKNOWN
    return YES if answers[0] else NO


def kept(text: str) -> str:
    """The part of a rules file that is recorded as evidence (kept_lines.py): rules without comments
    and without programs that no control checks."""
    lines = {}
    continued = False
    try:
        rules(text)
        pattern = _OTHER_PROGRAMS
    except ParseError:
        # The error has the length of what is no rule.
        pattern = _NOTHING
    for number, line in enumerate(text.split("\n"), 1):
        if continued or not line.lstrip().startswith("#"):
            lines[number] = pattern.sub(r'\1""', line)
            continued = line.endswith("\\")
    return kept_lines.numbered(lines)


def jumps(text: str) -> bool:
    """Whether a rule of the file may leave out others (GOTO=)."""
    return re.search(r"^[^#\n]*\bGOTO\s*=", text, re.MULTILINE) is not None


def parse(text: str) -> List[PauseRule]:
    """The rules that run ethtool -A, in their order. ParseError where one of them is not a rule."""
    return [
        PauseRule(rule.line, rule.conditions, command)
        for rule in rules(text, "ethtool")
        for key, operator, value in rule.tokens
        if key in ("RUN", "RUN{program}", "PROGRAM", "IMPORT{program}") and operator != "-="
        for command in commands_in(value)
    ]


def rules(text: str, word: str = "") -> List[Rule]:
    """The rules that hold a word, in their order. ParseError where one of them is not a rule."""
    all_rules = []
    waiting, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if not waiting:
            first = number
            if line.lstrip().startswith("#"):
                continue
        if line.endswith("\\"):
            waiting += line[:-1]
            continue
        whole, waiting = waiting + line, ""
        if word in whole and whole.strip():
            all_rules.append(_rule(whole, first))
    return all_rules


def _rule(line: str, number: int) -> Rule:
    tokens: List[Token] = []
    at = 0
    while line[at:].strip(" \t,\r"):
        token = _TOKEN.match(line, at)
        if token is None:
            raise ParseError(_WHAT, f"no rule: {kind_of(line[at : at + 60])}", number, at + 1)
        tokens.append((token.group(1), token.group(2), token.group(3)))
        at = token.end()
    return Rule(number, tuple(tokens))


# -- what is assigned -----------------------------------------------------------------------------

#: Possible values of a device for a key ("KERNEL", "ENV{DM_UUID}"); None if unknown.
Lookup = Callable[[str], Optional[Sequence[str]]]

#: Keys that state which device it is, wherever it is plugged in and in whatever order it is found.
_IDENTITY = re.compile(r"ENV\{(DM_|ID_|PARTN|SCSI_)|ATTRS?\{.*(wwid|serial|uuid|name)|RESULT")
_SCSI_ID = re.compile(r"\S*scsi_id\s")
#: Programs and imports decide whether a rule fits, too.
_RUNS = re.compile(r"(PROGRAM|IMPORT\{\w+\}|TEST(\{\w+\})?)\Z")


class Assigned(NamedTuple):
    """A value and its place. ``by_identity``: its rule requires which device it is, and not
    only for the kernel's name, which depends on the order of a reboot."""

    value: str
    place: str
    by_identity: bool


class Outcome(NamedTuple):
    """What is left of one key: the last rule that surely fits, and what may come after it."""

    winner: Optional[Assigned]
    doubts: Tuple[Assigned, ...]
    final: bool = False


NOTHING = Outcome(None, ())


def outcome(
    files: Iterable[Tuple[str, str]], keys: Sequence[str], lookup: Lookup
) -> Dict[str, Outcome]:
    """What the rules of (path, text) pairs, in their order, assign to ``keys`` of a device."""
    outcomes = dict.fromkeys(keys, NOTHING)
    for path, text in files:
        _run_file(path, rules(text), outcomes, lookup)
    return outcomes


def _run_file(
    path: str, all_rules: Sequence[Rule], outcomes: Dict[str, Outcome], lookup: Lookup
) -> None:
    skipping, doubtful = "", ""
    result: Optional[Sequence[str]] = None
    for rule in all_rules:
        values = {key: value for key, operator, value in rule.tokens if operator == "="}
        label = values.get("LABEL")
        if label is not None:
            skipping = "" if label == skipping else skipping
            doubtful = "" if label == doubtful else doubtful
        if skipping:
            continue
        if any(key == "PROGRAM" for key, _operator, _value in rule.tokens):
            is_id = any(k == "PROGRAM" and _SCSI_ID.match(value) for k, _o, value in rule.tokens)
            # udev stores the output of scsi_id as ID_SERIAL.
            result = lookup("ENV{ID_SERIAL}") if is_id else None
        answer = _answer(rule, lookup, result)
        if answer == NO:
            continue
        if "GOTO" in values:
            skipping, doubtful = (
                (values["GOTO"], doubtful) if answer == YES else ("", values["GOTO"])
            )
        _assign(path, rule, answer == YES and not doubtful, outcomes)


def _answer(rule: Rule, lookup: Lookup, result: Optional[Sequence[str]]) -> str:
    answers = [YES]
    for key, operator, value in rule.tokens:
        if _RUNS.match(key):
            answers.append(YES if _SCSI_ID.match(value) and result else UNKNOWN)
        elif operator in ("==", "!="):
            values = result if key == "RESULT" else lookup(key)
            if values is None:
                answers.append(UNKNOWN)
                continue
            fits = any(
                glob_pattern.fits(o, pattern) for o in values for pattern in value.split("|")
            )
            answers.append(YES if fits == (operator == "==") else NO)
    return NO if NO in answers else UNKNOWN if UNKNOWN in answers else YES


def _assign(path: str, rule: Rule, certain: bool, outcomes: Dict[str, Outcome]) -> None:
    identity = any(_IDENTITY.match(key) for key, _operator, _value in rule.conditions)
    for key, operator, value in rule.tokens:
        if operator not in ("=", ":=") or key not in outcomes or outcomes[key].final:
            continue
        assignment = Assigned(value, f"{path}:{rule.line}", identity)
        if certain and not re.search(r"[$%]", value):
            outcomes[key] = Outcome(assignment, (), operator == ":=")
        else:
            outcomes[key] = outcomes[key]._replace(doubts=outcomes[key].doubts + (assignment,))
