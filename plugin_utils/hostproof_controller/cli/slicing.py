# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof audit --slices N --slice-nodes FILE``: an audit as jobs of ansible-runner."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from ..host_names import RULE, is_host_name
from ..slices.gathering import gather
from ..slices.jobs import AuditRequest, Job
from ..slices.nodes import Node, read_nodes
from ..slices.splitting import split
from .ansible_options import AnsibleOptions
from .environment import environment_folder, named_inventories
from .errors import Refused, complain
from .forks import CONFIGURED, requested
from .hosts import hosts_and_groups
from .terminal import say

_MOST_SLICES = 1000

#: The word for as many slices as make each of them one that is queried at once.
_AUTO = "auto"

#: Forks that all slices on this machine have together. A run of few hosts takes half of the memory
#: a fork that one of thousands does (docs/runner.md).
_FORKS_HERE = 200
#: Maximum number of Ansible runs at once on this machine: each needs memory, and they share the
#: forks.
_RUNS_HERE = 8

#: Options that need a terminal, which a job does not have, and the options to use instead.
_ASKING = {
    "become_ask_pass": "--become-password-file",
    "ask_pass": "--connection-password-file",
    "ask_vault_pass": "--vault-password-file",
    "step": "no --step",
}

#: Options that each job gets by itself: its hosts and its inventory.
_OF_THE_JOB = ("inventory", "subset")


class Slicing:
    """How an audit is cut, and where its slices run."""

    def __init__(
        self, count: int, forks: int, nodes: list[Node], inventories: list[str], limit: str
    ) -> None:
        """``count`` 0: as many slices as make each as large as it has forks. ``forks`` 0: ours."""
        self.nodes = nodes
        processors = min(os.cpu_count() or 1, _RUNS_HERE)
        here: list[Node | None] = [None] * min(count or processors, processors)
        self._lanes: list[Node | None] = [*nodes] or here
        self._count = count
        self._forks = forks or (CONFIGURED if nodes else min(CONFIGURED, _FORKS_HERE // len(here)))
        self._own_forks = [] if nodes or forks else [f"--forks={self._forks}"]
        self._inventories = inventories
        self._limit = limit

    def jobs(self) -> list[Job]:
        """A job for each slice of the hosts."""
        hosts, groups = hosts_and_groups(self._inventories, self._limit)
        for host in hosts:
            if not is_host_name(host):
                raise Refused(f"the inventory names a host {host[:100]!a}: a host's name is {RULE}")
        count = self._count or max(len(self.nodes), -(-len(hosts) // self._forks))
        if count > _MOST_SLICES:
            raise Refused(
                f"--slices {_AUTO}: {len(hosts)} hosts, {self._forks} at a time, would be "
                f"{count} slices, and {_MOST_SLICES} can be made: give more --forks"
            )
        slices = split(hosts, groups, count)
        return [
            Job(number, len(slices), slice_hosts, self._lanes[(number - 1) % len(self._lanes)])
            for number, slice_hosts in enumerate(slices, 1)
        ]

    def run(
        self,
        jobs: list[Job],
        ansible: AnsibleOptions,
        environment: dict[str, str],
        started: str,
        interrupted: Sequence[int],
    ) -> None:
        """Run the jobs, and write all their results to the report's directory.

        ``interrupted`` is not empty after an interruption by the user. The programs of the jobs
        receive the same signal and end. No other job starts, and hosts without a result are
        reported.
        """
        programs = _programs()
        path = os.pathsep.join([str(programs), environment.get("PATH", os.defpath)])
        request = AuditRequest(
            self._inventories,
            [
                Path(word[1:]).absolute()
                for word in ansible.all("extra_vars")
                if word.startswith("@")
            ],
            [*ansible.words_for_any_directory(_OF_THE_JOB), *self._own_forks],
            programs,
            {**environment, "PATH": path},
        )
        with tempfile.TemporaryDirectory(prefix="hostproof-slices-") as folder:
            lanes = [jobs[number :: len(self._lanes)] for number in range(len(self._lanes))]
            with ThreadPoolExecutor(len(lanes)) as pool:
                run = partial(
                    _run_lane, folder=Path(folder), request=request, interrupted=interrupted
                )
                for done in [pool.submit(run, lane) for lane in lanes]:
                    done.result()
            for job, lost in gather(Path(environment["HOSTPROOF_REPORT"]), started, jobs):
                complain(f"{job.name} lost {lost} of its {len(job.hosts)} hosts")


def _run_lane(
    jobs: Sequence[Job], folder: Path, request: AuditRequest, interrupted: Sequence[int]
) -> None:
    """One after the other, on one node."""
    for job in jobs:
        if not interrupted:
            say(f"{job.name}: {len(job.hosts)} hosts")
            job.run(folder, request, interrupted)
            say(f"{job.name} has ended")
        job.was_interrupted = bool(interrupted)


def slicing_of(
    count: str | None,
    file: str | None,
    ansible: AnsibleOptions,
    environment: dict[str, str],
    *,
    has_evidence: bool,
) -> Slicing:
    """The slices that --slices and --slice-nodes define; Refused if these are invalid."""
    automatic = count == _AUTO
    if count is not None and not (automatic or _is_number(count)):
        raise Refused(f"--slices: {count} is neither a number of slices nor {_AUTO}")
    nodes = read_nodes(Path(file)) if file is not None else []
    slice_count = 0 if automatic else _slice_count(count, nodes)
    for key, instead in _ASKING.items():
        if ansible.has(key):
            raise Refused(f"a slice has no terminal for questions: use {instead} with --slices")
    if has_evidence:
        raise Refused("--evidence contacts no host: nothing to split into slices")
    inventories = _inventories(ansible, environment)
    _check_variable_files(ansible)
    _programs()
    at_once = requested(ansible.last("forks"), environment) or 0
    return Slicing(slice_count, at_once, nodes, inventories, ansible.last("subset") or "")


def _slice_count(count: str | None, nodes: list[Node]) -> int:
    slice_count = len(nodes) if count is None else int(count)
    if not 0 < slice_count <= _MOST_SLICES:
        raise Refused(f"--slices: 1 to {_MOST_SLICES} slices can be made, not {slice_count}")
    return slice_count


def _inventories(ansible: AnsibleOptions, environment: dict[str, str]) -> list[str]:
    inventories = list(ansible.all("inventory")) or named_inventories(environment)
    if not inventories:
        raise Refused("--slices needs your hosts: name them with -i INVENTORY")
    return inventories


def _check_variable_files(ansible: AnsibleOptions) -> None:
    for word in ansible.all("extra_vars"):
        if word.startswith("@") and not os.path.isfile(word[1:]):
            raise Refused(f"-e: there is no file {word[1:]}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 5


def _programs() -> Path:
    directory = environment_folder() / "bin"
    if not (directory / "ansible-runner").exists():
        raise Refused(
            f"--slices needs ansible-runner: {directory}/python -m pip install "
            "-r requirements-slices.txt"
        )
    return directory
