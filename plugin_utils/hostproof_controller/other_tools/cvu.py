# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text that Oracle's Cluster Verification Utility prints (runcluvfy.sh, cluvfy stage).

Format, from real runs of 11.2.0.3, 12.2, 19.3 to 19.27 and 23.7 to 23.26.1: "NAME ...STATUS (IDS)"
for each task. A verbose run prints a table before it, with a row for each node. At the end a failed
task is printed again, with a message "NODE: ID : text" for each node; long lines are wrapped at 80
columns. Words are translated by the locale. The installer logs each line with a level and a date,
and a second time behind "Skipping line:".

10.2 to 12.1 have sentences: "NAME check passed for "SUBJECT"", with "Result: " before it where the
run is verbose. The nodes on which a check failed are in a list after it, its messages before it.

CVU excludes a node without user equivalence (PRVF-4009) or without an answer, and says with which
nodes it proceeds: no other result counts for an excluded node.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN

from .foreign_finding import MOST, Foreign, NotUnderstood, Run
from .requirements import check_of

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
    r"^\s*(?:Verifying )?(?P<name>\S.*?) \.\.\.\s*+(?P<word>[^\W\d_][^()]*+)"
    r"(?:\((?P<ids>[A-Z]{3,5}-\d+(?:[,;\s]+[A-Z]{3,5}-\d+)*)\))?\s*$"
)
_BEGINS = re.compile(r"^\s*(?:Verifying )?(?P<name>\S.*?) \.\.\.\s*$")
_MESSAGE = re.compile(
    r"^\s*(?:(?P<node>[A-Za-z0-9][\w.-]*)\s*: )?(?P<id>PR[A-Z]{2}-\d+) : (?P<text>.*)$"
)
_RULE = re.compile(r"^\s*-{4,}(?:\s+-{4,})+\s*$")
_OLD = re.compile(
    r"^(?:Result: )?(?P<name>(?!Pre-check |Post-check |ERROR|WARNING)[A-Z][^\t]{2,}?)\.? "
    r"(?:Check )?(?P<word>passed|failed|successful|unsuccessful)"
    r"(?:(?P<rest> (?:for|from|on|in) .*?)?\.?|\..*)$"
)
_OLD_WORDS = {"passed": PASS, "successful": PASS, "failed": FAIL, "unsuccessful": FAIL}
_OLD_SUBJECT = re.compile(r' for (?:\w+ )?"(?P<subject>[^"]+)"')
_HEALTHY = re.compile(r'^The Oracle Clusterware is healthy on node "(?P<node>[\w.-]+)"')
_FAILED_ON = re.compile(r"^Check failed on nodes:\s*(?P<nodes>.*)$")
_NOT_RUN_ON = re.compile(r"\bdid not run on the following nodes?(?:\(s\))?:\s*(?P<nodes>.*)$")
_ON_NODE = re.compile(r'\bon node "(?P<node>[\w.-]+)"')
_REMOVED = re.compile(r"\sstage\s+-post\s+nodedel\s")
_NODES = re.compile(r"\s-n\s+(?P<nodes>[\w.,-]+)")
_PREFIX = re.compile(r"^[A-Z]+:?\s+\[(?=[^\]]*?\d{4})[^\]]*+\] ?")
_SKIPPING = "Skipping line:"
#: CVU wraps its lines at this column.
_WIDTH = 80
_EXCLUDED = re.compile(r"^\s*PRVF-4009 : .*:\s*(?P<nodes>[^:]*)$")
_PROCEEDS = re.compile(
    r"^\s*Verification will proceed with nodes?:\s*(?P<nodes>.*)$", re.IGNORECASE
)
_LIST_OF_NODES = re.compile(r"^[\s\w.,\"-]+$")
_PATH_OF_NODE = re.compile(r"[\w.-]+:/")
_USER_EQUIVALENCE = "User Equivalence"
_VERSION = re.compile(r"^CVU version:\s+([\d.]+)", re.MULTILINE)
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


#: Titles of a column that holds what CVU requires, in the locales that real runs showed.
_REQUIRED = ("required", "necessário")
#: Titles of columns without a value.
_OF_NO_VALUE = ("status", "node", "node name", "nome do nó", "comment", "comentário", "required")
#: The same in the text of a message.
_IN_MESSAGE = re.compile(
    r"\[(?:Required|Expected)[^=\]]{0,100}= ?\"?(?P<required>[^;\]\"]{1,300}?)\"?\s{0,20}"
    r"(?:; Found ?= ?\"?(?P<actual>[^\]\"]{1,300}?)\"?\s{0,20})?\]"
)


