# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof``: the group of commands. A command's module is imported when it is used.

Only click and the standard library are imported here, so that help starts quickly.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

#: Groups of help, each with an example; every command with the line that help shows of it. The
#: command ``a-b`` is in the module a_b.
GROUPS = {
    ("Look", "./hostproof audit -i inventories/mine --become"): {
        "audit": "run all checks, read-only (default: this machine)",
        "record": "write an evidence pack for each host to evidence/",
        "detect-storage": "identify storage systems over SNMP",
        "latency": "measure latency before and after a change",
        "report": "render, merge, query and export reports",
        "read": "read the output of a tool: iostat, ping, fio, AWR, CVU, ...",
        "import-results": "create a report of the results of CVU or ORAchk",
        "checks": "list all checks",
        "explain": "show rule, reason, fix, sources and variables of a check",
    },
    ("Change", "./hostproof apply -i inventories/mine --check --diff"): {
        "init": "create a policy from a running host",
        "apply": "configure hosts by the policy (--check --diff: plan only)",
        "verify": "check hosts again, for example after apply",
        "revert": "restore what apply changed, from the change journal",
        "waive": "accept a warning or failure until a date",
    },
    ("Compare", "./hostproof compare db01.example.com db02.example.com"): {
        "compare": "show the settings in which two hosts differ",
        "diff": "compare two reports: new, fixed, changed, missing",
        "history": "show trends: ready hosts, open failures, expiring waivers",
        "catalogue": "show what an update changes (catalogue diff OLD)",
    },
    ("Operate", "./hostproof schedule --on-calendar daily -- -i inventories/mine"): {
        "schedule": "audit at fixed times with a systemd timer",
        "notify": "send the new findings of the latest run (webhook, e-mail)",
        "prune": "delete old runs",
        "sign": "sign a report with an SSH key",
        "verify-report": "verify the signature of a report",
        "config": "print the effective settings and their origin",
        "completion": "print shell completion for bash, zsh or fish",
    },
    ("Develop", "./hostproof test --quick"): {
        "build-collection": "build the Ansible collection hostproof.hostproof",
        "test": "run the tests of Hostproof (--quick: no virtual machines)",
        "help": "show the help of a command",
    },
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

#: Names of release 0.1 with the names of today.
RENAMED = {
    "baseline": "latency baseline",
    "detect_storage": "detect-storage",
    "collection": "build-collection",
}

#: Options of release 0.1 with the names of today.
RENAMED_OPTIONS = {
    "--who": "--signer",
    "--signers": "--allowed-signers",
    "--values": "--all-changes",
    "--readable": "--world-readable",
}

#: Environment variables that the commands read.
VARIABLES = {
    "HOSTPROOF_REPORTS": "directory of the reports (reports/)",
    "HOSTPROOF_RECORDS": "directory of the evidence packs of record (evidence/)",
    "HOSTPROOF_BASELINES": "directory of the latency baselines (baselines/)",
    "HOSTPROOF_PYTHON": "Python 3.11 or newer that creates the virtualenv",
    "HOSTPROOF_VENV": "another virtualenv, relative to the checkout",
    "HOSTPROOF_REQUIREMENTS": "requirements file of that virtualenv",
    "HOSTPROOF_CONFIG": "project file (hostproof.yml of the working directory)",
    "HOSTPROOF_PROFILE": "default of the variable hostproof_profile",
    "HOSTPROOF_WAIVERS": "default of --waivers",
    "HOSTPROOF_CHECKS": "default of --checks",
    "HOSTPROOF_SKIP_CHECKS": "default of --skip-checks",
    "HOSTPROOF_SET": "default of --set",
    "HOSTPROOF_FAIL_ON": "default of --fail-on",
    "HOSTPROOF_STRICT": "default of --strict",
    "ANSIBLE_INVENTORY": "your hosts, if -i is not given",
    "NO_COLOR": "no colours on a terminal",
    "COLUMNS": "width of tables",
}

#: The shell sets this variable to request completions.
COMPLETE_VARIABLE = "_HOSTPROOF_COMPLETE"

_PROGRAM = "hostproof"

#: Commands that no setting concerns: they work with any project file.
_WITHOUT_PROJECT = ("help", "completion", "build-collection", "test")


class _Group(click.Group):
    """The commands of COMMANDS, each imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{cmd_name.replace('-', '_')}", __package__)
        command: click.Command = module.command
        summary = COMMANDS[cmd_name]
        command.short_help = summary
        command.help = command.help or f"{summary[0].upper()}{summary[1:]}."
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for (title, example), commands in GROUPS.items():
            with formatter.section(f"{title} (example: {example})"):
                formatter.write_dl([(name.ljust(widest), text) for name, text in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from .options import JUDGED

        formatter.write_paragraph()
        formatter.write_text(
            "./hostproof COMMAND --help lists the options of a command. Commands that contact "
            "hosts accept all options of ansible-playbook (-i, --limit, ...)."
        )
        with formatter.section("Exit codes of audit, verify, apply and latency compare"):
            formatter.write_dl([(str(code), meaning) for code, meaning in JUDGED.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As click does it, without an import of every command."""
        names = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name]) for name in names), *options]


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from importlib.metadata import version

    from ansible.module_utils.hostproof import VERSION

    python = ".".join(str(number) for number in sys.version_info[:3])
    click.echo(f"hostproof {VERSION} (ansible-core {version('ansible-core')}, Python {python})")
    ctx.exit()


