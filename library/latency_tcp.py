#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_tcp
short_description: Measure TCP round-trip time, separated into network and host
version_added: "0.1.0"
description:
  - Measures from this host to another host, without privileges. Returns windows, so that
    measurements before and after a change can be compared.
  - The kernel measures the time in the network, and the process measures the time that this host
    adds. Therefore a busy client does not look like a slow network.
  - Sends traffic, limited by samples, bytes and seconds. An audit never runs this module.
options:
  host:
    description: Name or address of the other host.
    type: str
    required: true
  port:
    description: TCP port of the other host.
    type: int
    required: true
  mode:
    description:
      - V(handshake) connects and closes. The kernel provides the time between SYN and SYN/ACK. A
        listener may log a connection without data (TNS-12502), so prefer V(tns_ping)
        for a listener.
      - V(tns_ping) connects and pings a listener, which logs the ping. A TCPS endpoint does not
        answer.
      - V(request_response) exchanges requests with a responder
        (M(hostproof.hostproof.latency_responder)) on one
        connection. Use it for many samples.
    type: str
    choices: [handshake, tns_ping, request_response]
    default: handshake
  samples:
    description:
      - Number of samples in each window. Default, 50, or 2000 with V(request_response). The 99th
        percentile requires at least 1000.
      - With V(request_response), a sample consists of two requests if request and response have at
        most 4096 bytes together.
      - If the round trip is shorter than 0.3 milliseconds, one of the two requests has no
        timestamps and provides C(user), because timestamps add to such a short time. Longer round
        trips have up to twice as many samples in the same time.
      - The limit for all windows together is 2000 connections, or 1 GiB of requests and responses.
    type: int
  windows:
    description: Number of windows to measure.
    type: int
    default: 1
  pause:
    description: Seconds between two windows.
    type: float
    default: 0.0
  interval:
    description:
      - Seconds between the starts of two connections or requests. Each is measured from its planned
        start. Default, 0.2. With V(request_response), 0.001, or 0.002 if a sample consists of one
        request.
      - Connections start at least 0.1 seconds apart, even with a shorter O(interval). With
        V(request_response), V(0) sends requests without pause and underestimates stalls.
      - Compare only windows with the same interval, because a host wakes up later after a longer
        sleep.
    type: float
  request_size:
    description: Size of a request in bytes, for V(request_response).
    type: int
    default: 12
  reply_size:
    description: Size of a response in bytes, for V(request_response).
    type: int
    default: 4
  payload:
    description:
      - With V(auto), requests and responses have the mean sizes of the live SQL*Net traffic of
        O(payload_port) instead of O(request_size) and O(reply_size). For V(request_response).
      - The kernel's counters of the connections (C(ss -tin)) are read twice within 5 seconds
        before the first window. No packet is captured. Fails if there are fewer than 20 round
        trips.
      - Compare only windows with the same sizes. Therefore use V(fixed) before and after a change.
    type: str
    choices: [fixed, auto]
    default: fixed
  payload_port:
    description:
      - TCP port of the listener whose connections provide the sizes, on this host or on the peers
        of its connections.
    type: int
    default: 1521
  timeout:
    description: Seconds to wait for one response.
    type: float
    default: 5.0
  cpu:
    description: Bind the probe to this CPU. Compare only windows with the same CPU.
    type: int
  seconds:
    description: Time limit in seconds.
    type: float
    default: 120.0
attributes:
  check_mode:
    description: Sends nothing. Reports what it would send.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Measure the round trip to the listener, and its response time
  hostproof.hostproof.latency_tcp:
    host: db02.example.com
    port: 1521
    mode: tns_ping
  register: listener

- name: Measure ten windows of 2000 requests
  hostproof.hostproof.latency_tcp:
    host: 192.0.2.12
    port: 7521
    mode: request_response
    request_size: 250
    windows: 10
    pause: 60
    seconds: 900
  register: network

- name: Measure round trips with the request sizes of the current sessions
  hostproof.hostproof.latency_tcp:
    host: 192.0.2.12
    port: 7521
    mode: request_response
    payload: auto
