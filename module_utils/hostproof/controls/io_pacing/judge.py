# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge facts with a policy: every check, in the order of the report. Pure."""

from typing import Callable, Dict, List, Optional, Tuple

from ...answer import known
from ...errors import HostError, HostproofError, Unanswered
from ...finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, found
from ...probes import powerha as powerha_probe
from . import checks
from .facts import (
    DEVICE,
    FILESYSTEMS,
    IOO,
    LPARSTAT,
    MOUNT,
    NAMES,
    Aix,
    Facts,
    Mounts,
    Override,
    odm_pair,
)
from .judge_linux import judge_linux
from .policy import Pair, Policy, Version, order_problem, step_problem

LSATTR_KEY = "command:lsattr -E -l {0} -a {1} -a {2}".format(DEVICE, *NAMES)
RUNNING_KEY = "command:sys_parm: {0} {1}".format(*NAMES)

#: The marks of HACMP; "33/24 or 33/20", and what is tighter still.
LEGACY = 33
#: Per cent. Wartak: a system should not use more than 80 % of its CPUs.
HEADROOM = 20.0


def judge(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """The checks of the host's system; those of the other system do not apply."""
    if isinstance(facts.system, HostproofError):
        why = "Could not be determined: {0}.".format(facts.system)
        return [
            found(check, ERROR, why=why, evidence=_keys(facts.system)) for check in checks.CHECKS
        ]
    findings = []  # type: List[Finding]
    for check in checks.AIX_CHECKS:
        if facts.aix is None:
            why = "Not an AIX host ({0}).".format(facts.system)
            findings.append(found(check, SKIP, why=why))
        else:
            findings.append(_attempted(check, facts.aix, policy))
    if facts.linux is None:
        why = "Not a Linux host ({0}).".format(facts.system)
        return findings + [found(checks.BUFFERED_WRITERS, SKIP, why=why)]
    return findings + [judge_linux(facts.linux, policy)]


def _attempted(check, aix, policy):
    # type: (Check, Aix, Policy) -> Finding
    try:
        return _JUDGES[check](aix, policy)
    except HostproofError as problem:
        return found(
            check,
            ERROR,
            why="Could not be determined: {0}.".format(problem),
            evidence=_keys(problem),
        )


def _keys(problem):
    # type: (HostproofError) -> Tuple[str, ...]
    return (problem.key,) if isinstance(problem, HostError) else ()


# -- the marks ------------------------------------------------------------------------------------


def _persisted(aix, policy):
    # type: (Aix, Policy) -> Finding
    pair = odm_pair(known(aix.odm))
    return found(
        checks.PERSISTED,
        PASS if pair == policy.wanted else FAIL,
        why="The ODM holds {0}; wanted is {1} ({2}). {3}".format(
            pair, policy.wanted, policy.profile, policy.trade
        ).strip(),
        fix="./hostproof apply --tags io_pacing, or: " + _chdev(policy.wanted),
        desired=str(policy.wanted),
        persisted=str(pair),
        evidence=[LSATTR_KEY],
    )


def _running(aix, policy):
    # type: (Aix, Policy) -> Finding
    if isinstance(aix.running, HostproofError):
        # "Pass" from lsattr would be a guess: it shows the database alone.
        raise Unanswered(
            RUNNING_KEY,
            "lsattr shows the ODM only, and the kernel did not tell its marks through sys_parm "
            "({0}); run it as root, with a Python that has ctypes".format(aix.running),
        )
    pair = known(aix.running)
    why = "The kernel goes by {0}; wanted is {1}.".format(pair, policy.wanted)
    shown = None
    if not isinstance(aix.odm, HostproofError):
        shown = str(odm_pair(aix.odm))
        if odm_pair(aix.odm) != pair:
            why += " The ODM holds {0}: somebody used chdev -P or chdev -T.".format(shown)
    return found(
        checks.RUNNING,
        PASS if pair == policy.wanted else FAIL,
        why=why,
        fix="./hostproof apply --tags io_pacing, or: " + _chdev(policy.wanted) + " -T",
        desired=str(policy.wanted),
        persisted=shown,
        running=str(pair),
        evidence=[LSATTR_KEY, RUNNING_KEY],
    )


def _chdev(pair):
    # type: (Pair) -> str
    return "chdev -l {0} -a maxpout={1} -a minpout={2}".format(DEVICE, *pair)


def _legal(aix, _policy):
    # type: (Aix, Policy) -> Finding
    odm = known(aix.odm)
    layers = [("the ODM", odm_pair(odm))]
    if not isinstance(aix.running, HostproofError):
        layers.append(("the kernel", known(aix.running)))
    broken = [(name, order_problem(pair)) for name, pair in layers]
    odd = [(name, step_problem(pair)) for name, pair in layers]
    for name in NAMES:
        legal = odm.legal[name]
        if not isinstance(legal, HostproofError) and not legal.allows(odm.values[name]):
            broken.append(("the ODM", "{0} must be {1}".format(name, legal)))
    said = _distinct(broken) or _distinct(odd)
    if not said:
        _need_all(aix)
    return found(
        checks.LEGAL,
        FAIL if _distinct(broken) else WARN if said else PASS,
        why="{0}.".format("; ".join(said)),
        fix="Choose a profile, or a pair by the rule (io_pacing_maxpout, io_pacing_minpout), and "
        "apply it.",
        desired="maxpout a multiple of 4 plus 1, minpout below it",
        persisted=str(layers[0][1]),
        running=str(layers[1][1]) if len(layers) > 1 else None,
        evidence=[LSATTR_KEY, RUNNING_KEY][: len(layers)],
    )


def _distinct(problems):
    # type: (List[Tuple[str, Optional[str]]]) -> List[str]
    """Each problem once, with the layers that have it."""
    texts = []  # type: List[str]
    for text in [text for _name, text in problems if text is not None]:
        layers = [name for name, other in problems if other == text]
        one = "In {0}: {1}".format(" and ".join(layers), text)
        if one not in texts:
            texts.append(one)
    return texts


# -- PowerHA --------------------------------------------------------------------------------------


def powerha_version(aix, policy):
    # type: (Aix, Policy) -> Version
    """What the policy says, else what is installed; () for none. Raises what is unknown."""
    if policy.powerha_version is not None:
        return policy.powerha_version
    there = known(aix.powerha)  # type: powerha_probe.PowerHa
    return there.version


def is_old(version):
    # type: (Version) -> bool
    """Whether the heartbeat is a process like any other."""
    return bool(version) and version < powerha_probe.KERNEL_HEARTBEAT


def powerha_text(aix, policy):
    # type: (Aix, Policy) -> str
    if policy.powerha_version is not None:
        if not policy.powerha_version:
            return "no PowerHA (io_pacing_powerha_version)"
        return "PowerHA {0} (io_pacing_powerha_version)".format(_dotted(policy.powerha_version))
    there = known(aix.powerha)
    if not there.version:
        return "no PowerHA"
    active = {True: "active", False: "not active", None: "state not known"}[there.active]
    return "PowerHA {0} ({1})".format(there.level, active)


def _dotted(version):
    # type: (Version) -> str
    return ".".join(str(number) for number in version)


def _powerha_keys(aix, policy):
    # type: (Aix, Policy) -> List[str]
    if policy.powerha_version is not None or isinstance(aix.powerha, HostproofError):
        return []
    return list(known(aix.powerha).evidence)


def is_tight(pair):
    # type: (Pair) -> bool
    """Whether the marks are those of an old HACMP, or tighter."""
    return 0 < pair.maxpout <= LEGACY


def _known_layers(aix):
    # type: (Aix) -> List[Pair]
    """The marks of each layer that is known: enough to fail by, not to pass."""
    pairs = []
    if not isinstance(aix.odm, HostproofError):
        pairs.append(odm_pair(aix.odm))
    if not isinstance(aix.running, HostproofError):
        pairs.append(aix.running)
    return pairs


def _need_all(aix):
    # type: (Aix) -> None
    """Raise the error of a layer that is not known, before a pass."""
    known(aix.odm)
    known(aix.running)


def _legacy_values(aix, policy):
    # type: (Aix, Policy) -> Finding
    tight = [pair for pair in _known_layers(aix) if is_tight(pair)]
    layers = _layers(aix)
    evidence = [LSATTR_KEY, RUNNING_KEY]
    if not tight:
        _need_all(aix)
        return found(checks.LEGACY_VALUES, PASS, evidence=evidence, **layers)
    version = powerha_version(aix, policy)
    there = powerha_text(aix, policy)
    evidence += _powerha_keys(aix, policy)
    if is_old(version):
        return found(checks.LEGACY_VALUES, PASS, evidence=evidence, **layers)
    wanted = is_tight(policy.wanted)
    return found(
        checks.LEGACY_VALUES,
        WARN if wanted else FAIL,
        why="{0} is a value of HACMP up to 5.4, and this host has {1}, which does not need it: "
        "{2} (49 % less).".format(tight[0], there, checks.COST),
        fix="io_pacing_profile: default, then ./hostproof apply --tags io_pacing"
        if wanted
        else "./hostproof apply --tags io_pacing, or: " + _chdev(policy.wanted),
        desired=str(policy.wanted),
        evidence=evidence,
        **layers,
    )


def _layers(aix):
    # type: (Aix) -> Dict[str, Optional[str]]
    """The marks of the ODM and of the kernel, for people; None where one is not known."""
    persisted = running = None
    if not isinstance(aix.odm, HostproofError):
        persisted = str(odm_pair(aix.odm))
    if not isinstance(aix.running, HostproofError):
        running = str(known(aix.running))
    return {"persisted": persisted, "running": running}


def headroom_text(aix, policy):
    # type: (Aix, Policy) -> str
    """How much of the CPU is free, and whether that is enough for a heartbeat."""
    if policy.cpu_headroom is not None:
        free, source = float(policy.cpu_headroom), "io_pacing_cpu_headroom"
    elif isinstance(aix.cpu, HostproofError):
        return "CPU headroom not known; give io_pacing_cpu_headroom for the busiest hour"
    else:
        cpu = known(aix.cpu)
        free, source = cpu.idle + cpu.wait, "average since the start; the busiest hour has less"
    return "CPU headroom {0:.0f} % ({1}){2}".format(
        free, source, "" if free >= HEADROOM else ", below the {0:.0f} % to keep".format(HEADROOM)
    )


def _deadman_risk(aix, policy):
    # type: (Aix, Policy) -> Finding
    version = powerha_version(aix, policy)
    there = powerha_text(aix, policy)
    evidence = _powerha_keys(aix, policy)
    if not version:
        return found(
            checks.DEADMAN_RISK,
            SKIP,
            why="This host has {0}: no heartbeat can come late.".format(there),
            evidence=evidence,
        )
    raised = [pair for pair in _known_layers(aix) if not is_tight(pair)]
    evidence += [LSATTR_KEY, RUNNING_KEY, "command:" + " ".join(LPARSTAT)]
    layers = _layers(aix)
    if not is_old(version):
        return found(checks.DEADMAN_RISK, PASS, in_use=there, evidence=evidence[:-1], **layers)
    free = headroom_text(aix, policy)
    if not raised and is_tight(policy.wanted):
        _need_all(aix)
        return found(
            checks.DEADMAN_RISK,
            PASS,
            desired=str(policy.wanted),
            in_use="{0}; {1}".format(there, free),
            evidence=evidence,
            **layers,
        )
    if raised:
        why = "{0} with {1}: one writer can delay the heartbeat until the deadman switch halts "
        why = (why + "the node; {2}.").format(raised[0], there, free)
    else:
        why = "The policy wants {0}, which would let one writer delay the heartbeat of {1}; {2}."
        why = why.format(policy.wanted, there, free)
    if policy.deadman_risk_ok:
        why += " The risk is taken: io_pacing_deadman_risk_ok."
    return found(
        checks.DEADMAN_RISK,
        FAIL if raised and not policy.deadman_risk_ok else WARN,
        why=why,
        fix="io_pacing_profile: legacy_hacmp, and apply it; better, PowerHA 7.1 or newer, whose "
        "heartbeat is the kernel's",
        desired=str(policy.wanted),
        in_use="{0}; {1}".format(there, free),
        evidence=evidence,
        **layers,
    )


# -- file systems ---------------------------------------------------------------------------------


def _filesystems(aix, policy):
    # type: (Aix, Policy) -> Finding
    persisted, live = known(aix.persisted_mounts), known(aix.live_mounts)
    problems = []  # type: List[str]
    fixes = []  # type: List[str]
    for path in sorted(set(persisted.overrides) | set(live.overrides)):
        for mounts, where in ((persisted, "in " + FILESYSTEMS), (live, "as mounted")):
            one = mounts.overrides.get(path)
            if one is not None and not _is_allowed(one, policy):
                problems.append("{0} {1}".format(one, where))
                fixes.append(_without_override(path, mounts, mounts is persisted))
    differing = _differing(persisted, live)
    status = FAIL if problems else WARN if differing else PASS
    why = "They win over the host's marks, and no policy asked for them: {0}.".format(
        "; ".join(problems)
    )
    if not problems:
        why = "Mounted otherwise than the next mount will be: {0}.".format("; ".join(differing))
        fixes = ["umount and mount it when nothing uses it"]
    return found(
        checks.FILESYSTEMS,
        status,
        why=why,
        fix="; ".join(sorted(set(fixes), key=fixes.index))
        + ("; or allow it in io_pacing_filesystems" if problems else ""),
        desired=_desired_overrides(policy),
        persisted=_shown(persisted),
        running=_shown(live),
        evidence=["file:" + FILESYSTEMS, "command:" + " ".join(MOUNT)],
    )


def _is_allowed(override, policy):
    # type: (Override, Policy) -> bool
    """Whether the policy asks for these marks on this file system, or for the same everywhere."""
    pair = override.pair()
    return pair is not None and pair == policy.filesystems.get(override.path, policy.wanted)


def _without_override(path, mounts, persisted):
    # type: (str, Mounts, bool) -> str
    rest = mounts.options[path] or "rw"
    if persisted:
        return "chfs -a options={0} {1}".format(rest, path)
    return "umount {0} and mount {0} when nothing uses it".format(path)


def _differing(persisted, live):
    # type: (Mounts, Mounts) -> List[str]
    paths = sorted(set(persisted.overrides) | set(live.overrides))
    return [path for path in paths if persisted.overrides.get(path) != live.overrides.get(path)]


def _desired_overrides(policy):
    # type: (Policy) -> str
    if not policy.filesystems:
        return "none"
    return "; ".join(
        "{0}: {1}".format(path, policy.filesystems[path]) for path in sorted(policy.filesystems)
    )


def _shown(mounts):
    # type: (Mounts) -> str
    return "; ".join(str(mounts.overrides[path]) for path in sorted(mounts.overrides)) or "none"


# -- for information ------------------------------------------------------------------------------


def _not_governed(aix, _policy):
    # type: (Aix, Policy) -> Finding
    mounts = known(aix.live_mounts)
    shown = "; ".join("{0} ({1})".format(path, how) for path, how in mounts.unpaced)
    return found(
        checks.NOT_GOVERNED,
        PASS,
        title="Not governed by I/O pacing: {0}".format(
            shown or "no mount by its options; files that a database opens with cio or dio"
        ),
        in_use=(shown or "no mount with cio or dio")
        + "; and files that a database opens so itself (filesystemio_options)",
        evidence=["command:" + " ".join(MOUNT)],
    )


#: Of the many those that decide when pages are written, and how many are read at once.
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


def _neighbours(aix, _policy):
    # type: (Aix, Policy) -> Finding
    tunables = known(aix.tunables)
    shown = ["{0}={1}".format(name, tunables[name]) for name in SHOWN if name in tunables]
    if not shown:
        raise Unanswered("command:" + " ".join(IOO), "ioo tells no j2_ tunable")
    return found(
        checks.NEIGHBOURS,
        PASS,
        running=", ".join(shown),
        evidence=["command:" + " ".join(IOO)],
    )


_JUDGES = {
    checks.PERSISTED: _persisted,
    checks.RUNNING: _running,
    checks.LEGAL: _legal,
    checks.LEGACY_VALUES: _legacy_values,
    checks.DEADMAN_RISK: _deadman_risk,
    checks.FILESYSTEMS: _filesystems,
    checks.NOT_GOVERNED: _not_governed,
    checks.NEIGHBOURS: _neighbours,
}  # type: Dict[Check, Callable[[Aix, Policy], Finding]]
