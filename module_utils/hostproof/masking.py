# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blanks what is secret in a text before it leaves the host, in evidence or in a difference.

Files of Oracle Net go through their parser, so that whatever a parameter's value is, all of it
goes; what the parser does not take is blanked from the first password on. In every text go the
values of words that name a secret, as mounts, scripts, network settings and agents write them.

No pattern may try two ways through the same characters: the time grows with the length.

Sources: Oracle Database Net Services Reference, listener.ora PASSWORDS_listener_name (to 11.2);
mount.cifs(8); nm-settings-keyfile(5); snmpd.conf(5); interfaces(5); the manuals of the programs.
"""

import re
from typing import Any, Dict, List, Tuple

from .errors import ParseError
from .parsers.oracle import oracle_net

BLANK = "***"

#: A file that includes others names them as it likes.
_LOOKS_LIKE_NET = re.compile(r"(?:PASSWORDS_[A-Z0-9]|WALLET_PASSWORD)", re.IGNORECASE)
#: Parameters of an instance: none is a password, and their files are none of Oracle Net.
_PARAMETERS = re.compile(r"(?:^|[/ ])(?:spfile|init)[^/ ]*\.ora$")
_COMMENT = re.compile(r"#[^\n]*(?:\n[ \t]*#[^\n]*)*")

#: A word that is cut where a line ends, with or without the sign that it goes on.
_CUT = r"(?:[ \t]*(?:\\|#[^\n]{0,128})?\r?\n[\s#]*)?"
_CUT_WORD = re.compile(
    "|".join(_CUT.join(word) for word in ("password", "passwd", "passphrase", "secret"))
    + "|"
    + _CUT.join("credential"),
    re.IGNORECASE,
)
_CUTS = re.compile(r"[ \t]*#[^\n]*(?=\n)|[\\\s#]+")

#: Behind a word that names a secret: what is about one, and holds none.
_ABOUT = (
    r"(?:[\w.-]{0,32}[_.-])?(?:files?|flags|path|dir(?:ectory)?|loc|len|days?|date|time|min|max|age|"
    r"warn|types?|auth|name|alias)(?![a-z])"
    r"|[_.-]?(?:file|dir|location|life|lock|grace|reuse|rollover|expir|verif|version|polic|length|"
    r"authent|prompt|m(?:in|ax)[_.-]?(?:age|day|len)|warn|timeout|history|algorithm|complexity)"
)
_STRONG = (
    r"(?:(?<!no)pass[ _.-]?(?:word|wd|wrd|phrase|code|key)|pswd?|(?<!old)pwd|pw(?![a-z])|authtok"
    r"|(?<!by)(?<!com)(?<!sur)(?<!tres)(?<!no)(?<!first_)"
    r"pass(?!t?hr|ive|port|age|eng|ed|es|ing)(?-i:(?![a-z]))"
    r"|secret(?:[ _.-]?key)?|psk|community|pin-value|masterauth|clear[_-]?text|rediscli_auth"
    r"|(?:api|auth|shared|account|wep)[ _.-]?key"
    r"|token(?!i))"
)
#: What may be named by these stands as often in a file, whose path is shown.
_WEAK = r"(?:cred(?:ential)?s?(?![a-z])|credential|(?:access|private|encryption|master)[ _.-]?key)"
_TAIL = rf"(?!{_ABOUT})[\w.$-]{{0,64}}(?:\[[\w\"'-]{{0,32}}\])?"
_NAME = rf"(?:{_STRONG}{_TAIL}|{_WEAK}{_TAIL}(?=[^/~\n]{{0,8}}[^\s/~\"'=:>(]))"
#: Of a name in a file of Oracle Net. The password file of a database is named, and is no secret.
_NET_SECRET = re.compile(
    rf"(?:PASSWORDS?|PASSWD|PASSPHRASE|PSWD|PWD|SECRET|CREDENTIAL|TOKEN|API_?KEY)"
    rf"(?![A-Z_]*FILE|{_ABOUT})",
    re.IGNORECASE,
)

#: A blank, also one that hides the end of a line.
_GAP = r"(?:[ \t\0]|\\\r?\n)"
_QUOTED = r"""(?:"(?:[^"\\\n]|\\[^\n]|\\\n)*"|'[^'\n]*')"""
#: mount.cifs takes two commas for one.
_PIECE = r"""(?:,,|\\\r?\n[ \t]*|\\[^\n]|[^\s\0,;"'\\])"""
#: No secret: what is switched, where accounts are looked for, and what is blank already.
_PLAIN = (
    rf"""(?!{_GAP}*\(?\*\*\*)(?!["']?(?:yes|no|true|false|on|off|none|null|files|compat|sss|ldap"""
    r"""|nis|db|systemd|required|requisite|sufficient|optional|include|substack)"""
    r"""(?![^\s\0,;"'<)\]}]))"""
)
#: One value: in brackets, in quotes, or up to a blank or a comma. Nothing may follow it in a
#: pattern.
_VALUE = (
    rf"{_PLAIN}(?:\[[^\]\n]*\]?|\(+[^()\n]*\)*|\{{[^{{}}\n]*\}}|{_QUOTED}|{_PIECE}+|[\"'][^\n]*)"
    rf"(?:(?=[\"']?[\w$])(?:{_QUOTED}|{_PIECE}+|[\"'][^\n]*))*"
)
_CLOSED = r"""\\?["']?\]?"""
#: What stands between a name and its value; a value may begin on a line of its own.
_IS = (
    rf"{_GAP}*(?:[:+]?=(?:[=>]|(?![=>]))|:(?!//|:)|<<<|(?<=[\"'])(?=[ \t]+[\"'])|\((?=[\"']))"
    rf"(?:[ \t]*\r?\n(?:\s{{0,64}}(?=[\"'])|[ \t]{{1,64}}(?![^\n]*[=:]))|{_GAP}*)"
    r"(?:[\w.]{1,32}[ \t]+(?=\"))?"
)
_NO_BLANK = r"(?=[^\s\0])"
#: All that is left of a line, and of those that it goes on with.
_REST = r"(?:\\\r?\n|[^\n])*"


