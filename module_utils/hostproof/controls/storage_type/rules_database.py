# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the SNMP queries of the database: its SNMP library and its trace files."""

from typing import List, Optional, Tuple

from ...collect.answer import Answer, known
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Ask, Run, Step, Wait
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...snmp import tools as snmp
from ...snmp.tools import printable
from .facts import Facts, Server
from .policy import NAME, Policy
from .snmp import database_snmp, snmp_targets, storage_rules
from .snmp.storage_agent import ELIGIBLE, NO_ANSWER, SIMULATOR, Storage
from .subjects import LADBI

rules: Rules[Facts, Policy] = Rules(NAME)


def _that_the_database_asks(facts: Facts, policy: Policy) -> List[Server]:
    """The servers that may have the features for which the database queries SNMP.

    A known appliance counts at any address, because it may serve NFS at another address. Unknown
    servers count only if they serve NFS to this host, or if the policy requires HCC.
    """
    return [
        server
        for server in facts.servers
        if server.storage.features.hcc in (ELIGIBLE, SIMULATOR)
        or (
            server.storage.features.hcc == storage_rules.UNKNOWN
            and (server.exports or policy.require_hcc)
        )
    ]


@rules.check(
    "storage_type.snmp_library",
    "Database finds libnetsnmp.so",
    "Database does not find libnetsnmp.so",
    severity="medium",
    takes_effect="instance_restart",
    why="The database treats every NFS server as one without storage features.",
    reference=LADBI,
)
def snmp_library(facts: Facts, policy: Policy) -> Verdict:
    known(facts.exports)
    maybe = _that_the_database_asks(facts, policy)
    if not maybe:
        raise Skip("No storage of this host can have the features that need this library.")
    library = known(facts.library)
    if library.path is not None:
        return Verdict(PASS, running=library.path, evidence=library.evidence)
    if library.broken:
        text = "{0} is a broken link".format(" and ".join(library.broken))
    elif library.versions:
        text = "only {0} exists, without the symlink {1}".format(
            ", ".join(library.versions), database_snmp.LIBRARY
        )
    else:
        text = f"{database_snmp.LIBRARY} does not exist"
    install = f"install the net-snmp library and the {database_snmp.LIBRARY} symlink"
    step = Run("dnf", "install", "-y", "net-snmp-libs", "net-snmp-devel", text=install)
    if library.versions:
        file = library.versions[0]
        link = "{0}/{1}".format(file.rpartition("/")[0], database_snmp.LIBRARY)
        step = Run("ln", "-sfn", file, link, text="create the symlink")
    mounts = any(server.exports for server in facts.servers)
    needed = policy.require_hcc or any(
        mounts and server.storage.features.hcc in (ELIGIBLE, SIMULATOR) for server in maybe
    )
    return Verdict(
        FAIL if needed else WARN,
        why=f"The database cannot load its SNMP library: {text}.",
        advice=Advice([step, Wait("instance_restart")]),
        running=text,
        evidence=library.evidence,
    )


@rules.check(
    "storage_type.snmp_trace",
    "Database writer traces contain no SNMP errors",
    "Database writer traces contain SNMP errors",
    severity="low",
    takes_effect="instance_restart",
    why="The database cannot use storage features. It could not load the SNMP library, or a "
    "server did not answer.",
    reference=LADBI,
    because_of=("storage_type.snmp_library",),
)
def snmp_trace(facts: Facts, policy: Policy) -> List[Verdict]:
    evidence = ["command:" + " ".join(database_snmp.trace_argv(policy.trace_dir))]
    if not facts.servers and not isinstance(facts.exports, HostproofError):
        raise Skip("There is no storage that the database would query over SNMP.")
    if isinstance(facts.trace, Absent):
        raise Skip(f"{policy.trace_dir} does not exist on this host.")
    trace = known(facts.trace)
    if not trace:
        return [Verdict(PASS, running="no SNMP errors", evidence=evidence)]
    verdicts = []
    setup = [line for line in trace if not line.server]
    if setup:
        verdicts.append(_judge_setup(setup, facts.library, evidence))
    answers = {snmp_targets.bare_address(server.target): server.storage for server in facts.servers}
    for server in sorted({line.server for line in trace if line.server}):
        lines = [line for line in trace if line.server == server]
        verdicts.append(_judge_query(server, lines, answers.get(server), evidence))
    return verdicts


def _judge_setup(
    lines: List[database_snmp.Line],
    library: Answer[database_snmp.Library],
    evidence: List[str],
) -> Verdict:
    loads, now = False, "It is not known whether the library is found now."
    if not isinstance(library, HostproofError):
        loads = library.path is not None
        now = f"The library is {'now' if loads else 'still not'} found."
    return Verdict(
        WARN if loads else FAIL,
        why="A database writer could not load libnetsnmp.so (skgnfs_setup_snmp) when its instance "
        f"started. {now}",
        advice=Advice(
            [Wait("instance_restart") if loads else Ask("see storage_type.snmp_library")]
        ),
        running=_trace_text(lines),
        evidence=evidence,
    )


def _judge_query(
    server: str, lines: List[database_snmp.Line], storage: Optional[Storage], evidence: List[str]
) -> Verdict:
    """``storage``: the result of the query of Hostproof; None if there was none."""
    now, step = _compared(server, storage)
    answers = storage is not None and storage.outcome != NO_ANSWER
    return Verdict(
        WARN if answers else FAIL,
        why=f"A database writer got no SNMP answer (skgnfs_query_snmp) from {server}. {now}",
        advice=Advice([step]),
        of=server,
        running=_trace_text(lines),
        evidence=evidence,
    )


def _compared(server: str, storage: Optional[Storage]) -> Tuple[str, Step]:
    """What the query of Hostproof got from the server, and what to do."""
    if storage is None:
        return (
            "Hostproof did not query it.",
            Ask(f"list {server} in storage_type_addresses and audit again"),
        )
    if storage.outcome != NO_ANSWER:
        return "It answers Hostproof now.", Wait("instance_restart")
    step = Ask("see storage_type.agent_answers")
    if storage.reason == snmp.SILENT:
        return "Hostproof queried it and got no answer either.", step
    if storage.reason in (snmp.TOOL, snmp.NAME):
        return f"Hostproof could not query it: {'; '.join(storage.why)}.", step
    return f"The query of Hostproof failed: {'; '.join(storage.why)}.", step


def _trace_text(lines: List[database_snmp.Line]) -> str:
    return f"{lines[-1].path}: {printable(lines[-1].text)[:200]}"
