# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks SNMP agents with net-snmp's command-line tools, and says why one gave no answer.

Credentials reach the tool in a configuration file of its own that nobody else can read; argv,
environment, evidence and messages have none of them. Sources: net-snmp snmpcmd(1), snmp.conf(5),
snmplib/snmp_api.c (the texts of its errors); RFC 3414 for what SNMPv3 tells about a rejection."""

import ipaddress
import re
import time
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ..collect.answer import attempt, if_known
from ..collect.host import Host, Output, Secret
from ..errors import Absent, HostError, HostproofError, ParseError, Unanswered
from ..parsers.number import clipped
from . import snmp_message, snmp_output
from .snmp_output import Value

PORT = 161
VERSIONS = ("1", "2c", "3")
#: noAuth, auth, authPriv, as snmp.conf(5) writes them.
LEVELS = ("noAuthNoPriv", "authNoPriv", "authPriv")
AUTH_PROTOCOLS = ("MD5", "SHA", "SHA-224", "SHA-256", "SHA-384", "SHA-512")
PRIV_PROTOCOLS = ("DES", "AES", "AES-192", "AES-256")
#: RFC 3414, section 11.2, and the tool.
SHORTEST_PASSPHRASE = 8

GET, NEXT, WALK = "snmpget", "snmpgetnext", "snmpbulkwalk"
#: One bulk request of this number of rows.
BULK = "snmpbulkget"
_OF_TOOL = {BULK: ["-Cr40"]}

#: No MIB files; numeric OIDs, hexadecimal strings, ticks and enumerations as numbers.
_OPTIONS = ["-m", "", "-Onxte"]
#: OIDs in one request: what any agent's answer holds in one datagram.
_MOST = 40
#: The number of requests of one question may time out before the rest of it is given up.
_TIMEOUTS = 2


class Credentials(NamedTuple):
    """How to ask. The texts that a version does not use are empty."""

    version: str
    community: str = ""
    user: str = ""
    level: str = ""
    auth_protocol: str = ""
    auth_passphrase: str = ""
    priv_protocol: str = ""
    priv_passphrase: str = ""
    context: str = ""


class Deadline:
    """When nobody waits any longer for any of several agents, by a clock that nobody sets."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        return self._ends - time.monotonic()

    def put_off(self, seconds: float) -> None:
        """Add time in which nobody was queried anything: that between two readings."""
        self._ends += seconds


class Patience:
    """How long one agent is waited for in all its questions, and the deadline of all agents.

    What counts is the time that questions took, not that between them. An agent that gave no answer
    to MOST_TIMEOUTS of its requests is queried nothing more: a half-dead one costs no more than
    that. Agents are queried next to one another, but each by one thread at a time.
    """

    #: Requests, each with all its tries, that may time out.
    MOST_TIMEOUTS = 2

    def __init__(self, seconds: float, deadline: Deadline) -> None:
        self.seconds = seconds
        self.deadline = deadline
        self._spent = 0.0
        self._timeouts = 0

    def left(self) -> float:
        if self._timeouts >= self.MOST_TIMEOUTS:
            return 0.0
        return min(self.seconds - self._spent, self.deadline.left())

    def spend(self, seconds: float) -> None:
        self._spent += seconds

    def time_out(self) -> None:
        """Note a request that the agent did not answer."""
        self._timeouts += 1

    def why_over(self) -> str:
        """For people, once nothing is left."""
        if self._timeouts >= self.MOST_TIMEOUTS:
            return f"it gave no answer to {self._timeouts} requests"
        if self._spent >= self.seconds:
            return f"its answers took the {self.seconds:g} s that one agent is given"
        return f"the {self.deadline.seconds:g} s that all agents together are given are over"


class Target(NamedTuple):
    """An agent: where, how, and how long to wait (seconds for each of 1 + ``retries`` tries).

    ``patience`` bounds all questions together; without one only each single question is bounded.
    """

    address: str
    port: int
    credentials: Credentials
    timeout: float
    retries: int
    patience: Optional[Patience] = None

    @property
    def name(self) -> str:
        """The agent in evidence keys and messages."""
        if self.port == PORT:
            return self.address
        return ("[{0}]:{1}" if ":" in self.address else "{0}:{1}").format(self.address, self.port)


