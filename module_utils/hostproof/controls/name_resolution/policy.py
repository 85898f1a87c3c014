# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which names a host is to find, and how: the role's variables and their checks."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import decimal, names, names_of, of_profile, reader, whole_number
from ...evaluate.policy import PolicyValues
from ...evaluate.profiles import Profile
from ...probes.net.host_names import is_name

NAME = "name_resolution"

AUTO = "auto"
SUBJECTS = (
    "hostname",
    "hostname_address",
    "reverse_lookup",
    "listener_address",
    "hosts_file",
    "search_order",
    "resolv_conf",
    "name_servers",
    "scan",
    "scan_listeners",
    "cluster_names",
    "zeroconf",
)
#: More names than a cluster has; each one is a process for a moment.
MOST = 64


def _few(values: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    if len(value) > MOST:
        raise values.error(name, f"has {len(value)} names: at most {MOST} are looked up")
    return value


class Policy(NamedTuple):
    """The role's variables.

    ``scan_names`` and ``cluster_names``: None reads the configuration of Clusterware.
    """

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a
    control override it.

    Any value except C(none) checks the host before software is installed. The requirements are
    the same.

    Default: none
    """
    scan_names: Optional[Tuple[str, ...]] = (
        names(is_name, "a name of a host").then(_few).none_for(AUTO)
    )
    """The names of the SCAN, with their domain, as a list. C(auto) is what C(crsconfig_params) of
    Clusterware has; an empty list checks none.

    Default: auto
    """
    scan_address_count: int = whole_number(1, 16)
    """Number of addresses that DNS must return for a SCAN.

    Default: 3
    """
    scan_port: Optional[int] = whole_number(1, 65535).none_for("unmanaged")
    """TCP port of the SCAN listeners, such as C(1521). With a port each audit opens a connection to
    each SCAN address and closes it, which counts against a rate limit of the listener.
    C(unmanaged) opens none.

    Default: unmanaged
    """
    cluster_names: Optional[Tuple[str, ...]] = (
        names(is_name, "a name of a host").then(_few).none_for(AUTO)
    )
    """Names that each node is to find, as a list, such as those of nodes, VIPs and the
    interconnect. C(auto) are the nodes and VIPs that C(crsconfig_params) of Clusterware has.

    Default: auto
    """
    max_wait_seconds: float = decimal(1, 600)
    """Seconds that a name may take at most where no name server answers, by what C(resolv.conf)
    says.

    Default: 15
    """
    skip_checks: Tuple[str, ...] = names_of(SUBJECTS)
    """Checks that this host leaves out, of C(hostname), C(hostname_address), C(reverse_lookup),
    C(listener_address), C(hosts_file), C(search_order), C(resolv_conf), C(name_servers), C(scan),
    C(scan_listeners), C(cluster_names) and C(zeroconf).

    Default: []
    """


policy_from = reader(NAME, Policy)