@click.group(
    _PROGRAM,
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the versions and exit.",
)
def hostproof() -> None:
    """Configure hosts for Oracle databases and audit them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end a run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        return _complete(instruction)
    argv = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if argv[0] in ("-h", "--help") and len(argv) > 1:
        argv[0] = "help"
    try:
        environment = dict(os.environ)
        if not argv[0].startswith("-") and argv[0] not in _WITHOUT_PROJECT:
            from . import project_file

            project_file.apply(os.environ)
        # config shows the origin of a value, so it gets the variables before that.
        with hostproof.make_context(_PROGRAM, list(argv), obj=environment) as context:
            return int(hostproof.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return int(end.exit_code)
    except KeyboardInterrupt:
        from .errors import EXIT_INTERRUPTED

        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as problem:
        return _failed(problem, argv[0])


def _failed(problem: Exception, first: str) -> int:
    """Print one sentence about what the user can correct; everything else is raised."""
    from .errors import EXIT_USAGE, HostproofError, complain

    if isinstance(problem, click.ClickException):
        complain(_sentence(problem, first))
    elif isinstance(problem, HostproofError):
        complain(problem)
    else:
        raise problem
    return EXIT_USAGE


def _complete(instruction: str) -> int:
    """Answer the shell. Its user is typing, so a failure offers nothing and prints nothing."""
    from .completion import complete

    try:
        return complete(hostproof, COMPLETE_VARIABLE, instruction)
    except Exception:
        return 1


def _sentence(problem: click.ClickException, first: str) -> str:
    """The error on the command line, in one sentence that names the command.

    ``first`` is the first word of the command line: click does not always report the command.
    """
    context = getattr(problem, "ctx", None)
    words = context.command_path if context else first if first in COMMANDS else _PROGRAM
    name = words.removeprefix(f"{_PROGRAM} ")
    path = _PROGRAM if name == _PROGRAM else f"{_PROGRAM} {name}"
    help_command = f"./{path} --help"
    if isinstance(problem, click.NoSuchCommand):
        return _no_command(problem.command_name, context, name, help_command)
    if isinstance(problem, click.NoSuchOption):
        return _no_option(problem.option_name, context, name, help_command)
    if isinstance(problem, click.MissingParameter) and problem.param and context:
        return f"{name} needs {_described(problem.param, context)}"
    message = problem.format_message().rstrip(".")
    return f"{name}: {message[:1].lower()}{message[1:]}"


def _no_command(missing: str, context: click.Context | None, name: str, help_command: str) -> str:
    from .suggestions import did_you_mean, quoted

    what = quoted(missing)
    if context and context.command is not hostproof:
        what = f"{what} of {name}"
    elif missing in RENAMED:
        return f"the command {what} is now called {RENAMED[missing]}"
    group = context.command if context else hostproof
    known = COMMANDS if group is hostproof else getattr(group, "commands", ())
    hint = did_you_mean(missing, known)
    return f"there is no command {what}{hint or f'; {help_command} lists the commands'}"


def _no_option(option: str, context: click.Context | None, name: str, help_command: str) -> str:
    from .suggestions import did_you_mean, quoted

    new_name = RENAMED_OPTIONS.get(option)
    if context and new_name in _option_names(context.command.params):
        return f"{name}: the option {option} is now called {new_name}"
    sentence = f"{name} has no option {quoted(option)}"
    others = _commands_with(option)
    if others:
        return f"{sentence}; it is an option of {' and '.join(others)}"
    known = _option_names(context.command.get_params(context)) if context else []
    return sentence + (did_you_mean(option, known) or f"; {help_command} lists them")


def _described(param: click.Parameter, context: click.Context) -> str:
    """``--key FILE (SSH private key)``."""
    value = param.make_metavar(context)
    name = f"{param.opts[-1]} {value}" if isinstance(param, click.Option) else value
    text = getattr(param, "help", None)
    return f"{name} ({text})" if text else name


def _option_names(params: Sequence[click.Parameter]) -> list[str]:
    return [name for param in params for name in param.opts if name.startswith("--")]


def _commands_with(option: str) -> list[str]:
    """The commands that have a separate option with this name."""
    return [
        name for name, command in every_command().items() if option in _option_names(command.params)
    ]


def every_command() -> dict[str, click.Command]:
    """The commands with those of groups (``latency baseline``), in the order of help."""
    context = click.Context(hostproof)
    commands: dict[str, click.Command] = {}
    for name in COMMANDS:
        command: Any = hostproof.get_command(context, name)
        commands[name] = command
        for inner in getattr(command, "commands", {}).values():
            commands[f"{name} {inner.name}"] = inner
    return commands
