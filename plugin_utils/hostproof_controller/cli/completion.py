# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Completion for bash, zsh and fish, made from the table of verbs.

Checks and controls are read from the checkout when they are completed, so that no list is old.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from .command import Given
from .verbs import CHECK, CONTROL, FILE, FOLDER, VERBS, Argument, Option, Verb

ROOT = Path(__file__).resolve().parents[3]
_MADE = "Made from the table of verbs: python -m hostproof_controller.cli.pages"
_CHECKS = (
    "sed -n 's/^### \\([a-z0-9_]*\\.[a-z0-9_]*\\)$/\\1/p' \"$root\"/docs/controls/*.md 2>/dev/null"
)
_CONTROLS = 'ls "$root/roles" 2>/dev/null'


def run(given: Given) -> int:
    """``./hostproof completion SHELL``."""
    path, _ = COMPLETION[given["shell"][0]]
    print((ROOT / path).read_text(encoding="utf-8"), end="")
    return 0


def _options(verb: Verb) -> list[Option]:
    return [one for one in verb.options if not one.only or verb.name in one.only]


def _names(verb: Verb) -> str:
    return " ".join(name for one in _options(verb) for name in one.names) + " -h --help"


def bash() -> str:
    cases = []
    for verb in VERBS:
        for option in _options(verb):
            if option.value is not None:
                names = "|".join(f"{verb.name}/{name}" for name in option.names)
                cases.append(f"    {names}) {_bash_values(option)} ;;")
        (first,) = verb.arguments[:1] or (Argument("", ""),)
        cases.append(
            f"    {verb.name}/*) _hostproof_word {shlex.quote(_names(verb))} || "
            f"{_bash_values(first)} ;;"
        )
    verbs = " ".join(verb.name for verb in VERBS)
    return "\n".join(
        [
            f"# Completion of hostproof for bash. {_MADE}",
            "# shellcheck shell=bash",
            "_hostproof_word() {",
            '  [[ $current == -* ]] && mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")',
            "}",
            "",
            "_hostproof_of() {",
            '  mapfile -t COMPREPLY < <(compgen -W "$("$@")" -- "$current")',
            "}",
            "",
            "_hostproof_paths() {",
            '  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")',
            "  compopt -o filenames 2>/dev/null",
            "}",
            "",
            "_hostproof_checks() {",
            f"  {_CHECKS}",
            "}",
            "",
            "_hostproof_controls() {",
            f"  {_CONTROLS}",
            "}",
            "",
            "_hostproof() {",
            "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} root",
            '  root=$(type -P -- "${COMP_WORDS[0]/#\\~/$HOME}")',
            '  root=$(dirname -- "$(readlink -f -- "$root")")',
            "  COMPREPLY=()",
            "  if [[ $COMP_CWORD == 1 ]]; then",
            f"    _hostproof_of echo {shlex.quote(f'{verbs} help --help --version')}",
            "    return",
            "  fi",
            "  case ${COMP_WORDS[1]}/$before in",
            *cases,
            f"    help/*) _hostproof_of echo {shlex.quote(verbs)} ;;",
            "  esac",
            "}",
            "",
            "complete -F _hostproof hostproof",
            "",
        ]
    )


def _bash_values(one: Option | Argument) -> str:
    if one.choices:
        return f"_hostproof_of echo {shlex.quote(' '.join(one.choices))}"
    kinds = {
        FILE: "_hostproof_paths -f",
        FOLDER: "_hostproof_paths -d",
        CHECK: "_hostproof_of _hostproof_checks",
        CONTROL: "_hostproof_of _hostproof_controls",
    }
    return kinds.get(one.kind or "", "true")


