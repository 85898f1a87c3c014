# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of latency check one by one: files that are read, targets, and reports."""

from typing import Dict, List, NamedTuple, Tuple, Union

from ...collect.answer import Answer, known
from ...collect.measured import Measured
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.checking import Skip, Subjects, known_or_skip
from ...latency.probe_list import DISK_READ, POOL, REPORT, SQLNET, TCP, Probe
from ...parsers.nfs.nfs_options import LINUX
from ...probes.kernel.block_storage import Storage
from .facts import EVIDENCE, Facts
from .figures_of_instance import figures_of
from .policy import Policy
from .probes.running_databases import Running

IOSTATS = "kernel Documentation/admin-guide/iostats.rst"

#: Names of the layers of a round trip.
WORDS = {
    "net": "handshake",
    "kernel": "network",
    "user": "user",
    "server": "listener",
    "host": "host",
}


class Probed(NamedTuple):
    """A probe of the policy, and what it measured."""

    probe: Probe
    answer: Answer[Measured]

    @property
    def key(self) -> str:
        return EVIDENCE + self.probe.name

    @property
    def path(self) -> str:
        return str(self.probe.options["path"])

    @property
    def target(self) -> str:
        return self.probe.name.split(" ", 1)[1]


class File(NamedTuple):
    """A file that is read, and what it is on."""

    subject: Probed
    kind: Answer[Storage]

    @property
    def path(self) -> str:
        return self.subject.path

    def known(self) -> Tuple[Measured, Storage]:
        return known(self.subject.answer), known(self.kind)


class Instance(NamedTuple):
    """A running database whose parameters are checked as those that a report prints."""

    database: Running

    @property
    def answer(self) -> Measured:
        return Measured([], [], figures_of(known(self.database.asked)))

    @property
    def key(self) -> str:
        return str(known(self.database.asked).key)

    @property
    def path(self) -> str:
        return str(self.database.sid)


#: Where parameters of a database are told.
Source = Union[Probed, Instance]


def recorded_figures(subject: Source) -> Dict[str, Union[str, float]]:
    """The figures of a report. Unanswered if it was recorded without any."""
    figures = known(subject.answer).figures
    if figures is None:
        raise Unanswered(subject.key, "it was recorded without figures; record it again")
    return figures


def _of(policy: Policy, kind: str) -> List[Probe]:
    return [probe for probe in policy.probes if probe.kind == kind]


def need_linux(facts: Facts) -> None:
    system = known(facts.system)
    if system != LINUX:
        raise Skip(f"It is only measured on Linux, not on {system}.")


def need_window(policy: Policy) -> None:
    if not policy.window_seconds:
        raise Skip("hostproof_window_seconds is 0: nothing is measured.")


def _files(facts: Facts, policy: Policy) -> List[File]:
    probes = _of(policy, DISK_READ)
    if not probes:
        raise Skip("latency_probes names no disk_read: no file is read unless it is requested.")
    need_linux(facts)
    need_window(policy)
    subjects = [Probed(probe, facts.active[probe.name]) for probe in probes]
    return [File(subject, facts.storage[subject.path]) for subject in subjects]


def _targets(facts: Facts, policy: Policy) -> List[Probed]:
    probes = _of(policy, TCP)
    if not probes:
        raise Skip("latency_probes names no tcp: nothing is sent unless it is requested.")
    need_window(policy)
    return [Probed(probe, facts.active[probe.name]) for probe in probes]


def _pools(facts: Facts, policy: Policy) -> List[Probed]:
    probes = _of(policy, POOL)
    if not probes:
        raise Skip("latency_probes names no pool: no server is queried unless it is requested.")
    need_window(policy)
    return [Probed(probe, facts.active[probe.name]) for probe in probes]


def _with_budget(facts: Facts, policy: Policy) -> List[Probed]:
    if policy.budget is None:
        raise Skip("latency_budget is not given.")
    return _targets(facts, policy)


def _reports(facts: Facts, policy: Policy) -> List[Probed]:
    return [Probed(probe, facts.reports[probe.name]) for probe in _of(policy, REPORT)]


def _with_sizes(facts: Facts, policy: Policy) -> List[Probed]:
    missing = Unanswered(EVIDENCE, "it was not measured")
    return _reports(facts, policy) + [
        Probed(probe, facts.active.get(probe.name, missing)) for probe in _of(policy, SQLNET)
    ]


def _databases(facts: Facts, _policy: Policy) -> List[Running]:
    return list(known_or_skip(facts.databases))


def _sources(facts: Facts, policy: Policy) -> List[Union[Source, HostproofError]]:
    """The reports that the policy names, then the databases that run."""
    sources: List[Union[Source, HostproofError]] = list(_reports(facts, policy))
    if isinstance(facts.databases, HostproofError):
        if not isinstance(facts.databases, Absent):
            sources.append(facts.databases)
    else:
        sources += [Instance(database) for database in facts.databases]
    return sources


def no_answer(subject: Probed, measured: Measured) -> Unanswered:
    return Unanswered(subject.key, "; ".join(measured.remarks) or "there was no answer")


FILES = Subjects(_files, name=lambda file: str(file.path))
TARGETS = Subjects(_targets, name=lambda subject: str(subject.target))
POOLS = Subjects(_pools, name=lambda subject: str(subject.target))
WITH_BUDGET = Subjects(_with_budget, name=lambda subject: str(subject.target))
WITH_SIZES = Subjects(
    _with_sizes,
    none="latency_probes names no report and no sqlnet probe.",
    name=lambda subject: subject.target,
)
REPORTS = Subjects(
    _reports,
    none="latency_probes names no report.",
    name=lambda subject: str(subject.path),
)
DATABASES = Subjects(
    _databases,
    none="No database runs here.",
    name=lambda running: str(running.sid),
)
SOURCES: Subjects[Facts, Policy, Source] = Subjects(
    _sources,
    none="latency_probes names no report, and no database is queried or runs here.",
    name=lambda source: str(source.path),
    unknown="Instances",
)
