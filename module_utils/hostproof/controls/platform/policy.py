# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle release of the host and target distribution: validated role variables."""

from typing import NamedTuple, Optional

from ...evaluate.fields import of_profile, of_target_os, one_of, reader
from ...evaluate.profiles import Profile

NAME = "platform"


class Policy(NamedTuple):
    """The role's variables. ``release`` is None for "auto"."""

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a
    control override it.

    A profile without a release uses the releases of the installed homes, or 19c on a host
    without a home.

    Default: none
    """
    release: Optional[str] = one_of("auto", "19c", "21c", "23ai", "26ai").none_for("auto")
    """The Oracle release that the platform is checked for. C(auto) is that of the profile; without
    a profile nothing is checked.

    Set it to the release of a planned installation or upgrade to see whether the host is ready.

    Default: auto
    """
    selinux: Optional[str] = one_of("any", "enforcing", "permissive", "disabled").none_for("any")
    """The required mode of SELinux, now and after reboot. With C(any) the mode only has to be the
    same now and after reboot.

    The books of Oracle require no mode. ORAchk warns if SELinux is enforcing.

    Default: any
    """
    target_os: Optional[str] = of_target_os()
    """The distribution to which an upgrade or a migration leads. C(none) is the one of the host.

    The distribution and the installed home are checked for it. The kernel is not, because that of
    the target is not installed yet.

    Default: none
    """


policy_from = reader(NAME, Policy)
