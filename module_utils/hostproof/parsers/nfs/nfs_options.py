# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NFS mount options: one name and value for every spelling, what they mean, and how to edit them.

What is queried of mount (fstab, units, maps) and what the kernel shows (/proc/self/mountinfo) are
spelt differently: ``tcp`` is ``proto=tcp``, ``actimeo=0`` is shown as four limits, ``intr`` is
not shown at all. ``parse`` gives both the same names, ``effective`` the same meaning. Source:
nfs(5); Linux, nfs_fs_context_parse_param() in fs/nfs/fs_context.c, nfs_show_mount_options() in
fs/nfs/super.c and nfs_server_set_fsinfo() in fs/nfs/client.c; AIX mount; Solaris mount_nfs(8);
HP-UX mount_nfs(1M).
"""

import re
from collections import OrderedDict
from typing import Dict, List, Tuple

from ..number import clipped

LINUX = "Linux"
AIX = "AIX"
SOLARIS = "SunOS"
HPUX = "HP-UX"

#: The limits of the attribute cache, all of which ``actimeo`` sets, and the kernel's own seconds.
ATTRIBUTE_CACHE = OrderedDict(
    [("acregmin", "3"), ("acregmax", "60"), ("acdirmin", "30"), ("acdirmax", "60")]
)

#: Options that are a word or that word with "no" in front of it, by the word without "no".
_SWITCHES = ("cto", "lock", "sharecache", "resvport", "rdirplus", "acl", "fsc", "posix", "intr") + (
    "suid",
    "exec",
    "dev",
    "forcedirectio",
    "softreval",
    "migration",
    "trunkdiscovery",
)
#: Words of other systems than Linux that have no word for "no".
_ONLY_YES = ("llock", "cio", "dio")
_WORDS: Dict[str, Tuple[str, str]] = {
    "rw": ("access", "rw"),
    "ro": ("access", "ro"),
    "bg": ("background", "bg"),
    "fg": ("background", "fg"),
    "hard": ("recovery", "hard"),
    "soft": ("recovery", "soft"),
    "softerr": ("recovery", "softerr"),
    "tcp": ("proto", "tcp"),
    "udp": ("proto", "udp"),
    "rdma": ("proto", "rdma"),
    "noac": ("noac", "yes"),
    "ac": ("noac", "no"),
    "sync": ("sync", "yes"),
    "async": ("sync", "no"),
}
_WORDS.update((word, (word, "yes")) for word in _SWITCHES + _ONLY_YES)
_WORDS.update(("no" + word, (word, "no")) for word in _SWITCHES)
_WORDS.update(("v" + number, ("vers", number)) for number in ("2", "3", "4", "4.0", "4.1", "4.2"))

#: What mount(8) takes along with a word, unless a later word says otherwise.
_USER = (("exec", "no"), ("suid", "no"), ("dev", "no"))
_IMPLIED = {"user": _USER, "users": _USER, "owner": _USER[1:], "group": _USER[1:]}

#: A canonical name and value to the word that mount takes, where that is not "name=value".
_SPELT = {
    meaning: word
    for word, meaning in _WORDS.items()
    if meaning[0] not in ("proto", "vers")  # mount takes both forms; proto=tcp is everywhere
}
_SPELT.update({(name, "no"): "" for name in _ONLY_YES})

#: Switches that may also carry a value: ``fsc=TAG``, ``rdirplus=force``.
_SWITCHES_WITH_VALUES = ("fsc", "rdirplus")
#: Names that are ours alone: mount would not take "recovery=hard", so that is another option.
_OURS = frozenset(name for name, _ in _WORDS.values()) - frozenset(
    ("proto", "vers") + _SWITCHES_WITH_VALUES
)
_VALUE_ALIASES = {("lookupcache", "positive"): "pos", ("sec", "none"): "null"}

#: What the kernel reads as a number.
NUMBERS = ("timeo", "retrans", "rsize", "wsize", "nconnect", "max_connect") + tuple(ATTRIBUTE_CACHE)

#: What a Linux kernel shows for a mount, and what can be compared with a wish.
GRANTED = frozenset(
    ("access", "recovery", "proto", "vers", "timeo", "retrans", "rsize", "wsize", "nconnect")
    + ("max_connect", "noac", "sync", "cto", "lock", "local_lock", "sharecache", "resvport")
    + ("rdirplus", "acl", "fsc", "posix", "sec", "port", "lookupcache", "suid", "softreval")
    + ("exec", "dev")
    + ("write", "xprtsec")
    + tuple(ATTRIBUTE_CACHE)
)
#: Options for mount or systemd that are never shown for a mount.
NEVER_GRANTED = frozenset(
    ("background", "retry", "intr", "sloppy", "mounthost", "trunkdiscovery", "defaults", "auto")
    + ("noauto", "_netdev", "nofail", "user", "nouser", "users", "owner", "group")
    + ("x-systemd.automount", "x-systemd.idle-timeout", "x-systemd.mount-timeout")
    + ("x-systemd.requires", "x-systemd.after", "x-systemd.before", "x-systemd.rw-only")
    + ("x-systemd.requires-mounts-for",)
)
#: Options that a policy may request.
KNOWN = GRANTED.union(
    NEVER_GRANTED,
    ("clientaddr", "mountaddr", "mountport", "mountproto", "mountvers", "namlen", "bsize"),
    ("migration", "llock", "forcedirectio", "cio", "dio"),
    ("noatime", "nodiratime", "relatime"),
)

_LARGEST_TRANSFER = 1048576
#: Oracle rejects files behind smaller requests (ORA-27054).
LEAST_TRANSFER = 32768


def parse(text: str) -> Dict[str, str]:
    """Canonical names to values, in the order in which the names first appear.

    If several words set one name, the last one wins, as for mount. An unknown word is a name, with
    the value after its "=", or "yes" if it has none. ``intr`` is kept, although Linux ignores it,
    and ``users`` also sets ``noexec,nosuid,nodev``. ``vers`` includes a ``minorversion`` that is
    next to it.
    """
    settings: Dict[str, str] = OrderedDict()
    minor = None
    for word in split(text):
        for name, value in _meaning(word) + list(_IMPLIED.get(word.partition("=")[0], ())):
            if name == "vers" and "." in value:
                value, _, minor = value.partition(".")
            if name == "minorversion":
                minor = value
                continue
            settings[name] = value
    if minor is not None:
        if "vers" not in settings:
            settings["minorversion"] = minor
        elif settings["vers"] == "4":
            settings["vers"] = "4." + minor
    return settings


def effective(settings: Dict[str, str], system: str) -> Dict[str, str]:
    """The effect of settings on a system, either requested or as shown by mount.

    Defaults that do not depend on the server are added: ``vers``, ``rsize`` and ``wsize`` are left
    out if they are not set. The address family (``tcp6``) is removed, because it follows from the
    address of the server. On Linux, ``intr`` is also removed: kernels since 2.6.25 ignore it.
    """
    meant = dict(settings)
    meant["proto"] = meant.get("proto", "tcp").rstrip("6")
    for name, value in _defaults(meant["proto"], system).items():
        meant.setdefault(name, value)
    for name, value in ATTRIBUTE_CACHE.items():
        if meant["noac"] == "yes":
            meant[name] = "0"
        meant.setdefault(name, value)
    if system == LINUX:
        _as_linux_takes_it(meant)
    return meant


def words(settings: Dict[str, str]) -> List[str]:
    """The words that mount takes for canonical settings, in their order."""
    result: List[str] = []
    same = {settings.get(name) for name in ATTRIBUTE_CACHE}
    as_one = len(same) == 1 and None not in same
    for name, value in settings.items():
        if as_one and name in ATTRIBUTE_CACHE:
            word = "actimeo=" + value
        elif (name, value) in _SPELT:
            word = _SPELT[name, value]
        elif value == "yes":
            word = name
        else:
            word = f"{name}={value}"
        if word and word not in result:
            result.append(word)
    return result


def edit(text: str, required: Dict[str, str]) -> str:
    """The option text with as few changes as possible, so that it requests ``required``.

    A text that already requests it is returned unchanged. A conflicting word is replaced in its
    place, together with every other word for the same name. Missing words are added at the end.
    Other words stay in their order. "no" for a word that has no opposite removes it.
    """
    settings = parse(text)
    changed: Dict[str, List[str]] = OrderedDict()
    for name, value in required.items():
        if settings.get(name, "no" if name in _ONLY_YES else None) != value:
            changed[_group(name)] = []
    for group in changed:
        changed[group] = _words_of(group, settings, required)
    if not changed:
        return text
    result: List[str] = []
    for word in split(text):
        touched = [_group(name) for name, _ in _meaning(word) if _group(name) in changed]
        if touched:
            result.extend(changed[touched[0]])
            changed[touched[0]] = []
        else:
            result.append(word)
    for missing in changed.values():
        result.extend(missing)
    return ",".join(result)


def _words_of(group: str, settings: Dict[str, str], required: Dict[str, str]) -> List[str]:
    """Names of one group share words (actimeo), so the group is written again as a whole."""
    final = {
        name: value
        for name, value in [*settings.items(), *required.items()]
        if _group(name) == group
    }
    if "vers" in final:
        final.pop("minorversion", None)
    return words(final)


_CACHE = "actimeo"


def _group(name: str) -> str:
    """The common name of words that set the same values."""
    if name in ATTRIBUTE_CACHE:
        return _CACHE
    return "vers" if name == "minorversion" else name


_DIVIDERS = re.compile('[,"]')


def split(text: str) -> List[str]:
    """The words between the commas, but not those within double quotes (mount(8), context=)."""
    text = text.strip()
    parts = []
    quoted = False
    start = 0
    for match in _DIVIDERS.finditer(text):
        if match.group() == '"':
            quoted = not quoted
        elif not quoted:
            parts.append(text[start : match.start()])
            start = match.end()
    parts.append(text[start:])
    return parts if parts != [""] else []


def _meaning(word: str) -> List[Tuple[str, str]]:
    """The canonical names that a word sets, with their values."""
    name, equals, value = word.partition("=")
    if not word:
        return []
    if not equals:
        return [_WORDS.get(word, (word, "yes"))]
    if name == "actimeo":
        return [(limit, _number(value)) for limit in ATTRIBUTE_CACHE]
    if name in _OURS:
        return [(word, "yes")]
    if name == "nfsvers":
        name = "vers"
    if name == "vers" and value.isdecimal():
        value = value.lstrip("0") or "0"
    value = _VALUE_ALIASES.get((name, value), _number(value))
    return [(name, value)]


def _number(value: str) -> str:
    """A number as it is written, but for zeros alone; the kernel may read 0600 as octal."""
    return "0" if value.isdecimal() and not value.strip("0") else value


def _defaults(proto: str, system: str) -> Dict[str, str]:
    """Defaults of a mount without options."""
    defaults = {
        "access": "rw",
        "background": "fg",
        "recovery": "hard",
        "noac": "no",
        "suid": "yes",
        "exec": "yes",
        "dev": "yes",
    }
    if system == LINUX:
        udp = proto == "udp"
        defaults.update(
            timeo="11" if udp else "600",
            retrans="3" if udp else "2",
            sync="no",
            cto="yes",
            lock="yes",
            local_lock="none",
            sharecache="yes",
            resvport="yes",
            rdirplus="yes",
            acl="yes",
            fsc="no",
            posix="no",
            sec="sys",
            nconnect="1",
            lookupcache="all",
        )
    else:
        defaults.update(intr="yes", llock="no", forcedirectio="no", cio="no", dio="no")
    return defaults


def _as_linux_takes_it(meant: Dict[str, str]) -> None:
    """What follows on Linux from one setting for another."""
    meant.pop("intr", None)
    if meant["noac"] == "yes":
        meant["sync"] = "yes"
    if meant.get("vers", "").startswith("4"):
        # nfs4_validate_mount_flags() clears these: NFSv4 locks and ACLs are part of the protocol.
        meant.update(lock="yes", local_lock="none", acl="yes")
    elif meant["lock"] == "no":
        meant["local_lock"] = "all"
    if meant["fsc"] != "no":
        meant["fsc"] = "yes"  # not every kernel shows the tag
    if ":" in meant["sec"]:
        del meant["sec"]  # a list to choose from: the server decides
    for name in ("rsize", "wsize"):
        size = meant.get(name, "")
        if size.isdecimal() and clipped(size) > _LARGEST_TRANSFER:
            meant[name] = str(_LARGEST_TRANSFER)
