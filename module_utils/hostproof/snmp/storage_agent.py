# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine behind an SNMP agent is: storage, a server, something else, or unknown.

One GET asks what every agent has and what Oracle itself asks. Who that does not show is looked
at further (storage_rules.py says where), and what a product says of itself is asked in one more
request. Nothing is decided by an answer that did not come.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
)

from ..answer import attempt, if_known
from ..errors import HostError, HostproofError
from ..host import Host
from ..parsers.number import clipped
from . import snmp_message
from . import storage_rules as rules
from . import tools as snmp
from .snmp_output import Value
from .storage_rules import NOT_STORAGE, SERVER, UNKNOWN, Clue, Place, Rule, Way
from .tools import Credentials, Target, Values, printable

T = TypeVar("T")

RECOGNISED, OTHER, NO_ANSWER = OUTCOMES = ("recognised", "other", "no_answer")
#: Hybrid Columnar Compression, as the database would decide.
ELIGIBLE, SIMULATOR, NOT_ELIGIBLE = "eligible", "simulator", "not_eligible"

PROBE = (rules.DESCRIPTION, rules.OBJECT, rules.ENGINE_ID, rules.ORACLE_PRODUCT)
#: What the database asks with unless its oranfstab says otherwise.
ORACLE_CREDENTIALS = Credentials("1", "public")

_PRODUCT_NAME = "sunAkInfoProduct"


class Features(NamedTuple):
    """What follows for Oracle. ``hcc`` is one of the words above or UNKNOWN; the rest too."""

    hcc: str
    hcc_why: str
    direct_nfs: str
    oisp: str


class Storage(NamedTuple):
    """What is known of one address. ``reason`` is one of snmp.REASONS where nobody answered."""

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

    @property
    def title(self) -> str:
        """What it is, for people: "NetApp ONTAP FAS8200 9.3P7"."""
        words = (self.vendor, self.product, self.model, self.version)
        return " ".join(word for word in words if word) or self.role.replace("_", " ")

    def as_dict(self) -> Dict[str, object]:
        record = dict(self._asdict(), why=list(self.why), evidence=list(self.evidence))
        record["features"] = dict(self.features._asdict())
        return record


def look_at(host: Host, target: Target, oracle: Credentials = ORACLE_CREDENTIALS) -> Storage:
    """Ask the agent what it is. ``oracle`` is how the database asks."""
    try:
        values = snmp.get(host, target, snmp.FIRST, PROBE)
    except snmp.NoAnswer as problem:
        return _silent(host, target, problem, oracle)
    evidence = [snmp.key_of(target, snmp.FIRST)]
    found = recognise(values)
    if found is None or found[1].sure == rules.WEAK:
        further = attempt(snmp.following, host, target, "further", FURTHER)
        values.update(snmp.what_came(further))
        evidence.append(snmp.key_of(target, "further"))
        found = recognise(values)
        if found is None:
            looked = not isinstance(further, HostproofError)
            return _other(target, values, tuple(evidence), looked)
    _ask_details(host, target, found[0], values, evidence)
    # What it says of itself may show another product of the same vendor.
    again = recognise(values)
    rule, way = found if again is None or again[0] is found[0] else again
    features = _features(host, target, rule, values, oracle, evidence)
    return Storage(
        address=target.name,
        outcome=RECOGNISED if rule.role in rules.STORAGE_ROLES else OTHER,
        role=rule.role,
        vendor=rule.vendor,
        product=rule.product,
        model=_first(rule.model, values),
        version=_first(rule.version, values),
        serial=_first(rule.serial, values),
        sure=way.sure,
        why=tuple(_say(clue, values) for clue in way.clues) + ("known from: " + rule.source,),
        reason=None,
        features=features,
        evidence=tuple(evidence),
    )


def in_parallel(look: Callable[[Any], T], items: Iterable[Any], at_once: int) -> List[T]:
    """``look`` at each item, ``at_once`` at a time; the answers are in the order of the items."""
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        return list(pool.map(look, items))


# -- rules ----------------------------------------------------------------------------------------


#: Every way of every rule, in the order of the table, with its first clue.
_WAYS = tuple((rule, way, way.clues[0]) for rule in rules.RULES for way in rule.by)
#: The columns and subtrees among the first clues.
_COLUMNS = tuple(sorted({first.oid for _rule, _way, first in _WAYS if first.oid.endswith(".")}))


