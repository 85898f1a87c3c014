# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The marks of the host: what the ODM holds, what the kernel uses, what AIX allows."""

from typing import List, Optional, Tuple

from ...apply.aix_attributes import Attributes
from ...collect.answer import if_known, known
from ...errors import HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Verdict, failing
from ...evaluate.finding import FAIL, PASS, status_for
from .facts import DEVICE, NAMES, OSLEVEL, Aix, Facts, odm_pair
from .heartbeat import need_all, require_certain
from .pacing_fixes import LSATTR_KEY, RUNNING_KEY, layers_of, steps_of
from .policy import NAME, Policy, order_problem, step_problem
from .subjects import AIX, TUNABLES

rules: Rules[Facts, Policy] = Rules(NAME)

RANGE_KEYS = [f"command:lsattr -R -l {DEVICE} -a {name}" for name in NAMES]
OSLEVEL_KEY = "command:" + " ".join(OSLEVEL)
#: The release that came with 8193/4096 first; before, it came with no pacing.
OLDEST = (6, 1)


@rules.check(
    "io_pacing.persisted",
    "maxpout and minpout in the ODM match the policy",
    "maxpout or minpout in the ODM differs from the policy",
    severity="high",
    takes_effect="now",
    why="AIX uses the ODM values after the next reboot, whatever is running now.",
    reference=TUNABLES + "; AIX Commands Reference, lsattr",
    each=AIX,
)
def persisted(aix: Aix, _facts: Facts, policy: Policy) -> Verdict:
    policy = require_certain(aix, policy)
    pair = odm_pair(known(aix.odm))
    return Verdict(
        PASS if pair == policy.wanted else FAIL,
        why=f"The ODM holds {pair}; wanted is {policy.wanted} ({policy.profile}). "
        f"{policy.trade}".strip(),
        advice=Advice(steps_of(aix, policy)),
        desired=str(policy.wanted),
        persisted=str(pair),
        values=pair._asdict(),
        evidence=[LSATTR_KEY],
    )


@rules.check(
    "io_pacing.running",
    "Running maxpout and minpout match the policy",
    "Running maxpout or minpout differs from the policy",
    severity="high",
    takes_effect="now",
    why="The kernel does not pace as lsattr shows. lsattr reads the ODM, and chdev -P and "
    "chdev -T make kernel and ODM differ.",
    reference="AIX Commands Reference, lsattr and chdev; AIX Base Operating System, sys_parm",
    each=AIX,
    because_of=("io_pacing.persisted",),
)
def running(aix: Aix, _facts: Facts, policy: Policy) -> Verdict:
    if isinstance(aix.running, HostproofError):
        # "Pass" from lsattr would be a guess: it shows the database only.
        raise Unanswered(
            RUNNING_KEY,
            "lsattr shows the ODM only, and the kernel did not tell its marks through sys_parm "
            f"({aix.running}); run it as root, with a Python that has ctypes",
        )
    policy = require_certain(aix, policy)
    pair = known(aix.running)
    why = f"The kernel uses {pair}; wanted is {policy.wanted}."
    shown = None
    if not isinstance(aix.odm, HostproofError):
        shown = str(odm_pair(aix.odm))
        if odm_pair(aix.odm) != pair:
            why += f" The ODM holds {shown}: chdev -P or chdev -T was used."
    return Verdict(
        PASS if pair == policy.wanted else FAIL,
        why=why,
        advice=Advice(steps_of(aix, policy, "-T")),
        desired=str(policy.wanted),
        persisted=shown,
        running=str(pair),
        values=pair._asdict(),
        evidence=[LSATTR_KEY, RUNNING_KEY],
        failing_layer="running",
    )


@rules.check(
    "io_pacing.valid_pair",
    "maxpout and minpout are a valid pair",
    "maxpout and minpout are not a valid pair",
    severity="medium",
    takes_effect="now",
    why="Write-behind and pacing work against each other. maxpout must be a multiple of 4 plus "
    "1, and minpout a multiple of 4 and at least 4 lower, or both 0.",
    reference=TUNABLES,
    each=AIX,
)
def valid_pair(aix: Aix, _facts: Facts, _policy: Policy) -> Verdict:
    odm = known(aix.odm)
    layers = [("the ODM", odm_pair(odm))]
    if not isinstance(aix.running, HostproofError):
        layers.append(("the kernel", known(aix.running)))
    broken = [(name, order_problem(pair)) for name, pair in layers] + _out_of_range(odm)
    odd = [(name, step_problem(pair)) for name, pair in layers]
    remarks = _distinct(broken) or _distinct(odd)
    wrong = {name for name, problem in broken + odd if problem}
    step = Ask("upgrade AIX, or check this host by the manual of its release")
    if remarks:
        pair = "a pair by the rule (io_pacing_maxpout, io_pacing_minpout)"
        step = Ask(f"choose a profile or {pair}, and apply io_pacing")
    level = if_known(aix.level, None)
    if level is not None and level.version < OLDEST:
        remarks.append(
            f"{level} is older than AIX 6.1, of which this control knows the rule and the marks "
            "that it comes with"
        )
    if not remarks:
        need_all(aix)
        known(aix.level)
        _need_ranges(odm)
    return Verdict(
        status_for(_distinct(broken), remarks),
        why="{0}.".format("; ".join(remarks)),
        advice=Advice([step]),
        desired="maxpout a multiple of 4 plus 1, minpout below it",
        persisted=str(layers[0][1]),
        running=str(layers[1][1]) if len(layers) > 1 else None,
        in_use=None if level is None else str(level),
        values=layers_of(aix)["values"],
        evidence=[LSATTR_KEY, RUNNING_KEY][: len(layers)] + RANGE_KEYS + [OSLEVEL_KEY],
        failing_layer=failing(running="the kernel" in wrong, persisted="the ODM" in wrong)
        or "in_use",
    )


def _need_ranges(odm: Attributes) -> None:
    for name in NAMES:
        known(odm.legal[name])


def _out_of_range(odm: Attributes) -> List[Tuple[str, Optional[str]]]:
    return [
        ("the ODM", f"{name} must be {allowed}")
        for name, allowed in ((name, if_known(odm.legal[name], None)) for name in NAMES)
        if allowed is not None and not allowed.allows(odm.values[name])
    ]


def _distinct(problems: List[Tuple[str, Optional[str]]]) -> List[str]:
    """Each problem once, with the layers that have it."""
    texts: List[str] = []
    for text in [text for _name, text in problems if text is not None]:
        layers = [name for name, other in problems if other == text]
        remark = "In {0}: {1}".format(" and ".join(layers), text)
        if remark not in texts:
            texts.append(remark)
    return texts
