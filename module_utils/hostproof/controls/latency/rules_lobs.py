# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LOBs in the reports that the policy names: who waits for their space, and what is set for it.

The times are of one test: J. Wartak, Part 5, 2014. 7 jobs that insert and delete BasicFile LOBs of
6 to 10 kB without CACHE in an ASSM tablespace, Oracle 11.2.0.3.8, two disks.
"""

from typing import List, Optional, Tuple

from ...collect.answer import known
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...evaluate.policy import oracle_release
from .facts import Facts
from .measurement import lobs
from .measurement.lobs import Figures
from .policy import NAME, Policy
from .redo_advice import fix_of_redo, log_write_us
from .subjects import REPORTS, SOURCES, Probed, Source, recorded_figures

rules: Rules[Facts, Policy] = Rules(NAME)

_SOURCE = (
    "J. Wartak, Part 5: Oracle SecureFile LOB is better than BasicFile, isn't it?, 2014; My Oracle "
    "Support 837883.1 and 740075.1 as it names them"
)
_REFERENCE = (
    "Oracle Database Reference, DB_SECUREFILE; Oracle Database SecureFiles and Large Objects "
    "Developer's Guide"
)

#: With event 44951 at this level or higher, the test took longer than without it.
_WORSE_FROM = 16
#: The first release that creates SecureFiles by default, if COMPATIBLE is not lower.
_SECUREFILES_SINCE = (12,)

_EVENT_TIMES = (
    "22 minutes without it, 18.5 at level 3, 22.5 at 16, 49 at 32, 39 at 512. The wait decreased "
    "with each level, but the run time increased"
)
_ADVICE = (
    "apply one step at a time and compare the run time, not the wait. First identify the segment "
    "(P2 of the wait is the tablespace, P3 the header block; DBA_EXTENTS, DBA_LOBS, "
    "DBA_TABLESPACES.SEGMENT_SPACE_MANAGEMENT). "
    "1. Set CACHE for the LOB and use faster storage: the holder of the enqueue reads blocks. In "
    "the test: 25 to 6 minutes. This uses buffer cache and redo. "
    "2. Use hash partitions, a power of two: each has its own segment. They need a license and "
    "matching indexes. "
    "3. Set event 44951, only for BasicFile LOBs in ASSM tablespaces. Test small levels first: "
    + _EVENT_TIMES
    + ". Do not copy 1024 from another site. The parameter EVENT replaces its whole list. "
    "Oracle recommends SecureFiles (online redefinition needs twice the space)"
)
_FIXED = (
    "Most related bugs (4867884, 6376915, 7319120, 9801919) are fixed in 11.2.0.3.0 and later "
    "(J. Wartak, 2014)."
)


def _figures(subject: Source) -> Figures:
    """Skip where the report is none of a database's time."""
    figures = recorded_figures(subject)
    if lobs.WHOLE not in figures:
        raise Skip("It has neither waits for LOBs nor parameters.", (subject.key,))
    return figures


def _number(figures: Figures, name: str) -> Optional[float]:
    value = figures.get(name)
    return value if isinstance(value, (int, float)) else None


def _release(figures: Figures) -> Tuple[Optional[Tuple[int, ...]], bool]:
    """The release, and whether it is only known to be no older than that."""
    text = str(figures.get(lobs.RELEASE, ""))
    least = text.startswith("at least ")
    return oracle_release(text[len("at least ") :] if least else text), least


def _text(figures: Figures) -> str:
    """What the report states of LOBs, for people."""
    parts = [
        f"{name[len(lobs.SHARE) :]} {value:g} %"
        for name, value in figures.items()
        if name.startswith(lobs.SHARE)
    ]
    parts += [
        f"{name[len(lobs.TOTAL) :]} {value:.0f}"
        for name, value in figures.items()
        if name.startswith(lobs.TOTAL + "lob ") or name.startswith(lobs.TOTAL + "physical writes")
    ]
    if lobs.BITMAPS in figures:
        parts.append("waits for bitmap blocks (ASSM)")
    return "; ".join(parts)


def _status(share: float, policy: Policy) -> str:
    if share >= policy.lob_fail_percent:
        return FAIL
    return WARN if share >= policy.lob_warn_percent else PASS


def _limits(policy: Policy) -> str:
    return f"below {policy.lob_warn_percent:g} % of DB time, {policy.lob_fail_percent:g} % fails"


