# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of its instances: their parameters, their pages, their last start."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...answer import Answer, attempt, if_known, known, unless_absent
from ...errors import Absent, HostproofError, Unanswered
from ...host import Host
from ...parsers import alert_log_large_pages, meminfo, oratab
from ...probes import instances as instances_probe
from ...probes import nfs_files
from ...probes import oracle_parameters as parameters_probe
from ...probes.instances import Instance
from ...probes.oracle_parameters import Asked, ParameterFile, Version
from ...sqlplus import Target
from .policy import Policy, WantedInstance

#: The parameters that decide how an instance takes its SGA.
PARAMETERS = (
    "pre_page_sga",
    "use_large_pages",
    "lock_sga",
    "memory_target",
    "memory_max_target",
    "sga_max_size",
    "sga_target",
)

_REMOVED = " (deleted)"
_ORACLE = "/bin/oracle"


class Subject(NamedTuple):
    """An instance to judge. What could not be read holds the error instead (answer.py).

    ``running`` is None for one that is down. ``asked`` is Absent for it, and Unanswered where the
    policy forbids to ask.
    """

    sid: str
    listed: bool
    running: Optional[Instance]
    home: Answer[str]
    target: Answer[Target]
    version: Answer[Version]
    asked: Answer[Asked]
    file: Answer[ParameterFile]
    alert_log: Answer[str]
    last_start: Answer[alert_log_large_pages.Start]


class Facts(NamedTuple):
    """What the host showed. ``pool`` tells the size of a huge page."""

    pool: Answer[meminfo.Pool]
    subjects: Answer[List[Subject]]


def read(host, policy):
    # type: (Host, Policy) -> Facts
    """Look at everything that the checks and the plan need; nothing is written."""
    return Facts(
        pool=attempt(lambda: meminfo.pool(meminfo.parse(host.read_text("/proc/meminfo")))),
        subjects=attempt(_read_subjects, host, policy),
    )


def _read_subjects(host, policy):
    # type: (Host, Policy) -> List[Subject]
    """The databases that run, and those that the policy or oratab lists. ASM takes no part."""
    ones = [one for one in instances_probe.find_instances(host) if one.kind in ("ora", "db")]
    running = {instance.sid: instance for instance in ones}
    if len(running) < len(ones):
        raise Unanswered(instances_probe.PMON_KEY, "two running instances have one SID")
    listed = _listed(host, policy, running)
    sids = sorted(set(running) | set(listed))
    return [_look_at(host, policy, sid, running.get(sid), listed.get(sid)) for sid in sids]


def _listed(host, policy, running):
    # type: (Host, Policy, Dict[str, Instance]) -> Dict[str, WantedInstance]
    """What the policy lists; for "auto" what oratab lists and has a home that is there."""
    if policy.instances is not None:
        return {instance.sid: instance for instance in policy.instances}
    listed = {}
    for sid, home in _oratab(host).items():
        # Under Clusterware oratab names databases, not instances, and +ASM.
        if sid in running or (sid.isalnum() and _has_parameter_file(host, home, sid)):
            listed[sid] = WantedInstance(sid, home, None, None)
    return listed


def _oratab(host):
    # type: (Host) -> Dict[str, str]
    homes = {}
    for path in oratab.PATHS:
        text = unless_absent(attempt(host.read_text, path), "")
        homes.update({entry.sid: entry.home for entry in oratab.parse(text) if entry.sid != "*"})
    return homes


def _has_parameter_file(host, home, sid):
    # type: (Host, str, str) -> bool
    found = attempt(
        lambda: parameters_probe.read_parameter_file(
            host, home, sid, parameters_probe.owner_of(host, home)
        )
    )
    return not isinstance(found, Absent)


def _look_at(host, policy, sid, running, listed):
    # type: (Host, Policy, str, Optional[Instance], Optional[WantedInstance]) -> Subject
    home = attempt(_home_of, host, sid, running, listed)
    target = attempt(_target_of, host, sid, running, home)
    asked = attempt(_ask, host, policy, sid, running, target)
    alert_log = attempt(_alert_log_of, host, sid, listed, asked, home)
    return Subject(
        sid=sid,
        listed=listed is not None,
        running=running,
        home=home,
        target=target,
        version=attempt(_version_of, host, listed, target, asked),
        asked=asked,
        file=attempt(
            lambda: parameters_probe.read_parameter_file(host, known(home), sid, known(target).user)
        ),
        alert_log=alert_log,
        last_start=attempt(
            lambda: parameters_probe.read_last_start(host, known(alert_log), known(target).user)
        ),
    )


