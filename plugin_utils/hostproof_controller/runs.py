# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one run writes on the controller: its directories, and the lines of findings.jsonl.

The directories are named in the environment by the process that forks the workers, so that all
of them and all later tasks know the same ones.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import time
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.collect.bounded import open_regular

from . import known_findings
from .layout import WORKPLACE
from .report.findings import SCHEMA

#: Environment variable of a run's directory, of the directory above it, and the latter's name.
FOLDERS = (
    ("HOSTPROOF_REPORT", "HOSTPROOF_REPORTS", "reports"),
    ("HOSTPROOF_RECORD", "HOSTPROOF_RECORDS", "evidence"),
    ("HOSTPROOF_BASELINE", "HOSTPROOF_BASELINES", "baselines"),
)
STARTED = "HOSTPROOF_STARTED"

#: ansible-runner and AWX keep what is here, and nothing else of a run.
ARTIFACTS = "AWX_ISOLATED_DATA_DIR"

#: Original inventories of a slice, one per line. The job itself has copies, which no longer exist
#: when the report is read.
INVENTORIES = "HOSTPROOF_INVENTORIES"


def inventories(sources: Any) -> list[str]:
    """What a command that repeats this run names with -i; ``sources`` are what Ansible read."""
    named = os.environ.get(INVENTORIES)
    return named.split("\n") if named else [str(source) for source in sources or []]


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def name_folders() -> None:
    """Put the names of this run's directories into the environment, where they are not yet.

    Names only: a directory is made when there is something to put into it.
    """
    os.environ.setdefault(STARTED, now())
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for variable, parent_variable, parent in FOLDERS:
        if not os.environ.get(variable):
            above = os.environ.get(parent_variable)
            if not above:
                artifacts = os.environ.get(ARTIFACTS)
                above = os.path.join(artifacts, parent) if artifacts else str(WORKPLACE / parent)
            os.environ[variable] = str(Path(above).absolute() / f"{stamp}-{secrets.token_hex(2)}")


def report_folder() -> Path:
    name_folders()
    return Path(os.environ["HOSTPROOF_REPORT"])


def record_folder() -> Path:
    name_folders()
    return Path(os.environ["HOSTPROOF_RECORD"])


def write_result(
    host: str,
    hosts: int,
    outcome: str,
    message: str | None,
    findings: list[dict[str, Any]],
    evidence: str | None = None,
    recorded_at: str | None = None,
) -> None:
    """A host's line in findings.jsonl (docs/finding.schema.json); ``hosts`` must be checked."""
    folder = report_folder()
    run = {"id": folder.name, "started": os.environ[STARTED], "hosts": hosts}
    line = result(run, host, outcome, message, [], evidence, recorded_at)
    # The quotation marks within a text are escaped: this is the key.
    before, key, behind = json.dumps(line, sort_keys=True).partition('"findings": ')
    findings_text = known_findings.line_of(findings)
    append(folder / "findings.jsonl", f"{before}{key}{findings_text}{behind[2:]}\n")


def result(
    run: dict[str, Any],
    host: str,
    outcome: str,
    message: str | None,
    findings: list[dict[str, Any]],
    evidence: str | None = None,
    recorded_at: str | None = None,
) -> dict[str, Any]:
    """A host's line as of now; ``run`` is {id, started, hosts}."""
    return {
        "schema": SCHEMA,
        "run": run,
        "host": host,
        "at": now(),
        "recorded_at": recorded_at,
        "outcome": outcome,
        "message": message,
        "findings": findings,
        "evidence": evidence,
        "catalogue": VERSION,
    }


def write_judged(judged: list[dict[str, Any]], hosts: int) -> None:
    """The lines of hosts that were checked here, by a comparison of what was measured on them."""
    gone = lost_hosts() if judged else {}
    for record in judged:
        why = gone.get(record["host"])
        outcome = "judged" if why is None else "unreachable"
        write_result(
            record["host"], hosts, outcome, why, record["findings"], record["evidence"], now()
        )


def note_lost(host: str, why: str | None) -> None:
    """That a host could not be measured for want of a connection; None: that it could."""
    if why is not None or _lost_file().exists():
        append(_lost_file(), json.dumps([host, why]) + "\n")


def lost_hosts() -> dict[str, str]:
    """Host to why no connection could be made when it was measured last."""
    try:
        with open_regular(str(_lost_file())) as stream:
            lines = stream.read().decode("ascii").splitlines()
    except OSError:
        return {}
    return {host: why for host, why in dict(map(json.loads, lines)).items() if why is not None}


def _lost_file() -> Path:
    """Beside what the run measures: a report may come of it or not."""
    return Path(os.environ["HOSTPROOF_BASELINE"]) / "unreachable.jsonl"


def results_of_this_run() -> set[str]:
    """The hosts that have a line of this run in findings.jsonl."""
    folder = report_folder()
    hosts = set()
    try:
        with open_regular(str(folder / "findings.jsonl")) as stream:
            for raw in stream:
                # A line that cannot be read is the report's to tell.
                with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError):
                    line = _without_findings(raw)
                    if line["run"]["id"] == folder.name:
                        hosts.add(str(line["host"]))
    except OSError:
        pass
    return hosts


#: What is behind the findings of a line that write_result wrote: its keys are sorted, and no
#: quotation mark of JSON is in a text.
_BEHIND = b'], "host": '
_KEYS_BEHIND = {"host", "message", "outcome", "recorded_at", "run", "schema"}


def _without_findings(raw: bytes) -> Any:
    """The object of a line; of one that a run wrote only what is quickly read."""
    with contextlib.suppress(ValueError):
        behind = json.loads(b"{" + raw[raw.rindex(_BEHIND) + 3 :])
        if behind.keys() == _KEYS_BEHIND:
            return behind
    return json.loads(raw)


def append(path: Path, text: str) -> None:
    """Whole lines, flushed to disk: what a host answered survives whatever comes next."""
    make_folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        content = text.encode("ascii")
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            # A writer was killed within its line: that one is lost, this one is not.
            content = b"\n" + content
        stream.write(content)
        stream.flush()
        # The others need not wait for the disk one after the other.
        fcntl.flock(stream, fcntl.LOCK_UN)
        os.fsync(handle)


def write_file(path: Path, text: str) -> None:
    """A whole file for its owner only, or none."""
    make_folder(path.parent)
    part = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text.encode("ascii"))
        stream.flush()
        os.fsync(handle)
    os.replace(part, path)


#: A pack is not read whole for its date.
_HEAD = 4096
_RECORDED = re.compile(r'"recorded_at": ?"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z)"')


def recorded_at(pack: Path) -> str | None:
    """When the evidence of a pack was read, as its own lines state; None where they do not."""
    try:
        with open_regular(str(pack)) as stream:
            head = stream.read(_HEAD).decode("utf-8", "replace")
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _HEAD))
            tail = stream.read().decode("utf-8", "replace")
    except OSError:
        return None
    match = re.search(_RECORDED, head) or re.search(_RECORDED, tail)
    return match[1] if match else None


def make_folder(folder: Path) -> None:
    """Only its owner may read what hosts answered."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
