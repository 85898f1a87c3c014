# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as the kernel reads them when they are written to a file of /proc/sys.

Source: Linux, kernel/sysctl.c: proc_get_long(), strtoul_lenient(), __do_proc_dointvec() and
__do_proc_doulongvec_minmax(); lib/kstrtox.c: _parse_integer_fixup_radix(), kstrtouint(), which
reads the parameters of modules; mm/hugetlb.c: nr_hugepages_store_common(). What the kernel rejects
leaves the value as it was."""

import re
from typing import List, NamedTuple, Optional, Tuple

from ...errors import kind_of
from ..number import clipped

#: isspace() of the kernel, which is skipped in front of a number.
_SPACE = " \t\n\v\f\r"
#: What may be behind a number (proc_wspace_sep).
_BEHIND = " \t\n"
#: The kernel checks no more than these characters of a number (TMPBUFLEN - 1).
_LONGEST = 21

_DIGITS = {8: re.compile("[0-7]*"), 10: re.compile("[0-9]*"), 16: re.compile("[0-9a-fA-F]*")}
_ULONG_MAX = (1 << 64) - 1


class Limits(NamedTuple):
    """The smallest and the largest number that a file of /proc/sys takes."""

    least: int
    most: int


class Number(NamedTuple):
    """``value`` is None where the kernel rejects the text; ``remark`` says why.

    With a value, ``remark`` says what a reader of the text could take otherwise, if anything.
    """

    value: Optional[int]
    remark: Optional[str]


UNSIGNED_LONG = Limits(0, _ULONG_MAX)
INT = Limits(-(1 << 31), (1 << 31) - 1)
_PERCENT = Limits(0, 100)
#: net/sunrpc/xprtsock.c: RPC_MIN_SLOT_TABLE and RPC_MAX_SLOT_TABLE_LIMIT.
SLOTS = Limits(2, 65536)

_LONG_MAX = (1 << 63) - 1
_PORT = Limits(1, 65535)
_BUFFER = Limits(1, INT.most)

#: The range that the kernel accepts for the keys that are checked here, by their path below
#: /proc/sys (fs/aio.c, fs/file_table.c, ipc/ipc_sysctl.c, kernel/panic.c, kernel/sched/core.c,
#: mm/hugetlb.c, mm/page-writeback.c, mm/swap.c, net/core/sysctl_net_core.c,
#: net/ipv4/ip_fragment.c, net/sunrpc/xprtsock.c).
LIMITS = {
    "fs/aio-max-nr": UNSIGNED_LONG,
    "fs/file-max": Limits(0, _LONG_MAX),
    "kernel/numa_balancing": Limits(0, 4),
    "kernel/panic": INT,
    "kernel/panic_on_oops": INT,
    "kernel/shmall": UNSIGNED_LONG,
    "kernel/shmmax": UNSIGNED_LONG,
    "kernel/shmmni": Limits(0, 1 << 24),
    "net/core/rmem_default": _BUFFER,
    "net/core/rmem_max": _BUFFER,
    "net/core/wmem_default": _BUFFER,
    "net/core/wmem_max": _BUFFER,
    "net/ipv4/ipfrag_high_thresh": UNSIGNED_LONG,
    "net/ipv4/ipfrag_low_thresh": UNSIGNED_LONG,
    "vm/min_free_kbytes": Limits(0, INT.most),
    "vm/swappiness": Limits(0, 200),
    "vm/nr_hugepages": UNSIGNED_LONG,
    "vm/nr_hugepages_mempolicy": UNSIGNED_LONG,
    "vm/nr_overcommit_hugepages": UNSIGNED_LONG,
    "vm/hugetlb_shm_group": INT,
    # Two pages; a page of 4 KiB is the smallest there is.
    "vm/dirty_bytes": Limits(8192, _ULONG_MAX),
    "vm/dirty_ratio": _PERCENT,
    "vm/dirty_background_bytes": Limits(1, _ULONG_MAX),
    "vm/dirty_background_ratio": _PERCENT,
    "sunrpc/tcp_slot_table_entries": SLOTS,
    "sunrpc/tcp_max_slot_table_entries": SLOTS,
}

#: The files that hold several numbers, with what each takes: SEMMNI has a separate limit
#: (ipc/ipc_sysctl.c), and the ports of a range must ascend (net/ipv4/sysctl_net_ipv4.c).
VECTORS = {
    "kernel/sem": (INT, INT, INT, Limits(0, 32768)),
    "net/ipv4/ip_local_port_range": (_PORT, _PORT),
    "net/ipv4/tcp_rmem": (_BUFFER, _BUFFER, _BUFFER),
    "net/ipv4/tcp_wmem": (_BUFFER, _BUFFER, _BUFFER),
}
_ASCENDING = ("net/ipv4/ip_local_port_range",)


class Numbers(NamedTuple):
    """As Number, of a file with several: fewer than it holds leave the others as they were."""

    values: Optional[Tuple[int, ...]]
    remark: Optional[str]


def read_vector(key: str, text: str) -> Numbers:
    """What a text becomes in a file of VECTORS; what is behind its numbers is not read."""
    takes = VECTORS[key]
    numbers: List[int] = []
    for word, limits in zip(text.split(), takes):
        number = read(word, limits)
        if number.value is None:
            # The kernel sets one after the other until it meets this, but for ports.
            is_set = numbers and key not in _ASCENDING
            done = f"; the {len(numbers)} before it are set" if is_set else ""
            return Numbers(None, f"{kind_of(word)}: {number.remark}{done}")
        numbers.append(number.value)
    if not numbers:
        return Numbers(None, "it is empty")
    if key in _ASCENDING and numbers != sorted(numbers):
        return Numbers(None, "its numbers do not ascend")
    short = f"it sets {len(numbers)} of {len(takes)} numbers" if len(numbers) < len(takes) else None
    return Numbers(tuple(numbers), short)


def read(text: str, limits: Limits) -> Number:
    """The value of a number in /proc/sys after ``text`` was written to its file."""
    text = text.lstrip(_SPACE)
    if not text:
        return Number(None, "it is empty")
    looked_at = text[:_LONGEST]
    negative = looked_at[0] == "-" and len(text) > 1
    start = 1 if negative else 0
    if looked_at[start : start + 1] not in tuple("0123456789"):
        return Number(None, "it does not begin with a digit")
    base, value, end = _digits(looked_at, start)
    if value > _ULONG_MAX:
        return Number(None, "it is larger than 64 bits")
    if end == _LONGEST:
        return Number(None, f"it has more than {_LONGEST - 1} characters")
    if end < len(text) and text[end] not in _BEHIND:
        return Number(None, _why_not_behind(text, end, base))
    value = -value if negative else value
    if (negative and limits.least >= 0) or not limits.least <= value <= limits.most:
        return Number(None, f"it is not from {limits.least} to {limits.most}")
    return Number(value, _remark(base, value, text[end:].strip(_SPACE)))


def read_parameter(text: str, limits: Limits) -> Number:
    """What a module's parameter becomes; if it is rejected, the module is not loaded."""
    start = 1 if text.startswith("+") else 0
    base, value, end = _digits(text, start)
    if end == start or text[end:] not in ("", "\n"):
        return Number(
            None, _why_not_behind(text, end, base) if end > start else "it is not a number"
        )
    if not limits.least <= value <= limits.most:
        return Number(None, f"it is not from {limits.least} to {limits.most}")
    return Number(value, _remark(base, value, ""))


