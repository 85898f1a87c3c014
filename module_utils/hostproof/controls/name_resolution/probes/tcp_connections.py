# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a TCP connection to each address opens. It is closed without a byte of data."""

import socket
from typing import Dict, Sequence, Union

from ....collect.answer import attempt, known
from ....collect.host import Host
from ....collect.measured import Measured
from ....errors import Unanswered

_NAME = "scan connections"
KEY = "windows:" + _NAME
#: Seconds to wait for a connection.
PATIENCE = 3.0
OPEN = ""


def connect_to(host: Host, addresses: Sequence[str], port: int) -> Dict[str, str]:
    """OPEN by address, or the error of the system."""
    result = known(attempt(host.windows, _NAME, lambda: _measure(addresses, port)))
    figures = result.figures or {}
    missing = [address for address in addresses if _key(address, port) not in figures]
    if missing:
        raise Unanswered(KEY, f"no connection to {missing[0]} was tried: record it again")
    return {address: str(figures[_key(address, port)])[:200] for address in addresses}


def _key(address: str, port: int) -> str:
    return f"{address} port {port}"


def _measure(addresses: Sequence[str], port: int) -> Measured:
    figures: Dict[str, Union[str, float]] = {}
    for address in addresses:
        figures[_key(address, port)] = _connect(address, port)
    return Measured([], [], figures)


def _connect(address: str, port: int) -> str:
    try:
        socket.create_connection((address, port), PATIENCE).close()
    except OSError as problem:
        return problem.strerror or str(problem) or "no answer"
    return OPEN
