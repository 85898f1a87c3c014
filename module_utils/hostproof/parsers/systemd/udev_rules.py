# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""udev rules: those that run ``ethtool -A`` for an interface, and what the others assign.

Source: udev(7), rules files; systemd, src/udev/udev-rules.c.
"""

import re
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

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
    r"(\bRUN(?:\{\w+\})?\s*(?:\+=|:=|=)\s*)"
    r'"((?:(?!ethtool|sysctl|GOTO|\bch(?:own|grp|mod)\b)[^"\\]|\\.)*)"'
)

_NOTHING = re.compile(r"(?!)()()")

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
    and without programs that no control checks. The path of an own script is kept."""
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
            lines[number] = pattern.sub(_without_words, line)
            continued = line.endswith("\\")
    return kept_lines.numbered(lines)


def _without_words(match: Any) -> str:
    return f'{match.group(1)}"{own_script(match.group(2))}"'


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
#: Links whose names come from such a property.
_BY_NAME = ("mapper/", "disk/by-id/")
_SCSI_ID = re.compile(r"\S*scsi_id\s")
#: Attributes of a device node. udev before 243 takes a comparison of them for an assignment; later
#: versions leave out the whole line (src/udev/udev-rules.c, OWNER).
_OWNERS = ("OWNER", "GROUP")
_NODE = (*_OWNERS, "MODE")
#: Programs and imports decide whether a rule fits, too.
_RUNS = re.compile(r"(PROGRAM|IMPORT\{\w+\}|TEST(\{\w+\})?)\Z")


class Assigned(NamedTuple):
    """A value and its place. ``by_identity``: its rule requires which device it is, and not
    only for the kernel's name, which depends on the order of a reboot. ``script`` is an own script
    that its rule runs: it can set any owner, group and mode."""

    value: str
    place: str
    by_identity: bool
    script: str = ""


class Outcome(NamedTuple):
    """What is left of one key: the last rule that surely fits, and what may come after it."""

    winner: Optional[Assigned]
    doubts: Tuple[Assigned, ...]
    final: bool = False


NOTHING = Outcome(None, ())


def comparing(files: Iterable[Tuple[str, str]]) -> List[str]:
    """The places of rules that compare an attribute of the node, with which nothing is set."""
    return [
        f"{path}:{rule.line}" for path, text in files for rule in rules(text) if _compares(rule)
    ]


def _compares(rule: Rule) -> bool:
    return any(key in _NODE and operator in ("==", "!=") for key, operator, _value in rule.tokens)


def outcome(
    files: Iterable[Tuple[str, str]],
    keys: Sequence[str],
    lookup: Lookup,
    comparison_assigns: bool = False,
) -> Dict[str, Outcome]:
    """What the rules of (path, text) pairs, in their order, assign to ``keys`` of a device.

    Programs of RUN come last: udev starts them when all rules are done. ``comparison_assigns``:
    udev is older than 243 (_NODE).
    """
    outcomes = dict.fromkeys(keys, NOTHING)
    programs: List[Tuple[Assigned, bool]] = []
    for path, text in files:
        all_rules = [rule for rule in rules(text) if comparison_assigns or not _compares(rule)]
        _run_file(path, all_rules, outcomes, lookup, programs)
    for program, is_certain in programs:
        script = own_script(program.value)
        pairs = [(key, "") for key in _NODE] if script else owners_in(program.value, lookup)
        for key, value in pairs:
            if key not in outcomes:
                continue
            assignment = program._replace(value=value, script=script)
            if is_certain and value:
                outcomes[key] = Outcome(assignment, (), True)
            else:
                outcomes[key] = outcomes[key]._replace(doubts=(*outcomes[key].doubts, assignment))
    return outcomes


