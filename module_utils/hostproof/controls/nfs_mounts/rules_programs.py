# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what Oracle runs may run: nosuid and noexec where hardening guides put them.

An Oracle home needs setuid (oracle, oradism, extjob) and execution, /dev/shm execution (code of
Java in the database) and /tmp execution for installers and opatch. Data, backups and diagnostics
need neither, and nodev is fine everywhere. A home on an NFS mount that is checked is checked with
the options of that mount (options_table.py), here those on every other one.

Source: Oracle Database Installation Guide for Linux; mount(8): nosuid, noexec, user.
"""

from typing import List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Ask, Edit, Run, Step
from ...evaluate.checking import Layer, Rules, Skip, Subjects, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.mounts import mountinfo
from ...parsers.nfs import nfs_options
from ...probes.nfs import nfs_mounted
from ...probes.nfs.nfs_persisted import Entry
from .checked_mounts import judged_mounts, oracle_homes
from .facts import Facts, is_beneath
from .mount_layers import in_words
from .options_table import PROGRAMS
from .policy import NAME, Policy
from .subjects import INSTALLATION

rules: Rules[Facts, Policy] = Rules(NAME)

_NFS = ("nfs", "nfs4")
_SEEN_IN = "file:" + nfs_mounted.MOUNTINFO


class _Place(NamedTuple):
    """A directory, the options that its mount must have, and the consequence if they are missing.

    ``judged`` is the list of NFS mounts with checked options."""

    path: str
    needs: Tuple[str, ...]
    status: str
    why: str
    judged: Tuple[str, ...] = ()


_HOME_WHY = (
    "oracle, oradism and extjob of a home are setuid, and nothing of it runs without execution."
)


#: What every home needs besides. systemd itself mounts /dev/shm with nosuid,nodev.
_FOR_ALL_HOMES = (
    _Place(
        "/dev/shm",
        ("exec",),
        FAIL,
        "Java in the database runs code from there (ORA-29516), and Oracle requires it without "
        "noexec.",
    ),
    _Place(
        "/tmp",
        ("exec",),
        WARN,
        "Installers and opatch run what they unpack there: the database runs, its next patch "
        "fails, unless TMPDIR leads elsewhere.",
    ),
)


def _places(facts: Facts, policy: Policy) -> List[_Place]:
    """Each home, and each directory that all homes need."""
    if isinstance(facts.all_mounts, Absent):
        raise Skip("Mounts of every type are checked on Linux only.")
    homes = oracle_homes(facts)
    if not homes:
        return []
    places = [_Place(home, PROGRAMS, FAIL, _HOME_WHY) for home in homes]
    judged = tuple(mount.wanted.path for mount in judged_mounts(facts, policy))
    return [place._replace(judged=judged) for place in places + list(_FOR_ALL_HOMES)]


PLACES = Subjects(_places, none="No Oracle home is known here.", name=lambda place: str(place.path))


@rules.check(
    "nfs_mounts.exec_and_suid",
    "Oracle binaries are not on a noexec or nosuid mount",
    "Oracle binaries are on a noexec or nosuid mount",
    severity="critical",
    takes_effect="now",
    why="The next start of the database, its jobs or an installer fails.",
    reference=INSTALLATION
    + ", root.sh and Checking Shared Memory File System Mount on Linux; mount(8), nosuid",
    each=PLACES,
)
def exec_and_suid(place: _Place, facts: Facts, _policy: Policy) -> Verdict:
    mount = _mount_of(place.path, known(facts.all_mounts))
    if mount.fstype in _NFS and mount.path in place.judged:
        raise Skip(f"It is on the NFS mount {mount.path}, whose options are checked.", [_SEEN_IN])
    running = _forbidden(mount.options, place)
    entry = attempt(_entry_of, place.path, mount.path, facts)
    at_boot = if_known(entry, None)
    persisted = _forbidden(at_boot.options, place) if at_boot is not None else []
    parts = []
    if running:
        parts.append("{0} is mounted with {1}.".format(mount.path, ",".join(running)))
    edit: List[Step] = []
    if persisted and at_boot is not None:
        parts.append("{0} requests {1}.".format(at_boot.place, ",".join(persisted)))
        edit.append(_edited(persisted, at_boot))
    shown: Answer[Optional[str]] = "no entry" if at_boot is None else in_words(at_boot)
    again = [_mounted_again(running, mount)]
    return layered(
        persisted=Layer(
            entry if isinstance(entry, HostproofError) else shown,
            place.status if persisted else PASS,
        ),
        running=Layer(f"{mount.path}: {mount.options}", place.status if running else PASS),
        advice=Advice(
            both=[*edit, *again],
            persisted=edit,
            running=again,
        ),
        why=" ".join(parts + [place.why]),
        desired=",".join(place.needs),
        evidence=(_SEEN_IN,) + (at_boot.evidence if at_boot is not None else ()),
    )


def _mount_of(path: str, mounts: List[mountinfo.Mount]) -> mountinfo.Mount:
    mount = mountinfo.holding(path, mounts)
    if mount is None:
        raise Absent(_SEEN_IN, f"no mount holds {path}")
    return mount


def _forbidden(options: str, place: _Place) -> List[str]:
    """The words that forbid what a place needs; ``users`` brings them without naming them."""
    settings = nfs_options.parse(options)
    return ["no" + name for name in place.needs if settings.get(name) == "no"]


def _entry_of(path: str, mount_path: str, facts: Facts) -> Optional[Entry]:
    """The entry that a reboot mounts for the path; None if that mount is not persisted.

    An entry above the current mount is not evidence for it: the program that created the mount,
    such as systemd (/dev/shm) or a cluster manager, creates it again.
    """
    entries = list(known(facts.persisted.local)) + list(known(facts.persisted.entries))
    above = [
        entry
        for entry in entries
        if entry.at_boot and (is_beneath(path, entry.path) or entry.path == "/")
    ]
    if not above:
        return None
    deepest = max(above, key=lambda entry: len(entry.path))
    return deepest if len(deepest.path) >= len(mount_path) else None


def _allowing(forbidden: List[str]) -> str:
    return ",".join(word[2:] for word in forbidden)


def _edited(forbidden: List[str], entry: Entry) -> Edit:
    words = _allowing(forbidden)
    text = f"let {entry.place} mount {entry.path} with {words}"
    behind = "behind user, users, owner and group, which mean the opposite"
    return Edit(entry.place, what=f"{text} ({behind})")


def _mounted_again(forbidden: List[str], mount: mountinfo.Mount) -> Step:
    if mount.fstype in _NFS:
        # In place NFS keeps its options (nfs(5)).
        return Ask(f"stop what uses {mount.path}, unmount it and mount it again")
    text = f"mount {mount.path} again in place"
    return Run("mount", "-o", "remount," + _allowing(forbidden), mount.path, text=text)
