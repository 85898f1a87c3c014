# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a mount is there, and what happens in its directory where it is not."""

from typing import List, NamedTuple, Optional, Tuple, Union

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.host import OpenFiles
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Apply, Ask, Run, Step
from ...evaluate.checking import Layer, Rules, Subjects, Verdict, layered
from ...evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN, Finding
from ...probes.nfs import nfs_persisted
from ...probes.nfs.nfs_mounted import Mounted
from ...probes.nfs.nfs_persisted import Entry
from .checked_mounts import missing_mounts, mount_of
from .facts import Facts, is_beneath
from .homes import channels
from .mount_fixes import correct, is_rejected, mount_lines, mount_of_entry, persist, remount_step
from .mount_layers import NOT_MOUNTED, Layers, persisted_source, source_parts, spelling_of
from .policy import NAME, Policy
from .subjects import MOUNTS, NETAPP, judged_layers, say_guess, unknown, unlisted

rules: Rules[Facts, Policy] = Rules(NAME)


class _Instead(NamedTuple):
    """The content of the directory of a missing mount, and the fix."""

    in_use: str
    why: str
    steps: List[Step]
    evidence: Tuple[str, ...]


class _Unlisted(NamedTuple):
    """An instance that uses Direct NFS, on a mount that is not visible."""

    sid: str
    servers: Tuple[str, ...]
    others: Tuple[str, ...]
    path: str = ""


#: A mount to check; one that a reboot makes and that is missing; an instance of unknown mounts.
_Place = Union[Layers, Entry, _Unlisted]


def _places(facts: Facts, policy: Policy) -> List[Union[_Place, HostproofError]]:
    """The mounts to check, and missing mounts that a reboot creates.

    Without a list of mounts, Oracle may use a mount that is unknown here: that is reported too.
    """
    mounts = judged_layers(facts, policy)
    if policy.mounts is not None:
        return [*mounts, *unlisted(facts, policy, lambda judged: judged.mounted is None)]
    judged = [layers.path for layers in mounts]
    entries = if_known(attempt(missing_mounts, facts), [])
    missing = [entry for entry in entries if entry.path not in judged]
    return [*missing, *_unseen_users(mounts, facts), *mounts, *unknown(facts, policy)]


def _unseen_users(mounts: List[Layers], facts: Facts) -> List[_Unlisted]:
    """Direct NFS bypasses the kernel: the mount of its open files is not visible."""
    if any(layers.wanted.file_class in ("datafiles", "redo") for layers in mounts):
        return []
    others = {mount.path for mount in known(facts.mounted)} - {layers.path for layers in mounts}
    if not others:
        return []
    connected = if_known(attempt(channels, facts), {})
    return [
        _Unlisted(sid, tuple(sorted(set(servers))), tuple(sorted(others)))
        for sid, servers in sorted(connected.items())
    ]


def _say_guess(finding: Finding, place: _Place) -> Finding:
    return say_guess(finding, place) if isinstance(place, Layers) else finding


PLACES: Subjects[Facts, Policy, _Place] = Subjects(
    _places,
    none=MOUNTS.none,
    name=lambda place: str(place.path),
    finish=_say_guess,
    unknown=MOUNTS.unknown,
)


@rules.check(
    "nfs_mounts.mounted",
    "The expected export is mounted",
    "The expected export is not mounted",
    severity="critical",
    takes_effect="now",
    why="A database that starts on an empty mount point writes to the root file system.",
    reference="nfs(5), bg: a mount that failed returns 0; " + NETAPP,
    each=PLACES,
)
def mounted(place: _Place, facts: Facts, _policy: Policy) -> Verdict:
    if isinstance(place, Entry):
        return _judge_missing_entry(place)
    if isinstance(place, _Unlisted):
        return Verdict(
            ERROR,
            why="{0} reads and writes through Direct NFS (its own connections to {1}), where the "
            "kernel sees no open file: which of {2} it uses could not be determined.".format(
                place.sid, ", ".join(place.servers), ", ".join(place.others)
            ),
            advice=Advice(
                [
                    Ask(
                        "list its mounts in nfs_mounts_mounts; they are in the database: select "
                        "dirname from v$dnfs_servers"
                    )
                ]
            ),
            evidence=["open_files:direct_nfs", "file:/proc/net/tcp"],
        )
    if place.judged.mounted is None:
        return _judge_missing(place, facts)
    return _judge_source(place, place.judged.mounted)