#: The device itself in a command of RUN, and what represents another value.
_OWN_NODE = re.compile(
    r"(?:\$devnode|\$tempnode|%N|\$env\{DEVNAME\}|%E\{DEVNAME\}|/dev/(?:%k|\$kernel|\$name))\Z"
)
_PROPERTY = re.compile(r"\$env\{(\w+)\}|%E\{(\w+)\}")
_SHELL = re.compile(r"(?:\S*/)?(?:ba|da|k)?sh\s+-c\s+(['\"])(.*)\1\s*\Z")
_OWNER = re.compile(r"([a-z_0-9][a-z0-9_-]*)?(?:[:.]([a-z_0-9][a-z0-9_-]*)?)?\Z")
_OCTAL = re.compile(r"0?[0-7]{3,4}\Z")
#: What starts another program.
_STARTER = re.compile(
    r"(?:\S*/)?(?:(?:ba|da|k|z)?sh|env|nohup|setsid|sudo|systemd-run|(?:python|perl)[\d.]*)\Z"
)
#: A program outside the directories of packages, or a script by the end of its name.
_OWN_PROGRAM = re.compile(
    r"(?:/(?!(?:usr/)?s?bin/|(?:usr/)?lib(?:64|exec)?/|sys/|dev/|proc/)[\w./@+-]{1,200}"
    r"|[\w./@+-]{1,200}\.(?:sh|bash|ksh|py|pl))\Z"
)


def own_script(command: str) -> str:
    """The path of an own script that a command of RUN starts; "" if it starts none."""
    shell = _SHELL.match(command.strip())
    for one in re.split(r"[;&|]+", shell.group(2) if shell is not None else command):
        words = [
            word
            for word in re.sub(r"['\"\\]", " ", one).split()
            if not word.startswith("-") and not _STARTER.match(word)
        ]
        if words and _OWN_PROGRAM.match(words[0]):
            return words[0]
    return ""


def owners_in(command: str, lookup: Lookup) -> List[Tuple[str, str]]:
    """(OWNER, GROUP or MODE; value) that a command of RUN sets for the device; "" if unknown."""
    shell = _SHELL.match(command.strip())
    found: List[Tuple[str, str]] = []
    for one in re.split(r"[;&|]+", shell.group(2) if shell is not None else command):
        words = [word for word in one.replace("'", "").split() if not word.startswith("-")]
        program = words[0].rpartition("/")[2] if words else ""
        if program not in ("chown", "chgrp", "chmod") or len(words) < 3:
            continue
        own = {_is_own(path, lookup) for path in words[2:]}
        if YES in own:
            found += _set_by(program, words[1])
        elif UNKNOWN in own:
            found += [(key, "") for key in (("MODE",) if program == "chmod" else _OWNERS)]
    return found


def _set_by(program: str, value: str) -> List[Tuple[str, str]]:
    if program == "chmod":
        return [("MODE", value if _OCTAL.match(value) else "")]
    owner = _OWNER.match(value)
    if program == "chgrp":
        return [("GROUP", value if owner is not None else "")]
    if owner is None:
        return [(key, "") for key in _OWNERS]
    found = [(key, name) for key, name in zip(_OWNERS, owner.groups()) if name]
    # The login group of the owner.
    return found + ([("GROUP", "")] if value[-1] in ":." else [])


def _is_own(path: str, lookup: Lookup) -> str:
    """Whether a path of a command is the node of the device: YES, NO or UNKNOWN."""

    def value_of(match: Any) -> str:
        return (lookup(f"ENV{{{match.group(1) or match.group(2)}}}") or (match.group(),))[0]

    if _OWN_NODE.match(path):
        return YES
    text = _PROPERTY.sub(value_of, path)
    if re.search(r"[$%]", text):
        return UNKNOWN
    names = [*(lookup("KERNEL") or ()), *(lookup("SYMLINK") or ())]
    is_own = text.startswith("/dev/") and any(
        name and glob_pattern.fits(name, text[len("/dev/") :]) for name in names
    )
    return YES if is_own else NO


class _Jumps(NamedTuple):
    """Labels of GOTO that follow. The rules up to them are skipped, are perhaps skipped, or are
    for the device by its identity: None if they are not, "" without a label."""

    skipping: str
    doubtful: str
    selected: Optional[str]

    def at_label(self, label: Optional[str]) -> "_Jumps":
        if label is None:
            return self
        return _Jumps(
            "" if label == self.skipping else self.skipping,
            "" if label == self.doubtful else self.doubtful,
            None if label == self.selected else self.selected,
        )

    def at_goto(self, target: str, rule: Rule, answer: str) -> "_Jumps":
        jumps = self
        if self.selected is None and _selects(rule, answer):
            jumps = self._replace(selected=target if answer == NO else "")
        if answer == NO:
            return jumps
        if answer == YES:
            return jumps._replace(skipping=target)
        return jumps._replace(doubtful=target)


