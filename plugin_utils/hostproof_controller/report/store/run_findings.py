# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings that no control makes: a host without an answer, a run that is not complete."""

import shlex
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    Check,
    make_finding,
)

from ... import run_options
from ...host_names import pattern_of
from ..verdict import UNCHECKED_PROFILE

REACHABLE = Check(
    "host.reachable",
    "Host is reachable",
    "critical",
    "",
    "Nothing is known about this host: no connection could be made.",
    "docs/limits.md, hosts that do not answer",
    problem="Host is unreachable",
)
AUDITED = Check(
    "host.audited",
    "Host was audited",
    "critical",
    "",
    "Nothing is known about this host: no control returned a result.",
    "docs/limits.md, hosts that do not answer",
    problem="Host was not audited",
)
MATCHED = Check(
    "run.hosts_matched",
    "At least one host was audited",
    "critical",
    "",
    "Whether any host is ready could not be determined.",
    "README, exit codes",
    problem="No host was audited",
)
READABLE = Check(
    "run.results_readable",
    "Every result of the run is readable",
    "critical",
    "",
    "It is unknown which host the result belongs to.",
    "docs/limits.md, hosts that do not answer",
    problem="A result of the run is not readable",
)
FINISHED = Check(
    "run.finished",
    "Run is complete",
    "critical",
    "",
    "Nothing is known about the hosts that are missing.",
    "README, exit codes",
    problem="Run was interrupted",
)

#: For a run that --checks, --skip-checks or --set has narrowed.
SELECTION = Check(
    "host.selection",
    "All checks were run",
    "low",
    "",
    "The verdict is about the selected checks only.",
    "docs/selection.md",
)

#: For a run with --target-release or --target-os.
TARGET = Check(
    "host.target",
    "The host is checked as it is",
    "low",
    "",
    "The verdict is about the target, not about the present release and distribution.",
    "docs/selection.md",
)

#: For a host on which a control that its profile requires skipped every check.
PROFILE = Check(
    UNCHECKED_PROFILE,
    "Every control of the profile has checks",
    "low",
    "",
    "Nothing shows that the host is ready.",
    "docs/report.md",
)


def ask_again(hosts: str) -> str:
    """The command that audits hosts again: with the options of this run, or, for a stored report,
    with one that every reader has."""
    options = run_options.of_run() if run_options.is_a_run() else "-i INVENTORY"
    return " ".join(["./hostproof audit", *filter(None, [options]), f"--limit {hosts}"])


def ask_silent(check: str, hosts: str) -> str:
    """The command that shows why hosts gave no answer; ``check``: REACHABLE or AUDITED."""
    shows = "   # shows how it connects" if check == REACHABLE.id else ""
    return f"{ask_again(hosts)} -vvv{shows}"


def no_answer(line: dict[str, Any]) -> dict[str, Any]:
    """The error finding for a result without findings."""
    if line["outcome"] == "unreachable":
        check, actual = REACHABLE, "no connection"
    else:
        check, actual = AUDITED, "no control answered"
    fix = ask_silent(check.id, shlex.quote(pattern_of(line["host"])))
    desired = "the host answers" if line["outcome"] == "unreachable" else "every control answers"
    return error_finding(check, desired, actual, fix, line["message"])


def error_finding(
    check: Check, desired: str, actual: str, fix: str, why: str | None
) -> dict[str, Any]:
    finding = make_finding(check, ERROR, why=why, fix=fix, desired=desired, running=actual)
    return finding._replace(takes_effect=None).as_dict()
