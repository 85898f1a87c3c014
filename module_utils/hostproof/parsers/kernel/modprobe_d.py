# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""modprobe.d files: the parameters that modprobe gives a module, and what it runs instead.

Source: modprobe.d(5); kmod, kmod_config_parse() in libkmod/libkmod-config.c and
kmod_module_get_install_commands() in libkmod/libkmod-module.c; Linux, parse_args() in
kernel/params.c.
"""

from typing import Iterator, List, NamedTuple, Optional, Tuple

from .. import glob_pattern
from ..systemd import conf_d
from . import kernel_cmdline

#: The directories that modprobe reads, the one that masks the others first.
DIRECTORIES = conf_d.directories("modprobe.d")

_COMMANDS = ("alias", "blacklist", "install", "options", "remove", "softdep", "weakdep", "config")


class Option(NamedTuple):
    """A parameter of one ``options`` line. value is None where there is no "="."""

    module: str
    name: str
    value: Optional[str]
    path: str
    line: int


class Install(NamedTuple):
    """A command that modprobe runs instead of loading the module (a glob(7) pattern)."""

    module: str
    command: str
    path: str
    line: int


class Parsed(NamedTuple):
    """bad_lines are not commands of modprobe.d, or lack what they need: modprobe skips them.

    ``blacklist`` are lines of that name, without a command."""

    options: List[Option]
    installs: List[Install]
    bad_lines: List[int]
    blacklist: List[Install]


class Resolution(NamedTuple):
    """Which line gives the parameter; losers are in the order in which they are read."""

    winner: Optional[Option]
    losers: List[Option]


def parse(text: str, path: str) -> Parsed:
    """Every options and install line of a file. An empty file masks one of the same name."""
    parsed = Parsed([], [], [], [])
    for number, line in _lines(text):
        words = line.split(None, 2)
        if words[0] not in _COMMANDS or len(words) < 2:
            parsed.bad_lines.append(number)
        elif words[0] == "install" and len(words) == 3:
            parsed.installs.append(Install(_normal(words[1]), words[2].rstrip(), path, number))
        elif words[0] == "options" and len(words) == 3:
            parsed.options.extend(
                Option(_normal(words[1]), _normal(name), value, path, number)
                for name, value in kernel_cmdline.parse(words[2])
            )
        elif words[0] == "blacklist":
            parsed.blacklist.append(Install(_normal(words[1]), "", path, number))
        elif words[0] in ("install", "options"):
            parsed.bad_lines.append(number)
    return parsed


def resolve(options: List[Option], module: str, name: str) -> Resolution:
    """Which line gives a parameter; ``options`` are in the order of reading.

    modprobe hands all of them to the kernel, and the last one wins there.
    """
    matching = [
        option
        for option in options
        if option.module == _normal(module) and option.name == _normal(name)
    ]
    return Resolution(matching[-1] if matching else None, matching[:-1])


def install(installs: List[Install], module: str) -> Optional[Install]:
    """The command that replaces the load of a module: the first that is read counts."""
    for entry in installs:
        if glob_pattern.fits(_normal(module), entry.module):
            return entry
    return None


def _normal(name: str) -> str:
    """modprobe and the kernel take "-" and "_" for the same letter."""
    return name.replace("-", "_")


def _lines(text: str) -> Iterator[Tuple[int, str]]:
    """Numbers and lines that hold a command; a backslash at the end joins the next line."""
    waiting, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if not waiting:
            first = number
        if line.endswith("\\"):
            waiting += line[:-1]
            continue
        whole, waiting = waiting + line, ""
        if whole.strip() and not whole.lstrip().startswith("#"):
            yield first, whole
    if waiting.strip() and not waiting.lstrip().startswith("#"):
        yield first, waiting