class NoAnswer(Unanswered):
    """The agent gave none, or did not end. ``reason`` is one of REASONS.

    ``hopeless`` says that it was not the agent: the tool did not end (it waits for a name service,
    say) or printed without end, or the time for the agent is over. Every further question would
    cost as much. ``values`` are those that came nevertheless: enough to tell what is there, never
    that something is not.
    """

    def __init__(self, key: str, reason: str, message: str, hopeless: bool = False) -> None:
        self.reason = reason
        self.hopeless = hopeless
        self.values: Values = {}
        super().__init__(key, message)


def what_came(answer: Any) -> "Values":
    """The values of an answer that may have been cut short: none of them tells of an absence."""
    return dict(answer.values if isinstance(answer, NoAnswer) else if_known(answer, {}))


#: Why there was no answer, as far as SNMP lets one tell.
CLOSED, SILENT, REFUSED, USER, PASSPHRASE, LEVEL, NAME, TOOL, FAILED = REASONS = (
    "port_closed",
    "timeout",
    "credentials",
    "user",
    "passphrase",
    "security_level",
    "unknown_host",
    "tool_missing",
    "failed",
)

#: What the tool writes to its error output, and what that means.
_COMPLAINTS = (
    (r"Timeout: No Response|^snmp\w+: Timeout\b", SILENT),
    (r"Unknown user name", USER),
    (r"Authentication failure|Decryption error", PASSPHRASE),
    (r"Unsupported security level|authorizationError", LEVEL),
    (r"Unknown host|Invalid (?:address|transport)", NAME),
)


# -- credentials ----------------------------------------------------------------------------------


def credentials_from(values: Dict[str, Any]) -> Credentials:
    """Credentials from plain values; ValueError says which one is wrong, never what it holds."""
    unknown = sorted(set(values) - set(Credentials._fields))
    if unknown:
        raise ValueError("has unknown {0}".format(", ".join(map(str, unknown))))
    given = {name: "" if value is None else str(value) for name, value in values.items()}
    for name, value in given.items():
        if any(ord(character) < 32 or character == "\x7f" for character in value):
            raise ValueError(f"{name} holds a control character")
    found = Credentials(**dict({"version": "2c"}, **{k: v for k, v in given.items() if v}))
    if found.version not in VERSIONS:
        raise ValueError("version must be one of {0}".format(", ".join(VERSIONS)))
    return _version_3(found) if found.version == "3" else _with_community(found)


def _with_community(found: Credentials) -> Credentials:
    extra = [name for name in Credentials._fields[2:] if getattr(found, name)]
    if extra:
        raise ValueError("{0} needs version 3".format(", ".join(extra)))
    if not found.community:
        raise ValueError(f"version {found.version} needs community")
    return found


def _version_3(found: Credentials) -> Credentials:
    if found.community:
        raise ValueError("community is for version 1 and 2c")
    if not found.user:
        raise ValueError("version 3 needs user")
    level = found.level or LEVELS[bool(found.auth_passphrase) + bool(found.priv_passphrase)]
    if level not in LEVELS:
        raise ValueError("level must be one of {0}".format(", ".join(LEVELS)))
    used = LEVELS.index(level)
    parts = (("auth", AUTH_PROTOCOLS, "SHA"), ("priv", PRIV_PROTOCOLS, "AES"))
    for number, (part, protocols, usual) in enumerate(parts, 1):
        protocol, passphrase = part + "_protocol", part + "_passphrase"
        if used < number:
            if getattr(found, protocol) or getattr(found, passphrase):
                raise ValueError(f"level {level} uses no {passphrase}")
            continue
        if len(getattr(found, passphrase)) < SHORTEST_PASSPHRASE:
            raise ValueError(f"{passphrase} must have at least {SHORTEST_PASSPHRASE} characters")
        found = found._replace(**{protocol: getattr(found, protocol) or usual})
        if getattr(found, protocol) not in protocols:
            raise ValueError("{0} must be one of {1}".format(protocol, ", ".join(protocols)))
    return found._replace(level=level)


def check_address(text: str) -> str:
    """A host name or an IP address, as it may be in an argv; ValueError for anything else."""
    usual = re.match(r"[A-Za-z0-9_:][A-Za-z0-9_.:%-]*\Z", text) and len(text) <= 253
    if not usual or (":" in text and not _is_ipv6(text)):
        raise ValueError(f"{text[:80]!r} is no host name or IP address")
    return text


