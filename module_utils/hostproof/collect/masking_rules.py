# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns of secrets in texts: what names one, and how programs and files write it (masking.py).

No pattern may try two ways through the same characters: the time grows with the length.

Sources: the manuals of the programs; Oracle Database Utilities, Security Guide and Net Services
Reference, listener.ora PASSWORDS_listener_name (to 11.2); GoldenGate Reference; mount.cifs(8);
nm-settings-keyfile(5); snmpd.conf(5); interfaces(5); chrony.conf(5); ntp.keys(5); named.conf(5);
ipsec.secrets(5); fetchmailrc(1); nvme(1).
"""

import re
from typing import Any, Dict, List, Tuple

BLANK = "***"

#: A file that includes others names them as it likes.
LOOKS_LIKE_NET = re.compile(r"(?:PASSWORDS_[A-Z0-9]|WALLET_PASSWORD)", re.IGNORECASE)
#: Parameters of an instance: none is a password, and their files are none of Oracle Net.
PARAMETERS = re.compile(r"(?:^|[/ ])(?:spfile|init)[^/ ]*\.ora$")
COMMENT = re.compile(r"#[^\n]*(?:\n[ \t]*#[^\n]*)*")

#: A word that is cut where a line ends, with or without the sign that it goes on.
_CUT = r"(?:[ \t]*(?:\\|#[^\n]{0,128})?\r?\n[\s#]*)?"
CUT_WORD = re.compile(
    "|".join(_CUT.join(word) for word in ("password", "passwd", "passphrase", "secret"))
    + "|"
    + _CUT.join("credential"),
    re.IGNORECASE,
)
CUTS = re.compile(r"[ \t]*#[^\n]*(?=\n)|[\\\s#]+")

#: Behind a word that names a secret: what is about one, and holds none.
_ABOUT = (
    r"(?:[\w.-]{0,32}[_.-])?(?:files?|flags|path|dir(?:ectory)?|loc|len|days?|date|time|min"
    r"|max|age|"
    r"warn|types?|auth|name|alias|versions?|levels?|ports?|protocols?|retries)(?![a-z])"
    r"|[_.-]?(?:file|dir|location|life|lock|grace|reuse|rollover|expir|verif|version|polic|length|"
    r"authent|prompt|m(?:in|ax)[_.-]?(?:age|day|len)|warn|timeout|history|algorithm|complexity)"
)
STRONG = (
    r"(?:(?<!no)pass[ _.-]?(?:word|wd|wrd|phrase|code|key)|psw(?!pin|pout)d?|(?<!old)pwd"
    r"|pw(?![a-z])|authtok"
    r"|(?<!by)(?<!com)(?<!sur)(?<!tres)(?<!no)(?<!first_)"
    r"pass(?!t?hr|ive|port|age|eng|ed|es|ing)(?-i:(?![a-z]))"
    r"|secret(?:[ _.-]?key)?|psk|community|pin-value|masterauth|clear[_-]?text|rediscli_auth"
    r"|(?:api|auth|shared|account|wep)[ _.-]?key"
    r"|token(?!i)|(?:dhchap|shared|pre[_-]?shared|signing|hmac|session|license|activation|routing"
    r"|subscription|storage|service|app|hash|salt)[_-]?(?:ctrl[_-]?)?key(?!s?tore|board)|passwort"
    r"|kennwort|mot[_-]de[_-]passe|contrase(?:n|\u00f1)a|userpwd|symmkey)"
)
#: These words are as often part of a file name, whose path is shown.
WEAK = (
    r"(?:cred(?:ential)?s?(?![a-z])|credential|(?:access|private|encryption|master)"
    r"[ _.-]?key|(?:ssh|client|priv)[_-]?key)"
)
TAIL = rf"(?!{_ABOUT})[\w.$-]{{0,64}}(?:\[[\w\"'-]{{0,32}}\])?"
_NAME = rf"(?:{STRONG}{TAIL}|{WEAK}{TAIL}(?=[^/~\n]{{0,8}}[^\s/~\"'=:>(]))"
#: Variables of Hostproof: an error message contains the name and the problem of an entry.
_VARIABLES = r"(?:flow_control|storage_type)_(?:snmp_)?credentials"
#: A name in a file of Oracle Net. The password file of a database is named, and is not a secret.
NET_SECRET = re.compile(
    rf"(?:PASSWORDS?|PASSWD|PASSPHRASE|PSWD|PWD|SECRET|CREDENTIAL|TOKEN|API_?KEY)"
    rf"(?![A-Z_]*FILE|{_ABOUT})",
    re.IGNORECASE,
)

#: A blank, also one that hides the end of a line.
_GAP = r"(?:[ \t\0]|\\\r?\n)"
_QUOTED = r"""(?:"(?:[^"\\\n]|\\[^\n]|\\\n)*"|'[^'\n]*')"""
#: mount.cifs takes two commas for one.
_PIECE = r"""(?:,,|\\\r?\n[ \t]*|\\[^\n]|[^\s\0,;"'\\])"""
#: Not a secret: switches, sources of accounts, and values that are already masked.
PLAIN = (
    rf"""(?!{_GAP}{{0,8}}["'(]{{0,2}}\*\*\*)(?!["']{2}(?:[\s,;)}}\]]|\Z))(?!["']?(?:yes|no"""
    rf"""|true|false|on|off|none|null|files|compat|sss|ldap"""
    r"""|nis|db|systemd|required|requisite|sufficient|optional|include|substack)"""
    r"""(?![^\s\0,;"'<)\]}]))"""
)
#: One value: in brackets, in quotes, or up to a blank or a comma. Nothing may follow it in a
#: pattern.
_VALUE = (
    rf"{PLAIN}(?:\$\([^()\n]*\)?|`[^`\n]*`?|\[[^\]\n]*\]?|\(+[^()\n]*\)*|\{{[^{{}}\n]*\}}"
    rf"|{_QUOTED}|{_PIECE}+|[\"'][^\n]*)"
    rf"(?:(?=[\\\"']{{0,4}}[\w$])(?:{_QUOTED}|{_PIECE}+|[\"'][^\n]*))*"
)
_CLOSED = r"""\\{0,7}["']?[\]})]?"""
#: What is between a name and its value; a value may begin on a separate line.
_IS = (
    rf"{_GAP}*(?:[:+!]?=(?:[=>]|(?![=>]))|:(?!//|:)|<<<|(?<=[\"'])(?=[ \t]+[\"'])|\((?=[\"']))"
    rf"(?:[ \t]*\r?\n(?:\s{{0,64}}(?=[\"'])|[ \t]{{1,64}}(?![^\n]*[=:]))|{_GAP}*)"
    r"(?:[\w.]{1,32}[ \t]+(?=\"))?"
)
_NO_BLANK = r"(?=[^\s\0])"
#: All that is left of a line, and of those that it goes on with.
_REST = r"(?:\\\r?\n|[^\n])*"


_BLANK_ALREADY = r"""[ \t]{0,8}[\\"'(\[{]{0,8}\*\*\*"""

#: Looking for a word costs next to nothing, and most texts have none of them.
_NAMES = "pass psw pw auth secret psk community pin-value clear key token cred kennwort contrase"


