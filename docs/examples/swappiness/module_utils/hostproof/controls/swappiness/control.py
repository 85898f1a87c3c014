# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check and set vm.swappiness, running and after reboot."""

from typing import List, NamedTuple, Optional

from ...apply.change import Change, FileChange, Plan, Refusal, ValueChange
from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.host import Host
from ...errors import Absent
from ...evaluate.advice import apply_line
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.control import Control
from ...evaluate.fields import drop_in, reader, whole_number
from ...evaluate.finding import FAIL, PASS
from ...parsers.systemd import sysctl_d
from ...probes.systemd import boot

NAME = "swappiness"
KEY = "vm.swappiness"
RUNNING = "/proc/sys/vm/swappiness"


class Policy(NamedTuple):
    maximum: int = whole_number(0, 200)
    """The largest C(vm.swappiness) that the host may have, from 0 to 200.

    Default: 10
    """
    sysctl_file: str = drop_in(sysctl_d.DIRECTORIES[0])
    """The drop-in in C(/etc/sysctl.d) that sets it.

    Default: /etc/sysctl.d/99-zz-hostproof-swappiness.conf
    """


policy_from = reader(NAME, Policy)


class Facts(NamedTuple):
    running: Answer[int]
    boot: boot.Boot
    file: Answer[str]


def read(host: Host, policy: Policy) -> Facts:
    return Facts(
        running=attempt(host.read_number, RUNNING),
        boot=boot.read_boot(host),
        file=attempt(host.read_text, policy.sysctl_file),
    )


def applies(facts: Facts, _policy: Policy) -> None:
    if isinstance(facts.running, Absent):
        raise Skip("Not a Linux host.")


rules: Rules[Facts, Policy] = Rules(NAME)
WHY = "With a high value the kernel swaps parts of the PGA out."
BOOK = "kernel Documentation/admin-guide/sysctl/vm.rst, swappiness"


@rules.check(
    "swappiness.running",
    "vm.swappiness is low",
    "vm.swappiness is too high",
    severity="medium",
    takes_effect="now",
    why=WHY,
    reference=BOOK,
)
def running(facts: Facts, policy: Policy) -> Verdict:
    value = known(facts.running)
    return Verdict(
        PASS if value <= policy.maximum else FAIL,
        f"It is {value}.",
        fix="apply the policy",
        commands=[apply_line(NAME)],
        desired=f"at most {policy.maximum}",
        running=str(value),
        evidence=["file:" + RUNNING],
    )


@rules.check(
    "swappiness.persisted",
    "vm.swappiness stays low after reboot",
    "vm.swappiness is too high after reboot",
    severity="medium",
    takes_effect="reboot",
    why=WHY,
    reference=BOOK + "; sysctl.d(5)",
)
def persisted(facts: Facts, policy: Policy) -> Verdict:
    coming = _at_boot(facts.boot)
    text = "the kernel's default" if coming is None else f"{coming.value} ({coming.place})"
    return Verdict(
        PASS if _is_low(coming, policy) else FAIL,
        f"After reboot it is {text}.",
        fix="apply the policy",
        commands=[apply_line(NAME)],
        desired=f"at most {policy.maximum}",
        persisted=text,
        evidence=["dir:/etc/sysctl.d", "file:/proc/cmdline"],
    )


def _at_boot(places: boot.Boot) -> Optional[boot.Setting]:
    """Return the setting that applies after boot; raise an error if it cannot be determined."""
    outcome = boot.sysctl_at_boot(places, KEY)
    outcome.settled()
    return outcome.winner


def _is_low(coming: Optional[boot.Setting], policy: Policy) -> bool:
    return coming is not None and int(coming.value) <= policy.maximum


def plan(facts: Facts, policy: Policy) -> Plan:
    """Plan the drop-in first, then the running value."""
    now = known(facts.running)
    changes: List[Change] = []
    refusals = []
    if not _is_low(_at_boot(facts.boot), policy):
        text = f"{KEY} = {policy.maximum}\n"
        changes.append(FileChange(policy.sysctl_file, text, unless_absent(facts.file, None)))
        later = _at_boot(boot.with_sysctl_file(facts.boot, policy.sysctl_file, text))
        if later is not None and not _is_low(later, policy):
            refusals.append(Refusal(f"{later.place} sets {later.value} after our file", None))
    if now > policy.maximum:
        changes.append(ValueChange(RUNNING, str(policy.maximum), str(now)))
    return Plan(changes, refusals, pending=[], at_boot=[])


CONTROL = Control(
    NAME,
    policy=Policy,
    policy_from=policy_from,
    facts=Facts,
    read=read,
    applies=applies,
    rules=[rules],
    plan=plan,
)
