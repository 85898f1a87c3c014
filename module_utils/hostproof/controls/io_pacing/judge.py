# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge facts with a policy: every check, in the order of the report. Pure."""

from collections import OrderedDict
from typing import Callable, Dict, Iterable, List, Optional, Tuple

from ...answer import if_known, known
from ...errors import HostError, HostproofError, Unanswered
from ...finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, found
from . import checks
from .facts import (
    DEVICE,
    FILESYSTEMS,
    IOO,
    MOUNT,
    NAMES,
    OSLEVEL,
    Aix,
    Facts,
    Mounts,
    Override,
    odm_pair,
)
from .heartbeat import (
    HEADROOM,
    LPARSTAT_KEY,
    headroom,
    headroom_text,
    is_old,
    is_tight,
    known_layers,
    loose_mounts,
    need_all,
    powerha_keys,
    powerha_text,
    powerha_version,
    why_not_raise,
)
from .judge_linux import judge_linux
from .policy import PROFILES, Policy, order_problem, step_problem

LSATTR_KEY = "command:lsattr -E -l {0} -a {1} -a {2}".format(DEVICE, *NAMES)
RANGE_KEYS = ["command:lsattr -R -l {0} -a {1}".format(DEVICE, name) for name in NAMES]
OSLEVEL_KEY = "command:" + " ".join(OSLEVEL)
RUNNING_KEY = "command:sys_parm: {0} {1}".format(*NAMES)
#: The release that came with 8193/4096 first; before, it came with no pacing.
OLDEST = (6, 1)

#: The marks of an old HACMP whose cost was measured.
MEASURED = PROFILES["legacy_hacmp"].pair

MOUNTS_KEYS = ["file:" + FILESYSTEMS, "command:" + " ".join(MOUNT)]


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
        fix=_fix(aix, policy),
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
        fix=_fix(aix, policy, " -T"),
        desired=str(policy.wanted),
        persisted=shown,
        running=str(pair),
        evidence=[LSATTR_KEY, RUNNING_KEY],
    )


