# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what the hosts answer to disk as they finish."""

from __future__ import annotations

import json
import os
import secrets
import time
from base64 import b64decode
from pathlib import Path
from zlib import decompress

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: hostproof_findings
type: aggregate
short_description: Stream findings and evidence to disk
description:
  - Writes one JSON line a host to C(findings.jsonl) in a report folder of its own, as
    docs/finding.schema.json says, the moment the host has answered. A killed run keeps what it had.
  - Writes an evidence pack a host when evidence is recorded.
  - Sets the environment variables E(HOSTPROOF_REPORT) and E(HOSTPROOF_BASELINE) to the folders of
    the report and of what is measured, for later tasks.
requirements:
  - enable it in ansible.cfg with C(callbacks_enabled)
options: {}
author: Hostproof contributors
"""

JUDGE = "verify_controls"
APPLY = "apply_control"
RECORD = "record_evidence"
MEASURE = "measure_latency"
#: Run on the controller, and answer for many hosts at once.
COMPARE = ("compare_latency", "latency_gate")
PROJECT = Path(__file__).resolve().parents[1]


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def choose_folder(variable: str, parent_variable: str, parent: str) -> Path:
    """The folder that an environment variable names, or else a new name, which is put there."""
    if not os.environ.get(variable):
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        above = Path(os.environ.get(parent_variable) or PROJECT / parent).absolute()
        os.environ[variable] = str(above / f"{stamp}-{secrets.token_hex(2)}")
    return Path(os.environ[variable])


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "hostproof_findings"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._report: Path | None = None
        self._evidence: Path | None = None
        self._started = now()
        self._hosts: set[str] = set()
        self._gone: dict[str, str] = {}

    def v2_playbook_on_play_start(self, play) -> None:
        variables = play.get_variable_manager().get_vars(play=play)
        self._hosts.update(str(host) for host in variables.get("ansible_play_hosts_all", []))

    def v2_playbook_on_start(self, playbook) -> None:
        # Names only: a folder is made when there is something to put into it.
        self._report = choose_folder("HOSTPROOF_REPORT", "HOSTPROOF_REPORTS", "reports")
        self._evidence = choose_folder("HOSTPROOF_RECORD", "HOSTPROOF_RECORDS", "evidence")
        choose_folder("HOSTPROOF_BASELINE", "HOSTPROOF_BASELINES", "baselines")

    def v2_runner_on_ok(self, result) -> None:
        self._answered(result, "judged", None)

    def v2_runner_on_failed(self, result, ignore_errors=False) -> None:
        # A role's verify fails the host when its findings do: that host was judged all the same.
        judged = isinstance(result._result.get("findings"), list)
        self._answered(result, "judged" if judged else "failed", None if judged else reason(result))

    def v2_runner_on_unreachable(self, result) -> None:
        self._answered(result, "unreachable", reason(result))

    def _answered(self, result, outcome: str, message: str | None) -> None:
        action = result._task.action
        host, evidence = result._host.get_name(), result._result.get("evidence")
        if action == JUDGE:
            findings = result._result.get("findings", [])
            self._write_line(host, outcome, message, findings, evidence)
        elif action == APPLY and outcome == "failed" and not result._task.check_mode:
            self._write_line(host, "judged", None, [not_applied(result, message)], evidence)
        elif action == APPLY and outcome == "unreachable" or is_unjudged(result._task, outcome):
            self._write_line(host, outcome, message, [], evidence)
        elif action == RECORD and outcome == "judged":
            self._write_pack(result)
        elif action == MEASURE:
            # What a comparison says of a host that does not answer is that it does not.
            self._gone.pop(host, None)
            if outcome == "unreachable":
                self._gone[host] = message or "no connection"
        elif action in COMPARE and outcome == "judged":
            for one in result._result.get("judged", []):
                gone = self._gone.get(one["host"])
                state = "judged" if gone is None else "unreachable"
                self._write_line(one["host"], state, gone, one["findings"], one["evidence"])

    def _write_line(
        self, host: str, outcome: str, message: str | None, findings: list, evidence: str | None
    ) -> None:
        assert self._report is not None
        line = {
            "schema": 1,
            "run": {"id": self._report.name, "started": self._started, "hosts": len(self._hosts)},
            "host": host,
            "at": now(),
            "outcome": outcome,
            "message": message,
            "findings": findings,
            "evidence": evidence,
        }
        append(self._report / "findings.jsonl", json.dumps(line, sort_keys=True) + "\n")

    def _write_pack(self, result) -> None:
        assert self._evidence is not None
        host = result._host.get_name()
        pack = {
            "schema": 1,
            "host": host,
            "recorded_at": now(),
            "hostproof": result._result["hostproof"],
            "readings": json.loads(decompress(b64decode(result._result["evidence"]))),
        }
        text = json.dumps(pack, indent=1, sort_keys=True) + "\n"
        append(self._evidence / f"{host.replace('/', '_')}.json", text)


def append(path: Path, text: str) -> None:
    """One write, flushed to disk: what a host answered survives whatever comes next."""
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text.encode("ascii"))
        stream.flush()
        os.fsync(stream.fileno())


def is_unjudged(task, outcome: str) -> bool:
    """Whether a verify entry point refused its variables: that host will not be judged."""
    context = task.args.get("validate_args_context") or {}
    return (
        outcome == "failed"
        and task.action == "ansible.builtin.validate_argument_spec"
        and context.get("argument_spec_name") == "verify"
    )


def not_applied(result, message: str | None) -> dict:
    """The finding that a control's change was refused or not taken: verify will not come to it."""
    control = result._task.args["control"]
    return {
        "control": control,
        "check": f"{control}.applied",
        "title": "The change was made",
        "status": "fail",
        "severity": "critical",
        "desired": "as the policy says",
        "persisted": None,
        "running": "not as the policy says",
        "in_use": None,
        "takes_effect": None,
        "why": message,
        "fix": f"look at the plan: ./hostproof apply --check --diff --limit {result._host}",
        "reference": f"docs/controls/{control}.md",
        "evidence": [],
        "waiver": None,
    }


def reason(result) -> str:
    """Why a host gave no findings, in one line."""
    answer = result._result
    text = (
        answer.get("msg") or answer.get("module_stderr") or answer.get("exception") or "no reason"
    )
    return " ".join(str(text).split())[:1000]
