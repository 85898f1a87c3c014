#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: measure_latency
short_description: Measure latency windows of several probes, in rounds
version_added: "0.1.0"
description:
  - Runs a list of probes as the policy V(latency_probes) does. Returns windows, so that
    measurements before and after a change can be compared.
  - Each round first reads all passive probes, then runs the probes with I/O or traffic one after
    another. The same options run at the same rate.
  - A probe that cannot be measured adds a remark; the others continue. Fails if no probe returned
    a window.
  - Changes nothing.
options:
  probes:
    description:
      - Probes to run. Each item is a dictionary with C(probe) and the options of that probe.
      - C(disk) reads the kernel's counters of disks. C(devices) are names. Default, all devices of
        C(layer) (V(devices), or V(paths) of multipath devices).
      - C(nfs) reads the counters of NFS mounts. C(mounts) are paths. Default, all mounts.
      - C(disk_read) reads C(path), a file or device, with direct I/O. C(sizes) are in bytes
        (default, 8192 and 1048576). C(reads) is the number of reads of each size in a window. It
        never writes.
      - C(tcp) measures round trips to C(host) and C(port). C(mode) is V(handshake), V(tns_ping) of
        a listener, or V(request_response) with a responder
        (M(hostproof.hostproof.latency_responder)). C(samples) is
        the number in each window. C(request_size) and C(reply_size) are bytes, up to 65536.
      - The limits of C(tcp) for a target are 10 connections per second, 2000 connections in all
        windows, and 1 GiB of requests and responses.
      - C(pool) measures checkouts of C(data_source) of a WildFly or JBoss EAP, with the options of
        M(hostproof.hostproof.pool_latency).
      - The defaults are passive. C(disk_read) makes I/O, C(tcp) and C(pool) send traffic.
    type: list
    elements: dict
    default: [{probe: disk}, {probe: nfs}]
  windows:
    description: Number of windows to measure for each probe.
    type: int
    default: 10
  seconds:
    description:
      - Duration of a window in seconds. Each probe with I/O or traffic has its own window. All
        passive probes share one. C(disk) and C(nfs) divide it into intervals of at least 3 seconds.
    type: float
    default: 3.0
  pause:
    description: Seconds between two rounds.
    type: float
    default: 0.0
attributes:
  check_mode:
    description: Measures nothing. Reports what it would measure.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Ten minutes of what disks and NFS mounts do anyway
  hostproof.hostproof.measure_latency:
    windows: 10
    seconds: 30
    pause: 30
  register: before

- name: Reads of a data file, and round trips to the standby
  hostproof.hostproof.measure_latency:
    probes:
      - {probe: disk_read, path: /u02/oradata/SALES/users01.dbf}
      - {probe: tcp, host: db02.example.com, port: 1521, mode: tns_ping}
  become: true
  register: before
"""

RETURN = r"""
windows:
  description:
    - One for each round, probe, subject, layer and size, in order of time. Durations are
      microseconds, and null where they are not told.
    - C(disk), C(layer) is C(read) or C(write), C(p50) the median of the intervals' means.
    - C(nfs), C(subject) is the mount and the operation, C(layer) C(server) (until the reply),
      C(user) (until the end) or C(host) (the difference).
    - C(disk_read), C(tcp) and C(pool) as returned by M(hostproof.hostproof.latency_disk),
      M(hostproof.hostproof.latency_tcp) and
      M(hostproof.hostproof.pool_latency).
  returned: success
  type: list
  elements: dict
remarks:
  description: Failed measurements and their reasons.
  returned: always
  type: list
  elements: str
table:
  description: The windows as a text table.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.hostproof.collect import host_module
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.latency.measurement import (
    measuring,
    traffic,
    window_table,
)
from ansible.module_utils.hostproof.latency import probe_list

ARGUMENT_SPEC = {
    "probes": {
        "type": "list",
        "elements": "dict",
        "default": [{"probe": "disk"}, {"probe": "nfs"}],
    },
    "windows": {"type": "int", "default": 10},
    "seconds": {"type": "float", "default": 3.0},
    "pause": {"type": "float", "default": 0.0},
}


def main():
    host_module.run("measure_latency", ARGUMENT_SPEC, measure)


def measure(params, check_mode):
    rounds = (params["windows"], params["seconds"], params["pause"])
    probes = probe_list.check_probes(params["probes"])
    measuring.check_rounds(*rounds)
    traffic.check_probes(probes, params["windows"], params["seconds"])
    if not probes:
        raise ValueError("probes names none: name at least one, such as {probe: disk}")
    if check_mode:
        return window_table.result([], [], msg=check_mode_text(probes, rounds))
    return window_table.windows_of(measuring.measure(LiveHost(), probes, *rounds))


def check_mode_text(probes, rounds):
    return "would measure {0} windows of {1:g} s, {2:g} s apart, of {3}".format(
        *rounds + (", ".join(probe.name for probe in probes),)
    )


if __name__ == "__main__":
    main()