def _fix(aix, policy, flag=""):
    # type: (Aix, Policy, str) -> str
    """The command only where apply would run it, too: who pastes it gets round every guard."""
    risk = why_not_raise(aix, policy)
    if risk is not None:
        return (
            "io_pacing_profile: legacy_hacmp, or take the risk with io_pacing_deadman_risk_ok: "
            "{0}".format(risk)
        )
    return "./hostproof apply --tags io_pacing, or: chdev -l {0} -a {1} -a {2}{3}".format(
        DEVICE, *(str(policy.wanted).split() + [flag])
    )


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
    fix = "Upgrade AIX, or judge this host by the manual of its release."
    if said:
        fix = "Choose a profile, or a pair by the rule (io_pacing_maxpout, io_pacing_minpout), and "
        fix += "apply it."
    level = if_known(aix.level, None)
    if level is not None and level.version < OLDEST:
        said.append(
            "{0} is older than AIX 6.1, of which this control knows the rule and the marks that "
            "it comes with".format(level)
        )
    if not said:
        need_all(aix)
        known(aix.level)
        for name in NAMES:
            known(odm.legal[name])
    return found(
        checks.LEGAL,
        FAIL if _distinct(broken) else WARN if said else PASS,
        why="{0}.".format("; ".join(said)),
        fix=fix,
        desired="maxpout a multiple of 4 plus 1, minpout below it",
        persisted=str(layers[0][1]),
        running=str(layers[1][1]) if len(layers) > 1 else None,
        in_use=None if level is None else str(level),
        evidence=[LSATTR_KEY, RUNNING_KEY][: len(layers)] + RANGE_KEYS + [OSLEVEL_KEY],
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


def _legacy_values(aix, policy):
    # type: (Aix, Policy) -> Finding
    tight = [pair for pair in known_layers(aix) if is_tight(pair)]
    layers = _layers(aix)
    evidence = [LSATTR_KEY, RUNNING_KEY]
    if not tight:
        need_all(aix)
        return found(checks.LEGACY_VALUES, PASS, evidence=evidence, **layers)
    version = powerha_version(aix, policy)
    there = powerha_text(aix, policy)
    evidence += powerha_keys(aix)
    if is_old(version):
        return found(checks.LEGACY_VALUES, PASS, evidence=evidence, **layers)
    wanted = is_tight(policy.wanted)
    return found(
        checks.LEGACY_VALUES,
        WARN if wanted else FAIL,
        why="{0} {1}, and this host has {2}, which does not need it: {3}{4}.".format(
            tight[0],
            "is what HACMP up to 5.4 asked for"
            if tight[0] == MEASURED
            else "is as tight as the 33/24 of HACMP up to 5.4, or tighter",
            there,
            checks.COST,
            " (49 % less)" if tight[0] == MEASURED else "; other marks were not measured",
        ),
        fix="io_pacing_profile: default, then ./hostproof apply --tags io_pacing"
        if wanted
        else _fix(aix, policy),
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


def _deadman_risk(aix, policy):
    # type: (Aix, Policy) -> Finding
    version = powerha_version(aix, policy)
    there = powerha_text(aix, policy)
    evidence = powerha_keys(aix)
    if not version:
        return found(
            checks.DEADMAN_RISK,
            SKIP,
            why="This host has {0}: no PowerHA heartbeat can come late.".format(there),
            evidence=evidence,
        )
    evidence += [LSATTR_KEY, RUNNING_KEY]
    layers = _layers(aix)
    if not is_old(version):
        return found(checks.DEADMAN_RISK, PASS, in_use=there, evidence=evidence, **layers)
    evidence += [LPARSTAT_KEY] + MOUNTS_KEYS
    free = headroom_text(aix, policy)
    raised = _distinct_texts(str(pair) for pair in known_layers(aix) if not is_tight(pair))
    raised += ["{0} {1}".format(one, where) for one, where in _loose_overrides(aix)]
    if not raised:
        # What is not known may be raised as well.
        need_all(aix)
        known(aix.persisted_mounts)
        known(aix.live_mounts)
    if raised:
        why = "{0} with {1}: one writer can delay the heartbeat until the deadman switch halts "
        why = (why + "the node; {2}.").format("; ".join(raised), there, free)
        status = WARN if policy.deadman_risk_ok else FAIL
    else:
        why = "The policy wants {0}, which would let one writer delay the heartbeat of {1}; {2}."
        why = why.format(policy.wanted, there, free)
        status = PASS if is_tight(policy.wanted) else WARN
    if policy.deadman_risk_ok:
        why += " The risk is taken: io_pacing_deadman_risk_ok."
    return found(
        checks.DEADMAN_RISK,
        status,
        why=why,
        fix="io_pacing_profile: legacy_hacmp, and apply it{0}; better, PowerHA 7.1 or newer, whose "
        "heartbeat is the kernel's".format(_tighten_mounts(aix)),
        desired=str(policy.wanted),
        in_use="{0}; {1}".format(there, free),
        evidence=evidence,
        **layers,
    )


def _loose_overrides(aix):
    # type: (Aix) -> List[Tuple[Override, str]]
    """Marks of single file systems that do not protect a heartbeat, and where they stand."""
    sides = ((aix.persisted_mounts, "in " + FILESYSTEMS), (aix.live_mounts, "as mounted"))
    return [
        (one, where)
        for mounts, where in sides
        if not isinstance(mounts, HostproofError)
        for one in loose_mounts(mounts)
    ]


def _tighten_mounts(aix):
    # type: (Aix) -> str
    paths = _distinct_texts(one.path for one, _where in _loose_overrides(aix))
    if not paths:
        return ""
    return "; take maxpout and minpout out of the options of {0}, and mount it anew".format(
        ", ".join(paths)
    )


def _distinct_texts(texts):
    # type: (Iterable[str]) -> List[str]
    return list(OrderedDict.fromkeys(texts))


def _cpu_headroom(aix, policy):
    # type: (Aix, Policy) -> Finding
    version = powerha_version(aix, policy)
    there = powerha_text(aix, policy)
    evidence = powerha_keys(aix) + [LPARSTAT_KEY]
    text = headroom_text(aix, policy)
    in_use = "{0}; {1}".format(there, text)
    if not version:
        why = "This host has {0}: no PowerHA heartbeat needs the CPU. {1}.".format(there, text)
        return found(checks.CPU_HEADROOM, SKIP, why=why, in_use=in_use, evidence=evidence)
    free, _source = headroom(aix, policy)
    loose = [pair for pair in known_layers(aix) + [policy.wanted] if not is_tight(pair)]
    if not loose:
        need_all(aix)
    return found(
        checks.CPU_HEADROOM,
        WARN if loose and free < HEADROOM else PASS,
        why="{0}, and this host has {1}: with {2} writers take the rest of the CPU as well.".format(
            text, there, loose[0] if loose else policy.wanted
        ),
        fix="Give the partition more CPU or less to do before the marks go above 33, or keep "
        "io_pacing_profile: legacy_hacmp",
        desired="at least {0:.0f} % free".format(HEADROOM),
        in_use=in_use,
        evidence=evidence + [LSATTR_KEY, RUNNING_KEY],
        **_layers(aix),
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
        evidence=MOUNTS_KEYS,
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
    return "allowed: " + "; ".join(
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
    checks.CPU_HEADROOM: _cpu_headroom,
    checks.FILESYSTEMS: _filesystems,
    checks.NOT_GOVERNED: _not_governed,
    checks.NEIGHBOURS: _neighbours,
}  # type: Dict[Check, Callable[[Aix, Policy], Finding]]