@rules.check(
    "latency.lob_contention",
    "Sessions do not wait for segment space (enq HW)",
    "Sessions wait for segment space (enq HW, contention)",
    severity="high",
    takes_effect="now",
    why="Sessions that insert LOBs wait for the one session that finds, extends or reclaims "
    "space, and that session waits for the disk.",
    reference=_SOURCE,
    each=REPORTS,
)
def lob_contention(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    figures = _figures(subject)
    share = _number(figures, lobs.SHARE + lobs.HW)
    if share is None:
        if not figures.get(lobs.WHOLE):
            raise Skip(f"This piece of a report does not have '{lobs.HW}'.", (subject.key,))
        share = 0.0
    status = _status(share, policy)
    why = None
    if status != PASS:
        why = f"{share:g} % of the database's time went to '{lobs.HW}'. " + _doubts(figures)
    return Verdict(
        status,
        why=why,
        advice=Advice([Ask(_ADVICE)]),
        desired=_limits(policy),
        in_use=_text(figures) or f"no '{lobs.HW}'",
        values={"percent": share},
        evidence=(subject.key,),
    )


def _doubts(figures: Figures) -> str:
    """The involved LOBs, and known bugs of the release."""
    written, direct = _number(figures, lobs.TOTAL + lobs.LOB_WRITES), _lob_part(figures)
    if written is None and direct is None:
        of_lobs = "The report does not show whether LOBs are the cause"
    elif not written and not direct:
        of_lobs = "No LOB was written in this interval: check growing tables"
    elif direct:
        of_lobs = "LOBs were written with direct path writes (NOCACHE)"
    else:
        of_lobs = "LOBs were written through the buffer cache"
    release, least = _release(figures)
    if release is None or (least and release < (11, 2, 0, 3)):
        return f"{of_lobs}. {_FIXED} The report does not contain the release."
    if release < (11, 2, 0, 3):
        return f"{of_lobs}. {_FIXED} This is {figures[lobs.RELEASE]}."
    return of_lobs + "."


def _lob_part(figures: Figures) -> Optional[float]:
    """The share of LOBs in direct path writes (0 to 1)."""
    lob = _number(figures, lobs.TOTAL + lobs.DIRECT_LOB_WRITES)
    every = _number(figures, lobs.TOTAL + lobs.DIRECT_WRITES)
    if lob is None or every is None:
        return None
    return min(1.0, lob / every) if every else 0.0


@rules.check(
    "latency.lob_direct_io",
    "Sessions do not wait for direct path LOB I/O",
    "Sessions wait for direct path LOB I/O",
    severity="medium",
    takes_effect="now",
    why="The session reads and writes a LOB without CACHE itself, block by block, and waits "
    "for each block.",
    reference=_SOURCE,
    each=REPORTS,
)
def lob_direct_io(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    figures = _figures(subject)
    plain, *of_lobs = [_number(figures, lobs.SHARE + name) or 0.0 for name in lobs.DIRECT]
    sure, part = sum(of_lobs), _lob_part(figures)
    reason = _why_unknown(figures, sure, plain, part)
    if reason is not None:
        raise Skip(reason, (subject.key,))
    share = sure + plain * (1.0 if part is None else part)
    status = _status(share, policy)
    if part is None and sure < policy.lob_fail_percent:
        # Loads and parallel queries write past the buffer cache too.
        status = min(status, WARN, key=(PASS, WARN, FAIL).index)
    why = None
    if status != PASS:
        guess = "; it does not show the share of LOBs, and has their waits too"
        why = "{0:.3g} % of the database's time went to it{1}.".format(
            share, guess if part is None and plain else ""
        )
    return Verdict(
        status,
        why=why,
        advice=Advice(
            [
                Ask(
                    "set CACHE for LOBs that are small and often used (it takes buffer cache and "
                    "redo): the test of 2014 took 6 minutes instead of 25; otherwise give the LOBs "
                    "faster storage"
                )
            ]
        ),
        desired=_limits(policy),
        in_use=_text(figures) or "no such wait",
        values={"percent": round(share, 3)},
        evidence=(subject.key,),
    )


def _why_unknown(
    figures: Figures, sure: float, plain: float, part: Optional[float]
) -> Optional[str]:
    """The reason that the report does not show the waits for LOBs; None if it does."""
    if not sure and not plain and not figures.get(lobs.WHOLE):
        return "This partial report has no such wait."
    if part is None and plain and lobs.SHARE + lobs.HW not in figures:
        return f"'{lobs.DIRECT[0]}' is {plain:g} %, and the report does not show the share of LOBs."
    return None


@rules.check(
    "latency.lob_reclaim_event",
    "Event 44951 is not set to a high or unknown level",
    "Event 44951 is set to a high or unknown level, or without effect",
    severity="medium",
    takes_effect="instance_restart",
    why="Sessions wait while one session reclaims as many chunks as the level says. Measured: "
    "22 minutes without the event, 18.5 at level 3, 22.5 at level 16, 49 at level 32.",
    reference=_SOURCE,
    each=SOURCES,
)
def lob_reclaim_event(subject: Source, _facts: Facts, _policy: Policy) -> Verdict:
    figures = _with_parameters(subject)
    event = figures.get(lobs.EVENT)
    if event is None:
        return Verdict(PASS, in_use="not in the parameter event", evidence=(subject.key,))
    level = _number(figures, lobs.EVENT)
    wrong: List[str] = []
    if _default(figures) in _MAKES_SECUREFILES:
        wrong.append("SecureFiles, which this database makes, do not take it")
    if level is None:
        wrong.append("its level is not shown (SHOW PARAMETER EVENT shows it)")
    elif level >= _WORSE_FROM:
        most = ", and above 1024 it is 1024" if level > 1024 else ""
        wrong.append(f"at {_WORSE_FROM}, 32 and 512 the test took longer than without it{most}")
    shown = "level " + (f"{level:.0f}" if level is not None else str(event))
    return Verdict(
        WARN if wrong else PASS,
        why="It is set ({0}): {1}.".format(shown, "; ".join(wrong)) if wrong else None,
        advice=Advice(
            [
                Ask(
                    f"measure the run time with it, with a level below {_WORSE_FROM} and without "
                    "it; to take it out, set EVENT to all other values of its list, for it "
                    "replaces the whole, and restart"
                )
            ]
        ),
        desired=f"not set, or below {_WORSE_FROM} for BasicFile LOBs",
        in_use=shown,
        values={"level": level} if level is not None else None,
        evidence=(subject.key,),
    )


def _with_parameters(subject: Source) -> Figures:
    figures = _figures(subject)
    if lobs.PARAMETERS not in figures:
        raise Skip("The text has no table of parameters.", (subject.key,))
    return figures


_MAKES_SECUREFILES = ("preferred", "always", "force")


def _default(figures: Figures) -> Optional[str]:
    """DB_SECUREFILE, or its default. None if the release is unknown.

    12.1 and later prefer SecureFiles, unless COMPATIBLE is lower (Database Reference).
    """
    if lobs.SECUREFILE in figures:
        return str(figures[lobs.SECUREFILE])
    release, least = _release(figures)
    compatible = oracle_release(figures.get(lobs.COMPATIBLE))
    if compatible is not None:
        return "preferred" if compatible >= _SECUREFILES_SINCE else "permitted"
    if release is None or (least and release < _SECUREFILES_SINCE):
        return None
    return "preferred" if release >= _SECUREFILES_SINCE else "permitted"


@rules.check(
    "latency.lob_securefile",
    "New LOBs are created as SecureFiles",
    "New LOBs are created as BasicFiles",
    severity="low",
    takes_effect="now",
    why="BasicFile LOBs share one enqueue to find space. An upgrade does not convert existing "
    "LOBs.",
    reference=_REFERENCE,
    each=SOURCES,
)
def lob_securefile(subject: Source, _facts: Facts, _policy: Policy) -> Verdict:
    figures = _with_parameters(subject)
    release, least = _release(figures)
    value = _default(figures)
    if value is None or release is None or (least and release < _SECUREFILES_SINCE):
        raise Skip("The release is unknown: set latency_release.", (subject.key,))
    where = "set" if lobs.SECUREFILE in figures else "the default"
    if release < _SECUREFILES_SINCE and value in ("always", "force"):
        return _forced_before_12(value, release, subject)
    if release < _SECUREFILES_SINCE:
        raise Skip(
            "Before 12.1 BasicFile LOBs are the default, and SecureFiles have other bugs "
            "up to 11.2.0.4 (buffer busy waits, lost space: J. Wartak, Parts 2 and 3, 2014).",
            (subject.key,),
        )
    compatible = figures.get(lobs.COMPATIBLE)
    if value == "force":
        return Verdict(
            WARN,
            why="FORCE makes a SecureFile of each new LOB, also where BASICFILE is stated, and "
            "fails in a tablespace without ASSM (ORA-43853). Oracle does not recommend it.",
            advice=Advice([Ask("set DB_SECUREFILE to PREFERRED")]),
            desired="PREFERRED or ALWAYS",
            in_use="FORCE (set)",
            evidence=(subject.key,),
        )
    return Verdict(
        PASS if value in _MAKES_SECUREFILES else WARN,
        advice=Advice(
            [
                Ask(
                    "set DB_SECUREFILE to PREFERRED; existing LOBs stay as they are until they are "
                    "moved (see DBA_LOBS.SECUREFILE), and SecureFiles need an ASSM tablespace"
                )
            ]
        ),
        desired="PREFERRED or ALWAYS",
        in_use="{0} ({1}{2})".format(
            value.upper(), where, f", COMPATIBLE {compatible}" if compatible else ""
        ),
        evidence=(subject.key,),
    )


#: SecureFiles were measured to waste space in 11.2.0.2, and to wait for their free lists (buffer
#: busy waits) in 11.2.0.3; 11.2.0.4 is stated to fix that (J. Wartak, Parts 2 and 3, 2014).
_SPACE_FIXED, _WAITS_FIXED = (11, 2, 0, 3), (11, 2, 0, 4)


def _forced_before_12(value: str, release: Tuple[int, ...], subject: Source) -> Verdict:
    """Where DB_SECUREFILE makes SecureFiles of LOBs whose owners did not choose them."""
    wrong = ""
    if release < _SPACE_FIXED:
        wrong = (
            "SecureFiles of 11.2.0.2 and earlier did not use the space of deleted LOBs again, and "
            "those of 11.2.0.3 wait for their free lists (buffer busy waits)"
        )
    elif release < _WAITS_FIXED:
        wrong = "SecureFiles of 11.2.0.3 wait for their free lists (buffer busy waits)"
    dotted = ".".join(str(number) for number in release)
    return Verdict(
        WARN if wrong else PASS,
        why=f"DB_SECUREFILE is {value.upper()}, and this is {dotted}. {wrong}." if wrong else None,
        advice=Advice(
            [
                Ask(
                    "set DB_SECUREFILE to PERMITTED until the database has 11.2.0.4 or later; "
                    "existing LOBs stay as they are until they are moved"
                )
            ]
        ),
        desired="PERMITTED, or 11.2.0.4 and later",
        in_use=f"{value.upper()} (set)",
        reference=_SOURCE,
        evidence=(subject.key,),
    )


@rules.check(
    "latency.lob_unaligned_writes",
    "LOBs are written in whole chunks",
    "LOBs are written in parts of chunks",
    severity="low",
    takes_effect="now",
    why="A write that does not cover whole chunks makes the database read and write the rest of "
    "the chunk too.",
    reference="Oracle Database SecureFiles and Large Objects Developer's Guide, "
    "DBMS_LOB.GETCHUNKSIZE; " + _SOURCE,
    each=REPORTS,
)
def lob_unaligned_writes(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    figures = _figures(subject)
    written, parts = (
        _number(figures, lobs.TOTAL + name) for name in (lobs.LOB_WRITES, lobs.UNALIGNED_WRITES)
    )
    if not written or parts is None:
        raise Skip("The report has no statistics of LOB writes.", (subject.key,))
    share = min(100.0, 100.0 * parts / written)
    text = f"{parts:,.0f} of {written:,.0f} LOB writes ({share:.1f} %) are unaligned"
    return Verdict(
        WARN if share > _MOST_UNALIGNED else PASS,
        why=f"{text}." if share > _MOST_UNALIGNED else None,
        advice=Advice(
            [
                Ask(
                    "write multiples of DBMS_LOB.GETCHUNKSIZE in the application, or choose a "
                    "CHUNK that fits the LOBs"
                )
            ]
        ),
        desired=f"at most {_MOST_UNALIGNED:g} % unaligned",
        in_use=text,
        values={"unaligned_percent": round(share, 1), "lob_writes": written},
        evidence=(subject.key,),
    )


#: Percent of the writes of LOBs. Half of them may be the ends of LOBs that are two chunks long.
_MOST_UNALIGNED = 50.0


@rules.check(
    "latency.redo_waits",
    "Sessions do not wait for the redo log",
    "The redo log is a bottleneck",
    severity="high",
    takes_effect="now",
    why="Sessions cannot change data faster than LGWR writes redo. Faster data files do not help.",
    reference="Oracle Database Reference, log buffer space, log file switch, log file sync; "
    + _SOURCE,
    each=REPORTS,
)
def redo_waits(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    figures = _figures(subject)
    shares = {
        name[len(lobs.REDO_SHARE) :]: float(value)
        for name, value in figures.items()
        if name.startswith(lobs.REDO_SHARE) and isinstance(value, (int, float))
    }
    if not shares and not figures.get(lobs.WHOLE):
        raise Skip("This piece of a report has no wait for the redo log.", (subject.key,))
    total = sum(shares.values())
    status = _status(total, policy)
    listed = "; ".join(f"{name} {share:g} %" for name, share in shares.items())
    moved = ""
    if lobs.SHARE + lobs.HW in figures and total > float(figures[lobs.SHARE + lobs.HW]):
        moved = (
            " It is more than 'enq: HW - contention': the bottleneck is now redo, not LOB space."
        )
    return Verdict(
        status,
        why=f"{total:.3g} % of the database's time went to the redo log ({listed}).{moved}"
        if status != PASS
        else None,
        advice=Advice([Ask(fix_of_redo(shares, log_write_us(known(subject.answer))))]),
        desired=_limits(policy),
        in_use=listed or "no such wait",
        values={f"{name} percent": share for name, share in shares.items()} or None,
        evidence=(subject.key,),
    )
