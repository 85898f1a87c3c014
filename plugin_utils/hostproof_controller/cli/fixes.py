# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``report --fixes DIR``: for each host a shell script and a playbook to be read, then run.

No fix runs by itself. A script without an argument only lists its steps. It prompts before each
step, and stops on any other machine than its host. A playbook requires the name of the host.

Answers of a host remain text. In a script, each text and the hostname is one quoted word. In a
playbook, each is a scalar marked ``!unsafe``, which Ansible never templates. Neither occurs in a
comment, in ``hosts:`` or in a name. Only commands of known forms are run (commands.py).

Root never runs a program that another account can change. A program of an Oracle home runs as its
owner. Programs of the system are searched for in its own directories only, and a command is not
run if another account can change a directory on the way to the path that it is about.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate.finding import FAIL, SEVERITIES, TAKES_EFFECT, WARN

from ..commands import execution, is_from_host, is_own
from ..host_names import RULE, is_host_name
from ..report.causes import limit_of, options_of
from ..report.host_state import HostState
from ..report.render import write_private
from ..report.store import Results
from ..report.text import one_line
from .errors import Refused, complain


class Step(NamedTuple):
    """Fixes one finding, or several with the same fix. ``commands`` run in order on the host,
    ``own`` on the controller. ``again`` is the command that checks the result."""

    effect: str
    checks: tuple[str, ...]
    what: str
    commands: tuple[str, ...]
    own: tuple[str, ...]
    again: str = ""


def write(results: Results, directory: str) -> int:
    """The files of every host that something can be done about; the exit code."""
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        raise Refused(f"{directory} exists already; fixes never overwrite files") from None
    except OSError as problem:
        raise Refused(f"{directory}: {problem.strerror}") from problem
    for state in results.hosts:
        steps = [
            step._replace(again=_command_to_check_again(state, step.checks))
            for step in steps_of(state.findings)
        ]
        if not is_host_name(state.name):
            complain(
                f"{state.name[:100]!a}: its fixes are left out, because a host's name is {RULE}"
            )
        elif steps:
            name = state.name.replace(":", "_")
            write_private(os.path.join(directory, f"{name}.sh"), script(state, steps))
            write_private(os.path.join(directory, f"{name}.yml"), playbook(state, steps))
            runs = sum(bool(step.commands or step.own) for step in steps)
            path = os.path.join(directory, name)
            print(f"{path}.sh, .yml: {len(steps)} steps, {runs} with commands")
        else:
            print(f"{one_line(state.name)}: no fixes")
    return 0


def _command_to_check_again(state: HostState, checks: Iterable[str]) -> str:
    controls = sorted({check.partition(".")[0] for check in checks} & {*NAMES})
    words = ["./hostproof audit", f"--tags {','.join(controls)}" if controls else ""]
    return " ".join(filter(None, [*words, options_of(state.findings), limit_of([state.name])]))


def steps_of(findings: Sequence[dict[str, Any]]) -> list[Step]:
    """What to do: what resolves a cause before what the cause has broken, then by the time at which
    it takes effect. An event for which findings wait, such as a restart, is one step behind all
    others."""
    gathered = _Gathered({finding["check"] for finding in findings if _has_fix(finding)})
    for finding in sorted(findings, key=_order):
        if _has_fix(finding):
            gathered.add(finding)
    causes = {finding["check"]: {*finding["because_of"]} for finding in findings}
    last = gathered.last_steps()
    ordered = _in_order([*gathered.steps.values()], causes)
    # Their causes are resolved only by an event.
    waited_for = {check for step in last for check in step.checks}
    waited_for -= {check for step in ordered for check in step.checks}
    late = [step for step in ordered if any(causes[check] & waited_for for check in step.checks)]
    return [*(step for step in ordered if step not in late), *last, *late]


def _has_fix(finding: dict[str, Any]) -> bool:
    return finding["status"] in (FAIL, WARN) and bool(finding["fix"] or finding["commands"])


