# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the marks mean for the heartbeat of PowerHA."""

from collections import OrderedDict
from typing import Dict, Iterable, List, Tuple, Union

from ...collect.answer import known
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Step
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import CPU_SAMPLE, FILESYSTEMS, Aix, Facts, Linux, Override
from .heartbeat import (
    HEADROOM,
    LPARSTAT_KEY,
    headroom,
    headroom_text,
    is_middling,
    is_middling_mount,
    is_old,
    is_tight,
    known_layers,
    loose_mounts,
    need_all,
    powerha_keys,
    powerha_text,
    powerha_version,
    require_certain,
)
from .pacing_fixes import (
    APPLY,
    COST,
    LSATTR_KEY,
    MOUNTS_KEYS,
    PRICE,
    RUNNING_KEY,
    layers_of,
    steps_of,
)
from .policy import NAME, PROFILES, Policy
from .subjects import AIX, ARTICLE, HOSTS, PACING

rules: Rules[Facts, Policy] = Rules(NAME)

#: The marks of an old HACMP whose cost was measured.
MEASURED = PROFILES["legacy_hacmp"].pair


@rules.check(
    "io_pacing.legacy_values",
    "No pacing values of an old HACMP remain",
    "Pacing values of an old HACMP are still in use",
    severity="high",
    takes_effect="now",
    why="Large writes run at about half speed: 109.64 MB/s with 33/24, 213.55 MB/s with "
    "8193/4096 (Orion, 100% large writes).",
    reference=ARTICLE + "; " + PACING,
    each=AIX,
    because_of=("io_pacing.persisted", "io_pacing.running"),
)
def legacy_values(aix: Aix, _facts: Facts, policy: Policy) -> Verdict:
    tight = [pair for pair in known_layers(aix) if is_tight(pair)]
    layers = layers_of(aix)
    evidence = [LSATTR_KEY, RUNNING_KEY]
    if not tight:
        need_all(aix)
        return Verdict(PASS, evidence=evidence, **layers)
    version = powerha_version(aix, policy)
    policy = require_certain(aix, policy)
    there = powerha_text(aix, policy)
    evidence += powerha_keys(aix)
    if is_old(version):
        return Verdict(PASS, evidence=evidence, **layers)
    required = is_tight(policy.wanted)
    return Verdict(
        WARN if required else FAIL,
        why="{0} {1}, and this host has {2}, which does not need it: {3}{4}.".format(
            tight[0],
            "is what HACMP up to 5.4 requested"
            if tight[0] == MEASURED
            else "is as tight as the 33/24 of HACMP up to 5.4, or tighter",
            there,
            COST,
            " (49% less)" if tight[0] == MEASURED else "; other marks were not measured",
        ),
        advice=Advice(
            [Ask("set io_pacing_profile: default"), Ask("apply io_pacing")]
            if required
            else steps_of(aix, policy)
        ),
        desired=str(policy.wanted),
        evidence=evidence,
        **layers,
    )


@rules.check(
    "io_pacing.deadman_risk",
    "Pacing values protect the heartbeat of PowerHA before 7.1",
    "Pacing values do not protect the heartbeat of this PowerHA",
    severity="critical",
    takes_effect="now",
    why="One busy writer can delay the heartbeat, and the deadman switch halts the node. "
    "Before 7.1 the heartbeat is an ordinary process.",
    reference="HACMP Troubleshooting Guide, I/O pacing; " + ARTICLE,
    each=AIX,
    because_of=("io_pacing.running",),
)
def deadman_risk(aix: Aix, _facts: Facts, policy: Policy) -> Verdict:
    version = powerha_version(aix, policy)
    there = powerha_text(aix, policy)
    policy = require_certain(aix, policy)
    evidence = powerha_keys(aix)
    if not version:
        raise Skip(f"This host has {there}: no PowerHA heartbeat can come late.", evidence)
    evidence += [LSATTR_KEY, RUNNING_KEY]
    layers = layers_of(aix)
    if not is_old(version):
        return Verdict(PASS, in_use=there, evidence=evidence, **layers)
    evidence += [LPARSTAT_KEY] + MOUNTS_KEYS
    free = headroom_text(aix, policy)
    raised = _distinct_texts(str(pair) for pair in known_layers(aix) if not is_tight(pair))
    raised += [f"{override} {where}" for override, where in _loose_overrides(aix)]
    middling = bool(raised) and not _beyond_middle(aix)
    if not raised or middling:
        # Unknown values may be raised too, or even more.
        need_all(aix)
        known(aix.persisted_mounts)
        known(aix.live_mounts)
    status, why = _risk(raised, middling, there, free, policy)
    if policy.allow_deadman_risk:
        why += " The risk is taken: io_pacing_allow_deadman_risk."
    return Verdict(
        status,
        why=why,
        advice=Advice(
            [
                _until_the_upgrade(middling, bool(raised) and is_tight(policy.wanted)),
                *_tighten_mounts(aix),
                Ask("upgrade to PowerHA 7.1 or newer, whose heartbeat is the kernel's"),
            ]
        ),
        desired=str(policy.wanted),
        in_use=f"{there}; {free}",
        evidence=evidence,
        **layers,
    )


