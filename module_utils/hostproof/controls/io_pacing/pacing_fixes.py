# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What several rules of io_pacing tell: the marks of each layer, the way out, and its price."""

from typing import Any, Dict, List

from ...collect import shell
from ...collect.answer import known
from ...errors import HostproofError
from ...evaluate.advice import Ask, Step, apply_line
from .facts import DEVICE, FILESYSTEMS, MOUNT, NAMES, Aix, odm_pair
from .heartbeat import is_tight, why_not_raise
from .policy import NAME, Policy

LSATTR_KEY = "command:lsattr -E -l {0} -a {1} -a {2}".format(DEVICE, *NAMES)
RUNNING_KEY = "command:sys_parm: {0} {1}".format(*NAMES)
MOUNTS_KEYS = ["file:" + FILESYSTEMS, "command:" + " ".join(MOUNT)]

#: Orion, 100% writes: MB/s of large and IOPS of small ones, by 8193/4096 and by 33/24.
COST = "measured with Orion, 100% large writes: 213.55 MB/s with 8193/4096, 109.64 MB/s with 33/24"
#: The cost of the marks of an old HACMP, for every text that recommends them.
PRICE = "halves large writes (" + COST + ")"
APPLY = apply_line(NAME)


def layers_of(aix: Aix) -> Dict[str, Any]:
    """The known marks of the ODM and of the kernel, as texts and as ``values``."""
    pairs = {}
    if not isinstance(aix.odm, HostproofError):
        pairs["persisted"] = odm_pair(aix.odm)
    if not isinstance(aix.running, HostproofError):
        pairs["running"] = known(aix.running)
    layers: Dict[str, Any] = {layer: str(pair) for layer, pair in pairs.items()}
    layers["values"] = {
        f"{layer}_{name}": mark for layer, pair in pairs.items() for name, mark in zip(NAMES, pair)
    }
    return layers


def steps_of(aix: Aix, policy: Policy, *flags: str) -> List[Step]:
    """The commands only where apply would run them, too: who pastes them gets round every guard."""
    risk = why_not_raise(aix, policy)
    if risk is not None:
        return [
            Ask(
                f"take io_pacing_profile: legacy_hacmp (33/24), which {PRICE}, or take the risk "
                f"with io_pacing_allow_deadman_risk: {risk}"
            )
        ]
    maxpout, minpout = str(policy.wanted).split()
    by_hand = shell.line("chdev", "-l", DEVICE, "-a", maxpout, "-a", minpout, *flags)
    text = "apply the control, or set both marks with chdev"
    if is_tight(policy.wanted):
        text = f"{text} ({policy.wanted} {PRICE})"
    return [Step(text, [APPLY, by_hand])]
