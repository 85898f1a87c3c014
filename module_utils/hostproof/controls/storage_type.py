# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What storage a host's database really stands on, and what follows for Oracle. Only looks.

The servers of the host's NFS mounts are asked over SNMP from the host itself, as the database
asks them; management addresses of SAN storage come from the policy. Sources: Oracle ZFS Storage
Appliance Administration Guide, "Configuring for Oracle Database Clients"; Oracle Database
Installation Guide for Linux, "Enabling HCC on Direct NFS Client".
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..answer import Answer, attempt, if_known, known
from ..change import Plan
from ..errors import Absent, HostproofError
from ..finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, found
from ..host import Host
from ..parsers import nfs_options
from ..parsers.size import human
from ..policy import PolicyValues
from ..probes import (
    database_snmp,
    nfs_mounted,
    oracle_homes,
    snmp,
    snmp_targets,
    storage_advice,
    storage_agent,
    storage_health,
)
from ..probes import storage_rules as rules
from ..probes.snmp import Credentials, Target
from ..probes.snmp_targets import Address
from ..probes.storage_agent import ELIGIBLE, NO_ANSWER, SIMULATOR, Storage
from ..probes.storage_health import Health

NAME = "storage_type"

_ADMIN = (
    "Oracle ZFS Storage Appliance Administration Guide, Configuring for Oracle Database Clients"
)
_LADBI = "Oracle Database Installation Guide for Linux, Enabling HCC on Direct NFS Client"
_FLEXVOL = "WAFL performance VS sequential reads, part I (2011): FlexVol utilization"

#: Agents that are asked at the same time.
_AT_ONCE = 8

# -- policy ---------------------------------------------------------------------------------------


class Policy(NamedTuple):
    """The role's variables (roles/storage_type/meta/argument_specs.yml), checked."""

    nfs_servers: bool
    addresses: Tuple[Address, ...]
    port: int
    timeout: float
    retries: int
    require_hcc: bool
    space_warn: int
    space_critical: int
    sample_seconds: float
    discards_limit: int
    cpu_limit: int
    trace_folder: str
    credentials: Dict[str, Credentials]


def policy_from(values):
    # type: (Dict[str, Any]) -> Policy
    """A Policy from the role's variables without their prefix; PolicyError names the variable."""
    given = PolicyValues(NAME, values, Policy._fields)
    credentials = _credentials(given)
    policy = Policy(
        nfs_servers=given.flag("nfs_servers"),
        addresses=_addresses(given, credentials),
        port=given.whole_number("port", 1, 65535),
        timeout=given.decimal("timeout", 0.1, 60),
        retries=given.whole_number("retries", 0, 10),
        require_hcc=given.flag("require_hcc"),
        space_warn=given.whole_number("space_warn", 1, 100),
        space_critical=given.whole_number("space_critical", 1, 100),
        sample_seconds=given.decimal("sample_seconds", 0, 600),
        discards_limit=given.whole_number("discards_limit"),
        cpu_limit=given.whole_number("cpu_limit", 1, 100),
        trace_folder=str(given["trace_folder"]),
        credentials=credentials,
    )
    if policy.space_critical < policy.space_warn:
        raise given.error("space_critical", "must not be below storage_type_space_warn")
    if not policy.trace_folder.startswith("/"):
        raise given.error("trace_folder", "must be a whole path")
    return policy


def _credentials(given):
    # type: (PolicyValues) -> Dict[str, Credentials]
    try:
        return snmp_targets.credentials_by_name(given["credentials"])
    except ValueError as problem:
        raise given.error("credentials", str(problem)) from problem


def _addresses(given, credentials):
    # type: (PolicyValues, Dict[str, Credentials]) -> Tuple[Address, ...]
    try:
        read = snmp_targets.addresses_from(given["addresses"], sorted(credentials))
    except ValueError as problem:
        raise given.error("addresses", str(problem)) from problem
    names = [one.address for one in read]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise given.error("addresses", "lists {0} twice".format(", ".join(twice)))
    return read


