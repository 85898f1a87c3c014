# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do about a mount: in words for people, and as lines that a shell takes as they are."""

from typing import Any, Dict, Iterable, List, Optional, Sequence, Set

from ...apply.change import FOUND_BY_MOUNT
from ...collect.answer import attempt, existing, if_known, known
from ...collect.shell import line, written
from ...errors import HostproofError
from ...evaluate.advice import Advice, Apply, Ask, Edit, Run, Step, Wait
from ...evaluate.checking import Layer, Verdict, layered
from ...evaluate.finding import PASS
from ...parsers.mounts import fstab
from ...parsers.nfs import nfs_options
from ...parsers.systemd import systemd_unit
from ...probes.nfs import nfs_persisted
from . import options_table
from .agreement import contradictions, names_of
from .mount_layers import Layers, persisted_answer, persisted_words, running_words, words_of
from .options_table import EXACTLY, Requirement
from .parsers import mount_refusals
from .policy import NAME
from .probes import persisted_options

#: Options that the kernel shows although they were not requested.
_OF_ANY_MOUNT = ("relatime", "namlen", "minorversion")


class Again(Wait):
    """A new mount. It depends on the correction before it, like any other event."""

    def __init__(self, text: str, commands: Sequence[str] = ()) -> None:
        super().__init__("remount", commands=commands)
        self.text = text


def verdict_on(
    layers: Layers, status: str, names: Iterable[str], steps: Sequence[Step] = (), **values: Any
) -> Verdict:
    """With what each layer of a mount holds of the settings of those names, unless it is said."""
    names = list(names)
    shown: Dict[str, Any] = {"evidence": layers.evidence()}
    shown["persisted"] = persisted_words(layers, names)
    shown["running"] = running_words(layers, names)
    shown.update(values)
    return Verdict(status, advice=Advice(steps) if steps else None, **shown)


def verdict_by_layers(
    layers: Layers,
    status: str,
    requirements: List[Requirement],
    names: Iterable[str],
    advice: Advice,
    running: Optional[str] = None,
    **fields: Any,
) -> Verdict:
    """``status`` is that of a layer that contradicts the requirements; ``running`` is what is
    shown of it, if that is not the settings of those names."""
    names = list(names)
    is_wrong_now = bool(contradictions(requirements, layers.running))
    is_wrong_later = bool(contradictions(requirements, if_known(layers.requested, None)))
    return layered(
        persisted=Layer(persisted_answer(layers, names), status if is_wrong_later else PASS),
        running=Layer(running or running_words(layers, names), status if is_wrong_now else PASS),
        # A new mount alone is not enough: the steps know what must be corrected before it.
        advice=advice._replace(running=advice.running or advice.both),
        evidence=layers.evidence(),
        **fields,
    )


def corrected(layers: Layers) -> Advice:
    """How the mount becomes as required, where its kernel, the next reboot or both are wrong."""
    steps = correct(layers)
    return Advice(both=steps, running=steps, persisted=persist(layers))


def without_overrides(layers: Layers, wrong: Iterable[Requirement]) -> List[Step]:
    """Apply restores a setting of the policy itself, so the policy must be changed; no step where
    none of the wrong settings is in it."""
    overrides = layers.wanted.overrides
    words = nfs_options.words(
        {
            requirement.name: overrides[requirement.name]
            for requirement in wrong
            if requirement.name in overrides
        }
    )
    if not words:
        return []
    return [
        Ask(
            "take {0} out of options of {1} in nfs_mounts_mounts, then audit again".format(
                ",".join(words), layers.path
            )
        )
    ]


def _locks_of_policy(layers: Layers) -> List[Step]:
    """The step against local locks that the policy requires of files which hosts share."""
    if not options_table.is_shared(layers.wanted):
        return []
    needs = options_table.lock_requirements(layers.system, layers.wanted)
    return without_overrides(layers, contradictions(needs, layers.wanted.overrides))


# -- in the kernel --------------------------------------------------------------------------------


def remount(layers: Layers) -> Step:
    """How a mount gets what is persisted: "mount -o remount" changes no option of NFS."""
    step = remount_step(layers)
    is_linux = layers.system == nfs_options.LINUX
    if layers.judged.guessed or not (is_linux and step.commands):
        return step
    also = "; with nfs_mounts_allow_remount: true apply does it, where nothing uses it"
    return Again(step.text + also, step.commands)