class _Gathered:
    """The steps and events of findings, each once with all the checks that need it."""

    def __init__(self, open_checks: set[str]) -> None:
        self.steps: dict[tuple[tuple[str, ...], tuple[str, ...], str], Step] = {}
        self.events: dict[str, _Event] = {}
        self._open_checks = open_checks
        self._clauses_of: dict[tuple[tuple[str, ...], tuple[str, ...], str], list[str]] = {}
        self._remarks: set[str] = set()

    def add(self, finding: dict[str, Any]) -> None:
        """Take a finding that has a fix."""
        own = tuple(line for line in finding["commands"] if is_own(line))
        # A line that no control writes is not run, and half of them may mean something else than
        # all.
        others = [line for line in finding["commands"] if line not in own]
        may_run = all(map(is_from_host, others))
        commands = tuple(others) if may_run else ()
        effect = finding["takes_effect"] or "now"
        clauses = self._own_clauses(finding, effect, bool(others))
        if not (clauses or own):
            return
        if not may_run:
            clauses.append("(its commands are left out: they have no form that Hostproof knows)")
        key = (commands, own, "" if commands or own else _joined(clauses, self._remarks))
        step = self.steps.setdefault(key, Step(effect, (), "", commands, own))
        if finding["check"] not in step.checks:
            step = step._replace(checks=(*step.checks, finding["check"]))
        texts = self._clauses_of.setdefault(key, [])
        texts += [clause for clause in clauses if clause not in texts]
        self.steps[key] = step._replace(what=_joined(texts, self._remarks))

    def last_steps(self) -> list[Step]:
        """A step for each event, in the order in which they take effect."""
        return [
            Step(effect, tuple(self.events[effect].checks), self.events[effect].text(), (), ())
            for effect in sorted(self.events, key=TAKES_EFFECT.index)
        ]

    def _own_clauses(self, finding: dict[str, Any], effect: str, has_commands: bool) -> list[str]:
        """The clauses of the fix that are neither an event nor the step of another check.

        The events are added to ``events``.
        """
        clauses = _clauses(finding["fix"] or "-", self._remarks)
        # Commands can be the event themselves, such as umount and mount.
        while not has_commands and clauses and _EVENT.match(clauses[-1]):
            self.events.setdefault(effect, _Event([], [])).add(finding["check"], clauses.pop())
        # The step of that check is there already.
        return [
            clause for clause in clauses if not _is_of_another(clause, finding, self._open_checks)
        ]


#: A clause for which a finding waits.
_EVENT = re.compile(r"(?:restart|log in again|reboot)\b")
_RESTART = re.compile(r"restart (?P<what>(?!the )[\w#$+.@, -]+?)(?P<more> on one node.*)?$")


class _Event(NamedTuple):
    """The clauses of one event, and the checks that wait for it."""

    checks: list[str]
    clauses: list[str]

    def add(self, check: str, clause: str) -> None:
        if check not in self.checks:
            self.checks.append(check)
        if clause not in self.clauses:
            self.clauses.append(clause)

    def text(self) -> str:
        """One restart of everything that is named; what is not named counts if nothing is."""
        named = [match for clause in self.clauses if (match := _RESTART.match(clause))]
        whats = dict.fromkeys(what for match in named for what in match["what"].split(", "))
        more = next((match["more"] for match in named if match["more"]), "")
        restart = [f"restart {', '.join(whats)}{more}"] if whats else []
        others = [
            clause
            for clause in self.clauses
            if not _RESTART.match(clause) and not (whats and clause.startswith("restart the "))
        ]
        return "; then ".join([*others, *restart])


_OF_CHECK = re.compile(r"\((?P<check>[a-z_]+\.[a-z0-9_]+)\)$")


def _is_of_another(clause: str, finding: dict[str, Any], open_checks: set[str]) -> bool:
    """Whether a clause only names another check, and that check has its own step."""
    named = _OF_CHECK.search(clause)
    return named is not None and named["check"] in open_checks - {finding["check"]}


def _clauses(fix: str, remarks: set[str]) -> list[str]:
    """The clauses of a fix, in their order. ``remarks`` gets those after a plain "; ", such as
    "otherwise create it"."""
    clauses = []
    for step in re.split(r"[;,] then ", one_line(fix)):
        first, *others = step.split("; ")
        clauses += [first, *others]
        remarks.update(others)
    return [clause for clause in clauses if clause]


def _joined(clauses: Sequence[str], remarks: set[str]) -> str:
    text = clauses[0] if clauses else ""
    for clause in clauses[1:]:
        text += ("; " if clause in remarks else "; then ") + clause
    return text


def _in_order(steps: list[Step], causes: dict[str, set[str]]) -> list[Step]:
    """The steps, each behind those that resolve its causes. A ring of causes keeps its order."""
    ordered: list[Step] = []
    left = list(steps)
    while left:
        open_checks = {check: number for number, step in enumerate(left) for check in step.checks}
        free = [
            step
            for number, step in enumerate(left)
            if all(
                open_checks.get(cause, number) == number
                for check in step.checks
                for cause in causes.get(check, ())
            )
        ]
        # apply restarts nothing, so that what it writes is there for the restarts of other steps.
        ordered.append(next((step for step in free if step.own), (free or left)[0]))
        left.remove(ordered[-1])
    return ordered


def _order(finding: dict[str, Any]) -> tuple[int, bool, int]:
    return (
        TAKES_EFFECT.index(finding["takes_effect"] or "now"),
        bool(finding["because_of"]),
        SEVERITIES.index(finding["severity"]),
    )


