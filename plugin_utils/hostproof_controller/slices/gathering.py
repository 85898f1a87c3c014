# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merges the results of all slices into the findings.jsonl of one run.

Results of a slice for hosts of another slice are ignored. A host without a result gets one that
states the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import runs
from ..report.render import Draft, render_lines
from ..report.store import FINDINGS_FILE, read_entries
from .jobs import Job


def gather(report: Path, started: str, jobs: Sequence[Job]) -> list[tuple[Job, int]]:
    """Write the lines of all jobs to this directory; return jobs with missing hosts and counts."""
    run = {"id": report.name, "started": started, "hosts": sum(len(job.hosts) for job in jobs)}
    lost: list[tuple[Job, int]] = []
    with Draft(str(report / FINDINGS_FILE)) as draft:
        for job in jobs:
            missing = set(job.hosts)
            for line in render_lines(_results(job, run, missing)):
                draft.write(line)
            for line in render_lines(_without(job, run, missing)):
                draft.write(line)
            if missing:
                lost.append((job, len(missing)))
            if missing and job.began:
                runs.write_file(report / job.file_name, job.output())
        draft.replace()
    return lost


def _results(job: Job, run: dict[str, Any], missing: set[str]) -> Iterator[dict[str, Any]]:
    """The lines that a job returned. Removes hosts with a result from ``missing``."""
    own = frozenset(job.hosts)
    for entry in read_entries(map(str, job.results)):
        if entry.host in own:
            missing.discard(entry.host)
            yield {**entry.load(), "run": run}


def _without(job: Job, run: dict[str, Any], missing: set[str]) -> Iterator[dict[str, Any]]:
    why = job.why_lost() if missing else ""
    return (runs.result(run, host, "failed", why, []) for host in sorted(missing))