def remount_step(layers: Layers) -> Step:
    """Mounts of one superblock keep its options until the last of them is unmounted.

    There are no commands where one would not mount again what another unmounts, or would unmount
    the files of an open database: Direct NFS holds none of them open in the kernel.
    """
    paths = sorted((layers.path,) + layers.sharing)
    commands = [line("umount", path) for path in reversed(paths)]
    for path in paths:
        commands.extend(mount_lines(path, layers))
    used = " and ".join(paths)
    sids = if_known(layers.direct_users, [])
    if sids:
        used += " ({0} by Direct NFS, which does not keep it mounted)".format(", ".join(sids))
    text = "stop what uses {0}, unmount {1} and mount {1} again".format(
        used, "it" if len(paths) == 1 else "all of them"
    )
    unpersisted = [path for path in layers.sharing if not _entries_of(path, layers)]
    if unpersisted:
        others = " and ".join(unpersisted)
        text = f"note how {others} is mounted (findmnt), because no place mounts it; then {text}"
    is_safe = layers.direct_users == [] and not unpersisted
    return Again(text, commands if is_safe else ())


def _entries_of(path: str, layers: Layers) -> List[nfs_persisted.Entry]:
    return if_known(attempt(nfs_persisted.of_path, layers.persisted, path), [])


def mount_lines(path: str, layers: Layers) -> List[str]:
    """Commands that mount a path again; none for a mount that is created on access."""
    entry = next(iter(_entries_of(path, layers)), None)
    if entry is None:
        return [line("mount", path)]
    return [] if entry.on_access else [mount_of_entry(entry)]


def mount_of_entry(entry: nfs_persisted.Entry) -> str:
    """The command that mounts a persisted entry."""
    if entry.kind == "unit":
        return line("systemctl", "start", systemd_unit.unit_name(entry.path))
    return line("mount", entry.path)


def correct(layers: Layers) -> List[Step]:
    """How the mount becomes as required in the kernel: by what persists it, corrected first."""
    shown = options_table.shown_by_kernel(layers.requirements)
    before = persist(layers)
    is_wrong_now = bool(contradictions(shown, layers.running))
    return remade(layers) if is_wrong_now or not before else before


def remade(layers: Layers) -> List[Step]:
    """A new mount, after the correction of what persists it."""
    before = persist(layers)
    if not before:
        return [remount(layers)]
    if _locks_of_policy(layers):
        return before
    mounting = remount_step(layers)
    # A new mount needs what persists it: commands alone would bring back what is wrong.
    if any(not step.commands for step in before):
        return [*before, Again(mounting.text)]
    if isinstance(before[0], Apply):
        also = " (with nfs_mounts_allow_remount: true apply does that too)"
        mounting = Again(mounting.text + also, mounting.commands)
    return [*before, mounting]


# -- after a reboot -------------------------------------------------------------------------------


def persist(layers: Layers) -> List[Step]:
    """How the place that mounts it at boot becomes as required; no step where it is."""
    of_policy = _locks_of_policy(layers)
    if of_policy:
        return of_policy
    if isinstance(layers.requested, HostproofError):
        path = layers.path
        text = f"find the place that mounts {path} at boot, which is not known, and correct it"
        return [Ask(text)]
    entry = layers.entry
    if entry is None:
        return [_added(layers)]
    steps: List[Step] = []
    if _is_malformed(layers):
        text = f"write {entry.place} with six fields and no blank within one"
        steps.append(Edit(entry.place, what=text))
    rejected = _rejected_words(layers)
    if rejected:
        steps.append(without_words(rejected, entry))
    requested = known(layers.requested)
    if requested is None or not contradictions(layers.requirements, requested):
        return steps
    return [*steps, *_changed(layers, entry, {refusal.word for refusal in rejected})]


def _is_listed(layers: Layers) -> bool:
    """Whether apply edits fstab for the mount."""
    return layers.system == nfs_options.LINUX and not layers.judged.guessed


def _added(layers: Layers) -> Step:
    """The step that adds an entry for it."""
    path, options, source = layers.path, new_options(layers), layers.wanted.source
    if layers.system != nfs_options.LINUX:
        return Ask(f"let the system mount {source} at {path} at boot with {options}")
    fields = [fstab.encode(field) for field in (source, path, "nfs", options)]
    row = " ".join(fields + ["0", "0"])
    text = f"put '{row}' into {nfs_persisted.FSTAB}"
    if _is_listed(layers):
        return Apply(NAME, path, text)
    return Step(text, [written(row, nfs_persisted.FSTAB, append=True)])


