# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a login of an account reads, in their order, and the umask that it ends with.

Sources: bash(1), INVOCATION; ksh93(1), Invocation; /etc/profile of Red Hat, SUSE and Debian.
"""

import fnmatch
import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer
from ...errors import Absent, HostproofError, Unanswered
from .parsers.shell_profile import COMPUTED, MORE, PRINT, SOURCE, UMASK, Settings, Step

PROFILE = "/etc/profile"
PROFILE_D = "/etc/profile.d"
BASHRC = "/etc/bash.bashrc"
#: A login of bash reads the first of these that exists, one of the other shells only the last.
LOGIN_FILES = (".bash_profile", ".bash_login", ".profile")
PROFILE_ONLY = ("", "sh", "dash", "ksh", "ksh93", "mksh")
KSH = ("ksh", "ksh93", "mksh")
NOT_READ = ("csh", "tcsh", "zsh", "fish")
#: Files of distributions that set no umask and print nothing: those that start files of an account
#: read, and those that other files of packages read.
_OF_PACKAGES = re.compile(r"/usr/share/|/etc/(?:locale\.conf|os-release|bash_completion)|/proc/")
_AMONG_PACKAGES = re.compile(_OF_PACKAGES.pattern + r"|/usr/lib(?:64)?/|/etc/sysconfig/")
_DEEPEST = 6
#: Files that read each other many times would keep the check busy without an end.
_MOST_READS = 1000


class Start(NamedTuple):
    """The start files of one account. ``system`` and ``own`` are settings by path, ``listed`` the
    files of directories that they read, by directory."""

    home: str
    shell: str
    has_own_group: bool
    system: Dict[str, Answer[Settings]]
    own: Dict[str, Answer[Settings]]
    listed: Dict[str, Answer[Tuple[str, ...]]] = {}


class Login(NamedTuple):
    """``masks`` are the umasks that are possible at the end, each with its file; also that of
    before the files, unless ``is_set``. ``prints`` are commands with their file. ``unread`` is why
    a file was not read. ``mask_unknown`` is the same, unless a later file sets the umask."""

    files: Dict[str, Settings]
    masks: Tuple[Tuple[str, str], ...]
    prints: Tuple[Tuple[Step, str], ...]
    unread: Optional[HostproofError]
    mask_unknown: Optional[HostproofError]
    is_set: bool


def first_of(start: Start) -> str:
    """The file that a login of the account reads first, also where there is none yet."""
    names = LOGIN_FILES[-1:] if start.shell in PROFILE_ONLY else LOGIN_FILES
    paths = [f"{start.home.rstrip('/')}/{name}" for name in names]
    return next((path for path in paths if path in start.own), paths[0])


def of_login(start: Start) -> Login:
    walk = _Walk(start)
    walk.read(PROFILE)
    first = first_of(start)
    walk.read(first)
    named = [(path, one.env) for path, one in walk.result().files.items() if one.env]
    if start.shell in KSH and named:
        path, env = named[-1]
        walk.source(Step(SOURCE, env), path)
    return walk.result()


def of_command(start: Start) -> Login:
    """A command over ssh: bash reads .bashrc, and on Debian and SUSE a file of the system before
    it."""
    walk = _Walk(start)
    walk.read(BASHRC)
    walk.read(f"{start.home.rstrip('/')}/.bashrc")
    return walk.result()


def place_of(value: str, home: str) -> str:
    return home.rstrip("/") + value[1:] if value.startswith("~/") else value


def of_package(path: str, parent: str) -> bool:
    """Whether a file that ``parent`` reads is one of the distribution."""
    known_ones = _AMONG_PACKAGES if parent.startswith("/etc/") else _OF_PACKAGES
    return known_ones.match(path) is not None and "/../" not in path


class _Walk:
    """Reads the files in the order of the shell."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._files: Dict[str, Settings] = {}
        self._masks: List[Tuple[str, str]] = []
        self._prints: List[Tuple[Step, str]] = []
        self._unread: Optional[HostproofError] = None
        self._mask_unknown: Optional[HostproofError] = None
        self._open: List[str] = []
        self._reads = 0
        self._is_set = False

    def result(self) -> Login:
        masks, prints = tuple(self._masks), tuple(self._prints)
        return Login(self._files, masks, prints, self._unread, self._mask_unknown, self._is_set)

    def _not_read(self, why: HostproofError) -> None:
        self._unread = self._mask_unknown = why

    def read(self, path: str, is_quiet: bool = False, is_sure: bool = True) -> None:
        start = self._start
        answer = start.system.get(path, start.own.get(path))
        if answer is None or isinstance(answer, Absent):
            return
        if isinstance(answer, HostproofError):
            self._not_read(answer)
            return
        if path in self._open:
            self._read_again(path)
            return
        if len(self._open) >= _DEEPEST:
            why = f"{path} is read by a file that others read, more than {_DEEPEST} deep"
            self._not_read(Unanswered(key_of(path), why))
            return
        self._reads += 1
        if self._reads > _MOST_READS:
            why = f"start files read other files more than {_MOST_READS} times"
            self._not_read(Unanswered(key_of(path), why))
            return
        self._open.append(path)
        self._files[path] = answer
        self._run(path, answer, is_quiet, is_sure)
        self._open.pop()

    def _read_again(self, path: str) -> None:
        """A file that reads itself, as those of SUSE under a condition: what it prints and sets is
        known, but not which umask is the last."""
        within = self._open[self._open.index(path) :]
        if any(step.kind == UMASK for name in within for step in self._files[name].steps):
            self._mask_unknown = Unanswered(key_of(path), f"{path} is read by itself")

    def _run(self, path: str, settings: Settings, is_quiet: bool, is_sure: bool) -> None:
        is_stock = _is_stock(settings) and not self._start.has_own_group
        was_left_out = False
        for step in [*settings.steps, *self._unseen(path, settings)]:
            sure = is_sure and (step.is_sure or was_left_out)
            if step.kind == SOURCE:
                self.source(step._replace(is_sure=sure), path, is_quiet)
            elif step.kind == MORE:
                self._not_read(Unanswered(key_of(path), f"{path} is too long"))
            elif step.kind == PRINT and not is_quiet:
                self._prints.append((step._replace(is_sure=sure), path))
            elif step.kind == UMASK and is_stock and step.value.zfill(3) == "002":
                was_left_out = step.is_sure
            elif step.kind == UMASK:
                was_left_out = False
                if sure:
                    self._is_set, self._mask_unknown = True, None
                    self._masks = []
                # One under a condition may run, so both are possible.
                self._masks.append((step.value, path))

    def _unseen(self, path: str, settings: Settings) -> List[Step]:
        """The files that stock start files read, if a recording does not show them."""
        if settings.is_whole and any(step.kind == SOURCE for step in settings.steps):
            return []
        if path == PROFILE:
            return [Step(SOURCE, f"{PROFILE_D}/*.sh")]
        if not settings.is_whole and path.endswith(LOGIN_FILES):
            return [Step(SOURCE, "~/.bashrc")]
        return []

    def source(self, step: Step, path: str, is_quiet: bool = False) -> None:
        if step.value == COMPUTED:
            # Files of packages read others of the package.
            if not path.startswith("/etc/"):
                self._not_read(
                    Unanswered(key_of(path), f"{path} reads a file whose name only the shell knows")
                )
            return
        for target in self._targets(place_of(step.value, self._start.home)):
            self.read(target, is_quiet or step.is_quiet, step.is_sure)

    def _targets(self, place: str) -> Iterable[str]:
        if "*" not in place and "?" not in place:
            return [place]
        folder = place.rpartition("/")[0]
        if "*" in folder or "?" in folder:
            self._not_read(Unanswered(key_of(place), f"the files of {place} are not read"))
        known_ones = [*self._start.system, *self._start.own]
        listed = self._start.listed.get(folder, ())
        if isinstance(listed, HostproofError) and not isinstance(listed, Absent):
            self._not_read(listed)
        return [
            one
            for one in known_ones
            if one.rpartition("/")[0] == folder and fnmatch.fnmatchcase(one, place)
        ]


def _is_stock(settings: Settings) -> bool:
    """Files of Red Hat: 002 is for a primary group that has the name of the account."""
    return {"002", "022"} <= {step.value.zfill(3) for step in settings.steps if step.kind == UMASK}


def key_of(path: str) -> str:
    return "file:" + path if path.startswith("/etc/") else "command:cat " + path


def sourced(files: Dict[str, Answer[Settings]]) -> List[Tuple[str, str]]:
    """(path that is read, file that reads it), without those that only the shell knows."""
    return [
        (value, path)
        for path, answer in files.items()
        if isinstance(answer, Settings)
        for value in (*(step.value for step in answer.steps if step.kind == SOURCE), answer.env)
        if value not in ("", COMPUTED)
    ]