def _is_ipv6(text: str) -> bool:
    try:
        # A link-local address has its interface behind "%", which ipaddress knows since 3.9.
        ipaddress.IPv6Address(text.partition("%")[0])
    except ValueError:
        return False
    return True


#: Where the tool looks for its configuration, for MIB files (it reads the first lines of every one
#: there is, even with -m ''), and where it keeps what it need not keep.
_VARIABLES = (("SNMPCONFPATH", "{0}"), ("MIBDIRS", "{0}"), ("SNMP_PERSISTENT_DIR", "/dev/null"))


def _secret(credentials: Credentials) -> Secret:
    """The tool's configuration file (snmp.conf(5))."""
    words = (
        ("defCommunity", credentials.community),
        ("defSecurityName", credentials.user),
        ("defAuthPassphrase", credentials.auth_passphrase),
        ("defPrivPassphrase", credentials.priv_passphrase),
        ("defContext", credentials.context),
    )
    lines = [f"{word} {_quoted(text)}" for word, text in words if text]
    plain = (
        ("defSecurityLevel", credentials.level),
        ("defAuthType", credentials.auth_protocol),
        ("defPrivType", credentials.priv_protocol),
    )
    lines += [f"{word} {text}" for word, text in plain if text]
    text = "".join(line + "\n" for line in lines)
    return Secret("snmp.conf", text, _VARIABLES)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# -- questions ------------------------------------------------------------------------------------

#: OID requested or found to its value; None where the agent stated that it has none.
Values = Dict[str, Optional[Value]]


def key_of(target: Target, question: str) -> str:
    """The evidence key of a question, which names no credentials."""
    return f"snmp:{target.name} {question}"


def get(host: Host, target: Target, question: str, oids: Sequence[str]) -> Values:
    """The values of ``oids``, by as few requests as the agent takes; NoAnswer if it gave none.

    None is what the agent states not to have; what it gave no answer for is not among them.
    """
    values, problem = _ask(host, target, GET, question, oids)
    if problem is not None and not values:
        raise problem
    return values


def following(host: Host, target: Target, question: str, oids: Sequence[str]) -> Values:
    """What comes next behind each of ``oids``: the first row of a column, or the next subtree.

    Nobody could tell which of them has no answer, so NoAnswer where one has none; it has the rest.
    """
    values, problem = _ask(host, target, NEXT, question, oids)
    if problem is not None:
        problem.values = values
        raise problem
    return values


def walk(host: Host, target: Target, question: str, oid: str, rows: Iterable[str] = ()) -> Values:
    """Everything beneath ``oid``; NoAnswer if it was cut short. SNMPv1 has no bulk request: there
    it is a plain walk.

    Cut short is a walk that the tool did not end well (no answer to one of its requests, an error
    of the agent, an OID that goes back) and one that the agent ended with the end of its tree where
    it has more: it is queried what comes behind ``oid``. Where that states no more, ``rows`` do
    (what is behind the columns in the OIDs of a table): one that ends so and lacks any was cut.
    """
    key = key_of(target, question)
    tool = "snmpwalk" if target.credentials.version == "1" else WALK
    answer = _run(host, target, tool, question, [oid], patience=20)
    found = {name: value for name, value in answer.values.items() if name.startswith(oid + ".")}
    if answer.cut:
        raise _cut(key, target, oid, answer.cut, found)
    if answer.ended:
        if has_more(host, target, question, oid):
            raise _cut(key, target, oid, "it said that nothing comes behind, and it does", found)
        # A column without any row is one that the agent does not have.
        lacking = [row for row in rows if oid + row not in found] if found else []
        if lacking:
            why = "it ended before row {0}, which the table has".format(lacking[0].lstrip("."))
            raise _cut(key, target, oid, why, found)
    return found