_HEAD = """\
#!/usr/bin/env bash
# Fixes for one host, from findings of {at} (Hostproof {version}).
# Not reviewed: read each step and remove steps that you do not want.
#
#   bash FILE              lists the steps, changes nothing
#   bash FILE --step 2     runs step 2, after confirmation
#   bash FILE --all        runs all steps in this order, each after confirmation
#
# The script runs only on this host; if uname -n returns another name, add --any-host.
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
unset LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT LIBPATH BASH_ENV ENV
host={quoted}
mode=${{1:-list}} wanted=${{2:-}} number=0
case $mode in
  list | --all) option=${{2:-}} ;;
  --step) option=${{3:-}} ;;
  *) echo "there is no option $mode; bash $0 lists the steps" >&2; exit 1 ;;
esac

begin() {{
  [ "$mode" != list ] || return 0
  name=$(uname -n)
  if [ "${{name%%.*}}" != "${{host%%.*}}" ] && [ "$option" != --any-host ]; then
    echo "this machine is $name, not $host: no changes made" >&2
    exit 1
  fi
  if ! [ -t 0 ]; then
    echo "each step requires confirmation, but there is no terminal: no changes made" >&2
    exit 1
  fi
}}

# only_root DIRECTORY...: fails if another account can change one of them, or if it is a link
only_root() {{
  for place in "$@"; do
    [ -e "$place" ] || [ -L "$place" ] || continue
    # shellcheck disable=SC2012
    case $(LC_ALL=C ls -ldn "$place" | awk '{{ print $1, $3 }}') in
      d????-??-*" 0") ;;
      *)
        echo "another account can change $place: root must not run the next command" >&2
        return 1
        ;;
    esac
  done
}}

# step EFFECT CHECKS WHAT CHECK [COMMAND...]
step() {{
  number=$((number + 1))
  [ "$mode" != --step ] || [ "$wanted" = "$number" ] || return 0
  printf '%s. takes effect: %s (%s)\\n   %s\\n' "$number" "$1" "$2" "$3"
  check=$4
  shift 4
  for command in "$@"; do printf '     %s\\n' "$command"; done
  printf '   then check on the controller: %s\\n' "$check"
  [ "$mode" != list ] && [ $# -gt 0 ] || return 0
  printf '   Run this step? [y/N] '
  read -r reply || reply=
  case $reply in y | Y | yes) ;; *) echo '   skipped'; return 0 ;; esac
  for command in "$@"; do
    if ! (eval "$command") </dev/null; then
      echo "step $number failed, stopping" >&2
      exit 1
    fi
  done
}}

begin
"""


def script(state: HostState, steps: Iterable[Step]) -> str:
    """The shell script of a host. Every text is one quoted word."""
    lines = [
        _HEAD.format(
            at=one_line(state.at),
            version=VERSION,
            quoted=shlex.quote(state.name),
        )
    ]
    for step in steps:
        words = [
            step.effect.replace("_", " "),
            ", ".join(step.checks),
            _describe_step(step),
            step.again,
        ]
        commands = [line for command in step.commands for line in _guarded(command)]
        lines += ["step " + shlex.join([*words, *commands]), ""]
    return "\n".join(lines)


def _guarded(command: str) -> list[str]:
    """The command for a shell of root, after the check of the directories that it depends on."""
    directories = execution(command).directories
    return [*([shlex.join(["only_root", *directories])] if directories else []), command]


def _describe_step(step: Step) -> str:
    """The instruction and the commands for the controller."""
    lines = [step.what, *(f"on the controller: {line}" for line in step.own)]
    if not (step.commands or step.own):
        lines += _edits(step.what) or [DECISION]
    return "\n   ".join(lines)


#: Printed for a step that neither a command nor an exact edit makes.
DECISION = "a person decides and does this: there is no command"

#: A clause for one line of one file, and one for another exact change of a file.
_LINE = re.compile(r"put '(?P<line>.+)' into (?P<path>/[^\s:]+)(?::(?P<number>\d+))?")
_EDIT = re.compile(
    r"(?:add|comment out|delete|exchange|put|remove|replace|set|take|write) .*"
    r"(?<![\w/])(?P<path>/(?:etc|boot|usr|var|u[0-9]+|opt|home)/[^\s,:;()]+[^\s,:;().])(?::\d+)?\b.*"
)
#: Words of a choice that only a person can make, of a value that is not stated, or of more than an
#: edit.
_CHOICE = re.compile(
    r"\b(?:if|or|when|where|whether|unless|otherwise|choose|decide|check|find|ask|which|at least"
    r"|a number|six fields|file system|names of|owner|restart|session|activate|enable"
    r"|apply (?:is|cannot|changes))\b|\?",
    re.IGNORECASE,
)