def target_of(policy, address):
    # type: (Policy, Address) -> Target
    return snmp_targets.target_of(
        address, policy.credentials, policy.port, policy.timeout, policy.retries
    )


def oracle_credentials(policy):
    # type: (Policy) -> Credentials
    """What the database asks with: its own entry, or else public."""
    return snmp_targets.oracle_credentials(policy.credentials, storage_agent.ORACLE_CREDENTIALS)


# -- facts ----------------------------------------------------------------------------------------


class Mount(NamedTuple):
    """A mount of a server: the folder that it exports, where it is, and its options in force."""

    export: str
    path: str
    settings: Answer[Dict[str, str]]


class Server(NamedTuple):
    """One address, what it is, and how it fares. ``mounts`` are what is mounted from it."""

    target: str
    mounts: Tuple[Mount, ...]
    storage: Storage
    health: Optional[Health]

    @property
    def exports(self):
        # type: () -> Tuple[str, ...]
        return tuple(mount.export for mount in self.mounts)


class Facts(NamedTuple):
    """What the host showed. Every Answer may hold the error that stands in its place."""

    exports: Answer[Dict[str, Tuple[Mount, ...]]]
    servers: List[Server]
    cells: Answer[List[str]]
    library: Answer[database_snmp.Library]
    trace: Answer[List[database_snmp.Line]]


def read(host, policy):
    # type: (Host, Policy) -> Facts
    """Ask every server; the second reading of the counters comes last, so that time passes."""
    exports = attempt(read_exports, host) if policy.nfs_servers else {}
    cells = attempt(database_snmp.read_cells, host)
    homes = if_known(attempt(oracle_homes.read_homes, host, ()), [])
    asked = _addresses_of(policy, if_known(exports, {}), if_known(cells, []))
    targets = [target_of(policy, address) for address, _mounted in asked]
    servers = storage_agent.in_parallel(
        lambda number: _read_server(host, policy, targets[number], asked[number][1]),
        range(len(asked)),
        _AT_ONCE,
    )
    library = attempt(database_snmp.read_library, host, homes)
    trace = []  # type: Answer[List[database_snmp.Line]]
    if servers or isinstance(exports, HostproofError):
        trace = attempt(database_snmp.read_trace, host, policy.trace_folder)
    if policy.sample_seconds and any(server.health for server in servers):
        host.pause(policy.sample_seconds)
        servers = [_read_again(host, *pair) for pair in zip(targets, servers)]
    return Facts(exports, servers, cells, library, trace)


def read_exports(host):
    # type: (Host) -> Dict[str, Tuple[Mount, ...]]
    """Server's address to what is mounted from it."""
    system = nfs_mounted.read_system(host)
    mounted = nfs_mounted.read_mounted(host, system)
    exports = {}  # type: Dict[str, Tuple[Mount, ...]]
    for mount in mounted:
        name, _, folder = mount.source.rpartition(":/")
        address = re.search(r"(?:^|,)addr=([^,]+)", mount.options)
        server = address.group(1) if address else name.strip("[]")
        if server:
            settings = attempt(_settings, mount.options, system)
            found = Mount("/" + folder, mount.path, settings)
            exports[server] = exports.get(server, ()) + (found,)
    return exports


def _settings(options, system):
    # type: (str, str) -> Dict[str, str]
    return nfs_options.effective(nfs_options.parse(options), system)


def _addresses_of(policy, exports, cells):
    # type: (Policy, Dict[str, Tuple[Mount, ...]], List[str]) -> List[Tuple[Address, Tuple[Mount, ...]]]
    """What to ask: the servers of mounts and the policy's addresses, and never an Exadata cell."""
    listed = {one.address: one for one in policy.addresses}
    found = [(listed.pop(server, Address(server)), exports[server]) for server in sorted(exports)]
    found += [(listed[name], ()) for name in sorted(listed)]
    return [(address, mounted) for address, mounted in found if address.address not in cells]


