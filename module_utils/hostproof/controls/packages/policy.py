# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Required packages: validated role variables."""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import flag, names, of_profile, one_of, reader
from ...evaluate.profiles import Profile

NAME = "packages"

#: Package names that rpm and dpkg accept. A name cannot begin with a dash like an option.
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]{0,99}\Z")
_NAME_OF_ONE = "the name of a package"


class Policy(NamedTuple):
    """The role's variables. ``release`` is None for "auto"."""

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that derive a policy from it. A variable of a
    control takes precedence.

    A profile with Grid Infrastructure requires its packages too, a profile of a cluster also
    C(cvuqdisk).

    Default: none
    """
    release: Optional[str] = one_of("auto", "19c", "21c", "23ai", "26ai").none_for("auto")
    """The Oracle release whose packages are required. C(auto) is that of the profile, or of the
    installed homes if the profile names none. Without a profile no package of the table is
    required.

    Set it to the release of a planned installation or upgrade.

    Default: auto
    """
    additional: Tuple[str, ...] = names(_PACKAGE.match, _NAME_OF_ONE)
    """More packages that the host must have, as C(NAME) or C(NAME.ARCHITECTURE), such as
    C(glibc.i686) for 32-bit clients.

    Default: []
    """
    excluded: Tuple[str, ...] = names(_PACKAGE.match, _NAME_OF_ONE)
    """Packages of the table that are not required on this host.

    Default: []
    """
    install: bool = flag()
    """Whether apply installs missing packages, with C(apt-get), C(dnf), C(yum) or C(zypper) and the
    repositories of the host. An audit then simulates the installation if a package
    is missing, and check mode shows the whole transaction.

    Default: false
    """
    upgrades: bool = flag()
    """Whether apply may install if that changes the version of installed packages. Revert does not
    bring the old versions back.

    Default: false
    """


policy_from = reader(NAME, Policy)
