# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parameters of an instance are worth: now, at the next start, by default, by release."""

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

#: Since this release a background process touches the SGA once; before, every process did.
ONCE_SINCE = (12, 1)
#: use_large_pages exists since.
LARGE_PAGES_SINCE = (11, 2, 0, 2)
AUTO_ONLY_SINCE = (19,)
#: pre_page_sga is deprecated since this release update of 19c, and since 23ai. Oracle Database
#: Reference 19c (PRE_PAGE_SGA, note on 19.22) and 23ai; the Reference of 21c has no such note.
DEPRECATED_SINCE = (19, 22)
DEPRECATED_MAJOR = 23

TRUE, FALSE = "TRUE", "FALSE"
SMALL_PAGE = 4096


def walks_at_each_login(version: Version) -> bool:
    """Whether pre_page_sga makes every process that starts touch the SGA."""
    return not _at_least(version, ONCE_SINCE)


def has_use_large_pages(version: Version) -> bool:
    return _at_least(version, LARGE_PAGES_SINCE)


def is_deprecated(version: Version) -> bool:
    """Whether pre_page_sga should not be set; Unanswered where 19c does not tell its update."""
    if version[0] != DEPRECATED_SINCE[0]:
        return version[0] >= DEPRECATED_MAJOR
    if not any(version[1:]):
        raise Unanswered(
            "policy",
            f"release {release(version)} tells no release update, and pre_page_sga is deprecated "
            "since 19.22: give it in pre_page_sga_instances, such as version 19.21",
        )
    return version >= DEPRECATED_SINCE


def _at_least(version: Version, floor: Version) -> bool:
    """Raises Unanswered where the release has too few numbers to tell ("11")."""
    if len(version) < len(floor) and version == floor[: len(version)]:
        raise Unanswered(
            "policy",
            "release {0} is not enough to check: give it as {1}".format(
                release(version), "11.2.0.4 or 12.1"
            ),
        )
    return version >= floor


def release(version: Version) -> str:
    return ".".join(str(number) for number in version)


def default(name: str, version: Version) -> str:
    """What an instance takes where nothing sets the parameter."""
    if name == "pre_page_sga":
        return FALSE if walks_at_each_login(version) else TRUE
    return {"use_large_pages": TRUE, "lock_sga": FALSE}.get(name, "0")


def running_value(subject: Subject, name: str) -> Optional[str]:
    """What is in force, None for an instance that is down; raises what is unknown."""
    if subject.running is None:
        return None
    asked = known(subject.asked)
    if asked.running.get(name) is None:
        raise Unanswered(asked.key, f"{subject.sid} has no parameter {name}")
    return _normal(name, asked.running[name] or "")


def next_value(subject: Subject, name: str) -> str:
    """What the next start takes; raises what is unknown."""
    entry = pfile.effective(next_entries(subject.database), name, subject.sid)
    if entry is None:
        return default(name, known(subject.version))
    return _normal(name, entry.value)


def next_text(subject: Subject, name: str) -> str:
    """The persisted layer: the value, and which entry wins."""
    entry = pfile.effective(next_entries(subject.database), name, subject.sid)
    if entry is None:
        return f"{default(name, known(subject.version))} (default, nothing sets it)"
    place = f" in {next_place(subject.database)}"
    return f"{_normal(name, entry.value)} ({entry.sid}.{name}{place})"


def _normal(name: str, value: str) -> str:
    """A value as it compares: TRUE and FALSE in capitals, sizes in bytes."""
    return str(bytes_of(name, value)) if name in SIZES else value.upper()


def shown(name: str, value: Optional[str]) -> Optional[str]:
    """A value for people."""
    if value is None or name not in SIZES or value == "0":
        return value
    return human(clipped(value))


# -- pages ----------------------------------------------------------------------------------------


def pages_now(subject: Subject, facts: Facts) -> Optional[SgaPages]:
    """The SGA by its pages, None for an instance that is down; raises what is unknown."""
    if subject.running is None:
        return None
    return sga_pages(known(subject.running.segments), known(facts.pool).page_size)


def is_short(page: PageSize) -> bool:
    """Whether a start got fewer pages of a size than it requested."""
    return page.asked is None or page.granted < page.asked or page.error is not None


def wholly_huge(pages: SgaPages) -> bool:
    return pages.huge > 0 and not pages.small


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
    """Pages that a process touches: as the SGA lies, and if it was in huge pages."""
    total = pages.huge + pages.small
    return pages.huge // page + pages.small // SMALL_PAGE, -(-total // page)