def _judge_missing_entry(entry: Entry) -> Verdict:
    """Nothing of Oracle is seen there: it may be down because the mount is missing."""
    return layered(
        persisted=Layer(f"{entry.place}: {entry.source}"),
        running=Layer(NOT_MOUNTED, WARN),
        why=f"{entry.place} mounts it at boot, and it is not mounted. Whether Oracle files belong "
        "there is not known.",
        advice=Advice(
            running=[
                Step(
                    f"mount it, or take it out of {entry.place} if this host does not need it",
                    () if entry.kind == "autofs" else (mount_of_entry(entry),),
                )
            ]
        ),
        desired=f"{entry.source} on {entry.path}",
        evidence=entry.evidence,
    )


def _judge_source(layers: Layers, mount: Mounted) -> Verdict:
    status, why = PASS, ""
    expected, there = source_parts(layers.wanted.source), source_parts(mount.source)
    address = spelling_of((layers.running or {}).get("addr", "").lower())
    if there[1] != expected[1]:
        status = FAIL
        why = f"{mount.source} is mounted here, not {layers.wanted.source}."
    elif expected[0] not in (there[0], address):
        status = WARN
        why = f"The export comes from {there[0]}; whether that is {expected[0]} is not known."
    entry = next(iter(if_known(layers.entries, [])), None)
    is_persisted = entry is not None and source_parts(entry.source) == there
    # Which of the two is wrong only people know: no line to run.
    steps = [Ask(_correct_source(layers, mount, status))]
    return layered(
        persisted=Layer(persisted_source(layers), status if is_persisted else PASS),
        running=Layer(f"{mount.source} ({mount.fstype})", status),
        why=why,
        advice=Advice(both=steps, running=steps),
        desired=_desired(layers),
        evidence=layers.evidence(),
    )


def _correct_source(layers: Layers, mount: Mounted, status: str) -> str:
    """A mount brings back what the place that persists it names."""
    entry = next(iter(if_known(layers.entries, [])), None)
    wanted = layers.wanted.source
    policy = f"correct the source in nfs_mounts_mounts, if {mount.source} is right"
    if status == WARN:
        policy = f"write {mount.source} in nfs_mounts_mounts, if {wanted} is the same export"
    steps = [remount_step(layers).text]
    if entry is None or source_parts(entry.source) != source_parts(wanted):
        place = nfs_persisted.FSTAB if entry is None else entry.place
        steps.insert(0, f"write {wanted} in {place}")
    elif persist(layers):
        steps = [step.text for step in correct(layers)]
    return f"{policy}; otherwise {', then '.join(steps)}"


def _desired(layers: Layers) -> str:
    return f"{layers.wanted.source} on {layers.path}"


def _judge_missing(layers: Layers, facts: Facts) -> Verdict:
    link = facts.links.get(layers.path)
    if link in [mount.path for mount in known(facts.mounted)]:
        return Verdict(
            ERROR,
            why=f"{layers.path} is a link to {link}, which is mounted: nothing of it was checked.",
            advice=Advice([Ask(f"write {link} in place of {layers.path} in nfs_mounts_mounts")]),
            desired=_desired(layers),
            evidence=layers.evidence(),
        )
    maker = _maker_on_access(layers, facts)
    if maker is not None:
        return Verdict(
            SKIP,
            why=f"Not mounted now: {maker} mounts it on access.",
            desired=_desired(layers),
            persisted=persisted_source(layers),
            running=NOT_MOUNTED,
            evidence=layers.evidence(),
        )
    instead = _what_is_there(layers, facts)
    entries = if_known(layers.entries, [])
    why = instead.why
    if entries and "bg" in entries[0].options.split(","):
        why += " With bg, mount returns 0 also when it failed."
    steps = _persisted_first(layers, instead.steps)
    is_persisted = bool(entries) and not is_rejected(layers)
    return layered(
        persisted=Layer(
            layers.entries
            if isinstance(layers.entries, HostproofError)
            else persisted_source(layers),
            PASS if is_persisted else FAIL,
            "what mounts it at boot",
        ),
        running=Layer(NOT_MOUNTED, FAIL),
        in_use=Layer(instead.in_use, FAIL if instead.evidence else PASS),
        why=why,
        advice=Advice(both=steps, running=steps),
        desired=_desired(layers),
        evidence=layers.evidence() + instead.evidence,
    )