def beginning(host: Host, target: Target, question: str, oid: str, most: int) -> Values:
    """The first rows beneath ``oid``, ``most`` at most; NoAnswer if some of them did not come.

    SNMPv1 has no bulk request: there it is the first row alone.
    """
    if target.credentials.version == "1":
        found = following(host, target, question, [oid])
        return {name: value for name, value in found.items() if _is_row(name, value, oid)}
    found = {}
    last, number = oid, 1
    while len(found) < most:
        name = question if number == 1 else f"{question} {number}"
        answer = _run(host, target, BULK, name, [last])
        rows = {one: value for one, value in answer.values.items() if _is_row(one, value, oid)}
        more = [one for one in rows if one not in found]
        found.update(rows)
        if not more or len(rows) < len(answer.values):
            break
        last, number = more[-1], number + 1
    return dict(list(found.items())[:most])


def _is_row(name: str, value: Optional[Value], oid: str) -> bool:
    return value is not None and name.startswith(oid + ".")


#: What nearly every agent has, behind all that is walked here: snmpModules (RFC 3411 and others).
_LAST = "1.3.6.1.6"


def has_more(host: Host, target: Target, question: str, oid: str) -> bool:
    """Whether an agent that stated that its tree ends at ``oid`` has something behind it."""
    behind = following(host, target, question + " end", [_behind(oid), _LAST])
    return any(value is not None for value in behind.values())


def _cut(key: str, target: Target, oid: str, why: str, found: Values) -> NoAnswer:
    return NoAnswer(
        key,
        FAILED,
        f"{target.name} was cut short in the middle of {oid}, after {len(found)} rows: {why}",
    )


def _behind(oid: str) -> str:
    """The OID that is the next behind everything beneath this one."""
    above, _, last = oid.rpartition(".")
    return f"{above}.{clipped(last) + 1}"


class _Answer(NamedTuple):
    """``cut`` says why some of the values did not come, "" where all did. ``ended``: the agent
    states that its tree ends here."""

    values: Values
    cut: str
    ended: bool


def _ask(
    host: Host, target: Target, tool: str, question: str, oids: Sequence[str]
) -> Tuple[Values, Optional[NoAnswer]]:
    """Ask, and ask the halves where the whole is too large for the agent or silences it.

    What came, and the first reason why something did not.
    """
    values: Values = {}
    open_parts = [
        (question if not at else f"{question} {at}", list(oids[at : at + _MOST]))
        for at in range(0, len(oids), _MOST)
    ]
    timeouts = 0
    first: Optional[NoAnswer] = None
    while open_parts:
        name, part = open_parts.pop(0)
        try:
            answer = _run(host, target, tool, name, part)
        except NoAnswer as problem:
            first = first or problem
            timeouts += problem.reason == SILENT
            if problem.hopeless or problem.reason in (NAME, TOOL):
                break
            if len(part) == 1 or timeouts > _TIMEOUTS or not _worth_halving(problem, name):
                continue
            half = len(part) // 2
            open_parts[:0] = [(name + "a", part[:half]), (name + "b", part[half:])]
        else:
            values.update(answer.values)
            if answer.cut and first is None:
                first = NoAnswer(
                    key_of(target, name),
                    FAILED,
                    f"{target.name} did not answer everything: {answer.cut}",
                )
    return values, first


def _worth_halving(problem: NoAnswer, question: str) -> bool:
    """A first question that nobody answers is not asked again in parts: nobody is there."""
    return problem.reason == FAILED or (problem.reason == SILENT and question != FIRST)


#: The question that opens the talk with an agent.
FIRST = "probe"


