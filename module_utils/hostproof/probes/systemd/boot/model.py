# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of what was read of the next reboot, and of one write in it."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....collect.answer import Answer, known
from ....errors import HostproofError
from ....parsers.systemd import sysctl_d, tmpfiles_d, tuned
from .. import boot_services
from ..boot_scripts import Command

PROC_SYS = "/proc/sys/"

#: Parameters of the kernel that decide whether a service starts.
OF_SERVICES = r"systemd\.(?:mask|wants)"


class Setting(NamedTuple):
    """A value and the place that gives it, for people: "/etc/sysctl.d/97-oracle.conf:3"."""

    value: str
    place: str


class Write(NamedTuple):
    """One write of a reboot, in the order of time.

    ``value`` is None where it is unknown. ``certain`` is whether the write surely happens
    at this point. ``note`` says what makes it, where the place alone does not. ``by_tuned``: a
    value such as ``>5`` depends on the value at that moment. ``decimal``: the file is one of
    /sys/kernel/mm/hugepages, which takes decimal numbers alone.
    """

    value: Optional[str]
    place: str
    certain: bool = True
    note: Optional[str] = None
    by_tuned: bool = False
    decimal: bool = False


class SysctlTree(NamedTuple):
    """What sysctl reads at boot (``assignments``, in order) and what it does not read.

    ``reapplied`` is what TuneD sets again after its own values, in its order. ``links`` maps the
    files that are links to the file that they lead to. ``credentials`` are the files of the
    credential sysctl.extra with their text, None if it is encrypted or cannot be read.
    """

    assignments: List[sysctl_d.Assignment]
    unread: List[sysctl_d.Assignment]
    reapplied: Answer[List[sysctl_d.Assignment]]
    links: Dict[str, str]
    credentials: Tuple[Tuple[str, Optional[str]], ...] = ()


class Tuned(NamedTuple):
    """The active TuneD profile with everything it includes, as one list of sections.

    ``machine`` is what uname_regex is compared with. ``commands`` are those of its scripts.
    ``known_whole`` is the error of whatever could add to the profile and was not read.
    """

    names: List[str]
    units: List[tuned.Unit]
    variables: Answer[Dict[str, str]]
    reapply_sysctl: bool
    machine: Answer[str]
    commands: Answer[List[Command]]
    known_whole: Answer[bool]


NO_TUNED = Tuned([], [], {}, True, "", [], True)


class Boot(NamedTuple):
    """Everything that can set a kernel value at boot; unknown parts hold their error.

    ``sysctl_off`` and ``tmpfiles_off`` say why no service applies sysctl.d and tmpfiles.d, and are
    "" where one does. ``loaded`` are files that a command loads into the kernel by name. ``added``
    are the parameters of the kernel that TuneD changes at the next reboot, with an error for each:
    ``cmdline`` does not have them yet.
    """

    sysctl: Answer[SysctlTree]
    cmdline: Answer[List[Tuple[str, Optional[str]]]]
    tmpfiles: Answer[List[tmpfiles_d.Entry]]
    tuned: Answer[Tuned]
    rc_local: Answer[List[Command]]
    others: Answer[List[Command]]
    loaded: Dict[str, Answer[str]]
    sysctl_off: Answer[str] = ""
    tmpfiles_off: Answer[str] = ""
    added: Tuple[Tuple[str, HostproofError], ...] = ()


def parameters(boot: Boot, concerns: str) -> boot_services.Params:
    """The kernel's parameters at the next reboot; raises if one that ``concerns`` matches will
    change, or one that starts services. ``concerns`` is a pattern of whole names."""
    for name, problem in boot.added:
        if re.match(f"(?:{concerns}|{OF_SERVICES})$", name):
            raise problem
    return known(boot.cmdline)


def write_of(assignment: sysctl_d.Assignment) -> Write:
    return Write(assignment.value, f"{assignment.path}:{assignment.line}")


def as_text(write: Write) -> str:
    return f"{write.place} = {write.value}"
