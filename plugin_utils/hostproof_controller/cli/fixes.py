# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``report --fixes DIR``: for each host a shell script and a playbook to be read, then run.

Nothing here runs by itself: a script without an argument only lists its steps, asks before each
that it runs, and refuses a machine that is not its host; a playbook wants the host's name. What a
host answered stays text: commands are quoted whole, everything else stands in comments of one line.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shlex
from collections.abc import Iterable
from typing import Any, NamedTuple

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.finding import FAIL, SEVERITIES, TAKES_EFFECT, WARN

from ..commands import is_own
from ..report.host_state import HostState
from ..report.render import write_private
from ..report.store import Results
from ..report.text import one_line
from .errors import Refused, complain

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")
#: What a host pattern would take for more than a host.
_GROUPS = ("all", "ungrouped")


class Step(NamedTuple):
    """What mends one finding, or several that want the same. ``commands`` run in their order."""

    effect: str
    checks: tuple[str, ...]
    what: str
    commands: tuple[str, ...]
    own: tuple[str, ...]


def write(results: Results, folder: str) -> int:
    """The files of every host that something can be done about; the exit code."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        raise Refused(f"{folder} exists already; fixes are never written over others") from None
    except OSError as problem:
        raise Refused(f"{folder}: {problem.strerror}") from problem
    for state in results.hosts:
        steps = steps_of(state.findings)
        if not is_a_host(state.name):
            complain(f"{state.name}: no file has the name of this host, so its fixes are left out")
        elif steps:
            name = state.name.replace(":", "_")
            write_private(os.path.join(folder, f"{name}.sh"), script(state, steps))
            write_private(os.path.join(folder, f"{name}.yml"), playbook(state, steps))
            runs = sum(bool(step.commands) for step in steps)
            print(
                f"{os.path.join(folder, name)}.sh, .yml: {len(steps)} steps, {runs} with commands"
            )
        else:
            print(f"{one_line(state.name)}: nothing to do")
    return 0


def is_a_host(name: str) -> bool:
    """Whether the name can be a file's, and a pattern of Ansible's that means this host alone."""
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return bool(_NAME.fullmatch(name)) and name not in _GROUPS


def steps_of(findings: Iterable[dict[str, Any]]) -> list[Step]:
    """What to do, in the order in which it takes effect; causes before what they cause."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...], str], list[str]] = {}
    for one in sorted(findings, key=_order):
        if one["status"] not in (FAIL, WARN) or not (one["fix"] or one["commands"]):
            continue
        own = tuple(line for line in one["commands"] if is_own(line))
        # A line that no control writes is not run, and half of them may mean something else than
        # all.
        others = [line for line in one["commands"] if line not in own]
        may_run = all("./hostproof" not in line and line.isprintable() for line in others)
        commands = tuple(others) if may_run else ()
        what = one_line(one["fix"] or "-")
        if not may_run:
            what += " (its commands are left out: no control writes them)"
        same = found.setdefault(
            (commands, own, "" if commands else what), [one["takes_effect"] or "now", what]
        )
        if one["check"] not in same:
            same.append(one["check"])
    return [
        Step(effect, tuple(checks), what, commands, own)
        for (commands, own, _), (effect, what, *checks) in found.items()
    ]


def _order(finding: dict[str, Any]) -> tuple[int, bool, int]:
    return (
        TAKES_EFFECT.index(finding["takes_effect"] or "now"),
        bool(finding["because_of"]),
        SEVERITIES.index(finding["severity"]),
    )


_HEAD = """\
#!/usr/bin/env bash
# Fixes for {host}, by what was found {at} (Hostproof {version}).
# Nobody has read them yet: read each step, and take out what you do not want.
#
#   bash {file}              lists the steps, changes nothing
#   bash {file} --step 2     runs step 2, after it has asked
#   bash {file} --all        runs each, in this order, and asks before each
#
# It runs on {host} alone; where uname -n gives another name, add --here at the end.
set -u
host={quoted}
mode=${{1:-list}} wanted=${{2:-}} number=0
case $mode in
  list | --all) here=${{2:-}} ;;
  --step) here=${{3:-}} ;;
  *) echo "there is no option $mode; bash {file} lists the steps" >&2; exit 1 ;;
esac

begin() {{
  [ "$mode" != list ] || return 0
  name=$(uname -n)
  if [ "${{name%%.*}}" != "${{host%%.*}}" ] && [ "$here" != --here ]; then
    echo "this machine is $name, not $host; nothing was changed" >&2
    exit 1
  fi
  if ! [ -t 0 ]; then
    echo "each step asks, and there is no terminal to ask at; nothing was changed" >&2
    exit 1
  fi
}}

# step EFFECT CHECKS WHAT [COMMAND...]
step() {{
  number=$((number + 1))
  [ "$mode" != --step ] || [ "$wanted" = "$number" ] || return 0
  printf '%s. takes effect: %s (%s)\\n   %s\\n' "$number" "$1" "$2" "$3"
  shift 3
  for command in "$@"; do printf '     %s\\n' "$command"; done
  [ "$mode" != list ] && [ $# -gt 0 ] || return 0
  printf '   Run that? [y/N] '
  read -r reply || reply=
  case $reply in y | Y | yes) ;; *) echo '   left out'; return 0 ;; esac
  for command in "$@"; do
    if ! (eval "$command") </dev/null; then
      echo "step $number failed; nothing after it was run" >&2
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
            host=state.name,
            at=one_line(state.at),
            version=VERSION,
            file=shlex.quote(f"{state.name.replace(':', '_')}.sh"),
            quoted=shlex.quote(state.name),
        )
    ]
    for step in steps:
        words = [step.effect.replace("_", " "), ", ".join(step.checks), _told(step)]
        lines += ["step " + shlex.join([*words, *step.commands]), ""]
    return "\n".join(lines)


def _told(step: Step) -> str:
    """What is to be done, on one line, and what does it from the controller."""
    return "; or on the controller: ".join([step.what, *step.own])


def playbook(state: HostState, steps: Iterable[Step]) -> str:
    """The same as a playbook. ``!unsafe`` keeps Ansible from reading a template in a command."""
    lines = [
        "---",
        f"# Fixes for {state.name}, by what was found {one_line(state.at)} (Hostproof {VERSION}).",
        "# Nobody has read them yet: read each task, and take out what you do not want. Then:",
        f"#   ansible-playbook -i INVENTORY FILE -e fixes_reviewed={state.name} --tags now --step",
        f"- name: Fixes for {state.name}",
        f"  hosts: [{json.dumps(state.name)}]",
        "  gather_facts: false",
        "  become: true",
        "  tasks:",
        "    - name: Refuse what nobody has reviewed",
        "      ansible.builtin.assert:",
        "        that:",
        f"          - inventory_hostname == {json.dumps(state.name)}",
        f"          - fixes_reviewed | default('') == {json.dumps(state.name)}",
        f"        fail_msg: read this file, then give -e fixes_reviewed={state.name}",
        "      tags: [always]",
    ]
    for number, step in enumerate(steps, 1):
        lines += ["", f"    # {number}. {', '.join(step.checks)}: {_told(step)}"]
        for place, command in enumerate(step.commands, 1):
            lines += [
                f"    - name: Step {number}.{place} for {step.checks[0]}",
                "      ansible.builtin.shell:",
                f"        cmd: !unsafe {json.dumps(command, ensure_ascii=False)}",
                "      changed_when: true",
                f"      tags: [{step.effect}]",
            ]
    return "\n".join(lines) + "\n"
