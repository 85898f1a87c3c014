# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text that Oracle's Cluster Verification Utility prints (runcluvfy.sh, cluvfy stage).

Format, from real runs of 11.2.0.3, 12.2, 19.3 to 19.27 and 23.7 to 23.26.1: "NAME ...STATUS (IDS)"
for each task. A verbose run prints a table before it, with a row for each node. At the end a failed
task is printed again, with a message "NODE: ID : text" for each node; long lines are wrapped at 80
columns. Words are translated by the locale. 11.2 has "Result: NAME passed". The installer logs each
line with a level and a date, and a second time behind "Skipping line:".

CVU excludes a node without user equivalence (PRVF-4009) or without an answer, and says with which
nodes it proceeds: no other result counts for an excluded node.
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
_PREFIX = re.compile(r"^[A-Z]+:?\s+\[[^\]]*\d{4}[^\]]*\] ?")
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
    r"\[Required[^=\]]*= (?P<required>[^;\]]+?)\s*(?:; Found = (?P<actual>[^\]]+?)\s*)?\]"
)

#: The check of Hostproof for the same requirement, by the name of the task in small letters.
_OUR_CHECKS = {
    "physical memory": "memory_pressure.physical",
    "available physical memory": "memory_pressure.available",
    "swap size": "memory_pressure.swap_size",
    "free space": "space.free",
    "users with same uid": "accounts.one_account_per_uid",
    "user existence": "accounts.exists",
    'user not in group "root"': "accounts.not_in_root",
    "group existence": "accounts.groups",
    "group membership": "accounts.groups",
    "user mask": "accounts.umask",
    "run level": "platform.run_level",
    "architecture": "platform.distribution",
    "os kernel version": "platform.kernel",
    "kernel version": "platform.kernel",
    "package": "packages.required",
    "hard limit": "process_limits.login",
    "soft limit": "process_limits.login",
    "maximum locked memory check": "process_limits.login",
    "network time protocol (ntp)": "time_sync.one_daemon",
    "clock synchronization": "time_sync.sources",
    "chrony daemon is synchronized with at least one external time source": "time_sync.sources",
    'daemon "avahi-daemon" not configured and running': "name_resolution.zeroconf",
    'daemon "proxyt" not configured and running': "name_resolution.proxyt",
    "zeroconf check": "name_resolution.zeroconf",
    "resolv.conf integrity": "name_resolution.name_servers",
    "(linux) resolv.conf integrity": "name_resolution.name_servers",
    "/dev/shm mounted as temporary file system": "space.shm",
    "systemd login manager ipc parameter": "process_limits.remove_ipc",
    "user equivalence": "cluster_nodes.ssh",
}
_OF_PARAMETERS = {
    "sem": "semaphores",
    "shm": "shared_memory",
    "file-max": "open_files",
    "ip_local_port_range": "ephemeral_ports",
    "rmem": "socket_buffers",
    "wmem": "socket_buffers",
    "aio-max-nr": "asynchronous_io",
    "panic": "panic",
    "kernel.panic": "panic",
}


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
#: Nodes, ids and texts that lines repeat.
_MOST_WORK = 2_000_000


class _Task(NamedTuple):
    name: str
    status: str
    ids: tuple[str, ...]
    nodes: dict[str, _Row]


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
    # Tables of interfaces have similar rows, so their names count only without any other name.
    others = [node for task in read.messages for node in task[1:] if node]
    hosts = [*known, *read.excluded, *others] or list(dict.fromkeys(read.named))
    hosts = [node for node in dict.fromkeys(hosts) if _NODE.match(node)]
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


def _whole_lines(text: str) -> list[str]:
    """The lines without the installer's prefix, and wrapped names of tasks in one line."""
    lines: list[str] = []
    for raw in text.splitlines():
        if len(raw) > _LONGEST_LINE or len(lines) >= _MOST_LINES:
            raise NotUnderstood(
                f"it has a line of more than {_LONGEST_LINE} characters, or more than "
                f"{_MOST_LINES} lines: not output of CVU"
            )
        line = raw.expandtabs() if raw.startswith("\t") else raw
        prefix = _PREFIX.match(line)
        if prefix is not None:
            line = line[prefix.end() :]
            if line.lstrip().startswith(_SKIPPING):
                # The line was logged before, except for an empty one.
                if line.strip() == _SKIPPING:
                    lines.append("")
                continue
        if " ..." in line and not line.lstrip().startswith("Verifying "):
            # The name of a task has few lines.
            while lines and len(line) < _LONGEST_NAME and _goes_on(lines[-1], line):
                line = f"{lines.pop()} {line.strip()}"
        lines.append(line)
    return lines


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


