# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ASMLIB: its version, the module or io_uring that it needs, and its start."""

import re
from typing import Dict, List, Optional, Tuple

from ...collect.answer import Answer, attempt, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Run, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, by_layers, layered
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from ...parsers.kernel import kernel_release
from ...parsers.unix.distribution import EL
from .facts import ASMLIB, CONFIG, IO_URING, RPM, UNIT, Facts, is_configured, modinfo
from .policy import NAME, Policy
from .subjects import V3, is_at_least, kernels, packages, uses_io_uring, version

rules: Rules[Facts, Policy] = Rules(NAME)

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
        fix="install oracleasm-support and oracleasmlib {0} for {1}, on one node of a cluster "
        "after the other".format("3.0.0 or later" if is_new else "2.x", system.text),
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
    layers: Dict[str, Layer] = {}
    bad: List[str] = []
    for layer, kernel in kernels(facts):
        driver = _driver(facts, layer, kernel, has_v3)
        bad += [] if driver else [kernel]
        text = f"{driver or 'no driver'}, kernel {kernel[:80]}"
        layers[layer] = Layer(text, status_for(not driver))
    default = facts.default_kernel
    if isinstance(default, HostproofError) and not isinstance(default, Absent):
        layers["persisted"] = Layer(default)
    now = known(facts.kernel)[:80]
    return layered(
        persisted=layers.get("persisted"),
        running=layers["running"],
        advice=Advice(
            both=[
                Ask(
                    "install ASMLIB 3, or make a kernel with the module oracleasm the default "
                    "(grubby --set-default) and reboot"
                )
            ],
            persisted=[
                Ask(
                    "make the running kernel the default (grubby --set-default "
                    f"/boot/vmlinuz-{now}), or install ASMLIB 3"
                )
            ],
        ),
        why=f"{packages(facts)} needs the module oracleasm, and it is missing in "
        f"{', '.join(dict.fromkeys(bad))}."
        if bad
        else None,
        desired="module oracleasm, or ASMLIB 3",
        evidence=[_RPM, "command:" + " ".join(modinfo(known(facts.kernel), ASMLIB))],
    )


def _driver(facts: Facts, layer: str, kernel: str, has_v3: bool) -> str:
    """The driver for ASMLIB that a kernel has; "" for none."""
    has_module = known(facts.modules[f"{kernel} {ASMLIB}"])
    is_loaded = layer == "running" and known(facts.loaded[ASMLIB])
    by_ring = has_v3 and is_at_least(kernel, *_IO_URING_SINCE)
    return "module oracleasm" if has_module or is_loaded else "io_uring" * by_ring


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
    now, at_boot = _io_uring_values(facts, uses)
    set_now = _SET_NOW
    if isinstance(facts.io_uring, Absent):
        set_now = Ask("start a kernel that has io_uring, such as UEK 7 or later")
    return layered(
        persisted=_layer(at_boot),
        running=_layer(now),
        advice=Advice(
            both=[_PERSIST, set_now],
            persisted=[_PERSIST],
            running=[set_now],
        ),
        why=f"kernel.io_uring_disabled is {_shown(now)}, and {_shown(at_boot)} after reboot. With "
        "1 the owner of ASM must be in kernel.io_uring_group.",
        desired="0",
        evidence=["file:" + IO_URING],
    )


def _default_of(uses: Dict[str, str]) -> Optional[str]:
    """The value of kernel.io_uring_disabled with which these kernels start; None if not known."""
    if all(kernel_release.parse(release).is_uek for release in uses.values()):
        return "0"
    # Kernels of Red Hat up to 9.2 have no io_uring, later ones of 9 start with 2.
    return "2" if all(_WITHOUT_RING.search(release) for release in uses.values()) else None


def _io_uring_values(facts: Facts, uses: Dict[str, str]) -> Tuple[Answer[str], Answer[str]]:
    """kernel.io_uring_disabled now and after a reboot."""
    default = _default_of(uses)
    if isinstance(facts.io_uring, Absent) and default is None:
        raise Unanswered("file:" + IO_URING, "it does not exist: this kernel may have no io_uring")
    later = facts.io_uring_at_boot if "persisted" in uses else _UNUSED
    if isinstance(facts.io_uring, Absent) and default == "0" and later in (None, "0", _UNUSED):
        raise Skip("This kernel cannot disable io_uring.")
    # The kernel of the next start may have the switch that the running one lacks.
    own = default or "0"
    now = _value_now(facts, own) if "running" in uses else _UNUSED
    if later is None and now in _GOOD and default is None:
        raise Unanswered("file:" + IO_URING, "nothing sets it at boot, and its default is unknown")
    return now, own if later is None else later


def _value_now(facts: Facts, own: str) -> Answer[str]:
    return own if isinstance(facts.io_uring, Absent) else attempt(_number_text, facts.io_uring)


_PERSIST = Ask(
    "set kernel.io_uring_disabled = 0 in the file of /etc/sysctl.d that is read last (or 1, with "
    "the group of the owner of ASM in kernel.io_uring_group)"
)
_SET_NOW = Ask("set it now: sysctl -w kernel.io_uring_disabled=0")


def _number_text(answer: Answer[int]) -> str:
    return str(known(answer))


def _layer(value: Answer[str]) -> Layer:
    if isinstance(value, HostproofError):
        return Layer(value)
    status = PASS if value in _GOOD else WARN if value == "1" else FAIL
    return Layer(_text(value), status)


def _shown(value: Answer[str]) -> str:
    return "unknown" if isinstance(value, HostproofError) else _text(value)


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
    configured = attempt(is_configured, facts)
    # A unit that is enabled-runtime is not enabled after a reboot.
    unit = facts.unit if isinstance(facts.unit, HostproofError) else facts.unit == "enabled"
    steps: List[Step] = []
    if configured is False:
        steps.append(Ask("run oracleasm configure -i and let it start the driver on boot"))
    if unit is False:
        steps.append(Run("systemctl", "enable", "oracleasm.service", text="enable the unit"))
    places = [CONFIG] * (configured is False) + ["the unit oracleasm.service"] * (unit is False)
    verdict = Verdict(
        FAIL if steps else PASS,
        f"{' and '.join(places)} {'do' if len(places) > 1 else 'does'} not start it."
        if steps
        else None,
        advice=Advice(steps),
        desired="ORACLEASM_ENABLED=true and an enabled unit",
        persisted=f"unit {_shown(facts.unit)[:40] or 'missing'}" if steps else "starts",
        running="loaded" if known(facts.loaded[ASMLIB]) else "module not loaded",
        failing_layer="persisted",
        evidence=["file:" + CONFIG, "command:" + " ".join(UNIT)],
    )
    return by_layers(verdict, [("configuration", configured), ("unit", unit)])
