# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""struct tcp_info: what Linux knows of one TCP connection, as getsockopt(TCP_INFO) gives it.

Source: kernel include/uapi/linux/tcp.h. The kernel writes as much of it as it has, so what a
field's length allows to read is known by that length, never by the kernel's version.
"""

import struct
from typing import NamedTuple, Optional

from ....errors import ParseError

_WHAT = "struct tcp_info"

#: More than any kernel writes; it answers with as much as it has.
ROOM = 512

#: Offsets of u32 fields. The first kernels with Python 3.6 have all up to tcpi_total_retrans.
_RTT, _TOTAL_RETRANS, _MIN_RTT = 68, 100, 148


class TcpInfo(NamedTuple):
    """``rtt`` is the smoothed round trip, ``min_rtt`` the least, in microseconds.

    Right after connect() ``rtt`` is that of SYN and SYN/ACK alone, 0 where the SYN was sent again
    and so told nothing. ``min_rtt`` is None before Linux 4.6. ``retransmissions`` are segments
    of the whole connection that were sent again.
    """

    rtt: int
    retransmissions: int
    min_rtt: Optional[int]


def parse(data: bytes) -> TcpInfo:
    """Raises ParseError where the kernel gave less than every kernel since 2.6.32 gives."""
    if len(data) < _TOTAL_RETRANS + 4:
        raise ParseError(_WHAT, f"{len(data)} bytes, not {_TOTAL_RETRANS + 4}")
    least = _u32(data, _MIN_RTT) if len(data) >= _MIN_RTT + 4 else None
    # A kernel that has the field and has measured nothing says all ones.
    if least == 0xFFFFFFFF:
        least = None
    return TcpInfo(_u32(data, _RTT), _u32(data, _TOTAL_RETRANS), least)


def _u32(data: bytes, offset: int) -> int:
    return int(struct.unpack_from("=I", data, offset)[0])
