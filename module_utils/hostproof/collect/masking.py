# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blanks what is secret in a text before it leaves the host, in evidence or in a difference.

Files of Oracle Net go through their parser, so that whatever a parameter's value is, all of it
goes; what the parser does not take is blanked from the first password on. In every text go the
values of words that name a secret, as mounts, scripts, network settings and agents write them.
Patterns and their sources are in masking_rules.py.
"""

import re
from functools import lru_cache
from typing import Any, Dict, List, Sequence, Set, Tuple

from ..errors import ParseError
from ..parsers.oracle import oracle_net
from .masking_rules import (
    AT,
    BLANK,
    COMMENT,
    CUT_WORD,
    CUTS,
    LOOKS_LIKE_NET,
    NAME,
    NAMED,
    NET_SECRET,
    PARAMETERS,
    PLAIN,
    RULES,
    RULES_OF,
    STRONG,
    TAIL,
    VALUES,
    WEAK,
)

#: The key of a dictionary whose value is a secret, whatever it looks like.
_SECRET_KEY = re.compile(
    rf"(?:^|[^a-z]|[a-z_.-])(?:{STRONG}{TAIL}|{WEAK}{TAIL})\s*$", re.IGNORECASE
)
#: {"name": "DB_PASSWORD", "value": "..."}: the keys of the name, and those of the value.
_KEYS_OF_NAME = ("name", "key", "id", "variable", "parameter", "option", "attribute")
_KEYS_OF_VALUE = ("value", "values", "content", "default", "data", "text")
#: A value that is no secret although its key names one.
_LONGEST_NAME = 256
_NO_SECRET = re.compile(rf"{PLAIN}(?=.)", re.IGNORECASE | re.DOTALL)
#: No reading is as deep. Deeper values are blanked as a whole.
_DEEPEST = 40


#: Lines before and behind a line that can show that it is secret; characters of each, and lines
#: that are checked so.
_AROUND, _LONGEST_LINE, _MOST_IN_CONTEXT = 20, 1000, 300

#: The line before a key, the one behind it; the line before rows of a key or a vault.
_BEGIN_OF_KEY = re.compile(
    r"(?:-----BEGIN |---- BEGIN )(?=[\w ]{0,64}(?:PRIVATE|SECRET|MESSAGE|Static))"
)
_END_OF_KEY = re.compile("-----END|---- END")
_BEGIN_OF_ROWS = re.compile(r"[ \t]*\$ANSIBLE_VAULT;|Private-Lines:")
_ROW_OF_BLOCK = re.compile(r"[ \t]*[\w+/=.-]+[ \t\r]*$")

#: Lists of names and paths: they are not words of one command.
_NAME_LISTS = ("names", "paths", "under", "unread", "evidence")
#: Stands for a blank within one word of a command.
_INNER_BLANK = "\ue000"
#: Stands for a word of several lines.
_INNER_LINES = "\ue001"

#: Files that hold nothing but secrets: whatever a line states, all of it goes.
_SECRET_FILES = re.compile(
    r"(?:chrony|ntp)\.keys?|ntpkey[^/ ]*|ipsec\.secrets|rsyncd\.secrets|\.?davfs2/secrets"
    r"|(?:chap|pap)-secrets|[._]netrc|\.?pgpass(?:\.conf)?|g?shadow-?|opasswd|smbpasswd|\.?htpasswd"
    r"|sasl_passwd|passwd-s3fs|raddb/server|pam_radius_auth\.conf|ossec[^ ]*/client\.keys"
    r"|\.vault_pass[^/ ]*|id_(?:rsa|dsa|ecdsa|ed25519)|\.?(?:smb|cifs)cred(?:ential)?s"
    r"|/\.?(?:iqn|san)[^/ ]*\.chap|tcp_fastopen_key|stable_secret",
    re.IGNORECASE,
)
_SECRET_FILE = re.compile(rf"(?:^|[/ :])(?:{_SECRET_FILES.pattern})$", re.IGNORECASE)
_LINE = re.compile(r"^[ \t]*(?![#;!])\S[^\n]*", re.MULTILINE)

#: Letters and signs that look like others, with those that they look like.
_LOOK_ALIKES = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF), None),
    **dict.fromkeys((0xA0, 0x202F, 0x205F, 0x3000, *range(0x2000, 0x200B)), " "),
    **dict(
        zip(map(ord, "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455"), "aeopcxyijs")
    ),
    **dict(
        zip(map(ord, "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422"), "ABEKMHOPCT")
    ),
    **dict(zip(map(ord, "\u03bf\u03b1\u03c1\u03bd\u0501\u051d"), "oapvdw")),
    **dict(zip(map(ord, "\u2018\u2019\u201c\u201d"), "''\"\"")),
}


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
    result = _sequence(name, value, depth)
    return result if isinstance(value, list) else tuple(result)


def _sequence(name: str, value: Sequence[Any], depth: int) -> List[Any]:
    result = [_value(name, item, depth + 1) for item in value]
    if value and all(isinstance(item, str) for item in value):
        result = _combined(value, result, _in_context("\n", value))
        result = _combined(value, result, _as_command(value))
    elif value and all(_is_row(item) for item in value):
        texts = [item[-1] for item in value]
        hidden = _combined(texts, [item[-1] for item in result], _in_context("\n", texts))
        result = [type(item)([*item[:-1], text]) for item, text in zip(value, hidden)]
    return result


def _combined(texts: Sequence[str], alone: Sequence[str], in_context: Sequence[str]) -> List[str]:
    """Each text as it is masked alone, or, where that hides nothing, as it is in its context."""
    return [each if each != text else other for text, each, other in zip(texts, alone, in_context)]


def _is_row(value: Any) -> bool:
    """Whether it is a numbered line: [12, "text"]."""
    return (
        type(value) in (list, tuple)
        and len(value) == 2
        and isinstance(value[0], int)
        and isinstance(value[1], str)
    )


def _has_name_of_secret(value: Dict[Any, Any]) -> bool:
    return any(
        isinstance(value.get(key), str) and names_a_secret(value[key]) for key in _KEYS_OF_NAME
    )


def _dictionary(name: str, value: Dict[Any, Any], depth: int) -> Dict[Any, Any]:
    result = {}
    names_secret = _has_name_of_secret(value)
    for key, item in value.items():
        is_text = isinstance(key, str)
        source = key if is_text and "/" in key else name
        if (is_text and names_a_secret(key)) or (names_secret and key in _KEYS_OF_VALUE):
            item = _all_blank(item, depth + 1)
        elif key in _NAME_LISTS and isinstance(item, (list, tuple)):
            item = type(item)([_value(source, each, depth + 1) for each in item])
        else:
            item = _value(source, item, depth + 1)
        result[masked(name, key) if is_text else key] = item
    return result


def masked_key(key: str) -> str:
    """The key of a reading, such as "command:mysql -p x", without what is secret in it."""
    kind, colon, rest = key.partition(":")
    if colon and kind.isalpha() and not names_a_secret(kind):
        # Some rules know a secret by the word that begins the line.
        key = kind + colon + masked("", rest)
    return masked("", key)


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
        return {key: _all_blank(item, depth + 1) for key, item in value.items()}
    return type(value)([_all_blank(item, depth + 1) for item in value])


def _as_command(words: Sequence[str]) -> List[str]:
    """The words of a command, each without what is secret behind the words before it."""
    kept = [_INNER_LINES if "\n" in word else word.replace(" ", _INNER_BLANK) for word in words]
    results = _in_context("\t", kept)
    return [
        word if after == before else after.replace(_INNER_BLANK, " ")
        for word, before, after in zip(words, kept, results)
    ]


def _in_context(separator: str, texts: Sequence[str], name: str = "") -> List[str]:
    """Some texts, each without what is secret only behind the text before it."""
    same = list(texts)
    whole = separator.join(same)
    if whole.count(separator) != len(same) - 1:
        # A text holds the separator itself.
        return same
    result = _without_secrets(name, whole)
    if result == whole:
        return same
    pieces = result.split(separator)
    if len(pieces) == len(same):
        return pieces
    # A secret went over several texts: what is the same from both ends stays.
    start = 0
    while start < len(pieces) and pieces[start] == same[start]:
        start += 1
    end = 0
    while end < len(pieces) - start and pieces[-1 - end] == same[-1 - end]:
        end += 1
    return same[:start] + [BLANK] * (len(same) - start - end) + same[len(same) - end :]


def masked_lines(name: str, lines: Sequence[str], chosen: Sequence[int]) -> List[str]:
    """The chosen lines (by index) of a text, each without what is secret alone or where it stands.

    ``name`` is the path of the file, or the evidence key, that the lines come from.
    """
    result: List[str] = []
    in_blocks = _in_blocks(lines) if chosen else set()
    for index in chosen:
        alone = BLANK if index in in_blocks else masked(name, lines[index])
        if alone == lines[index] and len(result) < _MOST_IN_CONTEXT:
            start = max(0, index - _AROUND)
            around = [line[:_LONGEST_LINE] for line in lines[start : index + _AROUND]]
            if around[index - start] == alone:
                alone = _in_context("\n", around, name)[index - start]
        result.append(alone)
    return result


def _in_blocks(lines: Sequence[str]) -> Set[int]:
    """The lines (by index) of keys and vaults, which can begin far above a chosen line."""
    inside: Set[int] = set()
    kind = ""
    for index, line in enumerate(lines):
        if kind == "rows" and not _ROW_OF_BLOCK.match(line):
            kind = ""
        if kind:
            inside.add(index)
            # The last line can hold the end of the key before the mark.
            kind = "" if kind == "key" and "---" in line and _END_OF_KEY.search(line) else kind
        elif "---" in line:
            begin = _BEGIN_OF_KEY.search(line)
            kind = "key" if begin and not _END_OF_KEY.search(line, begin.end()) else ""
        elif _BEGIN_OF_ROWS.match(line):
            kind = "rows"
    return inside


def masked(name: str, text: str) -> str:
    """The text without what is secret in it.

    ``name`` is the path of the file, or the evidence key that ends with it.
    """
    if _SECRET_FILE.search(name):
        return _LINE.sub(BLANK, text)
    if "\0" in text:
        if NET_SECRET.search(text.replace("\0", "")) and not NET_SECRET.search(text):
            # Two bytes a letter: nothing of it is known apart here.
            return BLANK
        # The arguments or the environment of a process.
        words = _as_command(text.split("\0"))
        text = "\0".join(_without_secrets(name, word) for word in words)
    return _without_secrets(name, text)


def _without_secrets(name: str, text: str) -> str:
    return _without_secrets_short(name, text) if len(text) < _SHORT else _all_rules(name, text)


#: A line of a package list: name, version and architecture. The package passwd is not a password.
_PACKAGE = re.compile(
    r"^[a-z0-9][\w.+-]*\t\d[\w.:+~^-]*\t"
    r"(?:all|noarch|amd64|arm64|aarch64|i[36]86|ppc64le|s390x|x86_64)(?:\t[a-z-]+)?$",
    re.MULTILINE | re.IGNORECASE,
)


def _all_rules(name: str, text: str) -> str:
    if "\t" not in text:
        return _by_rules(name, text)
    kept = [line.group() for line in _PACKAGE.finditer(text)]
    parts = [_by_rules(name, part) for part in _PACKAGE.split(text)]
    return "".join(part + line for part, line in zip(parts, kept + [""]))


def _by_rules(name: str, text: str) -> str:
    result = _named_blank(name, text)
    if not _is_ascii(result):
        plain = result.translate(_LOOK_ALIKES)
        if plain != result:
            hidden = _named_blank(name, plain)
            return result if hidden == plain else hidden
    return result


#: Evidence repeats short texts, such as names of processes, many times.
_SHORT = 200
_without_secrets_short = lru_cache(maxsize=8192)(_all_rules)


def _is_ascii(text: str) -> bool:
    try:
        text.encode("ascii")
    except UnicodeEncodeError:
        return False
    return True


def _named_blank(name: str, text: str) -> str:
    if "\n" in text:
        text = CUT_WORD.sub(lambda word: CUTS.sub("", word.group()), text)
    is_net = ".ora" in name.lower() and PARAMETERS.search(name) is None
    if is_net or LOOKS_LIKE_NET.search(text):
        text = _net(text)
    for number in _rules_for(text):
        _words, first, pattern, flags = RULES[number]
        if number >= len(VALUES):
            text = _with_options(first, pattern, flags, text)
        elif number in NAMED or re.search(first, text, flags=flags):
            text = re.sub(pattern, _blanked, text, flags=flags)
    if "@" in text:
        for pattern in AT:
            text = re.sub(pattern, r"\1" + BLANK + "@", text, flags=re.IGNORECASE)
    return text


def _rules_for(text: str) -> List[int]:
    """The rules whose words are in the text, in their order."""
    lowercase = text.lower()
    selected = {
        number for word, numbers in RULES_OF.items() if word in lowercase for number in numbers
    }
    if selected & NAMED and not NAME.search(text):
        selected -= NAMED
    return sorted(selected)


def _with_options(command: str, option: str, flags: int, text: str) -> str:
    def options(line: Any) -> str:
        return re.sub(option, _blanked, line.group(), flags=flags)

    return re.sub(command, options, text, flags=re.IGNORECASE)


def _blanked(match: Any) -> str:
    return str(match.group(1)) + BLANK


def _net(text: str) -> str:
    first = NET_SECRET.search(text)
    if first is None:
        return text
    try:
        net = oracle_net.parse(text)
    except ParseError:
        return text[: first.end()] + " = (" + BLANK + ")\n"
    spans: List[Tuple[int, int, str]] = []
    for at, parameter in enumerate(net.parameters):
        if any(NET_SECRET.search(name) for name in (parameter.name,) + parameter.aliases):
            # To where the next one begins: a comment behind it can hold the password before.
            later = net.parameters[at + 1 :]
            spans.append((parameter.name_end, later[0].start if later else len(text), "\n"))
        else:
            spans += [(pair.name_end, pair.end - 1, "") for pair in _secrets_in(parameter)]
    for comment in COMMENT.finditer(text):
        word = NET_SECRET.search(comment.group())
        if word is not None:
            spans.append((comment.start() + word.end(), comment.end(), ""))
    return _without(text, spans)


def _secrets_in(pair: oracle_net.Pair) -> List[oracle_net.Pair]:
    secrets: List[oracle_net.Pair] = []
    for child in pair.pairs:
        secrets += [child] if NET_SECRET.search(child.name) else _secrets_in(child)
    return secrets


def _without(text: str, spans: List[Tuple[int, int, str]]) -> str:
    """The text with a blank for each span; those that begin within another go with it."""
    pieces = []
    end = 0
    for start, stop, behind in sorted(spans):
        if start >= end:
            pieces.append(text[end:start] + " = (" + BLANK + ")" + behind)
        end = max(end, stop)
    return "".join(pieces) + text[end:]
