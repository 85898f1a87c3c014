# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of ansible-playbook, read from the parser of the installed ansible-core.

Importing that parser takes about 0.3 s, so only commands that contact hosts import this module.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
from collections.abc import Iterable
from functools import cache
from typing import Any, NoReturn

import click

from .environment import ROOT
from .errors import Refused
from .names import ControlName

_PREFIX = "ansible_"
_HELP = "help"

#: Options (by Ansible's destination) that help shows; the others are accepted as well.
COMMON = {
    _PREFIX + destination
    for destination in (
        *("inventory", "subset", "tags", "skip_tags", "extra_vars", "check", "diff"),
        *("become", "become_ask_pass", "forks", "verbosity"),
    )
}

#: With one of these, ansible-playbook lists something and has no effect.
LIST_ONLY = ("version", "syntax", "listhosts", "listtasks", "listtags")

#: Destinations whose value is a path.
_FILES = (
    "private_key_file",
    "connection_password_file",
    "become_password_file",
    "vault_password_files",
)


class AnsibleOptions:
    """Values of ansible-playbook's options by Ansible's destinations (``subset`` is --limit).

    A flag has the number of times that it was given, any other option a tuple of its values.
    """

    def __init__(self, values: dict[str, Any] | None = None) -> None:
        self._values = values or {}

    @classmethod
    def taken_from(cls, params: dict[str, Any]) -> AnsibleOptions:
        """Take the options of Ansible out of the parameters of a command."""
        names = [name for name in params if name.startswith(_PREFIX)]
        return cls({name.removeprefix(_PREFIX): params.pop(name) for name in names})

    def has(self, *destinations: str) -> bool:
        return any(self._values.get(destination) for destination in destinations)

    def all(self, destination: str) -> tuple[str, ...]:
        """Every value of an option, in the order of the command line."""
        return tuple(map(str, self._values.get(destination, ())))

    def last(self, destination: str) -> str | None:
        """The value that counts where an option counts once."""
        return (self.all(destination) or (None,))[-1]

    def replaced(self, **values: tuple[str, ...]) -> AnsibleOptions:
        return AnsibleOptions({**self._values, **values})

    def words(self) -> list[str]:
        """The options as ansible-playbook gets them. ``--name=value``: a value may be ``-x``."""
        return [word for action in _actions() for word in self._words_of(action)]

    def words_for_any_directory(self, leave_out: Iterable[str]) -> list[str]:
        """The same with absolute paths, without some options and without files of variables."""
        values = {
            destination: tuple(_absolute(destination, str(value)) for value in setting)
            if isinstance(setting, tuple)
            else setting
            for destination, setting in self._values.items()
            if destination not in leave_out
        }
        values["extra_vars"] = [
            value for value in self.all("extra_vars") if not value.startswith("@")
        ]
        return AnsibleOptions(values).words()

    def _words_of(self, action: argparse.Action) -> list[str]:
        setting = self._values.get(action.dest)
        if not setting:
            return []
        if action.nargs == 0:
            return [action.option_strings[0]] * int(setting)
        long = next(name for name in action.option_strings if name.startswith("--"))
        return [f"{long}={value}" for value in setting]

    def refuse_errors(self) -> None:
        """Refused where Ansible's own parser rejects the options, with its message."""
        if self.has("version"):
            return
        from ansible.errors import AnsibleError

        playbook = _playbook_cli()
        try:
            playbook.post_process_args(playbook.parser.parse_args([*self.words(), "playbook.yml"]))
        except AnsibleError as problem:
            raise Refused(f"ansible-playbook: {problem}") from None
        finally:
            # The parser sets it for the whole process, and what runs here stays quiet.
            from ansible.utils.display import Display

            Display().verbosity = 0


@cache
def click_options() -> tuple[click.Option, ...]:
    """Ansible's options for click. Ansible's parser checks the values."""
    return tuple(_click_option(action) for action in _actions())


def _click_option(action: argparse.Action) -> click.Option:
    names = [*action.option_strings, _PREFIX + action.dest]
    text = (action.help or "").replace("%%", "%")
    if action.nargs == 0:
        return click.Option(names, count=True, help=text)
    kinds: dict[str, click.ParamType] = {
        "tags": ControlName(),
        "skip_tags": ControlName(),
        "inventory": click.Path(),
        # Ansible's own message about these does not say what is expected.
        "forks": click.IntRange(min=1),
        "timeout": click.INT,
        **dict.fromkeys(_FILES, click.Path()),
    }
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    kind = kinds.get(action.dest, click.STRING)
    return click.Option(names, multiple=True, type=kind, metavar=metavar, help=text)


def path_values(option: click.Parameter, value: object) -> list[str]:
    """The paths in the value of an option of a command, relative ones too."""
    values = value if isinstance(value, (tuple, list)) else (value,)
    words = [str(word) for word in values if word]
    name = (option.name or "").removeprefix(_PREFIX)
    if name == "extra_vars":
        return [word[1:] for word in words if word.startswith("@")]
    if name == "inventory":
        return [part for word in words for part in word.split(",") if part]
    if name == "vault_ids":
        return [word.rpartition("@")[2] for word in words]
    if name == "module_path":
        return [part for word in words for part in word.split(os.pathsep)]
    return words if isinstance(option.type, click.Path) else []


def _actions() -> list[argparse.Action]:
    parser = _playbook_cli().parser
    return [action for action in parser._actions if action.option_strings and action.dest != _HELP]


@cache
def _playbook_cli() -> Any:
    """Ansible's command with its parser, whose errors are Refused."""
    # Ansible reads its settings with the first import: those of this run.
    os.environ["ANSIBLE_CONFIG"] = str(ROOT / "ansible.cfg")
    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed):
            from ansible.cli.playbook import PlaybookCLI
    except SystemExit as problem:
        # A locale that is not UTF-8, or a variable with a value that Ansible does not take.
        lines = [*printed.getvalue().splitlines(), str(problem.code)]
        raise Refused(f"Ansible cannot start: {lines[0].removeprefix('ERROR: ')}") from None
    playbook = PlaybookCLI(["ansible-playbook"])
    playbook.init_parser()
    playbook.parser.error = _refuse
    return playbook


def _refuse(message: str) -> NoReturn:
    raise Refused(f"ansible-playbook: {message}")


def _absolute(destination: str, value: str) -> str:
    if destination == "vault_ids" and "@" in value:
        label, _, path = value.rpartition("@")
        return value if path.startswith("prompt") else f"{label}@{os.path.abspath(path)}"
    if destination == "module_path":
        return os.pathsep.join(map(os.path.abspath, value.split(os.pathsep)))
    return os.path.abspath(value) if destination in _FILES else value
