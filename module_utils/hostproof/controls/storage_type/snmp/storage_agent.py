# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Identifies the system behind an SNMP agent: storage, server, another device, or unknown.

The first GET reads the objects that every agent has, and the object that Oracle queries. If this
does not identify the agent, more objects are read. One more request reads the details of a product
(storage_families.py). Before an agent is reported as unknown, its chassis, its unit and its
enterprise number are read. A missing answer never proves anything."""

import re
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, TypeVar

from ....collect.answer import attempt
from ....collect.host import Host
from ....errors import HostError
from ....parsers.number import clipped
from ....snmp import snmp_message
from ....snmp import tools as snmp
from ....snmp.snmp_output import Value
from ....snmp.tools import Credentials, Target, Values, printable
from . import enterprises
from . import storage_details as details
from . import storage_match as match
from . import storage_rules as rules
from .storage_definitions import ENGINE, OBJECT_ID, Clue, Rule
from .storage_details import Agent
from .storage_match import Catalogue
from .storage_rules import NOT_STORAGE, SERVER, UNKNOWN

S = TypeVar("S")
T = TypeVar("T")

RECOGNISED, OTHER, NO_ANSWER = OUTCOMES = ("recognised", "other", "no_answer")
_LONGEST, _LOOKED_AT = 120, 255
#: Hybrid Columnar Compression, as the database would decide.
ELIGIBLE, SIMULATOR, NOT_ELIGIBLE = "eligible", "simulator", "not_eligible"

#: The credentials of the database, unless its oranfstab sets others.
ORACLE_CREDENTIALS = Credentials("1", "public")

_PRODUCT_NAME = "sunAkInfoProduct"


class Features(NamedTuple):
    """Oracle features of the storage. ``hcc`` is one of the words above or UNKNOWN."""

    hcc: str
    hcc_why: str
    direct_nfs: str
    oisp: str


class Storage(NamedTuple):
    """The result for one address. ``reason`` is one of snmp.REASONS if no agent answered.

    ``contradictions`` are other products and vendors that the same agent reports.
    """

    address: str
    outcome: str
    role: str
    vendor: Optional[str]
    product: Optional[str]
    model: Optional[str]
    version: Optional[str]
    serial: Optional[str]
    sure: Optional[str]
    why: Tuple[str, ...]
    reason: Optional[str]
    features: Features
    evidence: Tuple[str, ...]
    contradictions: Tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The product in messages, for example "NetApp ONTAP FAS8200 9.3P7"."""
        words = (self.vendor, self.product, self.model, self.version)
        return " ".join(word for word in words if word) or self.role.replace("_", " ")

    def as_dict(self) -> Dict[str, object]:
        record = dict(self._asdict(), why=list(self.why), evidence=list(self.evidence))
        record["contradictions"] = list(self.contradictions)
        record["features"] = dict(self.features._asdict())
        return record


def identify_agent(
    host: Host,
    target: Target,
    oracle: Credentials = ORACLE_CREDENTIALS,
    catalogue: Optional[Catalogue] = None,
) -> Storage:
    """Identify the agent. ``oracle`` are the credentials of the database."""
    catalogue = catalogue or match.catalogue_of(())
    try:
        values = snmp.get(host, target, snmp.FIRST, match.PROBE)
    except snmp.NoAnswer as problem:
        return _silent(host, target, problem, oracle)
    agent = Agent(host, target, values, set(), [snmp.key_of(target, snmp.FIRST)])
    result = match.recognise(values, catalogue)
    looked = None
    if result is None or result[1].sure == rules.WEAK:
        looked = _look_further(agent, catalogue)
        result = match.recognise(values, catalogue)
        if result is None:
            return _other(agent, looked)
    known = details.read_details(agent, result[0])
    # The details may identify another product of the same vendor.
    again = match.recognise(values, catalogue)
    if again is not None and again[0] is not result[0]:
        result, known = again, details.read_details(agent, again[0])
    rule, way = result
    features = _features(host, target, rule, values, oracle, agent.evidence)
    if looked is None:
        # This request is last, because some agents stop answering after it.
        looked = agent.following("further", catalogue.further) is not None
    others = match.contradictions(values, catalogue, rule)
    doubt = _doubt(rule, others, features, looked)
    if doubt:
        features = features._replace(hcc=UNKNOWN, hcc_why=doubt, oisp=UNKNOWN)
    return Storage(
        address=target.name,
        outcome=RECOGNISED if rule.role in rules.STORAGE_ROLES else OTHER,
        role=rule.role,
        vendor=rule.vendor,
        product=rule.product,
        model=known.model,
        version=known.version,
        serial=known.serial,
        sure=rules.WEAK if others else way.sure,
        why=tuple(_say(clue, values) for clue in way.clues)
        + tuple("and " + other for other in others)
        + ("known from: " + rule.source,),
        reason=None,
        features=features,
        evidence=tuple(agent.evidence),
        contradictions=others,
    )


