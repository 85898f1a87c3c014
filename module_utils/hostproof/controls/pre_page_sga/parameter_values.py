# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of parameters of an instance: running, at the next start, default of the release."""

from typing import Optional, Tuple

from ...collect.answer import known
from ...errors import Unanswered
from ...parsers.number import clipped
from ...parsers.oracle import pfile
from ...parsers.oracle.alert_log_large_pages import PageSize
from ...parsers.size import human
from ...probes.oracle.instances import SgaPages, sga_pages
from ...probes.oracle.next_start import SIZES, bytes_of, next_entries, next_place
from ...probes.oracle.oracle_parameters import Version
from .facts import Facts, Subject

#: Since this release a background process touches the SGA once. In older ones every process does.
ONCE_SINCE = (12, 1)
#: First release with use_large_pages.
LARGE_PAGES_SINCE = (11, 2, 0, 2)
AUTO_ONLY_SINCE = (19,)
#: pre_page_sga is deprecated since this release update of 19c, and since 23ai. Oracle Database
#: Reference 19c (PRE_PAGE_SGA, note on 19.22) and 23ai; the Reference of 21c has no such note.
DEPRECATED_SINCE = (19, 22)
DEPRECATED_MAJOR = 23

TRUE, FALSE = "TRUE", "FALSE"
SMALL_PAGE = 4096


def walks_at_each_login(version: Version) -> bool:
    """Whether every new process touches the SGA with pre_page_sga=TRUE."""
    return not _at_least(version, ONCE_SINCE)


def has_use_large_pages(version: Version) -> bool:
    return _at_least(version, LARGE_PAGES_SINCE)


def is_deprecated(version: Version) -> bool:
    """Whether pre_page_sga should not be set. Unanswered for 19c without a release update."""
    if version[0] != DEPRECATED_SINCE[0]:
        return version[0] >= DEPRECATED_MAJOR
    if not any(version[1:]):
        raise Unanswered(
            "policy",
            f"the release update of {release(version)} is not known, and pre_page_sga is "
            "deprecated since 19.22: set version in pre_page_sga_instances, for example 19.21",
        )
    return version >= DEPRECATED_SINCE


def _at_least(version: Version, floor: Version) -> bool:
    """Unanswered if the release has too few numbers to compare, such as "11"."""
    if len(version) < len(floor) and version == floor[: len(version)]:
        raise Unanswered(
            "policy",
            "release {0} is not precise enough: set it to a release such as {1}".format(
                release(version), "11.2.0.4 or 12.1"
            ),
        )
    return version >= floor


def release(version: Version) -> str:
    return ".".join(str(number) for number in version)


def default(name: str, version: Version) -> str:
    """Default value of the parameter."""
    if name == "pre_page_sga":
        return FALSE if walks_at_each_login(version) else TRUE
    return {"use_large_pages": TRUE, "lock_sga": FALSE}.get(name, "0")


def running_value(subject: Subject, name: str) -> Optional[str]:
    """The running value, None if the instance is down. Raises if it is unknown."""
    if subject.running is None:
        return None
    answer = known(subject.asked)
    if answer.running.get(name) is None:
        raise Unanswered(answer.key, f"{subject.sid} has no parameter {name}")
    return _normal(name, answer.running[name] or "")


def next_value(subject: Subject, name: str) -> str:
    """The value at the next start. Raises if it is unknown."""
    entry = pfile.effective(next_entries(subject.database), name, subject.sid)
    if entry is None:
        return default(name, known(subject.version))
    return _normal(name, entry.value)


def next_text(subject: Subject, name: str) -> str:
    """Text of the persisted layer: the value and the effective entry."""
    entry = pfile.effective(next_entries(subject.database), name, subject.sid)
    if entry is None:
        return f"{default(name, known(subject.version))} (default, nothing sets it)"
    place = f" in {next_place(subject.database)}"
    return f"{_normal(name, entry.value)} ({entry.sid}.{name}{place})"


def _normal(name: str, value: str) -> str:
    """A value for comparison: words in upper case, sizes in bytes."""
    return str(bytes_of(name, value)) if name in SIZES else value.upper()


def shown(name: str, value: Optional[str]) -> Optional[str]:
    """A value for display."""
    if value is None or name not in SIZES or value == "0":
        return value
    return human(clipped(value))


# -- pages ----------------------------------------------------------------------------------------


def pages_now(subject: Subject, facts: Facts) -> Optional[SgaPages]:
    """Page sizes of the SGA, None if the instance is down. Raises if they are unknown."""
    if subject.running is None:
        return None
    return sga_pages(known(subject.running.segments), known(facts.pool).page_size)


def is_short(page: PageSize) -> bool:
    """Whether a start got fewer pages of a size than it requested."""
    return page.asked is None or page.granted < page.asked or page.error is not None


def wholly_huge(pages: SgaPages) -> bool:
    return pages.huge > 0 and not pages.small


def all_huge(subject: Subject, facts: Facts) -> bool:
    """Whether the instance runs with its whole SGA in huge pages. Raises if that is unknown."""
    pages = pages_now(subject, facts)
    return pages is not None and wholly_huge(pages)


def pages_text(pages: SgaPages, page: int) -> str:
    if not pages.huge + pages.small:
        return "no SysV segment (Automatic Memory Management?)"
    if wholly_huge(pages):
        return f"SGA {human(pages.huge)}, all in pages of {human(page)}"
    if not pages.huge:
        return f"SGA {human(pages.small)}, all in pages of 4 KiB"
    return (
        f"SGA {human(pages.huge)} in pages of {human(page)} and {human(pages.small)} in pages of "
        "4 KiB"
    )


def walk(pages: SgaPages, page: int) -> Tuple[int, int]:
    """Number of pages that a process touches: now, and if the whole SGA was in huge pages."""
    total = pages.huge + pages.small
    return pages.huge // page + pages.small // SMALL_PAGE, -(-total // page)
