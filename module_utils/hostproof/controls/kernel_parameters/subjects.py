# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of kernel_parameters check: the parameters of a family, one by one."""

from functools import partial
from typing import List, Tuple

from ...collect.answer import unless_absent
from ...evaluate.checking import Subjects
from .facts import Facts
from .policy import Policy
from .required_parameters import REVERSE_PATH, Parameter, judged_parameters

PROC = "proc_sys_kernel(5), proc_sys_fs(5), proc_sys_vm(5)"
NETWORK = "kernel Documentation/networking/ip-sysctl.rst"


def _of(name: str, facts: Facts, policy: Policy) -> List[Parameter]:
    found = [
        parameter for parameter in judged_parameters(facts, policy) if parameter.family == name
    ]
    if not found and name == REVERSE_PATH:
        # Interfaces that are not known are not few.
        unless_absent(facts.interconnect, ())
    return found


def _evidence(parameter: Parameter) -> Tuple[str, ...]:
    return ("file:" + parameter.file, "dir:/etc/sysctl.d", "file:/proc/cmdline", "lines:boot")


def family(name: str, none: str = "No release on this host requires it.") -> Subjects:
    """The parameters of one check."""
    return Subjects(
        partial(_of, name),
        none=none,
        name=lambda parameter: str(parameter.name),
        evidence=_evidence,
    )