class _Row(NamedTuple):
    """A row of a table. ``status`` is None in a table without such a column."""

    status: str | None
    required: str = ""
    actual: str = ""


#: Of Oracle Clusterware, and what no output of CVU comes near to: the time must not grow with the
#: square of a hostile file.
_MOST_NODES, _MOST_LINES, _LONGEST_LINE, _LONGEST_NAME = 2000, 400_000, 100_000, 2000
#: Messages of a task about one node.
_MOST_NOTES = 20
#: Characters of them together: more is not shown.
_LONGEST_TEXT = 4000
#: Different ids of the messages of a task.
_MOST_IDS = 500
#: Places of " ..." in the line of a task.
_MOST_DOTS = 4
#: Nodes, ids and texts that lines repeat.
_MOST_WORK = 2_000_000


class _Task(NamedTuple):
    """``is_listed``: the nodes on which it failed are listed, so that it passed on the others."""

    name: str
    status: str
    ids: tuple[str, ...]
    nodes: dict[str, _Row]
    is_listed: bool = False


class _Read(NamedTuple):
    """``messages`` by task and node ("" for all), ``named`` the first cells of rows with a status,
    ``excluded`` the task at which CVU left a node out."""

    tasks: dict[str, _Task]
    messages: dict[tuple[str, str], list[tuple[str, str]]]
    named: list[str]
    excluded: dict[str, str]


def parse(text: str, host: str | None = None) -> Run:
    """The tasks of a run, once for each node.

    ``host`` is for a run that names no node. NotUnderstood where the text has no task.
    """
    named = _NODES.search(text)
    known = [node for node in named["nodes"].split(",") if node != "all"] if named else []
    if len(known) > _MOST_NODES:
        raise NotUnderstood(f"it names {len(known)} nodes, and a cluster has at most {_MOST_NODES}")
    read = _read(_whole_lines(text), known)
    if not read.tasks:
        raise NotUnderstood("no line of the form 'NAME ...STATUS' exists: not output of CVU")
    hosts = _hosts_of(text, read, known)
    if host is not None:
        hosts = hosts or [host]
    if not hosts:
        raise NotUnderstood("the output of CVU names no node: name the host with --host")
    if len(hosts) * len(read.tasks) > MOST:
        raise NotUnderstood(
            f"{len(read.tasks)} tasks on {len(hosts)} nodes are more than {MOST} results"
        )
    foreign = [finding for task in read.tasks.values() for finding in _of_task(task, hosts, read)]
    version = _VERSION.search(text)
    return Run(version[1] if version else "", foreign)


def _hosts_of(text: str, read: _Read, known: list[str]) -> list[str]:
    # Tables of interfaces have similar rows, so their names count only without any other name.
    others = [node for task in read.messages for node in task[1:] if node]
    if _REMOVED.search(text):
        # The results are about the nodes that stay, if any is named.
        known = [] if {*read.named} - {*known} else known
    hosts = [*known, *read.excluded, *others] or list(dict.fromkeys(read.named))
    return [node for node in dict.fromkeys(hosts) if _NODE.match(node)]


def _without_prefix(raw: str) -> str | None:
    """A line without the installer's prefix; None for one that was logged before."""
    line = raw.expandtabs() if raw.startswith("\t") else raw
    prefix = _PREFIX.match(line)
    if prefix is None:
        return line
    line = line[prefix.end() :]
    if not line.lstrip().startswith(_SKIPPING):
        return line
    # An empty line was not logged before.
    return "" if line.strip() == _SKIPPING else None


def _whole_lines(text: str) -> list[str]:
    """The lines without the installer's prefix, and wrapped names of tasks in one line."""
    lines: list[str] = []
    is_old = _is_old(text.splitlines())
    for raw in text.splitlines():
        if len(raw) > _LONGEST_LINE or len(lines) >= _MOST_LINES:
            raise NotUnderstood(
                f"it has a line of more than {_LONGEST_LINE} characters, or more than "
                f"{_MOST_LINES} lines: not output of CVU"
            )
        line = _without_prefix(raw)
        if line is None:
            continue
        if " ..." in line and not line.lstrip().startswith("Verifying "):
            # The name of a task has few lines.
            while (
                lines and len(lines[-1]) + len(line) < _LONGEST_NAME and _goes_on(lines[-1], line)
            ):
                line = f"{lines.pop()} {line.strip()}"
        elif is_old and lines and _is_wrapped(lines[-1], line):
            line = f"{lines.pop()} {line}"
        lines.append(line)
    return lines


