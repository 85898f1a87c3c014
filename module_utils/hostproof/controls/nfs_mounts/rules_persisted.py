# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounts after a reboot, and whether the current mount has the same options."""

from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...collect.answer import if_known, known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask, Edit, Run, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.nfs import nfs_options
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.number import clipped
from ...parsers.systemd import systemd_unit
from ...probes.nfs import nfs_persisted
from ...probes.nfs.nfs_mounted import Mounted
from .agreement import (
    SIZES,
    contradictions,
    differences,
    is_of_other_options,
    names_of,
    when_it_changes,
)
from .facts import Facts
from .mount_fixes import correct, persist, without_words, words_not_taken
from .mount_layers import (
    Layers,
    because,
    in_words,
    persisted_words,
    required,
    source_parts,
    words_of,
)
from .options_table import AT_LEAST, Requirement, shown_by_kernel
from .parsers import mount_refusals
from .policy import NAME, Policy
from .subjects import MOUNTS, NETAPP, NFS_5

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "nfs_mounts.options_persisted",
    "Mount options after reboot suit the files",
    "Mount options after reboot do not suit the files",
    severity="high",
    takes_effect="remount",
    why="A mount that was corrected manually is wrong again, or fails, after the next reboot.",
    reference="fstab(5); systemd.mount(5); autofs(5); " + NETAPP + ", NFS mount options",
    each=MOUNTS,
)
def options_persisted(layers: Layers, facts: Facts, _policy: Policy) -> Verdict:
    requirements = [
        requirement
        for requirement in layers.requirements
        if is_of_other_options(requirement, layers) or requirement.name in SIZES
    ]
    problems = _problems_of_persisted(layers, known(layers.requested), requirements, facts)
    status = FAIL if any(problem.serious for problem in problems) else WARN
    return Verdict(
        status if problems else PASS,
        why=" ".join(problem.why for problem in problems),
        advice=Advice([step for problem in problems for step in problem.steps]),
        desired=f"{layers.wanted.source} on {layers.path} with {required(requirements)}",
        persisted=_persisted_mount(layers, names_of(requirements)),
        evidence=layers.evidence(),
    )


def _persisted_mount(layers: Layers, names: Iterable[str]) -> str:
    """Also what is mounted from where, if that is not what is required."""
    words = persisted_words(layers, names)
    entry = layers.entry
    if entry is None or source_parts(entry.source) == source_parts(layers.wanted.source):
        return words if entry is None or entry.at_boot else words + ", not at boot"
    return f"{words}, {entry.source}"


def _is_only_small(requirement: Requirement, requested: Dict[str, str]) -> bool:
    """A transfer size that costs time, as rules_sizes.py checks it, but breaks nothing."""
    size = requested.get(requirement.name, "")
    return (
        requirement.name in SIZES
        and requirement.relation == AT_LEAST
        and size.isdecimal()
        and clipped(size) >= nfs_options.LEAST_TRANSFER
    )


class _Problem(NamedTuple):
    """A problem of a persisted entry; ``serious``: the mount fails after a reboot."""

    serious: bool
    why: str
    steps: List[Step]


def _problems_of_persisted(
    layers: Layers,
    requested: Optional[Dict[str, str]],
    requirements: List[Requirement],
    facts: Facts,
) -> List[_Problem]:
    entry = layers.entry
    refused = if_known(facts.persisted.bad_lines, [])
    if entry is None or requested is None:
        why = "Nothing mounts it at the next reboot."
        if refused:
            why += " mount(8) rejects {0}.".format(", ".join(refused))
        # Something else than the reboot may mount what no policy lists.
        return [_Problem(not layers.judged.guessed, why, persist(layers))]
    problems = _other_source(layers, entry)
    if not entry.at_boot:
        why = f"{entry.place} does not count at boot: {entry.why_not_at_boot}."
        problems.append(_Problem(True, why, _let_it_count(entry)))
    if entry.place in refused:
        why = f"mount(8) rejects {entry.place}, because a field contains a blank."
        problems.append(_Problem(True, why, persist(layers)))
    problems += _refused_words(layers, entry)
    wrong = contradictions(requirements, requested)
    if wrong:
        why = (
            f"{persisted_words(layers, names_of(wrong))}, wanted is {required(wrong)} "
            f"({because(wrong)})."
        )
        # How mount waits for a server decides nothing about the files.
        serious = any(
            requirement.name not in nfs_options.NEVER_GRANTED
            and not _is_only_small(requirement, requested)
            for requirement in wrong
        )
        problems.append(_Problem(serious, why, persist(layers)))
    if not any(problem.serious for problem in problems):
        _raise_if_doubtful(layers, entry)
    return problems