def _persisted_first(layers: Layers, steps: List[Step]) -> List[Step]:
    """Only what a place persists can be mounted by its path; commands never go before people."""
    if isinstance(layers.requested, HostproofError):
        before: List[Step] = [Ask(f"find what mounts {layers.path}, which is not known")]
    elif layers.entry is None or is_rejected(layers):
        before = persist(layers)
    else:
        return steps
    if isinstance(before[0], Apply):
        # It also mounts what is missing.
        return [*steps[:-1], *before]
    if all(step.commands for step in before):
        return [*steps[:-1], *before, steps[-1]]
    return [Ask(step.text) for step in steps[:-1]] + before + [Ask(steps[-1].text)]


def _maker_on_access(layers: Layers, facts: Facts) -> Optional[str]:
    """The program that mounts the path on access: the daemon autofs, or systemd.

    Raises an error if it is unknown: a directory of the automounter has only entries of its map."""
    if not any(is_beneath(layers.path, folder) for folder in if_known(facts.autofs, [])):
        return None
    makers = [entry.place for entry in known(layers.entries) if entry.on_access]
    return makers[0] if makers else None


def _what_is_there(layers: Layers, facts: Facts) -> _Instead:
    path = layers.path
    databases = attempt(_open_beneath, path, facts, facts.database_files)
    others = attempt(_open_beneath, path, facts, facts.holders.get(path, []))
    names = facts.beneath.get(path, [])
    beneath = sorted(if_known(names, []))
    if if_known(databases, []):
        held = _held(known(databases))
        return _Instead(
            held,
            f"Not mounted, and a database writes into the file system beneath: {held}.",
            [
                Ask(f"stop the database now, move what it wrote out of {path} (a mount hides it)"),
                Ask(f"mount {path} and recover the database"),
            ],
            ("open_files:database",),
        )
    if if_known(others, []):
        held = _held(known(others))
        return _Instead(
            held,
            f"Not mounted, and the empty mount point is in use: {held}.",
            [
                Ask(f"stop these processes, move their files out of {path}"),
                Ask(f"mount {path}"),
            ],
            ("open_files:all",),
        )
    if beneath:
        listed = ", ".join(beneath[:3]) + (", ..." if len(beneath) > 3 else "")
        return _Instead(
            "in the directory itself: " + listed,
            f"Not mounted, and files lie beneath, which a mount hides: {listed}.",
            [
                Ask(f"find out who wrote them, move them out of {path}"),
                Ask(f"mount {path}"),
            ],
            ("dir:" + path,),
        )
    if isinstance(names, Absent):
        why = "Not mounted, and there is no such directory."
        steps = [
            Run("mkdir", "-p", path, text="make the directory"),
            Step("mount it", mount_lines(path, layers)),
        ]
    else:
        why, steps = "Not mounted.", [Step("mount it", mount_lines(path, layers))]
    unknown = next((answer for answer in (databases, others, names) if _is_unknown(answer)), None)
    if unknown is None:
        return _Instead("no file is open or exists there", why, steps, ())
    why += f" Open and existing files there are unknown: {unknown}."
    checked = Ask(f"check that no process has files open in {path} and that it is empty")
    return _Instead("unknown", why, [checked, Ask("mount it")], ())


def _is_unknown(answer: Answer[object]) -> bool:
    return isinstance(answer, HostproofError) and not isinstance(answer, Absent)


def _open_beneath(path: str, facts: Facts, answer: Answer[List[OpenFiles]]) -> List[OpenFiles]:
    """Processes with open files below a path, but not on a mount further below."""
    mounts = known(facts.mounted)
    found_processes = []
    for process in known(answer):
        paths = []
        for name in process.paths:
            mount = mount_of(name, mounts)
            if is_beneath(name, path) and not (mount and is_beneath(mount.path, path)):
                paths.append(name)
        if paths:
            found_processes.append(process._replace(paths=tuple(paths)))
    return found_processes


def _held(processes: List[OpenFiles]) -> str:
    """The first three processes, each with its first open file."""
    parts = [
        "{0} (pid {1}) holds {2}".format(
            process.argv0.rpartition("/")[2] or "a process", process.pid, process.paths[0]
        )
        for process in processes[:3]
    ]
    if len(processes) > 3:
        parts.append(f"and {len(processes) - 3} more")
    return ", ".join(parts)
