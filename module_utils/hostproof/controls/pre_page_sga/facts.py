# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about instances: parameters, page sizes of the SGA, last start in the alert log."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, known
from ...collect.host import Host
from ...parsers.kernel import meminfo
from ...parsers.oracle import alert_log_large_pages
from ...probes.oracle import alert_logs, next_start
from ...probes.oracle import instances as instances_probe
from ...probes.oracle.instances import Instance
from ...probes.oracle.next_start import Database
from ...probes.oracle.oracle_parameters import Asked, ParameterFile, Version
from .policy import Policy, WantedInstance


class Subject(NamedTuple):
    """An instance to check. An Answer can be the error of its reading (answer.py)."""

    listed: bool
    database: Database
    alert_log: Answer[str]
    last_start: Answer[alert_log_large_pages.Start]

    @property
    def sid(self) -> str:
        return self.database.sid

    @property
    def running(self) -> Optional[Instance]:
        return self.database.running

    @property
    def version(self) -> Answer[Version]:
        return self.database.version

    @property
    def asked(self) -> Answer[Asked]:
        return self.database.asked

    @property
    def file(self) -> Answer[ParameterFile]:
        return self.database.file


class Facts(NamedTuple):
    """Facts of the host. ``pool`` contains the size of a huge page."""

    pool: Answer[meminfo.Pool]
    subjects: Answer[List[Subject]]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks and the plan."""
    return Facts(
        pool=attempt(lambda: meminfo.pool(meminfo.parse(host.read_text("/proc/meminfo")))),
        subjects=attempt(_read_subjects, host, policy),
    )


def _read_subjects(host: Host, policy: Policy) -> List[Subject]:
    """Running databases, and those that the policy or oratab lists. ASM instances are excluded."""
    running = next_start.running_databases(instances_probe.find_instances(host))
    listed = _listed(host, policy, running)
    sids = sorted(set(running) | set(listed))
    return [_read_database(host, policy, sid, running.get(sid), listed.get(sid)) for sid in sids]


def _listed(host: Host, policy: Policy, running: Dict[str, Instance]) -> Dict[str, WantedInstance]:
    """Instances of the policy. With "auto" those in oratab whose home exists."""
    if policy.instances is not None:
        return {instance.sid: instance for instance in policy.instances}
    homes = next_start.listed_in_oratab(host, _query_for(policy), running)
    return {sid: WantedInstance(sid, home, None, None) for sid, home in homes.items()}


def _query_for(policy: Policy) -> next_start.Asking:
    forbidden_by = None if policy.query_instances else "pre_page_sga_query_instances"
    return next_start.Asking(float(policy.sqlplus_timeout), forbidden_by)


def _read_database(
    host: Host,
    policy: Policy,
    sid: str,
    running: Optional[Instance],
    listed: Optional[WantedInstance],
) -> Subject:
    known_home = None if listed is None else listed.home
    known_version = None if listed is None else listed.version
    database = next_start.read_database(
        host, _query_for(policy), sid, running, known_home, known_version
    )
    log_path = None if listed is None else listed.alert_log
    alert_log = attempt(alert_logs.find, host, database, log_path, "pre_page_sga_instances")
    return Subject(
        listed=listed is not None,
        database=database,
        alert_log=alert_log,
        last_start=attempt(
            lambda: alert_logs.read_last_start(host, known(alert_log), known(database.target).user)
        ),
    )


def evidence_of(subject: Subject) -> Tuple[str, ...]:
    """The evidence keys of an instance."""
    keys = () if subject.running is None else subject.running.evidence()
    return keys + next_start.evidence_of(subject.database)
