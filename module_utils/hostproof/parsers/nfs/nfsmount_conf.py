# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfsmount.conf: options that mount.nfs adds to those that it is given.

Source: nfsmount.conf(5); nfs-utils, conf_parse_line() in support/nfs/conffile.c and
conf_parse_mntopts() in utils/mount/configfile.c since 2.5.3. Older releases append the same words
in the other order, and words without a value even next to their opposite (``lock``, ``nolock``).
"""

import re
from collections import OrderedDict
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ...errors import ParseError
from ..number import integer

MAIN = "/etc/nfsmount.conf"
FOLDER = "/etc/nfsmount.conf.d"
#: The limit of include= lines in all files.
MOST_INCLUDED = 32

_HEADER = re.compile(r'\[\s*([^\]"\s]+)\s*(?:"([^"]*)"\s*)?\]')
_SIZE = re.compile(r"(\d+)([kmg])$", re.IGNORECASE)
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_VERSIONS = ("v2", "v3", "v4", "v4.0", "v4.1", "v4.2", "vers", "nfsvers", "minorversion")
_GLOBAL = "nfsmount_global_options"
_ALIASES = {"background": "bg", "foreground": "fg"}


class Conf(NamedTuple):
    """``sections`` maps (kind, subject), both in small letters, to tags and values.

    bad_lines ("PATH:LINE") belong to no section or are not assignment: mount.nfs skips them.
    """

    sections: Dict[Tuple[str, str], Dict[str, str]]
    bad_lines: List[str]


def parse(
    files: Sequence[Tuple[str, str]], included: Optional[Dict[str, Optional[str]]] = None
) -> Conf:
    """The settings of all files: (path, text) in the order in which mount.nfs reads them.

    A later line for a tag replaces the earlier one. ``included`` are
    the texts of included files by their path, None for a missing one (includes()).
    """
    conf = Conf(OrderedDict(), [])
    for path, text in files:
        _read(conf, path, text, None, included or {}, [])
    return conf


def includes(path: str, text: str) -> List[str]:
    """The files that include= names. A relative path starts at the directory of ``path``."""
    lines = [line.strip().partition("=") for line in text.split("\n")]
    return [_included(path, value) for tag, equals, value in lines if equals and _is_include(tag)]


def kept(text: str) -> str:
    """The part of the file that evidence keeps (kept_lines.py): sections and assignments."""
    lines = text.split("\n")
    return "\n".join(line if line.lstrip()[:1] == "[" or "=" in line else "" for line in lines)


def _is_include(tag: str) -> bool:
    return tag.strip().lower() == "include"


def _included(path: str, value: str) -> str:
    """A leading "-" says that the file can be missing."""
    name = value.strip().strip('"')
    name = name[1:] if name.startswith("-") else name
    return name if name.startswith("/") else path.rpartition("/")[0] + "/" + name


def _read(
    conf: Conf,
    path: str,
    text: str,
    section: Optional[Dict[str, str]],
    included: Dict[str, Optional[str]],
    done: List[str],
) -> None:
    """Add a file to ``conf``. An included file begins in the section that includes it."""
    if len(done) > MOST_INCLUDED:
        raise ParseError("nfsmount.conf", f"include= is used more than {MOST_INCLUDED} times")
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if line[:1] in ("", "#", ";"):
            continue
        header = _HEADER.match(line)
        if header is not None:
            subject = header.group(2) or ""
            section = conf.sections.setdefault(
                (header.group(1).lower(), subject.strip().lower()), OrderedDict()
            )
            continue
        tag, equals, value = line.partition("=")
        if equals and _is_include(tag):
            other = _included(path, value)
            done.append(other)
            _read(conf, other, included.get(other) or "", section, included, done)
            continue
        if line.startswith("[") or not equals or section is None or not tag.strip():
            conf.bad_lines.append(f"{path}:{number}")
            continue
        tag = tag.strip().lower()
        section.pop(tag, None)
        section[tag] = value.strip().strip('"')


def files(names: List[str]) -> List[str]:
    """The files that mount.nfs reads, in its order; ``names`` are all those in FOLDER."""
    read = sorted(name for name in names if name.endswith(".conf") and not name.startswith("."))
    return [MAIN] + [f"{FOLDER}/{name}" for name in read]


def added(conf: Conf, options: str, server: str, path: str) -> str:
    """The option text that mount.nfs makes of ``options`` for a mount.

    It appends what the sections for the mount point, the server and all mounts say, in this
    order and each from its end, unless that very word is there already. So a global ``Soft=True``
    beats the ``hard`` of fstab and of a mount point, for mount takes the last word. ``Defaultvers``
    and ``Defaultproto`` only say where negotiation starts; they count here where it can end
    nowhere else.
    """
    words = [word for word in options.split(",") if word]
    names = {word.partition("=")[0] for word in words}
    defaults: Dict[str, str] = {}
    for key in (("mountpoint", path.lower()), ("server", server.lower()), (_GLOBAL, "")):
        for tag, value in reversed(list(conf.sections.get(key, {}).items())):
            if tag.startswith("default"):
                defaults.setdefault(tag[len("default") :], value)
                continue
            word = _word(tag, value)
            name = _ALIASES.get(tag, tag)
            if word and not _is_there(name, names):
                words.append(word)
                names.add(word.partition("=")[0])
    version = defaults.get("vers", "")
    if version[:1] in ("2", "3") and not names & set(_VERSIONS):
        words.append("vers=" + version)
    if defaults.get("proto", "tcp") != "tcp" and not names & {"proto", "tcp", "udp", "rdma"}:
        words.append("proto=" + defaults["proto"])
    return ",".join(words)


def _is_there(name: str, names: Set[str]) -> bool:
    if name in _VERSIONS:
        return bool(names & set(_VERSIONS))
    same = {name, "no" + name, name[2:] if name.startswith("no") else name}
    if name in ("bg", "fg"):
        same |= {"bg", "fg"}
    return bool(names & same)


def _word(tag: str, value: str) -> str:
    """The word for mount, "" where a line gives none."""
    name = _ALIASES.get(tag, tag)
    if value.lower() == "true":
        return name
    if value.lower() == "false":
        return {"bg": "fg", "fg": "bg", "sloppy": ""}.get(name, "no" + name)
    size = _SIZE.match(value)
    if size is not None:
        value = str(integer(size.group(1)) * _UNITS[size.group(2).lower()])
    return f"{name}={value}"