def _is_old(lines: list[str]) -> bool:
    """Whether the text has sentences (10.2 to 12.1) instead of tasks with a status."""
    return not any(" ..." in line and _task_in(line) for line in lines)


def _task_in(line: str) -> re.Match[str] | None:
    return _TASK.match(line) if line.count(" ...") <= _MOST_DOTS else None


def _is_wrapped(before: str, line: str) -> bool:
    """Whether a line goes on with the sentence of the line before: 12.1 wraps at 80 columns."""
    words = line.split(None, 1)
    return (
        bool(words)
        and len(before) < _WIDTH <= len(before) + 1 + len(words[0])
        and before[0].isupper()
        and not line[0].isspace()
        and not _OLD.match(before)
        and not before.endswith("...")
        and not _MESSAGE.match(line)
    )


def _goes_on(before: str, line: str) -> bool:
    """Whether a line ends the name of a task that the line before begins."""
    if not before.strip() or "..." in before or _MESSAGE.match(before):
        return False
    if re.search(r"\S {2,}\S", before) or _RULE.match(before):
        # A row of a table.
        return False
    if len(before) - len(before.lstrip()) > len(line) - len(line.lstrip()):
        return False
    begins = before.lstrip().startswith("Verifying ")
    return begins or len(before) + len(line.split()[0]) >= _WIDTH - 1


class _Reader:
    """Reads line by line. ``pending`` are messages before the sentence of their task."""

    def __init__(self, known: list[str], is_old: bool) -> None:
        self.read = _Read({}, {}, [], {})
        self.known = known
        self.is_old = is_old
        self.rows: dict[str, _Row] = {}
        self.head: list[str] = []
        self.task = self.node = self.before = ""
        self.in_table = self.is_message = self.proceeds = False
        #: The status of the nodes that the next line lists.
        self.listed = ""
        self.pending: list[tuple[str, str, str]] = []
        self.work = 0

    def line(self, line: str) -> None:
        if self.work > _MOST_WORK:
            raise NotUnderstood("its lists of nodes are repeated too often")
        left_out = _EXCLUDED.match(line)
        remaining = _PROCEEDS.match(line)
        match = _OLD.match(line[:_LONGEST_NAME]) if self.is_old else _task_in(line)
        if left_out is not None or remaining is not None or self.proceeds:
            self._nodes_left_out(line, left_out, remaining)
        elif self.is_old and self._list_of_nodes(line):
            self.is_message = False
        elif message := _MESSAGE.match(line):
            self._message(message)
        elif match is not None:
            self._result(match, line)
        else:
            self._other_line(line)
        self.before = line

    def _other_line(self, line: str) -> None:
        if _BEGINS.match(line) or line.startswith("Check: "):
            self.rows, self.in_table, self.is_message = {}, False, False
        elif _RULE.match(line):
            self.in_table, self.head = True, re.split(r"\s{2,}", self.before.strip())
        elif not line.strip():
            self.in_table = self.is_message = False
        elif self.is_message and (line[:1].isspace() or self.is_old or not self.node):
            self._more_of_message(line.strip())
        elif self.in_table:
            _add_row(self.rows, self.read.named, self.head, re.split(r"\s{2,}", line.strip()))
        elif healthy := _HEALTHY.match(line):
            self.rows[healthy["node"]] = _Row(PASS)
            self.read.named.append(healthy["node"])

    def _nodes_left_out(
        self, line: str, left_out: re.Match[str] | None, remaining: re.Match[str] | None
    ) -> None:
        listed = (left_out or remaining or {"nodes": line})["nodes"]
        nodes = re.findall(r"[\w.-]+", listed)
        self.work += len(self.known) + len(nodes)
        if left_out is None and nodes and _LIST_OF_NODES.match(listed):
            staying = set(nodes)
            away = [each for each in self.known if each not in staying]
            _exclude(self.read.excluded, away, self.task)
        elif left_out is not None:
            _exclude(self.read.excluded, nodes, self.task)
        # 11.2 prints the list on the next line.
        self.proceeds = remaining is not None and not nodes
        self.is_message = False

    def _list_of_nodes(self, line: str) -> bool:
        """Whether a line has the nodes on which the last task failed, or announces them."""
        begins = _FAILED_ON.match(line)
        not_run = _NOT_RUN_ON.search(line)
        listed = line if self.listed else ""
        if begins is not None:
            self.listed, listed = FAIL, begins["nodes"]
        elif not_run is not None:
            if match := _OLD.match(line[:_LONGEST_NAME]):
                self._result(match, line)
            self.listed, listed = ERROR, not_run["nodes"]
        if not listed.strip():
            return begins is not None or not_run is not None
        nodes = [node for node in re.split(r"[,\s]+", listed.strip()) if node]
        status, self.listed = self.listed, ""
        task = self.read.tasks.get(self.task)
        if task is None or not all(map(_NODE.match, nodes)):
            return False
        rows = {node: _Row(status) for node in nodes}
        is_listed = task.is_listed or status == FAIL
        worse = {node: _worse_row(task.nodes.get(node), row) for node, row in rows.items()}
        self.read.tasks[self.task] = task._replace(
            nodes={**task.nodes, **worse}, is_listed=is_listed
        )
        self.read.named.extend(nodes)
        self.work += len(task.nodes) + len(nodes)
        return True

    def _result(self, match: re.Match[str], line: str) -> None:
        if self.is_old:
            name = match["name"].split(" : ")[-1]
            subject = _OLD_SUBJECT.match(match["rest"] or "")
            self.task = f"{name}: {subject['subject']}" if subject else name
            result = _Task(self.task, _OLD_WORDS[match["word"]], (), self.rows)
            for node, number, text in self.pending:
                self.read.messages.setdefault((self.task, node), []).append((number, text))
            self.pending = []
        else:
            self.task = match["name"]
            ids = tuple(re.findall(r"[A-Z]{3,5}-\d+", match["ids"] or ""))
            result = _Task(self.task, _status(match["word"]), ids, self.rows)
        task = _together(self.read.tasks.get(self.task), result)
        if len(task.ids) > _MOST_IDS:
            raise NotUnderstood(f"a task has more than {_MOST_IDS} ids of messages")
        self.read.tasks[self.task] = task
        self.work += len(task.nodes) + len(task.ids)
        self.rows, self.in_table, self.is_message = {}, False, False

    def _message(self, match: re.Match[str]) -> None:
        self.node, self.is_message = match["node"] or "", True
        text = match["text"][:_LONGEST_NAME]
        if self.is_old:
            self.pending.append((self.node, match["id"], text))
            self._more_of_message("")
        else:
            texts = self.read.messages.setdefault((self.task, self.node), [])
            texts.append((match["id"], text))

    def _more_of_message(self, more: str) -> None:
        if not self.is_old:
            number, text = self.read.messages[(self.task, self.node)][-1]
            texts = self.read.messages[(self.task, self.node)]
            texts[-1] = (number, f"{text} {more}"[:_LONGEST_NAME])
            return
        node, number, text = self.pending[-1]
        text = f"{text} {more}".strip()[:_LONGEST_NAME]
        named = _ON_NODE.search(text)
        self.pending[-1] = (named["node"] if named and not node else node, number, text)


