# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ASMLIB: its version, the module or io_uring that it needs, and its start."""

import re

from ...collect.answer import known, unless_absent
from ...errors import Absent, Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, by_layers, failing
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.kernel import kernel_release
from ...parsers.unix.distribution import EL
from .facts import ASMLIB, CONFIG, IO_URING, RPM, UNIT, Facts, enabled, modinfo
from .policy import NAME, Policy
from .subjects import V3, is_at_least, kernels, packages, uses_io_uring, version

rules = Rules(NAME)

_BOOK = "Oracle Database Installation Guide for Linux, Installing and Configuring Oracle ASMLIB"
_RPM = "command:" + " ".join(RPM)
_FIRST_V3 = 8
#: Kernels of Red Hat that have no io_uring or start with it disabled (RHEL 9 release notes).
_WITHOUT_RING = re.compile(r"^(?!.*uek).*\.el[89](?!\d)")
#: The first kernel with io_uring.
_IO_URING_SINCE = (5, 1)
_UNUSED = "not used: module oracleasm"
_GOOD = ("0", _UNUSED)
_WORDS = {"0": "0 (allowed)", "1": "1 (one group only)", "2": "2 (disabled)", _UNUSED: _UNUSED}


@rules.check(
    "asm_drivers.asmlib_version",
    "ASMLIB has the version for this distribution",
    "ASMLIB has a version for another distribution",
    severity="medium",
    takes_effect="cluster_restart",
    why="Oracle provides ASMLIB 3 for EL 8 and later, and ASMLIB 2 for EL 7 and earlier.",
    reference=_BOOK,
)
def asmlib_version(facts: Facts, _policy: Policy) -> Verdict:
    installed, system = version(facts), known(facts.os)
    if system.name not in EL:
        raise Skip(f"Oracle names no version of ASMLIB for {system.text}.")
    is_new = system.version[0] >= _FIRST_V3
    return Verdict(
        PASS if (installed >= V3) == is_new else WARN,
        f"{packages(facts)} on {system.text}.",
        fix="install oracleasm-support and oracleasmlib of the right version",
        desired="3.0.0 or later" if is_new else "2.x",
        running=packages(facts),
        evidence=[_RPM],
    )


@rules.check(
    "asm_drivers.asmlib_module",
    "The kernels have the driver that ASMLIB needs",
    "A kernel lacks the driver that ASMLIB needs",
    severity="critical",
    takes_effect="reboot",
    why="ASM finds no disk of ASMLIB after a start with a kernel that has no driver. UEK 8 has no "
    "module oracleasm.",
    reference=_BOOK + "; Release Notes for UEK 8, ASMLIB",
)
def asmlib_module(facts: Facts, _policy: Policy) -> Verdict:
    has_v3 = version(facts) >= V3
    there = {}
    for layer, kernel in kernels(facts):
        has = known(facts.modules[f"{kernel} {ASMLIB}"])
        is_loaded = layer == "running" and known(facts.loaded[ASMLIB])
        there[layer] = (kernel, has or is_loaded)
    by_ring = {
        layer: has_v3 and is_at_least(kernel, *_IO_URING_SINCE)
        for layer, (kernel, _has) in there.items()
    }
    bad = {name: kernel for name, (kernel, has) in there.items() if not has and not by_ring[name]}
    texts = {
        layer: ("module oracleasm" if has else "io_uring" if by_ring[layer] else "no driver")
        + f", kernel {kernel[:80]}"
        for layer, (kernel, has) in there.items()
    }
    verdict = Verdict(
        FAIL if bad else PASS,
        f"{packages(facts)} needs the module oracleasm, and it is missing in "
        f"{', '.join(dict.fromkeys(bad.values()))}.",
        fix="install ASMLIB 3, or make a kernel with the module the default (grubby --set-default)",
        desired="module oracleasm, or ASMLIB 3",
        persisted=texts.get("persisted"),
        running=texts["running"],
        failing_layer=failing(running="running" in bad, persisted="persisted" in bad),
        evidence=[_RPM, "command:" + " ".join(modinfo(known(facts.kernel), ASMLIB))],
    )
    later = facts.default_kernel
    return by_layers(verdict, [("after reboot", None if isinstance(later, Absent) else later)])


