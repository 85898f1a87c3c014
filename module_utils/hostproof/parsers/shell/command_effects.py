# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The effects of commands on kernel settings.

Only known commands are parsed: sysctl(8), systemd-sysctl(8), systemctl(1), hugeadm(8), and writes
to a file below /proc/sys or /sys. Any other command that names such a file counts as a write of an
unknown value, unless it is a command that only reads. Sources: the manuals named.
"""

import os.path
import re
from collections import deque
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ..systemd import sysctl_d
from .shell_words import (
    ASSIGNMENT,
    KEYWORDS,
    SHELLS,
    TEXT_OPTION,
    UNKNOWN,
    Simple,
    printed,
    program_of,
    split,
    unwrapped,
)

#: LOAD: ``files`` holds what is loaded. SET: ``target`` is written.
LOAD, SET = "load", "set"
#: Instead of files: all that ``sysctl --system`` reads, all that systemd-sysctl reads.
PROCPS, SYSTEMD = "sysctl --system", "systemd-sysctl"

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
#: Readers that write with some arguments.
_MAY_WRITE = {"sed": re.compile(" -i").search, "awk": re.compile("system|>").search}
#: What xargs and find run to write.
_WRITERS = {"sysctl", "tee", "cp", "dd", *SHELLS}
#: Programs that run the commands that they read.
_RUN_INPUT = {*SHELLS, "at", "batch"}
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


def effects(line: str) -> List[Effect]:
    """The effects of a line of a shell script, in their order."""
    result: List[Effect] = []
    before: Optional[Simple] = None
    for command in split(line):
        result.extend(of_command(command, before))
        before = command if command.piped else None
    return result


def of_command(command: Simple, before: Optional[Simple]) -> List[Effect]:
    """The effects of one command; ``before`` writes into its input."""
    words = _without_keywords(command.words)
    name = program_of(words)
    given = None if before is None else printed(unwrapped(list(before.words)))
    if _sets_what_is_unknown(name, words):
        return [_set(UNKNOWN, None)]
    return _redirected(command.outputs, words) + _of_program(name, words, given)


def _of_program(name: str, words: List[str], given: Optional[str]) -> List[Effect]:
    if name in _RUN_INPUT:
        return _of_shell(name, words, given or "")
    if name in _BY_ARGUMENTS:
        return _BY_ARGUMENTS[name](words[1:])
    if name in ("systemctl", "service", "procps", "rc-service", "invoke-rc.d"):
        return _of_service(name, words[1:])
    if name == "tee":
        targets = [word for word in words[1:] if word.startswith(_BELOW + (UNKNOWN,))]
        return [_set(target, given) for target in targets]
    if name == "find" and _finds_and_writes(words):
        return _of_directories(words[1:]) or [_set(UNKNOWN, None)]
    return [] if _only_reads(name, words) else _mentioned(words)


def _only_reads(name: str, words: List[str]) -> bool:
    return name in _READERS and not (name in _MAY_WRITE and _MAY_WRITE[name](" ".join(words)))


def _without_keywords(words: List[str]) -> List[str]:
    """The words of a command without keywords and assignments in front of its program."""
    words = list(words)
    while words and (words[0] in KEYWORDS or ASSIGNMENT.match(words[0])):
        if ASSIGNMENT.match(words[0]) and len(words) == 1:
            break
        words.pop(0)
    return unwrapped(words)


def _redirected(outputs: List[str], words: List[str]) -> List[Effect]:
    """The writes of a command's output into files."""
    text = printed(words)
    return [
        _set(path, text if path.startswith("/") else None)
        for path in outputs
        # A file that only the shell knows counts where it could be one that takes the value.
        if ("/" + path.lstrip("/")).startswith(_BELOW)
        or (path.startswith(UNKNOWN) and (text is not None or words[1:] == [UNKNOWN]))
    ]


def _of_shell(name: str, words: List[str], script: str) -> List[Effect]:
    """The effects of the text after -c; else those of the script in the input."""
    for option, text in zip(words[1:], words[2:]):
        if name in SHELLS and TEXT_OPTION.match(option):
            return effects(text)
    return effects(script) + _mentioned(words)


def _finds_and_writes(words: List[str]) -> bool:
    return _run_writers(words) and any(word.startswith(("-exec", "-ok")) for word in words)


def _run_writers(words: List[str]) -> bool:
    return any(program_of([word]) in _WRITERS for word in words[1:])


def _sets_what_is_unknown(name: str, words: List[str]) -> bool:
    if name == "tuned-adm":
        return words[1:2] in (["profile"], ["auto_profile"], ["off"])
    return name == "xargs" and _run_writers(words)


def _of_directories(words: List[str]) -> List[Effect]:
    """The commands after cd can write to any file of the directory by a relative path."""
    paths = ["/" + word.strip("/") for word in words]
    return [
        _set(path + "/" + UNKNOWN, None)
        for path in paths
        if path in ("/proc", "/sys") or (path + "/").startswith(_BELOW)
    ]


def _set(path: str, value: Optional[str]) -> Effect:
    path = "/" + path if ("/" + path).startswith(_BELOW) else path
    return Effect(SET, os.path.normpath(path), value, (), None)


class _SysctlCall(NamedTuple):
    """The arguments of sysctl. ``loads``: it reads ``files`` and ``names`` as files."""

    names: List[str]
    files: List[str]
    loads: bool
    system: bool
    pattern: Optional[str]


def _sysctl_call(arguments: List[str]) -> Optional[_SysctlCall]:
    """None: it only prints."""
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
            return None
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
    return _SysctlCall(names, files, loads, system, pattern)


def _of_sysctl(arguments: List[str]) -> List[Effect]:
    """sysctl of procps; with --load every other argument is a file."""
    call = _sysctl_call(arguments)
    if call is None:
        return []
    if call.system:
        return [Effect(LOAD, "", None, (PROCPS,), call.pattern)]
    if call.loads:
        paths = call.files + call.names
        if any(UNKNOWN in path or path.startswith(("/dev/", "/proc/")) for path in paths):
            return [_set("/proc/sys/" + UNKNOWN, None)]
        return [Effect(LOAD, "", None, tuple(paths or [_SYSCTL_CONF]), call.pattern)]
    return _of_keys(call.names, "-n" in arguments)


def _of_keys(names: List[str], only_values: bool) -> List[Effect]:
    """What ``KEY=VALUE`` and ``KEY`` set; a key that only the shell knows may hold a value."""
    result = []
    for name in names:
        key, equals, value = name.partition("=")
        if equals:
            target = "/proc/sys/" + sysctl_d.normalize(key.strip())
            result.append(_set(target, None if UNKNOWN in value else value.strip()))
        elif UNKNOWN in name and not only_values:
            result.append(_set("/proc/sys/" + sysctl_d.normalize(key), None))
    return result


def _of_systemd_sysctl(arguments: List[str]) -> List[Effect]:
    files = tuple(word for word in arguments if not word.startswith("-"))
    return [Effect(LOAD, "", None, files or (SYSTEMD,), _of_prefixes(arguments))]


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


#: The programs whose arguments alone tell the effects.
_BY_ARGUMENTS: Dict[str, Callable[[List[str]], List[Effect]]] = {
    "sysctl": _of_sysctl,
    "systemd-sysctl": _of_systemd_sysctl,
    "hugeadm": _of_hugeadm,
    "cd": _of_directories,
    "pushd": _of_directories,
}