"""

RETURN = r"""
windows:
  description:
    - One dictionary for each window and layer.
    - C(layer) is C(net) (SYN to SYN/ACK), C(kernel) (send timestamp to receive timestamp) or
      C(user) (this process).
    - C(layer) is C(host) for C(user) minus C(kernel) of one request (scheduling time of this
      host), and C(server) for the time from the CONNECT packet to the response of the listener.
    - C(minimum), C(mean), C(p50), C(p90), C(p99) and C(maximum) are in microseconds. C(bins) is the
      histogram. C(conditions) are the other conditions; C(retrans) is the number of retransmitted
      segments.
    - C(conditions.asked) is the number of attempted connections or intended requests.
      C(conditions.answered) is the number of requests with a response. C(conditions.failures) is
      the number of failed connections, by reason. C(conditions.ended) is the reason why a
      connection to a responder ended before the window, or null.
    - On Linux C(conditions) describes the path of the connection if it is certain. C(interface),
      C(route) (on link, via a gateway, this host), C(source_address), C(mtu) and C(mss), the
      largest segment in bytes.
    - With O(payload=auto) C(conditions) has C(payload_port). C(size) is the size of a request and
      C(conditions.reply_size) the size of a response.
  returned: success
  type: list
  elements: dict
remarks:
  description: Failed measurements and their reasons.
  returned: success
  type: list
  elements: str
table:
  description: The windows as a text table.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.hostproof.collect import host_module, options
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.options import decimal, whole
from ansible.module_utils.hostproof.controls.latency.measurement import (
    series,
    sqlnet_sizes,
    traffic,
    window_table,
)
from ansible.module_utils.hostproof.latency import hello as latency_hello
from ansible.module_utils.hostproof.latency.probe_list import AUTO, FIXED

#: Seconds between the two readings of the counters of connections.
LOOK = 5.0

#: The limits keep the load on the network small.
OPTIONS = dict(
    series.OPTIONS,
    host={"type": "str", "required": True},
    port=dict(whole(1, 65535), required=True),
    mode={
        "type": "str",
        "choices": ["handshake", "tns_ping", "request_response"],
        "default": "handshake",
    },
    samples=whole(1, 20000),
    interval=decimal(0, 30),
    request_size=whole(1, latency_hello.LONGEST, 12),
    reply_size=whole(1, latency_hello.LONGEST, 4),
    payload={"type": "str", "choices": [FIXED, AUTO], "default": FIXED},
    payload_port=whole(1, 65535, 1521),
    timeout=decimal(0.1, 60, 5.0),
    seconds=decimal(1, 7200, 120.0),
)
ARGUMENT_SPEC = options.argument_spec(OPTIONS)
DEFAULTS = {
    "handshake": {"samples": 50, "interval": 0.2},
    "tns_ping": {"samples": 50, "interval": 0.2},
    # Requests with or without time stamps share it: traffic.requests_a_sample().
    "request_response": {"samples": 2000, "interval": 0.002},
}


def main():
    host_module.run("latency_tcp", ARGUMENT_SPEC, measure)


def measure(params, check_mode):
    options.check({"payload_port": OPTIONS["payload_port"]}, params)
    if params["payload"] == AUTO and params["mode"] != "request_response":
        raise ValueError("payload: auto needs mode: request_response")
    if params["payload"] == AUTO and not check_mode:
        sizes = sqlnet_sizes.payload(LiveHost(), params["payload_port"], LOOK)
        params["request_size"], params["reply_size"] = sizes
    if params["mode"] == "request_response" and params["interval"] is None:
        each = traffic.requests_a_sample(params["request_size"], params["reply_size"])
        params["interval"] = DEFAULTS["request_response"]["interval"] / each
    for name, value in DEFAULTS[params["mode"]].items():
        params[name] = value if params[name] is None else params[name]
    check(params)
    if check_mode:
        would = "would measure {windows} windows of {samples} samples to {host} port {port}"
        return window_table.result([], [], msg=would.format(**params))
    measured = series.of_round_trips(params)
    if params["payload"] == AUTO:
        for window in measured.windows:
            window.conditions["payload_port"] = params["payload_port"]
    return window_table.result(measured.windows, measured.remarks)


def check(params):
    """ValueError for what is out of range."""
    options.check(OPTIONS, params)
    options.check_cpu(params["cpu"])
    sizes = (params["request_size"], params["reply_size"])
    traffic.check(params["mode"], params["windows"], params["samples"], *sizes)


if __name__ == "__main__":
    main()
