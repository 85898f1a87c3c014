# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flags of an open file, as /proc/PID/fdinfo/N has them: octal, and by architecture.

Where one has O_DIRECT another has O_DIRECTORY (0200000 on x86 is that, and O_DIRECT on ARM), so a
machine that is not known is a ParseError. Sources: proc_pid_fdinfo(5); Linux,
include/uapi/asm-generic/fcntl.h and arch/{arm,arm64,powerpc,sparc}/include/uapi/asm/fcntl.h.
"""

from typing import Dict, NamedTuple

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "fdinfo"
_ACCESS, _READ_AND_WRITE = 0o3, 0o2


class _Bits(NamedTuple):
    """O_SYNC is O_DSYNC and one bit more."""

    direct: int
    dsync: int


_GENERIC = _Bits(0o40000, 0o10000)
_ARM = _GENERIC._replace(direct=0o200000)
_POWER = _GENERIC._replace(direct=0o400000)
_SPARC = _Bits(0x100000, 0x2000)

#: By what uname -m prints.
_MACHINES: Dict[str, _Bits] = {
    "x86_64": _GENERIC,
    "i686": _GENERIC,
    "s390x": _GENERIC,
    "riscv64": _GENERIC,
    "aarch64": _ARM,
    "armv7l": _ARM,
    "ppc64": _POWER,
    "ppc64le": _POWER,
    "sparc64": _SPARC,
}


class OpenFlags(NamedTuple):
    """``updates``: it is open to read and write. ``direct``: past the page cache. ``sync``: a write
    ends when it is on the disk (O_DSYNC, or O_SYNC, which holds it)."""

    updates: bool
    direct: bool
    sync: bool


def parse(text: str, machine: str) -> OpenFlags:
    bits = _MACHINES.get(machine)
    if bits is None:
        raise ParseError(_WHAT, f"the flags of this machine are not known: {kind_of(machine)}")
    flags = integer(text, 8)
    return OpenFlags(
        flags & _ACCESS == _READ_AND_WRITE,
        bool(flags & bits.direct),
        flags & bits.dsync == bits.dsync,
    )
