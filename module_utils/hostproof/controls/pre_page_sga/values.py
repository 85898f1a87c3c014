# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parameters of an instance are worth: now, at the next start, by default, by release."""

from typing import List, Optional, Tuple

from ...answer import known
from ...errors import HostproofError, Unanswered
from ...parsers import pfile
from ...parsers.size import human, parse_size
from ...probes.instances import SgaPages, sga_pages
from ...probes.oracle_parameters import Version
from .facts import Facts, Subject

#: Since this release a background process touches the SGA once; before, every process did.
ONCE_SINCE = (12, 1)
#: use_large_pages exists since.
LARGE_PAGES_SINCE = (11, 2, 0, 2)
AUTO_ONLY_SINCE = (19,)

TRUE, FALSE = "TRUE", "FALSE"
SMALL_PAGE = 4096

_SIZES = ("memory_target", "memory_max_target", "sga_max_size", "sga_target")


def walks_at_each_login(version):
    # type: (Version) -> bool
    """Whether pre_page_sga makes every process that starts touch the SGA."""
    return not _at_least(version, ONCE_SINCE)


def has_use_large_pages(version):
    # type: (Version) -> bool
    return _at_least(version, LARGE_PAGES_SINCE)


def _at_least(version, floor):
    # type: (Version, Version) -> bool
    """Raises Unanswered where the release has too few numbers to tell ("11")."""
    if len(version) < len(floor) and version == floor[: len(version)]:
        raise Unanswered(
            "policy",
            "release {0} is not enough to judge: give it as {1}".format(
                release(version), "11.2.0.4 or 12.1"
            ),
        )
    return version >= floor


def release(version):
    # type: (Version) -> str
    return ".".join(str(number) for number in version)


def default(name, version):
    # type: (str, Version) -> str
    """What an instance takes where nothing sets the parameter."""
    if name == "pre_page_sga":
        return FALSE if walks_at_each_login(version) else TRUE
    return {"use_large_pages": TRUE, "lock_sga": FALSE}.get(name, "0")


def running_value(subject, name):
    # type: (Subject, str) -> Optional[str]
    """What is in force, None for an instance that is down; raises what is unknown."""
    if subject.running is None:
        return None
    asked = known(subject.asked)
    if asked.running.get(name) is None:
        raise Unanswered(asked.key, "{0} has no parameter {1}".format(subject.sid, name))
    return _normal(name, asked.running[name] or "")


def next_entries(subject):
    # type: (Subject) -> List[pfile.Entry]
    """The entries that the next start takes: of the spfile in use, else of the file it finds."""
    if subject.running is not None:
        asked = known(subject.asked)
        if asked.spfile is not None:
            return list(asked.stored)
    return list(known(subject.file).entries)


def next_value(subject, name):
    # type: (Subject, str) -> str
    """What the next start takes; raises what is unknown."""
    entry = pfile.effective(next_entries(subject), name, subject.sid)
    if entry is None:
        return default(name, known(subject.version))
    return _normal(name, entry.value)


def next_text(subject, name):
    # type: (Subject, str) -> str
    """The persisted layer: the value, and which entry wins."""
    entry = pfile.effective(next_entries(subject), name, subject.sid)
    if entry is None:
        return "{0} (default, nothing sets it)".format(default(name, known(subject.version)))
    place = " in {0}".format(next_place(subject))
    return "{0} ({1}.{2}{3})".format(_normal(name, entry.value), entry.sid, name, place)


def next_place(subject):
    # type: (Subject) -> str
    """The file that the next start takes its parameters from."""
    if not isinstance(subject.asked, HostproofError) and subject.asked.spfile is not None:
        return subject.asked.spfile
    return str(known(subject.file).source)


def _normal(name, value):
    # type: (str, str) -> str
    """A value as it compares: TRUE and FALSE in capitals, sizes in bytes."""
    if name not in _SIZES:
        return value.upper()
    try:
        return str(parse_size(value))
    except ValueError as problem:
        raise Unanswered("policy", "{0}: {1}".format(name, problem)) from problem


def shown(name, value):
    # type: (str, Optional[str]) -> Optional[str]
    """A value for people."""
    if value is None or name not in _SIZES or value == "0":
        return value
    return human(int(value))


# -- pages ----------------------------------------------------------------------------------------


def pages_now(subject, facts):
    # type: (Subject, Facts) -> Optional[SgaPages]
    """The SGA by its pages, None for an instance that is down; raises what is unknown."""
    if subject.running is None:
        return None
    return sga_pages(known(subject.running.segments), known(facts.pool).page_size)


def wholly_huge(pages):
    # type: (SgaPages) -> bool
    return pages.huge > 0 and not pages.small


def pages_text(pages, page):
    # type: (SgaPages, int) -> str
    if not pages.huge + pages.small:
        return "no SysV segment (Automatic Memory Management?)"
    if wholly_huge(pages):
        return "SGA {0}, all in pages of {1}".format(human(pages.huge), human(page))
    if not pages.huge:
        return "SGA {0}, all in pages of 4 KiB".format(human(pages.small))
    return "SGA {0} in pages of {1} and {2} in pages of 4 KiB".format(
        human(pages.huge), human(page), human(pages.small)
    )


def walk(pages, page):
    # type: (SgaPages, int) -> Tuple[int, int]
    """Pages that a process touches: as the SGA lies, and if it lay in huge pages."""
    total = pages.huge + pages.small
    return pages.huge // page + pages.small // SMALL_PAGE, -(-total // page)