def _doubt(rule: Rule, others: Tuple[str, ...], features: Features, looked: bool) -> str:
    """Why it is not known whether the database accepts the product; "" without a doubt."""
    if others:
        return "the agent contradicts itself: it is {0}, and {1}".format(
            f"{rule.vendor} {rule.product}", " and ".join(others)
        )
    if not looked and features.hcc == ELIGIBLE:
        return "the agent did not answer the second request for its product"
    return ""


def _look_further(agent: Agent, catalogue: Catalogue) -> bool:
    """Read all objects that a clue may use. False if an answer is missing."""
    looked = agent.following("further", catalogue.further) is not None
    columns = [rules.OF_CHASSIS[name] for name in rules.SHOW_A_CHASSIS]
    if any(match.rows_at(column, agent.values) for column in columns):
        details.read_chassis(agent)
    if match.rows_at(rules.UNIT_TYPE, agent.values):
        details.read_unit(agent)
    return looked


def in_parallel(look: Callable[[S], T], items: Iterable[S], at_once: int) -> List[T]:
    """Call ``look`` for the items, ``at_once`` in parallel. Results are in the order of items."""
    chosen = list(items)
    if len(chosen) < 2:
        return [look(item) for item in chosen]
    # Most audits query no agent, and each import costs an audit time.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=at_once) as pool:
        return list(pool.map(look, chosen))


# -- agents without a matching rule ---------------------------------------------------------------


def _other(agent: Agent, looked: bool) -> Storage:
    """The result for an agent without a matching rule. ``looked``: it answered all requests."""
    values = agent.values
    maker = _maker(values)
    role, product, sure = _classify(values, maker)
    why = tuple(_say_value(oid, values) for oid in _SAID if match.value_at(oid, values) is not None)
    if _is_unrecognized(role, product):
        why = (_whose(maker),) + why + _own_subtree(agent, maker)
    if any(_serves_nfs(oid) for oid in values):
        product = f"{product}, serves NFS" if product else "NFS server"
        why += ("TCP port 2049 listens (tcpListenerTable)",)
    if not looked:
        sure = rules.WEAK
        why += ("it did not answer further requests",)
    chassis = {name: _shown_value(name, values) for name in rules.OF_CHASSIS}
    return Storage(
        address=agent.target.name,
        outcome=OTHER,
        role=role,
        vendor=chassis["chassis.vendor"] or maker.name or None,
        product=product,
        model=chassis["chassis.model"],
        version=chassis["chassis.version"] or chassis["chassis.firmware"],
        serial=chassis["chassis.serial"],
        sure=sure,
        why=why or ("it answers, but without sysDescr and sysObjectID",),
        reason=None,
        features=_features_of_other(role, values),
        evidence=tuple(agent.evidence),
    )


def _is_unrecognized(role: str, product: Optional[str]) -> bool:
    """Whether the role or the product of the agent is unknown."""
    return role == UNKNOWN or (role not in (SERVER, NOT_STORAGE) and not product)


#: Objects that are shown for an agent without a matching rule, as input for a new definition.
_SAID = (rules.OBJECT, rules.DESCRIPTION, *rules.OF_CHASSIS, *rules.OF_UNIT, *rules.SAID_BY_ANY)


def _shown_value(name: str, values: Values) -> Optional[str]:
    value = values.get(name)
    return None if value is None else details.plain(value)[:_LONGEST] or None


def _maker(values: Values) -> enterprises.Maker:
    """The vendor of the agent, from its sysObjectID. If that is an operating system's, from its
    engine ID.

    The number is 0 if neither contains it.
    """
    oid = match.object_id(values)
    if _is_vendors_own(oid):
        first = oid[len(rules.E) :].partition(".")[0]
        return enterprises.maker_of(clipped(first))
    number = match.enterprise_of(values) or 0
    maker = enterprises.maker_of(number)
    return maker if maker.kind else maker._replace(number=0, name="")


