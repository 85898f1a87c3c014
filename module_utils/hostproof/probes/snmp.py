# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks SNMP agents with net-snmp's command-line tools, and says why one gave no answer.

Credentials reach the tool in a configuration file of its own that nobody else can read; argv,
environment, evidence and messages have none of them. Sources: net-snmp snmpcmd(1), snmp.conf(5),
snmplib/snmp_api.c (the texts of its errors); RFC 3414 for what SNMPv3 tells about a refusal.
"""

import ipaddress
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..answer import attempt
from ..errors import Absent, HostError, HostproofError, ParseError, Unanswered
from ..host import Host, Output, Secret
from ..parsers import snmp_message, snmp_output
from ..parsers.snmp_output import Value

PORT = 161
VERSIONS = ("1", "2c", "3")
#: noAuth, auth, authPriv, as snmp.conf(5) writes them.
LEVELS = ("noAuthNoPriv", "authNoPriv", "authPriv")
AUTH_PROTOCOLS = ("MD5", "SHA", "SHA-224", "SHA-256", "SHA-384", "SHA-512")
PRIV_PROTOCOLS = ("DES", "AES", "AES-192", "AES-256")
#: RFC 3414, section 11.2, and the tool.
SHORTEST_PASSPHRASE = 8

GET, NEXT, WALK = "snmpget", "snmpgetnext", "snmpbulkwalk"

#: No MIB files; numeric OIDs, hexadecimal strings, ticks and enumerations as numbers.
_OPTIONS = ["-m", "", "-Onxte"]
#: OIDs in one request: what any agent's answer holds in one datagram.
_MOST = 40
#: How many requests of one question may time out before the rest of it is given up.
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


class Target(NamedTuple):
    """An agent: where, how, and how long to wait (seconds for each of 1 + ``retries`` tries)."""

    address: str
    port: int
    credentials: Credentials
    timeout: float
    retries: int

    @property
    def name(self):
        # type: () -> str
        """The agent in evidence keys and messages."""
        if self.port == PORT:
            return self.address
        return ("[{0}]:{1}" if ":" in self.address else "{0}:{1}").format(self.address, self.port)


class NoAnswer(Unanswered):
    """The agent gave none. ``reason`` is one of REASONS.

    ``hopeless`` says that it was not the agent: the tool did not end (it waits for a name service,
    say) or printed without end. Every further question would cost as much.
    """

    def __init__(self, key, reason, message, hopeless=False):
        # type: (str, str, str, bool) -> None
        self.reason = reason
        self.hopeless = hopeless
        super().__init__(key, message)


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


def credentials_from(values):
    # type: (Dict[str, Any]) -> Credentials
    """Credentials from plain values; ValueError says which one is wrong, never what it holds."""
    unknown = sorted(set(values) - set(Credentials._fields))
    if unknown:
        raise ValueError("has unknown {0}".format(", ".join(map(str, unknown))))
    given = {name: "" if value is None else str(value) for name, value in values.items()}
    for name, value in given.items():
        if any(ord(character) < 32 or character == "\x7f" for character in value):
            raise ValueError("{0} holds a control character".format(name))
    found = Credentials(**dict({"version": "2c"}, **{k: v for k, v in given.items() if v}))
    if found.version not in VERSIONS:
        raise ValueError("version must be one of {0}".format(", ".join(VERSIONS)))
    return _version_3(found) if found.version == "3" else _with_community(found)


def _with_community(found):
    # type: (Credentials) -> Credentials
    extra = [name for name in Credentials._fields[2:] if getattr(found, name)]
    if extra:
        raise ValueError("{0} needs version 3".format(", ".join(extra)))
    if not found.community:
        raise ValueError("version {0} needs community".format(found.version))
    return found


def _version_3(found):
    # type: (Credentials) -> Credentials
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
                raise ValueError("level {0} uses no {1}".format(level, passphrase))
            continue
        if len(getattr(found, passphrase)) < SHORTEST_PASSPHRASE:
            raise ValueError(
                "{0} must have at least {1} characters".format(passphrase, SHORTEST_PASSPHRASE)
            )
        found = found._replace(**{protocol: getattr(found, protocol) or usual})
        if getattr(found, protocol) not in protocols:
            raise ValueError("{0} must be one of {1}".format(protocol, ", ".join(protocols)))
    return found._replace(level=level)


def check_address(text):
    # type: (str) -> str
    """A host name or an IP address, as it may stand in an argv; ValueError for anything else."""
    usual = re.match(r"[A-Za-z0-9_:][A-Za-z0-9_.:%-]*$", text) and len(text) <= 253
    if not usual or (":" in text and not _is_ipv6(text)):
        raise ValueError("{0!r} is no host name or IP address".format(text[:80]))
    return text


def _is_ipv6(text):
    # type: (str) -> bool
    try:
        # A link-local address has its interface behind "%", which ipaddress knows since 3.9.
        ipaddress.IPv6Address(text.partition("%")[0])
    except ValueError:
        return False
    return True


#: Where the tool looks for its configuration, for MIB files (it reads the first lines of every one
#: there is, even with -m ''), and where it keeps what it need not keep.
_VARIABLES = (("SNMPCONFPATH", "{0}"), ("MIBDIRS", "{0}"), ("SNMP_PERSISTENT_DIR", "/dev/null"))


def _secret(credentials):
    # type: (Credentials) -> Secret
    """The tool's configuration file (snmp.conf(5))."""
    words = (
        ("defCommunity", credentials.community),
        ("defSecurityName", credentials.user),
        ("defAuthPassphrase", credentials.auth_passphrase),
        ("defPrivPassphrase", credentials.priv_passphrase),
        ("defContext", credentials.context),
    )
    lines = ["{0} {1}".format(word, _quoted(text)) for word, text in words if text]
    plain = (
        ("defSecurityLevel", credentials.level),
        ("defAuthType", credentials.auth_protocol),
        ("defPrivType", credentials.priv_protocol),
    )
    lines += ["{0} {1}".format(word, text) for word, text in plain if text]
    text = "".join(line + "\n" for line in lines)
    return Secret("snmp.conf", text, _VARIABLES)


