# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blanks what is secret in a text before it leaves the host, in evidence or in a difference.

Files of Oracle Net go through their parser, so that whatever a parameter's value is, all of it
goes; what the parser does not take is blanked from the first password on. In every text go the
values of words that name a secret, as mounts, scripts, network settings and agents write them.

Sources: Oracle Database Net Services Reference, listener.ora PASSWORDS_listener_name (to 11.2);
mount.cifs(8); nm-settings-keyfile(5); snmpd.conf(5); interfaces(5).
"""

import re
from typing import Any, List, Tuple

from .errors import ParseError
from .parsers.oracle import oracle_net

BLANK = "***"

#: Of a name in a file of Oracle Net. The password file of a database is named, and is no secret.
_NET_SECRET = re.compile(
    r"(?:PASSWORDS?|PASSWD|PASSPHRASE|PSWD|PWD|SECRET)(?![A-Z_]*FILE)", re.IGNORECASE
)
#: A file that includes others names them as it likes.
_LOOKS_LIKE_NET = re.compile(r"(?:PASSWORDS_[A-Z0-9]|WALLET_PASSWORD)", re.IGNORECASE)
#: Parameters of an instance: none is a password, and their files are none of Oracle Net.
_PARAMETERS = re.compile(r"(?:^|[/ ])(?:spfile|init)[^/ ]*\.ora$")
_COMMENT = re.compile(r"#[^\n]*(?:\n[ \t]*#[^\n]*)*")

#: One value: in quotes, or up to a blank or a comma; mount.cifs takes two commas for one.
_VALUE = r"""(?:"[^"\n]*"?|'[^'\n]*'?|(?:,,|[^\s,;"'])+)"""
_NAMED = re.compile(
    r"""((?:(?:password|passwd|passphrase|secret)(?![_-]?(?:file|flags))[\w-]{0,32}"""
    r"""|(?<![a-z])(?:pass|pwd|pw)|_pwd|psk|community|wep[_-]?key[0-3]?|api[_-]?key|token)"""
    r"""["']?[ \t]*=[ \t]*)""" + _VALUE,
    re.IGNORECASE,
)
_WIRELESS = re.compile(r"^([ \t]*KEY(?:_PASSPHRASE)?[0-9]?=)[^\n]+", re.MULTILINE)
_COLON = re.compile(
    r"""((?:password|passphrase|secret|community)["']?:[ \t]*)""" + _VALUE, re.IGNORECASE
)
#: Lines whose first word is followed by secrets, with blanks between.
_LINES = re.compile(
    r"^([ \t]*(?:wpa-psk|wpa-passphrase|wpa-password|wireless-key[0-9]?|r[ow]community6?"
    r"|(?:auth|trap)?community|trapsess|createUser|com2sec6?|def(?:Auth|Priv)?Passphrase"
    r"|def(?:Auth|Priv)(?:Master|Localized)Key|defCommunity|password_pbkdf2)[ \t]+)[^\n]+",
    re.IGNORECASE | re.MULTILINE,
)
_OPTIONS = re.compile(
    r"(--?(?:password|passwd|passphrase|secret|community)[ \t]+)" + _VALUE, re.IGNORECASE
)
_URL = re.compile(r"(//[^\s/:@]{0,256}:)[^\s/]{1,512}@")
_ISCSI = re.compile(r"(\biscsi:[^\s:@]{1,256}:)[^\s@]{1,512}@")
_PERCENT = re.compile(r"(\buser(?:name)?=[^\s,%]{1,256}%)[^\s,]+", re.IGNORECASE)
_USER_OPTION = re.compile(r"""((?:-u|--user)[ \t=]+["']?[^\s:"']{1,256}:)[^\s"']+""")
_SQLPLUS = re.compile(
    r"""(\b(?:sqlplus|rman|exp|imp|expdp|impdp|sqlldr)\b[^\n/]{0,256}[ \t"'=][\w$#"]{1,128}/)"""
    r"""(?:"[^"\n]*"?|[^\s@"']+)"""
)
#: SQL and SQL*Plus, as scripts have them, and Oracle's URL.
_SQL = re.compile(
    r"""(\bidentified[ \t]+by[ \t]+(?:values[ \t]+)?|\bset[ \t]+password[ \t]+)""" + _VALUE,
    re.IGNORECASE,
)
_CONNECT = re.compile(
    r"""((?:\bconn(?:ect)?[ \t]+|\bjdbc:oracle:\w{1,16}:)["']?[\w$#]{1,128}"?/)"""
    r"""(?:"[^"\n]*"?|[^\s@;"']+)""",
    re.IGNORECASE,
)
#: Other programs whose arguments or input hold one.
_PROGRAMS = re.compile(
    r"(\bsshpass[ \t]+-p[ \t]*|\bpass:|\bAuthorization:[ \t]*\w{1,32}[ \t]+"
    r"|(?:^|[ \t])-U[ \t]*[^\s%]{1,128}%|\bauth\.password[ \t]+-v[ \t]+)" + _VALUE,
    re.IGNORECASE | re.MULTILINE,
)
_PIPED = re.compile(r"(\becho[ \t]+)[^|\n]{1,256}(?=\|[^|\n]{0,64}passwd\b)")
_ELEMENT = re.compile(
    r"(<(?:\w{1,32}:)?(?:password|passwd|passphrase|secret)>)[^<\n]+", re.IGNORECASE
)
#: Of an SNMP program: the community and both passphrases.
_SNMP = re.compile(r"\bsnmp[a-z]{2,16}[ \t][^\n]*")
_SNMP_OPTION = re.compile(r"([ \t]-[cAX][ \t]*)" + _VALUE)