def _other_source(layers: Layers, entry: nfs_persisted.Entry) -> List[_Problem]:
    there, expected = source_parts(entry.source), source_parts(layers.wanted.source)
    if there == expected:
        return []
    mounted = layers.judged.mounted
    as_mounted = mounted is not None and there == source_parts(mounted.source)
    # One server may have several names; nfs_mounts.mounted says whether that is known.
    return [
        _Problem(
            there[1] != expected[1] or not as_mounted,
            f"{entry.place} mounts {entry.source}, not {layers.wanted.source}.",
            [Ask(f"write {layers.wanted.source} in {entry.place}, or correct nfs_mounts_mounts")],
        )
    ]


def _refused_words(layers: Layers, entry: nfs_persisted.Entry) -> List[_Problem]:
    """The words that mount rejects, so that nothing is mounted at boot."""
    if layers.system != LINUX:
        return []
    found_words = words_not_taken(layers, entry)
    refused = [refusal for refusal in found_words if refusal.certain and not refusal.passed_over]
    passed_over = [refusal for refusal in found_words if refusal.certain and refusal.passed_over]
    problems = []
    if refused:
        why = "mount rejects {0} of {1}: {2}. The next reboot mounts nothing there, and a database "
        why += "starts on an empty directory."
        problems.append(_refusal_problem(True, why, refused, entry))
    if passed_over:
        why = "sloppy makes mount pass over {0} of {1}, which then has no effect: {2}."
        problems.append(_refusal_problem(False, why, passed_over, entry))
    return problems


def _raise_if_doubtful(layers: Layers, entry: nfs_persisted.Entry) -> None:
    """Raise an error for options of which it is unknown whether this kernel accepts them."""
    if layers.system != LINUX:
        return
    shown = layers.running or {}
    # The kernel knows the options that it granted, regardless of its release.
    doubtful = [
        refusal
        for refusal in words_not_taken(layers, entry)
        if not refusal.certain
        and not refusal.passed_over
        and not all(
            shown.get(name) == value for name, value in nfs_options.parse(refusal.word).items()
        )
    ]
    if doubtful:
        raise Unanswered(
            "file:" + nfs_persisted.RELEASE,
            "whether mount takes {0} of {1} ({2})".format(
                ", ".join(refusal.shown() for refusal in doubtful),
                entry.place,
                "; ".join(refusal.why for refusal in doubtful),
            ),
        )


def _refusal_problem(
    serious: bool, why: str, words: List[mount_refusals.Refusal], entry: nfs_persisted.Entry
) -> _Problem:
    return _Problem(
        serious,
        why.format(
            ", ".join(refusal.shown() for refusal in words),
            entry.place,
            "; ".join(refusal.why for refusal in words),
        ),
        [without_words(words, entry)],
    )


def _let_it_count(entry: nfs_persisted.Entry) -> List[Step]:
    """How a place that does not count at boot comes to count."""
    reason = entry.why_not_at_boot
    if reason == "noauto":
        text = f"take noauto out of {entry.place}, unless a cluster manager mounts it"
        return [Edit(entry.place, what=text)]
    if reason.startswith("no unit wants"):
        name = systemd_unit.unit_name(entry.path)
        return [Run("systemctl", "enable", name, text="enable its unit")]
    if reason.startswith("autofs is not started"):
        text = "enable the automounter"
        return [Run("systemctl", "enable", "autofs.service", text=text)]
    return [Edit(entry.place, what=f"correct {entry.place}: {reason}")]