def _read(lines: list[str], known: list[str]) -> _Read:
    reader = _Reader(known, _is_old(lines))
    for line in lines:
        reader.line(line)
    return reader.read


def _exclude(excluded: dict[str, str], nodes: list[str], task: str) -> None:
    for node in nodes:
        excluded.setdefault(node, task or _USER_EQUIVALENCE)


def _add_row(rows: dict[str, _Row], named: list[str], head: list[str], cells: list[str]) -> None:
    place = next((cell for cell in cells[:2] if _NODE.match(cell)), None)
    if place is None:
        return
    row = _row(head, cells)
    rows[place] = _worse_row(rows.get(place), row)
    if row.status is not None:
        named.append(place)


def _row(head: list[str], cells: list[str]) -> _Row:
    status = next((_WORDS[cell] for cell in map(str.lower, cells[1:]) if cell in _WORDS), None)
    if len(cells) > len(head):
        return _Row(status)
    by_title = dict(zip(map(str.lower, head), cells, strict=False))
    required = next((by_title[title] for title in _REQUIRED if title in by_title), "")
    actual = [
        f"{title}: {cell}"
        for title, cell in by_title.items()
        if title not in (*_OF_NO_VALUE, *_REQUIRED) and cell.lower() not in _WORDS
    ]
    return _Row(
        status, required, actual[0].partition(": ")[2] if len(actual) == 1 else ", ".join(actual)
    )