@rules.check(
    "asm_drivers.io_uring",
    "io_uring is allowed where ASMLIB uses it",
    "io_uring is disabled or restricted, and ASMLIB uses it",
    severity="critical",
    takes_effect="now",
    why="ASMLIB 3 opens its disks with io_uring on kernels without the module oracleasm. ASM loses "
    "its disks where io_uring is disabled.",
    reference="Oracle Linux, Using Oracle ASMLIB, Enabling or Restricting io_uring; kernel "
    "Documentation/admin-guide/sysctl/kernel.rst, io_uring_disabled",
)
def io_uring(facts: Facts, _policy: Policy) -> Verdict:
    uses = uses_io_uring(facts)
    if not uses:
        raise Skip("ASMLIB uses the module oracleasm on these kernels.")
    # Kernels of Red Hat have no io_uring or disable it by default.
    is_uek = all(kernel_release.parse(release).is_uek for release in uses.values())
    # Up to 9.2 they have none, later ones of 9 start with 2.
    is_off = all(_WITHOUT_RING.search(release) for release in uses.values())
    if isinstance(facts.io_uring, Absent) and not is_uek and not is_off:
        raise Unanswered("file:" + IO_URING, "it does not exist: this kernel may have no io_uring")
    later = known(facts.io_uring_at_boot) if "persisted" in uses else _UNUSED
    if isinstance(facts.io_uring, Absent) and not is_off and later in (None, "0", _UNUSED):
        raise Skip("This kernel cannot disable io_uring.")
    # The kernel of the next start may have the switch that the running one lacks.
    own = 2 if is_off else 0
    now = str(unless_absent(facts.io_uring, own)) if "running" in uses else _UNUSED
    if later is None and now in _GOOD and not is_uek and not is_off:
        raise Unanswered("file:" + IO_URING, "nothing sets it at boot, and its default is unknown")
    at_boot = str(own) if later is None else later
    status = FAIL if "2" in (now, at_boot) else WARN if "1" in (now, at_boot) else PASS
    if not {now, at_boot} <= set(_WORDS):
        status = FAIL
    return Verdict(
        status,
        f"kernel.io_uring_disabled is {_text(now)}, and {_text(at_boot)} after reboot. With 1 the "
        "owner of ASM must be in kernel.io_uring_group.",
        fix="set kernel.io_uring_disabled to 0, or to 1 with the group of the owner of ASM",
        desired="0",
        persisted=_text(at_boot),
        running=_text(now),
        failing_layer=failing(running=now not in _GOOD, persisted=at_boot not in _GOOD),
        evidence=["file:" + IO_URING],
    )


def _text(value: str) -> str:
    return _WORDS.get(value, value[:20])


@rules.check(
    "asm_drivers.asmlib_start",
    "ASMLIB starts at boot",
    "ASMLIB does not start at boot",
    severity="high",
    takes_effect="reboot",
    why="Disks of ASMLIB are missing after a restart, and ASM cannot mount its disk groups.",
    reference=_BOOK + "; oracleasm configure -i",
)
def asmlib_start(facts: Facts, _policy: Policy) -> Verdict:
    version(facts)
    starts = enabled(facts)
    return Verdict(
        PASS if starts else FAIL,
        f"{CONFIG} or the unit oracleasm.service does not start it.",
        fix="run oracleasm configure -i and enable the unit",
        commands=["systemctl enable oracleasm.service"],
        desired="ORACLEASM_ENABLED=true and an enabled unit",
        persisted="starts" if starts else f"unit {known(facts.unit)[:40] or 'missing'}",
        running="loaded" if known(facts.loaded[ASMLIB]) else "module not loaded",
        failing_layer="persisted",
        evidence=["file:" + CONFIG, "command:" + " ".join(UNIT)],
    )
