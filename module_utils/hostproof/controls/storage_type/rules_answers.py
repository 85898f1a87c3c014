# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the SNMP answer of the storage, its product, and Hybrid Columnar Compression."""

from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Run
from ...evaluate.checking import Rules, Verdict, undetermined
from ...evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from ...snmp import tools as snmp
from .facts import Facts, Server
from .policy import NAME, Policy
from .snmp import storage_rules
from .snmp.storage_agent import ELIGIBLE, NO_ANSWER, SIMULATOR
from .subjects import ADMIN, AGENTS, SERVERS, need_answer

rules: Rules[Facts, Policy] = Rules(NAME)

_FIXES = {
    snmp.CLOSED: "enable the SNMP service of the storage for this host",
    snmp.SILENT: "enable the SNMP service of the storage for this host, and allow UDP port {0} in "
    "every firewall between them",
    snmp.REFUSED: "set storage_type_snmp_credentials to valid credentials of the storage, and "
    "allow this host there",
    snmp.USER: "set the user in storage_type_snmp_credentials to an existing SNMP user of the "
    "storage",
    snmp.PASSPHRASE: "set passphrase and protocol in storage_type_snmp_credentials as on the "
    "storage",
    snmp.LEVEL: "set the level in storage_type_snmp_credentials as on the storage",
    snmp.NAME: "correct the name in storage_type_addresses, or the name service",
    snmp.TOOL: "install net-snmp-utils on this host (Debian, Ubuntu: snmp)",
    snmp.FAILED: "query sysDescr (1.3.6.1.2.1.1.1.0) of {1} manually with snmpget",
}


#: Reasons that prove that an agent is running but rejects the query.
_REFUSALS = (snmp.REFUSED, snmp.USER, snmp.PASSPHRASE, snmp.LEVEL)


@rules.check(
    "storage_type.agent_answers",
    "Storage system answers SNMP requests",
    "Storage system does not answer SNMP, or rejects the login",
    severity="medium",
    takes_effect="now",
    why="The product is unknown, and the database disables features that query the storage "
    "(compression, OISP).",
    reference=ADMIN,
    each=AGENTS,
)
def agent_answers(server: Server, _facts: Facts, policy: Policy) -> Verdict:
    storage = server.storage
    if storage.outcome != NO_ANSWER:
        return Verdict(PASS, running="answers on UDP", evidence=storage.evidence[:1])
    reason = storage.reason or snmp.FAILED
    status = ERROR
    if reason in _REFUSALS:
        status = FAIL
    elif reason == snmp.CLOSED:
        status = WARN
    return Verdict(
        status,
        why="{0}.".format("; ".join(storage.why)),
        advice=Advice(
            [
                Run("dnf", "install", "-y", "net-snmp-utils", text=_FIXES[reason])
                if reason == snmp.TOOL
                else Ask(_FIXES[reason].format(policy.snmp_port, server.target))
            ]
        ),
        of="" if reason == snmp.TOOL else None,
        running=reason.replace("_", " "),
        evidence=storage.evidence,
    )


@rules.check(
    "storage_type.identified",
    "Storage product is known",
    "Storage product is not known",
    severity="low",
    takes_effect="now",
    why="Mount options, flow control and Oracle features depend on the product.",
    reference="docs/controls/storage_type.md, Products",
    each=SERVERS,
    because_of=("storage_type.agent_answers",),
)
def identified(server: Server, _facts: Facts, _policy: Policy) -> Verdict:
    storage = server.storage
    need_answer(server)
    status, why = PASS, None
    fix = (
        "compare with the real product; add a definition to storage_type_definitions if it is "
        "another one"
    )
    if storage.role == storage_rules.UNKNOWN:
        status = ERROR
        why = f"The product could not be determined: {storage.why[0]}. It may be storage."
        fix = (
            "add a definition of the product to storage_type_definitions (the finding lists the "
            "values of the agent); until then, check its space, ports and mounts manually"
        )
    elif storage.role == storage_rules.NOT_STORAGE:
        status, why = WARN, "The agent is not a storage system: check the address."
        fix = f"write the address of the storage in place of {server.target} in {NAME}_addresses"
    elif storage.contradictions:
        status = WARN
        why = "The agent contradicts itself: it is {0} {1}, and {2}.".format(
            storage.vendor, storage.product, " and ".join(storage.contradictions)
        )
        fix = "query the storage system directly, because a proxy may have answered"
    elif storage.sure == storage_rules.WEAK:
        status, why = (
            WARN,
            "This is a guess: the agent has no OID of a known product.",
        )
    serial = f", serial {storage.serial}" if storage.serial else ""
    return Verdict(
        status,
        why=why,
        advice=Advice([Ask(fix)]),
        running="{0}{1}; {2}; {3}: {4}".format(
            storage.title,
            serial,
            storage.role.replace("_", " "),
            storage.sure or "uncertain",
            "; ".join(storage.why),
        ),
        evidence=storage.evidence,
    )


@rules.check(
    "storage_type.hcc",
    "Hybrid Columnar Compression is available",
    "Hybrid Columnar Compression is not available",
    severity="medium",
    takes_effect="instance_restart",
    why="The database rejects this compression on NFS unless the server reports over SNMPv1 "
    "that it is a ZFS Storage Appliance (since 11.2.0.3.1, bug 13362079).",
    reference=ADMIN,
    each=SERVERS,
    because_of=("storage_type.agent_answers", "storage_type.snmp_library"),
)
def hcc(server: Server, _facts: Facts, policy: Policy) -> Verdict:
    features = server.storage.features
    silent = server.storage.outcome == NO_ANSWER and features.hcc == storage_rules.UNKNOWN
    if silent and not policy.require_hcc:
        need_answer(server)
    verdict = Verdict(SKIP, f"Not eligible: {features.hcc_why}.")
    if features.hcc == ELIGIBLE:
        verdict = Verdict(PASS)
    elif features.hcc == storage_rules.UNKNOWN:
        verdict = undetermined(HostproofError(features.hcc_why))
    elif policy.require_hcc:
        verdict = verdict._replace(status=FAIL)
    elif features.hcc == SIMULATOR:
        verdict = verdict._replace(status=WARN)
    return verdict._replace(
        advice=Advice([Ask(_how_to_get_hcc(server))]),
        desired="eligible" if policy.require_hcc else None,
        running="{0} ({1}); OISP {2}; Direct NFS {3}".format(
            features.hcc.replace("_", " "), features.hcc_why, features.oisp, features.direct_nfs
        ),
        evidence=server.storage.evidence,
    )


def _how_to_get_hcc(server: Server) -> str:
    """Only a ZFS Storage Appliance has the object that the database queries."""
    product = server.storage.product or ""
    if product == storage_rules.AXIOM:
        return (
            "test it in the database: create a table with COLUMN STORE COMPRESS FOR QUERY HIGH in "
            "a tablespace on this storage; ORA-64307 means that the database does not accept it"
        )
    if server.storage.features.hcc == storage_rules.UNKNOWN or "ZFS" in product:
        known_as = "" if "ZFS" in product else "if it is a ZFS Storage Appliance, "
        return (
            f"{known_as}configure the appliance at {server.target} to answer SNMPv1 requests of "
            f"this host for {storage_rules.ORACLE_PRODUCT} with the community that the database "
            "uses"
        )
    return (
        "use storage that supports it (Exadata, a ZFS Storage Appliance, Oracle FS1 or Pillar "
        "Axiom) for these tablespaces, or set storage_type_require_hcc to false"
    )