def _whose(maker: enterprises.Maker) -> str:
    if not maker.number:
        return "an agent without an enterprise number, product unknown"
    named = f"{maker.name} (enterprise {maker.number})" if maker.name else ""
    return "an agent of {0}, product unknown".format(named or f"enterprise {maker.number}")


#: Rows of an unknown agent's vendor subtree: number that is kept, and number that is shown.
_KEPT, _TOLD = 200, 5


def _own_subtree(agent: Agent, maker: enterprises.Maker) -> Tuple[str, ...]:
    """The first rows of the vendor's subtree, as input for a new definition.

    The evidence, and thus a recording, contains the query and its answer.
    """
    if not maker.number:
        return ()
    root = rules.E + str(maker.number)
    agent.evidence.append(snmp.key_of(agent.target, "own subtree"))
    rows = snmp.what_came(
        attempt(snmp.beginning, agent.host, agent.target, "own subtree", root, _KEPT)
    )
    if not rows:
        return (f"it answers nothing below {root}",)
    agent.values.update(rows)
    shown = [_say_value(oid, rows) for oid in list(rows)[:_TOLD]]
    return (f"below {root} it has {len(rows)} rows or more", *shown)


def _features_of_other(role: str, values: Values) -> Features:
    direct_nfs = "yes: with any server of NFS version 3 or 4" if role == SERVER else UNKNOWN
    if rules.ORACLE_PRODUCT not in values:
        return Features(UNKNOWN, "the product's object gave no answer", direct_nfs, UNKNOWN)
    return Features(NOT_ELIGIBLE, f"the agent has no {_PRODUCT_NAME}", direct_nfs, "no")


def _classify(values: Values, maker: enterprises.Maker) -> Tuple[str, Optional[str], Optional[str]]:
    """(role, product, confidence) of an agent without a matching rule.

    The vendor's enterprise number decides only if the vendor makes one type of product. Otherwise
    the agent may be storage.
    """
    oid = match.object_id(values)
    description = values.get(rules.DESCRIPTION)
    text = "" if description is None else description.text
    named = match.described(values)
    for pattern, system in rules.SYSTEM_TEXTS:
        if re.search(pattern, named[:_LOOKED_AT]) and not _is_vendors_own(oid):
            return SERVER, system, rules.LIKELY
    for root, system in rules.OPERATING_SYSTEMS:
        if _is_below(oid, root):
            return SERVER, system, rules.LIKELY
    for root, product in rules.OTHER_PRODUCTS:
        if _is_below(oid, root):
            return NOT_STORAGE, printable(text)[:60] or product, rules.LIKELY
    return _classify_by_maker(maker, printable(text)[:60])


def _classify_by_maker(
    maker: enterprises.Maker, text: str
) -> Tuple[str, Optional[str], Optional[str]]:
    if maker.role in rules.STORAGE_ROLES:
        return maker.role, None, rules.WEAK
    if maker.role == NOT_STORAGE:
        return NOT_STORAGE, text or maker.kind, rules.LIKELY
    return UNKNOWN, text or None, None


def _is_below(oid: str, root: str) -> bool:
    return oid == root or oid.startswith(root + ".")


def _is_vendors_own(oid: str) -> bool:
    """Whether the sysObjectID is a vendor's and not an operating system's (an embedded Linux)."""
    systems = (root for root, _system in rules.OPERATING_SYSTEMS)
    return _is_below(oid, rules.ENTERPRISES) and not any(
        _is_below(oid, system) for system in systems
    )


def _serves_nfs(oid: str) -> bool:
    return oid in [before[: -len("2048")] + "2049" for before in rules.BEFORE_NFS]


def _say(clue: Clue, values: Values) -> str:
    """A clue in messages: the OID and its value."""
    if clue.kind == ENGINE:
        return f"snmpEngineID ({rules.ENGINE_ID}) has enterprise number {clue.pattern}"
    return _say_value(rules.OBJECT if clue.kind == OBJECT_ID else clue.oid, values)


def _say_value(oid: str, values: Values) -> str:
    name = rules.NAMES.get(oid)
    value = match.value_at(oid, values)
    text = "nothing" if value is None else printable(value.text)[:_LONGEST] or "nothing"
    columns = dict(rules.OF_CHASSIS, **rules.OF_UNIT)
    place = columns.get(oid, oid).rstrip(".")
    return "{0} = {1}".format(f"{name} ({place})" if name else place, text)