def read_decimal(text: str, limits: Limits) -> Number:
    """What a file of /sys/kernel/mm/hugepages becomes: kstrtoul() with the base 10."""
    # One newline may be behind it.
    match = re.match(r"[+]?([0-9]+)\n?\Z", text)
    if match is None:
        return Number(None, "it is not a decimal number")
    value = clipped(match.group(1))
    if not limits.least <= value <= limits.most:
        return Number(None, f"it is not from {limits.least} to {limits.most}")
    return Number(value, None)


def _digits(text: str, start: int) -> Tuple[int, int, int]:
    """(base, value, where the digits end) of the number at ``start``."""
    base = 10
    if text[start : start + 1] == "0":
        base = 8
        if text[start + 1 : start + 2] in ("x", "X") and re.match("[0-9a-fA-F]", text[start + 2 :]):
            base = 16
            start += 2
    match = _DIGITS[base].match(text, start)
    end = match.end() if match else start
    return base, clipped(text[start:end], base), end


def _why_not_behind(text: str, end: int, base: int) -> str:
    if base == 8 and text[end] in "89":
        return f"a leading 0 makes it octal, and octal has no {text[end]}"
    return f"{text[end]!r} follows the number"


def _remark(base: int, value: int, rest: str) -> Optional[str]:
    remarks = []
    if base == 8 and value:
        remarks.append("a leading 0 makes it octal")
    if base == 16:
        remarks.append("it is hexadecimal")
    if rest:
        remarks.append("text after the first number is not read")
    return ", ".join(remarks) or None
