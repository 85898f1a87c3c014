# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts of a limit: what is required, what a place gives, and how they compare."""

import re
from typing import List, NamedTuple, Optional, Tuple, Union

from ...collect.answer import known
from ...errors import Absent, ParseError, kind_of
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.kernel import proc_limits
from ...parsers.number import clipped
from ...parsers.unix import limits_conf
from ...parsers.unix.distribution import EL_IDS
from .facts import Facts
from .limit_table import BOOK, ROWS, UNLIMITED, Row
from .policy import Policy

_GIB = 1 << 20
#: kB of locked memory that are required where there are no huge pages.
MEMLOCK = 3145728
#: Each earlier release has a Linux-PAM without the change of linux-pam pull request 353.
_EL_WITH_NR_OPEN = 8
_FIRST_WITH_NR_OPEN = {
    **dict.fromkeys(EL_IDS, _EL_WITH_NR_OPEN),
    **{"debian": 12, "ubuntu": 24, "amzn": 2023},
}
_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}


class Demand(NamedTuple):
    """A limit as this host must have it: the least, the most of the hard one, what to write."""

    row: Row
    soft: int
    hard: int
    most: int
    good: Tuple[int, int]
    source: str

    def text(self) -> str:
        ceiling = "" if self.most == UNLIMITED else f", at most {self.most}"
        words = f"soft at least {text_of(self.soft)}, hard at least {text_of(self.hard)}{ceiling}"
        return words + (" kB" if self.row.size > 1 else "")


class Pair(NamedTuple):
    """A soft and a hard limit, in units of limits.conf; None where it is not set."""

    soft: Optional[int]
    hard: Optional[int]

    def text(self) -> str:
        return f"{text_of(self.soft)}/{text_of(self.hard)}"


def text_of(amount: Optional[int]) -> str:
    if amount is None:
        return "not set"
    return "unlimited" if amount >= UNLIMITED else str(amount)


def number_or_word(amount: Optional[int]) -> Union[int, str]:
    return text_of(amount) if amount is None or amount >= UNLIMITED else amount


def demands(facts: Facts, policy: Policy) -> List[Demand]:
    """The required value of each managed limit; raises an error if its formula needs more data."""
    return [demand_of(row, facts, policy) for row in ROWS if row.item not in policy.unmanaged]


def demand_of(row: Row, facts: Facts, policy: Policy) -> Demand:
    for limit in policy.values:
        if limit.name == row.item:
            most = max(limit.hard, row.most) if row.most != UNLIMITED else UNLIMITED
            good = (limit.soft, limit.hard)
            return Demand(
                row, limit.soft, limit.hard, most, good, "the policy, process_limits_values"
            )
    if row.soft is not None and row.hard is not None:
        good = (row.good[0] or 0, row.good[1] or 0)
        return Demand(row, row.soft, row.hard, row.most, good, BOOK)
    memory = known(facts.meminfo)
    most = memory["MemTotal"] // 1024 * 9 // 10
    # MemTotal varies a little from boot to boot, and other tools round: 1% less is enough.
    least = most * 99 // 100 if memory.get("HugePages_Total") else MEMLOCK
    # Enough for the pool that may come. MemTotal differs a little from boot to boot: whole GiB stay
    # above 90%.
    good_most = -(-max(least, most) // _GIB) * _GIB
    return Demand(row, least, least, row.most, (good_most, good_most), BOOK)


def grade(demand: Demand, pair: Pair, who: str = "") -> Tuple[str, str]:
    """(status, what is wrong): too low is a fail, above the book's ceiling a warn."""
    low = [
        f"{side} {text_of(value)}"
        for side, value, least in (
            ("soft", pair.soft, demand.soft),
            ("hard", pair.hard, demand.hard),
        )
        if value is None or value < least
    ]
    name = f"{who}{demand.row.item}"
    if low:
        return FAIL, f"{name} is too low: {', '.join(low)}"
    if pair.hard is not None and pair.hard > demand.most:
        return WARN, f"{name} is above the {demand.most} that the book allows: {pair.text()}"
    return PASS, ""


def grade_login(demand: Demand, pair: Pair, facts: Facts) -> Tuple[str, str]:
    """As ``grade``; with more files than fs.nr_open the kernel rejects, and so does
    pam_limits."""
    hard = pair.hard or 0
    is_above = demand.row.item == "nofile" and known(facts.nr_open) < hard
    if is_above and (hard < UNLIMITED or _refuses_unlimited(facts)):
        most = known(facts.nr_open)
        return FAIL, f"fs.nr_open is {most}, so a login with {text_of(hard)} is rejected"
    return grade(demand, pair)


def _refuses_unlimited(facts: Facts) -> bool:
    """Whether pam_limits fails to set unlimited files.

    Linux-PAM 1.5.2 and its backports set fs.nr_open instead.
    """
    if isinstance(facts.os, Absent):
        # RHEL 6 and its like have no os-release; the kernel release shows it.
        kernel = known(facts.kernel)
        match = re.search(r"\.el(\d{1,2})", kernel)
        return int(match.group(1)) < _EL_WITH_NR_OPEN if match else kernel.startswith("2.")
    release = known(facts.os)
    major = release.get("VERSION_ID", "").partition(".")[0]
    oldest = _FIRST_WITH_NR_OPEN.get(release.get("ID", ""))
    return oldest is not None and major.isdecimal() and int(major) < oldest


def of_login(limits: limits_conf.Limits, row: Row) -> Pair:
    """What pam_limits sets: it cuts a soft limit off at the hard one."""
    soft, hard = (
        None if entry is None else _of_entry(entry.value) for entry in (limits.soft, limits.hard)
    )
    return Pair(soft if None in (soft, hard) else min(soft or 0, hard or 0), hard)


def _of_entry(value: str) -> int:
    amount = limits_conf.kilobytes(value)
    return UNLIMITED if amount is None else amount


def of_process(limit: proc_limits.Limit, row: Row) -> Pair:
    soft, hard = (
        UNLIMITED if value is None else value // row.size for value in (limit.soft, limit.hard)
    )
    return Pair(soft, hard)


def of_unit(text: str, row: Row) -> Pair:
    """LimitNOFILE= and the like: "1024:524288", "8M", "infinity" (systemd.exec(5))."""
    soft, colon, hard = text.partition(":")
    return Pair(_of_setting(soft, row), _of_setting(hard if colon else soft, row))


def _of_setting(text: str, row: Row) -> int:
    if text == "infinity":
        return UNLIMITED
    match = re.match(r"(\d+)([KMGTP]?)\Z", text.strip())
    # systemd takes a suffix for bytes only, and ignores the line otherwise.
    if match is None or (match.group(2) and row.size == 1):
        raise ParseError("limit of a unit", f"{kind_of(text)} is not a limit")
    amount = clipped(match.group(1)) * _SUFFIXES[match.group(2)] // row.size
    return UNLIMITED if amount * row.size >= (1 << 64) - 1 else amount


def worst(grades: List[Tuple[str, str]]) -> Tuple[str, str]:
    """The worst status, and all that is wrong."""
    statuses = [status for status, _text in grades]
    status = FAIL if FAIL in statuses else WARN if WARN in statuses else PASS
    return status, "; ".join(text for _status, text in grades if text)
