# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do about a mount: in words for people, and as lines that a shell takes as they are."""

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...apply.change import FOUND_BY_MOUNT
from ...collect.answer import attempt, existing, if_known, known
from ...collect.shell import line, written
from ...errors import HostproofError
from ...evaluate.advice import apply_line
from ...evaluate.checking import Verdict
from ...parsers.mounts import fstab
from ...parsers.nfs import nfs_options
from ...parsers.systemd import systemd_unit
from ...probes.nfs import nfs_persisted
from . import options_table
from .agreement import contradictions, names_of
from .mount_layers import Layers, persisted_words, running_words, words_of
from .options_table import EXACTLY, Requirement
from .policy import NAME
from .probes import persisted_options

#: Writes what the policy lists; it never unmounts unless nfs_mounts_allow_remount says so.
APPLY = apply_line(NAME)
#: Options that the kernel shows although they were not requested.
_OF_ANY_MOUNT = ("relatime", "namlen", "minorversion")


class Fix(NamedTuple):
    """What to do: in words for people, and as lines that a shell takes as they are."""

    text: str
    commands: Tuple[str, ...] = ()


def verdict_on(
    layers: Layers, status: str, names: Iterable[str], fix: Optional[Fix] = None, **values: object
) -> Verdict:
    """With what each layer of a mount holds of the settings of those names, unless it is said."""
    names = list(names)
    shown: Dict[str, Any] = {"evidence": layers.evidence()}
    shown["persisted"] = persisted_words(layers, names)
    shown["running"] = running_words(layers, names)
    if fix is not None:
        shown.update(fix=fix.text, commands=fix.commands)
    shown.update(values)
    return Verdict(status, **shown)


def remount(layers: Layers) -> Fix:
    """How a mount gets what is persisted: "mount -o remount" changes no option of NFS."""
    by_hand = remount_step(layers)
    if layers.judged.guessed or layers.system != nfs_options.LINUX:
        return by_hand
    also = "; with nfs_mounts_allow_remount: true apply does it, where nothing uses it"
    return by_hand._replace(text=by_hand.text + also)


def remount_step(layers: Layers) -> Fix:
    """Mounts of one superblock keep its options until the last of them is unmounted."""
    paths = sorted((layers.path,) + layers.sharing)
    commands = [line("umount", path) for path in reversed(paths)]
    for path in paths:
        commands.extend(mount_lines(path, layers))
    text = "stop what uses {0}, unmount {1} and mount {1} again".format(
        " and ".join(paths), "it" if len(paths) == 1 else "all of them"
    )
    return Fix(text, tuple(commands))


def mount_lines(path: str, layers: Layers) -> List[str]:
    """Commands that mount a path again; none for a mount that is created on access."""
    entries = attempt(nfs_persisted.of_path, layers.persisted, path)
    entry = next(iter(if_known(entries, [])), None)
    if entry is None:
        return [line("mount", path)]
    return [] if entry.on_access else [mount_of_entry(entry)]


def mount_of_entry(entry: nfs_persisted.Entry) -> str:
    """The command that mounts a persisted entry."""
    if entry.kind == "unit":
        return line("systemctl", "start", systemd_unit.unit_name(entry.path))
    return line("mount", entry.path)


def correct(layers: Layers) -> Fix:
    """How the mount becomes as required, in the file and in the kernel."""
    if isinstance(layers.requested, HostproofError):
        by_hand = remount_step(layers)
        return Fix(
            f"find the place that mounts {layers.path} at boot, which is not known "
            f"({str(layers.requested).rstrip('.')}), and correct its options; then {by_hand.text}"
        )
    if not _is_persisted_wrong(layers):
        return remount(layers)
    persist = _persist(layers)
    shown = [
        requirement
        for requirement in layers.requirements
        if requirement.name not in nfs_options.NEVER_GRANTED
    ]
    steps, commands = [persist.text], list(persist.commands)
    is_listed = layers.system == nfs_options.LINUX and not layers.judged.guessed
    if is_listed and (layers.entry is None or layers.entry.kind == "fstab"):
        steps = ["run apply, or manually: " + persist.text]
        commands = [APPLY]
    elif layers.system == nfs_options.LINUX and layers.judged.guessed:
        steps = [persist.text + " (apply does it for a mount in nfs_mounts_mounts)"]
    if contradictions(shown, layers.running):
        mounting = remount_step(layers)
        also = " (with nfs_mounts_allow_remount: true apply does that too)" if is_listed else ""
        steps.append("then " + mounting.text + also)
        # A new mount needs the persisted options, otherwise it has the same ones as before.
        commands = commands + list(mounting.commands) if commands else []
    return Fix("; ".join(steps), tuple(commands))


def _is_persisted_wrong(layers: Layers) -> bool:
    """Also where nothing is persisted."""
    requested = known(layers.requested)
    return requested is None or bool(contradictions(layers.requirements, requested))


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


def _persist(layers: Layers) -> Fix:
    entry = layers.entry
    if entry is None:
        options = new_options(layers)
        source, path = layers.wanted.source, layers.path
        if layers.system == nfs_options.LINUX:
            fields = [fstab.encode(field) for field in (source, path, "nfs", options)]
            row = " ".join(fields + ["0", "0"])
            return Fix(
                f"add to {nfs_persisted.FSTAB}: {row}",
                (written(row, nfs_persisted.FSTAB, append=True),),
            )
        return Fix(f"let the system mount {source} at {path} at boot with {options}")
    changes = options_table.corrections(
        layers.requirements, existing(layers.written), layers.system
    )
    options = nfs_options.edit(entry.options, changes)
    if layers.system != nfs_options.LINUX:
        # Only Linux has words for what is so anyway.
        options = ",".join(w for w in options.split(",") if w not in ("ac", "async", "cto"))
    text = f"set the options in {entry.place} to {options}"
    still = persisted_options.asked(layers.persisted, entry._replace(options=options))
    stubborn = contradictions(layers.requirements, nfs_options.effective(still, layers.system))
    if stubborn:
        # Options of nfsmount.conf follow those of fstab, and mount uses the last one (nfs-utils).
        words = words_of(still, names_of(stubborn))
        text += f" and take {words} out of /etc/nfsmount.conf"
    after = {"unit": "; then systemctl daemon-reload", "autofs": "; then systemctl reload autofs"}
    return Fix(text + after.get(entry.kind, ""))
