"""What the runner prints at the end: times, skips, failures and the closing line."""

import os
from collections import defaultdict
from typing import NamedTuple

from .outcome import Counts, Ended
from .stages import LOGS, SLOWEST

#: tests/archives notes every run of Ansible here: a line is stage, seconds and playbook.
ANSIBLE_RUNS = LOGS / "ansible-runs.txt"


class AnsibleRuns(NamedTuple):
    """How often Ansible ran, and the seconds in it; several runs can overlap."""

    number: int = 0
    seconds: float = 0.0

    def and_one(self, seconds: float) -> "AnsibleRuns":
        return AnsibleRuns(self.number + 1, self.seconds + seconds)


def ansible_runs() -> dict[str, dict[str, AnsibleRuns]]:
    """Stage to playbook to its runs."""
    runs: dict[str, dict[str, AnsibleRuns]] = defaultdict(lambda: defaultdict(AnsibleRuns))
    lines = ANSIBLE_RUNS.read_text().splitlines() if ANSIBLE_RUNS.exists() else []
    for line in lines:
        stage, seconds, what = line.split(" ", 2)
        runs[stage][what] = runs[stage][what].and_one(float(seconds))
    return runs


def times(ended: list[Ended]) -> str:
    """Where the time went: a table of stages, and for each its slowest tests and playbooks."""
    runs = ansible_runs()
    form = "  {:<11}{:>8}{:>8}{:>8}{:>9}{:>13}"
    lines = ["", "Seconds; CPU with that of virtual machines:"]
    lines.append(form.format("stage", "took", "budget", "CPU", "Ansible", "seconds in it"))
    for entry in ended:
        ran = runs[entry.stage.name].values()
        cells = (entry.stage.name, f"{entry.seconds:.0f}", entry.stage.budget, f"{entry.cpu:.0f}")
        in_ansible = sum(each.seconds for each in ran)
        lines.append(form.format(*cells, sum(each.number for each in ran), f"{in_ansible:.0f}"))
    lines.append(form.format("all", "", "", f"{sum(entry.cpu for entry in ended):.0f}", "", ""))
    for entry in ended:
        slowest = entry.slowest()
        often = sorted(runs[entry.stage.name].items(), key=lambda item: -item[1].seconds)
        if slowest or often:
            lines += ["", f"  {entry.stage.name}"]
        lines += [f"  {seconds:8.1f}  {name}" for seconds, name in slowest]
        lines += [
            f"  {ran.seconds:8.1f}  in {ran.number} x {what}" for what, ran in often[:SLOWEST]
        ]
    return "\n".join(lines)


def closing(
    ended: list[Ended], left_out: list[str], unsteady: list[str], seconds: float, load: float
) -> tuple[str, bool]:
    """The last lines of a run, and whether anything failed or nothing ran. ``left_out``: stages
    that --quick left out. ``load``: the load average when the run began."""
    total = sum((entry.counts for entry in ended), Counts(0, 0, len(left_out)))
    skips = [
        f"{entry.stage.name}: {reason}"
        for entry in ended
        for result in entry.results
        for reason in result.skips
    ]
    skips += [f"{name}: all of it left out by --quick" for name in left_out]
    lines = ["", "Skipped, and why:", *(f"  {skip}" for skip in skips), ""] if skips else [""]
    # Failures come last: of a long output often only the end is kept.
    lines += [
        f"failed: {entry.stage.name}: {name}"
        for entry in ended
        for result in entry.results
        if result.counts.failed
        for name in result.failures
    ]
    lines += [
        f"unsteady, failed at first and passed when nothing else ran: {name}" for name in unsteady
    ]
    for entry in ended:
        if entry.seconds > entry.stage.budget:
            took, budget = f"{entry.seconds:.0f} s", f"{entry.stage.budget} s"
            lines.append(f"over its budget: {entry.stage.name} took {took} of {budget}")
    if not total.passed and not total.failed:
        lines.append("failed: no test ran, see the reasons above")
    cpu = sum(entry.cpu for entry in ended)
    processors = f"{os.cpu_count()} processors, load {load:.1f} at the start"
    lines.append(f"in {seconds:.0f} s, with {cpu:.0f} s of CPU time ({processors}):")
    lines.append(
        f"hostproof: {total.passed} passed, {total.failed} failed, {total.skipped} skipped"
    )
    return "\n".join(lines), total.failed > 0 or not total.passed
