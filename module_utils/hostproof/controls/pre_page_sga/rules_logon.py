# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check of the duration of a local logon of the audit."""

from ...collect.answer import attempt, if_known, known
from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import PASS, WARN
from .facts import Facts, Subject
from .parameter_values import pages_now, pages_text
from .policy import NAME, Policy
from .subjects import INSTANCES

rules: Rules[Facts, Policy] = Rules(NAME)

#: Seconds. The article has 0.437 with huge pages and 9.645 without them.
_SLOW = 3.0


@rules.check(
    "pre_page_sga.logon_time",
    "A local logon takes less than 3 seconds",
    "A local logon takes 3 seconds or longer",
    severity="medium",
    takes_effect="now",
    why="Each new connection waits that long: a process that touches all pages of the SGA needs "
    "one page table entry per page. A busy CPU delays a logon too.",
    reference="M. Przepiorowski, Oracle and HugePages, 2012",
    each=INSTANCES,
    because_of=("pre_page_sga.value", "hugepages.sga_in_huge_pages"),
)
def logon_time(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    if subject.running is None:
        raise Skip("It does not run.")
    answer = known(subject.asked)
    if answer.seconds is None:
        raise Unanswered(answer.key, "its duration was not recorded; record it again")
    page = if_known(attempt(lambda: known(facts.pool).page_size), None)
    pages = if_known(attempt(pages_now, subject, facts), None)
    text = "page size unknown" if pages is None or page is None else pages_text(pages, page)
    slow = answer.seconds >= _SLOW
    return Verdict(
        WARN if slow else PASS,
        f"The logon and the queries of the audit took {answer.seconds:.3g} s; {text}."
        if slow
        else None,
        fix="use huge pages for the whole SGA, and fix pre_page_sga.value; otherwise check the CPU "
        "load",
        desired=f"below {_SLOW:g} s",
        in_use=f"{answer.seconds:.3g} s; {text}",
        values={"logon_seconds": round(answer.seconds, 3)},
        evidence=(answer.key, *subject.running.evidence()),
    )