@rules.check(
    "nfs_mounts.single_source",
    "Only one place mounts the path",
    "Several places mount the path",
    severity="medium",
    takes_effect="remount",
    why="Changes have no effect in the wrong place. Only one of fstab, mount unit and autofs "
    "map applies.",
    reference="systemd.mount(5), fstab; systemd.unit(5), unit file load path; auto.master(5)",
    each=MOUNTS,
)
def single_source(layers: Layers, facts: Facts, _policy: Policy) -> Verdict:
    entries = known(layers.entries)
    if not entries:
        raise Skip("Nothing mounts it at boot.", layers.evidence())
    places = [entry.place for entry in entries]
    status, why = PASS, ""
    steps: List[Step] = []
    if len(entries) > 1:
        status = WARN
        why = "{0} places mount it: {1}; {2} wins.".format(
            len(places), ", ".join(places), places[0]
        )
        steps = [Edit(places[1], what="remove it from: " + ", ".join(places[1:]))]
    elif layers.path in known(facts.persisted.differs_from_generator):
        status = WARN
        why = f"systemd still has another line than {places[0]} holds, and mounts with that."
        steps = [Run("systemctl", "daemon-reload", text="reload systemd")]
    return Verdict(
        status,
        why=why,
        advice=Advice(steps),
        desired="one place",
        persisted="; ".join(in_words(entry) for entry in entries),
        evidence=layers.evidence(),
    )


@rules.check(
    "nfs_mounts.mounted_as_persisted",
    "Running mount options match the persisted options",
    "Running mount options differ from the persisted options",
    severity="medium",
    takes_effect="remount",
    why="The file was changed after the mount. The change takes effect only when the path is "
    "unmounted and mounted again.",
    reference=NFS_5 + ", remount: NFS options of a mount do not change",
    each=MOUNTS,
    because_of=("nfs_mounts.shared_superblock",),
)
def mounted_as_persisted(layers: Layers, _facts: Facts, _policy: Policy) -> Verdict:
    mounted, running = layers.mount, layers.granted
    persisted = known(layers.requested)
    entry = layers.entry
    if persisted is None or entry is None:
        raise Skip("Nothing mounts it at boot.", layers.evidence())
    written = known(layers.written)
    names = differences(written or {}, persisted, running, layers.system)
    parts = []
    if names:
        parts.append(
            f"Mounted with {words_of(running, names)}, but {entry.place} requests "
            f"{words_of(persisted, names)}."
        )
    if source_parts(entry.source) != source_parts(mounted.source):
        parts.append(f"Mounted is {mounted.source}, but {entry.place} names {entry.source}.")
    is_wrong_now, is_wrong_later = _wrong_layers(layers, mounted, entry)
    status = WARN if parts else PASS
    steps = _made_alike(layers, entry)
    return layered(
        persisted=Layer(in_words(entry), status if is_wrong_later else PASS),
        running=Layer(
            words_of(running, names) if names else mounted.options,
            status if is_wrong_now else PASS,
        ),
        why=" ".join(parts + [when_it_changes(layers)]),
        advice=Advice(both=steps, persisted=steps, running=steps),
        desired="as persisted" + (": " + words_of(persisted, names) if names else ""),
        evidence=layers.evidence(),
    )


def _wrong_layers(
    layers: Layers, mounted: Mounted, entry: nfs_persisted.Entry
) -> Tuple[bool, bool]:
    """Whether the policy does not accept the mount, and what a reboot mounts. If it accepts both,
    the mount is the wrong one."""
    wanted = source_parts(layers.wanted.source)
    is_wrong_later = bool(persist(layers)) or source_parts(entry.source) != wanted
    shown = shown_by_kernel(layers.requirements)
    is_wrong_now = (
        not is_wrong_later
        or bool(contradictions(shown, layers.running))
        or source_parts(mounted.source) != wanted
    )
    return is_wrong_now, is_wrong_later


def _made_alike(layers: Layers, entry: nfs_persisted.Entry) -> List[Step]:
    """A new mount would bring what is persisted, so that must be right first."""
    if source_parts(entry.source) != source_parts(layers.wanted.source):
        return _other_source(layers, entry)[0].steps
    return correct(layers)
