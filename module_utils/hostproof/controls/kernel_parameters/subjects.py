# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of kernel_parameters check: the parameters of a family, one by one."""

from functools import partial
from typing import List, Tuple

from ...evaluate.checking import Subjects
from .facts import Facts
from .policy import Policy
from .required_parameters import Parameter, judged_parameters

PROC = "proc_sys_kernel(5), proc_sys_fs(5), proc_sys_vm(5)"
NETWORK = "kernel Documentation/networking/ip-sysctl.rst"


def _of(name: str, facts: Facts, policy: Policy) -> List[Parameter]:
    return [parameter for parameter in judged_parameters(facts, policy) if parameter.family == name]


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
