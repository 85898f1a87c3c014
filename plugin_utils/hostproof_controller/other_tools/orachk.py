# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON that Oracle's ORAchk and EXAchk write (model 18.4: orachk_*_results.json).

The tool writes objects without commas between them, which is not JSON; a file that was corrected is
a list. Both are read.
"""

from __future__ import annotations

import json
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN

from .foreign_finding import MOST, Foreign, NotUnderstood, Run
from .requirements import check_of

#: orachkStatus. INFO has no verdict. Any other word is an error, never a pass.
_STATUSES = {"PASS": PASS, "WARNING": WARN, "FAIL": FAIL, "CRITICAL": FAIL, "INFO": SKIP}
_SEVERITIES = {"CRITICAL": "critical", "FAIL": "high", "WARNING": "medium", "INFO": "low"}


def parse(text: str, host: str | None = None) -> Run:
    """The results. ``host`` is for those that name no node, such as the checks of a cluster."""
    records = _records(text)
    nodes = list(
        dict.fromkeys(str(record["NodeName"]) for record in records if record.get("NodeName"))
    )
    everywhere = [host] if host is not None else nodes
    if not everywhere:
        raise NotUnderstood("the results name no node: name the host with --host")
    if sum(1 if record.get("NodeName") else len(everywhere) for record in records) > MOST:
        raise NotUnderstood(f"it has more than {MOST} results of its nodes")
    foreign = [
        _foreign(record, node)
        for record in records
        for node in ([str(record["NodeName"])] if record.get("NodeName") else everywhere)
    ]
    return Run(str(records[0].get("modelVersion", "")), foreign)


def _records(text: str) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder()
    records: list[dict[str, Any]] = []
    at = 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,[]":
            at += 1
        if at >= len(text):
            break
        try:
            record, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as problem:
            raise NotUnderstood(f"it is not a result of ORAchk: {problem}") from None
        if not isinstance(record, dict) or "orachkName" not in record:
            raise NotUnderstood("it is not a result of ORAchk: an entry has no orachkName")
        records.append(record)
        if len(records) > MOST:
            raise NotUnderstood(f"it has more than {MOST} results")
    if not records:
        raise NotUnderstood("it has no result of ORAchk")
    return records


def _foreign(record: dict[str, Any], node: str) -> Foreign:
    word = str(record.get("orachkStatus", "")).upper()
    severity = _SEVERITIES.get(word if word == "CRITICAL" else str(record.get("orachkAlertType")))
    name = str(record["orachkName"])
    # Checks of the host, of databases and of homes can have the same name.
    subject = str(
        record.get("InstanceName") or record.get("DBName") or record.get("HomePath") or ""
    )
    message = str(record.get("orachkmessage", ""))
    number = str(record.get("orachkID", ""))
    status = _STATUSES.get(word, ERROR)
    return Foreign(
        node,
        name,
        subject,
        status,
        severity or "medium",
        message,
        number,
        our_check=check_of(name),
    )
