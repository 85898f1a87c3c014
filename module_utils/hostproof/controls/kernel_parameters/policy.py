# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel should be set to: the role's variables and their checks."""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.comparing import COMPARISONS, Numbers
from ...evaluate.fields import checked_by, drop_in, entries, names, of_profile, one_of, reader, size
from ...evaluate.policy import PolicyValues, oracle_release
from ...evaluate.profiles import Profile
from ...parsers.systemd import sysctl_d

NAME = "kernel_parameters"

AUTO = "auto"

#: What other controls set: two that write one value would undo each other for ever.
OF_OTHERS = {
    "vm/nr_hugepages": "hugepages",
    "vm/nr_hugepages_mempolicy": "hugepages",
    "vm/nr_overcommit_hugepages": "hugepages",
    "vm/hugetlb_shm_group": "hugepages",
    "sunrpc/tcp_slot_table_entries": "nfs_mounts",
    "sunrpc/tcp_max_slot_table_entries": "nfs_mounts",
}

_KEY = re.compile(r"[a-zA-Z0-9_-]+(?:[./][a-zA-Z0-9_:@-]+)+\Z")
_NUMBERS = re.compile(r"-?[0-9]{1,20}(?:[ \t]+-?[0-9]{1,20}){0,7}\Z")
#: The kernel's own limit (IFNAMSIZ), without what a path is made of.
_INTERFACE = re.compile(r"(?!(?:\.\.?|all|default)\Z)[^\s/]{1,15}\Z")

Version = Tuple[int, ...]


def _key(values: PolicyValues, name: str) -> str:
    """A key as sysctl.d takes it, dots or slashes; without a pattern."""
    value = values[name]
    if not isinstance(value, str) or not _KEY.match(value):
        raise values.error(name, f"{str(value)[:80]!r} must be a key such as vm.swappiness")
    owner = OF_OTHERS.get(sysctl_d.normalize(value))
    if owner is not None:
        raise values.error(name, f"{value} is for the control {owner}: see roles/{owner}/README.md")
    return value


def _numbers(values: PolicyValues, name: str) -> Numbers:
    text = "" if isinstance(values[name], bool) else str(values[name]).strip()
    if not _NUMBERS.match(text):
        raise values.error(name, f"must be numbers such as 250 32000 100 128, not {text[:80]!r}")
    return tuple(int(word) for word in text.split())


class Wanted(NamedTuple):
    """A parameter as this host must have it; ``compare`` is None for that of the table."""

    name: str = checked_by(_key, "str")
    value: Numbers = checked_by(_numbers, "str")
    compare: Optional[str] = one_of(*COMPARISONS).optional()


def _two_for_within(required: Wanted, values: PolicyValues) -> Wanted:
    if required.compare == "within" and (
        len(required.value) != 2 or required.value[0] > required.value[1]
    ):
        raise values.error("value", "must be the lowest and the highest number for within")
    return required


def _releases(values: PolicyValues, name: str) -> Tuple[Version, ...]:
    value = values[name]
    read = [oracle_release(text) for text in value] if isinstance(value, (list, tuple)) else []
    if not read or None in read:
        raise values.error(name, f"must be auto or a list of releases such as 19, not {value!r}")
    return tuple(release for release in read if release is not None)


def _keys(_values: PolicyValues, _name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    """By their paths below /proc/sys."""
    return tuple(sysctl_d.normalize(item) for item in value)


class Policy(NamedTuple):
    """The role's variables.

    ``releases``, ``sga`` (bytes of all SGAs together) and ``interconnect`` are None for "auto".
    ``unmanaged`` are paths below /proc/sys.
    """

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a
    control override it.

    C(none) checks the requirements of the releases that are installed on the host.

    Any other value requires that the host is ready before software is installed, and also
    checks recommendations (swappiness, NUMA balancing, dirty pages).

    C(oracle_RELEASE_KIND) announces the release C(19c), C(23ai) or C(26ai) for a single instance
    (C(single)), a cluster node with ASM (C(rac)) or Oracle Restart (C(restart)). C(rac_nfs) is a
    cluster node with Direct NFS, C(rac_asm) one with ASM: their release is that of the host, or
    19c if none is installed.

    Default: none
    """
    releases: Optional[Tuple[Version, ...]] = checked_by(_releases, "raw").none_for(AUTO)
    """The releases of the database whose demands count, such as C([19, 23]).

    C(auto) runs the sqlplus of each home in oratab, in the inventory and of running instances.

    Default: auto
    """
    total_sga: Optional[int] = size().none_for(AUTO)
    """The size of all SGAs together that the host must be ready for, such as C(96G). Shared memory
    is reckoned by it where it is more than Oracle's share of memory.

    C(auto) takes the shared memory that accounts other than root have now.

    Default: auto
    """
    values: Tuple[Wanted, ...] = entries(
        Wanted, together=_two_for_within, key=lambda entry: sysctl_d.normalize(entry.name)
    )
    """Values of this host's own, each with C(name) and C(value), such as C(fs.aio-max-nr) and
    C(3145728), and C(compare), which is C(at_least), C(at_most), C(exactly) or C(within) (the
    lowest and the highest).

    Without C(compare) a parameter of the table keeps its own comparison, and any other is set
    exactly.

    Parameters of another control (huge pages, RPC slots) are rejected.

    Default: []
    """
    unmanaged: Tuple[str, ...] = names(_KEY.match, "a key such as vm.swappiness").then(_keys)
    """Parameters that another tool manages, such as C(vm.swappiness). They are neither checked
    nor written. Lines that an earlier apply wrote stay.

    Default: []
    """
    interconnect: Optional[Tuple[str, ...]] = names(
        _INTERFACE.match, "the name of an interface"
    ).none_for(AUTO)
    """The interfaces of the cluster's interconnect, whose reverse path filter must not be strict.

    C(auto) queries Clusterware (C(oifcfg getif)) if it runs.

    Default: auto
    """
    activation: str = one_of("now", "reboot")
    """C(now) sets the running kernel as well, but for C(vm.min_free_kbytes), which would make a
    busy host reclaim memory at once. C(reboot) writes the drop-in alone.

    Default: now
    """
    sysctl_file: str = drop_in(sysctl_d.DIRECTORIES[0])
    """Path of the drop-in file. Files that sort later override it.

    Default: /etc/sysctl.d/99-zz-hostproof-kernel_parameters.conf
    """


policy_from = reader(NAME, Policy)