def _changed(layers: Layers, entry: nfs_persisted.Entry, rejected: Set[str]) -> List[Step]:
    """The steps that set its options at the place that mounts it at boot."""
    is_linux = layers.system == nfs_options.LINUX
    changes = options_table.corrections(
        layers.requirements, existing(layers.written), layers.system
    )
    options = nfs_options.edit(_kept(entry.options, rejected), changes)
    if not is_linux:
        # Only Linux has words for what is so anyway.
        options = ",".join(w for w in options.split(",") if w not in ("ac", "async", "cto"))
    text = f"set the options in {entry.place} to {options}"
    still = persisted_options.asked(layers.persisted, entry._replace(options=options))
    stubborn = contradictions(layers.requirements, nfs_options.effective(still, layers.system))
    if stubborn:
        # Options of nfsmount.conf follow those of fstab, and mount uses the last one (nfs-utils).
        words = words_of(still, names_of(stubborn))
        text += f" and take {words} out of /etc/nfsmount.conf"
    if _is_listed(layers) and entry.kind == "fstab":
        return [Apply(NAME, layers.path, text)]
    if is_linux and layers.judged.guessed:
        text += " (apply does it for a mount in nfs_mounts_mounts)"
    steps: List[Step] = [Edit(entry.place, what=text)]
    if entry.kind == "unit":
        steps.append(Run("systemctl", "daemon-reload", text="reload systemd"))
    elif entry.kind == "autofs":
        steps.append(Run("systemctl", "reload", "autofs.service", text="reload the automounter"))
    return steps


def is_rejected(layers: Layers) -> bool:
    """Whether mount(8) would mount nothing by the entry that counts."""
    return _is_malformed(layers) or bool(_rejected_words(layers))


def _is_malformed(layers: Layers) -> bool:
    entry = layers.entry
    return entry is not None and entry.place in if_known(layers.persisted.bad_lines, [])


def _rejected_words(layers: Layers) -> List[mount_refusals.Refusal]:
    """The words for which mount would mount nothing at boot."""
    if layers.system != nfs_options.LINUX or layers.entry is None:
        return []
    return [
        refusal
        for refusal in words_not_taken(layers, layers.entry)
        if refusal.certain and not refusal.passed_over
    ]


def words_not_taken(layers: Layers, entry: nfs_persisted.Entry) -> List[mount_refusals.Refusal]:
    text = persisted_options.option_text(layers.persisted, entry)
    return mount_refusals.refused(text, entry.fstype, if_known(layers.persisted.kernel, None))


def without_words(words: Iterable[mount_refusals.Refusal], entry: nfs_persisted.Entry) -> Edit:
    """The correction of what mount does not take, at the place that has it."""
    there = set(nfs_options.split(entry.options))
    return Edit(
        entry.place,
        what="; ".join(
            "correct or remove {0} in {1}".format(
                refusal.shown(),
                entry.place
                if set(refusal.word.split(" and ")) & there
                or refusal.word.partition("=")[0] in entry.options
                else "nfsmount.conf",
            )
            for refusal in words
        ),
    )


def _kept(options: str, rejected: Set[str]) -> str:
    return ",".join(word for word in nfs_options.split(options) if word not in rejected)


def new_options(layers: Layers) -> str:
    """The options of an entry that does not exist yet: what is required, and what the mount has
    beyond that, for no boot may bring another version, security or nosuid."""
    requirements = list(layers.requirements)
    mounted = layers.judged.mounted
    if mounted is not None and layers.system == nfs_options.LINUX:
        shown = nfs_options.parse(mounted.options)
        usual = nfs_options.effective({"proto": shown.get("proto", "tcp")}, layers.system)
        decided = {requirement.name for requirement in requirements}.union(
            _OF_ANY_MOUNT, FOUND_BY_MOUNT
        )
        requirements += [
            Requirement(name, value, EXACTLY, "as it is mounted")
            for name, value in shown.items()
            if name not in decided and value != usual.get(name)
        ]
    return options_table.new_options(requirements)