def _quoted(text):
    # type: (str) -> str
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# -- questions ------------------------------------------------------------------------------------

#: OID asked for or found to its value; None where the agent said that it has none.
Values = Dict[str, Optional[Value]]


def key_of(target, question):
    # type: (Target, str) -> str
    """The evidence key of a question, which names no credentials."""
    return "snmp:{0} {1}".format(target.name, question)


def get(host, target, question, oids):
    # type: (Host, Target, str, Sequence[str]) -> Values
    """The values of ``oids``, by as few requests as the agent takes; NoAnswer if it gave none."""
    return _ask(host, target, GET, question, oids)


def following(host, target, question, oids):
    # type: (Host, Target, str, Sequence[str]) -> Values
    """What comes next behind each of ``oids``: the first row of a column, or the next subtree."""
    return _ask(host, target, NEXT, question, oids)


def walk(host, target, question, oid):
    # type: (Host, Target, str, str) -> Values
    """Everything beneath ``oid``. SNMPv1 has no bulk request: there it is a plain walk."""
    tool = "snmpwalk" if target.credentials.version == "1" else WALK
    values = _run(host, target, tool, question, [oid], patience=20)
    return {name: value for name, value in values.items() if name.startswith(oid + ".")}


def _ask(host, target, tool, question, oids):
    # type: (Host, Target, str, str, Sequence[str]) -> Values
    """Ask, and ask the halves where the whole is too large for the agent or silences it."""
    values = {}  # type: Values
    open_parts = [
        (question if not at else "{0} {1}".format(question, at), list(oids[at : at + _MOST]))
        for at in range(0, len(oids), _MOST)
    ]
    timeouts, first = 0, None  # type: int, Optional[NoAnswer]
    while open_parts:
        name, part = open_parts.pop(0)
        try:
            values.update(_run(host, target, tool, name, part))
        except NoAnswer as problem:
            first = first or problem
            timeouts += problem.reason == SILENT
            if problem.hopeless or problem.reason in (NAME, TOOL):
                break
            if len(part) == 1 or timeouts > _TIMEOUTS or not _worth_halving(problem, name):
                continue
            half = len(part) // 2
            open_parts[:0] = [(name + "a", part[:half]), (name + "b", part[half:])]
    if first is not None and not values:
        raise first
    return values


def _worth_halving(problem, question):
    # type: (NoAnswer, str) -> bool
    """A first question that nobody answers is not asked again in parts: nobody is there."""
    return problem.reason == FAILED or (problem.reason == SILENT and question != FIRST)


#: The question that opens the talk with an agent.
FIRST = "probe"


def _run(host, target, tool, question, oids, patience=3):
    # type: (Host, Target, str, str, List[str], int) -> Values
    key = key_of(target, question)
    wait = "{0:g}".format(target.timeout)
    argv = [tool] + _OPTIONS + ["-v", target.credentials.version, "-t", wait]
    argv += ["-r", str(target.retries), _agent(target)] + oids
    longest = target.timeout * (target.retries + 1) * patience + 10
    output = attempt(host.run_with_secret, key, argv, _secret(target.credentials), longest)  # type: Any
    if isinstance(output, Absent):
        raise NoAnswer(
            key,
            TOOL,
            "there is no {0} on this host: install net-snmp-utils (Debian, Ubuntu: snmp)".format(
                tool
            ),
        )
    if isinstance(output, HostproofError):
        raise NoAnswer(key, FAILED, str(output), hopeless=True)
    try:
        values = snmp_output.parse(output.stdout)
    except ParseError as problem:
        raise NoAnswer(key, FAILED, str(problem)) from problem
    if values or _has_none(output):
        missing = (oid for oid in oids if oid not in values)
        return dict(values, **({} if tool != GET else dict.fromkeys(missing)))
    raise _no_answer(key, target, output)


def _agent(target):
    # type: (Target) -> str
    if ":" in target.address:
        return "udp6:[{0}]:{1}".format(target.address, target.port)
    return "udp:{0}:{1}".format(target.address, target.port)


def _has_none(output):
    # type: (Output) -> bool
    """SNMPv1 says with an error that a value does not exist: that is an answer."""
    return output.rc == 2 and "noSuchName" in output.stderr


def _no_answer(key, target, output):
    # type: (str, Target, Output) -> NoAnswer
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
    """What can be told of an agent that gave no answer. ``engine`` is its engine ID, if seen."""

    reason: str
    message: str
    engine: Optional[bytes]
    evidence: Tuple[str, ...]


def explain(host, target, problem):
    # type: (Host, Target, HostError) -> Silence
    """Look at a silent agent once more, by a question that needs no credentials."""
    reason = getattr(problem, "reason", FAILED)
    if reason != SILENT:
        return Silence(reason, str(problem), None, (problem.key,))
    key = "udp:{0} discovery".format(target.name)
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
        message = "{0} sends something that is no SNMP from its UDP port".format(target.name)
        return Silence(FAILED, message, None, evidence)
    return Silence(REFUSED, _WORDS[REFUSED].format(target.name), engine, evidence)
