# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text that Oracle's Cluster Verification Utility prints (runcluvfy.sh, cluvfy stage).

Format, from real runs of 11.2.0.3, 19.3 to 19.27 and 23.7 to 23.26.1: "NAME ...STATUS (IDS)" for
each task. A verbose run prints a table before it, with a row for each node. At the end a failed
task is printed again, with a message "NODE: ID : text" for each node. Words are translated by the
locale. 11.2 has "Result: NAME passed".
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN

from .foreign_finding import MOST, Foreign, NotUnderstood, Run

#: Words of the locales that real runs showed. Any other word is an error, never a pass.
_WORDS = {
    "passed": PASS,
    "aprovado": PASS,
    "failed": FAIL,
    "com falha": FAIL,
    "warning": WARN,
    "information": WARN,
    "informações": WARN,
}
#: Messages of a task that did not run: it needs root, or it was left out.
_NOT_RUN = {"PRVG-11250": ERROR, "PRVH-1507": SKIP}
_TASK = re.compile(
    r"^\s*(?:Verifying )?(?P<name>\S.*?) \.\.\.\s*(?P<word>[^\W\d_][^()]*?)\s*"
    r"(?:\((?P<ids>[A-Z]{3,5}-\d+(?:[,;\s]+[A-Z]{3,5}-\d+)*)\))?\s*$"
)
_BEGINS = re.compile(r"^\s*(?:Verifying )?(?P<name>\S.*?) \.\.\.\s*$")
_MESSAGE = re.compile(
    r"^\s*(?:(?P<node>[A-Za-z0-9][\w.-]*)\s*: )?(?P<id>PR[A-Z]{2}-\d+) : (?P<text>.*)$"
)
_RULE = re.compile(r"^\s*-{4,}(?:\s+-{4,})+\s*$")
_OLD = re.compile(r"^Result: (?P<name>.+?)\.? (?:Check )?(?P<word>passed|failed)\b.*$")
_NODES = re.compile(r"\s-n\s+(?P<nodes>[\w.,-]+)")
_VERSION = re.compile(r"^CVU version:\s+([\d.]+)", re.MULTILINE)
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


class _Task(NamedTuple):
    name: str
    status: str
    ids: tuple[str, ...]
    nodes: dict[str, str]


def parse(text: str, host: str | None = None) -> Run:
    """The tasks of a run, once for each node.

    ``host`` is for a run that names no node. NotUnderstood where the text has no task.
    """
    tasks, messages, nodes = _read(text.splitlines())
    if not tasks:
        raise NotUnderstood("no line of the form 'NAME ...STATUS' exists: not output of CVU")
    named = _NODES.search(text)
    known = [node for node in named["nodes"].split(",") if node != "all"] if named else []
    # Tables of interfaces have similar rows, so their names count only without any other name.
    others = [node for task in messages for node in task[1:] if node]
    hosts = [*known, *others] or list(dict.fromkeys(nodes))
    hosts = [node for node in dict.fromkeys(hosts) if _NODE.match(node)]
    if host is not None:
        hosts = hosts or [host]
    if not hosts:
        raise NotUnderstood("the output of CVU names no node: name the host with --host")
    foreign = [finding for task in tasks.values() for finding in _of_task(task, hosts, messages)]
    if len(foreign) > MOST:
        raise NotUnderstood(f"it has more than {MOST} results")
    version = _VERSION.search(text)
    return Run(version[1] if version else "", foreign)


def _read(
    lines: list[str],
) -> tuple[dict[str, _Task], dict[tuple[str, str], list[tuple[str, str]]], list[str]]:
    """Tasks by name, messages by task and node ("" for all), and the nodes of tables."""
    tasks: dict[str, _Task] = {}
    messages: dict[tuple[str, str], list[tuple[str, str]]] = {}
    nodes: list[str] = []
    rows: dict[str, str] = {}
    task = node = ""
    in_table = is_message = False
    for line in lines:
        ended = _TASK.match(line)
        old = _OLD.match(line)
        begins = _BEGINS.match(line)
        message = _MESSAGE.match(line)
        match = ended or old
        if match is not None:
            task = match["name"]
            ids = tuple(re.findall(r"[A-Z]{3,5}-\d+", (ended and ended["ids"]) or ""))
            result = _Task(task, _status(match["word"]), ids, rows)
            tasks[task] = _together(tasks.get(task), result)
            rows, in_table, is_message = {}, False, False
        elif begins:
            rows, in_table, is_message = {}, False, False
        elif message:
            node, is_message = message["node"] or "", True
            messages.setdefault((task, node), []).append((message["id"], message["text"]))
        elif _RULE.match(line):
            in_table = True
        elif not line.strip():
            in_table = is_message = False
        elif is_message and line[:1].isspace():
            number, text = messages[(task, node)][-1]
            messages[(task, node)][-1] = (number, f"{text} {line.strip()}")
        elif in_table:
            cells = re.split(r"\s{2,}", line.strip())
            place = next((cell for cell in cells[:2] if _NODE.match(cell)), None)
            status = next(
                (_WORDS[cell] for cell in map(str.lower, cells[1:]) if cell in _WORDS), None
            )
            if place is not None and status is not None:
                rows[place] = max(rows.get(place, PASS), status, key=_badness)
                nodes.append(place)
    return tasks, messages, nodes


def _badness(status: str) -> int:
    return (PASS, SKIP, WARN, ERROR, FAIL).index(status)


def _status(word: str) -> str:
    return _WORDS.get(word.strip().lower(), ERROR)


def _together(old: _Task | None, new: _Task) -> _Task:
    """The worse status: a failed task is printed twice."""
    if old is None:
        return new
    status = max(old.status, new.status, key=_badness)
    nodes = {**old.nodes, **new.nodes}
    return _Task(old.name, status, (*old.ids, *new.ids), nodes)


def _of_task(
    task: _Task, hosts: list[str], messages: dict[tuple[str, str], list[tuple[str, str]]]
) -> list[Foreign]:
    name, _, subject = task.name.partition(": ")
    about = {host: messages.get((task.name, host), []) for host in hosts}
    shared = messages.get((task.name, ""), [])
    failed = {host for host in hosts if about[host] or task.nodes.get(host) == FAIL}
    findings = []
    for host in hosts:
        notes = about[host] or ([] if any(about.values()) else shared)
        status = task.status
        if status == FAIL and failed and host not in failed:
            # The task failed on other nodes. Without a row this node may have failed as well.
            status = PASS if task.nodes.get(host) == PASS or any(about.values()) else FAIL
        for number in (*task.ids, *(number for number, _text in notes)):
            status = _NOT_RUN.get(number, status)
        text = "; ".join(f"{number}: {text}" for number, text in notes)
        numbers = dict.fromkeys([*task.ids, *(number for number, _text in notes)])
        findings.append(Foreign(host, name, subject, status, "medium", text, ", ".join(numbers)))
    return findings