def _rule(
    words: str, first: str, secret: str = _VALUE, flags: int = re.IGNORECASE, needed: str = ""
) -> Tuple[List[str], str, str, int]:
    """``first`` stays, ``secret`` goes, in a text with one of the words.

    It is compiled when there is such a text that has ``first``, or ``needed`` where that is
    shorter. ``re`` keeps it: all of them take as long as all else that a host imports.
    """
    pattern = f"({first})(?!{_BLANK_ALREADY}){secret}"
    return words.split(), needed or f"({first})", pattern, flags | re.MULTILINE


#: Beginning of a line before a name: a comment, an item of a list.
_BEGIN = r"^[ \t]*(?:[#;!]+[ \t]*|-[ \t]+)?"
_USER = (
    r"""\\?["']?(?:\\?["'][^"'\n/]{1,128}\\?["']|\$\{[^}\n/]{1,64}\}|\$\([^()\n/]{1,64}\)"""
    r"""|[\w$#&][\w$#.&@-]{0,127})\\?["']?(?:\[[^\]\n/]{1,64}\])?/(?!/)"""
)
_LOGON = r"""(?:\\?"[^"\n]*"?|'[^'\n]*'?|(?:\\.|[^\s\0@;"'\\])+)"""
#: USER/PASSWORD@CONNECT as a separate word, without a command before it. Principals of Kerberos,
#: pools of ZFS, units of systemd, versions, digests of images and names of files look alike.
_BARE_USER = (
    r"(?!(?:host|nfs|HTTP|ldap|cifs|krbtgt|kadmin|kafka|[rb]pool|zroot)/)(?:\\?\"[^\"\n/]{1,128}\\?\""
    r"|\$\{[^}\n/]{1,64}\}|[A-Za-z_$&][\w$#.&-]{0,127})(?:\[[^\]\n/]{1,64}\])?"
)
_NO_CONNECT = (
    r"""(?!v?\d+(?:\.\d+){0,2}(?:[-+][\w.-]{1,64})?(?![\w.:/-])|sha\d{1,3}:|[^\s"']{0,128}"""
    r"""\.(?:service|socket|timer|target|slice|scope|mount|automount|swap|device|path|log|conf|cfg"""
    r"""|txt|trc|sh|sql|gz|xml|json|png)(?![\w-]))"""
)
_BARE_LOGON = (
    r"""(?:\\?"[^"\n]{1,128}"|[^\s\0/@]{1,128})"""
    rf"""(?=@{_NO_CONNECT}(?:(?://)?[\w$\[{{][\w.$:/{{}}\[\]-]{{0,256}}|\(\w)"""
    r"""(?:(?<=\(\w)|(?![^\s\0"'`;|&)\]}<>,])))"""
)
#: What an element of XML holds.
_CONTENT = rf"{PLAIN}(?:(?:<!\[CDATA\[[^\]]*(?:\]\]>)?|<!--[^>]{{0,256}}>|[^<\s])[^<]*)+"