def recognise(values: Values) -> Optional[Tuple[Rule, Way]]:
    """The first rule that holds for what the agent said.

    This runs for every agent of a fleet, so a way whose first clue has nothing to hold on to is
    passed over by a look into a set.
    """
    arcs = _object_id(values).split(".")
    roots = {".".join(arcs[:count]) for count in range(1, len(arcs) + 1)}
    there = {oid for oid, value in values.items() if value is not None}
    there.update(column for column in _COLUMNS if _value(column, values) is not None)
    seen = _Seen(roots, str(_enterprise(values)), _described(values), values)
    for rule, way, first in _WAYS:
        if first.kind == rules.OBJECT_ID:
            possible = first.oid in roots
        else:
            possible = first.kind == rules.ENGINE or first.oid in there
        if possible and all(_holds(clue, seen) for clue in way.clues):
            return rule, way
    return None


class _Seen(NamedTuple):
    """What an agent said, with what many rules ask for worked out once.

    ``roots`` are its sysObjectID and everything above it; ``description`` is sysDescr without the
    name that people gave the host.
    """

    roots: Set[str]
    enterprise: str
    description: str
    values: Values


def _holds(clue: Clue, seen: _Seen) -> bool:
    if clue.kind == rules.OBJECT_ID:
        return clue.oid in seen.roots
    if clue.kind == rules.ENGINE:
        return seen.enterprise == clue.pattern
    value = _value(clue.oid, seen.values)
    if clue.kind == rules.NOTHING:
        return value is None or not value.text.strip()
    if value is None:
        return False
    text = seen.description if clue.oid == rules.DESCRIPTION else value.text
    return clue.kind == rules.ANSWERS or bool(re.search(clue.pattern, text))


_OWN_NAMES = tuple(re.compile(pattern) for pattern in rules.OWN_NAMES)


def _described(values: Values) -> str:
    """sysDescr with "-" where the host's own name stood."""
    value = values.get(rules.DESCRIPTION)
    text = "" if value is None else value.text
    for pattern in _OWN_NAMES:
        match = pattern.search(text)
        if match is not None:
            return text[: match.start(1)] + "-" + text[match.end(1) :]
    return text


def _value(oid: str, values: Values) -> Optional[Value]:
    """The value of an object, or the first that has one in a column ("….")."""
    if not oid.endswith("."):
        return values.get(oid)
    rows = (value for name, value in values.items() if name.startswith(oid))
    return next((value for value in rows if value is not None), None)


def _object_id(values: Values) -> str:
    value = values.get(rules.OBJECT)
    return "" if value is None else value.text.lstrip(".")


def _is_below(oid: str, root: str) -> bool:
    return oid == root or oid.startswith(root + ".")


def _enterprise(values: Values) -> Optional[int]:
    engine = values.get(rules.ENGINE_ID)
    if engine is None or not isinstance(engine.data, bytes):
        return None
    return snmp_message.enterprise(engine.data)


def _further() -> Tuple[str, ...]:
    """What to ask behind a generic agent: just before every object that a rule looks for."""
    asked: List[str] = []
    for rule in rules.RULES:
        for way in rule.by:
            for clue in way.clues:
                if clue.kind in (rules.TEXT, rules.ANSWERS) and clue.oid not in PROBE:
                    before = _before(clue.oid)
                    if before not in asked:
                        asked.append(before)
    asked += [before for before in map(_before, rules.SAID_BY_ANY) if before not in asked]
    return tuple(asked) + rules.BEFORE_NFS


def _before(oid: str) -> str:
    """An OID whose successor is this object or the first row of this column."""
    if oid.endswith("."):
        return oid[:-1]
    above, _, last = oid.rpartition(".")
    return above if last == "0" else f"{above}.{clipped(last) - 1}"


FURTHER = _further()

# -- details --------------------------------------------------------------------------------------

#: What agents say where they have nothing to say, and what published records are masked with.
_EMPTY = re.compile(
    r"(?:<.*>|unknown|n/?a|none|null|empty|not (?:specified|available|applicable|set)|undefined|"
    r"to be filled.*|default string|0+|[Ff]{4,}|[Xx]+|[-?*. ]+)?$",
    re.IGNORECASE,
)
_LONGEST = 120


def _first(places: Sequence[Place], values: Values) -> Optional[str]:
    """What the first place says that says something."""
    for place in places:
        text = _read(place, values)
        if text is not None:
            return text
    return None