def _read(lines: list[str], known: list[str]) -> _Read:
    tasks: dict[str, _Task] = {}
    messages: dict[tuple[str, str], list[tuple[str, str]]] = {}
    named: list[str] = []
    excluded: dict[str, str] = {}
    rows: dict[str, _Row] = {}
    head: list[str] = []
    task = node = before = ""
    in_table = is_message = proceeds = False
    work = 0
    for line in lines:
        if work > _MOST_WORK:
            raise NotUnderstood("its lists of nodes are repeated too often")
        ended = _TASK.match(line)
        old = _OLD.match(line)
        message = _MESSAGE.match(line)
        match = ended or old
        left_out = _EXCLUDED.match(line)
        remaining = _PROCEEDS.match(line)
        if left_out is not None or remaining is not None or proceeds:
            listed = (left_out or remaining or {"nodes": line})["nodes"]
            nodes = re.findall(r"[\w.-]+", listed)
            work += len(known) + len(nodes)
            if left_out is None and nodes and _LIST_OF_NODES.match(listed):
                staying = set(nodes)
                _exclude(excluded, [each for each in known if each not in staying], task)
            elif left_out is not None:
                _exclude(excluded, nodes, task)
            # 11.2 prints the list on the next line.
            proceeds = remaining is not None and not nodes
            is_message = False
        elif match is not None:
            task = match["name"].split(" : ")[-1] if old else match["name"]
            ids = tuple(re.findall(r"[A-Z]{3,5}-\d+", (ended and ended["ids"]) or ""))
            result = _Task(task, _status(match["word"]), ids, rows)
            tasks[task] = _together(tasks.get(task), result)
            work += len(tasks[task].nodes) + len(tasks[task].ids)
            rows, in_table, is_message = {}, False, False
        elif _BEGINS.match(line) or line.startswith("Check: "):
            rows, in_table, is_message = {}, False, False
        elif message:
            node, is_message = message["node"] or "", True
            messages.setdefault((task, node), []).append(
                (message["id"], message["text"][:_LONGEST_NAME])
            )
        elif _RULE.match(line):
            in_table, head = True, re.split(r"\s{2,}", before.strip())
        elif not line.strip():
            in_table = is_message = False
        elif is_message and line[:1].isspace():
            number, text = messages[(task, node)][-1]
            messages[(task, node)][-1] = (number, f"{text} {line.strip()}"[:_LONGEST_NAME])
        elif in_table:
            _add_row(rows, named, head, re.split(r"\s{2,}", line.strip()))
        before = line
    return _Read(tasks, messages, named, excluded)


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
    return _Task(old.name, status, (*old.ids, *new.ids), nodes)


def _of_task(task: _Task, hosts: list[str], read: _Read) -> list[Foreign]:
    name, _, subject = task.name.partition(": ")
    about = {host: read.messages.get((task.name, host), [])[:_MOST_NOTES] for host in hosts}
    shared = read.messages.get((task.name, ""), [])[:_MOST_NOTES]
    has_notes = any(about.values())
    rows = {host: task.nodes[host] for host in hosts if host in task.nodes}
    failed = {
        host for host in hosts if about[host] or (host in rows and rows[host].status == FAIL)
    } or {host for host, left_at in read.excluded.items() if left_at == task.name}
    has_excluded = bool(set(read.excluded) & failed)
    findings = []
    for host in hosts:
        if _PATH_OF_NODE.match(subject) and f"{host}:/" not in subject:
            # A task for the paths of one node; other nodes have another task.
            continue
        notes = about[host] or ([] if has_notes else shared)
        numbers = [*task.ids, *(number for number, _text in notes)]
        text = "; ".join(f"{number}: {text}" for number, text in notes)
        row = rows.get(host, _Row(None))
        status = task.status
        if host in read.excluded:
            is_cause = read.excluded[host] == task.name or about[host]
            status = FAIL if is_cause else ERROR
            left_at = read.excluded[host]
            text = text or (
                f"CVU excluded this node: the task {left_at} failed."
                if is_cause
                else f"Not checked: CVU excluded this node after the task {left_at}."
            )
        elif rows and host not in rows and not about[host] and (status != FAIL or failed):
            status, text = ERROR, "Not checked: the table of this task does not name the node."
        elif status == FAIL and failed and host not in failed:
            # The task failed on other nodes. Without a row this node may have failed as well.
            is_fine = row.status == PASS or has_notes or has_excluded
            status = PASS if is_fine else FAIL
        for number in numbers:
            status = _NOT_RUN.get(number, status) if host not in read.excluded else status
        value = _IN_MESSAGE.search(text)
        required = row.required or (value["required"] if value else "")
        actual = row.actual or ((value["actual"] or "") if value else "")
        findings.append(
            Foreign(
                host,
                name,
                subject,
                status,
                "medium",
                text,
                ", ".join(dict.fromkeys(numbers)),
                required,
                actual,
                _our_check(name, subject),
            )
        )
    return findings


def _our_check(name: str, subject: str) -> str:
    """The check for the same requirement; "" if there is none."""
    if name.lower() == "os kernel parameter":
        for part, check in _OF_PARAMETERS.items():
            if subject.startswith(part):
                return f"kernel_parameters.{check}"
        return ""
    return _OUR_CHECKS.get(name.lower(), "")
