# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The effect of a line of a script, unit, crontab or rule on kernel settings.

Only known commands are parsed: sysctl(8), systemd-sysctl(8), systemctl(1), hugeadm(8), and writes
to a file below /proc/sys or /sys. Any other command that names such a file counts as a write of an
unknown value, unless it is a command that only reads. Sources: the manuals named; POSIX.1, Shell
Command Language, 2.2 and 2.9; systemd.service(5); crontab(5); udev(7); modprobe.d(5).
"""

import os.path
import re
from collections import deque
from itertools import dropwhile
from typing import List, NamedTuple, Optional, Tuple

from .. import kept_lines
from . import sysctl_d

#: Stands for what only the shell knows when it runs: a variable, a command's output.
UNKNOWN = "\0"

#: LOAD: ``files`` holds what is loaded. SET: ``target`` is written.
LOAD, SET = "load", "set"
#: Instead of files: all that ``sysctl --system`` reads, all that systemd-sysctl reads.
PROCPS, SYSTEMD = "sysctl --system", "systemd-sysctl"


def _begins(word: str) -> str:
    """The word where no letter precedes it. With ``\\b`` before it, a search takes six times as
    long, because ``re`` cannot select alternatives by their first letter."""
    return rf"{word}(?<!\w{word})"


#: Lines that may set kernel settings. Other lines are not checked (host.find_lines).
INTERESTING = (
    _begins("sysctl")
    + r"(?:\s|$|[\"'{,])|systemd-sysctl\b(?!\.service$)|"
    + _begins("hugeadm")
    + r"\b|"
    + _begins("proc")
    + r"/[/.]*sys\b|"
    + _begins("sys/kernel/mm/")
    + rf"|(?:(?:{_begins('cd')}|{_begins('pushd')})\s|{_begins('WorkingDirectory')}\s*="
    + rf"|{_begins('BindPaths')}\s*=)\s*[-\"']*/+(?:proc|sys)\b"
    + rf"|{_begins('tuned-adm')}\s|{_begins('sys/module/sunrpc/')}"
    + rf"|{_begins('nr_')}(?:overcommit_)?hugepages|{_begins('hugetlb_shm_group')}\b"
    + rf"|transparent_hugepage|{_begins('procps')}\b|{_begins('SYSCTL')}\{{"
)

_TARGET = re.compile(
    r"(?:/proc/sys|/sys/kernel/mm|/sys/devices/system/node)\b[\w./*?\[\]@:\0-]*", re.ASCII
)
#: sysctl as an argument of another command, or in the text of a program.
_INNER = re.compile("(?<![\\w.-])sysctl['\"]?[\\s,](.*)")
_BARE = re.compile(r"(?:vm[./])?\b(nr_hugepages(?:_mempolicy)?|nr_overcommit_hugepages)\b")
#: Commands that check a file and change none, if their output is not sent into it.
_READERS = frozenset(
    [
        ":",
        "[",
        "[[",
        "awk",
        "cat",
        "cmp",
        "cut",
        "diff",
        "echo",
        "egrep",
        "exit",
        "fgrep",
        "file",
        "find",
        "grep",
        "head",
        "if",
        "less",
        "logger",
        "ls",
        "md5sum",
        "more",
        "printf",
        "read",
        "return",
        "rpm",
        "sed",
        "sort",
        "stat",
        "tail",
        "test",
        "tr",
        "true",
        "uniq",
        "wc",
        "which",
        "until",
        "while",
        "elif",
        "getconf",
    ]
)
_KEYWORDS = frozenset(
    ["if", "then", "else", "elif", "while", "until", "do", "{", "!", "time"]
    + ["export", "local", "declare", "readonly"]
)
#: From here on it is not certain that a line of a script is reached.
_BRANCH = re.compile(
    r"(?:^|[;&|\s])(?:if|for|while|until|case|select|function|trap|return|exec|break|continue|set"
    r"|source|\.)(?:\s|$)|\(\)|<<|&&|\|\||[{(]\s*$|^\s*[{(]"
)
#: Lines of a unit without a command, and the command that does the same.
_OF_UNIT = (
    (r"^\s*Standard(?:Output|Error)\s*=\s*(?:file|append|truncate):", "tee "),
    (r"^\s*(?:WorkingDirectory|BindPaths)\s*=[ \t-]*([^:]*).*", r"cd \1"),
    (r"^\s*Environment\s*=", "set "),
)
#: Readers that write with some arguments.
_MAY_WRITE = {"sed": re.compile(" -i").search, "awk": re.compile("system|>").search}
#: They represent lines that evidence does not keep. After the second kind it is not certain that
#: a line is reached.
_LEFT_OUT, _BRANCH_LEFT_OUT = ":  # left out", "if :  # left out"
_UNREAD_LEFT_OUT = "./left-out"
_WRAPPERS = frozenset(
    [
        "sudo",
        "doas",
        "dzdo",
        "pbrun",
        "exec",
        "command",
        "nohup",
        "nice",
        "ionice",
        "env",
        "time",
        "timeout",
        "setsid",
        "eval",
        "chrt",
        "taskset",
        "stdbuf",
    ]
)
_SHELLS = frozenset(["sh", "bash", "dash", "ksh", "ash", "zsh"])
#: What xargs and find run to write.
_WRITERS = {"sysctl", "tee", "cp", "dd", *_SHELLS}
#: The option of a shell before the text that it runs.
_TEXT = re.compile(r"-\w*c$")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BELOW = ("/proc/sys/", "/sys/")
_THP = "/sys/kernel/mm/transparent_hugepage/enabled"
_SYSCTL_CONF = "/etc/sysctl.conf"

_HUGEADM = (
    ("--pool-pages-", "/proc/sys/vm/nr_hugepages"),
    ("--pool-pages-", "/proc/sys/vm/nr_overcommit_hugepages"),
    ("--pool-pages-", "/sys/kernel/mm/hugepages/hugepages-*kB/nr_*hugepages"),
    ("--set-shm-group", "/proc/sys/vm/hugetlb_shm_group"),
)


class Effect(NamedTuple):
    """One effect of a command on kernel settings.

    ``target`` is a path below /proc or /sys and may hold UNKNOWN and wildcards; ``value`` is None
    where the line does not show it. ``pattern`` is the regular expression that keys must match.
    """

    kind: str
    target: str
    value: Optional[str]
    files: Tuple[str, ...]
    pattern: Optional[str]


class Simple(NamedTuple):
    """A simple command: its words without quotes, and the files that its output goes to."""

    words: List[str]
    outputs: List[str]
    piped: bool


def effects(line: str) -> List[Effect]:
    """The effects of a line of a shell script, in their order."""
    result: List[Effect] = []
    before: Optional[Simple] = None
    for command in split(line):
        result.extend(_of_command(command, before))
        before = command if command.piped else None
    return result


def is_plain(line: str) -> bool:
    """Whether a line is one command that a shell runs whatever happens."""
    return len(split(line)) == 1 and not _BRANCH.search(line)


def reached(lines: List[str], number: int) -> Optional[bool]:
    """Whether a script of those lines surely runs line ``number`` (from 1); None: unsure.

    It is sure where the lines before hold no control structure, and unsure after a command of a
    script that ends at the first failure (-e).
    """
    stops = bool(lines) and re.match(r"#!\s*\S+(?:\s+\S+)?\s+-\w*e", lines[0]) is not None
    for text in lines[: number - 1]:
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        if re.match(r"exit\b", text):
            return False
        if stops or _BRANCH.search(text) or text.endswith("\\"):
            return None
    return True if is_plain(lines[number - 1]) else None


def calls_unread(line: str) -> bool:
    """Whether a line runs a script whose path or text it does not give: a relative or a variable
    path, or what a command writes into a shell."""
    before: Optional[Simple] = None
    for command in split(line):
        words = _unwrapped([word for word in command.words if word not in _KEYWORDS])
        if words and words[0].rpartition("/")[2] in (*_SHELLS, ".", "source"):
            words = [word for word in words[1:] if _TEXT.match(word) or not word.startswith("-")]
            if words and _TEXT.match(words[0]):
                if calls_unread(" ".join(words[1:2])):
                    return True
            elif words and not words[0].startswith("/"):
                return True
            elif not words and before is not None:
                words = _unwrapped(list(before.words))
                script = _printed(before, words)
                is_read = words[:1] == ["cat"] and all(name.startswith("/") for name in words[1:])
                if calls_unread(script) if script is not None else not is_read:
                    return True
        elif words and re.match(r"\.{1,2}/|[\w.-]+(?:/|\.sh$)|\0|.*run-parts$", words[0], re.ASCII):
            return True
        before = command if command.piped else None
    return False


def kept(text: str) -> str:
    """The part of a script that evidence keeps (kept_lines.py): what can set something, and what
    decides whether that is reached."""
    lines = [_kept_line(number, line) for number, line in enumerate(joined(text))]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def shortened(line: str) -> str:
    """The words of a line of a script that decide its effects and whether it is reached."""
    return kept_lines.needed_words(line, _reading)


#: What no effect tells: the profile of TuneD, and the number of pages of hugeadm.
NAMED = re.compile(r"\btuned-adm\s+\w+\s+[\w-]+|--pool-pages-\w+[=\s]+\w+:[\w+-]+")


def _reading(line: str) -> object:
    text = line.strip()
    return (
        NAMED.findall(line),
        effects(line),
        calls_unread(line),
        is_plain(line),
        _BRANCH.search(text) is not None,
        re.match(r"exit\b|#", text) is not None,
        re.search(INTERESTING, line) is not None,
    )


def _kept_line(number: int, line: str) -> str:
    text = line.strip()
    if number == 0 and text.startswith("#!"):
        return line
    if not text or text.startswith("#"):
        return ""
    if re.search(INTERESTING, line):
        return shortened(line)
    if re.match(r"exit\b", text):
        return "exit"
    if calls_unread(line):
        return _UNREAD_LEFT_OUT + (" && " + _LEFT_OUT if _BRANCH.search(text) else "")
    return _BRANCH_LEFT_OUT if _BRANCH.search(text) or text.endswith("\\") else _LEFT_OUT


def of_unit(line: str) -> Optional[str]:
    """The command of an Exec line of a systemd unit; None for lines that run and open nothing.

    A file for the output is written as by tee, files of the working directory as after cd, and a
    path in a variable counts as one that a command mentions.
    """
    for pattern, command in _OF_UNIT:
        line = re.sub(pattern, "ExecStart=" + command, line)
    match = re.match(r"\s*Exec(?:St(?:art|op)(?:Pre|Post)?|Condition)\s*=\s*(.*)", line)
    if match is None:
        return None
    # The value of a specifier (%i) is unknown here; %% is a percent sign.
    command = re.sub(
        r"%(.)", lambda specifier: "%" if specifier.group(1) == "%" else UNKNOWN, match.group(1)
    )
    return re.sub(r"^[-@:+!|]+\s*", "", command)


def of_exec(command: str) -> Tuple[List[Effect], bool]:
    """The effects of the command of a unit, and whether they are certain: no shell, no redirection.

    systemd passes >, | and && to the command as arguments.
    """
    commands = split(command)
    words = commands[0].words if commands else [""]
    # Where a redirection is all of the first command, it has no words.
    program = "".join(_unwrapped(list(words))[:1]).rpartition("/")[2]
    if program in _SHELLS:
        return effects(command), is_plain(command)
    alone = len(commands) == 1 and not commands[0].outputs
    # A semicolon between blanks is the only operator of systemd; the others are rare.
    found = [_of_command(Simple(simple.words, [], False), None) for simple in commands]
    return [effect for some in found for effect in some], alone


def joined(text: str) -> List[str]:
    """The lines of a script; one that goes on (\\) holds it all, and those after it are empty."""
    lines: List[str] = []
    parts: List[str] = []
    first = -1
    for number, line in enumerate(text.splitlines()):
        lines.append("" if parts else line)
        goes_on = line.endswith("\\") and (parts or not line.lstrip().startswith("#"))
        if parts or goes_on:
            first = first if parts else number
            # A line in the middle is told without the blanks around it.
            piece = line.strip() if parts else line
            parts.append(piece[:-1] if goes_on else piece)
        if parts and not goes_on:
            lines[first], parts = " ".join(parts), []
    if parts:
        lines[first] = " ".join(parts) + "\\"
    return lines


def of_crontab(line: str, has_user: bool) -> Optional[str]:
    """The command of a line of a crontab; None for comments and variables."""
    text = line.strip()
    if not text or text.startswith("#") or re.match(r"[A-Za-z_]\w*\s*=", text):
        return None
    times = 1 if text.startswith("@") else 5
    parts = text.split(None, times + (1 if has_user else 0))
    return parts[-1] if len(parts) > times + (1 if has_user else 0) else None


def of_udev(line: str) -> str:
    """The commands of a udev rule (RUN, IMPORT, PROGRAM), and its SYSCTL{} as one."""
    if line.lstrip().startswith("#"):
        return ""
    run = re.findall(r'(?:RUN|PROGRAM|IMPORT)(?:\{program\})?\s*(?:\+|:)?=+\s*"([^"]*)"', line)
    keys = re.findall(r'SYSCTL\{([^{}]*)\}\s*=\s*"([^"]*)"', line)
    pools = re.findall(r'ATTR\{(hugepages/[^{}]*)\}\s*=\s*"([^"]*)"', line)
    run += ["echo {1} >/sys/devices/system/node/node0/{0}".format(*pair) for pair in pools]
    return "; ".join(run + ["sysctl -w '{0}={1}'".format(*pair) for pair in keys])


def of_modprobe(line: str) -> str:
    """The command of a line of modprobe.d (install MODULE COMMAND)."""
    match = re.match(r"\s*install\s+\S+\s+(.*)", line)
    return match.group(1) if match else ""


def split(text: str) -> List[Simple]:
    """The simple commands of a line, by the quoting rules of the shell.

    Commands in substitutions are not parsed: a substitution becomes UNKNOWN, and so does text with
    an unclosed quote. A here-string becomes an echo into a pipe and a file for the input a cat into
    one; // or /./ becomes /.
    """
    text = re.sub(r"/(?:\.?/)+", "/", text)
    commands: List[Simple] = []
    words: List[str] = []
    outputs: List[str] = []
    word: List[str] = []
    into = ""
    position = 0

    def end_word() -> None:
        nonlocal word, into
        path = "".join(word)
        if word and into == ">":
            outputs.append(path)
        elif word and (into == "<<<" or (into == "<" and path != "/dev/null")):
            commands.append(Simple(["cat" if into == "<" else "echo", path], [], True))
        elif word and not into:
            words.append(path)
        into = "" if word else into
        word = []

    while position < len(text):
        # Digits within a word are not file's number.
        if text[position : position + 2] in ("<(", ">("):
            word.append(UNKNOWN)
            position = _closed(text, position)
            continue
        redirect = (_REDIRECT if word else _NUMBERED).match(text, position)
        operator = _OPERATOR.match(text, position)
        if redirect:
            end_word()
            # echo 10>FILE opens it as file 10 and writes nothing to it.
            is_output = re.match(r"1?>[>|]?$|&>", redirect.group()) is not None
            into = ">" if is_output else redirect.group()
            position = redirect.end()
        elif operator:
            end_word()
            into = ""
            if words or outputs:
                commands.append(Simple(words, outputs, operator.group() == "|"))
            words, outputs = [], []
            position = operator.end()
        elif text[position] in " \t\r":
            end_word()
            position += 1
        elif text[position] == "#" and not word:
            break
        else:
            piece, position = _piece(text, position)
            word.append(piece)
    end_word()
    if words or outputs:
        commands.append(Simple(words, outputs, False))
    return commands


_REDIRECT = re.compile(r"&>>?|>>|>\||>&|<<<|<<-?|<>|<&|>|<")
_NUMBERED = re.compile(r"&>>?|\d*(?:>>|>\||>&|<<<|<<-?|<>|<&|>|<)")
_OPERATOR = re.compile(r"\|\||&&|;;|[;&|()\n]")
_VARIABLE = re.compile(r"\$(?:\w+|[@*#?!$-])")


def _piece(text: str, begin: int) -> Tuple[str, int]:
    """(the text of the next part of a word, where it ends)."""
    letter = text[begin]
    if letter == '"':
        pieces, position = [], begin + 1
        while position < len(text) and text[position] != '"':
            if text[position] in "\\$`":
                piece, position = _piece(text, position)
            else:
                piece, position = text[position], position + 1
            pieces.append(piece)
        return ("".join(pieces), position + 1) if position < len(text) else (UNKNOWN, len(text))
    if letter in "'`":
        end = text.find(letter, begin + 1)
        if end < 0:
            return UNKNOWN, len(text)
        return text[begin + 1 : end] if letter == "'" else UNKNOWN, end + 1
    if letter == "\\":
        return text[begin + 1 : begin + 2], begin + 2
    if letter == "$":
        if text[begin + 1 : begin + 2] in ("(", "{"):
            return UNKNOWN, _closed(text, begin)
        match = _VARIABLE.match(text, begin)
        return (UNKNOWN, match.end()) if match else ("$", begin + 1)
    return letter, begin + 1


def _closed(text: str, begin: int) -> int:
    """The end of $(...) or ${...}, counting brackets of the kind."""
    opening, closing = text[begin + 1], {"(": ")", "{": "}"}[text[begin + 1]]
    depth = 0
    for position in range(begin, len(text)):
        depth += (text[position] == opening) - (text[position] == closing)
        if position > begin and not depth:
            return position + 1
    return len(text)


def _of_command(command: Simple, before: Optional[Simple]) -> List[Effect]:
    words = list(command.words)
    while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
        if _ASSIGNMENT.match(words[0]) and len(words) == 1:
            break
        words.pop(0)
    words = _unwrapped(words)
    name = words[0].rpartition("/")[2] if words else ""
    printed = _printed(command, words)
    written = [
        _set(path, printed if path.startswith("/") else None)
        for path in command.outputs
        # A file that only the shell knows counts where it could be one that takes the value.
        if ("/" + path.lstrip("/")).startswith(_BELOW)
        or (path.startswith(UNKNOWN) and (printed is not None or words[1:] == [UNKNOWN]))
    ]
    if name in _SHELLS:
        for number, word in enumerate(words[1:], 1):
            if _TEXT.match(word) and number + 1 < len(words):
                return written + effects(words[number + 1])
    if name in _SHELLS or name in ("at", "batch"):
        script = None if before is None else _printed(before, _unwrapped(list(before.words)))
        written += effects(script or "")
    if name == "sysctl":
        return written + _of_sysctl(words[1:])
    if name == "systemd-sysctl":
        files = tuple(word for word in words[1:] if not word.startswith("-"))
        return written + [Effect(LOAD, "", None, files or (SYSTEMD,), _of_prefixes(words[1:]))]
    runs = {word.rpartition("/")[2] for word in words[1:]} & _WRITERS
    if (name == "xargs" and runs) or (
        name == "tuned-adm" and words[1:2] in (["profile"], ["auto_profile"], ["off"])
    ):
        return [_set(UNKNOWN, None)]
    if name == "hugeadm":
        return written + _of_hugeadm(words[1:])
    if name in ("systemctl", "service", "procps", "rc-service", "invoke-rc.d"):
        return written + _of_service(name, words[1:])
    if name == "tee":
        value = None if before is None else _printed(before, _unwrapped(list(before.words)))
        return written + [
            _set(word, value) for word in words[1:] if word.startswith(_BELOW + (UNKNOWN,))
        ]
    finds = name == "find" and runs and any(word.startswith(("-exec", "-ok")) for word in words)
    if name in ("cd", "pushd") or finds:
        # The commands after it can write to any file of the directory by a relative path.
        paths = ["/" + word.strip("/") for word in words[1:]]
        below = [
            _set(path + "/" + UNKNOWN, None)
            for path in paths
            if path in ("/proc", "/sys") or (path + "/").startswith(_BELOW)
        ]
        return written + (below or [_set(UNKNOWN, None)] * bool(finds))
    if name in _READERS and not (name in _MAY_WRITE and _MAY_WRITE[name](" ".join(words))):
        return written
    return written + _mentioned(words)


def _unwrapped(words: List[str]) -> List[str]:
    """Without sudo, nice, timeout and the like in front, and their options and numbers."""
    while words and words[0].rpartition("/")[2] in _WRAPPERS:
        wrapper = words.pop(0).rpartition("/")[2]
        while words and (
            words[0].startswith("-")
            or re.match(r"[\d.]+[smhd]?$|0x[0-9a-fA-F]+$", words[0])
            or _ASSIGNMENT.match(words[0])
        ):
            option = words.pop(0)
            takes_value = (wrapper, option) in (
                ("sudo", "-u"),
                ("sudo", "-g"),
                ("nice", "-n"),
                ("ionice", "-c"),
                ("ionice", "-n"),
                ("timeout", "-s"),
                ("timeout", "-k"),
            )
            if takes_value and words:
                words.pop(0)
        if wrapper == "eval":
            # Only the last of several: each would take a level of the stack.
            words = ["sh", "-c", " ".join(["", *words, ""]).rpartition(" eval ")[2]]
    if words and words[0].rpartition("/")[2] in ("su", "runuser"):
        rest = [word for word in words[1:] if word not in ("-", "-l", "root")]
        if len(rest) == 2 and rest[0] == "-c":
            words = ["sh", *rest]
    return words


def _printed(command: Simple, words: List[str]) -> Optional[str]:
    """What echo or printf writes; None where the line does not show it."""
    if not words or words[0].rpartition("/")[2] not in ("echo", "printf"):
        return None
    if any(UNKNOWN in word for word in words):
        return None
    if words[0].endswith("echo"):
        return " ".join(dropwhile(re.compile(r"-[neE]+$").match, words[1:]))
    text = words[1] if len(words) == 2 else "%"
    text = text.replace("\\n", "\n")
    return None if "%" in text or "\\" in text else text


def _set(path: str, value: Optional[str]) -> Effect:
    path = "/" + path if ("/" + path).startswith(_BELOW) else path
    return Effect(SET, os.path.normpath(path), value, (), None)


def _of_sysctl(arguments: List[str]) -> List[Effect]:
    """sysctl of procps; with --load every other argument is a file."""
    names: List[str] = []
    files: List[str] = []
    loads = system = False
    pattern: Optional[str] = None
    waiting = deque(arguments)

    def following() -> str:
        return waiting.popleft() if waiting else ""

    while waiting:
        word = waiting.popleft()
        if word == "--system":
            system = True
        elif word in ("--dry-run", "--help", "--version", "-h", "-V"):
            return []
        elif word.startswith("--load"):
            loads = True
            files.extend([word[len("--load=") :]] if "=" in word else [])
        elif word.startswith("--pattern"):
            pattern = word.partition("=")[2] if "=" in word else following()
        elif word == "-r":
            pattern = following()
        elif re.match(r"-[a-zA-Z]*[pf]", word):
            loads = True
            attached = re.sub(r"^-[a-zA-Z]*?[pf]", "", word)
            # For getopt, -pq is -p with the file "q"; but file names always contain a slash.
            files.extend([attached] if "/" in attached else [])
        elif word == "-":
            names.append(UNKNOWN)
        elif not word.startswith("-"):
            names.append(word)
    if system:
        return [Effect(LOAD, "", None, (PROCPS,), pattern)]
    if loads:
        paths = files + names
        if any(UNKNOWN in path or path.startswith(("/dev/", "/proc/")) for path in paths):
            return [_set("/proc/sys/" + UNKNOWN, None)]
        return [Effect(LOAD, "", None, tuple(paths or [_SYSCTL_CONF]), pattern)]
    result = []
    only_values = "-n" in arguments
    for name in names:
        key, equals, value = name.partition("=")
        if equals:
            target = "/proc/sys/" + sysctl_d.normalize(key.strip())
            result.append(_set(target, None if UNKNOWN in value else value.strip()))
        elif UNKNOWN in name and not only_values:
            result.append(_set("/proc/sys/" + sysctl_d.normalize(key), None))
    return result


def _of_prefixes(arguments: List[str]) -> Optional[str]:
    """The keys that --prefix= lets through, as a pattern; None where it is not given."""
    prefixes = [word.partition("=")[2] for word in arguments if word.startswith("--prefix=")]
    paths = [
        prefix.partition(UNKNOWN)[0].replace("/proc/sys", "").strip("/") for prefix in prefixes
    ]
    if not paths or "" in paths:
        return None
    return "^(?:{0})".format("|".join(re.escape(path.replace("/", ".")) for path in paths))


def _of_hugeadm(arguments: List[str]) -> List[Effect]:
    """hugeadm counts pages in its own way: what it sets is known, the number is not."""
    result = []
    for option, target in _HUGEADM:
        if any(word.startswith(option) for word in arguments):
            result.append(_set(target, None))
    for word in arguments:
        if word in ("--thp-always", "--thp-madvise", "--thp-never"):
            result.append(_set(_THP, word[len("--thp-") :]))
    return result


def _of_service(name: str, arguments: List[str]) -> List[Effect]:
    """Starting the service that applies sysctl.d again."""
    acts = {"start", "restart", "reload", "force-reload", "try-restart", "reload-or-restart"}
    units = {"procps", "procps.service", "systemd-sysctl", "systemd-sysctl.service"}
    named = name == "procps" or units.intersection(arguments)
    if not named or not acts.intersection(arguments):
        return []
    by_systemd = "systemd-sysctl" in " ".join(arguments)
    return [Effect(LOAD, "", None, (SYSTEMD if by_systemd else PROCPS,), None)]


def _mentioned(words: List[str]) -> List[Effect]:
    """Possible writes of an unknown command."""
    text = " ".join(words)
    # A directory can be followed by the name of a file.
    result = [
        _set(path + end, None) for path in _TARGET.findall(text) for end in ("", "/" + UNKNOWN)
    ]
    # Other accounts lack the right.
    if words and words[0] not in ("su", "runuser"):
        inner = [_INNER.search(part) for part in re.split("[;&|]+", text)]
        result += [
            effect._replace(value=None)
            for match in inner
            if match is not None
            for effect in _of_sysctl(re.split("[]\\s,'\")]+", match.group(1)))
        ]
    if not result:
        result = [_set("/proc/sys/vm/" + name, None) for name in _BARE.findall(text)]
    return result