#: What follows a word for a password in a sentence.
_PROSE = (
    r"(?:a|an|the|not|no|now|is|in|on|of|to|for|as|at|by|or|and|with|from|that|which|will"
    r"|must|can|may|file|files"
    r"|set|wrong|expired|expires|required|hidden|empty|stored|too|invalid|incorrect|never"
    r"|only|always|same|read"
    r"|kept|masked|missing|needed|used|changed|asked|given|known|unknown|weak|valid|correct"
    r"|about|shown|one"
    r"|authentication|policy|aging|prompt|protected|database|store|hash|hashes|sss|requests?)\b"
)
#: Not account and group of a program, in place of account and password: -u ntp:ntp.
_NO_GROUP = (
    r"(?!=|spec=|(?:_?ntpd?|ntpsec|_?chrony|openntpd|ptp|named|bind|unbound|oracle|grid)"
    r":(?:_?ntpd?|ntpsec|_?chrony|openntpd|ptp|dialout|nogroup|systime|clock|time|root|named|bind"
    r"|unbound|oinstall|oper|asm(?:admin|dba|oper)|(?:backup|dg|km|rac)?dba|\d{1,10})"
    r"(?![^\s;\"'])"
    r"|\d{1,10}:\d{1,10}(?![^\s;\"']))"
)
VALUES = (
    _rule(
        "credential entry",
        r"(?<!\w)-(?:create|modify)(?:User)?(?:Credential|Entry)[ \t]+",
        r"[^\n]+",
    ),
    # Values of several lines and arguments of calls: before the rules for their parts.
    _rule(
        "-begin ----",
        r"(?:-----BEGIN |---- BEGIN )(?=[\w ]{0,64}(?:PRIVATE|SECRET|MESSAGE|Static))[\w"
        r" ]{1,64}(?<=\w)"
        r"(?:-----| ----)",
        r"(?:(?!-----END|---- END)[\s\S])+",
    ),
    _rule(
        "private-", r"^Private-(?:Lines|MAC|Hash):", r"[^\n]*\n?(?:[\w+/=.-]+[ \t\r]*(?:\n|\Z))*"
    ),
    _rule("$ansible_vault", r"\$ANSIBLE_VAULT;[^\n]*\n", r"(?:[ \t]*[\w.-]+[ \t]*\r?(?:\n|\Z))+"),
    _rule("age-secret", r"\bAGE-SECRET-KEY-1", r"[\w.-]+", 0),
    _rule("$argon2", r"\$argon2\w{1,2}\$", r"[^\s:\"';<>]+"),
    _rule(
        "nsupdate dig host delv",
        r"\b(?:nsupdate|dig|host|delv)[ \t][^\n|;&]{0,128}?-y[ \t]*(?:[^\s:]{1,128}:){1,2}",
        r"[^\s]+",
    ),
    _rule(
        "credential authentication wallet bind_s open_ssl utl_smtp getconnection oci logon"
        " mysqli pdo basicauth dbi"
        " pscredential securestring encrypt",
        r"(?:\b(?:create_credential|update_credential|set_authentication|set_wallet"
        r"|simple_bind_s|open_ssl"
        r"|utl_smtp\.auth|oci_p?n?connect|ocilogon|getconnection|mysqli(?:_connect)?|PDO|"
        r"(?:HTTP)?BasicAuth"
        r"|dbms_crypto\.\w{4,16}|PSCredential)|DBI->connect\w*)\s{0,8}\(",
        r"[^()]*",
    ),
    _rule(
        _NAMES,
        (
            rf"\\{{0,7}}[\"'][\w. -]{{0,64}}{_NAME}\\{{0,7}}[\"']\s{{0,64}}:\s{{0,64}}(?:/\*"
            rf"[^*]{{0,256}}\*/\s{{0,64}})?"
        ),
        r"(?!\\{0,7}[\"']?\*\*\*)(?:\"(?:[^\"\\]|\\[\s\S])*\"|'[^']*'|\[[^\[\]]*\]?"
        r"|\{(?!\s{0,64}[\"']?(?:file|path|dir))[^{}]*\}?|\\{1,7}\"[^\"\n]+\")",
    ),
    _rule(_NAMES, rf"{_NAME}[\"']?[ \t]*=[ \t]*(\"\"\"|''')", r"(?:(?!\2)[\s\S])+"),
    _rule(_NAMES, rf"{_NAME}[\"']?[ \t]*=[ \t]*\[", r"[^\]]+"),
    _rule(
        "kind:",
        r"^(?:string)?data:[ \t]*\r?\n",
        r"(?:[ \t]+\S[^\n]*(?:\n|\Z))+(?=[\s\S]*^kind:[ \t]*Secret\b)",
    ),
    _rule(
        "kind:",
        (
            r"^kind:[ \t]*Secret\b[^\n]*\n(?:(?!---|(?:string)?data:)[^\n]*\n){0,64}"
            r"(?:string)?data:[ \t]*\r?\n"
        ),
        r"(?:[ \t]+\S[^\n]*(?:\n|\Z))+",
    ),
    _rule(
        _NAMES,
        (
            rf"^[ \t]*(?:-[ \t]+)?name:[ \t]*[\"']?[\w.-]{{0,64}}{_NAME}[\"']?[ \t]*\r?\n"
            rf"[ \t]+value:[ \t]*[|>][-+0-9]{{0,2}}[ \t]*\r?\n"
        ),
        r"(?:[ \t]+[^\n]+(?:\n|\Z))+",
    ),
    _rule(
        _NAMES,
        (
            r"^[ \t]*(?:(?:export|local|readonly|declare|typeset|set)[ \t]+(?:-\w+[ \t]+)?)?"
            r"[A-Z0-9_]{0,64}(?<!OLD)(?:PASS|PW|PWD|PASSWD|PASSWORD|SECRET|TOKEN)"
            r"[A-Z0-9_]{0,32}=(?=[^\s\"'$`(])"
        ),
        rf"(?!\*\*\*)(?:\\.|{_QUOTED}|[^\s;&|\"'\\])+",
        0,
    ),
    _rule(
        "auth.password",
        r"[ \t](?:-n|--name)[ \t]+\S{0,64}auth\.password\w{0,16}[ \t]+(?:-v|--value)[ \t]+",
        r"\S+",
    ),
    # In YAML, in separate indented lines.
    _rule(
        _NAMES,
        (
            rf"^[ \t]*(?:- )?[\"']?[\w.-]*{_NAME}{_CLOSED}:[ \t]*(?:[|>][-+0-9]{{0,2}}[ \t]*)?"
            rf"(?:#[^\n]*)?\r?\n"
        ),
        (
            r"(?:(?:[ \t]+(?![ \t])|-[ \t])(?![^\n]*:(?:[ \t\r]|$))[^\n]+(?:\n|\Z)|[ \t]*\r?\n"
            r"(?=[ \t]))+"
        ),
    ),
    # Alone on its line: all the rest of it.
    _rule(
        _NAMES,
        rf"{_BEGIN}[\w.-]*{_NAME}[ \t]*(?::(?![:/])[ \t]*|[ \t]=[ \t]*|=[ \t]+)",
        rf"{PLAIN}(?=[^\s\"'\[({{]){_REST}",
    ),
    _rule(
        _NAMES,
        rf"^[ \t]*(?-i:[a-z])?(?-i:[a-z._-])*{_NAME}=",
        rf"{PLAIN}(?=[^\s\"'\[({{]){_REST}",
        0,
    ),
    _rule(_NAMES, rf"{_NAME}{_CLOSED}{_IS}"),
    _rule("key", r"^[ \t]*KEY(?:_PASSPHRASE)?[0-9]?=", r"[^\n]+", 0),
    # Lines whose first word is followed by secrets, with blanks between.
    _rule(
        "wpa- wireless community trapsess createuser com2sec passphrase def password_ goinguser "
        "incominguser masterauth usmuser cachemgr crypto insecure",
        rf"{_BEGIN}(?:wpa-psk|wpa-passphrase|wpa-password|wireless-key[0-9]?|r[ow]community6?"
        r"|(?:auth|trap)?community|trapsess|createUser|com2sec(?:6|unix)?|usmUser"
        r"|cachemgr_passwd|crypto[ \t]+pw|def(?:Auth|Priv)?Passphrase"
        r"|def(?:Auth|Priv)(?:Master|Localized)Key|defCommunity|password_pbkdf2|incominguser"
        r"|outgoinguser|masterauth)[ \t]+",
        r"[^\n]+",
    ),
    _rule(
        _NAMES,
        rf"{_BEGIN}(?!{_VARIABLES}[ \t])(?:[\w-]+[ \t]+(?!{_VARIABLES}[ \t]))?"
        rf"(?:[\w.-]*\w[_.-]?{_NAME}|(?:{STRONG}|{WEAK})[_.-]{TAIL})[ \t]+(?![:=(])",
        rf"{PLAIN}(?!{_PROSE})(?=[^\s\\(<>|&-]){_REST}",
    ),
    _rule(
        _NAMES,
        r"^[ \t]*#?(?:(?:set|setenv|export|env|def(?:ine)?|option)[ \t]+)?(?:password|passwd|pass"
        r"|pwd|passphrase|secret|secret[ _-]key|token|credentials?|community)[ \t]+(?![:=])",
        rf"{PLAIN}(?!{_PROSE})(?:{_QUOTED}|\S+)(?=[ \t]*;?\r?$)",
    ),
    _rule(
        "pass secret bearer community",
        r"(?:\b(?:login|user(?:name)?|account)[ \t]+\S{1,128}\s{1,8}(?:password|passwd|pass|secret)"
        r"(?:[ \t]+[0-9](?=[ \t])|(?![ \t]+[0-9][ \t]))|[ \t](?:password|secret)[ \t]+[0-9]"
        r"|\bbearer|\bsnmp-server[ \t]+community)[ \t]+",
    ),
    # Options that state it, and their values.
    _rule(_NAMES, rf"(?<!\w)--?[\w-]{{0,64}}?{_NAME}{_GAP}+(?!-)"),
    _rule(
        "-p",
        (
            rf"(?<![\w-])-(?:u|-user|-username)[ \t=]+{_NO_GROUP}[^\s-]\S{{0,64}}"
            r"[ \t]+-p(?!(?:w|s|wd|ass|asswd|assword)[ \t=])[ \t]*(?!-)"
        ),
        flags=0,
    ),
    _rule(
        "lftp open /p",
        r"\b(?:lftp|open)\b[^\n]{0,64}?[ \t]-u[ \t]*[^\s,]{1,128},|(?:^|[ \t])/p(?:ass\w{0,8})?:",
    ),
    _rule("user", r"\buser(?:name)?=[^\s,%]{1,256}%", r"[^\s,]+"),
    _rule("-u --user", rf"(?:^|[ \t\0])(?:-U|--user){_GAP}*[^\s%]{{1,128}}%"),
    # A program of HTTP takes a password there, also one that looks like a group.
    _rule(
        "curl wget http",
        (
            r"\b(?:curl|wget|https?)\b[^\n]{0,256}?[ \t](?:-[sSkLifv]{0,6}u|--[\w-]{0,16}user|-U)"
            rf"(?:{_GAP}|=)*[\"']?[^\s:\"'/=]{{1,256}}:"
        ),
        r"""[^\s"']+""",
        0,
    ),
    _rule(
        "-u --user -s -k -l -i -f -v",
        (
            rf"(?<![\w-])(?:-[sSkLifv]{{0,6}}u|--[\w-]{{0,16}}user|-U)(?:{_GAP}|=)*[\"']"
            rf"{_NO_GROUP}[^\s:\"']{{1,256}}:"
        ),
        r"""[^"'\n]+""",
        0,
    ),
    _rule(
        "-u --user -s -k -l -i -f -v",
        (
            rf"(?<![\w-])(?:-[sSkLifv]{{0,6}}u|--[\w-]{{0,16}}user|-U)(?:{_GAP}|=)*"
            rf"{_NO_GROUP}[^\s:\"'/]{{1,256}}:"
        ),
        r"""[^\s"']+""",
        0,
    ),
    # SQL and SQL*Plus, as scripts have them, and Oracle's URL.
    _rule("identified", r"\bidentified\s{1,8}by\s{1,8}(?:values\s{1,8}|(?!values\s))"),
    _rule("identified", r"\bidentified\s{1,8}by\s{1,8}\*\*\*\s{1,8}(?:replace|set)\s{1,8}"),
    _rule("password", r"\bset[ \t]+(?:encryption[ \t]+)?password[ \t]+"),
    _rule(
        "conn copy sql jdbc userid explain",
        r"(?:\bconn(?:ect)?[ \t]+(?:(?:target|catalog|auxiliary)[ \t]+)?|\bcopy[ \t]+from[ \t]+"
        rf"|\bsql(?:cl)?[ \t]+(?:-\w+[ \t]+){{0,4}}(?:-\w+[ \t]+[\w.]+[ \t]+)?"
        rf"|\bjdbc:oracle:\w{{1,16}}:|\bexplain{_GAP}*=[ \t]*|\buserid(?:{_GAP}*=[ \t]*|"
        rf"[ \t]+)){_USER}",
        _LOGON,
    ),
    _rule("sqlplus rman", rf"(?:sqlplus|rman)[^\n]{{0,256}}<<[^\n]{{0,64}}\n[ \t]*{_USER}", _LOGON),
    _rule("conn", rf"\bconnect[ \t(]+[\"']{_USER}", _LOGON),
    _rule(
        "echo",
        rf"\becho[ \t]+(?:-\w+[ \t]+)?{_USER}",
        r"[^\s|]{1,128}(?=[^|\n]{0,128}\|[^|\n]{0,64}sqlplus)",
    ),
    _rule("@", rf"(?:=|\b(?:to|from)\b)[ \t]*{_USER}", r"""[^\s/@"'\\]{1,128}(?=@)"""),
    _rule("@", rf"""(?<![^\s\0"'`(\[{{>=;|&]){_BARE_USER}/(?!/)""", _BARE_LOGON),
    # Other programs whose arguments or input hold one.
    _rule("auth.password", r"\bauth\.password[ \t]+-v[ \t]+"),
    _rule(
        "passwd",
        r"\bmkpasswd[ \t]+|\bopenssl[ \t]+passwd[ \t]+|\bhtpasswd[ \t]+-[a-z]*b[a-z]*[ \t]+",
        r"[^\n]+",
    ),
    _rule(
        "isql",
        r"\bisql(?:[ \t]+-\w{1,16}){0,8}[ \t]+[^\s-]\S{0,128}[ \t]+[^\s-]\S{0,128}[ \t]+(?!-)",
    ),
    _rule(
        "connect( login(",
        r"\b(?:connect|login)\((?:\"[^\"\n]{0,128}\"|'[^'\n]{0,128}'),[ \t]*",
        r"(?=[\"'\d])[^)\n]+",
    ),
    _rule(
        "echo printf yes",
        r"\b(?:echo|printf|yes)[ \t]+",
        r"[^|\n]{1,256}(?=\|[^|\n]{0,64}(?:passwd2?\b|\bsudo[ \t]+-\w*S|\bsu\b|\bkinit\b|cryptsetup"
        r"|\bgpg\b|stdin\b|base64[ \t]+(?:-d|-D|--decode)|\brealm\b|\badcli\b|\blsnrctl\b"
        r"|\bmkstore\b|\borapki\b|\bopenssl\b|\bmkpasswd\b))",
    ),
    _rule("<<<", r"\b\w{0,16}(?:passwd|sudo|kinit|cryptsetup|su|base64)\b[^\n<]{0,128}<<<[ \t]*"),
    _rule(
        "<<",
        (
            r"\b(?:passwd|kinit|cryptsetup|su|lsnrctl)\b[^\n<]{0,128}<<-?[ \t]*[\"']?(\w{1,32})"
            r"[\"']?[ \t]*\r?\n"
        ),
        r"(?:(?![ \t]*\2[ \t\r]*$)[^\n]*\n)+",
    ),
    _rule("chpasswd", r"\bchpasswd\b[^\n<]{0,128}<<[^<\n]{1,64}\n", r"(?:[^\s:]+:[^\n]+\n?)+"),
    _rule(
        "chpasswd",
        r"<<[^<\n|]{1,64}\|[^\n]{0,64}\bchpasswd\b[^\n]{0,64}\n",
        r"(?:[^\s:]+:[^\n]+\n?)+",
    ),
    _rule(
        "chpasswd",
        r"^[ \t]*chpasswd:\s{1,64}list:[^\n]{0,16}\n",
        r"(?:[ \t]+[^\s:]+:[^\s][^\n]*\n?)+",
    ),
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
        (
            rf"<[\w.:-]{{0,64}}{_NAME}(?:\s[^<>]{{0,256}})?(?<!/)>\s{{0,64}}(?:<"
            rf"[\w.:-]{{1,64}}>\s{{0,64}})?"
        ),
        _CONTENT,
    ),
    _rule(
        _NAMES,
        rf"\b(?:name|key)=[\"'][\w.:-]{{0,64}}{_NAME}[\"'][^<>]{{0,256}}(?<!/)>\s{{0,64}}"
        rf"(?:<[\w.:-]{{1,64}}>\s{{0,64}})?"
        rf"|<[\w.:-]{{0,64}}(?:name|key)>\s{{0,64}}[\w.:-]{{0,64}}{_NAME}\s{{0,64}}</"
        rf"[\w.:-]{{1,64}}>"
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
        rf"(?!\*\*\*)(?:\"[^\"\n]{{0,512}}\"|'[^'\n]{{0,512}}'|[^\s\"',}}]{{1,512}}(?!"
        rf"[^\s\"',}}]))(?=[^<>{{}}]{{0,64}}?\b"
        rf"(?:name|key){_CLOSED}[ \t]*[:=][ \t]*[\"']?[\w.:-]{{0,64}}?{_NAME}(?![\w.-]))",
    ),
    _rule("pass", r"\bpass(?:word|phrase)[ \t]+(?:for[ \t][^\n:]{1,64}|\([^()\n]{1,64}\)):[ \t]*"),
    _rule("enc[ enc(", r"\bENC[\[(]", r"[^\])\n]+", 0),
    # Hashes of passwords, and tokens whose first letters tell what they are.
    _rule(
        "$",
        r"\$(?:[1567y]|gy|md5|sha1|apr1|pbkdf2[\w-]*|scram[\w-]*)\$(?:rounds=\d{1,9}\$)?"
        r"[\w./+-]{0,64}\$"
        r"|\$2[abxy]?\$\d\d\$",
        r"[^\s:\"',;<>]+",
        0,
    ),
    _rule("grub.pbkdf2", r"\bgrub\.pbkdf2\.sha\d+\.\d+\.", r"[\w.-]+"),
    _rule(
        "}",
        (
            r"\{(?:AES\w{0,8}|3DES|DES|xor|SSHA\d{0,3}|SHA\d{0,3}|S?MD5|CRYPT|PBKDF2[\w-]{0,16}"
            r"|BCRYPT|ARGON2\w{0,2})\}"
        ),
        r"[^\s\"'<>:,;]+",
    ),
    _rule(":", r"^[a-z_][\w.-]{0,64}:!{0,2}", r"[\w./]{13,}(?=:\d{0,6}:\d{0,6}:\d{0,6}:)"),
    _rule("dhhc- nvmetlskey-", r"\b(?:DHHC-1|NVMeTLSkey-1):\d\d:", r"[^\s:\"',]+"),
    _rule(
        (
            "akia asia ghp_ gho_ ghs_ ghu_ ghr_ github_pat_ glpat- xox aiza sk_ sg. npm_ hvs."
            " ya29. pypi- eyj"
        ),
        r"(?<![\w-])(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|AIza|[sr]k_(?:live|test)_"
        r"|SG\.|npm_"
        r"|hv[bsr]\.|ya29\.|pypi-|eyJ(?=[\w-]+\.[\w-]+\.)|A[KS]IA[A-Z0-9]{16}:)",
        r"[\w.+/=-]+",
        0,
    ),
    _rule(
        "hooks.slack.com webhook oraclecloud.com/p/",
        r"\bhooks\.slack\.com/(?:services|workflows)/|\bdiscord(?:app)?\.com/api/webhooks/\d+/"
        r"|\boffice\.com/webhook\w*/[^\s/]+/IncomingWebhook/|\boraclecloud\.com/p/",
        r"[\w./-]+",
    ),
    _rule(
        "sig= signature=", r"[?&;\"' ](?:sig|x-amz-signature|x-goog-signature)=", r"[^\s&\"'#;]+"
    ),
    _rule("signature key=", r"[?&](?:signature|key)=", r"[^\s&\"'#;]+"),
    # User and password in one value.
    _rule(
        "auth creds",
        rf"(?<![\w-])--?(?:[\w.]{{0,16}}[.-])?(?:basic-?auth|auth-?basic|auth|authorization|creds)"
        rf"(?:{_GAP}|=)+[\"']?[^\s:\"'/=]{{1,128}}:",
        r"[^\s\"']+",
    ),
    _rule("basic", r"\bbasic[_-]?auth[\"']?[ \t]*[:=][ \t]*[\"']?[^\s:\"'{]{1,128}:", r"[^\s\"']+"),
    _rule(
        "http ab check_http",
        (
            r"(?:^|[\s;|&/])(?:https?|ab|check_http)[ \t][^\n|;&]{0,128}?-[aAP][ \t]+(?!basic"
            r"|digest)[^\s:\"'/-][^\s:\"'/]{0,128}:"
        ),
        r"[^\s\"']+",
        0,
    ),
    _rule("--cert", r"(?<![\w-])--(?:proxy-)?cert(?:[ \t]+|=)[^\s:]{1,256}:", r"[^\s\"']+"),
    _rule("--cookie", r"(?<![\w-])--cookie(?:[ \t]+|=)[\"']?[^\s=\"']{1,128}=", r"[^\"'\n]+"),
    _rule("--from-literal", r"(?<![\w-])--from-literal(?:[ \t]+|=)[\"']?[^\s=\"']{1,128}="),
    _rule(
        "login= auth allow",
        r"\blogin=[^\s:]{1,128}:|^[ \t]*stats[ \t]+auth[ \t]+[^\s:]{1,128}:"
        r"|^[ \t]*(?:[^\n]{0,128}?[ \t])?allow[ \t]+@?[a-z][\w.-]{0,64}:(?![:\d])",
        r"[^\s,]+",
    ),
    # Lines of SNMP, of keys for time and names, of tunnels.
    _rule(
        "sink", rf"{_BEGIN}(?:trapsink|trap2sink|informsink)[ \t]+[^\s]{{1,256}}[ \t]+", r"[^\n]+"
    ),
    _rule("snmp-server", r"\bsnmp-server[ \t]+(?:host|user)[ \t]+\S{1,128}[ \t]+", r"[^\n]+"),
    _rule(
        "md sha aes",
        r"^[ \t]*(?:#[ \t]*)?\d{1,10}[ \t]+(?:MD[245]|SHA\w{0,3}(?:-\d{3})?|AES\w{0,8}"
        r"|RIPEMD160|RMD160|DSS1?)"
        r"[ \t]+(?:(?:HEX|ASCII):)?",
        r"[^\s#]+",
    ),
    _rule("m a n s", r"^[ \t]*\d{1,10}[ \t]+[MANS][ \t]+", r"[^\s#]+(?=[ \t]*(?:#[^\n]*)?\r?$)", 0),
    _rule("hex: ascii:", r"(?:^|[ \t])(?:HEX|ASCII):", r"[^\s#]+", 0),
    _rule(
        "key: prime exponent coefficient",
        r"^[ \t]*(?:PrivateKey|PrivateExponent|Prime[12]|Exponent[12]|Coefficient)(?:\("
        r"[^)\n]{0,16}\))?:[ \t]*"
        r"|^Key:[ \t]+(?=[\w+/.-]{4,}=*\r?$)",
        r"[^\n]+",
        0,
    ),
    _rule("key", r"\bKEY[ \t]+\d{1,5}[ \t]+\d{1,3}[ \t]+\d{1,3}[ \t]+", r"[^\n;]+", 0),
    _rule(
        "key hmac",
        (
            r"^[ \t]*key[ \t]+hmac-[^\s:]{1,32}:\S{1,128}[ \t]+|\btsig[ \t]*\{"
            r"[^}\n]{0,128}\bkey:[ \t]*"
        ),
        r"[^\s;]+",
    ),
    _rule("tsig-key", r"\btsig-key:[ \t]*", r"\S+"),
    _rule("rndc", r"\brndc[ \t][^\n|;&]{0,128}?-k[ \t]+(?!/)", r"\S+"),
    _rule(
        "key",
        r"(?<![\w.(-])[\"']?key[\"']?[ \t]*=[ \t]*(?=[\"'][^/\"'\n])",
        r"(?:\"[^\"\s]{4,}\"|'[^'\s]{4,}')",
    ),
    _rule(
        "key",
        r"(?<![\w.-])[\"']?key[\"']?[ \t]*:[ \t]*(?=[\"']?[\w+]{0,64}\d)(?=[\"']?[\w+]{0,64}[a-z])",
        r"[\"']?[a-z0-9+]{8,}={0,2}[\"']?(?=[\s,;}]|\Z)",
    ),
    _rule("key =", r"^[ \t]*key[ \t]*=[ \t]*(?=[\w+/.-]{4,128}={1,2}[ \t\r]*$)", r"\S+"),
    _rule(
        "psk eap xauth ntlm rsa ecdsa pkcs p12 pin",
        r"^[^\n:#]{0,256}(?::[^\s][^\n:#]{0,64}){0,8}:[ \t]*"
        r"(?:PSK|EAP|XAUTH|NTLM|RSA|ECDSA|BLISS|PKCS8|PKCS12|P12|PIN)[ \t]+",
        r"[^\n]+",
        0,
    ),
    _rule("psk", r"(?<![\w-])psk[ \t]*(?:\{[ \t]*|[ \t])(?=[^\s=:])", rf"(?:{_QUOTED}|[^\s{{}}]+)"),
    _rule(
        "isakmp radius tacacs digest authentication key-string shared",
        r"\b(?:isakmp[ \t]+key|(?:radius|tacacs)-server[^\n]{0,128}?\bkey|message-digest-key"
        r"[ \t]+\d+[ \t]+md5"
        r"|authentication-key|key-string|standby[ \t]+\d+[ \t]+authentication|pre-shared-key)[ \t]+"
        r"(?:ascii-text[ \t]+|[0-9][ \t]+)?(?=[^\s=:])",
        r"\S+",
    ),
    _rule(
        "* ",
        (
            r"^[ \t]*(?:\"[^\"\n]{1,64}\"|[A-Za-z_]\S{0,64})[ \t]+\*[ \t]+(?=\S{1,256}[ \t]+\*"
            r"[ \t\r]*$)"
        ),
        r"\S+",
    ),
    _rule("chap ", r"^[ \t]*(?:CHAP|PAP)[ \t]+\S{1,64}[ \t]+\*[ \t]+", r"[^\n]+", 0),
    _rule("wpa_passphrase", r"\bwpa_passphrase[ \t]+[^\s=]{1,64}[ \t]+", r"[^\n]+"),
    # SQL, PL/SQL and GoldenGate.
    _rule(
        "identified authenticated",
        (
            r"\b(?:identified|authenticated)\s{1,8}(?:with\s{1,8}\S{1,64}\s{1,8})?(?:by"
            r"|as)\s{1,8}(?!values\s)"
        ),
        rf"{_VALUE}(?:,[ \t]{{0,8}}(?!\w+\s+identified){_VALUE})*",
    ),
    _rule(
        "identified",
        r"\bidentified\s{1,8}by\s{1,8}\*\*\*,[ \t]{0,8}",
        rf"(?!\w+\s+identified){_VALUE}",
    ),
    _rule("secret", r"\b(?:add|update|with)\s{1,8}secret\s{1,8}(?!for\b|is\b|of\b|from\b)"),
    _rule("password", r"\b(?:with|encrypted|login|by)\s{1,8}password\s{1,8}(?=['\"])"),
    _rule(
        "userid login user alter encrypt trail credential connect",
        r"\b(?:userid|m?i?n?i?n?g?dblogin|asmuser|mininguser|credentialstore|encrypt"
        r"|decrypttrail|rmthost"
        r"|connect|add[ \t]+(?:user|credential))\b[^\n]{0,256}?\b\w{0,8}password[ \t]+(?!"
        r"(?:for|is|of|file)\b)",
    ),
    # A line of GoldenGate that goes on with "&".
    _rule(
        "encryptkey aes blowfish alias",
        r"^[ \t]*\w{0,8}password[ \t]+(?=[^\s,]{1,256}[ \t]*,?[ \t]*"
        r"(?:ENCRYPTKEY|AES\d+|BLOWFISH|ALIAS)\b)",
    ),
    _rule("accept", r"\baccept[ \t]+\w{0,32}(?:pw|pass)\w{0,32}[ \t][^\n]{0,64}?\bdefault[ \t]+"),
    _rule(
        "values",
        rf"\([^()\n]{{0,256}}{_NAME}[^()\n]{{0,256}}\)\s{{0,8}}values\s{{0,8}}\(",
        r"[^()]+",
        needed=r"\)\s{0,8}values\s{0,8}\(",
    ),
    _rule("securestring", r"\bConvertTo-SecureString[ \t]+", r"[^\n]+"),
    _rule("auth=", r"\bauth=\(", r"[^)\n]+"),
    # A name in quotes, or in brackets, and its value behind a comma: set('Password', 'x').
    _rule(
        _NAMES,
        (
            rf"[\"'][\w.-]{{0,64}}{_NAME}\\?[\"'][ \t]*,\s{{0,16}}(?:value[ \t]*=>?[ \t]*|\w+"
            rf"[ \t]*=>[ \t]*)?(?=[\"'])"
        ),
    ),
    _rule(
        _NAMES,
        rf"^[ \t]*-[ \t]+[\"']?--?[\w-]{{0,64}}{_NAME}[\"']?[ \t]*\r?\n[ \t]*-[ \t]+",
        r"[^\n]+",
    ),
    # JSON and TOML over several lines.
    _rule("kty", r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,8}:\s{0,8}\"", r"[^\"]+", 0),
    _rule("auth", r"\"auth\"[ \t]*:[ \t]*\"", r"(?:[\w+/.-]{4,256}={1,2}|[\w+/.-]{16,})(?=\")"),
    _rule("_auth", r"(?<![a-z])_auth(?:token)?[ \t]*=[ \t]*", r"\S+"),
    _rule(_NAMES, rf"^\?[ \t]+[\w.-]{{0,64}}{_NAME}[ \t]*\r?\n:[ \t]+", r"[^\n]+"),
    # LDIF: base64, which goes on in lines that begin with a blank.
    _rule(_NAMES, rf"^[\w-]{{0,64}}{_NAME}::[ \t]*", r"[^\s]+(?:\r?\n [^\s]+)*"),
    _rule("krbprincipalkey", r"^krbPrincipalKey::?[ \t]*", r"[^\s]+(?:\r?\n [^\s]+)*"),
    # What goes on in deeper lines.
    _rule(
        _NAMES,
        rf"^([ \t]*)(?:- )?[\"']?[\w.-]{{0,64}}{_NAME}[\"']?[ \t]*[:=][ \t]*[^\n]*\n",
        r"(?:\2[ \t]+(?!\*\*\*)(?![^\n]*[:={}(;])[^\n]+(?:\n|\Z))+",
    ),
    _rule(
        _NAMES,
        r"^([ \t]*)[\"']?(?:[\w.-]{0,64}[_.-])?(?:passwords|passwd|secrets|basic_auth_users"
        r"|credentials)"
        r"[\"']?:[ \t]*\r?\n",
        r"(?:\2[ \t]+[^\s:]+:(?![ \t]*\*\*\*)[ \t]+[^\s{][^\n]*(?:\n|\Z))+",
    ),
    # Mail, web, boot.
    _rule(
        "poll server skip user proto default there machine",
        rf"\b(?:poll|server|skip|user(?:name)?|proto(?:col)?|defaults?|there|machine|mailserver)\b"
        rf"[^\n]{{0,160}}?[ \t,](?:pass|password)[ \t]+(?!{_PROSE})",
        rf"{PLAIN}(?:{_QUOTED}|[^\s,;]+)",
    ),
    _rule("pass secret", r"(?<![\w./])(?:pass(?:word|wd|phrase)?|secret)[ \t]+(?=['\"])"),
    _rule(
        "password secret",
        r"\b(?:neighbor[ \t]+\S{1,64}|enable)[ \t]+(?:password|secret)[ \t]+(?:\d[ \t]+)?"
        r"|^[ \t]*password[ \t]+[0-9][ \t]+",
        r"\S+",
    ),
    _rule("community", r"\bsnmp\b[^\n]{0,16}\bcommunity[ \t]+(?![=:])", r"\S+"),
    _rule("basic", r"\bBasic[ \t]+(?=[\w+/]{6,64}\d|[\w+/.-]{1,256}=)", r"[\w+/.-]+={0,2}", 0),
    _rule("x-oauth-basic", r"//", r"[^\s/:@]+(?=:x-oauth-basic@)"),
    _rule(
        "pass",
        rf"\bpass(?:word|phrase|wd)?(?:[ \t]+for[ \t]+\S{{1,64}})?[ \t]+is:?[ \t]+(?!{_PROSE})",
        r"\S+",
    ),
    _rule("password(", r"\bpassword\([ \t]*", r"(?!\*\*\*)[^()\n]+"),
    _rule("p: p=", r"[ \t]\"P[:=]", r"[^\"\n]+", 0),
    _rule("]", r"^\[[^\]\s]{1,256}\](?::\d{1,5})?[ \t]+[^\s:]{1,256}:", r"\S+"),
    _rule("@", r"^[\w.-]{1,256}(?::\d{1,5})?[ \t]+[^\s:@]{1,128}@[^\s:@]{1,128}:", r"\S+"),
    _rule(
        ":",
        (
            r"^(?:\*|[\w.-]{0,128}[a-z][\w.-]{0,128}):(?:\*|\d{4,5}):(?:\*|[a-z_][\w$-]{0,64}):"
            r"(?:\*|[a-z_][\w$.-]{0,64}):"
        ),
        r"[^\s:]+(?=[ \t\r]*$)",
    ),
    _rule("insecure-", r"\binsecure-password[ \t]+", r"\S+"),
    _rule("user ", r"^[ \t]*user[ \t]+\S{1,64}[ \t][^\n]{0,128}?(?<=[ \t])[>#](?=\S)", r"\S+", 0),
    _rule("om", r":om\w{0,8}sql:(?:[^,\n]{1,128},){3}", r"[^\s,;]+"),
    _rule(">", r"^[^\n]{0,128}[ \t]>(?:[\w.-]{1,64},){3}", r"[^\s,;]+"),
    _rule("$user", r"^\$USER\d{1,3}\$=(?!/)", r"[^\n]+"),
    _rule("check", r"\bcommand_line\b[^\n]{0,128}?[ \t]-p[ \t]+", r"\S+"),
    _rule(
        "rootpw sshpw",
        (
            r"^[ \t]*rootpw[ \t]+(?:--(?:iscrypted|plaintext|lock|allow-ssh)[ \t]+)*|^"
            r"[ \t]*sshpw[ \t]+"
        ),
        r"[^\n]+",
    ),
    _rule(
        "password",
        r"^[ \t]*password[ \t]+(?:--(?:md5|encrypted)|root|admin|superuser)[ \t]+",
        r"\S+",
        0,
    ),
    _rule(
        "password", r"^\S{1,64}[ \t]+\S{0,64}/\S{0,64}pass\S{0,64}[ \t]+password[ \t]+", r"[^\n]+"
    ),
    _rule("&lt;", rf"&lt;[\w.:-]{{0,64}}{_NAME}&gt;", r"[^&\n]+"),
    _rule(
        _NAMES,
        (
            rf"<value>\s{{0,64}}(?!\*\*\*)(?=[^<>]{{1,512}}</value>\s{{0,64}}<(?:name"
            rf"|key)>\s{{0,64}}[\w.-]{{0,64}}{_NAME}\s{{0,64}}<)"
        ),
        r"[^<>]+",
    ),
    # Arguments and answers that follow a word, in their places.
    _rule("pwcreate", r"\bpwcreate[ \t]+", r"[^\n]+"),
    _rule("fndcpass", r"\bFNDCPASS[ \t]+", r"[^\n]+"),
    _rule("emctl", r"\bemctl[ \t]+secure[ \t]+agent[ \t]+(?!-)", r"\S+"),
    _rule("mysqladmin", r"\bmysqladmin\b[^\n|;]{0,128}?[ \t]password[ \t]+"),
    _rule(
        "add_user change_password authenticate_user",
        r"\b(?:add_user|change_password|authenticate_user)[ \t]+\S{1,64}[ \t]+",
        r"\S+",
    ),
    _rule("add-user", r"\badd-user\.sh[ \t]+(?!-)\S{1,64}[ \t]+", r"\S+"),
    _rule("hdbuserstore", r"\bhdbuserstore[ \t]+", r"[^\n]+"),
    _rule("vault login", r"\bvault[ \t]+login[ \t]+(?!-)", r"\S+"),
    _rule("bpnbat", r"\bbpnbat[ \t]+-login\b", r"[^\n]+"),
    _rule("check_oracle", r"\bcheck_oracle[ \t]+--(?:login|connect)\b", r"[^\n]+"),
    _rule("set password", r"\bset[ \t]+password[ \t]+\*\*\*[ \t]+", r"\S+"),
    _rule("snmpusm", r"\bsnmpusm\b[^\n]{0,256}?[ \t]passwd[ \t]+", r"[^\n]+"),
    _rule("cfgmaker", r"\bcfgmaker[ \t]+(?!-)", r"[^\s@]+(?=@)"),
    _rule(
        "ipmitool user",
        r"\buser[ \t]+(?:set[ \t]+password[ \t]+\d+|test[ \t]+\d+[ \t]+(?:16|20))[ \t]+",
        r"\S+",
    ),
    _rule("racadm", r"\bracadm\b[^\n]{0,128}Password\b(?:[ \t]+-i[ \t]+\d+)?[ \t]+"),
    _rule("reset-admin-password", r"\breset-admin-password[ \t]+", r"\S+"),
    _rule(
        "aws", r"\baws[ \t]+configure[ \t]+set[ \t]+\S{0,64}(?:secret|token)\S{0,64}[ \t]+", r"\S+"
    ),
    _rule("rclone", r"\brclone[ \t][^\n]{0,128}?[ \t]pass[ \t]+", r"\S+"),
    _rule("--encrypt", r"\bqpdf\b[^\n]{0,64}--encrypt[ \t]+", r"\S+[ \t]+\S+"),
    _rule("_pw", r"\b(?:user|owner|input)_pw[ \t]+", r"\S+"),
    _rule("smbclient", r"\bsmbclient[ \t]+//\S{1,128}[ \t]+(?!-)", r"\S+"),
    _rule(".logon", r"\.logon[ \t]+[^\s,]{1,128},", r"\S+"),
    _rule(" using", r"\bconnect[ \t]+to[ \t]+\S{1,64}[ \t]+user[ \t]+\S{1,64}[ \t]+using[ \t]+"),
    _rule(
        "net",
        r"\bnet[ \t]+(?:user[ \t]+\S{1,64}|use[ \t]+\\\\\S{1,128})[ \t]+(?![/-])",
        r"\S+(?=[ \t]+/)",
    ),
    _rule("quote", r"\bquote[ \t]+pass[ \t]+", r"\S+"),
    _rule(
        "ftp",
        r"\bftp\b[^\n]{0,64}<<[^\n]{1,64}\n(?:[^\n]{0,128}\n){0,3}?[ \t]*user[ \t]+\S{1,64}[ \t]+",
        r"\S+",
    ),
    _rule(
        "assword",
        r"assword[^\n]{0,40}(?:\n[^\n]{0,40}?)?\bsend(?:line)?[ \t(]{1,8}(?:--[ \t]+)?\\?[\"']",
        r"[^\"'\n\\]+",
    ),
    _rule("any ", r"^\d{3,5}[ \t]+\S{1,64}[ \t]+any[ \t]+", r"\S+"),
    _rule(_NAMES, rf"^[ \t]*\$\w{{0,64}}{_NAME}[ \t]+(?=[^\s=])", r"\S+"),
    _rule(_NAMES, rf"\bset[ \t]+\$\w{{0,64}}{_NAME}[ \t]+", r"[^\s;]+"),
    _rule("shared_key", r"^[ \t]*shared_key[ \t]+", r"\S+"),
)

