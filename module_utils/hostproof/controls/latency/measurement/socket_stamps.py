# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's own time stamps of what a TCP socket sends and receives (SO_TIMESTAMPING).

A stamp is taken when the driver is given the last byte of a request, and when the kernel is given
the packet with the last byte of the answer: the time between holds the wire and the other side,
and nothing of this host's scheduler or of Python. No privilege is needed.
Sources: kernel Documentation/networking/timestamping.rst; include/uapi/linux/net_tstamp.h and
errqueue.h. TCP transmit stamps are in Linux since 3.17, receive stamps since 4.14, and both need
the driver's help: whether they come is seen, never concluded from a version.
"""

import socket
import struct
import sys
import time
from typing import Dict, Optional, Tuple

SO_TIMESTAMPING = 37
_TX_SOFTWARE, _RX_SOFTWARE, _SOFTWARE, _OPT_ID, _OPT_TSONLY = 2, 8, 16, 128, 2048

#: Bytes are numbered and the kernel reads the clock for what it receives, but nothing has a stamp:
#: that clock is switched on for the whole kernel, which is not to be done again and again.
_READY = _RX_SOFTWARE | _OPT_ID | _OPT_TSONLY

#: Sent with a transmit stamp: where it comes from, and that it is of the driver's sending.
_ORIGIN_TIMESTAMPING = 4
_SCM_TSTAMP_SND = 0
_MSG_ERRQUEUE = 0x2000
#: IP_RECVERR and IPV6_RECVERR, by the protocol of the connection.
_RECVERR = ((socket.IPPROTO_IP, 11), (socket.IPPROTO_IPV6, 25))

#: struct scm_timestamping begins with the software stamp: seconds and nanoseconds.
_TIMESPEC = struct.Struct("@ll")
#: struct sock_extended_err: errno, origin, type, code, padding, info, data.
_EXTENDED_ERROR = struct.Struct("=IBBBBII")

#: Room for a stamp and an extended error with an address.
ROOM = 256

#: Receive stamps are switched on by a worker of the kernel: it needs a moment.
_SWITCH_ON = 0.02

#: Numbers of bytes begin again after this one.
LARGEST = 0xFFFFFFFF


def prepare(stream: socket.socket) -> bool:
    """Make stamps possible, at a moment when all that was sent is acknowledged; False where the
    kernel rejects. Only ask() makes any."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        stream.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, _READY)
    except OSError:
        return False
    time.sleep(_SWITCH_ON)
    return True


def ask(stream: socket.socket, enabled: bool) -> None:
    """Whether what is sent and received from now on has stamps."""
    flags = _READY | _TX_SOFTWARE | _SOFTWARE if enabled else _READY
    stream.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags)


def received(ancillary: list) -> Optional[int]:
    """The receive stamp in what recvmsg() gave next to the data; nanoseconds since 1970."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPING:
            return _stamp(data)
    return None


def sent(stream: socket.socket) -> Dict[int, int]:
    """The transmit stamps that the kernel has ready: the number of the last byte of what was sent,
    of all that were sent since prepare() and up to LARGEST, to nanoseconds since 1970.

    Where the kernel sent a byte twice, the first time counts.
    """
    stamps: Dict[int, int] = {}
    while True:
        try:
            _, ancillary, _, _ = stream.recvmsg(1, ROOM, _MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except OSError:
            return stamps
        stamp, number = _of_error_queue(ancillary)
        if number is not None and stamp is not None:
            stamps.setdefault(number, stamp)


def _of_error_queue(ancillary: list) -> Tuple[Optional[int], Optional[int]]:
    """The stamp and the number of its byte."""
    stamp: Optional[int] = None
    number: Optional[int] = None
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPING:
            stamp = _stamp(data)
        elif (level, kind) in _RECVERR and len(data) >= _EXTENDED_ERROR.size:
            _, origin, _, _, _, info, value = _EXTENDED_ERROR.unpack_from(data)
            if (origin, info) == (_ORIGIN_TIMESTAMPING, _SCM_TSTAMP_SND):
                number = value
    return stamp, number


def _stamp(data: bytes) -> Optional[int]:
    """Zero is not a stamp: the driver took none."""
    if len(data) < _TIMESPEC.size:
        return None
    seconds, nanoseconds = _TIMESPEC.unpack_from(data)
    return int(seconds) * 1000000000 + int(nanoseconds) or None