def _read_server(host, policy, target, mounts):
    # type: (Host, Policy, Target, Tuple[Mount, ...]) -> Server
    storage = storage_agent.look_at(host, target, oracle_credentials(policy))
    health = None
    if storage.role in rules.STORAGE_ROLES or (storage.role == rules.SERVER and mounts):
        health = storage_health.read_first(host, target, storage.product or "")
    return Server(target.name, mounts, storage, health)


def _read_again(host, target, server):
    # type: (Host, Target, Server) -> Server
    if server.health is None:
        return server
    product = server.storage.product or ""
    return server._replace(health=storage_health.read_again(host, target, product, server.health))


# -- checks ---------------------------------------------------------------------------------------

AGENT_ANSWERS = Check(
    "storage_type.agent_answers",
    "The storage answers SNMP",
    "medium",
    "now",
    "Where the storage does not answer, nobody knows what it is, and the database turns off what "
    "it asks the storage for: compression, OISP.",
    _ADMIN,
)
IDENTIFIED = Check(
    "storage_type.identified",
    "The storage is known",
    "low",
    "now",
    "Mount options, flow control and Oracle's features differ by product.",
    "docs/controls/storage_type.md, Products",
)
HCC = Check(
    "storage_type.hcc",
    "Hybrid Columnar Compression",
    "medium",
    "instance_restart",
    "The database allows this compression on NFS only where the server says over SNMPv1 that it "
    "is a ZFS Storage Appliance (since 11.2.0.3.1, bug 13362079).",
    _ADMIN,
)
LIBRARY = Check(
    "storage_type.snmp_library",
    "The database finds libnetsnmp.so",
    "medium",
    "instance_restart",
    "The database loads the library by this name, and without it takes every NFS server for one "
    "without the features.",
    _LADBI,
)
TRACE = Check(
    "storage_type.snmp_trace",
    "No trace of a database that could not ask",
    "low",
    "instance_restart",
    "The database writer notes in its trace file that it cannot load the library, or that a server "
    "gives no answer.",
    _LADBI,
)
OPTIONS = Check(
    "storage_type.mount_options",
    "The mounts follow the vendor's advice",
    "medium",
    "remount",
    "Vendors of storage advise options for every mount of theirs; nfs_mounts judges what depends "
    "on the files.",
    "docs/controls/storage_type.md, What vendors advise",
)
FLOW_CONTROL = Check(
    "storage_type.flow_control",
    "The storage's ports and flow control",
    "medium",
    "now",
    "A storage port that obeys pause frames lets one slow host pause all others.",
    "NetApp, Oracle Database on ONTAP: Ethernet, flow control",
)
SPACE = Check(
    "storage_type.space",
    "The storage is not too full",
    "high",
    "now",
    "Sequential reads slow down as a volume fills: measured at half and less near 100 percent.",
    _FLEXVOL,
)
DISCARDS = Check(
    "storage_type.discards",
    "The storage discards no packets",
    "medium",
    "now",
    "A discarded packet is a retransmission that the database waits for.",
    "RFC 2863, ifInDiscards and ifOutDiscards",
)
CPU = Check(
    "storage_type.cpu_busy",
    "The storage's processors have room",
    "medium",
    "now",
    "A filer whose processors are busy answers late, whatever its disks do.",
    "HOST-RESOURCES-MIB (RFC 2790); NETWORK-APPLIANCE-MIB cpuBusyTimePerCent",
)
CHECKS = (
    AGENT_ANSWERS,
    IDENTIFIED,
    HCC,
    LIBRARY,
    TRACE,
    OPTIONS,
    FLOW_CONTROL,
    SPACE,
    DISCARDS,
    CPU,
)

_NOTHING = "This host mounts no NFS, and storage_type_addresses names no other storage."