def zsh() -> str:
    lines = [
        "#compdef hostproof",
        f"# {_MADE}",
        "_hostproof_checks() {",
        "  local -a found",
        f'  found=(${{(f)"$({_CHECKS})"}})',
        "  compadd -a found",
        "}",
        "_hostproof_controls() {",
        "  local -a found",
        f'  found=(${{(f)"$({_CONTROLS})"}})',
        "  compadd -a found",
        "}",
        "_hostproof() {",
        "  local root=${words[1]:A:h}",
        "  [[ $words[1] == */* ]] || root=${${commands[$words[1]]}:A:h}",
        "  if (( CURRENT == 2 )); then",
        "    local -a verbs",
        "    verbs=(",
        *(f"      {_zsh_word(f'{verb.name}:{verb.summary}')}" for verb in VERBS),
        "    )",
        "    _describe verb verbs",
        "    return",
        "  fi",
        "  local verb=$words[2]",
        "  shift words; (( CURRENT-- ))",
        "  case $verb in",
    ]
    for verb in VERBS:
        lines.append(f"    {verb.name})")
        lines.append("      _arguments -s \\")
        for option in _options(verb):
            for name in option.names:
                value = (
                    f":{_zsh_escaped(option.value)}:{_zsh_values(option)}" if option.value else ""
                )
                told = f"*{name}[{_zsh_escaped(option.help)}]{value}"
                lines.append(f"        {_zsh_word(told)} \\")
        for argument in verb.arguments:
            lines.append(f"        {_zsh_word(f'*:{argument.name}:{_zsh_values(argument)}')} \\")
        lines.append("        '(- *)'{-h,--help}'[tell the options]'")
        lines.append("      ;;")
    return "\n".join([*lines, "  esac", "}", '_hostproof "$@"', ""])


def _zsh_values(one: Option | Argument) -> str:
    if one.choices:
        return f"({' '.join(one.choices)})"
    kinds = {FILE: "_files", FOLDER: "_files -/", CHECK: "_hostproof_checks"}
    return {**kinds, CONTROL: "_hostproof_controls"}.get(one.kind or "", " ")


def _zsh_escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _zsh_word(text: str) -> str:
    return shlex.quote(text)


def fish() -> str:
    lines = [
        f"# Completion of hostproof for fish. {_MADE}",
        "function __hostproof_root",
        "    set -l typed (commandline -opc)[1]",
        "    path dirname (path resolve (command -s -- $typed))",
        "end",
        "function __hostproof_checks",
        "    set -l root (__hostproof_root)",
        "    cat $root/docs/controls/*.md | string match -rg '^### ([a-z0-9_]+\\.[a-z0-9_]+)$'",
        "end",
        "function __hostproof_controls",
        "    path basename (__hostproof_root)/roles/*",
        "end",
        "complete -c hostproof -f",
    ]
    for verb in VERBS:
        first = "-n __fish_use_subcommand"
        lines.append(f"complete -c hostproof {first} -a {verb.name} -d {_fish(verb.summary)}")
    for verb in VERBS:
        seen = f"complete -c hostproof -n '__fish_seen_subcommand_from {verb.name}'"
        for option in _options(verb):
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            value = f" -r{_fish_values(option)}" if option.value else ""
            lines.append(f"{seen} {names}{value} -d {_fish(option.help)}")
        for argument in verb.arguments:
            if _fish_values(argument):
                lines.append(f"{seen}{_fish_values(argument)} -d {_fish(argument.help)}")
    return "\n".join(lines) + "\n"


def _fish_values(one: Option | Argument) -> str:
    if one.choices:
        return f" -f -a {_fish(' '.join(one.choices))}"
    kinds = {
        FILE: " -F",
        FOLDER: " -f -a '(__fish_complete_directories)'",
        CHECK: " -f -a '(__hostproof_checks)'",
        CONTROL: " -f -a '(__hostproof_controls)'",
    }
    return kinds.get(one.kind or "", "")


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


#: Shell to where its completion lies in the checkout, and what makes it.
COMPLETION = {
    "bash": ("docs/completion/hostproof.bash", bash),
    "zsh": ("docs/completion/_hostproof", zsh),
    "fish": ("docs/completion/hostproof.fish", fish),
}