def _read(place: Place, values: Values) -> Optional[str]:
    value = _value(place.oid, values)
    match = None if value is None else re.search(place.pattern, _plain(value))
    if match is None:
        return None
    found = match.group(1).strip()
    if place.names:
        return dict(place.names).get(found)
    return None if _EMPTY.match(found) else place.form.format(found)[:_LONGEST]


def _plain(value: Value) -> str:
    """One line, without the quotes and the backslash that some agents put around a value."""
    text = printable(value.text)
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    return text.lstrip("\\")


def _to_ask(rule: Rule, values: Values) -> List[str]:
    """The OIDs of the details that are not known yet."""
    asked: List[str] = []
    for places in (rule.model, rule.version, rule.serial):
        for place in places:
            if _read(place, values) is not None:
                break
            known = place.oid in values or _value(place.oid, values) is not None
            if not known and place.oid not in asked:
                asked.append(place.oid)
    return asked


def _ask_details(
    host: Host, target: Target, rule: Rule, values: Values, evidence: List[str]
) -> None:
    """One GET, and one GETNEXT where only the first row of a column is left to say it.

    An agent that does not answer these keeps its model, version or serial number to itself; what
    it is stays known.
    """
    objects = [oid for oid in _to_ask(rule, values) if not oid.endswith(".")]
    if objects:
        values.update(if_known(attempt(snmp.get, host, target, "details", objects), {}))
        evidence.append(snmp.key_of(target, "details"))
    columns = [_before(oid) for oid in _to_ask(rule, values) if oid.endswith(".")]
    if columns:
        values.update(snmp.what_came(attempt(snmp.following, host, target, "rows", columns)))
        evidence.append(snmp.key_of(target, "rows"))


# -- what it is else ------------------------------------------------------------------------------


def _other(target: Target, values: Values, evidence: Tuple[str, ...], looked: bool) -> Storage:
    """An agent that answers and that no rule knows; ``looked``: also when it was asked further."""
    role, product, sure = _classify(values)
    why = tuple(
        _say(Clue(rules.TEXT, oid, ""), values)
        for oid in (rules.OBJECT, rules.DESCRIPTION)
        if values.get(oid) is not None
    )
    why += tuple(
        _say(Clue(rules.TEXT, oid, ""), values)
        for oid in rules.SAID_BY_ANY
        if _value(oid, values) is not None
    )
    if any(_serves_nfs(oid) for oid in values):
        product = f"{product}, serves NFS" if product else "NFS server"
        why += ("TCP port 2049 listens (tcpListenerTable)",)
    if not looked:
        sure = rules.WEAK
        why += ("it did not answer when it was asked further",)
    return Storage(
        address=target.name,
        outcome=OTHER,
        role=role,
        vendor=_first((Place(rules.ENTITY_VENDOR),), values),
        product=product,
        model=_first((Place(rules.ENTITY_MODEL),), values),
        version=_first((Place(rules.ENTITY_VERSION),), values),
        serial=_first((Place(rules.ENTITY_SERIAL),), values),
        sure=sure,
        why=why or ("it answers, with neither sysDescr nor sysObjectID",),
        reason=None,
        features=_features_of_other(role, values),
        evidence=evidence,
    )


def _features_of_other(role: str, values: Values) -> Features:
    direct_nfs = "yes: with any server of NFS version 3 or 4" if role == SERVER else UNKNOWN
    if rules.ORACLE_PRODUCT not in values:
        return Features(UNKNOWN, "the product's object gave no answer", direct_nfs, UNKNOWN)
    return Features(NOT_ELIGIBLE, f"the agent has no {_PRODUCT_NAME}", direct_nfs, "no")


def _classify(values: Values) -> Tuple[str, Optional[str], Optional[str]]:
    """(role, product, how sure) of an agent that no rule knows.

    A vendor's number that stands in no rule tells nothing: it may well be storage.
    """
    oid = _object_id(values)
    description = values.get(rules.DESCRIPTION)
    text = "" if description is None else description.text
    named = _described(values)
    for pattern, system in rules.SYSTEM_TEXTS:
        if re.search(pattern, named) and not _is_vendors_own(oid):
            return SERVER, system, rules.LIKELY
    for root, system in rules.OPERATING_SYSTEMS:
        if _is_below(oid, root):
            return SERVER, system, rules.LIKELY
    for root, product in rules.OTHER_PRODUCTS:
        if _is_below(oid, root):
            return NOT_STORAGE, printable(text)[:60] or product, rules.LIKELY
    return UNKNOWN, printable(text)[:60] or None, None