# -- Oracle ---------------------------------------------------------------------------------------


def ask_as_oracle(
    host: Host, target: Target, credentials: Credentials
) -> Tuple[str, str, Tuple[str, ...]]:
    """(hcc, why, evidence) from the same query as the database's: one SNMPv1 GET of one object."""
    asking = target._replace(credentials=credentials._replace(version="1"))
    evidence = (snmp.key_of(asking, "oracle"),)
    try:
        values = snmp.get(host, asking, "oracle", [rules.ORACLE_PRODUCT])
    except HostError as problem:
        return UNKNOWN, f"the query of the database has no answer: {problem}", evidence
    hcc, why = judge_product(values.get(rules.ORACLE_PRODUCT))
    return hcc, why, evidence


def judge_product(value: Optional[Value]) -> Tuple[str, str]:
    """(hcc, why) from the product name of the agent. Only a complete known name is eligible."""
    if value is None:
        return NOT_ELIGIBLE, f"the agent has no {_PRODUCT_NAME}"
    text = printable(value.text)
    message = f"{_PRODUCT_NAME} = {text[:_LONGEST]}"
    if not re.match(rules.ORACLE_PREFIX, text):
        return NOT_ELIGIBLE, message + ", which is not a ZFS Storage Appliance"
    if re.search(rules.ORACLE_SIMULATOR, text):
        return SIMULATOR, message + ": the simulator, which the database does not accept"
    if text not in rules.ORACLE_NAMES:
        return UNKNOWN, message + ", which is not the name of a known ZFS Storage Appliance"
    return ELIGIBLE, message


def _features(
    host: Host, target: Target, rule: Rule, values: Values, oracle: Credentials, evidence: List[str]
) -> Features:
    direct_nfs = "yes, where it serves NFS version 3 or 4"
    if rule.role == rules.NAS:
        direct_nfs = "yes: with any server of NFS version 3 or 4"
    elif rule.role in (rules.TAPE, rules.SAN_SWITCH):
        direct_nfs = "no: it is not used over NFS"
    elif rule.role == rules.NOT_STORAGE:
        direct_nfs = "no: it is not storage"
    if values.get(rules.ORACLE_PRODUCT) is None:
        if rule.product == rules.AXIOM:
            why = (
                "Oracle allows it on Pillar Axiom; the object that the database queries "
                "is not public"
            )
            return Features(UNKNOWN, why, direct_nfs, UNKNOWN)
        if rules.ORACLE_PRODUCT not in values:
            return Features(UNKNOWN, "the product's object gave no answer", direct_nfs, UNKNOWN)
        return Features(NOT_ELIGIBLE, f"the agent has no {_PRODUCT_NAME}", direct_nfs, "no")
    hcc, why, queries = ask_as_oracle(host, target, oracle)
    evidence.extend(queries)
    oisp = {ELIGIBLE: "yes", NOT_ELIGIBLE: "no"}.get(hcc, UNKNOWN)
    return Features(hcc, why, direct_nfs, oisp)


def _silent(host: Host, target: Target, problem: snmp.NoAnswer, oracle: Credentials) -> Storage:
    """The result without an answer: its reason, and whether the database gets an answer."""
    silence = snmp.explain(host, target, problem)
    features = Features(UNKNOWN, "no answer", UNKNOWN, UNKNOWN)
    evidence = silence.evidence
    same = target.credentials._replace(version="1") == oracle._replace(version="1")
    in_vain = problem.hopeless or silence.reason in (
        snmp.CLOSED,
        snmp.TOOL,
        snmp.NAME,
        snmp.SILENT,
    )
    if not in_vain and not (same and target.credentials.version == "1"):
        hcc, why, queries = ask_as_oracle(host, target, oracle)
        features = Features(hcc, why, UNKNOWN, UNKNOWN)
        evidence += queries
    reasons: Tuple[str, ...] = (silence.message,)
    if silence.engine is not None:
        number = snmp_message.enterprise(silence.engine)
        reasons += (f"its SNMPv3 engine ID has enterprise number {number}",)
    return Storage(
        address=target.name,
        outcome=NO_ANSWER,
        role=UNKNOWN,
        vendor=None,
        product=None,
        model=None,
        version=None,
        serial=None,
        sure=None,
        why=reasons,
        reason=silence.reason,
        features=features,
        evidence=evidence,
    )