def _home_of(host, sid, running, listed):
    # type: (Host, str, Optional[Instance], Optional[WantedInstance]) -> str
    """The policy's home, else that of the program that runs, else oratab's."""
    if listed is not None and listed.home is not None:
        return listed.home
    if running is not None:
        link = "/proc/{0}/exe".format(running.pid)
        program = if_known(attempt(nfs_files.link_target, host, link), "")
        if program.endswith(_REMOVED):
            program = program[: -len(_REMOVED)]
        if program.endswith(_ORACLE):
            return str(program[: -len(_ORACLE)])
    homes = _oratab(host)
    if sid not in homes:
        raise Unanswered(
            "file:" + oratab.PATHS[0],
            "the home of {0} is not known: list it in pre_page_sga_instances".format(sid),
        )
    return homes[sid]


def _target_of(host, sid, running, home):
    # type: (Host, str, Optional[Instance], Answer[str]) -> Target
    if running is not None:
        return Target(sid, known(home), known(running.user))
    return Target(sid, known(home), parameters_probe.owner_of(host, known(home)))


def _ask(host, policy, sid, running, target):
    # type: (Host, Policy, str, Optional[Instance], Answer[Target]) -> Asked
    key = "command:sqlplus {0}: release and parameters".format(sid)
    if running is None:
        raise Absent(key, "{0} does not run".format(sid))
    if not policy.ask_instances:
        raise Unanswered(
            key, "pre_page_sga_ask_instances is false: what {0} runs with is not known".format(sid)
        )
    return parameters_probe.ask(host, known(target), PARAMETERS, float(policy.sqlplus_seconds))


def _version_of(host, listed, target, asked):
    # type: (Host, Optional[WantedInstance], Answer[Target], Answer[Asked]) -> Version
    """What the instance says, else the policy, else the home's sqlplus."""
    if not isinstance(asked, HostproofError):
        return asked.version
    if listed is not None and listed.version is not None:
        return listed.version
    return parameters_probe.release_of_home(host, known(target))


def _alert_log_of(host, sid, listed, asked, home):
    # type: (Host, str, Optional[WantedInstance], Answer[Asked], Answer[str]) -> str
    """The policy's path, else where the instance says, else where the base folder has it."""
    if listed is not None and listed.alert_log is not None:
        return listed.alert_log
    if not isinstance(asked, HostproofError) and asked.trace is not None:
        return "{0}/alert_{1}.log".format(asked.trace, sid)
    return _find_alert_log(host, sid, known(home))


def _find_alert_log(host, sid, home):
    # type: (Host, str, str) -> str
    """BASE/diag/rdbms/DATABASE/SID/trace: the database's name can be another than the SID."""
    above = _base_of(home) + "/diag/rdbms"
    argv = ["find", above, "-mindepth", "4", "-maxdepth", "4", "-name", "alert_" + sid + ".log"]
    found = host.run(argv, nfs_files.TIMEOUT).stdout.split()
    if len(found) != 1:
        raise Unanswered(
            "command:" + " ".join(argv),
            "the alert log of {0} was not found below {1}: list it in "
            "pre_page_sga_instances".format(sid, above),
        )
    return found[0]


def _base_of(home):
    # type: (str) -> str
    """ORACLE_BASE by the layout that Oracle recommends: BASE/product/..."""
    base, found, _rest = home.partition("/product/")
    if not found:
        raise Unanswered(
            "dir:" + home,
            "{0} does not lie in BASE/product: list the alert log in pre_page_sga_instances".format(
                home
            ),
        )
    return base


def evidence_of(subject):
    # type: (Subject) -> Tuple[str, ...]
    """The keys of what an instance was judged by."""
    keys = []  # type: List[str]
    if subject.running is not None:
        keys.extend(subject.running.evidence())
    if not isinstance(subject.asked, HostproofError):
        keys.append(subject.asked.key)
    if not isinstance(subject.file, HostproofError):
        keys.append("command:cat " + subject.file.source)
    return tuple(keys)
