# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is for, in one word (``hostproof_profile``): from it controls take their policies.

Whatever a control's own variables say counts more.
"""

from typing import Dict, NamedTuple, Optional, Tuple


class Profile(NamedTuple):
    """``release`` is what is announced beside what the host has; () leaves that to the host.

    ``cluster``: a node of Real Application Clusters. ``direct_nfs``: its datafiles are on NFS.
    """

    release: Tuple[int, ...]
    cluster: bool
    direct_nfs: bool


PROFILES: Dict[str, Optional[Profile]] = {
    "none": None,
    "oracle_19c_single": Profile((19,), False, False),
    "rac_nfs": Profile((), True, True),
    "rac_asm": Profile((), True, False),
}

#: Where nobody tells a release: the one with long-term support that most hosts are made for.
LONG_TERM: Tuple[int, ...] = (19,)
