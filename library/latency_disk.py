#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_disk
short_description: Measure disk latency from kernel counters or with test reads
version_added: "0.1.0"
description:
  - V(passive) reads the kernel's counters at intervals. It makes no I/O and needs no privilege.
  - V(active) reads a file or device with direct I/O and also returns the counters of the device
    for that time. It opens nothing for writing. Reading a device requires root.
  - Returns windows, so that measurements before and after a change can be compared.
options:
  mode:
    description: Read kernel counters or perform test reads.
    type: str
    choices: [passive, active]
    default: passive
  windows:
    description: Number of windows to measure.
    type: int
    default: 1
  pause:
    description: Seconds between two windows.
    type: float
    default: 0.0
  seconds:
    description: Time limit in seconds. Default, no limit.
    type: float
  devices:
    description:
      - V(passive), the devices, such as V(sdb) or V(/dev/mapper/redo). Devices that are stacked
        on each other are rejected. Default, the devices of O(layer).
    type: list
    elements: str
  layer:
    description:
      - V(passive), V(devices) are multipath devices and disks that are not paths of one. V(paths)
        are only the disks.
    type: str
    choices: [devices, paths]
    default: devices
  intervals:
    description: V(passive), number of intervals in a window.
    type: int
    default: 20
  interval_seconds:
    description: V(passive), duration of an interval in seconds. Exadata cells use 3.
    type: float
    default: 3.0
  path:
    description: V(active), the file or block device to read.
    type: path
  sizes:
    description: V(active), sizes of a read in bytes, multiples of 4096.
    type: list
    elements: int
    default: [8192, 1048576]
  reads:
    description:
      - V(active), number of reads of each size in a window, limited by O(most_bytes).
    type: int
    default: 2000
  most_bytes:
    description: V(active), most bytes to read in a window for each size, such as V(256M).
    type: str
    default: 256M
  interval:
    description:
      - V(active), seconds between the starts of two reads. V(0) reads without pause and
        underestimates stalls.
      - If a read takes more than half of the interval, the interval is doubled until reads do
        not queue behind each other. C(remarks) reports this.
    type: float
    default: 0.001
  queue_depth:
    description:
      - V(active), number of concurrent reads. Values above 1 require fio 3.0 or later on the host
        and ignore O(interval).
    type: int
    default: 1
  seed:
    description: V(active), seed for the read positions. Compare only windows with the same seed.
    type: int
    default: 1
  cpu:
    description: V(active), bind the reads to this CPU.
    type: int
attributes:
  check_mode:
    description: Measures nothing. Reports what it would measure.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Measure the current disk load for one minute
  hostproof.hostproof.latency_disk:
  register: passive

- name: Read a data file in ten windows
  hostproof.hostproof.latency_disk:
    mode: active
    path: /u02/oradata/SALES/users01.dbf
    windows: 10
    pause: 60
  become: true
  become_user: oracle
  register: active
"""

RETURN = r"""
windows:
  description:
    - One dictionary for each window, device or size, and layer.
    - V(passive), C(layer) is C(read) or C(write) and C(n) the number of I/Os. C(p50) is the median
      of the interval means, C(minimum) and C(maximum) are the smallest and the largest mean. They
      are null if no interval had 30 I/Os.
    - V(active), C(layer) is C(user) (wait of the process), C(device) (mean of the block layer for
      all requests) or C(host) (difference of the two means, without the storage).
    - Durations are in microseconds. C(conditions) has the queue, the request size and more.
    - C(conditions.counted_in) is V(ticks) for a device that the kernel counts in ticks. The error
      of its means is up to C(conditions.resolution_us).
    - C(conditions.named) is the name in O(devices) if it differs from the kernel name.
      C(conditions.cached) is V(true) if a cache served the reads instead of the disk.
  returned: success
  type: list
  elements: dict
first_pass:
  description:
    - V(active), the windows of the first reads of these blocks, without a cache. C(windows) does
      not include them, because it repeats the same blocks.
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

import os

from ansible.module_utils.hostproof.collect import host_module, options
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.options import decimal, whole
from ansible.module_utils.hostproof.controls.latency.measurement import (
    series,
    window_table,
)
from ansible.module_utils.hostproof.controls.latency.probes import direct_file
from ansible.module_utils.hostproof.parsers.size import parse_size

#: The limits keep the load on the disks small.
OPTIONS = dict(
    series.OPTIONS,
    mode={"type": "str", "choices": ["passive", "active"], "default": "passive"},
    seconds=decimal(1, 14400),
    devices={"type": "list", "elements": "str"},
    layer={"type": "str", "choices": ["devices", "paths"], "default": "devices"},
    intervals=whole(1, 1200, 20),
    interval_seconds=decimal(0.5, 60, 3.0),
    path={"type": "path"},
    sizes={"type": "list", "elements": "int", "default": [8192, 1048576]},
    reads=whole(1, 20000, 2000),
    most_bytes={"type": "str", "default": "256M"},
    interval=decimal(0, 10, 0.001),
    queue_depth=whole(1, 64, 1),
    seed={"type": "int", "default": 1},
)
ARGUMENT_SPEC = options.argument_spec(OPTIONS)
RULES = {"required_if": [("mode", "active", ("path",))]}
MOST_SECONDS = 14400
MOST_BYTES = 4 << 30
LARGEST_READ = 16 << 20


def main():
    host_module.run("latency_disk", ARGUMENT_SPEC, measure, **RULES)


def measure(params, check_mode):
    params["most_bytes"] = check(params)
    params["seconds"] = params["seconds"] or MOST_SECONDS
    if check_mode:
        return window_table.result([], [], msg=check_mode_text(params), first_pass=[])
    if params["mode"] == "passive":
        measured = series.of_counters(LiveHost(), params)
    else:
        measured = series.of_reads(params)
    first_pass = [window.to_json() for window in measured.first_pass]
    return window_table.result(measured.windows, measured.remarks, first_pass=first_pass)


def check_mode_text(params):
    counters = params["mode"] == "passive"
    return (
        "would read " + ("the counters of the disks" if counters else "") + (params["path"] or "")
    )


def check(params):
    """The most bytes of a window; ValueError for what is out of range."""
    options.check(OPTIONS, params)
    options.check_cpu(params["cpu"])
    for size in params["sizes"]:
        if size % direct_file.ALIGNMENT or not 0 < size <= LARGEST_READ:
            raise ValueError(
                f"a read of {size} bytes is not possible: sizes are multiples of "
                f"{direct_file.ALIGNMENT}, at most {LARGEST_READ}"
            )
    if not params["sizes"] or len(set(params["sizes"])) < len(params["sizes"]):
        raise ValueError("sizes must be one or more different ones")
    if params["path"] is not None and not os.path.isabs(params["path"]):
        raise ValueError("path must begin with /: {0}".format(params["path"]))
    most = parse_size(params["most_bytes"])
    if not max(params["sizes"]) <= most <= MOST_BYTES:
        raise ValueError(
            "most_bytes must be from one read ({0}) to {1}".format(max(params["sizes"]), MOST_BYTES)
        )
    return most


if __name__ == "__main__":
    main()