def _run(
    host: Host, target: Target, tool: str, question: str, oids: List[str], patience: int = 3
) -> _Answer:
    key = key_of(target, question)
    wait = f"{target.timeout:g}"
    argv = (
        [tool] + _OPTIONS + _OF_TOOL.get(tool, []) + ["-v", target.credentials.version, "-t", wait]
    )
    argv += ["-r", str(target.retries), _agent(target)] + oids
    longest = target.timeout * (target.retries + 1) * patience + 10
    if target.patience is not None:
        longest = min(longest, max(0.0, target.patience.left()))
    started = time.monotonic()
    output: Any = attempt(host.run_with_secret, key, argv, _secret(target.credentials), longest)
    if target.patience is not None:
        target.patience.spend(time.monotonic() - started)
    if isinstance(output, Absent):
        raise NoAnswer(
            key,
            TOOL,
            f"there is no {tool} on this host: install net-snmp-utils (Debian, Ubuntu: snmp)",
        )
    if isinstance(output, HostproofError):
        why = str(output)
        if target.patience is not None and target.patience.left() <= 0:
            why = f"{target.name} was not waited for any longer: {target.patience.why_over()}"
        raise NoAnswer(key, FAILED, why, hopeless=True)
    if target.patience is not None and re.search(_COMPLAINTS[0][0], output.stderr):
        target.patience.time_out()
    try:
        values, ended = snmp_output.parse_answer(output.stdout)
    except ParseError as problem:
        raise NoAnswer(key, FAILED, str(problem)) from problem
    reasons = _errors_of(output)
    if output.rc == 0 or (reasons and set(reasons) == {_HAS_NONE}):
        # SNMPv1 says with an error that a value does not exist: that is an answer.
        # A walk that prints nothing and ends well was led out of its subtree by the first answer.
        if values or ended or output.rc or tool not in (GET, NEXT):
            missing = (oid for oid in oids if oid not in values)
            filled = dict(values, **({} if tool != GET else dict.fromkeys(missing)))
            return _Answer(filled, "", ended)
    elif values and (reasons or tool not in (GET, NEXT)):
        return _Answer(values, _said(output) or f"the tool ended with {output.rc}", ended)
    raise _no_answer(key, target, output)


#: The error by which SNMPv1 says that there is no such value, or that the tree ends (RFC 1157).
_HAS_NONE = "noSuchName"


def _errors_of(output: Output) -> List[str]:
    """The errors in packets of the agent, by their names in RFC 3416."""
    return re.findall(r"Reason: \((\w+)\)", output.stderr) if output.rc == 2 else []


def _said(output: Output) -> str:
    return " ".join(output.stderr.split())[:200]


def _agent(target: Target) -> str:
    if ":" in target.address:
        return f"udp6:[{target.address}]:{target.port}"
    return f"udp:{target.address}:{target.port}"


def _no_answer(key: str, target: Target, output: Output) -> NoAnswer:
    said = " ".join(output.stderr.split())
    for pattern, reason in _COMPLAINTS:
        if re.search(pattern, said):
            return NoAnswer(key, reason, _WORDS[reason].format(target.name))
    return NoAnswer(
        key,
        FAILED,
        "{0}: the tool ended with {1}: {2}".format(target.name, output.rc, said[:200] or "nothing"),
    )


_WORDS = {
    CLOSED: "the UDP port of {0} is closed: no SNMP agent runs there, or a firewall rejects us",
    SILENT: "{0} does not answer: no agent, a firewall, or an agent that drops what it refuses",
    REFUSED: "{0} has an SNMP agent that does not answer these credentials: wrong community or "
    "passphrase, a version that is off, or this host is not allowed to ask",
    USER: "{0} does not know the SNMPv3 user",
    PASSPHRASE: "{0} refuses the SNMPv3 passphrase or protocol of the user",
    LEVEL: "{0} does not allow this SNMPv3 security level to the user",
    NAME: "{0} has no address: the name cannot be resolved",
}


# -- why there is none ----------------------------------------------------------------------------


class Silence(NamedTuple):
    """What is known of an agent that gave no answer. ``engine`` is its engine ID, if seen."""

    reason: str
    message: str
    engine: Optional[bytes]
    evidence: Tuple[str, ...]


def explain(host: Host, target: Target, problem: HostError) -> Silence:
    """Look at a silent agent once more, by a question that needs no credentials."""
    reason = getattr(problem, "reason", FAILED)
    if reason != SILENT:
        return Silence(reason, str(problem), None, (problem.key,))
    key = f"udp:{target.name} discovery"
    reply = attempt(
        host.ask_udp, key, target.address, target.port, snmp_message.discovery(), target.timeout
    )
    evidence = (problem.key, key)
    if isinstance(reply, Absent):
        return Silence(CLOSED, _WORDS[CLOSED].format(target.name), None, evidence)
    if isinstance(reply, HostproofError):
        return Silence(SILENT, str(problem), None, evidence)
    engine = attempt(snmp_message.engine_id, reply)
    if isinstance(engine, HostproofError):
        message = f"{target.name} sends something that is no SNMP from its UDP port"
        return Silence(FAILED, message, None, evidence)
    return Silence(REFUSED, _WORDS[REFUSED].format(target.name), engine, evidence)


def printable(text: str) -> str:
    """One line without control characters, whatever an agent sent."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