#: Programs with an option of one letter for a password.
_COMMAND = r"""(?:"[^"\n]*"|'[^'\n]*'|\\\r?\n|\\.|[^\n;|&"'\\]|["'])*"""
OPTIONS: Tuple[Any, ...] = tuple(
    (
        words.split(),
        rf"\b(?:{programs})(?![\w.]){_COMMAND}",
        (
            rf"([ \t\n\0\"'](?:{option})(?:{_GAP}+(?!-)|=|[\"']?,\s{{0,16}}[\"']?"
            rf"|{_NO_BLANK})){_VALUE}"
        ),
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
        (
            "ipmi sql bcp zip knife check_ vmware",
            r"ipmi[\w-]*|(?:fi|[fti])sql|osql|sqlcmd|bcp|zip|unzip|knife|check_(?:ldap|mysql|pgsql)"
            r"|vmware-cmd",
            "-P",
        ),
        ("redis", r"redis-cli", "-a|AUTH"),
        ("curl", r"curl", "-[Eb]"),
        ("openssl", r"openssl", "-[kK]"),
        # The community, both passphrases, and keys.
        ("snmp", r"snmp(?!d\b|trapd\b)[a-z]{2,16}", "-[cAX]|-3[mMkK]"),
        ("snmp", r"net-snmp-(?:config|create-v3-user)", "-[AXax]"),
        ("proxy trapsess monitor", r"(?<![\w-])(?:proxy|trapsess|monitor)(?=[ \t]+-)", "-[cAX]"),
        ("onesixtyone", r"onesixtyone", "-c"),
        ("keychange", r"encode_keychange", "-[ON]"),
        (
            "cqlsh hdbsql okvutil adminclient nsr ncftp rar groupmod fence_ ipa- racadm ilorest "
            "rabbitmqadmin couchbase cbbackup crane helm salt pcs uemcli esxcli check_ add-user",
            r"cqlsh|hdbsql|okvutil|adminclient|nsr\w+|ncftp\w*|(?:un)?rar|groupmod|fence_\w+"
            r"|ipa-server-install|racadm|ilorest|rabbitmqadmin|couchbase-cli|cbbackupmgr|crane|helm"
            r"|salt-api|pcs|uemcli|esxcli|check_\w+|add-user\.sh",
            "-h?p",
        ),
        (
            "odisrvreg oidctl db2 vsql dsconf ipa- kadmin ktutil ldap",
            r"odisrvreg|oidctl|db2look|vsql|dsconf|ipa-client-install|kadmin|oid\w{2,16}",
            "-w",
        ),
        ("ipa-server", r"ipa-server-install", "-a"),
        ("ssh-keygen", r"ssh-keygen", "-[NP]"),
        ("check_", r"check_snmp|check_ifoperstatus|check_ifstatus", "-[CAX]"),
        ("check_", r"check_nt", "-s"),
        ("ipmi", r"ipmitool", "-[ky]"),
        ("certutil pk12", r"certutil|pk12util", "-[WK]"),
        ("swaks", r"swaks", "-ap"),
        ("sendemail", r"sendemail", "-xp"),
        ("qlogin", r"qlogin", "-(?:cl)?ps?"),
        ("dsmadmc", r"dsmadmc", "-pa[a-z]*="),
        ("openssl", r"openssl", "-(?:iv|hmac|macopt|psk)"),
        ("nvme", r"nvme", "-[SC]"),
        ("keytool", r"keytool", "-new"),
        ("orapki", r"orapki", "-(?:old|new)pwd"),
    )
) + (
    (
        [
            "sqlplus",
            "rman",
            "exp",
            "imp",
            "sqlldr",
            "dgmgrl",
            "nid",
            "sqlcl",
            "scan",
            "java",
            "sqlj",
        ]
        + ["ojspc", "adpatch", "fndcpass", "concsub"],
        rf"\b(?:sqlplus\w{{0,4}}|rman|exp(?:dp)?|imp(?:dp)?|sqlldr|dgmgrl|nid|sqlcl|l?csscan"
        rf"|loadjava|dropjava|ojspc|sqlj|adpatch|FNDCPASS|CONCSUB)\b{_COMMAND}",
        rf"((?:[ \t\n\0\"'(]|(?:\b(?:target|catalog|auxiliary)|-user)=)\\?{_USER}){_LOGON}",
        re.IGNORECASE,
    ),
)