_VALUES = (
    *(_NAMED, _WIRELESS, _COLON, _LINES, _OPTIONS, _PERCENT, _USER_OPTION, _SQLPLUS),
    *(_SQL, _CONNECT, _PROGRAMS, _PIPED, _ELEMENT),
)


def masked(name: str, text: str) -> str:
    """The text without what is secret in it.

    ``name`` is the path of the file, or the evidence key that ends with it.
    """
    if "\0" in text and _NET_SECRET.search(text.replace("\0", "")) and not _NET_SECRET.search(text):
        # Two bytes a letter: nothing of it can be told apart here.
        return BLANK
    is_net = ".ora" in name.lower() and _PARAMETERS.search(name) is None
    if is_net or _LOOKS_LIKE_NET.search(text):
        text = _net(text)
    for pattern in _VALUES:
        text = pattern.sub(_blanked, text)
    text = _SNMP.sub(lambda line: _SNMP_OPTION.sub(_blanked, line.group()), text)
    for pattern in (_URL, _ISCSI):
        text = pattern.sub(r"\1" + BLANK + "@", text)
    return text


def _blanked(match: Any) -> str:
    return str(match.group(1)) + BLANK


def _net(text: str) -> str:
    first = _NET_SECRET.search(text)
    if first is None:
        return text
    try:
        net = oracle_net.parse(text, strict=False)
    except ParseError:
        return text[: first.end()] + " = (" + BLANK + ")\n"
    spans: List[Tuple[int, int, str]] = []
    for at, parameter in enumerate(net.parameters):
        if any(_NET_SECRET.search(one) for one in (parameter.name,) + parameter.aliases):
            # To where the next one begins: a comment behind it can hold the password before.
            later = net.parameters[at + 1 :]
            spans.append((parameter.name_end, later[0].start if later else len(text), "\n"))
        else:
            spans += [(pair.name_end, pair.end - 1, "") for pair in _secrets_in(parameter)]
    for comment in _COMMENT.finditer(text):
        word = _NET_SECRET.search(comment.group())
        if word is not None:
            spans.append((comment.start() + word.end(), comment.end(), ""))
    return _without(text, spans)


def _secrets_in(pair: oracle_net.Pair) -> List[oracle_net.Pair]:
    found: List[oracle_net.Pair] = []
    for one in pair.pairs:
        found += [one] if _NET_SECRET.search(one.name) else _secrets_in(one)
    return found


def _without(text: str, spans: List[Tuple[int, int, str]]) -> str:
    """The text with a blank for each span; those that begin within another go with it."""
    pieces = []
    end = 0
    for start, stop, behind in sorted(spans):
        if start >= end:
            pieces.append(text[end:start] + " = (" + BLANK + ")" + behind)
        end = max(end, stop)
    return "".join(pieces) + text[end:]
