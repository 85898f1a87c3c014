# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries SNMP agents with the net-snmp command-line tools, and explains missing answers.

The tool reads the credentials from a temporary configuration file that no other account can read.
They never appear in argv, environment, evidence or messages. Sources: net-snmp snmpcmd(1),
snmp.conf(5), snmplib/snmp_api.c (error texts); RFC 3414 (SNMPv3 rejections)."""

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
#: The security levels, spelled as in snmp.conf(5).
LEVELS = ("noAuthNoPriv", "authNoPriv", "authPriv")
AUTH_PROTOCOLS = ("MD5", "SHA", "SHA-224", "SHA-256", "SHA-384", "SHA-512")
PRIV_PROTOCOLS = ("DES", "AES", "AES-192", "AES-256")
#: RFC 3414, section 11.2; net-snmp has the same minimum.
SHORTEST_PASSPHRASE = 8

GET, NEXT, WALK = "snmpget", "snmpgetnext", "snmpbulkwalk"
#: One bulk request for 40 rows (-Cr40).
BULK = "snmpbulkget"
_OF_TOOL = {BULK: ["-Cr40"]}

#: No MIB files; numeric OIDs, hexadecimal strings, ticks and enumerations as numbers.
_OPTIONS = ["-m", "", "-Onxte"]
#: OIDs per request. The answer of every agent then fits one datagram.
_MOST = 40
#: Requests of one query that may time out. After more timeouts, no request is split in halves.
_TIMEOUTS = 2


class Credentials(NamedTuple):
    """SNMP version and credentials. Fields that the version does not use are empty."""

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
    """The time limit for all agents together, measured with the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        return self._ends - time.monotonic()

    def put_off(self, seconds: float) -> None:
        """Extend the deadline by the idle time between two readings."""
        self._ends += seconds


class Patience:
    """The time limit for all queries to one agent, and the deadline for all agents.

    Only the time of the queries counts, not the time between them. After MOST_TIMEOUTS timeouts the
    agent is not queried again, so a failing agent delays the audit only briefly. Agents are queried
    in parallel, each of them by one thread.
    """

    #: Requests that may time out. A request includes its retries.
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
        """The reason, for messages, when no time remains."""
        if self._timeouts >= self.MOST_TIMEOUTS:
            return f"{self._timeouts} requests timed out"
        if self._spent >= self.seconds:
            return f"its answers took longer than the limit of {self.seconds:g} s per agent"
        return f"the limit of {self.deadline.seconds:g} s for all agents is exceeded"


class Target(NamedTuple):
    """Address, credentials, and timeout of an agent (seconds per try; 1 + ``retries`` tries).

    ``patience`` limits the time of all queries together. Without it, only each query has a limit.
    """

    address: str
    port: int
    credentials: Credentials
    timeout: float
    retries: int
    patience: Optional[Patience] = None

    @property
    def name(self) -> str:
        """The name of the agent in evidence keys and messages."""
        if self.port == PORT:
            return self.address
        return ("[{0}]:{1}" if ":" in self.address else "{0}:{1}").format(self.address, self.port)


class NoAnswer(Unanswered):
    """The agent did not answer, or the answer is incomplete. ``reason`` is one of REASONS.

    ``hopeless``: further queries would fail in the same way. The tool did not end (for example, it
    waits for a name service), its output exceeded the limit, or the time limit is exceeded.
    ``values`` are the values received anyway. They prove that a value exists, never that one is
    missing.
    """

    def __init__(self, key: str, reason: str, message: str, hopeless: bool = False) -> None:
        self.reason = reason
        self.hopeless = hopeless
        self.values: Values = {}
        super().__init__(key, message)


def what_came(answer: Any) -> "Values":
    """The values of an answer that may be incomplete. They never prove that a value is missing."""
    return dict(answer.values if isinstance(answer, NoAnswer) else if_known(answer, {}))