def _run_file(
    path: str,
    all_rules: Sequence[Rule],
    outcomes: Dict[str, Outcome],
    lookup: Lookup,
    programs: List[Tuple[Assigned, bool]],
) -> None:
    jumps = _Jumps("", "", None)
    result: Optional[Sequence[str]] = None
    labels = [_single_values(rule).get("LABEL") for rule in all_rules]
    for number, rule in enumerate(all_rules, 1):
        jumps = jumps.at_label(labels[number - 1])
        if jumps.skipping:
            continue
        commands = [value for key, _operator, value in rule.tokens if key == "PROGRAM"]
        if commands:
            # udev stores the output of scsi_id as ID_SERIAL.
            result = lookup("ENV{ID_SERIAL}") if any(map(_SCSI_ID.match, commands)) else None
        answer = _answer(rule, lookup, result)
        target = _single_values(rule).get("GOTO")
        # udev ignores a jump to a label that does not follow.
        if target is not None and target in labels[number:]:
            jumps = jumps.at_goto(target, rule, answer)
        if answer == NO:
            continue
        is_certain = answer == YES and not jumps.doubtful
        by_identity = jumps.selected is not None or _names_device(rule)
        assignment = Assigned("", f"{path}:{rule.line}", by_identity)
        _assign(assignment, rule, is_certain, outcomes)
        _add_programs(assignment, rule, is_certain, programs)


def _add_programs(
    assignment: Assigned, rule: Rule, is_certain: bool, programs: List[Tuple[Assigned, bool]]
) -> None:
    for key, operator, value in rule.tokens:
        if key not in ("RUN", "RUN{program}") or operator == "-=":
            continue
        if operator != "+=":  # it replaces the list of programs
            programs[:] = [] if is_certain else [(before, False) for before, _ in programs]
        programs.append((assignment._replace(value=value), is_certain))


def _single_values(rule: Rule) -> Dict[str, str]:
    return {key: value for key, operator, value in rule.tokens if operator == "="}


def _answer(rule: Rule, lookup: Lookup, result: Optional[Sequence[str]]) -> str:
    answers = {_answer_of(*token, lookup, result) for token in rule.tokens}
    return NO if NO in answers else UNKNOWN if UNKNOWN in answers else YES


def _answer_of(
    key: str, operator: str, value: str, lookup: Lookup, result: Optional[Sequence[str]]
) -> str:
    if _RUNS.match(key):
        return YES if _SCSI_ID.match(value) and result else UNKNOWN
    if operator not in ("==", "!=") or key in _NODE:
        return YES
    values = result if key == "RESULT" else lookup(key)
    if values is None:
        return UNKNOWN
    fits = any(glob_pattern.fits(o, pattern) for o in values for pattern in value.split("|"))
    return YES if fits == (operator == "==") else NO


def _names_device(rule: Rule) -> bool:
    return any(
        _IDENTITY.match(key) or (key == "SYMLINK" and value.startswith(_BY_NAME))
        for key, _operator, value in rule.conditions
    )


def _selects(rule: Rule, answer: str) -> bool:
    """Whether the rules behind a GOTO are for this device by its identity: a guard that lets only
    such devices pass (``!=``), or a jump that only such devices take (``==``)."""
    operator = {NO: "!=", YES: "=="}.get(answer)
    return any(_IDENTITY.match(key) and one == operator for key, one, _value in rule.conditions)


def _assign(
    assignment: Assigned, rule: Rule, is_certain: bool, outcomes: Dict[str, Outcome]
) -> None:
    for key, operator, value in rule.tokens:
        # Only a list can be extended: udev takes += of a single value for =.
        operators = ("=", ":=", "+=", "==", "!=") if key in _NODE else ("=", ":=")
        if operator not in operators or key not in outcomes or outcomes[key].final:
            continue
        assignment = assignment._replace(value=value)
        if is_certain and not re.search(r"[$%]", value):
            outcomes[key] = Outcome(assignment, (), operator == ":=")
        else:
            outcomes[key] = outcomes[key]._replace(doubts=(*outcomes[key].doubts, assignment))