def judge(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """At least one finding for each check, one for each address where addresses are judged."""
    nobody = _nobody(facts)
    findings = []  # type: List[Finding]
    for check, judge_one in (
        (AGENT_ANSWERS, _judge_answer),
        (IDENTIFIED, _judge_identity),
        (HCC, _judge_hcc),
    ):
        findings += nobody(check) or [
            judge_one(server, policy) for server in _judged(check, facts.servers)
        ]
    findings.append(_judge_library(facts, policy))
    findings += _judge_trace(facts, policy)
    findings += nobody(OPTIONS) or [_judge_options(server) for server in facts.servers]
    for check, judge_health in (
        (FLOW_CONTROL, _judge_ports),
        (SPACE, _judge_space),
        (DISCARDS, _judge_discards),
        (CPU, _judge_load),
    ):
        findings += nobody(check) or [
            _if_health(check, judge_health, server, policy) for server in facts.servers
        ]
    return findings


def _nobody(facts):
    # type: (Facts) -> Any
    """check to the finding that stands for all where there is no address; [] where there is."""

    def only(check):
        # type: (Check) -> List[Finding]
        if isinstance(facts.exports, HostproofError):
            return [_unknown(check, facts.exports)] if not facts.servers else []
        if facts.servers:
            return []
        if isinstance(facts.cells, HostproofError):
            return [found(check, SKIP, why=_NOTHING)]
        return [
            found(
                check,
                SKIP,
                why="The storage of this host is Exadata ({0} cells): its cells answer no SNMP "
                "request, and compression there comes from the cells themselves.".format(
                    len(facts.cells)
                ),
                evidence=["file:" + database_snmp.CELLS],
            )
        ]

    return only


def _judged(check, servers):
    # type: (Check, List[Server]) -> List[Server]
    """The servers that get a finding: tools that are missing are missing once, on the host."""
    if check is not AGENT_ANSWERS:
        return servers
    without = [server for server in servers if server.storage.reason == snmp.TOOL]
    return [server for server in servers if server not in without[1:]]


def _not_looked_at(check, server):
    # type: (Check, Server) -> Finding
    return found(
        check,
        SKIP,
        why="Not looked at: see storage_type.agent_answers.",
        title=_title(check, server),
        evidence=server.storage.evidence,
    )


def _unknown(check, problem, server=None):
    # type: (Check, HostproofError, Optional[Server]) -> Finding
    return found(
        check,
        ERROR,
        why="Could not be determined: {0}.".format(str(problem).rstrip(".")),
        title=None if server is None else _title(check, server),
        evidence=[problem.key] if hasattr(problem, "key") else [],
    )


def _title(check, server):
    # type: (Check, Server) -> str
    """It begins with the address, which is what the report shows of it first."""
    return "{0}: {1}".format(server.target, check.title)


_FIXES = {
    snmp.CLOSED: "enable the SNMP service of the storage for this host",
    snmp.SILENT: "enable the SNMP service of the storage for this host and open UDP port {0} on "
    "the way",
    snmp.REFUSED: "set storage_type_credentials to what the storage accepts, and allow this host "
    "there",
    snmp.USER: "set the user in storage_type_credentials to one that the storage has",
    snmp.PASSPHRASE: "set passphrase and protocol in storage_type_credentials as on the storage",
    snmp.LEVEL: "set the level in storage_type_credentials as on the storage",
    snmp.NAME: "correct the name in storage_type_addresses, or the name service",
    snmp.TOOL: "dnf install net-snmp-utils (Debian, Ubuntu: apt-get install snmp)",
    snmp.FAILED: "ask by hand: snmpget -v2c -c COMMUNITY {1} 1.3.6.1.2.1.1.1.0",
}
#: What is known about an agent that does not answer us: it is there, or it is not.
_REFUSALS = (snmp.REFUSED, snmp.USER, snmp.PASSPHRASE, snmp.LEVEL)


def _judge_answer(server, policy):
    # type: (Server, Policy) -> Finding
    storage = server.storage
    if storage.outcome != NO_ANSWER:
        return found(
            AGENT_ANSWERS,
            PASS,
            title=_title(AGENT_ANSWERS, server),
            running="answers on UDP",
            evidence=storage.evidence[:1],
        )
    reason = storage.reason or snmp.FAILED
    status = ERROR
    if reason in _REFUSALS:
        status = FAIL
    elif reason == snmp.CLOSED:
        status = WARN
    return found(
        AGENT_ANSWERS,
        status,
        why="{0}.".format("; ".join(storage.why)),
        fix=_FIXES[reason].format(policy.port, server.target),
        title=None if reason == snmp.TOOL else _title(AGENT_ANSWERS, server),
        running=reason.replace("_", " "),
        evidence=storage.evidence,
    )


def _judge_identity(server, _policy):
    # type: (Server, Policy) -> Finding
    storage = server.storage
    title = _title(IDENTIFIED, server)
    if storage.outcome == NO_ANSWER:
        return _not_looked_at(IDENTIFIED, server)
    status, why = PASS, None
    if storage.role == rules.UNKNOWN:
        status, why = ERROR, "The agent says nothing that tells what it is."
    elif storage.role == rules.NOT_STORAGE:
        status, why = WARN, "An agent answers that is no storage: is this the right address?"
    elif storage.sure == rules.WEAK:
        status, why = WARN, "This is a guess: the agent gives no OID of a product."
    serial = ", serial {0}".format(storage.serial) if storage.serial else ""
    return found(
        IDENTIFIED,
        status,
        why=why,
        fix="compare with what the storage is, and correct storage_type_addresses",
        title=title,
        running="{0}{1}; {2}; {3}: {4}".format(
            storage.title,
            serial,
            storage.role.replace("_", " "),
            storage.sure or "not sure",
            "; ".join(storage.why),
        ),
        evidence=storage.evidence,
    )


def _judge_hcc(server, policy):
    # type: (Server, Policy) -> Finding
    features = server.storage.features
    silent = server.storage.outcome == NO_ANSWER and features.hcc == rules.UNKNOWN
    if silent and not policy.require_hcc:
        return _not_looked_at(HCC, server)
    status, why = SKIP, "Not eligible: {0}.".format(features.hcc_why)
    if features.hcc == ELIGIBLE:
        status, why = PASS, ""
    elif features.hcc == rules.UNKNOWN:
        status, why = ERROR, "Could not be determined: {0}.".format(features.hcc_why)
    elif policy.require_hcc:
        status, why = FAIL, "Not eligible: {0}.".format(features.hcc_why)
    elif features.hcc == SIMULATOR:
        status, why = WARN, "Not eligible: {0}.".format(features.hcc_why)
    return found(
        HCC,
        status,
        why=why,
        fix="let the appliance answer SNMPv1 requests of this host: snmpget -v1 -c COMMUNITY "
        "{0} {1}".format(server.target, rules.ORACLE_PRODUCT),
        title=_title(HCC, server),
        desired="eligible" if policy.require_hcc else None,
        running="{0} ({1}); OISP {2}; Direct NFS {3}".format(
            features.hcc.replace("_", " "), features.hcc_why, features.oisp, features.direct_nfs
        ),
        evidence=server.storage.evidence,
    )


# -- the database host ----------------------------------------------------------------------------


def _asked_by_database(facts, policy):
    # type: (Facts, Policy) -> List[Server]
    """The servers for which the database's question matters: it may have the features.

    An appliance may answer on another address than it serves NFS from, so one that is known to
    have them counts wherever it was asked. Of the rest only NFS servers do.
    """
    return [
        server
        for server in facts.servers
        if server.storage.features.hcc in (ELIGIBLE, SIMULATOR)
        or (server.storage.features.hcc == rules.UNKNOWN and (server.exports or policy.require_hcc))
    ]


def _judge_library(facts, policy):
    # type: (Facts, Policy) -> Finding
    if isinstance(facts.exports, HostproofError):
        return _unknown(LIBRARY, facts.exports)
    asked = _asked_by_database(facts, policy)
    if not asked:
        return found(
            LIBRARY, SKIP, why="No storage of this host could have the features that need it."
        )
    if isinstance(facts.library, HostproofError):
        return _unknown(LIBRARY, facts.library)
    library = facts.library
    if library.path is not None:
        return found(LIBRARY, PASS, running=library.path, evidence=library.evidence)
    if library.broken:
        text = "{0} leads to no file".format(" and ".join(library.broken))
    elif library.versions:
        text = "only {0} is there, without the name {1}".format(
            ", ".join(library.versions), database_snmp.LIBRARY
        )
    else:
        text = "no {0} is there".format(database_snmp.LIBRARY)
    fix = "dnf install net-snmp-libs net-snmp-devel"
    if library.versions:
        fix = "ln -sfn {0} {1}/{2}, then restart the instance".format(
            library.versions[0],
            library.versions[0].rpartition("/")[0],
            database_snmp.LIBRARY,
        )
    mounts = any(server.exports for server in facts.servers)
    needed = policy.require_hcc or any(
        mounts and server.storage.features.hcc in (ELIGIBLE, SIMULATOR) for server in asked
    )
    return found(
        LIBRARY,
        FAIL if needed else WARN,
        why="The database cannot load its SNMP library: {0}.".format(text),
        fix=fix,
        running=text,
        evidence=library.evidence,
    )


def _judge_trace(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    evidence = ["command:" + " ".join(database_snmp.trace_argv(policy.trace_folder))]
    if not facts.servers and not isinstance(facts.exports, HostproofError):
        return [found(TRACE, SKIP, why="There is no storage that the database would ask.")]
    if isinstance(facts.trace, Absent):
        return [found(TRACE, SKIP, why="There is no {0} on this host.".format(policy.trace_folder))]
    if isinstance(facts.trace, HostproofError):
        return [_unknown(TRACE, facts.trace)]
    if not facts.trace:
        return [found(TRACE, PASS, running="no such line", evidence=evidence)]
    loads = isinstance(facts.library, database_snmp.Library) and facts.library.path is not None
    findings = []
    setup = [line for line in facts.trace if not line.server]
    if setup:
        findings.append(_judge_setup(setup, loads, evidence))
    answers = {one.target for one in facts.servers if one.storage.outcome != NO_ANSWER}
    for server in sorted({line.server for line in facts.trace if line.server}):
        lines = [line for line in facts.trace if line.server == server]
        findings.append(_judge_query(server, lines, server in answers, evidence))
    return findings


def _judge_setup(lines, loads, evidence):
    # type: (List[database_snmp.Line], bool, List[str]) -> Finding
    now = "it can now: restart the instance" if loads else "it still cannot"
    return found(
        TRACE,
        WARN if loads else FAIL,
        why="A database writer could not load libnetsnmp.so (skgnfs_setup_snmp) when its instance "
        "started; {0}.".format(now),
        fix="restart the instance" if loads else "see storage_type.snmp_library",
        running=_trace_text(lines),
        evidence=evidence,
    )


def _judge_query(server, lines, answers, evidence):
    # type: (str, List[database_snmp.Line], bool, List[str]) -> Finding
    now = "it answers us now: restart the instance" if answers else "it does not answer us either"
    return found(
        TRACE,
        WARN if answers else FAIL,
        why="A database writer got no answer over SNMP (skgnfs_query_snmp) from {0}; {1}.".format(
            server, now
        ),
        fix="restart the instance" if answers else "see storage_type.agent_answers",
        title="{0}: {1}".format(server, TRACE.title),
        running=_trace_text(lines),
        evidence=evidence,
    )


def _trace_text(lines):
    # type: (List[database_snmp.Line]) -> str
    return "{0}: {1}".format(lines[-1].path, storage_agent.printable(lines[-1].text)[:200])


# -- what the vendor advises ----------------------------------------------------------------------


def _judge_options(server):
    # type: (Server) -> Finding
    title = _title(OPTIONS, server)
    if server.storage.outcome == NO_ANSWER:
        return _not_looked_at(OPTIONS, server)
    if not server.mounts:
        return found(OPTIONS, SKIP, why="Nothing is mounted from it here.", title=title)
    advice = storage_advice.advice_of(server.storage.product)
    if advice is None or not advice.wishes:
        return found(
            OPTIONS,
            SKIP,
            why="No advice of its own for mounts of {0} is known here: nfs_mounts judges "
            "them.".format(server.storage.title),
            title=title,
        )
    unlike = []
    unknown = [one.settings for one in server.mounts if isinstance(one.settings, HostproofError)]
    for mount in server.mounts:
        if not isinstance(mount.settings, HostproofError):
            other = storage_advice.contradictions(advice, mount.settings)
            if other:
                unlike.append("{0}: {1}".format(mount.path, ", ".join(other)))
    if unknown and not unlike:
        return _unknown(OPTIONS, unknown[0], server)
    finding = found(
        OPTIONS,
        WARN if unlike else PASS,
        why="The storage is {0}, and {1} of {2} mounts of it differ from what is advised for "
        "it.".format(server.storage.title, len(unlike), len(server.mounts)),
        fix="set the options in nfs_mounts_wanted (or fstab), then unmount and mount; see "
        "nfs_mounts for what the files need",
        title=title,
        desired=", ".join(wish.text for wish in advice.wishes),
        running="; ".join(unlike) or "so on {0} mounts".format(len(server.mounts)),
        evidence=server.storage.evidence[:1] + ("file:" + nfs_mounted.MOUNTINFO,),
    )
    return finding._replace(reference=advice.source)


def _judge_ports(server, health, _policy):
    # type: (Server, Health, Policy) -> Finding
    title = _title(FLOW_CONTROL, server)
    advice = storage_advice.advice_of(server.storage.product)
    if isinstance(health.ports, Absent):
        said = "; " + advice.flow_control if advice is not None else ""
        return found(FLOW_CONTROL, SKIP, why="{0}{1}.".format(health.ports, said), title=title)
    ports = known(health.ports)
    obeying = sorted(name for name, state in ports.found.items() if state in ("receive", "full"))
    unknown = sorted(name for name, state in ports.found.items() if not state)
    status, why = PASS, None  # type: str, Optional[str]
    if obeying:
        status = WARN
        why = "{0} of {1} ports obey pause frames ({2}): one slow host then pauses all.".format(
            len(obeying), len(ports.found), ", ".join(obeying[:5])
        )
    elif unknown:
        status = ERROR
        why = "Could not be determined: the agent does not say what flow control {0} has.".format(
            ", ".join(unknown[:5])
        )
    return found(
        FLOW_CONTROL,
        status,
        why=why,
        fix="network port modify -node NODE -port PORT -flowcontrol-admin none (the link goes down "
        "for a moment), and the same on the switch port; the host's end is its own",
        title=title,
        desired="none or send",
        running=", ".join(
            "{0} {1}".format(name, state or "unknown")
            for name, state in sorted(ports.found.items())[:20]
        ),
        evidence=ports.evidence,
    )


# -- health ---------------------------------------------------------------------------------------


def _if_health(check, judge_health, server, policy):
    # type: (Check, Any, Server, Policy) -> Finding
    """The finding, or why there is none."""
    title = _title(check, server)
    if server.storage.outcome == NO_ANSWER:
        return _not_looked_at(check, server)
    if server.health is None:
        return found(check, SKIP, why="It is no storage of this host.", title=title)
    try:
        finding = judge_health(server, server.health, policy)  # type: Finding
    except Absent as problem:
        return found(check, SKIP, why="{0}.".format(problem), title=title)
    except HostproofError as problem:
        return _unknown(check, problem, server)
    return finding


def _judge_space(server, health, policy):
    # type: (Server, Health, Policy) -> Finding
    volumes = known(health.volumes)
    shown = sorted(_of_interest(volumes, server), key=lambda one: -one.percent)
    if not shown:
        raise Absent("", "The agent tells nothing about the volumes that are mounted here")
    status = PASS
    if shown[0].percent >= policy.space_warn:
        critical = [one for one in shown if one.percent >= policy.space_critical]
        ours = any(_holds(one.name, export) for one in critical for export in server.exports)
        status = FAIL if ours else WARN
    full = [one for one in shown if one.percent >= policy.space_warn]
    return found(
        SPACE,
        status,
        why="{0} of {1} volumes are at {2} percent or more, where sequential reads slow "
        "down.".format(len(full), len(shown), policy.space_warn),
        fix="enlarge the volume or move data; the limits are storage_type_space_warn and "
        "storage_type_space_critical",
        title=_title(SPACE, server),
        desired="below {0} percent, {1} at most".format(policy.space_warn, policy.space_critical),
        running=", ".join(_volume_text(one) for one in shown[:5]),
        evidence=volumes.evidence,
    )


def _volume_text(volume):
    # type: (storage_health.Volume) -> str
    size = "" if volume.size is None else " of {0}".format(human(volume.size))
    return "{0} {1:.0f} percent{2}".format(volume.name or "(no name)", volume.percent, size)


_FULL_BY_DESIGN = re.compile(
    r"/\.?snapshot$|snap reserve$|^aggr0|^/vol/vol0/?$|[_-]root/?$", re.IGNORECASE
)
#: Bytes: a file system of a machine that is smaller than this is the machine's own.
_SYSTEM_SIZE = 10 << 30


def _of_interest(volumes, server):
    # type: (storage_health.Volumes, Server) -> List[storage_health.Volume]
    """Nothing full by design; of a machine's file systems those that hold what is mounted here.

    Where a filer's exports have other names than its file systems, the large ones count.
    """
    kept = [one for one in volumes.found if not _FULL_BY_DESIGN.search(one.name)]
    if not volumes.generic:
        return kept
    holding = set()
    for export in server.exports:
        above = [one.name for one in kept if _holds(one.name, export)]
        if above:
            holding.add(max(above, key=len))
    if server.storage.role != rules.SERVER and not holding - {"/"}:
        return [one for one in kept if one.size is None or one.size >= _SYSTEM_SIZE]
    return [one for one in kept if one.name in holding]


def _holds(folder, path):
    # type: (str, str) -> bool
    return folder.startswith("/") and (path + "/").startswith(folder.rstrip("/") + "/")


def _judge_discards(server, health, policy):
    # type: (Server, Health, Policy) -> Finding
    title = _title(DISCARDS, server)
    before = known(health.before)
    if not policy.sample_seconds:
        return found(DISCARDS, SKIP, why="storage_type_sample_seconds is 0.", title=title)
    after = known(health.after)
    lost = storage_health.losses(before, after)
    bad = [one for one in lost if max(one.received, one.sent) > policy.discards_limit]
    seconds = storage_health.seconds_between(before, after)
    said = ", ".join(
        "{0}: {1} received, {2} sent".format(one.interface, one.received, one.sent)
        for one in (bad or lost)[:5]
    )
    return found(
        DISCARDS,
        WARN if bad else PASS,
        why="{0} interfaces discarded packets within {1:.1f} s.".format(len(bad), seconds),
        fix="look for speed or flow control that differs between filer, switch and host",
        title=title,
        desired="at most {0} in a sample".format(policy.discards_limit),
        running="{0} on {1} interfaces within {2:.1f} s".format(
            said or "none", len(after.discards), seconds
        ),
        evidence=before.evidence + after.evidence,
    )


def _judge_load(server, health, policy):
    # type: (Server, Health, Policy) -> Finding
    load = known(health.load)
    return found(
        CPU,
        WARN if load.percent >= policy.cpu_limit else PASS,
        why="The processors are busy {0} percent of the time.".format(load.percent),
        fix="move load away; the limit is storage_type_cpu_limit",
        title=_title(CPU, server),
        desired="below {0} percent".format(policy.cpu_limit),
        running="{0} percent".format(load.percent),
        evidence=load.evidence,
    )


# -- plan -----------------------------------------------------------------------------------------


def plan(_facts, _policy):
    # type: (Facts, Policy) -> Plan
    """This control only looks."""
    return Plan(changes=[], refusals=[], pending=[], at_boot=[])
