# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a login of each account gets: which line of limits.d wins, and whether PAM reads them."""

from typing import List, NamedTuple, Optional

from ...collect.answer import Answer, known
from ...evaluate.advice import Advice, Ask, Edit, Step
from ...evaluate.checking import Judged, Rules, Skip, Subjects, Verdict, verdict_or_error
from ...evaluate.finding import PASS, WARN
from ...parsers.unix import limits_conf
from ...probes.unix import limits as limits_probe
from ...probes.unix.limits import Account
from ...probes.unix.pam import SETTINGS, USES_PAM
from .amounts import Demand, demands, grade_login, number_or_word, of_login
from .facts import Facts
from .limit_steps import part_of, remedy
from .policy import NAME, Policy
from .subjects import LOGIN, accounts_of

rules: Rules[Facts, Policy] = Rules(NAME)

PAM = "limits.conf(5); pam_limits(8)"


class Login(NamedTuple):
    """A limit of an account."""

    account: Account
    demand: Demand


def _logins(facts: Facts, policy: Policy) -> List[Login]:
    return [
        Login(account, demand)
        for account in accounts_of(facts, policy)
        for demand in demands(facts, policy)
    ]


LOGINS = Subjects(
    _logins,
    none="No account is there yet, or process_limits_unmanaged names every limit.",
    name=lambda subject: f"{subject.account.name} {subject.demand.row.item}",
    evidence=lambda _one: LOGIN,
)


@rules.check(
    "process_limits.login",
    "Login limits meet Oracle's requirements",
    "Login limits do not meet Oracle's requirements",
    severity="high",
    takes_effect="login",
    why="Programs started from a login inherit its limits. With too few files, processes or "
    "locked memory they fail while in use (ORA-27300, ORA-27123) or use 4 KiB pages.",
    reference=PAM,
    each=LOGINS,
)
def login(subject: Login, facts: Facts, policy: Policy) -> Verdict:
    row = subject.demand.row
    limits = limits_probe.limits_of(subject.account, known(facts.entries), row.item)
    pair = of_login(limits, row)
    status, wrong = grade_login(subject.demand, pair, facts)
    if limits.exempt is not None:
        wrong += f" ({limits.exempt.path}:{limits.exempt.line} frees the account of every line)"
    fix, commands = (
        ("", [])
        if status == PASS
        else remedy(part_of(subject.account.name, row.item), facts, policy)
    )
    places = [entry for entry in (limits.soft, limits.hard) if entry is not None]
    return Verdict(
        status,
        why=wrong + ".",
        fix=fix,
        commands=commands,
        part=part_of(subject.account.name, row.item),
        desired=subject.demand.text(),
        persisted=f"soft {_text(limits.soft)}, hard {_text(limits.hard)}",
        evidence=LOGIN + tuple(sorted({"file:" + entry.path for entry in places})),
        values={"soft": number_or_word(pair.soft), "hard": number_or_word(pair.hard)},
        severity=row.severity,
        reference=f"{subject.demand.source}; {PAM}",
    )


def _text(entry: Optional[limits_conf.Entry]) -> str:
    return "not set" if entry is None else f"{entry.value} ({entry.path}:{entry.line})"


@rules.check(
    "process_limits.accounts",
    "Accounts named in the policy exist",
    "An account named in the policy does not exist",
    severity="medium",
    takes_effect="login",
    why="An account that is created later gets no limits until apply runs again.",
    reference="getent(1)",
    because_of=("accounts.exists",),
)
def accounts(facts: Facts, _policy: Policy) -> Judged:
    if not facts.announced:
        raise Skip("Neither hostproof_profile nor process_limits_accounts announces an account.")
    there = known(facts.accounts)
    return [
        Verdict(
            PASS if name in there else WARN,
            why="" if name in there else f"The host has no account {name}.",
            fix="if the account comes from LDAP or SSSD, check that service; otherwise create it, "
            "or remove it from process_limits_accounts",
            desired=name,
            running=f"uid {there[name].uid}" if name in there else "no such account",
            evidence=["command:getent passwd " + name],
            of=name,
        )
        for name in facts.announced
    ]


@rules.check(
    "process_limits.consistent_sources",
    "All limits files set a limit to the same value",
    "Limits files set a limit to different values",
    severity="low",
    takes_effect="login",
    why="A package update can change which value applies. The file names determine the order.",
    reference=PAM,
)
def consistent_sources(facts: Facts, policy: Policy) -> Verdict:
    conflicts = []
    for subject in _logins(facts, policy):
        limits = limits_probe.limits_of(
            subject.account, known(facts.entries), subject.demand.row.item
        )
        for side, winner in (("soft", limits.soft), ("hard", limits.hard)):
            # Our own file states in its first line whose it is.
            if winner is not None and winner.path != policy.limits_file:
                conflicts += _rivals(known(facts.entries), side, winner)
    text = "; ".join(sorted(set(conflicts)))
    return Verdict(
        WARN if conflicts else PASS,
        why=f"{text}." if text else None,
        advice=Advice(
            [
                Ask(
                    "keep one line for each of these limits, the one with the larger value, or "
                    "name the limit in process_limits_unmanaged"
                )
            ]
        ),
        desired="one value for each limit of an account",
        persisted=text or "no two files disagree",
        evidence=LOGIN,
    )


def _rivals(entries: List[limits_conf.Entry], side: str, winner: limits_conf.Entry) -> List[str]:
    return [
        f"{winner.domain} {side} {winner.item} {winner.value} of {_place(winner)} wins over "
        f"{entry.value} of {_place(entry)}"
        for entry in entries
        if (entry.domain, entry.item) == (winner.domain, winner.item)
        and entry.type in (side, "-")
        and entry.value != winner.value
        and entry.path != winner.path
    ]


def _place(entry: limits_conf.Entry) -> str:
    """The file, and the package that is known to write it."""
    name = entry.path.rpartition("/")[2]
    owners = ("oracle-database-preinstall", "oracle-rdbms-server", "oracle-ai-database", "sapconf")
    owner = [package for package in owners if name.startswith(package)]
    return f"{entry.path}:{entry.line}" + (f" (package {owner[0]})" if owner else "")


@rules.check(
    "process_limits.pam",
    "All login services use pam_limits",
    "A login service does not use pam_limits",
    severity="medium",
    takes_effect="login",
    why="Sessions have the limits of the daemon that opened them, whatever the limits files "
    "contain.",
    reference=PAM + "; pam.conf(5)",
)
def pam(facts: Facts, _policy: Policy) -> Judged:
    services = known(facts.pam)
    if not services:
        raise Skip("There is no stack of PAM on this host.")
    return [
        verdict_or_error(_judge_service, name, answer, of=name)
        for name, answer in sorted(services.items())
    ]


def _judge_service(name: str, answer: Answer[bool]) -> Verdict:
    has = known(answer)
    path = f"/etc/pam.d/{name}"
    line = "session required pam_limits.so"
    steps: List[Step] = [Edit(path, what=f"put '{line}' into {path}, or into what it includes")]
    evidence = [f"file:/etc/pam.d/{name}"]
    if name == "sshd":
        config = "set UsePAM yes in /etc/ssh/sshd_config before any Match block"
        steps.append(Ask(f"{config} if sshd -T does not show '{USES_PAM}', and reload sshd"))
        evidence.append("command:" + " ".join(SETTINGS))
    return Verdict(
        PASS if has else WARN,
        why="" if has else f"Sessions of {name} do not go through pam_limits.so.",
        advice=Advice(steps),
        desired="session ... pam_limits.so",
        persisted="in the stack" if has else "not in the stack",
        evidence=evidence,
    )
