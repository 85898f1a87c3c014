# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the commands share: their classes, types of values, common options and exit codes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from .names import CheckIds, ProfileName, SetName

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

FILE = click.Path(exists=True, dir_okay=False)
DIRECTORY = click.Path(exists=True, file_okay=False)
PATH = click.Path(exists=True)
NEW_FILE = click.Path(dir_okay=False)
#: A directory that the command makes; whether it may exist is the command's to say.
NEW_DIRECTORY = click.Path()

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}

#: Exit codes of commands whose report decides.
JUDGED = {
    0: "no failure",
    1: "usage or setup error",
    2: "a check or a change failed",
    3: "no failure, but a check could not be determined",
    4: "no failure, but a host was unreachable",
    5: "no failure, but a host is not a database host",
    130: "interrupted",
}
#: Exit codes of commands that end as ansible-playbook ends.
ANSIBLE = {
    0: "success",
    1: "usage or setup error",
    2: "a host failed",
    4: "a host was unreachable",
    130: "interrupted",
}
DONE = {0: "success", 1: "failed; see the message"}


class Command(click.Command):
    """A command whose help ends with its exit codes."""

    def __init__(self, *args: Any, exits: dict[int, str] = DONE, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.exits = exits

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reject an option as the value of an option: ``-e --check`` must not lose --check."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        names = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        arguments = self.make_parser(ctx).parse_args(list(args))[0]
        for option in options:
            if ctx.resilient_parsing or option.name not in arguments:
                continue
            values = arguments[option.name]
            for value in values if isinstance(values, list) else [values]:
                if isinstance(value, str) and value in names:
                    name = option.opts[-1]
                    message = f"option '{name}' requires an argument, and {value} is an option"
                    raise click.BadOptionUsage(name, message, ctx)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        from .examples import OF_COMMANDS

        words = ctx.command_path.partition(" ")[2]
        if words in OF_COMMANDS:
            with formatter.section("Example"):
                formatter.write_text(f"./hostproof {OF_COMMANDS[words]}")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in self.exits.items()])


class HostCommand(Command):
    """A command that contacts hosts: it accepts all options of ansible-playbook.

    Its function gets them as ``ansible``, an ansible_options.AnsibleOptions.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        from .ansible_options import click_options

        return [*super().get_params(ctx), *click_options()]

    def invoke(self, ctx: click.Context) -> object:
        from .ansible_options import AnsibleOptions

        ctx.params["ansible"] = AnsibleOptions.taken_from(ctx.params)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options of Hostproof, then those of Ansible that most runs need."""
        from .ansible_options import COMMON, click_options

        common = [option for option in click_options() if option.name in COMMON]
        own = [
            option
            for option in super().get_params(ctx)
            if isinstance(option, click.Option) and not option.hidden
        ]
        for title, options in (("Options", own), ("Options of ansible-playbook", common)):
            records = [option.get_help_record(ctx) for option in options]
            with formatter.section(title):
                formatter.write_dl([record for record in records if record])
        formatter.write_paragraph()
        formatter.write_text("All other options of ansible-playbook are accepted as well.")


def command(
    name: str,
    *,
    exits: dict[int, str] = DONE,
    hosts: bool = False,
    cls: type[Command] | None = None,
    **attributes: Any,
) -> Callable[[Callable[..., object]], Command]:
    """Decorator of a command's function, which returns the exit code. ``hosts``: a HostCommand."""
    kind = cls or (HostCommand if hosts else Command)
    attributes.setdefault("context_settings", HELP_OPTIONS)
    return click.command(name, cls=kind, exits=exits, **attributes)


def format_option(
    *formats: str, text: str = "output format", default: str | None = "text"
) -> Callable[[_Decorated], _Decorated]:
    kind = click.Choice(formats)
    return click.option("--format", "output_format", type=kind, default=default, help=text)


def _use_colors(_ctx: click.Context, _param: click.Parameter, value: str) -> None:
    """Set the variables that rich and Ansible read, here and in the processes of this run."""
    if value == "never":
        os.environ.update(NO_COLOR="1", ANSIBLE_NOCOLOR="1")
    elif value == "always":
        os.environ.pop("NO_COLOR", None)
        os.environ.update(FORCE_COLOR="1", ANSIBLE_FORCE_COLOR="1")


def color_option(function: _Decorated) -> _Decorated:
    return click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        expose_value=False,
        callback=_use_colors,
        help="colours: auto is on a terminal, without the variable NO_COLOR",
    )(function)


def with_terminal(function: _Decorated) -> _Decorated:
    """The options that decide what the summary shows and which failures decide the exit code."""
    severities = click.Choice(("critical", "high", "medium", "low"))
    for option in (
        color_option,
        click.option("--quiet", is_flag=True, help="do not print the summary"),
        click.option(
            "--fail-on",
            type=severities,
            envvar="HOSTPROOF_FAIL_ON",
            help="exit with 2 only for failures of this severity or above",
        ),
        click.option(
            "--severity", type=severities, help="print only findings of this severity or above"
        ),
    ):
        function = option(function)
    return function


def with_selection(function: _Decorated) -> _Decorated:
    """The options that choose checks."""
    for name, text in (
        ("--set", "run only the checks of this set: preinstall, prepatch, upgrade, quarterly"),
        ("--skip-checks", "leave out these checks or controls"),
        ("--checks", "run only these checks or controls (comma-separated, * as wildcard)"),
    ):
        metavar = "NAME" if name == "--set" else "ID[,ID]"
        variable = "HOSTPROOF_" + name.strip("-").replace("-", "_").upper()
        kind = SetName() if name == "--set" else CheckIds()
        option = click.option(
            name, metavar=metavar, envvar=variable, multiple=True, type=kind, help=text
        )
        function = option(function)
    return function


def with_profile(function: _Decorated) -> _Decorated:
    """--profile: the variable hostproof_profile. It overrides the inventory, as -e does."""
    return click.option(
        "--profile",
        metavar="NAME",
        type=ProfileName(),
        help="what the hosts are for, for example oracle_19c_single (docs/selection.md)",
    )(function)


def own_checks_option(function: _Decorated) -> _Decorated:
    """-i: the inventories whose checks.d is read as well."""
    return click.option(
        "-i",
        "--inventory",
        "inventories",
        metavar="INVENTORY",
        multiple=True,
        type=PATH,
        help="include your own checks from the checks.d of this inventory",
    )(function)


def with_verdict(function: _Decorated) -> _Decorated:
    """The options of every command that ends with a verdict or could."""
    for option in (
        click.option(
            "--strict", is_flag=True, envvar="HOSTPROOF_STRICT", help="treat warnings as failures"
        ),
        click.option(
            "--waivers",
            metavar="FILE",
            type=FILE,
            envvar="HOSTPROOF_WAIVERS",
            help="apply the waivers in this YAML file",
        ),
    ):
        function = option(function)
    return function
