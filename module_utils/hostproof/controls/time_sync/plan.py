# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans one drop-in that limits the steps of chronyd, in a directory that its configuration
includes.

Other configuration files are not written, and no daemon is started, stopped or restarted: a start
of chronyd may step the clock while databases run. A line that another file would override is
rejected."""

from typing import List, Optional

from ...apply.change import FileChange, Plan, Refusal, header, idle
from ...collect.answer import known
from ...evaluate.checking import Skip
from .facts import Chrony, Facts
from .parsers import chrony_conf
from .policy import CHRONYD, NAME, Policy
from .subjects import applies, is_too_long, steps

_HEADER = header(NAME)
#: What a reboot makes again.
_LOST = ("/run", "/var/run", "/tmp", "/dev/shm")
_FILE = f"/zz-hostproof-{NAME}.conf"


def plan(facts: Facts, policy: Policy) -> Plan:
    """The change that makes chronyd slew as the policy requires; raises what it would have to
    guess."""
    try:
        applies(facts, policy)
    except Skip as reason:
        return idle(reason.why)
    if policy.max_step_updates is None:
        return idle("time_sync_max_step_updates is unmanaged.")
    if list(known(facts.keepers)) != [CHRONYD]:
        return idle("Not chronyd alone keeps the clock: nothing is written for another daemon.")
    chrony: Chrony = known(facts.chrony)
    makesteps = steps(chrony)
    if not makesteps or not is_too_long(makesteps[-1], policy.max_step_updates):
        return Plan([], [], [], [])
    line = f"makestep {makesteps[-1].threshold} {policy.max_step_updates}\n"
    return _drop_in(chrony, _HEADER + line, makesteps[-1], policy.max_step_updates)


def _drop_in(chrony: Chrony, content: str, winner: chrony_conf.MakeStep, updates: int) -> Plan:
    for folder in _folders(chrony):
        path = folder.rstrip("/") + _FILE
        before = chrony.texts.get(path)
        if before is not None and not before.startswith(_HEADER):
            continue
        if _would_win(chrony, folder, path, content, updates):
            note = "chronyd reads it at its next start, which may step the clock once: restart it "
            change = FileChange(path, content, before)
            return Plan([change], [], [note + "while no database runs here."], [])
    reason = (
        f"{winner.place} (makestep {winner.threshold} {winner.updates}) counts, and no drop-in of "
        f"chronyd would be read after it: change that line to makestep {winner.threshold} {updates}"
    )
    return Plan([], [Refusal(reason, None)], [], [])


def _folders(chrony: Chrony) -> List[str]:
    """Those of confdir that are there, and that a reboot does not empty."""
    words = [directive.words for directive in chrony.directives() if directive.name == "confdir"]
    return [
        folder
        for some in words
        for folder in some
        if folder in chrony.folders and not folder.startswith(_LOST)
    ]


def _would_win(chrony: Chrony, folder: str, path: str, content: str, updates: int) -> bool:
    names = {*chrony.folders[folder], path.rpartition("/")[2]}
    changed = chrony._replace(
        texts={**chrony.texts, path: content}, folders={**chrony.folders, folder: sorted(names)}
    )
    last: Optional[chrony_conf.MakeStep] = steps(changed)[-1]
    return not is_too_long(last, updates)
