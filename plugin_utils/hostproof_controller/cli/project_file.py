# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The project file ``hostproof.yml`` of the working directory: defaults of the command line.

The command line overrides an environment variable, and that overrides the file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

from .errors import Refused
from .suggestions import did_you_mean, quoted

NAME = "hostproof.yml"
#: Names another project file.
VARIABLE = "HOSTPROOF_CONFIG"

PATHS, WORDS, TEXT, FLAG = "path", "list of words", "text", "true or false"


class Key(NamedTuple):
    """A key of the file. ``variable`` is the environment variable of the same meaning, ``option``
    the option of the command line."""

    kind: str
    variable: str
    option: str
    default: str
    meaning: str


KEYS = {
    "inventory": Key(PATHS, "ANSIBLE_INVENTORY", "-i", "inventories/local", "the hosts"),
    "profile": Key(TEXT, "HOSTPROOF_PROFILE", "--profile", "none", "what the hosts are for"),
    "waivers": Key(PATHS, "HOSTPROOF_WAIVERS", "--waivers", "", "the waiver file"),
    "reports": Key(PATHS, "HOSTPROOF_REPORTS", "", "reports", "directory of the reports"),
    "checks": Key(WORDS, "HOSTPROOF_CHECKS", "--checks", "", "run only these checks"),
    "skip_checks": Key(WORDS, "HOSTPROOF_SKIP_CHECKS", "--skip-checks", "", "leave out checks"),
    "set": Key(WORDS, "HOSTPROOF_SET", "--set", "", "run only the checks of these sets"),
    "fail_on": Key(
        TEXT, "HOSTPROOF_FAIL_ON", "--fail-on", "low", "severity that decides the exit code"
    ),
    "strict": Key(FLAG, "HOSTPROOF_STRICT", "--strict", "false", "treat warnings as failures"),
}


class Setting(NamedTuple):
    """A value that counts, as an environment variable has it, and where it is from."""

    value: str
    origin: str


def apply(variables: MutableMapping[str, str]) -> None:
    """Set the environment variables of the project file that are not set yet."""
    path = path_of(variables)
    if path is None:
        return
    for key, value in read(path).items():
        variables.setdefault(KEYS[key].variable, value)


def effective(variables: Mapping[str, str]) -> dict[str, Setting]:
    """Each key with its value and its origin: the environment, the file, or the default."""
    path = path_of(variables)
    of_file = {} if path is None else read(path)
    settings = {}
    for name, key in KEYS.items():
        if variables.get(key.variable):
            settings[name] = Setting(variables[key.variable], f"environment {key.variable}")
        elif name in of_file:
            settings[name] = Setting(of_file[name], str(path))
        else:
            settings[name] = Setting(key.default, "default")
    return settings


def path_of(variables: Mapping[str, str]) -> Path | None:
    """The project file; Refused where the variable names a file that does not exist."""
    named = variables.get(VARIABLE)
    path = Path(named or NAME)
    if path.is_file():
        return path.absolute()
    if named:
        raise Refused(f"{VARIABLE}: there is no file {path}")
    return None


def read(path: Path) -> dict[str, str]:
    """The values of the file as environment variables have them; paths are absolute.

    Refused for a file that another account can change: it decides which hosts are contacted.
    """
    _refuse_foreign(path)
    from ansible.module_utils.hostproof.errors import HostproofError

    from .. import bounded_yaml

    try:
        content = bounded_yaml.load(str(path))
    except HostproofError as problem:
        raise Refused(str(problem)) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise Refused(f"{path}: must be a dictionary of {', '.join(KEYS)}")
    for name in content:
        if name not in KEYS:
            hint = did_you_mean(str(name), KEYS) or f"; there are {', '.join(KEYS)}"
            raise Refused(f"{path}: there is no key {quoted(str(name))}{hint}")
    return {name: _as_variable(path, name, value) for name, value in content.items()}


def _refuse_foreign(path: Path) -> None:
    """Refused where another account can change the file, a directory above it or a link to it."""
    real = path.resolve()
    for place in _places(path):
        state = place.lstat()
        if state.st_uid not in (0, os.geteuid()):
            raise Refused(f"{place} belongs to another account: {path.name} is not used")
        # The private group of an account has no other member.
        is_private = state.st_gid in (0, os.getegid())
        others = stat.S_IWOTH if is_private else stat.S_IWGRP | stat.S_IWOTH
        # A link has no mode. In a directory such as /tmp only the owner replaces an entry.
        is_sticky = stat.S_ISDIR(state.st_mode) and state.st_mode & stat.S_ISVTX
        is_safe = stat.S_ISLNK(state.st_mode) or (is_sticky and place != real.parent)
        if state.st_mode & others and not is_safe:
            advice = f"chmod go-w {path}" if place == real else "move the file"
            raise Refused(f"other accounts can change {place}: {path.name} is not used; {advice}")


def _places(path: Path) -> list[Path]:
    """The file, what its links lead to, and every directory above them."""
    places: dict[Path, None] = {}
    waiting = [path.absolute(), path.resolve()]
    while waiting:
        place = waiting.pop(0)
        for each in (place, *place.parents):
            if each not in places:
                places[each] = None
                if each.is_symlink():
                    target = Path(os.path.normpath(each.parent / os.readlink(each)))
                    waiting.append(target)
    return list(places)


def _as_variable(path: Path, name: str, value: Any) -> str:
    kind = KEYS[name].kind
    if kind == FLAG and isinstance(value, bool):
        return "true" if value else "false"
    if kind == TEXT and isinstance(value, str):
        return value
    words = [value] if isinstance(value, str) else value
    is_list = isinstance(words, list) and all(isinstance(word, str) for word in words)
    if kind not in (WORDS, PATHS) or not is_list:
        raise Refused(f"{path}: {name} must be a {kind}, not {quoted(str(value))}")
    if kind == WORDS:
        return ",".join(words)
    return ",".join(_absolute(path.parent, word) for word in words)


def _absolute(folder: Path, value: str) -> str:
    """A path relative to the file; a list of hosts ("db01,db02") stays."""
    return value if "," in value else str(folder / value)
