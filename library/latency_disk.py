#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_disk
short_description: Measure disk latency, with kernel counters or with reads
description:
  - V(passive) reads the kernel's counters at intervals, and makes no I/O. It needs no privilege.
  - V(active) reads a file or device without the page cache, and also shows the counters of
    the device. It opens nothing for writing. A device requires root.
  - Returns windows, so that measurements before and after a change can be compared.
options:
  mode:
    description: Whether to look at the counters, or to read.
    type: str
    choices: [passive, active]
    default: passive
  windows:
    description: How many windows to measure.
    type: int
    default: 1
  pause:
    description: Seconds between two windows.
    type: float
    default: 0.0
  seconds:
    description: Seconds after which everything ends. Without O(seconds) as long as it takes.
    type: float
  devices:
    description:
      - V(passive), the devices, such as V(sdb) or V(/dev/mapper/redo). Two devices in one stack
        are rejected. Without O(devices) those of O(layer).
    type: list
    elements: str
  layer:
    description:
      - V(passive), V(devices) are multipath devices and disks that are not their paths, V(paths)
        only the disks.
    type: str
    choices: [devices, paths]
    default: devices
  intervals:
    description: V(passive), how many intervals make a window.
    type: int
    default: 20
  interval_seconds:
    description: V(passive), how long an interval is. Exadata's cells take 3.
    type: float
    default: 3.0
  path:
    description: V(active), the file or block device to read.
    type: path
  sizes:
    description: V(active), bytes of a read, multiples of 4096.
    type: list
    elements: int
    default: [8192, 1048576]
  reads:
    description:
      - V(active), number of reads of each size in a window, as far as O(most_bytes) allows.
    type: int
    default: 2000
  most_bytes:
    description: V(active), how much is read for a window of each size, such as V(256M).
    type: str
    default: 256M
  interval:
    description:
      - V(active), seconds from the begin of one read to the begin of the next; 0 is back to back,
        which under-counts stalls.
      - Where a read takes more than half of it, it is doubled until there is room, and
        C(remarks) says so, for reads that wait for each other would time their own queue.
    type: float
    default: 0.001
  queue_depth:
    description:
      - V(active), number of concurrent reads. More than 1 requires fio (3.0 or later) on the host,
        and has no O(interval).
    type: int
    default: 1
  seed:
    description: V(active), chooses where to read. Compare only windows of the same.
    type: int
    default: 1
  cpu:
    description: V(active), bind the reads to this CPU.
    type: int
attributes:
  check_mode:
    description: Measures nothing, and says what it would do.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: A minute of what the disks do anyway
  latency_disk:
  register: passive

- name: Reads of a data file, ten windows
  latency_disk:
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
    - One for each window, device or size, and layer. V(passive), C(layer) is C(read) or C(write),
      C(n) the I/Os, C(p50) the median of the intervals' means, C(minimum) and C(maximum) the least
      and the largest mean; null where no interval had 30 I/Os.
    - V(active), C(layer) is C(user) (wait of the process), C(device) (the block layer's
      mean for all requests) or C(host) (the difference of the means, without the storage).
    - Durations are microseconds. C(conditions) has the queue, the request size and more.
    - C(conditions.counted_in) is V(ticks) for a device that the kernel counts so; its means are
      up to C(conditions.resolution_us) too long or too short.
    - C(conditions.named) is the name in O(devices), where it is not the kernel's. In windows that a
      cache answered instead of the disk, C(conditions.cached) is V(true).
  returned: success
  type: list
  elements: dict
first_pass:
  description:
    - V(active), the windows of the first reads of these blocks, without a cache. They do not
      count in C(windows), which repeat the same blocks.
  returned: success
  type: list
  elements: dict
remarks:
  description: What could not be measured, and why.
  returned: success
  type: list
  elements: str
table:
  description: The windows for people.
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

#: A probe must stay a probe.
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
MOST_SECONDS = 14400
MOST_BYTES = 4 << 30
LARGEST_READ = 16 << 20


def main():
    required_if = [("mode", "active", ("path",))]
    host_module.run("latency_disk", ARGUMENT_SPEC, measure, required_if=required_if)


def measure(given, check_mode):
    given["most_bytes"] = check(given)
    given["seconds"] = given["seconds"] or MOST_SECONDS
    if check_mode:
        return window_table.result([], [], msg=said(given), first_pass=[])
    if given["mode"] == "passive":
        measured = series.of_counters(LiveHost(), given)
    else:
        measured = series.of_reads(given)
    first_pass = [window.to_json() for window in measured.first_pass]
    return window_table.result(measured.windows, measured.remarks, first_pass=first_pass)


def said(given):
    counters = given["mode"] == "passive"
    return "would read " + ("the counters of the disks" if counters else "") + (given["path"] or "")


def check(given):
    """The most bytes of a window; ValueError for what is out of range."""
    options.check(OPTIONS, given)
    options.check_cpu(given["cpu"])
    for size in given["sizes"]:
        if size % direct_file.ALIGNMENT or not 0 < size <= LARGEST_READ:
            raise ValueError(
                f"a read of {size} bytes is not possible: sizes are multiples of "
                f"{direct_file.ALIGNMENT}, at most {LARGEST_READ}"
            )
    if not given["sizes"] or len(set(given["sizes"])) < len(given["sizes"]):
        raise ValueError("sizes must be one or more different ones")
    if given["path"] is not None and not os.path.isabs(given["path"]):
        raise ValueError("path must begin with /: {0}".format(given["path"]))
    most = parse_size(given["most_bytes"])
    if not max(given["sizes"]) <= most <= MOST_BYTES:
        raise ValueError(
            "most_bytes must be from one read ({0}) to {1}".format(max(given["sizes"]), MOST_BYTES)
        )
    return most


if __name__ == "__main__":
    main()
