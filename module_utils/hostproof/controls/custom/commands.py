# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that a check of a site may run without hostproof_own_commands.

Each of them only reads: no accepted argument writes a file, changes a setting, opens a device,
starts another program or prints a database of secrets. Files are read by the source ``file``, which
checks who can change their path. Options are those of the manuals that only choose what is printed.

Sources: findmnt(8), df(1), getconf(1), getent(1), id(1), groups(1), ipcs(1), lsblk(8), lscpu(1),
lspci(8), modinfo(8), numastat(8), uname(1), uptime(1), nproc(1), sestatus(8), lsmod(8).
"""

import re
from typing import Dict, FrozenSet, NamedTuple, Optional, Sequence, Tuple


class _Program(NamedTuple):
    """``letters`` are options of one letter without a value, ``words`` long options, ``valued``
    options with a value (-o NAME, --output=NAME). ``names`` is what other arguments must match."""

    letters: str = ""
    words: FrozenSet[str] = frozenset()
    valued: FrozenSet[str] = frozenset()
    names: Optional[str] = None


def _words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


#: A column, a kind, an account, a module: never a path.
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.,+:%@-]*"
#: A mount point, whose file system the kernel answers for; no link below it is opened.
_PLACE = r"/(?:[\w+@-][\w.+@-]*/?)*"
#: Databases of getent that hold no passwords and no keys.
_DATABASES = (
    r"(?:ahosts|ahostsv4|ahostsv6|group|hosts|initgroups|networks|passwd|protocols|rpc|services)"
)

_ANY: Dict[str, _Program] = {
    "df": _Program(
        "ahHiklPT",
        _words(
            "--all --human-readable --inodes --local --portability --si"
            " --print-type --total --no-sync"
        ),
        _words("-B --block-size -t --type -x --exclude-type --output"),
        f"{_PLACE}",
    ),
    "findmnt": _Program(
        "AabcDefiJklmnPrRuUv",
        _words(
            "--all --ascii --bytes --df --first-only --json"
            " --kernel --list --noheadings --notruncate --pairs --raw --submounts --uniq --real"
            " --pseudo --invert --evaluate --fstab --mtab"
        ),
        _words("-o --output -t --types -O --options -S --source -T --target -M --mountpoint"),
        f"(?:{_PLACE}|{_NAME})",
    ),
    "getconf": _Program("a", names=f"(?:{_NAME}|/)"),
    "getenforce": _Program(),
    "getent": _Program(names=f"(?:{_NAME})"),
    "groups": _Program(names=_NAME),
    "id": _Program(
        "aGgnruzZ", _words("--group --groups --name --real --user --zero --context"), names=_NAME
    ),
    "ipcs": _Program(
        "abclmpqstu",
        _words(
            "--shmems --queues --semaphores --all --limits --summary"
            " --time --pid --creator --bytes --human"
        ),
        _words("-i --id"),
        None,
    ),
    "lsblk": _Program(
        "abdDfiJlmMnNOpPrsStvxz",
        _words(
            "--all --ascii --bytes --discard --fs --inverse"
            " --json --list --nodeps --noheadings --output-all --pairs --paths --perms --raw --scsi"
            " --topology --nvme --virtio --zoned --merge"
        ),
        _words("-o --output -e --exclude -I --include -x --sort"),
        r"/dev(?:/[\w:@+-][\w:.@+-]*)+",
    ),
    "lscpu": _Program(
        "abcBJryx",
        _words(
            "--all --online --offline --json --bytes --physical --hex"
            " --raw --caches --extended --parse"
        ),
        _words("-C -e -p --caches --extended --parse"),
        None,
    ),
    "lsmod": _Program(),
    "lspci": _Program("bDknmPtv", valued=_words("-s -d")),
    "modinfo": _Program(
        "0adlnp",
        _words("--author --description --license --parameters --filename --null"),
        _words("-F --field"),
        r"[A-Za-z0-9_][A-Za-z0-9_-]*",
    ),
    "nproc": _Program("", _words("--all"), _words("--ignore")),
    "numastat": _Program("cmnvz"),
    "sestatus": _Program("bv"),
    "uname": _Program(
        "aimnoprsv",
        _words(
            "--all --kernel-name --nodename --kernel-release"
            " --kernel-version --machine --processor --hardware-platform --operating-system"
        ),
    ),
    "uptime": _Program("ps", _words("--pretty --since")),
}
#: Programs that read the file of a path: the account that can change the path chooses the file.
_READERS = frozenset(("cat", "head", "ls", "readlink", "stat", "tail", "wc"))
#: Beginnings of command lines. Only names without a leading dash may follow.
_BEGINNINGS: Tuple[Tuple[str, ...], ...] = (
    ("chronyc", "tracking"),
    ("chronyc", "sources"),
    ("dpkg-query", "-W"),
    ("ethtool", "-a"),
    ("ethtool", "-c"),
    ("ethtool", "-g"),
    ("ethtool", "-i"),
    ("ethtool", "-k"),
    ("ethtool", "-l"),
    ("ip", "addr", "show"),
    ("ip", "link", "show"),
    ("ip", "route", "show"),
    ("ip", "rule", "show"),
    ("rpm", "-q"),
    ("systemctl", "cat"),
    ("systemctl", "get-default"),
    ("systemctl", "is-active"),
    ("systemctl", "is-enabled"),
    ("systemctl", "is-failed"),
    ("systemctl", "show"),
    ("timedatectl", "show"),
    ("timedatectl", "status"),
    ("tuned-adm", "active"),
)
_BEHIND = re.compile(r"[A-Za-z0-9_*?][A-Za-z0-9_.:*?+@=,/\\-]*\Z")
_PERMIT = "set hostproof_own_commands to true to allow every command"


def refusal(argv: Sequence[str], as_root: bool = False) -> Optional[str]:
    """The reason why a command is not allowed, None if it is."""
    program = argv[0]
    if program in _READERS:
        return _of_reader(argv, as_root)
    if program in _ANY:
        wrong = _first_wrong(argv, _ANY[program])
        if wrong is not None:
            return (
                f"{' '.join(argv)!r}: {wrong!r} is not an argument that is known to read: {_PERMIT}"
            )
        return None
    beginnings = [beginning for beginning in _BEGINNINGS if beginning[0] == program]
    if not beginnings:
        return f"{program!r} is not one of the commands that need no permission: {_PERMIT}"
    for beginning in beginnings:
        rest = argv[len(beginning) :]
        is_one = tuple(argv[: len(beginning)]) == beginning
        if is_one and all(_BEHIND.match(word) and "/" not in word[:1] for word in rest):
            return None
    allowed = ", ".join(" ".join(beginning) for beginning in beginnings)
    return f"{' '.join(argv)!r} is none of {allowed} with names behind it: {_PERMIT}"


def _of_reader(argv: Sequence[str], as_root: bool) -> Optional[str]:
    if as_root:
        return (
            f"{argv[0]!r} reads a path that another account may choose: use file with a "
            f"pattern, leave out as_root, or {_PERMIT}"
        )
    for word in argv[1:]:
        if _OPTION_OF_READER.match(word) or _is_readable(word):
            continue
        return (
            f"{' '.join(argv)!r}: {word!r} is neither an option that only reads nor the path "
            f"of a file: {_PERMIT}"
        )
    return None


#: Number of lines or bytes; how a list looks. None follows a file (tail -f) or reads names of one.
_OPTION_OF_READER = re.compile(
    r"(?:-[AaBbcdeGghiklLmnoqrsStuvwxZz1]{1,8}\Z|-[nc]?[+-]?\d{1,7}\Z|[+]?\d{1,7}\Z"
    r"|--(?:lines|bytes|format|printf)=|%)"
)


def _is_readable(path: str) -> bool:
    """Whether it is an absolute path of a place that no device, pipe or process provides."""
    return (
        path.startswith("/")
        and "//" not in path
        and not {".", ".."} & {*path.split("/")}
        and re.match(
            r"/(?:dev|(?:var/)?run/initctl|proc/(?:\d|self|thread-self|kcore|kmsg|vmcore|acpi/event|sys/kernel/random"
            r"|sysrq-trigger|bus|scsi)|sys/kernel/(?:debug|tracing))(?:/|\Z|(?<=\d))",
            path,
        )
        is None
    )


def _first_wrong(argv: Sequence[str], program: _Program) -> Optional[str]:
    """The first argument that the program may not get."""
    waits = False
    seen = 0
    for word in argv[1:]:
        name, equals, value = word.partition("=")
        is_allowed = True
        if waits:
            waits, is_allowed = False, _is_value(word)
        elif word in program.valued:
            waits = True
        elif equals and name in program.valued:
            is_allowed = _is_value(value)
        elif word in program.words:
            continue
        elif re.match(r"-[A-Za-z0]+\Z", word):
            # The last of several letters may be one with a value: -dno NAME.
            waits = "-" + word[-1] in program.valued
            is_allowed = set(word[1:-1] if waits else word[1:]) <= set(program.letters)
        else:
            is_allowed = _is_name(word, program, argv[0] == "getent" and not seen)
            seen += 1
        if not is_allowed:
            return word
    return argv[-1] if waits else None


def _is_value(word: str) -> bool:
    return re.match(rf"(?:{_NAME}|{_PLACE})\Z", word) is not None


def _is_name(word: str, program: _Program, is_database: bool) -> bool:
    if program.names is None or not re.match(rf"(?:{program.names})\Z", word):
        return False
    return not is_database or re.match(rf"{_DATABASES}\Z", word) is not None
