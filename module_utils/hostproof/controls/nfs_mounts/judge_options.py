# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the options of a mount: those in force, those of the next boot, and whether they agree.

Each wish of the options table belongs to one check: a soft mount is no second finding among the
other options.
"""

from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...answer import if_known, known, unless_absent
from ...finding import FAIL, PASS, SKIP, WARN, Check, Finding, found
from ...parsers import fstab, nfs_options
from ...parsers.nfs_options import AIX, LINUX
from ...probes import nfs_persisted
from ...probes.nfs_mounted import Mounted
from . import checks, options_table
from .facts import Facts, is_beneath
from .judge_mounted import source_parts
from .judging import for_each_and_unlisted
from .layers import (
    Layers,
    because,
    contradictions,
    correct,
    persisted_words,
    remount,
    running_words,
    wished,
    words_of,
)
from .options_table import CACHING, EXACTLY, LOCKS, NOT, POLICY, Wish
from .policy import Policy, WantedMount

TRANSPORT = ("recovery", "proto")
SIZES = ("rsize", "wsize")
#: What a kernel shows, but what cannot be compared by its value alone, or another check judges.
_NOT_COMPARED = frozenset(
    SIZES + ("vers", "sec", "nconnect", "max_connect", "port", "softreval", "write", "xprtsec")
)
#: Files whose locks keep a database from being opened twice.
_LOCKED_CLASSES = ("datafiles", "redo", "crs_voting")


def _is_of_other_options(wish, layers):
    # type: (Wish, Layers) -> bool
    """Whether a wish is judged among the options, and not by a check of its own."""
    if wish.name in TRANSPORT + SIZES:
        return False
    if wish.name in LOCKS:
        # Where hosts share files locks are judged apart, where not only what the policy names.
        return wish.source == POLICY and not options_table.is_shared(layers.wanted)
    return not (wish.relation == NOT and wish.name in CACHING)


def _is_shown(wish, layers):
    # type: (Wish, Layers) -> bool
    """Whether the kernel shows such a setting of a mount at all."""
    if wish.name in nfs_options.NEVER_GRANTED:
        return False
    return wish.name in nfs_options.GRANTED or wish.name in (layers.running or {})


def _names(wishes):
    # type: (Iterable[Wish]) -> List[str]
    return [wish.name for wish in wishes]


def _not_mounted(check):
    # type: (Check) -> Finding
    return found(check, SKIP, why="Nothing is mounted here now.")


def _wrong(wishes, layers):
    # type: (List[Wish], Layers) -> Tuple[List[Wish], List[Wish]]
    """What the kernel and the next boot contradict. One of them suffices, so the other may then
    be unknown."""
    running = contradictions(wishes, layers.running)
    asked = if_known(layers.asked, None) if running else known(layers.asked)
    return running, contradictions(wishes, asked)


def _disagreement(wishes, layers):
    # type: (List[Wish], Layers) -> Optional[str]
    """What contradicts the wishes, layer by layer; None where nothing does."""
    running, asked = _wrong(wishes, layers)
    parts = []
    if running:
        parts.append("mounted with " + running_words(layers, _names(running)))
    if asked:
        parts.append("persisted as " + persisted_words(layers, _names(asked)))
    if not parts:
        return None
    both = running + [wish for wish in asked if wish not in running]
    return "{0}; wanted is {1} ({2}).".format("; ".join(parts), wished(both), because(both))


def _running_or(desired, wishes, layers):
    # type: (str, List[Wish], Layers) -> str
    """The running layer; where it fulfils the wishes it is what is desired, in the same words.

    So a reader sees at once which of the layers differs.
    """
    if layers.running is not None and not contradictions(wishes, layers.running):
        return desired
    return running_words(layers, [wish.name for wish in wishes])


def _capital(text):
    # type: (str) -> str
    return text[:1].upper() + text[1:]


# -- transport ------------------------------------------------------------------------------------


def judge_safe_transport(mounts, facts, policy):
    # type: (List[Layers], Facts, Policy) -> List[Finding]
    """The mounts to judge, and every other one that holds Oracle files."""
    return for_each_and_unlisted(
        checks.SAFE_TRANSPORT, _judge_safe_transport, mounts, facts, policy
    )


def _judge_safe_transport(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    safe = [Wish("recovery", "hard", EXACTLY, "nfs(5)"), Wish("proto", "udp", NOT, "nfs(5)")]
    overrides = layers.wanted.overrides
    why = _disagreement(safe, layers)
    status = FAIL if why else PASS
    running, asked = _wrong(safe, layers)
    if why and all(wish.name in overrides for wish in running + asked):
        # The policy asks for it: no contradiction, and dangerous all the same.
        status = WARN
    return found(
        checks.SAFE_TRANSPORT,
        status,
        why=why and "{0} {1}".format(_capital(why), checks.SAFE_TRANSPORT.why),
        fix=correct(layers) if status == FAIL else "take it out of nfs_mounts_wanted",
        desired="hard,proto=tcp",
        persisted=persisted_words(layers, TRANSPORT),
        running=running_words(layers, TRANSPORT),
        evidence=layers.evidence(),
    )


# -- locks ----------------------------------------------------------------------------------------


def judge_locks_between_clients(mounts, facts, policy):
    # type: (List[Layers], Facts, Policy) -> List[Finding]
    """The mounts to judge, and every other one that holds Oracle files."""
    return for_each_and_unlisted(
        checks.LOCKS_BETWEEN_CLIENTS, _judge_locks_between_clients, mounts, facts, policy
    )


def _judge_locks_between_clients(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    check = checks.LOCKS_BETWEEN_CLIENTS
    if options_table.is_shared(layers.wanted):
        return _judge_locks(layers, layers.wanted, FAIL, _correct_locks(layers))
    if layers.judged.use_stated:
        return found(check, SKIP, why="Only one host uses these files (use: single).")
    # Local locks are fine where only this host opens the files, but nobody has said so.
    finding = _judge_locks(
        layers,
        layers.wanted._replace(use="failover"),
        WARN,
        "say who uses the files (single, failover or rac): use in nfs_mounts_wanted, or "
        "nfs_mounts_use",
    )
    if finding.status == PASS:
        return found(check, SKIP, why="Nobody says that another host uses these files.")
    return finding._replace(why=finding.why + " Nobody says that no other host opens these files.")


def _correct_locks(layers):
    # type: (Layers) -> str
    """What the policy itself asks for comes back with each apply."""
    asked = layers.wanted.overrides
    wrong = contradictions(options_table.lock_wishes(layers.system, layers.wanted), asked)
    words = nfs_options.words({one.name: asked[one.name] for one in wrong if one.name in asked})
    if not words:
        return correct(layers)
    return "take {0} out of options of {1} in nfs_mounts_wanted, then audit again".format(
        ",".join(words), layers.path
    )


def _judge_locks(layers, wanted, status, fix):
    # type: (Layers, WantedMount, str, str) -> Finding
    """Whether locks reach the server; ``status`` is what it is where they do not."""
    check = checks.LOCKS_BETWEEN_CLIENTS
    wishes = options_table.lock_wishes(layers.system, wanted)
    names = _names(wishes)
    why = _disagreement(wishes, layers)
    desired = "{0}, for use {1}".format(wished(wishes), wanted.use)
    return found(
        check,
        status if why else PASS,
        why=why and "{0} {1}".format(_capital(why), check.why),
        fix=fix,
        desired=desired,
        persisted=persisted_words(layers, names),
        running=_running_or(desired, wishes, layers),
        evidence=layers.evidence(),
    )


def judge_local_locks_advice(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    """Never more than advice: only who runs the site knows that no other host opens the files."""
    check = checks.LOCAL_LOCKS_ADVICE
    wanted = layers.wanted
    if options_table.is_shared(wanted):
        return found(check, SKIP, why="More than one host uses these files: their locks stay.")
    if wanted.file_class not in ("datafiles", "redo"):
        return found(check, SKIP, why="A database locks and opens little here.")
    if not layers.judged.use_stated:
        return found(
            check, SKIP, why="No policy says that only one host uses these files (use: single)."
        )
    if layers.running is None:
        return _not_mounted(check)
    if layers.system == LINUX and layers.running.get("vers", "").startswith("4"):
        return found(check, SKIP, why="NFSv4 has its locks in the protocol: nolock has no effect.")
    words = {"lock": "no"} if layers.system == LINUX else {"llock": "yes"}
    if layers.system != AIX:
        words["cto"] = "no"
    missing = [name for name, value in words.items() if layers.running.get(name) != value]
    if not missing:
        return found(check, PASS, running=running_words(layers, words), evidence=layers.evidence())
    advice = ",".join(nfs_options.words({name: words[name] for name in missing}))
    return found(
        check,
        SKIP,
        why="Advice: as long as no other host opens these files, {0} spares requests to the lock "
        "manager and at each open.".format(advice),
        fix="options: {0} for this mount in nfs_mounts_wanted".format(advice),
        desired=advice,
        persisted=persisted_words(layers, words),
        running=running_words(layers, words),
        evidence=layers.evidence(),
    )


# -- all other options ----------------------------------------------------------------------------


def judge_options_in_force(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    check = checks.OPTIONS_IN_FORCE
    if layers.running is None:
        return _not_mounted(check)
    wishes = [
        wish
        for wish in layers.wishes
        if _is_of_other_options(wish, layers)
        and _is_shown(wish, layers)
        and wish.name != "nconnect"
    ]
    wrong = contradictions(wishes, layers.running)
    status, why = PASS, None  # type: str, Optional[str]
    if wrong:
        status = FAIL
        why = "Mounted with {0}, wanted is {1} ({2}).".format(
            running_words(layers, _names(wrong)), wished(wrong), because(wrong)
        )
        persisted = if_known(layers.asked, None)
        if persisted is not None and not contradictions(wrong, persisted):
            why += " What is persisted is right. " + _when_it_changes(layers)
        if all(wish.name not in layers.running for wish in wrong):
            # Other systems show what was asked for, and not what holds where nothing was.
            status = WARN
            why = "mount does not show {0} ({1}); the system's defaults hold.".format(
                wished(wrong), because(wrong)
            )
    names = _names(wishes)
    return found(
        check,
        status,
        why=why,
        fix=correct(layers),
        desired=wished(wishes),
        persisted=persisted_words(layers, names),
        running=running_words(layers, names),
        evidence=layers.evidence(),
    )


def judge_options_persisted(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    check = checks.OPTIONS_PERSISTED
    wishes = [
        wish for wish in layers.wishes if _is_of_other_options(wish, layers) or wish.name in SIZES
    ]
    names = _names(wishes)
    problems = _problems_of_persisted(layers, known(layers.asked), wishes, facts)
    status, why, fix = PASS, None, None  # type: str, Optional[str], Optional[str]
    if problems:
        status = FAIL if any(problem.serious for problem in problems) else WARN
        why = " ".join(problem.why for problem in problems)
        fix = "; ".join(problem.fix for problem in problems)
    return found(
        check,
        status,
        why=why,
        fix=fix,
        desired="{0} on {1} with {2}".format(layers.wanted.source, layers.path, wished(wishes)),
        persisted=_persisted_mount(layers, names),
        evidence=layers.evidence(),
    )


def _persisted_mount(layers, names):
    # type: (Layers, Iterable[str]) -> str
    """Also what is mounted from where, if that is not what is wanted."""
    words = persisted_words(layers, names)
    entry = layers.entry
    if entry is None or source_parts(entry.source) == source_parts(layers.wanted.source):
        return words if entry is None or entry.at_boot else words + ", not at boot"
    return "{0}, {1}".format(words, entry.source)


class _Problem(NamedTuple):
    """What is wrong with what is persisted; ``serious``: the next boot goes wrong."""

    serious: bool
    why: str
    fix: str


def _problems_of_persisted(layers, asked, wishes, facts):
    # type: (Layers, Optional[Dict[str, str]], List[Wish], Facts) -> List[_Problem]
    entry = layers.entry
    refused = if_known(facts.persisted.bad_lines, [])
    if entry is None or asked is None:
        why = "Nothing mounts it at the next boot."
        if refused:
            why += " mount(8) refuses {0}.".format(", ".join(refused))
        # Something else than the boot may mount what no policy lists.
        return [_Problem(not layers.judged.guessed, why, correct(layers))]
    problems = []
    if source_parts(entry.source) != source_parts(layers.wanted.source):
        why = "{0} mounts {1}, not {2}.".format(entry.place, entry.source, layers.wanted.source)
        mounted = layers.judged.mounted
        as_mounted = mounted is not None and source_parts(entry.source) == source_parts(
            mounted.source
        )
        other = source_parts(entry.source)[1] != source_parts(layers.wanted.source)[1]
        fix = "write {0} in {1}, or correct nfs_mounts_wanted".format(
            layers.wanted.source, entry.place
        )
        # One server may have several names; nfs_mounts.mounted says whether that is known.
        problems.append(_Problem(other or not as_mounted, why, fix))
    if not entry.at_boot:
        why = "{0} does not count at boot: {1}.".format(entry.place, entry.why_not_at_boot)
        problems.append(_Problem(True, why, _let_it_count(entry)))
    if entry.place in refused:
        why = "{0} is refused by mount(8), as it is with a blank in a field.".format(entry.place)
        fix = "write {0} with six fields and no blank within one".format(entry.place)
        problems.append(_Problem(True, why, fix))
    wrong = contradictions(wishes, asked)
    if wrong:
        why = "{0}, wanted is {1} ({2}).".format(
            persisted_words(layers, _names(wrong)), wished(wrong), because(wrong)
        )
        # How mount waits for a server decides nothing about the files.
        serious = any(wish.name not in nfs_options.NEVER_GRANTED for wish in wrong)
        problems.append(_Problem(serious, why, correct(layers)))
    return problems


def _let_it_count(entry):
    # type: (nfs_persisted.Entry) -> str
    """How a place that does not count at boot comes to count."""
    reason = entry.why_not_at_boot
    if reason == "noauto":
        return "take noauto out of {0}".format(entry.place)
    if "systemctl " in reason:
        return reason[reason.index("systemctl ") :]
    if reason.startswith("autofs is not started"):
        return "systemctl enable autofs.service"
    return "correct {0}: {1}".format(entry.place, reason)


def judge_one_owner(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    check = checks.ONE_OWNER
    entries = known(layers.entries)
    if not entries:
        return found(check, SKIP, why="Nothing mounts it at boot.", evidence=layers.evidence())
    places = [entry.place for entry in entries]
    status, why, fix = PASS, None, None  # type: str, Optional[str], Optional[str]
    if len(entries) > 1:
        status = WARN
        why = "{0} places mount it: {1}; {2} wins.".format(
            len(places), ", ".join(places), places[0]
        )
        fix = "remove it from: " + ", ".join(places[1:])
    elif layers.path in known(facts.persisted.differs_from_generator):
        status = WARN
        why = "systemd still has another line than {0} holds, and mounts with that.".format(
            places[0]
        )
        fix = "systemctl daemon-reload"
    return found(
        check,
        status,
        why=why,
        fix=fix,
        desired="one place",
        persisted="; ".join(
            "{0}: {1}".format(entry.place, entry.options or "defaults") for entry in entries
        ),
        evidence=layers.evidence(),
    )


def judge_mounted_as_persisted(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    check = checks.MOUNTED_AS_PERSISTED
    mounted = layers.judged.mounted
    if layers.running is None or mounted is None:
        return _not_mounted(check)
    persisted = known(layers.asked)
    entry = layers.entry
    if persisted is None or entry is None:
        return found(check, SKIP, why="Nothing mounts it at boot.", evidence=layers.evidence())
    names = differences(known(layers.written) or {}, persisted, layers.running, layers.system)
    parts = []
    if names:
        parts.append(
            "Mounted with {0}, but {1} asks for {2}.".format(
                words_of(layers.running, names), entry.place, words_of(persisted, names)
            )
        )
    if source_parts(entry.source) != source_parts(mounted.source):
        parts.append(
            "Mounted is {0}, but {1} names {2}.".format(mounted.source, entry.place, entry.source)
        )
    return found(
        check,
        WARN if parts else PASS,
        why=" ".join(parts + [_when_it_changes(layers)]),
        fix=remount(layers),
        desired="as persisted" + (": " + words_of(persisted, names) if names else ""),
        persisted="{0}: {1}".format(entry.place, entry.options or "defaults"),
        running=words_of(layers.running, names) if names else mounted.options,
        evidence=layers.evidence(),
    )


def _when_it_changes(layers):
    # type: (Layers) -> str
    if not layers.sharing:
        return "The next mount changes it."
    return "It stays so as long as one of {0} is mounted, whose superblock it shares.".format(
        ", ".join(layers.sharing)
    )


def differences(asked, persisted, running, system):
    # type: (Dict[str, str], Dict[str, str], Dict[str, str], str) -> List[str]
    """The settings in which a mount is not what was asked for, as far as they can be compared.

    ``asked`` is what is written, ``persisted`` what it means. Sizes that a server did not grant
    are judged_sizes' business; a size that is larger than asked is an older mount.
    """
    names = [
        name
        for name in sorted(nfs_options.GRANTED - _NOT_COMPARED)
        if name in persisted and name in running and persisted[name] != running[name]
    ]
    if system != LINUX:
        names = [name for name in names if name in asked]
    if "sec" in persisted and "sec" in asked and running.get("sec") != persisted["sec"]:
        names.append("sec")
    version = asked.get("vers")
    granted = running.get("vers", "")
    if version and granted and granted != version and not granted.startswith(version + "."):
        names.append("vers")
    for name in SIZES:
        size, given = persisted.get(name, ""), running.get(name, "")
        if size.isdecimal() and given.isdecimal() and int(given) > int(size):
            names.append(name)
    return names


# -- caching --------------------------------------------------------------------------------------


def judge_caching(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    check = checks.CACHING
    wishes = [w for w in layers.wishes if w.relation == NOT and w.name in CACHING]
    if not wishes:
        return found(
            check,
            SKIP,
            why="Hosts that share these files, or the policy, need the server asked each time.",
        )
    why = _disagreement(wishes, layers)
    status = PASS
    if why:
        status = FAIL if layers.wanted.file_class == "backup" else WARN
        why = "{0} {1}".format(_capital(why), check.why)
    return found(
        check,
        status,
        why=why,
        fix=correct(layers),
        desired=wished(wishes),
        persisted=persisted_words(layers, CACHING),
        running=_running_or(wished(wishes), wishes, layers),
        evidence=layers.evidence(),
    )


# -- one superblock -------------------------------------------------------------------------------


def judge_shared_superblock(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    """Whether this mount got the options of another one instead of its own."""
    check = checks.SHARED_SUPERBLOCK
    mounted = layers.judged.mounted
    if mounted is None or layers.running is None:
        return _not_mounted(check)
    if mounted.superblock is None:
        return found(check, SKIP, why="Only Linux shows which mounts share a superblock.")
    others = [mount for mount in known(facts.mounted) if mount.path in layers.sharing]
    paths = ", ".join(layers.sharing)
    status, why = PASS, None  # type: str, Optional[str]
    if others:
        persisted = known(layers.asked)
        asked = known(layers.written) or {}
        ignored = differences(asked, persisted, layers.running, LINUX) if persisted else []
        if ignored and any(_asks_otherwise(mount, layers, facts) for mount in others):
            status = FAIL
            why = "Its superblock is that of {0}: it has {1}, though {2} asks for {3}.".format(
                paths,
                words_of(layers.running, ignored),
                layers.entry.place if layers.entry else "its entry",
                words_of(persisted or {}, ignored),
            )
    return found(
        check,
        status,
        why=why,
        fix="give {0} and {1} the same options (or nosharecache, which nfs(5) warns of), then "
        "umount all of them and mount them again".format(layers.path, paths),
        desired="its own options",
        persisted=persisted_words(layers, sorted(known(layers.written) or {})),
        running=mounted.options,
        in_use="superblock {0}, shared with {1}".format(mounted.superblock, paths or "none"),
        evidence=layers.evidence(),
    )


def _asks_otherwise(mount, layers, facts):
    # type: (Mounted, Layers, Facts) -> bool
    """Whether another mount of the superblock is persisted with other options than this one.

    A mount that nothing persists was made by hand with options that nobody knows; but a bind
    mount asks for none.
    """
    entries = nfs_persisted.of_path(facts.persisted, mount.path)
    if not entries:
        return not _is_bound(mount, layers, facts)
    asked = nfs_persisted.asked(facts.persisted, entries[0])
    own = known(layers.asked) or {}
    other = nfs_options.effective(asked, LINUX)
    return any(other.get(name) != own.get(name) for name in nfs_options.GRANTED)


def _is_bound(mount, layers, facts):
    # type: (Mounted, Layers, Facts) -> bool
    """Whether a mount is one of a folder of this one, or fstab says that it is a bind mount."""
    own = layers.judged.mounted
    if own is not None and own.root != mount.root and is_beneath(mount.root, own.root):
        return True
    text = unless_absent(facts.persisted.fstab_text, "")
    return any(
        entry.path == mount.path and {"bind", "rbind"} & set(entry.options.split(","))
        for entry in fstab.parse(text)
    )


# -- leases ---------------------------------------------------------------------------------------


def judge_v4_lease(layers, facts, policy):
    # type: (Layers, Facts, Policy) -> Finding
    check = checks.V4_LEASE
    settings = layers.running
    if settings is None:
        settings = known(layers.asked) or {}
    version = settings.get("vers") or layers.wanted.version
    if version is None:
        return found(check, SKIP, why="Which version it would be mounted with is not said.")
    if not version.startswith("4"):
        return found(check, SKIP, why="NFSv{0} has no leases.".format(version))
    if layers.wanted.file_class not in _LOCKED_CLASSES:
        return found(check, SKIP, why="No lock of a running database lies here.")
    traffic = unless_absent(facts.traffic, None)
    mount = traffic.mounts.get(layers.path) if traffic else None
    lease, expired = (mount.lease_time, mount.lease_expired) if mount else (None, None)
    pinned = layers.wanted.version == version
    status, why, fix = PASS, None, None  # type: str, Optional[str], Optional[str]
    if expired:
        status = FAIL
        why = "The lease ran out {0} s ago: the server may have given the locks away.".format(
            expired
        )
        fix = "look after the server and the path to it at once, then at the alert log (ORA-27072)"
    elif not pinned:
        status = WARN
        why = "{0} {1} NFSv{2}{3}.".format(
            check.why,
            "The next boot mounts it with" if layers.running is None else "Mounted with",
            version,
            " and a lease of {0} s".format(lease) if lease else "",
        )
        fix = "mount it with vers=3; or accept the risk: version: {0} of this mount in {1}".format(
            version, "nfs_mounts_wanted (or nfs_mounts_version)"
        )
    return found(
        check,
        status,
        why=why,
        fix=fix,
        desired="NFSv3, or NFSv4 by decision (nfs_mounts_version)",
        persisted=persisted_words(layers, ("vers",)),
        running=running_words(layers, ("vers",)),
        in_use=_lease(version, lease, expired),
        evidence=layers.evidence() + (tuple(traffic.evidence) if traffic else ()),
    )


def _lease(version, lease, expired):
    # type: (str, Optional[int], Optional[int]) -> Optional[str]
    if lease is None:
        return None
    state = "run out {0} s ago".format(expired) if expired else "not run out"
    return "NFSv{0} with a lease of {1} s, {2}".format(version, lease, state)
