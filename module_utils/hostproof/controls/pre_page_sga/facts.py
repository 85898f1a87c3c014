# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of its instances: their parameters, their pages, their last start."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...answer import Answer, attempt, known
from ...errors import HostproofError, Unanswered
from ...host import Host
from ...parsers.kernel import meminfo
from ...parsers.oracle import alert_log_large_pages
from ...probes.nfs import nfs_files
from ...probes.oracle import instances as instances_probe
from ...probes.oracle import next_start
from ...probes.oracle import oracle_parameters as parameters_probe
from ...probes.oracle.instances import Instance
from ...probes.oracle.next_start import Database
from ...probes.oracle.oracle_parameters import Asked, ParameterFile, Version
from .policy import Policy, WantedInstance


class Subject(NamedTuple):
    """An instance to judge. What could not be read holds the error instead (answer.py)."""

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
    """What the host showed. ``pool`` tells the size of a huge page."""

    pool: Answer[meminfo.Pool]
    subjects: Answer[List[Subject]]


def read(host: Host, policy: Policy) -> Facts:
    """Look at everything that the checks and the plan need; nothing is written."""
    return Facts(
        pool=attempt(lambda: meminfo.pool(meminfo.parse(host.read_text("/proc/meminfo")))),
        subjects=attempt(_read_subjects, host, policy),
    )


def _read_subjects(host: Host, policy: Policy) -> List[Subject]:
    """The databases that run, and those that the policy or oratab lists. ASM takes no part."""
    running = next_start.running_databases(instances_probe.find_instances(host))
    listed = _listed(host, policy, running)
    sids = sorted(set(running) | set(listed))
    return [_look_at(host, policy, sid, running.get(sid), listed.get(sid)) for sid in sids]


def _listed(host: Host, policy: Policy, running: Dict[str, Instance]) -> Dict[str, WantedInstance]:
    """What the policy lists; for "auto" what oratab lists and has a home that is there."""
    if policy.instances is not None:
        return {instance.sid: instance for instance in policy.instances}
    homes = next_start.homes_of_oratab(host)
    listed = {sid: home for sid, home in homes.items() if sid in running}
    listed.update(next_start.stopped_of_oratab(host, running))
    return {sid: WantedInstance(sid, home, None, None) for sid, home in listed.items()}


def _look_at(
    host: Host,
    policy: Policy,
    sid: str,
    running: Optional[Instance],
    listed: Optional[WantedInstance],
) -> Subject:
    asking = next_start.Asking(
        float(policy.sqlplus_seconds),
        None if policy.ask_instances else "pre_page_sga_ask_instances",
    )
    known_home = None if listed is None else listed.home
    known_version = None if listed is None else listed.version
    database = next_start.look_at(host, asking, sid, running, known_home, known_version)
    alert_log = attempt(_alert_log_of, host, sid, listed, database.asked, database.home)
    return Subject(
        listed=listed is not None,
        database=database,
        alert_log=alert_log,
        last_start=attempt(
            lambda: parameters_probe.read_last_start(
                host, known(alert_log), known(database.target).user
            )
        ),
    )


def _alert_log_of(
    host: Host, sid: str, listed: Optional[WantedInstance], asked: Answer[Asked], home: Answer[str]
) -> str:
    """The policy's path, else where the instance says, else where the base folder has it."""
    if listed is not None and listed.alert_log is not None:
        return listed.alert_log
    if not isinstance(asked, HostproofError) and asked.trace is not None:
        return f"{asked.trace}/alert_{sid}.log"
    return _find_alert_log(host, sid, known(home))


def _find_alert_log(host: Host, sid: str, home: str) -> str:
    """BASE/diag/rdbms/DATABASE/SID/trace: the database's name can be another than the SID."""
    above = _base_of(home) + "/diag/rdbms"
    argv = ["find", above, "-mindepth", "4", "-maxdepth", "4", "-name", "alert_" + sid + ".log"]
    found = host.run(argv, nfs_files.TIMEOUT).stdout.split()
    if len(found) != 1:
        raise Unanswered(
            "command:" + " ".join(argv),
            f"the alert log of {sid} was not found below {above}: list it in "
            "pre_page_sga_instances",
        )
    return found[0]


def _base_of(home: str) -> str:
    """ORACLE_BASE by the layout that Oracle recommends: BASE/product/..."""
    base, found, _rest = home.partition("/product/")
    if not found:
        raise Unanswered(
            "dir:" + home,
            f"{home} does not lie in BASE/product: list the alert log in pre_page_sga_instances",
        )
    return base


def evidence_of(subject: Subject) -> Tuple[str, ...]:
    """The keys of what an instance was judged by."""
    keys = () if subject.running is None else subject.running.evidence()
    return keys + next_start.evidence_of(subject.database)
