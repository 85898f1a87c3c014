# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which words of the options of an NFS mount Linux rejects, so that the mount fails at boot.

Three programs read them in turn: libmount keeps what is for itself (``nofail``, ``x-...``) and
makes flags of what every file system has; mount.nfs reads version, protocol and ports; the kernel
takes the rest, or says EINVAL to an option that it does not know and to a value out of its range.
``sloppy`` makes the kernel pass over what it does not know, not over a bad value. Numbers are read
as C reads them (``0600`` is octal) since the kernel parses them by fs_parser, before as decimal.

Sources: mount(8) and libmount/src/optmap.c of util-linux; nfs(5), utils/mount/network.c and
utils/mount/parse_opt.c of nfs-utils; kernel fs/nfs/fs_context.c, nfs_fs_parameters[] and
nfs_fs_context_parse_param(), before 5.6 fs/nfs/super.c, nfs_mount_option_tokens[]. What a stock
kernel and nfs-utils answer to each kind of word is in tests/fixtures/mount_nfs_options.
"""

import re
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ....errors import kind_of, name_or_kind
from ....parsers.kernel.kernel_release import Release
from ....parsers.net.address import is_address
from ....parsers.nfs import nfs_options
from ....parsers.number import clipped

NFS4 = "nfs4"

_VERSION_WORD = re.compile(r"(nfs)?vers=|v[2-4](\.[0-2])?$")
_MOST = (1 << 31) - 1
_MOST_UNSIGNED = (1 << 32) - 1
#: NFS uses fs_parser since 5.6; older kernels have a separate option parser.
_FS_PARSER = (5, 6)


class Refusal(NamedTuple):
    """A word that the mount does not take.

    ``certain``: False where that depends on the kernel's vendor, or on a kernel that is not known.
    ``passed_over``: ``sloppy`` makes the kernel ignore it, so that it is only without effect.
    """

    word: str
    why: str
    certain: bool = True
    passed_over: bool = False

    def shown(self) -> str:
        """The names without their values, for a text."""
        return " and ".join(_shown(word.partition("=")[0]) for word in self.word.split(" and "))


#: Says what is wrong with a value, "" where nothing is. The release is None where unknown.
_Look = Callable[[str, Optional[Release]], str]


class _Option(NamedTuple):
    """An option of the kernel's NFS client or of mount.nfs.

    ``word``: it may be alone; ``no``: also with "no" in front. ``look`` checks its value, None
    where it takes none. ``since`` is the mainline kernel that has it."""

    word: bool
    no: bool
    look: Optional[_Look]
    since: Tuple[int, int] = (2, 6)


def refused(text: str, fstype: str, release: Optional[Release]) -> List[Refusal]:
    """The words of an option text that a mount of ``fstype`` (nfs or nfs4) does not take.

    ``release`` is the kernel's, None where it is not known.
    """
    words = nfs_options.split(text)
    sloppy = "sloppy" in words
    refusals: List[Refusal] = []
    for word in words:
        refusal = _refusal(word, release) if word else None
        if refusal is not None:
            refusals.append(refusal._replace(passed_over=sloppy and refusal.passed_over))
    return refusals + _together(words, fstype, release)


def value_read(value: str, release: Optional[Release]) -> str:
    """A number as the kernel reads it, in decimal; any other text as it is."""
    number = _integer(value, release)
    return value if number is None else str(number)


def _refusal(word: str, release: Optional[Release]) -> Optional[Refusal]:
    name, equals, _value = word.partition("=")
    if _is_of_every_file_system(name, bool(equals)):
        return None
    is_no = name not in _OPTIONS and name.startswith("no")
    option = _OPTIONS.get(name[2:] if is_no else name)
    if option is None or (is_no and not option.no):
        why = f"{_shown(name)} is not an option of NFS{_suggestion_for(name)}"
        return Refusal(word, why, passed_over=True)
    late = _too_late(word, name, option.since, release)
    return late or _wrong_value(word, option, is_no, release)


def _is_of_every_file_system(name: str, has_value: bool) -> bool:
    """Whether libmount takes the word: NFS does not get it."""
    if name.startswith(("x-", "X-")) or name in _OF_LIBMOUNT_WITH_VALUES:
        return True
    return not has_value and (name in _OF_LIBMOUNT or name in _FLAGS)


def _wrong_value(
    word: str, option: _Option, is_no: bool, release: Optional[Release]
) -> Optional[Refusal]:
    name, equals, value = word.partition("=")
    if not equals:
        return None if option.word or is_no else Refusal(word, f"{name} needs a value")
    if option.look is None or is_no:
        return Refusal(word, f"{name} takes no value")
    problem = option.look(value, release)
    return Refusal(word, f"{name}: {problem}") if problem else None


def _too_late(
    word: str, name: str, since: Tuple[int, int], release: Optional[Release]
) -> Optional[Refusal]:
    """Whether the kernel is older than an option; vendors carry some of them back."""
    if since <= (2, 6):
        return None
    mainline = "{0} is an option since Linux {1}.{2}".format(name, *since)
    if release is None:
        why = mainline + ", and which kernel runs is not known"
        return Refusal(word, why, certain=False, passed_over=True)
    if (release.major, release.minor) >= since:
        return None
    why = f"{mainline}, this is {release.text}"
    # No vendor carries options of 5.x back to kernels that are older than 4.12.
    carried = (since < (4, 0) or (release.major, release.minor) >= (4, 12)) and re.search(
        r"\.el\d|uek|-default|-azure|-gcp|-aws", release.text
    )
    if carried:
        why += ", to which its vendor may have carried it back"
        return Refusal(word, why, certain=False, passed_over=True)
    return Refusal(word, why, passed_over=True)


def _shown(name: str) -> str:
    known = name in _OPTIONS or name in _FLAGS or name in _OF_LIBMOUNT
    return repr(name) if known else name_or_kind(name)


def _suggestion_for(name: str) -> str:
    """The meaning of an option of another system, or the probable option behind a typo."""
    if name in _ELSEWHERE:
        return f" on Linux (it is one of {_ELSEWHERE[name]})"
    near = _nearest(name)
    return f", did you mean {near}?" if near else ""


def _nearest(name: str) -> str:
    known = sorted(set(_OPTIONS) | _FLAGS | _OF_LIBMOUNT)
    return next((option for option in known if len(option) > 2 and _is_one_slip(name, option)), "")


def _is_one_slip(left: str, right: str) -> bool:
    """Whether one letter is too many, missing, wrong, or two neighbours are swapped."""
    if abs(len(left) - len(right)) > 1 or left == right:
        return False
    at = next(
        (i for i, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right))
    )
    a, b = left[at:], right[at:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


# -- what is together -------------------------------------------------------------------------


def _together(words: List[str], fstype: str, release: Optional[Release]) -> List[Refusal]:
    """Words each of which is known, and which contradict one another or the type."""
    settings = nfs_options.parse(",".join(words))
    version = settings.get("vers", "")
    refusals = []
    minor = settings.get("minorversion") or next(
        (word.partition("=")[2] for word in words if word.startswith("minorversion=")), ""
    )
    if minor not in ("", "0") and version in ("2", "3"):
        refusals.append(Refusal("minorversion=" + minor, "only NFSv4 has minor versions"))
    if version == "3" and settings.get("mountvers") == "2":
        refusals.append(
            Refusal("mountvers=" + settings["mountvers"], "NFSv3 is mounted with mountvers=3")
        )
    versions = [word for word in words if _VERSION_WORD.match(word)]
    if len(versions) > 1:
        refusals.append(Refusal(" and ".join(versions), "only one version may be named"))
    if settings.get("migration") == "yes" and version not in ("", "4", "4.0"):
        refusals.append(Refusal("migration", "only NFSv4.0 has migration"))
    if settings.get("proto", "").rstrip("6") == "udp":
        refusals += _over_udp(version, fstype, release)
    return refusals


def _over_udp(version: str, fstype: str, release: Optional[Release]) -> List[Refusal]:
    if version.startswith("4") or (fstype == NFS4 and not version):
        return [Refusal("proto=udp", "NFSv4 is not spoken over UDP")]
    if release is not None and (release.major, release.minor) < _FS_PARSER:
        return []
    why = "kernels since 5.6 have no NFS over UDP, unless their maker built it in"
    return [Refusal("proto=udp", why, certain=False)]


# -- values ---------------------------------------------------------------------------------------


def _integer(value: str, release: Optional[Release]) -> Optional[int]:
    """A number as kstrtouint() reads it: one plus sign, then the base as in C."""
    digits = value[1:] if value.startswith("+") else value
    old = release is not None and (release.major, release.minor) < _FS_PARSER
    if re.match(r"[0-9]+$", digits) and (old or not digits.startswith("0") or digits == "0"):
        return clipped(digits)
    if old:
        return None
    if re.match(r"0[xX][0-9a-fA-F]+$", digits):
        return clipped(digits[2:], 16)
    return clipped(digits, 8) if re.match(r"0[0-7]+$", digits) else None


def _number(least: int = 0, most: int = _MOST_UNSIGNED) -> _Look:
    def look(value: str, release: Optional[Release]) -> str:
        number = _integer(value, release)
        if number is None:
            return f"{kind_of(value)} is not a number as the kernel reads one (no unit, no sign)"
        if not least <= number <= most:
            return f"{number} is not between {least} and {most}"
        return ""

    return look


def _decimal(least: int, most: int) -> _Look:
    """A number that mount.nfs reads before the kernel does."""

    def look(value: str, release: Optional[Release]) -> str:
        if not re.match(r"\+?[0-9]+$", value) or not least <= clipped(value.lstrip("+")) <= most:
            return f"it must be a number from {least} to {most}"
        return ""

    return look


def _one_of(*values: str) -> _Look:
    def look(value: str, release: Optional[Release]) -> str:
        return "" if value in values else "it must be one of {0}".format(", ".join(values))

    return look


def _version(value: str, release: Optional[Release]) -> str:
    """mount.nfs reads two numbers: a zero in front does no harm."""
    if re.match(r"0*[234]$|0*4\.0*[012]$", value):
        return ""
    return "NFS has the versions {0}".format(", ".join(_VERSIONS))


def _flavors(value: str, release: Optional[Release]) -> str:
    wrong = [flavor for flavor in value.split(":") if flavor not in _SECURITY]
    if not wrong:
        return ""
    return "{0} is none of {1}".format(kind_of(wrong[0]), ", ".join(sorted(_SECURITY)))


def _address(value: str, release: Optional[Release]) -> str:
    return "" if is_address(value.partition("%")[0]) else "it must be an address"


def _any(value: str, release: Optional[Release]) -> str:
    return "" if value else "it is empty"


def _anything(value: str, release: Optional[Release]) -> str:
    return ""


_SECURITY = frozenset(
    ("none", "null", "sys", "krb5", "krb5i", "krb5p", "lkey", "lkeyi", "lkeyp")
    + ("spkm3", "spkm3i", "spkm3p")
)
_VERSIONS = ("2", "3", "4", "4.0", "4.1", "4.2")
_PROTOCOLS = ("tcp", "tcp6", "udp", "udp6", "rdma", "rdma6")
_SECONDS = _number(0, _MOST)

_OPTIONS: Dict[str, _Option] = {
    "acdirmax": _Option(False, False, _SECONDS),
    "acdirmin": _Option(False, False, _SECONDS),
    "acregmax": _Option(False, False, _SECONDS),
    "acregmin": _Option(False, False, _SECONDS),
    "actimeo": _Option(False, False, _SECONDS),
    "addr": _Option(False, False, _any),
    "bsize": _Option(False, False, _number()),
    "clientaddr": _Option(False, False, _address),
    "fsc": _Option(True, True, _any),
    "local_lock": _Option(False, False, _one_of("all", "flock", "posix", "none")),
    "lookupcache": _Option(False, False, _one_of("all", "none", "pos", "positive")),
    "max_connect": _Option(False, False, _number(1, 16), (5, 14)),
    "minorversion": _Option(False, False, _number(0, 2)),
    "mountaddr": _Option(False, False, _any),
    "mounthost": _Option(False, False, _any),
    "mountport": _Option(False, False, _number(0, 65535)),
    "mountproto": _Option(False, False, _one_of("tcp", "tcp6", "udp", "udp6")),
    "mountvers": _Option(False, False, _decimal(1, 3)),
    "namlen": _Option(False, False, _number()),
    "nconnect": _Option(False, False, _number(1, 16), (5, 3)),
    "nfsvers": _Option(False, False, _version),
    "port": _Option(False, False, _decimal(0, 65535)),
    "proto": _Option(True, False, _one_of(*_PROTOCOLS)),
    "retrans": _Option(False, False, _number(0, _MOST)),
    "retry": _Option(False, False, _anything),
    "rsize": _Option(False, False, _number()),
    "sec": _Option(False, False, _flavors),
    "source": _Option(False, False, _any),
    "timeo": _Option(False, False, _number(1, _MOST)),
    "vers": _Option(False, False, _version),
    "write": _Option(False, False, _one_of("lazy", "eager", "wait"), (5, 13)),
    "wsize": _Option(False, False, _number()),
    "xprtsec": _Option(False, False, _one_of("none", "tls", "mtls"), (6, 5)),
    # Words, and words that may have "no" in front of them.
    "ac": _Option(True, True, None),
    "acl": _Option(True, True, None),
    "alignwrite": _Option(True, True, None, (6, 12)),
    "bg": _Option(True, False, None),
    "cto": _Option(True, True, None),
    "fg": _Option(True, False, None),
    "hard": _Option(True, False, None),
    "intr": _Option(True, True, None),
    "lock": _Option(True, True, None),
    "migration": _Option(True, True, None, (3, 13)),
    "posix": _Option(True, True, None),
    "rdirplus": _Option(True, True, None),
    "rdma": _Option(True, False, _anything),
    "resvport": _Option(True, True, None),
    "sharecache": _Option(True, True, None),
    "sloppy": _Option(True, False, None),
    "soft": _Option(True, False, None),
    "softerr": _Option(True, False, None, (5, 2)),
    "softreval": _Option(True, False, None, (5, 6)),
    "tcp": _Option(True, False, _anything),
    "trunkdiscovery": _Option(True, True, None, (5, 18)),
    "udp": _Option(True, False, None),
    "v2": _Option(True, False, None),
    "v3": _Option(True, False, None),
    "v4": _Option(True, False, None),
    "v4.0": _Option(True, False, None, (3, 7)),
    "v4.1": _Option(True, False, None),
    "v4.2": _Option(True, False, None, (3, 11)),
    # The labels of SELinux; whether it runs is nothing that the text says.
    "context": _Option(False, False, _any),
    "defcontext": _Option(False, False, _any),
    "fscontext": _Option(False, False, _any),
    "rootcontext": _Option(False, False, _any),
    "seclabel": _Option(True, False, None),
}

#: What libmount keeps for itself.
_OF_LIBMOUNT = frozenset(
    (
        "defaults",
        "default",
        "auto",
        "noauto",
        "user",
        "nouser",
        "users",
        "nousers",
        "owner",
        "noowner",
    )
    + ("group", "nogroup", "_netdev", "comment", "nofail", "uhelper", "helper")
    + ("loop", "offset", "sizelimit")
)
#: For these and some flags, it also accepts a value and ignores it.
_OF_LIBMOUNT_WITH_VALUES = (_OF_LIBMOUNT - {"_netdev", "nofail"}) | {"rw", "ro", "sync"}
#: Options that become a mount flag, for every file system.
_FLAGS = frozenset(
    ("rw", "ro", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async", "dirsync")
    + ("atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime")
    + ("nostrictatime", "lazytime", "nolazytime", "mand", "nomand", "iversion", "noiversion")
    + ("silent", "loud", "symfollow", "nosymfollow", "private", "rprivate", "slave", "rslave")
    + ("shared", "rshared", "unbindable", "runbindable")
)
#: What other systems take: a line that was copied from there.
_ELSEWHERE = {
    "forcedirectio": "Solaris and HP-UX",
    "noforcedirectio": "Solaris and HP-UX",
    "llock": "Solaris and AIX",
    "cio": "AIX",
    "dio": "AIX",
    "biods": "AIX",
    "combehind": "AIX",
    "grpid": "Solaris and AIX",
    "public": "Solaris",
    "quota": "Solaris",
    "noquota": "Solaris",
    "xattr": "Solaris",
    "noxattr": "Solaris",
    "largefiles": "Solaris",
    "setuid": "Solaris",
    "nosetuid": "Solaris",
    "devices": "Solaris",
    "nodevices": "Solaris",
    "logging": "Solaris",
    "delaylog": "HP-UX",
    "insecure": "the server's exports(5)",
    "secure": "the server's exports(5)",
    "no_root_squash": "the server's exports(5)",
    "root_squash": "the server's exports(5)",
}