def _edits(what: str) -> list[str]:
    """How to make a step that consists of exact edits; empty where it is anything else. Edits are
    printed and not made: root writes no file that another account owns or can replace."""
    lines = []
    for clause in re.split(r"; (?:then )?", what):
        line, edit = _LINE.fullmatch(clause), _EDIT.fullmatch(clause)
        if line is not None:
            path = line["path"]
            number = f" line {line['number']}" if line["number"] else " so that it has the line"
            text = f",{number}: {line['line']}"
        elif edit is not None and not _CHOICE.search(clause):
            path, text = edit["path"], ", as stated above"
        else:
            return []
        owner = "" if path.startswith("/etc/") else " as the owner of the file"
        lines.append(f"edit {path}{owner}{text}")
    return list(dict.fromkeys(lines))


def playbook(state: HostState, steps: Iterable[Step]) -> str:
    """The same as a playbook. It runs on the host that the caller names, if that is fixes_host."""
    lines = [
        "---",
        f"# Fixes for one host, from findings of {one_line(state.at)} (Hostproof {VERSION}).",
        "# Not reviewed: read each task and remove tasks that you do not want. Then run it, with",
        "# the name of the host (fixes_host) in place of HOST:",
        "#   ansible-playbook -i INVENTORY FILE -e fixes_reviewed=HOST --tags now --step",
        "- name: Require review",
        "  hosts: localhost",
        "  connection: local",
        "  gather_facts: false",
        "  vars: &fixes",
        f"    fixes_host: {_scalar(state.name)}",
        "  tasks:",
        "    - name: Compare the name that was given with fixes_host",
        "      ansible.builtin.assert:",
        "        that:",
        "          - fixes_reviewed | default('') == fixes_host",
        "          - fixes_host in groups['all']",
        "        fail_msg: review this file, then set -e fixes_reviewed=HOST, with its fixes_host,",
        "          and the inventory of that host",
        "      tags: [always]",
        "",
        "- name: Fixes for the host that fixes_host names",
        # Each colon of an IPv6 address would separate two patterns.
        """  hosts: "{{ fixes_reviewed | default('localhost') | replace(':', '[:]') }}\"""",
        "  gather_facts: false",
        "  become: true",
        "  environment:",
        "    PATH: /usr/sbin:/usr/bin:/sbin:/bin",
        "  vars: *fixes",
        "  tasks:",
        "    - name: Reject another host",
        "      ansible.builtin.assert:",
        "        that: [fixes_reviewed | default('') == fixes_host]",
        "      when: inventory_hostname == fixes_host",
        "      tags: [always]",
    ]
    for number, step in enumerate(steps, 1):
        purpose = f"{', '.join(step.checks)}: {_describe_step(step)}\n   then check: {step.again}"
        lines += [
            "",
            f"    - name: Show the purpose of step {number}",
            "      ansible.builtin.debug:",
            f"        msg: {_scalar(purpose)}",
            *_only_there(step),
        ]
        for place, command in enumerate(step.commands, 1):
            run = execution(command)
            lines += [
                *_checked(f"{number}.{place}", run.directories, step),
                f"    - name: Step {number}.{place}",
                "      ansible.builtin.shell:",
                f"        cmd: {_scalar(run.line)}",
                *([f"      become_user: {_scalar(run.account)}"] if run.account else []),
                "      changed_when: true",
                *_only_there(step),
            ]
    return "\n".join(lines) + "\n"


def _checked(name: str, directories: tuple[str, ...], step: Step) -> list[str]:
    """The tasks that stop if another account can change one of the directories."""
    if not directories:
        return []
    return [
        f"    - name: Look at the directories of step {name}",
        "      ansible.builtin.stat:",
        '        path: "{{ item }}"',
        "        get_checksum: false",
        f"      loop: [{', '.join(map(_scalar, directories))}]",
        "      register: fixes_directories",
        *_only_there(step),
        f"    - name: Reject step {name} if another account can change a directory",
        "      ansible.builtin.assert:",
        "        that:",
        "          - not item.stat.exists or (item.stat.isdir and item.stat.uid == 0",
        "            and not item.stat.wgrp and not item.stat.woth)",
        "        fail_msg: another account can change this directory; root must not run the step",
        "        quiet: true",
        '      loop: "{{ fixes_directories.results | default([]) }}"',
        "      loop_control:",
        "        label: \"{{ item.stat.path | default('') }}\"",
        *_only_there(step),
    ]


def _only_there(step: Step) -> list[str]:
    return ["      when: inventory_hostname == fixes_host", f"      tags: [{step.effect}]"]


def _scalar(text: str) -> str:
    """A scalar of YAML that Ansible takes as it is."""
    return f"!unsafe {json.dumps(text, ensure_ascii=False)}"
