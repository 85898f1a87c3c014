# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ASM Filter Driver (ASMFD) against the kernels and the Oracle release."""

from typing import List, Optional, Tuple

from ...collect.answer import known
from ...errors import Absent
from ...evaluate.checking import Rules, Skip, Verdict, by_layers, failing
from ...evaluate.finding import FAIL, PASS, WARN, worst
from ...probes.oracle import releases
from .facts import AFD_CONFIG, ASMFD, KERNEL, Facts
from .policy import NAME, Policy
from .subjects import is_at_least, kernels

rules: Rules[Facts, Policy] = Rules(NAME)

_FIRST_WITHOUT = (5, 14)


@rules.check(
    "asm_drivers.asmfd",
    "The release and the kernels support ASMFD",
    "ASMFD is not supported by the release or a kernel",
    severity="high",
    takes_effect="cluster_restart",
    why="ASM does not find its disks where the driver cannot be loaded. Oracle disabled ASMFD from "
    "kernel 5.14 and desupported it in 26ai.",
    reference="Oracle Error Help, PRVG-06097; My Oracle Support 2806979.1",
)
def asmfd(facts: Facts, policy: Policy) -> Verdict:
    loaded = known(facts.loaded[ASMFD])
    if not loaded and not known(facts.afd_configured):
        raise Skip(f"The module {ASMFD} is not loaded, and no configuration of ASMFD was found.")
    problems = _problems_of_kernels(facts, loaded)
    profile = policy.profile
    required = releases.wanted(None, None if profile is None else profile.release, facts.software)
    names = [release.name for release in required if isinstance(release, releases.Release)]
    if "26ai" in names:
        problems.append((FAIL, "", "26ai does not support ASMFD"))
    layers = {layer for _status, layer, _why in problems}
    verdict = Verdict(
        worst([PASS, *(status for status, _layer, _why in problems)]),
        "; ".join(why for _status, _layer, why in problems) + ".",
        fix="move the disks to ASMLIB 3 or udev rules, then remove ASMFD",
        desired="ASMLIB 3 or udev rules",
        persisted=_text(facts, "persisted"),
        running="loaded" if loaded else "not loaded",
        failing_layer=failing(running="running" in layers, persisted="persisted" in layers),
        evidence=["file:" + KERNEL, "stat:" + AFD_CONFIG],
    )
    later = facts.default_kernel
    answers: List[Tuple[str, object]] = [("release", release) for release in required]
    answers.append(("after reboot", None if isinstance(later, Absent) else later))
    return by_layers(verdict, answers)


def _problems_of_kernels(facts: Facts, loaded: bool) -> List[Tuple[str, str, str]]:
    """The status, the layer and the reason of each."""
    problems = []
    for layer, kernel in kernels(facts):
        has_module = known(facts.modules[f"{kernel} {ASMFD}"])
        if not has_module and not (loaded and layer == "running"):
            problems.append((FAIL, layer, f"the kernel {kernel} has no module {ASMFD}"))
        elif is_at_least(kernel, *_FIRST_WITHOUT):
            problems.append((WARN, layer, f"Oracle disabled ASMFD on kernels such as {kernel}"))
    return problems


def _text(facts: Facts, name: str) -> Optional[str]:
    for layer, kernel in kernels(facts):
        if layer == name:
            return f"kernel {kernel[:80]}"
    return None
