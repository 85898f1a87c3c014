# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One mount in all its layers: what is wished of it, what the next boot makes, what the kernel has.

Also the words for them: what a finding shows of a layer, and what to do about it.
"""

from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...answer import Answer, attempt, if_known, known
from ...change import FOUND_BY_MOUNT
from ...errors import HostproofError
from ...parsers import nfs_options
from ...parsers.size import human
from ...probes import nfs_mounted, nfs_persisted
from . import options_table
from .facts import Facts, JudgedMount
from .options_table import AT_LEAST, EXACTLY, NOT, Wish
from .policy import Policy, WantedMount

#: The four systems whose options are known.
SYSTEMS = (nfs_options.LINUX, nfs_options.AIX, nfs_options.SOLARIS, nfs_options.HPUX)
UNKNOWN = "unknown"
#: What the kernel shows though nobody asks for it.
_OF_ANY_MOUNT = ("relatime", "namlen", "minorversion")
NOT_MOUNTED = "not mounted"
NOTHING_AT_BOOT = "nothing mounts it at boot"


class Layers(NamedTuple):
    """A mount to judge, in all its layers.

    ``running`` is what the kernel's options mean, None where nothing is mounted. ``entries`` are
    all that persist the path, the one that counts first; ``written`` are the settings that stand
    there and ``asked`` what they mean (None where there is none). ``sharing`` are the paths of
    other mounts with the same superblock, and so with the same options.
    """

    judged: JudgedMount
    system: str
    wishes: List[Wish]
    running: Optional[Dict[str, str]]
    sharing: Tuple[str, ...]
    persisted: nfs_persisted.Persisted
    entries: Answer[List[nfs_persisted.Entry]]
    written: Answer[Optional[Dict[str, str]]]
    asked: Answer[Optional[Dict[str, str]]]

    @property
    def wanted(self):
        # type: () -> WantedMount
        return self.judged.wanted

    @property
    def path(self):
        # type: () -> str
        return self.judged.wanted.path

    @property
    def entry(self):
        # type: () -> Optional[nfs_persisted.Entry]
        """The entry that counts; raises where that is not known."""
        entries = known(self.entries)
        return entries[0] if entries else None

    def evidence(self):
        # type: () -> Tuple[str, ...]
        """The keys of everything that the layers rest on."""
        keys = self.judged.mounted.evidence if self.judged.mounted else ()
        for entry in if_known(self.entries, []):
            keys += tuple(entry.evidence)
        return keys or (seen_in(self.system),)


def seen_in(system):
    # type: (str) -> str
    """The evidence key of the list of mounts."""
    if system == nfs_options.LINUX:
        return "file:" + nfs_mounted.MOUNTINFO
    return "command:" + " ".join(nfs_mounted.COMMANDS[system])


def layers_of(judged, facts, policy):
    # type: (JudgedMount, Facts, Policy) -> Layers
    system = known(facts.system)
    path = judged.wanted.path
    entries = attempt(nfs_persisted.of_path, facts.persisted, path)
    running = None
    if judged.mounted is not None:
        running = nfs_options.effective(nfs_options.parse(judged.mounted.options), system)
    written = attempt(_written, entries, facts)
    wishes = options_table.wishes(system, judged.wanted, policy)
    if any(entry.kind != "fstab" or entry.on_access for entry in if_known(entries, [])[:1]):
        # How mount(8) goes on after a failure (bg) is nothing for a unit or an automounter:
        # systemd would make retries without end of it, and who looks at the path waits for them.
        wishes = [wish for wish in wishes if wish.name not in nfs_options.NEVER_GRANTED]
    return Layers(
        judged=judged,
        system=system,
        wishes=wishes,
        running=running,
        sharing=_sharing(judged.mounted, facts),
        persisted=facts.persisted,
        entries=entries,
        written=written,
        asked=attempt(_meaning, written, running, system),
    )


def _sharing(mounted, facts):
    # type: (Optional[nfs_mounted.Mounted], Facts) -> Tuple[str, ...]
    if mounted is None or mounted.superblock is None:
        return ()
    return tuple(
        mount.path
        for mount in known(facts.mounted)
        if mount.superblock == mounted.superblock and mount.path != mounted.path
    )


def _written(entries, facts):
    # type: (Answer[List[nfs_persisted.Entry]], Facts) -> Optional[Dict[str, str]]
    found = known(entries)
    return nfs_persisted.asked(facts.persisted, found[0]) if found else None


def _meaning(written, running, system):
    # type: (Answer[Optional[Dict[str, str]]], Optional[Dict[str, str]], str) -> Optional[Dict[str, str]]
    """What is asked for means; some options mean another thing in the version of the mount."""
    settings = known(written)
    if settings is None:
        return None
    if running is None or "vers" not in running or "vers" in settings:
        return nfs_options.effective(settings, system)
    meant = nfs_options.effective(dict(settings, vers=running["vers"]), system)
    del meant["vers"]
    return meant


# -- words ----------------------------------------------------------------------------------------


def wished(wishes):
    # type: (Iterable[Wish]) -> str
    """What is wished, as mount takes it: "rw,hard, rsize,wsize at least 256.0 KiB, no noac"."""
    by_relation = {}  # type: Dict[str, Dict[str, str]]
    for wish in wishes:
        by_relation.setdefault(wish.relation, {})[wish.name] = wish.value
    parts = []
    if EXACTLY in by_relation:
        parts.append(",".join(nfs_options.words(by_relation[EXACTLY])))
    if AT_LEAST in by_relation:
        sizes = by_relation[AT_LEAST]
        parts.append(
            "{0} at least {1}".format(",".join(sizes), human(min(map(int, sizes.values()))))
        )
    never = by_relation.get(NOT, {})
    # What must not be off is said as what must be on: lock, not "no nolock".
    on = {name: "yes" for name, value in never.items() if value == "no"}
    parts.extend(nfs_options.words(on))
    off = {name: value for name, value in never.items() if name not in on}
    parts.extend("no " + word for word in nfs_options.words(off))
    return ", ".join(parts)


def words_of(settings, names):
    # type: (Dict[str, str], Iterable[str]) -> str
    """The settings of those names as mount spells them."""
    chosen = {name: settings[name] for name in names if name in settings}
    return ",".join(nfs_options.words(chosen)) or "none of them"


def running_words(layers, names):
    # type: (Layers, Iterable[str]) -> str
    """The running layer, without what mount keeps to itself (bg)."""
    if layers.running is None:
        return NOT_MOUNTED
    return words_of(layers.running, [n for n in names if n not in nfs_options.NEVER_GRANTED])


def persisted_words(layers, names):
    # type: (Layers, Iterable[str]) -> str
    """The persisted layer, with its place; "unknown" where another check says why."""
    if isinstance(layers.entries, HostproofError) or isinstance(layers.asked, HostproofError):
        return UNKNOWN
    if layers.entry is None or layers.asked is None:
        return NOTHING_AT_BOOT
    place, words = layers.entry.place, words_of(layers.asked, names)
    written = nfs_options.parse(layers.entry.options)
    added = [name for name, value in (known(layers.written) or {}).items() if name in names]
    if any(written.get(name) != layers.asked.get(name) for name in added):
        place += " and nfsmount.conf"
    return "{0}: {1}".format(place, words)


def persisted_source(layers):
    # type: (Layers) -> str
    """What the next boot mounts at the path, with its place."""
    if isinstance(layers.entries, HostproofError):
        return UNKNOWN
    if layers.entry is None:
        return NOTHING_AT_BOOT
    return "{0}: {1}".format(layers.entry.place, layers.entry.source)


def contradictions(wishes, settings):
    # type: (Iterable[Wish], Optional[Dict[str, str]]) -> List[Wish]
    """The wishes that settings do not fulfil; none where there are no settings."""
    if settings is None:
        return []
    return [wish for wish in wishes if not options_table.is_fulfilled(wish, settings)]


def because(wishes):
    # type: (Iterable[Wish]) -> str
    """Who asks for it: the sources of some wishes, each once."""
    sources = []  # type: List[str]
    for wish in wishes:
        if wish.source not in sources:
            sources.append(wish.source)
    return "; ".join(sources)


# -- what to do -----------------------------------------------------------------------------------


def remount(layers):
    # type: (Layers) -> str
    """How a mount gets what is persisted: "mount -o remount" changes no option of NFS."""
    by_hand = _again(layers)
    if layers.judged.guessed or layers.system != nfs_options.LINUX:
        return by_hand
    return by_hand + "; or ./hostproof apply with nfs_mounts_remount_ok: true"


def _again(layers):
    # type: (Layers) -> str
    """Mounts of one superblock keep its options until the last of them is gone."""
    paths = sorted((layers.path,) + layers.sharing)
    return "stop what uses {0}, then: umount {1} && {2}".format(
        " and ".join(paths),
        " ".join(reversed(paths)),
        " && ".join("mount " + path for path in paths),
    )


def correct(layers):
    # type: (Layers) -> str
    """How the mount becomes as wished, in the file and in the kernel."""
    is_persisted_wrong = _is_persisted_wrong(layers)
    if not is_persisted_wrong:
        return remount(layers)
    steps = [_persist(layers)]
    shown = [wish for wish in layers.wishes if wish.name not in nfs_options.NEVER_GRANTED]
    if contradictions(shown, layers.running):
        steps.append(_again(layers))
    by_hand = "; ".join(steps)
    if layers.system != nfs_options.LINUX:
        return by_hand
    if layers.judged.guessed:
        return by_hand + " (./hostproof apply does it for a mount in nfs_mounts_wanted)"
    if layers.entry is not None and layers.entry.kind != "fstab":
        return by_hand
    also = " with nfs_mounts_remount_ok: true" if len(steps) > 1 else ""
    return "./hostproof apply{0}; by hand: {1}".format(also, by_hand)


def _is_persisted_wrong(layers):
    # type: (Layers) -> bool
    """Also where nothing is persisted; not where that is unknown."""
    if isinstance(layers.asked, HostproofError):
        return False
    return layers.asked is None or bool(contradictions(layers.wishes, layers.asked))


def new_options(layers):
    # type: (Layers) -> str
    """The options of an entry that does not exist yet: what is wished, and what the mount has
    beyond that, for no boot may bring another version, security or nosuid."""
    wishes = list(layers.wishes)
    mounted = layers.judged.mounted
    if mounted is not None and layers.system == nfs_options.LINUX:
        shown = nfs_options.parse(mounted.options)
        usual = nfs_options.effective({"proto": shown.get("proto", "tcp")}, layers.system)
        decided = {wish.name for wish in wishes}.union(_OF_ANY_MOUNT, FOUND_BY_MOUNT)
        wishes += [
            Wish(name, value, EXACTLY, "as it is mounted")
            for name, value in shown.items()
            if name not in decided and value != usual.get(name)
        ]
    return options_table.new_options(wishes)


def _persist(layers):
    # type: (Layers) -> str
    entry = layers.entry
    if entry is None:
        options = new_options(layers)
        source, path = layers.wanted.source, layers.path
        if layers.system == nfs_options.LINUX:
            return "add to /etc/fstab: {0} {1} nfs {2} 0 0".format(source, path, options)
        return "let the system mount {0} at {1} at boot with {2}".format(source, path, options)
    changes = options_table.corrections(layers.wishes, known(layers.written), layers.system)
    options = nfs_options.edit(entry.options, changes)
    if layers.system != nfs_options.LINUX:
        # Only Linux has words for what is so anyway.
        options = ",".join(w for w in options.split(",") if w not in ("ac", "async", "cto"))
    line = "set the options in {0} to {1}".format(entry.place, options)
    still = nfs_persisted.asked(layers.persisted, entry._replace(options=options))
    stubborn = contradictions(layers.wishes, nfs_options.effective(still, layers.system))
    if stubborn:
        # What it adds stands behind the words of fstab, and mount takes the last (nfs-utils).
        words = words_of(still, [wish.name for wish in stubborn])
        line += " and take {0} out of /etc/nfsmount.conf".format(words)
    after = {"unit": "; systemctl daemon-reload", "autofs": "; systemctl reload autofs"}
    return line + after.get(entry.kind, "")