#: What is between a user and a host.
AT = (
    (
        r"(//(?:[^\s/:@]|@(?=[^\s/@]{1,256}:[^\s/@]{1,512}@)){0,256}:)(?!/|\d{1,5}/)"
        r"[^\s@]{1,512}@(?:[^\s/@]{1,256}@)?"
    ),
    r"(\b(?:iscsi|pserver):[^\s:@]{1,256}:)[^\s@]{1,512}@",
    r"""((?<![^\s="'#])[a-z][\w.-]{0,64}:)(?!\*\*\*)[^\s:/@"']{1,128}@(?=[\w\[(])(?!if\d|sha)""",
)

#: Every rule in NAMED requires a match. Most texts with one of _NAMES have none, and to compile
#: these rules takes a third of an audit. Two commands of Hostproof are excluded.
NAME = re.compile(
    r"(?<!getent (?=passwd \w{1,32}\Z))"
    rf"(?:{STRONG}|{WEAK})[\w.$-]{{0,64}}(?:\[[\w\"'-]{{0,32}}\])?[\s\0\\\"'\])}}=:+!<>(,;]"
    r"(?!\*\*\*/(?:\s/etc/oranfstab)?\Z)",
    re.IGNORECASE,
)

#: All rules in their order, and the numbers of the rules by the word that they search for.
RULES = (*VALUES, *OPTIONS)
RULES_OF: Dict[str, List[int]] = {}
#: Numbers of the rules that contain NAME.
NAMED = frozenset(
    number for number, one in enumerate(VALUES) if one[0] == _NAMES.split() and STRONG in one[2]
)
for _number, _one in enumerate(RULES):
    for _word in _one[0]:
        RULES_OF.setdefault(_word, []).append(_number)
