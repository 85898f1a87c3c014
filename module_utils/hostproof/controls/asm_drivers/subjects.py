# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels and installed ASMLIB packages, for several rules."""

from typing import Dict, List, Tuple

from ...collect.answer import known
from ...errors import Absent, HostproofError, NotRecorded
from ...evaluate.checking import Skip
from ...parsers.kernel import kernel_release
from ...parsers.unix.distribution import numbers
from .facts import ASMLIB, KERNEL, PACKAGES, Facts
from .policy import Policy

#: ASMLIB 3 can use io_uring and needs no module.
V3 = (3,)


def applies(facts: Facts, policy: Policy) -> None:
    if isinstance(facts.kernel, Absent):
        raise Skip("Not a Linux host: it has no " + KERNEL + ".")
    if isinstance(facts.packages, NotRecorded) and policy.profile is None:
        raise Skip(f"{facts.packages}.")


def kernels(facts: Facts) -> List[Tuple[str, str]]:
    """(layer, kernel) of the running kernel and, where it is known, of the next start."""
    pairs = [("running", known(facts.kernel))]
    if not isinstance(facts.default_kernel, HostproofError):
        pairs.append(("persisted", facts.default_kernel))
    return pairs


def version(facts: Facts) -> Tuple[int, ...]:
    """The lowest version of the packages of ASMLIB; Skip where none is installed."""
    installed = known(facts.packages)
    if not installed:
        raise Skip("No package of ASMLIB is installed.")
    return min(numbers(text) for text in installed.values())


def packages(facts: Facts) -> str:
    installed = known(facts.packages)
    return ", ".join(
        f"{package} {installed[package][:40]}" for package in PACKAGES if package in installed
    )


def uses_io_uring(facts: Facts) -> Dict[str, str]:
    """The kernels by layer on which ASMLIB 3 runs without the module."""
    pairs = {"persisted": known(facts.kernel), **dict(kernels(facts))}
    return {
        layer: kernel
        for layer, kernel in pairs.items()
        if version(facts) >= V3 and not known(facts.modules[f"{kernel} {ASMLIB}"])
    }


def is_at_least(kernel: str, major: int, minor: int) -> bool:
    release = kernel_release.parse(kernel)
    return (release.major, release.minor) >= (major, minor)