#: Looking for a word costs next to nothing, and most texts have none of them.
_NAMES = "pass psw pw auth secret psk community pin-value clear key token cred"


def _rule(
    words: str, first: str, secret: str = _VALUE, flags: int = re.IGNORECASE
) -> Tuple[List[str], str, int]:
    """``first`` stays, ``secret`` goes, in a text with one of the words.

    It is compiled when there is such a text, and ``re`` keeps it: all of them take as long as all
    else that a host imports.
    """
    return words.split(), f"({first}){secret}", flags | re.MULTILINE


#: What begins a line, in front of a name: a comment, an item of a list.
_BEGIN = r"^[ \t]*(?:[#;!]+[ \t]*|-[ \t]+)?"
_USER = r"""["']?[\w$#][\w$#.]{0,127}\\?["']?(?:\[[\w"]{1,64}\])?/"""
_LOGON = r"""(?:\\?"[^"\n]*"?|'[^'\n]*'?|(?:\\.|[^\s\0@;"'\\])+)"""
#: What an element of XML holds.
_CONTENT = rf"{_PLAIN}(?:<!\[CDATA\[[^\]]*|[^<\s][^<]*)"
_TAG = r"[\w.:-]{0,64}"

_VALUES = (
    # In YAML, in indented lines of its own.
    _rule(
        _NAMES,
        rf"^[ \t]*(?:- )?[\"']?[\w.-]*{_NAME}{_CLOSED}:[ \t]*[|>]?[-+0-9]?[ \t]*(?:#[^\n]*)?\r?\n",
        r"(?:(?:[ \t]+(?![ \t])|-[ \t])(?![^\n]*:(?:[ \t\r]|$))[^\n]+(?:\n|\Z))+",
    ),
    # Alone on its line: all the rest of it.
    _rule(
        _NAMES,
        rf"{_BEGIN}[\w.-]*{_NAME}[ \t]*(?::(?![:/])[ \t]*|[ \t]=[ \t]*|=[ \t]+)",
        rf"{_PLAIN}(?=[^\s\"'\[({{]){_REST}",
    ),
    _rule(
        _NAMES,
        rf"^[ \t]*(?-i:[a-z])?(?-i:[a-z._-])*{_NAME}=",
        rf"{_PLAIN}(?=[^\s\"'\[({{]){_REST}",
        0,
    ),
    _rule(_NAMES, rf"{_NAME}{_CLOSED}{_IS}"),
    _rule("key", r"^[ \t]*KEY(?:_PASSPHRASE)?[0-9]?=", r"[^\n]+", 0),
    # Lines whose first word is followed by secrets, with blanks between.
    _rule(
        "wpa- wireless community trapsess createuser com2sec passphrase def password_ goinguser "
        "incominguser masterauth",
        r"^[ \t]*(?:wpa-psk|wpa-passphrase|wpa-password|wireless-key[0-9]?|r[ow]community6?"
        r"|(?:auth|trap)?community|trapsess|createUser|com2sec6?|def(?:Auth|Priv)?Passphrase"
        r"|def(?:Auth|Priv)(?:Master|Localized)Key|defCommunity|password_pbkdf2|incominguser"
        r"|outgoinguser|masterauth)[ \t]+",
        r"[^\n]+",
    ),
    _rule(
        _NAMES,
        rf"{_BEGIN}(?:[\w-]+[ \t]+)?(?:[\w.-]*\w[_.-]?{_NAME}|(?:{_STRONG}|{_WEAK})[_.-]{_TAIL})"
        r"[ \t]+(?![:=(])",
        rf"{_PLAIN}(?=[^\s\\(<>|&-]){_REST}",
    ),
    _rule(
        _NAMES,
        r"^[ \t]*#?(?:(?:set|setenv|export|env|def(?:ine)?|option)[ \t]+)?(?:password|passwd|pass"
        r"|pwd|passphrase|secret|secret[ _-]key|token|credentials?|community)[ \t]+(?![:=])",
        rf"{_PLAIN}(?:{_QUOTED}|\S+)(?=[ \t]*;?\r?$)",
    ),
    _rule(
        "pass secret bearer community",
        r"(?:\b(?:login|user(?:name)?|account)[ \t]+\S{1,128}\s{1,8}(?:password|passwd|secret)"
        r"(?:[ \t]+[0-9](?=[ \t])|(?![ \t]+[0-9][ \t]))|[ \t](?:password|secret)[ \t]+[0-9]"
        r"|\bbearer|\bsnmp-server[ \t]+community)[ \t]+",
    ),
    # Options that say it, and their values.
    _rule(_NAMES, rf"(?<!\w)--?[\w-]{{0,64}}?{_NAME}{_GAP}+(?!-)"),
    _rule(
        "-p", r"(?<![\w-])-(?:u|-user|-username)[ \t=]+[^\s-]\S{0,64}[ \t]+-p[ \t]*(?!-)", flags=0
    ),
    _rule("lftp /p", r"\blftp[ \t]+-u[ \t]*[^\s,]{1,128},|(?:^|[ \t])/p(?:ass\w{0,8})?:"),
    _rule("user", r"\buser(?:name)?=[^\s,%]{1,256}%", r"[^\s,]+"),
    _rule("-u --user", rf"(?:^|[ \t\0])(?:-U|--user){_GAP}*[^\s%]{{1,128}}%"),
    _rule(
        "-u --user -s -k -l -i -f -v",
        rf"(?<![\w-])(?:-[sSkLifv]{{0,6}}u|--[\w-]{{0,16}}user|-U)(?:{_GAP}|=)*[\"'][^\s:\"']{{1,256}}:",
        r"""[^"'\n]+""",
        0,
    ),
    _rule(
        "-u --user -s -k -l -i -f -v",
        rf"(?<![\w-])(?:-[sSkLifv]{{0,6}}u|--[\w-]{{0,16}}user|-U)(?:{_GAP}|=)*[^\s:\"'/]{{1,256}}:",
        r"""[^\s"']+""",
        0,
    ),
    # SQL and SQL*Plus, as scripts have them, and Oracle's URL.
    _rule("identified", r"\bidentified\s{1,8}by\s{1,8}(?:values\s{1,8}|(?!values\s))"),
    _rule("identified", r"\bidentified\s{1,8}by\s{1,8}\*\*\*\s{1,8}replace\s{1,8}"),
    _rule("password", r"\bset[ \t]+password[ \t]+"),
    _rule(
        "conn copy sql jdbc userid",
        r"(?:\bconn(?:ect)?[ \t]+(?:(?:target|catalog|auxiliary)[ \t]+)?|\bcopy[ \t]+from[ \t]+"
        rf"|\bsql[ \t]+(?:-\w+[ \t]+)?|\bjdbc:oracle:\w{{1,16}}:|\buserid{_GAP}*=[ \t]*){_USER}",
        _LOGON,
    ),
    _rule("sqlplus rman", rf"(?:sqlplus|rman)[^\n]{{0,256}}<<[^\n]{{0,64}}\n[ \t]*{_USER}", _LOGON),
    _rule("echo", rf"\becho[ \t]+{_USER}", r"[^\s|]{1,128}(?=[^|\n]{0,128}\|[^|\n]{0,64}sqlplus)"),
    _rule("@", rf"=[ \t]*{_USER}", r"""[^\s/@"'\\]{1,128}(?=@)"""),
    # Other programs whose arguments or input hold one.
    _rule("auth.password", r"\bauth\.password[ \t]+-v[ \t]+"),
    _rule("credential entry", r"(?<!\w)-(?:create|modify)(?:Credential|Entry)[ \t]+", r"[^\n]+"),
    _rule("passwd", r"\bopenssl[ \t]+passwd[ \t]+|\bhtpasswd[ \t]+-[a-z]*b[a-z]*[ \t]+", r"[^\n]+"),
    _rule(
        "isql",
        r"\bisql(?:[ \t]+-\w{1,16}){0,8}[ \t]+[^\s-]\S{0,128}[ \t]+[^\s-]\S{0,128}[ \t]+(?!-)",
    ),
    _rule("connect(", r"\bconnect\((?:\"[^\"\n]{0,128}\"|'[^'\n]{0,128}'),[ \t]*"),
    _rule(
        "echo printf",
        r"\b(?:echo|printf)[ \t]+",
        r"[^|\n]{1,256}(?=\|[^|\n]{0,64}(?:passwd\b|\bsudo[ \t]+-\w*S|\bsu\b|\bkinit\b|cryptsetup"
        r"|\bgpg\b|stdin\b))",
    ),
    _rule("<<<", r"\b\w{0,16}(?:passwd|sudo|kinit|cryptsetup)\b[^\n<]{0,128}<<<[ \t]*"),
    _rule("chpasswd", r"\bchpasswd\b[^\n<]{0,128}<<[^<\n]{1,64}\n", r"(?:[^\s:]+:[^\n]+\n?)+"),
    _rule(
        "authorization cookie",
        rf"\b(?:proxy-)?authorization(?:{_CLOSED}[ \t]*[:=]>?|[ \t])[ \t]*(?=[\"'])"
        r"|\bcookie:[ \t]*(?=[\"'])",
    ),
    _rule(
        "authorization cookie",
        r"\b(?:(?:proxy-)?authorization|(?:set-)?cookie)[ \t]*[:=][ \t]*(?=[^\s\"'])",
        r"""(?:="[^"\n]*"|[^"'\n])+""",
    ),
    # XML: the name of an element, or an attribute with the name and what it holds.
    _rule(
        _NAMES,
        rf"<[\w.:-]{{0,64}}{_NAME}(?:\s[^<>]{{0,256}})?(?<!/)>\s{{0,64}}",
        _CONTENT,
    ),
    _rule(
        _NAMES,
        rf"\b(?:name|key)=[\"'][\w.:-]{{0,64}}{_NAME}[\"'][^<>]{{0,256}}(?<!/)>\s{{0,64}}(?:<[\w.:-]{{1,64}}>\s{{0,64}})?"
        rf"|<[\w.:-]{{0,64}}(?:name|key)>\s{{0,64}}[\w.:-]{{0,64}}{_NAME}\s{{0,64}}</[\w.:-]{{1,64}}>"
        r"\s{0,64}<[\w.:-]{1,64}>\s{0,64}",
        _CONTENT,
    ),
    _rule(
        _NAMES,
        rf"\b(?:name|key){_CLOSED}[ \t]*[:=][ \t]*\\?[\"']?[\w.-]{{0,64}}{_NAME}{_CLOSED}"
        rf"[ \t,;]{{0,8}}\s{{0,64}}\\?[\"']?(?:value|content){_CLOSED}[ \t]*[:=][ \t]*",
    ),
    _rule(
        "value",
        rf"\bvalue{_CLOSED}[ \t]*[:=][ \t]*",
        rf"(?!\*\*\*)(?:\"[^\"\n]{{0,512}}\"|'[^'\n]{{0,512}}'|[^\s\"',}}]{{1,512}}(?![^\s\"',}}]))(?=[^<>{{}}]{{0,64}}?\b"
        rf"(?:name|key){_CLOSED}[ \t]*[:=][ \t]*[\"']?[\w.:-]{{0,64}}?{_NAME}(?![\w.-]))",
    ),
    _rule("pass", r"\bpass(?:word|phrase)[ \t]+(?:for[ \t][^\n:]{1,64}|\([^()\n]{1,64}\)):[ \t]*"),
    _rule("private key", r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----", r"[^-]*"),
)

#: Programs with an option of one letter for a password.
_COMMAND = r"""(?:"[^"\n]*"|'[^'\n]*'|\\\r?\n|\\.|[^\n;|&"'\\]|["'])*"""
_OPTIONS = tuple(
    (
        words.split(),
        rf"\b(?:{programs})(?![\w.]){_COMMAND}",
        rf"([ \t\n\0\"'](?:{option})(?:{_GAP}+(?!-)|{_NO_BLANK})){_VALUE}",
        0,
    )
    for words, programs, option in (
        (
            "mysql mariadb mongo sshpass rdesktop login user 7z",
            r"mysql[\w-]*|mariadb[\w-]*|mongo\w*|sshpass|rdesktop|(?:docker|podman) login"
            r"|user(?:add|mod)|7za?",
            "-p",
        ),
        ("ldap", r"ldap\w+", "-[xvnLZC]{0,6}w"),
        ("ldappasswd", r"ldappasswd", "-[as]"),
        ("ipmi sql bcp zip", r"ipmi[\w-]*|[fti]sql|osql|sqlcmd|bcp|zip|unzip", "-P"),
        ("redis", r"redis-cli", "-a|AUTH"),
        ("curl", r"curl", "-[Eb]"),
        ("openssl", r"openssl", "-[kK]"),
        # The community, and both passphrases.
        ("snmp", r"snmp[a-z]{2,16}", "-[cAX]"),
    )
) + (
    (
        ["sqlplus", "rman", "exp", "imp", "sqlldr", "dgmgrl", "nid"],
        rf"\b(?:sqlplus\w{{0,4}}|rman|exp(?:dp)?|imp(?:dp)?|sqlldr|dgmgrl|nid)\b{_COMMAND}",
        rf"((?:[ \t\n\0\"'(]|\b(?:target|catalog|auxiliary)=)\\?{_USER}){_LOGON}",
        re.IGNORECASE,
    ),
)

#: What stands between a user and a host.
_AT = (
    r"(//[^\s/:@]{0,256}:)(?!/|\d{1,5}/)[^\s@]{1,512}@(?:[^\s/@]{1,256}@)?",
    r"(\b(?:iscsi|pserver):[^\s:@]{1,256}:)[^\s@]{1,512}@",
    r"""((?<![^\s="'])[a-z][\w.-]{0,64}:)(?!\*\*\*)[^\s:/@"']{1,128}@(?=[\w\[])(?!if\d|sha)""",
)


#: The key of a dictionary whose value is a secret, whatever it looks like.
_SECRET_KEY = re.compile(
    rf"(?:^|[^a-z]|[a-z_.-])(?:{_STRONG}{_TAIL}|{_WEAK}{_TAIL})\s*$", re.IGNORECASE
)
#: {"name": "DB_PASSWORD", "value": "..."}: the keys of the name, and those of the value.
_KEYS_OF_NAME = ("name", "key", "id", "variable", "parameter", "option", "attribute")
_KEYS_OF_VALUE = ("value", "values", "content", "default", "data", "text")
#: A value that is no secret although its key names one.
_LONGEST_NAME = 256
_NO_SECRET = re.compile(rf"{_PLAIN}(?=.)", re.IGNORECASE | re.DOTALL)
#: No reading is as deep. Deeper values are blanked as a whole.
_DEEPEST = 40


def masked_value(name: str, value: Any) -> Any:
    """A JSON value without what is secret in it: every string of it, keys of dictionaries included.

    ``name`` is the path of the file, or the evidence key, that the value comes from. A list of
    strings is read as the words of one command and as the lines of one file as well.
    """
    return _value(name, value, 0)


def _value(name: str, value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return masked(name, value)
    if not isinstance(value, (dict, list, tuple)):
        return value
    if depth > _DEEPEST:
        return BLANK
    if isinstance(value, dict):
        return _dictionary(name, value, depth)
    told = list(value)
    # In context first: a blank in one text would hide what the next one belongs to.
    if told and all(isinstance(one, str) for one in told):
        told = _in_context("\0", _in_context("\n", told))
    elif told and all(_is_row(one) for one in told):
        texts = _in_context("\n", [one[-1] for one in told])
        told = [type(one)([*one[:-1], text]) for one, text in zip(told, texts)]
    told = [_value(name, one, depth + 1) for one in told]
    return told if isinstance(value, list) else tuple(told)


def _is_row(value: Any) -> bool:
    """Whether it is a numbered line: [12, "text"]."""
    return (
        type(value) in (list, tuple)
        and len(value) == 2
        and isinstance(value[0], int)
        and isinstance(value[1], str)
    )


def _dictionary(name: str, value: Dict[Any, Any], depth: int) -> Dict[Any, Any]:
    told = {}
    names_secret = any(
        isinstance(value.get(key), str) and names_a_secret(value[key]) for key in _KEYS_OF_NAME
    )
    for key, one in value.items():
        is_text = isinstance(key, str)
        source = key if is_text and "/" in key else name
        if (is_text and names_a_secret(key)) or (names_secret and key in _KEYS_OF_VALUE):
            one = _all_blank(one, depth + 1)
        else:
            one = _value(source, one, depth + 1)
        told[masked(name, key) if is_text else key] = one
    return told


def names_a_secret(key: str) -> bool:
    """Whether the value of a variable, option or key with this name is a secret."""
    return len(key) <= _LONGEST_NAME and _SECRET_KEY.search(key) is not None


def _all_blank(value: Any, depth: int) -> Any:
    """The value with a blank for every string and number; what is only switched stays."""
    if isinstance(value, str):
        return value if _NO_SECRET.match(value + ",") is None or not value else BLANK
    if isinstance(value, (bool, type(None))):
        return value
    if depth > _DEEPEST or not isinstance(value, (dict, list, tuple)):
        return BLANK
    if isinstance(value, dict):
        return {key: _all_blank(one, depth + 1) for key, one in value.items()}
    return type(value)([_all_blank(one, depth + 1) for one in value])


def _in_context(separator: str, texts: List[str]) -> List[str]:
    """Some texts, each without what is secret only behind the text before it."""
    whole = separator.join(texts)
    if whole.count(separator) != len(texts) - 1:
        # A text holds the separator itself.
        return texts
    told = _without_secrets("", whole)
    if told == whole:
        return texts
    pieces = told.split(separator)
    if len(pieces) == len(texts):
        return pieces
    # A secret went over several texts: what is the same from both ends stays.
    start = 0
    while start < len(pieces) and pieces[start] == texts[start]:
        start += 1
    end = 0
    while end < len(pieces) - start and pieces[-1 - end] == texts[-1 - end]:
        end += 1
    return texts[:start] + [BLANK] * (len(texts) - start - end) + texts[len(texts) - end :]


def masked(name: str, text: str) -> str:
    """The text without what is secret in it.

    ``name`` is the path of the file, or the evidence key that ends with it.
    """
    if "\0" in text and _NET_SECRET.search(text.replace("\0", "")) and not _NET_SECRET.search(text):
        # Two bytes a letter: nothing of it can be told apart here.
        return BLANK
    return _without_secrets(name, text)


def _without_secrets(name: str, text: str) -> str:
    if "\n" in text:
        text = _CUT_WORD.sub(lambda word: _CUTS.sub("", word.group()), text)
    is_net = ".ora" in name.lower() and _PARAMETERS.search(name) is None
    if is_net or _LOOKS_LIKE_NET.search(text):
        text = _net(text)
    said = text.lower()
    for words, pattern, flags in _VALUES:
        if any(word in said for word in words):
            text = re.sub(pattern, _blanked, text, flags=flags)
    for words, command, option, flags in _OPTIONS:
        if any(word in said for word in words):
            text = _with_options(command, option, flags, text)
    if "@" in text:
        for pattern in _AT:
            text = re.sub(pattern, r"\1" + BLANK + "@", text, flags=re.IGNORECASE)
    return text


def _with_options(command: str, option: str, flags: int, text: str) -> str:
    def options(line: Any) -> str:
        return re.sub(option, _blanked, line.group(), flags=flags)

    return re.sub(command, options, text, flags=re.IGNORECASE)


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