def _is_vendors_own(oid: str) -> bool:
    """A sysObjectID of a vendor that is no operating system's: a Linux inside something."""
    systems = (root for root, _system in rules.OPERATING_SYSTEMS)
    return _is_below(oid, rules.ENTERPRISES) and not any(_is_below(oid, one) for one in systems)


def _serves_nfs(oid: str) -> bool:
    return oid in [before[: -len("2048")] + "2049" for before in rules.BEFORE_NFS]


def _say(clue: Clue, values: Values) -> str:
    """A clue for people: which OID said what."""
    if clue.kind == rules.ENGINE:
        return f"snmpEngineID ({rules.ENGINE_ID}) has enterprise number {clue.pattern}"
    oid = rules.OBJECT if clue.kind == rules.OBJECT_ID else clue.oid
    name = rules.NAMES.get(oid)
    value = _value(oid, values)
    said = "" if value is None else printable(value.text)[:_LONGEST]
    place = oid.rstrip(".")
    if clue.kind == rules.NOTHING:
        said = said or "nothing"
    return "{0} = {1}".format(f"{name} ({place})" if name else place, said)


# -- Oracle ---------------------------------------------------------------------------------------


def ask_as_oracle(
    host: Host, target: Target, credentials: Credentials
) -> Tuple[str, str, Tuple[str, ...]]:
    """(hcc, why, evidence): the database's own question, one SNMPv1 GET of one object."""
    asking = target._replace(credentials=credentials._replace(version="1"))
    evidence = (snmp.key_of(asking, "oracle"),)
    try:
        values = snmp.get(host, asking, "oracle", [rules.ORACLE_PRODUCT])
    except HostError as problem:
        return UNKNOWN, f"the database's own question has no answer: {problem}", evidence
    hcc, why = judge_product(values.get(rules.ORACLE_PRODUCT))
    return hcc, why, evidence


def judge_product(value: Optional[Value]) -> Tuple[str, str]:
    """(hcc, why) from what the agent says of its product."""
    if value is None:
        return NOT_ELIGIBLE, f"the agent has no {_PRODUCT_NAME}"
    text = printable(value.text)[:_LONGEST]
    said = f"{_PRODUCT_NAME} = {text}"
    if not re.match(rules.ORACLE_PREFIX, text):
        return NOT_ELIGIBLE, said + ", which is no ZFS Storage Appliance"
    if re.search(rules.ORACLE_SIMULATOR, text):
        return SIMULATOR, said + ": the simulator, which the database does not accept"
    return ELIGIBLE, said


def _features(
    host: Host, target: Target, rule: Rule, values: Values, oracle: Credentials, evidence: List[str]
) -> Features:
    direct_nfs = "yes, where it serves NFS version 3 or 4"
    if rule.role == rules.NAS:
        direct_nfs = "yes: with any server of NFS version 3 or 4"
    elif rule.role in (rules.TAPE, rules.SAN_SWITCH):
        direct_nfs = "no: it is not used over NFS"
    elif rule.role == rules.NOT_STORAGE:
        direct_nfs = "no: it is no storage"
    if values.get(rules.ORACLE_PRODUCT) is None:
        if rule.product == "Pillar Axiom":
            why = "Oracle allows it on Pillar Axiom; which object the database asks is not public"
            return Features(UNKNOWN, why, direct_nfs, UNKNOWN)
        if rules.ORACLE_PRODUCT not in values:
            return Features(UNKNOWN, "the product's object gave no answer", direct_nfs, UNKNOWN)
        return Features(NOT_ELIGIBLE, f"the agent has no {_PRODUCT_NAME}", direct_nfs, "no")
    hcc, why, asked = ask_as_oracle(host, target, oracle)
    evidence.extend(asked)
    oisp = {ELIGIBLE: "yes", NOT_ELIGIBLE: "no"}.get(hcc, UNKNOWN)
    return Features(hcc, why, direct_nfs, oisp)


def _silent(host: Host, target: Target, problem: snmp.NoAnswer, oracle: Credentials) -> Storage:
    """Nobody answered: say why as far as SNMP tells, and whether the database gets an answer."""
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
        hcc, why, asked = ask_as_oracle(host, target, oracle)
        features = Features(hcc, why, UNKNOWN, UNKNOWN)
        evidence += asked
    said: Tuple[str, ...] = (silence.message,)
    if silence.engine is not None:
        number = snmp_message.enterprise(silence.engine)
        said += (f"its SNMPv3 engine ID has enterprise number {number}",)
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
        why=said,
        reason=silence.reason,
        features=features,
        evidence=evidence,
    )
