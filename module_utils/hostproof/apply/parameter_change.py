# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of an initialization parameter, in the spfile or in memory, and how to undo them."""

import re
from typing import Dict, Optional

from ..probes.oracle.sqlplus import Entries, Setting, Target, alter, parameter_command, state
from .change import CommandChange


def stored_change(
    target: Target, name: str, before: Entries, after: Entries, timeout: float = 60.0
) -> CommandChange:
    """Bring the entries of a parameter in the spfile from one list of (SID, value) to another.

    Both lists name the same SIDs in the same order. No instance is restarted.
    """
    old, new = dict(before), dict(after)
    changed = [sid for sid, _value in before if old[sid] != new[sid]]
    return CommandChange(
        name=f"{name} of {target.sid} in its spfile",
        before=state(before),
        after=state(after),
        look=parameter_command(target, name, [sid for sid, _value in before], timeout=timeout),
        make=(alter(target, name, [Setting(sid, new[sid]) for sid in changed], timeout=timeout),),
        undo=(alter(target, name, [Setting(sid, old[sid]) for sid in changed], timeout=timeout),),
    )


def setting_change(
    target: Target,
    name: str,
    sid: str,
    scope: str,
    now: Dict[str, Optional[str]],
    value: Optional[str],
    timeout: float = 60.0,
) -> CommandChange:
    """Set one entry of a parameter (``value`` None takes it out) in the places of ``scope``.

    ``now`` is what is there: "spfile" the entry, "memory" the value in force.
    """
    in_spfile, in_memory = scope != "memory", scope != "spfile"
    before: Entries = [(sid, now["spfile"])] if in_spfile else []
    after: Entries = [(sid, value)] if in_spfile else []
    undo = []
    if in_memory:
        before.append(("running", now["memory"]))
        after.append(("running", value))
        undo.append(alter(target, name, [Setting(sid, now["memory"])], "memory", timeout))
    if in_spfile:
        undo.append(alter(target, name, [Setting(sid, now["spfile"])], "spfile", timeout))
    return CommandChange(
        name=f"{name} of {target.sid} ({scope})",
        before=state(before),
        # A size is shown in bytes, however it was written.
        after=None if re.match(r"^\d+[KMGTP]\Z", value or "", re.IGNORECASE) else state(after),
        look=parameter_command(target, name, [sid] if in_spfile else [], in_memory, timeout),
        make=(alter(target, name, [Setting(sid, value)], scope, timeout),),
        undo=tuple(undo),
    )