def _worse_row(old: _Row | None, new: _Row) -> _Row:
    if old is None or old.status is None:
        return new
    return max(old, new, key=lambda row: _badness(row.status or PASS))


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
    is_listed = old.is_listed or new.is_listed
    ids = tuple(dict.fromkeys((*old.ids, *new.ids)))
    return _Task(old.name, status, ids, nodes, is_listed)


class _Shown(NamedTuple):
    """What a task shows of each host. ``failed`` are the hosts that it failed on, and
    ``is_explained``: a message or an excluded node gives the reason."""

    task: _Task
    rows: dict[str, _Row]
    about: dict[str, list[tuple[str, str]]]
    excluded: dict[str, str]
    failed: set[str]
    is_explained: bool


def _of_task(task: _Task, hosts: list[str], read: _Read) -> list[Foreign]:
    subject = task.name.partition(": ")[2]
    about = {host: read.messages.get((task.name, host), [])[:_MOST_NOTES] for host in hosts}
    rows = {host: task.nodes[host] for host in hosts if host in task.nodes}
    failed = {host for host in hosts if about[host]}
    failed |= {host for host, row in rows.items() if row.status == FAIL}
    if not failed:
        failed = {host for host, left_at in read.excluded.items() if left_at == task.name}
    has_notes = any(about.values())
    is_explained = has_notes or bool(set(read.excluded) & failed)
    shown = _Shown(task, rows, about, read.excluded, failed, is_explained)
    shared = [] if has_notes else read.messages.get((task.name, ""), [])[:_MOST_NOTES]
    # One text for all nodes: a cluster has many.
    shared_text = _joined(shared)
    return [
        _finding_on(host, shown, shared, shared_text)
        for host in hosts
        # A task can be for the paths of one node; other nodes have another task.
        if not _PATH_OF_NODE.match(subject) or f"{host}:/" in subject
    ]


def _finding_on(
    host: str, shown: _Shown, shared: list[tuple[str, str]], shared_text: str
) -> Foreign:
    name, _, subject = shown.task.name.partition(": ")
    own = shown.about[host]
    numbers = [*shown.task.ids, *(number for number, _text in own or shared)]
    status, text = _status_on(host, shown, _joined(own) if own else shared_text)
    if host not in shown.excluded:
        for number in numbers:
            status = _NOT_RUN.get(number, status)
    row = shown.rows.get(host, _Row(None))
    required, actual = _values_in(text)
    return Foreign(
        host,
        name,
        subject,
        status,
        "medium",
        text,
        ", ".join([*dict.fromkeys(numbers)][:_MOST_NOTES]),
        row.required or required,
        row.actual or actual,
        check_of(name, subject, tuple(numbers)),
    )


def _joined(notes: list[tuple[str, str]]) -> str:
    return "; ".join(f"{number}: {text}" for number, text in notes)[:_LONGEST_TEXT]


@functools.lru_cache(maxsize=64)
def _values_in(text: str) -> tuple[str, str]:
    """The required and the actual value in a message; "" for what it does not state."""
    value = _IN_MESSAGE.search(text)
    return (value["required"], value["actual"] or "") if value else ("", "")


def _is_not_named(host: str, shown: _Shown) -> bool:
    """Whether the task has a table, and neither it nor a message names the host."""
    return bool(shown.rows) and host not in shown.rows and not shown.about[host]


def _status_of_excluded(host: str, shown: _Shown, text: str) -> tuple[str, str]:
    left_at = shown.excluded[host]
    if left_at == shown.task.name or shown.about[host]:
        return FAIL, text or f"CVU excluded this node: the task {left_at} failed."
    return ERROR, text or f"Not checked: CVU excluded this node after the task {left_at}."


def _status_on(host: str, shown: _Shown, text: str) -> tuple[str, str]:
    """The status of a task on a host, and its text, which is ``text`` if the task has one."""
    task, rows = shown.task, shown.rows
    row = rows.get(host, _Row(None))
    if host in shown.excluded:
        return _status_of_excluded(host, shown, text)
    if row.status == ERROR:
        return ERROR, "CVU did not run this check on the node."
    if task.is_listed and host not in rows:
        return PASS, text
    is_failed = task.status == FAIL
    if _is_not_named(host, shown) and not (is_failed and not shown.failed):
        return ERROR, "Not checked: the table of this task does not name the node."
    if is_failed and shown.failed and host not in shown.failed:
        # The task failed on other nodes. Without a row this node may have failed as well.
        is_fine = row.status == PASS or shown.is_explained
        return (PASS if is_fine else FAIL), text
    return task.status, text
