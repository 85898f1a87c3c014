# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds to the findings of a gate that was cut short what its ledger knows of the other hosts.

python -m hostproof_controller.gate.unjudged GATE_FOLDER REPORT_FOLDER
"""

import json
import os
import sys
import time

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.errors import HostproofError

from ..latency import baseline
from ..report.findings import SCHEMA
from . import gate_steps, gating


def main(arguments: list[str]) -> int:
    """Append a line per host to findings.jsonl of the report; the exit code."""
    gate, report = arguments
    try:
        ledger = gating.load(gate)
        lines = _lines(ledger, os.path.basename(os.path.normpath(report)))
        baseline.make_folder(report)
        with open(os.path.join(report, "findings.jsonl"), "a") as stream:
            for line in lines:
                stream.write(json.dumps(line, sort_keys=True) + "\n")
    except (HostproofError, OSError) as problem:
        sys.stderr.write(f"hostproof: {problem}\n")
        return 1
    return 0


def _lines(ledger: gating.Ledger, run: str) -> list[dict]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    hosts = {host for batch in ledger.batches for host in batch["hosts"] + batch["unchanged"]}
    return [
        {
            "schema": SCHEMA,
            "run": {"id": run, "started": ledger.started, "hosts": len(hosts)},
            "host": result.host,
            "at": now,
            "recorded_at": now,
            "outcome": "judged",
            "message": "the gate was cut short",
            "findings": [finding.as_dict() for finding in result.findings],
            "evidence": evidence.encode(result.evidence),
            "catalogue": VERSION,
        }
        for result in gate_steps.leave_unjudged(ledger)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