def _risk(
    raised: List[str], middling: bool, there: str, free: str, policy: Policy
) -> Tuple[str, str]:
    """The status and the reason of values that are raised, or that the policy raises."""
    if middling:
        why = "{0} with {1}: a writer is suspended, but later than this release requires (33/24), "
        why = why + "so under load the heartbeat may be late; {2}. The cost of 33/24: {3}."
        return WARN, why.format("; ".join(raised), there, free, COST)
    if raised:
        why = "{0} with {1}: one writer can delay the heartbeat until the deadman switch halts "
        why = (why + "the node; {2}.").format("; ".join(raised), there, free)
        return WARN if policy.allow_deadman_risk else FAIL, why
    why = "The policy requires {0}, with which one writer can delay the heartbeat of {1}; {2}."
    why = why.format(policy.wanted, there, free)
    return PASS if is_tight(policy.wanted) else WARN, why


def _beyond_middle(aix: Aix) -> bool:
    """Whether anything lets more be pending than IBM's middle: also what is no number."""
    pairs = [pair for pair in known_layers(aix) if not is_tight(pair)]
    mounts = [override for override, _where in _loose_overrides(aix)]
    return not (all(map(is_middling, pairs)) and all(map(is_middling_mount, mounts)))


def _loose_overrides(aix: Aix) -> List[Tuple[Override, str]]:
    """Marks of single file systems that do not protect a heartbeat, and where they stand."""
    sides = ((aix.persisted_mounts, "in " + FILESYSTEMS), (aix.live_mounts, "as mounted"))
    return [
        (override, where)
        for mounts, where in sides
        if not isinstance(mounts, HostproofError)
        for override in loose_mounts(mounts)
    ]


def _until_the_upgrade(middling: bool, is_applied: bool) -> Step:
    """The profile that protects the heartbeat now; apply sets it where the policy has it."""
    middle = (
        ""
        if middling
        else ("intermediate (513/256), whose cost was not measured and which leaves a warning, or ")
    )
    return Step(
        f"measure the batch window and the backups, and apply io_pacing with the profile {middle}"
        f"legacy_hacmp (33/24), which {PRICE}",
        [APPLY] if is_applied else [],
    )


def _tighten_mounts(aix: Aix) -> List[Step]:
    paths = _distinct_texts(override.path for override, _where in _loose_overrides(aix))
    return [
        Ask(f"take maxpout and minpout out of the options of {path}, and mount it again")
        for path in paths
    ]


def _distinct_texts(texts: Iterable[str]) -> List[str]:
    return list(OrderedDict.fromkeys(texts))


@rules.check(
    "io_pacing.cpu_headroom",
    "At least 20% of the CPU is free",
    "Less than 20% of the CPU is free",
    severity="medium",
    takes_effect="now",
    why="LGWR, listeners and cluster processes wait for a CPU once the host uses more than 80% of "
    "its CPUs.",
    reference=ARTICLE,
    each=HOSTS,
)
def cpu_headroom(system: Union[Aix, Linux], _facts: Facts, policy: Policy) -> Verdict:
    return _of_linux(system, policy) if isinstance(system, Linux) else _of_aix(system, policy)


def _of_linux(linux: Linux, policy: Policy) -> Verdict:
    if policy.cpu_headroom is None:
        free = known_or_skip(linux.free_cpu)
        source = f"in {policy.window_seconds:g} s"
    else:
        free, source = float(policy.cpu_headroom), "io_pacing_cpu_headroom"
    text = f"CPU headroom {free:.3g}% ({source})"
    return Verdict(
        WARN if free < HEADROOM else PASS,
        why=f"{text}." if free < HEADROOM else None,
        fix="give the host more CPUs or less to do; for the peak hour set io_pacing_cpu_headroom",
        desired=f"at least {HEADROOM:.0f}% free",
        in_use=text,
        values=_free(free),
        evidence=["sample:" + CPU_SAMPLE] if policy.cpu_headroom is None else [],
    )


def _of_aix(aix: Aix, policy: Policy) -> Verdict:
    version = powerha_version(aix, policy)
    there = powerha_text(aix, policy)
    policy = require_certain(aix, policy)
    evidence = powerha_keys(aix) + [LPARSTAT_KEY]
    text = headroom_text(aix, policy)
    in_use = f"{there}; {text}"
    free, _source = headroom(aix, policy)
    if not version:
        return Verdict(
            WARN if free < HEADROOM else PASS,
            why=f"{text}." if free < HEADROOM else None,
            fix="give the partition more CPU or less to do",
            desired=f"at least {HEADROOM:.0f}% free",
            in_use=in_use,
            values=_free(free),
            evidence=evidence,
        )
    loose = [pair for pair in known_layers(aix) + [policy.wanted] if not is_tight(pair)]
    if not loose:
        need_all(aix)
    return Verdict(
        WARN if loose and free < HEADROOM else PASS,
        why=f"{text}, and this host has {there}: with {loose[0] if loose else policy.wanted} "
        "writers take the rest of the CPU as well.",
        advice=Advice(
            [
                Ask(
                    "give the partition more CPU or less to do before the marks go above 33 "
                    f"(io_pacing_profile: legacy_hacmp, 33/24, {PRICE})"
                )
            ]
        ),
        desired=f"at least {HEADROOM:.0f}% free",
        in_use=in_use,
        evidence=evidence + [LSATTR_KEY, RUNNING_KEY],
        **dict(layers_of(aix), values=_free(free)),
    )


def _free(percent: float) -> Dict[str, float]:
    return {"free_percent": round(percent, 3)}