#: Reasons for a missing answer, as far as SNMP distinguishes them.
CLOSED, SILENT, REFUSED, USER, PASSPHRASE, LEVEL, NAME, TOOL, FAILED = (
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

#: Messages on the tool's standard error, and the reason that each one means.
_COMPLAINTS = (
    (r"Timeout: No Response|^snmp\w+: Timeout\b", SILENT),
    (r"Unknown user name", USER),
    (r"Authentication failure|Decryption error", PASSPHRASE),
    (r"Unsupported security level|authorizationError", LEVEL),
    (r"Unknown host|Invalid (?:address|transport)", NAME),
)


# -- credentials ----------------------------------------------------------------------------------


def credentials_from(values: Dict[str, Any]) -> Credentials:
    """Credentials from plain values. ValueError names the wrong field, never its value."""
    unknown = sorted(set(values) - set(Credentials._fields))
    if unknown:
        raise ValueError("has unknown {0}".format(", ".join(map(str, unknown))))
    options = {name: "" if value is None else str(value) for name, value in values.items()}
    for name, value in options.items():
        if any(ord(character) < 32 or character == "\x7f" for character in value):
            raise ValueError(f"{name} holds a control character")
    credentials = Credentials(**dict({"version": "2c"}, **{k: v for k, v in options.items() if v}))
    if credentials.version not in VERSIONS:
        raise ValueError("version must be one of {0}".format(", ".join(VERSIONS)))
    return _version_3(credentials) if credentials.version == "3" else _with_community(credentials)


def _with_community(credentials: Credentials) -> Credentials:
    extra = [name for name in Credentials._fields[2:] if getattr(credentials, name)]
    if extra:
        raise ValueError("{0} needs version 3".format(", ".join(extra)))
    if not credentials.community:
        raise ValueError(f"version {credentials.version} needs community")
    return credentials


def _version_3(credentials: Credentials) -> Credentials:
    if credentials.community:
        raise ValueError("community is for version 1 and 2c")
    if not credentials.user:
        raise ValueError("version 3 needs user")
    level = (
        credentials.level
        or LEVELS[bool(credentials.auth_passphrase) + bool(credentials.priv_passphrase)]
    )
    if level not in LEVELS:
        raise ValueError("level must be one of {0}".format(", ".join(LEVELS)))
    used = LEVELS.index(level)
    parts = (("auth", AUTH_PROTOCOLS, "SHA"), ("priv", PRIV_PROTOCOLS, "AES"))
    for number, (part, protocols, usual) in enumerate(parts, 1):
        protocol, passphrase = part + "_protocol", part + "_passphrase"
        if used < number:
            if getattr(credentials, protocol) or getattr(credentials, passphrase):
                raise ValueError(f"level {level} uses no {passphrase}")
            continue
        if len(getattr(credentials, passphrase)) < SHORTEST_PASSPHRASE:
            raise ValueError(f"{passphrase} must have at least {SHORTEST_PASSPHRASE} characters")
        credentials = credentials._replace(**{protocol: getattr(credentials, protocol) or usual})
        if getattr(credentials, protocol) not in protocols:
            raise ValueError("{0} must be one of {1}".format(protocol, ", ".join(protocols)))
    return credentials._replace(level=level)


def check_address(text: str) -> str:
    """A hostname or an IP address that is safe in an argv. ValueError for any other text."""
    usual = re.match(r"[A-Za-z0-9_:][A-Za-z0-9_.:%-]*\Z", text) and len(text) <= 253
    if not usual or (":" in text and not _is_ipv6(text)):
        raise ValueError(f"{text[:80]!r} is not a hostname or IP address")
    return text


def _is_ipv6(text: str) -> bool:
    try:
        # ipaddress before Python 3.9 rejects the "%interface" of a link-local address.
        ipaddress.IPv6Address(text.partition("%")[0])
    except ValueError:
        return False
    return True


#: Directories of the tool: configuration, MIB files (it reads the first lines of every MIB file,
#: even with -m ''), and persistent data, which is not needed.
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


# -- queries --------------------------------------------------------------------------------------

#: OID requested or found to its value. None: the agent reported that it has no value.
Values = Dict[str, Optional[Value]]


def key_of(target: Target, question: str) -> str:
    """The evidence key of a query. It contains no credentials."""
    return f"snmp:{target.name} {question}"


def get(host: Host, target: Target, question: str, oids: Sequence[str]) -> Values:
    """The values of ``oids``, read with as few requests as possible. NoAnswer without any answer.

    None: the agent reported that it has no value. OIDs without an answer are not in the result.
    """
    values, problem = _ask(host, target, GET, question, oids)
    if problem is not None and not values:
        raise problem
    return values


def following(host: Host, target: Target, question: str, oids: Sequence[str]) -> Values:
    """The next value after each of ``oids``: the first row of a column, or the next subtree.

    The result does not show which OID has no answer. One missing answer therefore raises NoAnswer,
    whose ``values`` has the other answers.
    """
    values, problem = _ask(host, target, NEXT, question, oids)
    if problem is not None:
        problem.values = values
        raise problem
    return values


def walk(host: Host, target: Target, question: str, oid: str, rows: Iterable[str] = ()) -> Values:
    """All values below ``oid``; NoAnswer if the walk was interrupted. SNMPv1 has no bulk request
    and uses a plain walk.

    A walk was interrupted if the tool failed: a request without an answer, an error of the agent,
    or an OID that is not greater than the one before. It was also interrupted if the agent reported
    the end of its tree too early. To detect this, the agent is queried for the next value after
    ``oid``. ``rows`` are the row indexes that the table must have in each column: a column that
    lacks one of them is incomplete.
    """
    key = key_of(target, question)
    tool = "snmpwalk" if target.credentials.version == "1" else WALK
    answer = _run(host, target, tool, question, [oid], patience=20)
    values = {name: value for name, value in answer.values.items() if name.startswith(oid + ".")}
    if answer.cut:
        raise _cut(key, target, oid, answer.cut, values)
    if answer.ended:
        if has_more(host, target, question, oid):
            why = "it reported the end of its tree, but has more values"
            raise _cut(key, target, oid, why, values)
        # The agent does not have a column without any row.
        missing = [row for row in rows if oid + row not in values] if values else []
        if missing:
            why = "it ended before row {0}, which the table has".format(missing[0].lstrip("."))
            raise _cut(key, target, oid, why, values)
    return values


def beginning(host: Host, target: Target, question: str, oid: str, most: int) -> Values:
    """The first rows below ``oid``, at most ``most``. NoAnswer if one of them is missing.

    SNMPv1 has no bulk request: only the first row is read.
    """
    if target.credentials.version == "1":
        values = following(host, target, question, [oid])
        return {name: value for name, value in values.items() if _is_row(name, value, oid)}
    values = {}
    last, number = oid, 1
    while len(values) < most:
        name = question if number == 1 else f"{question} {number}"
        answer = _run(host, target, BULK, name, [last])
        rows = {row: value for row, value in answer.values.items() if _is_row(row, value, oid)}
        more = [row for row in rows if row not in values]
        values.update(rows)
        if not more or len(rows) < len(answer.values):
            break
        last, number = more[-1], number + 1
    return dict(list(values.items())[:most])


def _is_row(name: str, value: Optional[Value], oid: str) -> bool:
    return value is not None and name.startswith(oid + ".")


#: snmpModules (RFC 3411 and others): nearly every agent has it, after all subtrees walked here.
_LAST = "1.3.6.1.6"


def has_more(host: Host, target: Target, question: str, oid: str) -> bool:
    """Whether an agent that reported the end of its tree at ``oid`` has values after it."""
    behind = following(host, target, question + " end", [_behind(oid), _LAST])
    return any(value is not None for value in behind.values())


def _cut(key: str, target: Target, oid: str, why: str, rows: Values) -> NoAnswer:
    return NoAnswer(
        key,
        FAILED,
        f"the walk of {oid} on {target.name} was interrupted after {len(rows)} rows: {why}",
    )


def _behind(oid: str) -> str:
    """The first OID after the subtree of this one."""
    above, _, last = oid.rpartition(".")
    return f"{above}.{clipped(last) + 1}"


class _Answer(NamedTuple):
    """``cut`` is the reason why values are missing, or "". ``ended``: the agent reported the end
    of its tree."""

    values: Values
    cut: str
    ended: bool


def _ask(
    host: Host, target: Target, tool: str, question: str, oids: Sequence[str]
) -> Tuple[Values, Optional[NoAnswer]]:
    """The values received, and the first reason for a missing one.

    A request that is too large for the agent, or that it does not answer, is split in two halves.
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
    """False for the first query of a session without an answer: no agent is running there."""
    return problem.reason == FAILED or (problem.reason == SILENT and question != FIRST)


#: The first query of a session with an agent.
FIRST = "probe"


def _run(
    host: Host, target: Target, tool: str, question: str, oids: List[str], patience: int = 3
) -> _Answer:
    key = key_of(target, question)
    output = _output(host, target, key, _argv(target, tool, oids), patience)
    try:
        values, ended = snmp_output.parse_answer(output.stdout)
    except ParseError as problem:
        raise NoAnswer(key, FAILED, str(problem)) from problem
    reasons = _errors_of(output)
    if output.rc == 0 or set(reasons) == {_HAS_NONE}:
        # SNMPv1 reports a missing value as an error: that is an answer.
        # A successful walk without output has an empty subtree: the first answer was outside it.
        if values or ended or output.rc or tool not in (GET, NEXT):
            missing = [oid for oid in oids if oid not in values] if tool == GET else []
            return _Answer({**values, **dict.fromkeys(missing)}, "", ended)
    elif values and (reasons or tool not in (GET, NEXT)):
        return _Answer(values, _error_text(output) or f"the tool ended with {output.rc}", ended)
    raise _no_answer(key, target, output)


def _argv(target: Target, tool: str, oids: List[str]) -> List[str]:
    wait = f"{target.timeout:g}"
    argv = (
        [tool] + _OPTIONS + _OF_TOOL.get(tool, []) + ["-v", target.credentials.version, "-t", wait]
    )
    return argv + ["-r", str(target.retries), _agent(target)] + oids


def _output(host: Host, target: Target, key: str, argv: List[str], patience: int) -> Output:
    """The output of the tool, which runs at most for the time that the target has left."""
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
            f"{argv[0]} was not found on this host: install net-snmp-utils (Debian, Ubuntu: snmp)",
        )
    if isinstance(output, HostproofError):
        why = str(output)
        if target.patience is not None and target.patience.left() <= 0:
            why = f"the queries to {target.name} were stopped: {target.patience.why_over()}"
        raise NoAnswer(key, FAILED, why, hopeless=True)
    if target.patience is not None and re.search(_COMPLAINTS[0][0], output.stderr):
        target.patience.time_out()
    return output


#: The SNMPv1 error for a missing value, or for the end of the tree (RFC 1157).
_HAS_NONE = "noSuchName"


def _errors_of(output: Output) -> List[str]:
    """The errors that the agent returned, with their names from RFC 3416."""
    return re.findall(r"Reason: \((\w+)\)", output.stderr) if output.rc == 2 else []


def _error_text(output: Output) -> str:
    return " ".join(output.stderr.split())[:200]


def _agent(target: Target) -> str:
    if ":" in target.address:
        return f"udp6:[{target.address}]:{target.port}"
    return f"udp:{target.address}:{target.port}"


def _no_answer(key: str, target: Target, output: Output) -> NoAnswer:
    message = " ".join(output.stderr.split())
    for pattern, reason in _COMPLAINTS:
        if re.search(pattern, message):
            return NoAnswer(key, reason, _WORDS[reason].format(target.name))
    return NoAnswer(
        key,
        FAILED,
        "{0}: the tool ended with {1}: {2}".format(
            target.name, output.rc, message[:200] or "nothing"
        ),
    )


_WORDS = {
    CLOSED: "the UDP port of {0} is closed: no SNMP agent runs there, or a firewall rejects us",
    SILENT: "{0} does not answer: no agent, a firewall, or an agent that drops rejected requests",
    REFUSED: "{0} has an SNMP agent that does not answer these credentials: wrong community or "
    "passphrase, a disabled SNMP version, or this host is not permitted",
    USER: "{0} does not know the SNMPv3 user",
    PASSPHRASE: "{0} rejects the SNMPv3 passphrase or protocol of the user",
    LEVEL: "{0} rejects this SNMPv3 security level for the user",
    NAME: "{0} cannot be resolved to an address",
}


# -- reasons for a missing answer -----------------------------------------------------------------


class Silence(NamedTuple):
    """The reason for a missing answer. ``engine`` is the agent's engine ID, if received."""

    reason: str
    message: str
    engine: Optional[bytes]
    evidence: Tuple[str, ...]


def explain(host: Host, target: Target, problem: HostError) -> Silence:
    """The reason for a missing answer. A timeout is followed by a query without credentials."""
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
        message = f"{target.name} answers on its UDP port, but not with SNMP"
        return Silence(FAILED, message, None, evidence)
    return Silence(REFUSED, _WORDS[REFUSED].format(target.name), engine, evidence)


def printable(text: str) -> str:
    """The text of an agent in one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
