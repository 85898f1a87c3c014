# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of the traffic of round trips, so that a probe never becomes a load test."""

from typing import Any, Dict, Sequence

from ....errors import PolicyError
from ....latency.probe_list import REQUEST_RESPONSE, TCP, Probe

#: At most ten connections per second: a listener logs each one, and may limit their rate.
LEAST_CONNECT_INTERVAL = 0.1

#: Seconds from one connection or request to the next where a list of probes does not say how many.
_CONNECT_INTERVAL = 0.2
_REQUEST_INTERVAL = 0.002

#: Connections and bytes to one target in all windows together.
MOST_CONNECTIONS = 2000
MOST_BYTES = 1 << 30

#: Requests before the measurement, and their limit in bytes.
WARM_UP = 500
WARM_UP_BYTES = 1 << 20
LEAST_WARM_UP = 3

#: Maximum bytes of a request and its answer for two requests per sample, one of them without time
#: stamps.
SMALL_EXCHANGE = 4096


def check_probes(
    probes: Sequence[Probe], windows: int, seconds: float, where: str = "probes"
) -> None:
    """PolicyError for round trips that do not fit into a window, or are too many in all of them."""
    for probe in probes:
        if probe.kind != TCP:
            continue
        options = probe.options
        samples = samples_of(options, windows, seconds)
        try:
            check_time(options["mode"], samples, seconds)
            check(options["mode"], windows, samples, options["request_size"], options["reply_size"])
        except ValueError as problem:
            raise PolicyError(f"{where}, {probe.name}: {problem}") from problem


def samples_of(options: Dict[str, Any], windows: int, seconds: float) -> int:
    """Number of round trips a window of a ``tcp`` probe with these options shall have: what the
    list says, else what is usual in this number of seconds and is not too much in this number
    of windows."""
    if options["samples"]:
        return int(options["samples"])
    if options["mode"] != REQUEST_RESPONSE:
        return max(1, min(int(seconds / _CONNECT_INTERVAL), MOST_CONNECTIONS // windows))
    sizes = options["request_size"], options["reply_size"]
    most = MOST_BYTES // (windows * sum(sizes)) - warm_up_requests(*sizes)
    return max(1, min(int(seconds / _REQUEST_INTERVAL), most // requests_a_sample(*sizes)))


def warm_up_requests(request_size: int, reply_size: int) -> int:
    """The most requests that precede a window."""
    return max(LEAST_WARM_UP, min(WARM_UP, WARM_UP_BYTES // (request_size + reply_size)))


def requests_a_sample(request_size: int, reply_size: int) -> int:
    """The most requests that a sample takes."""
    return 2 if request_size + reply_size <= SMALL_EXCHANGE else 1


def check(mode: str, windows: int, samples: int, request_size: int, reply_size: int) -> None:
    """ValueError where all windows together are more connections or bytes than a probe may make."""
    if mode != REQUEST_RESPONSE:
        if windows * samples > MOST_CONNECTIONS:
            raise ValueError(
                f"{windows * samples} connections are more than {MOST_CONNECTIONS}: take at most "
                f"{MOST_CONNECTIONS // windows} samples in each of {windows} windows, or "
                "request_response for many"
            )
        return
    sizes = request_size, reply_size
    requests = windows * (samples * requests_a_sample(*sizes) + warm_up_requests(*sizes))
    moved = requests * (request_size + reply_size)
    if moved > MOST_BYTES:
        raise ValueError(
            f"{moved} bytes would be sent and received, more than {MOST_BYTES}: take fewer "
            "samples or smaller requests"
        )


def check_time(mode: str, samples: int, seconds: float) -> None:
    """ValueError where a window has no room for its connections at the rate they may have."""
    # Floats cannot represent a tenth exactly: 0.3 / 0.1 is less than 3.
    most = max(1, int(seconds / LEAST_CONNECT_INTERVAL + 1e-6))
    if mode != REQUEST_RESPONSE and samples > most:
        raise ValueError(
            f"{samples} connections take {samples * LEAST_CONNECT_INTERVAL:g} s at "
            f"{1 / LEAST_CONNECT_INTERVAL:g} a second, and a window has {seconds:g} s: take at "
            f"most {most} samples, or request_response for many"
        )
