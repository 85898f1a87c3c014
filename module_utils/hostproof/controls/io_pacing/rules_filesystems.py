# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks of single file systems, and what pacing does not govern."""

from typing import List

from ...collect import shell
from ...collect.answer import known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Run, Step
from ...evaluate.checking import Rules, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.unix import aix_said
from .facts import FILESYSTEMS, MOUNT, Aix, Facts, Mounts, Override
from .heartbeat import require_certain
from .pacing_fixes import MOUNTS_KEYS
from .policy import NAME, Policy
from .subjects import AIX, PACING

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "io_pacing.filesystems",
    "File systems have only pacing values from the policy",
    "A file system has pacing values that are not in the policy",
    severity="medium",
    takes_effect="remount",
    why="The mount options maxpout and minpout override the values of the host.",
    reference=PACING + "; AIX Commands Reference, mount",
    each=AIX,
)
def filesystems(aix: Aix, _facts: Facts, policy: Policy) -> Verdict:
    persisted, live = known(aix.persisted_mounts), known(aix.live_mounts)
    problems: List[str] = []
    steps: List[Step] = []
    for path in sorted(set(persisted.overrides) | set(live.overrides)):
        for mounts, where in ((persisted, "in " + FILESYSTEMS), (live, "as mounted")):
            override = mounts.overrides.get(path)
            if override is not None and not _is_allowed(override, aix, policy):
                problems.append(f"{override} {where}")
                steps.append(_without_override(path, mounts, mounts is persisted))
    differing = _differing(persisted, live)
    status = FAIL if problems else WARN if differing else PASS
    why = "They win over the host's marks, and no policy requested them: {0}.".format(
        "; ".join(problems)
    )
    if not problems:
        why = "Mounted otherwise than the next mount will be: {0}.".format("; ".join(differing))
        steps = [_again(path) for path in differing]
    return Verdict(
        status,
        why=why,
        advice=Advice(steps),
        desired=_desired_overrides(policy),
        persisted=_shown(persisted),
        running=_shown(live),
        evidence=MOUNTS_KEYS,
    )


def _is_allowed(override: Override, aix: Aix, policy: Policy) -> bool:
    """Whether the policy requires these marks on this file system, or for the same everywhere."""
    pair = override.pair()
    if pair is None:
        return False
    allowed = policy.overrides.get(override.path)
    return bool(pair == (require_certain(aix, policy).wanted if allowed is None else allowed))


def _without_override(path: str, mounts: Mounts, persisted: bool) -> Step:
    if not persisted:
        return _again(path)
    text = f"take the marks out of the options of {path}, or allow them in io_pacing_filesystems"
    return Run("chfs", "-a", "options=" + (mounts.options[path] or "rw"), path, text=text)


def _again(path: str) -> Step:
    text = f"unmount {path} and mount it again when nothing uses it"
    return Step(text, [shell.line(verb, path) for verb in ("umount", "mount")])


def _differing(persisted: Mounts, live: Mounts) -> List[str]:
    paths = sorted(set(persisted.overrides) | set(live.overrides))
    return [path for path in paths if persisted.overrides.get(path) != live.overrides.get(path)]


def _desired_overrides(policy: Policy) -> str:
    if not policy.overrides:
        return "none"
    return "allowed: " + "; ".join(
        f"{path}: {policy.overrides[path]}" for path in sorted(policy.overrides)
    )


def _shown(mounts: Mounts) -> str:
    return "; ".join(str(mounts.overrides[path]) for path in sorted(mounts.overrides)) or "none"


# -- for information ------------------------------------------------------------------------------


@rules.check(
    "io_pacing.unpaced_mounts",
    "Mounts without I/O pacing are listed",
    "Some mounts are not subject to I/O pacing",
    severity="low",
    takes_effect="now",
    why="Pacing never applies to concurrent I/O, direct I/O (cio, dio, filesystemio_options) "
    "or raw devices.",
    reference=PACING + "; AIX Performance Management, Direct I/O",
    each=AIX,
)
def unpaced_mounts(aix: Aix, _facts: Facts, _policy: Policy) -> Verdict:
    mounts = known(aix.live_mounts)
    shown = "; ".join(f"{path} ({how})" for path, how in mounts.unpaced)
    return Verdict(
        PASS,
        title="Not governed by I/O pacing: {0}".format(
            shown or "no mount by its options; files that a database opens with cio or dio"
        ),
        in_use=(shown or "no mount with cio or dio")
        + "; and files that a database opens so itself (filesystemio_options)",
        evidence=["command:" + " ".join(MOUNT)],
    )


#: The tunables that control when pages are written, and the number of pages that are read ahead.
SHOWN = (
    "j2_nPagesPerWriteBehindCluster",
    "j2_maxRandomWrite",
    "j2_nRandomCluster",
    "j2_minPageReadAhead",
    "j2_maxPageReadAhead",
    "j2_dynamicBufferPreallocation",
    "j2_syncPageCount",
    "j2_syncPageLimit",
)


@rules.check(
    "io_pacing.related_tunables",
    "Related I/O tunables are listed",
    "Related I/O tunables could not be read",
    severity="low",
    takes_effect="now",
    why="JFS2 write-behind and read-ahead also determine the number of pages that wait "
    "for the disks.",
    reference="AIX Commands Reference, ioo",
    each=AIX,
)
def related_tunables(aix: Aix, _facts: Facts, _policy: Policy) -> Verdict:
    tunables = known(aix.tunables)
    shown = [f"{name}={tunables[name]}" for name in SHOWN if name in tunables]
    if not shown:
        raise Unanswered("command:" + " ".join(aix_said.IOO), "ioo tells no j2_ tunable")
    return Verdict(
        PASS,
        running=", ".join(shown),
        evidence=["command:" + " ".join(aix_said.IOO)],
    )
