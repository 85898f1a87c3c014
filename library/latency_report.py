#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_report
short_description: Extract latencies from AWR and other reports
version_added: "0.1.0"
description:
  - Reads latencies from a report in text form. Returns windows in the form of the probes
    C(latency_tcp) and C(latency_disk).
  - Supports AWR reports of 10g to 23ai, as text or HTML, for an instance or a pluggable database,
    those of a cluster as text (C(awrgrpt.sql)), and Statspack reports.
  - Supports the output of SLOB, Orion, oratcptest, ApacheBench, tcpdump and tcpstat, of
    C(iostat -x), C(sadf -j), nfsiostat, ping and fio (JSON), and the C(iolstats) and
    C(devio_stats) dumps of an Exadata cell.
  - Also reads excerpts of these reports.
  - Averages are computed from time and waits, or read from the column of averages if that column
    has more digits. C(conditions.uncertainty_us) is the uncertainty due to rounding.
  - Fails with one message if the report is truncated, damaged or of an unknown type.
  - Reads one file on the host that runs the module. For a file on the controller delegate the task
    to localhost.
  - Creating an AWR report requires the Diagnostics Pack. Reading an existing report does not.
options:
  path:
    description: Path of the report. A regular file, in UTF-8 or a single-byte encoding.
    type: path
    required: true
  kind:
    description: Type of the report. Default, detected from the content.
    type: str
    choices:
      - apachebench
      - awr
      - awr_global
      - charbench
      - devio_stats
      - ethtool_statistics
      - fio
      - ifstat
      - iolstats
      - iostat
      - mountstats
      - nfsiostat
      - nfsstat
      - oratcptest
      - orion
      - ping
      - sadf
      - slob_awr_info
      - slob_db_stats
      - slob_grep
      - ss
      - stack
      - statspack
      - switch_counters
      - sysconfig
      - sysstat
      - tcpdump
      - tcpstat
      - vmstat
  release:
    description: Release of the database (V(19.0.0.0.0)), for a report that does not contain it.
    type: str
  multitenant:
    description:
      - Whether the database is multitenant, for a report that does not contain it. In 12.2 and
        later this determines whether C(log file parallel write) is an I/O latency.
    type: bool
  events:
    description:
      - Prefixes of the wait events to return. Default, all events that are not idle.
      - An event that is not in the report adds a remark.
    type: list
    elements: str
  most_bytes:
    description: Maximum file size in bytes. A larger file is rejected.
    type: int
    default: 67108864
attributes:
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Read commits and single-block reads from an AWR report
  hostproof.hostproof.latency_report:
    path: /home/oracle/awrrpt_1_411_412.txt
    events: ["log file sync", "db file sequential read"]

- name: Read the output of oratcptest from a file on the controller
  hostproof.hostproof.latency_report:
    path: "{{ playbook_dir }}/oratcptest.txt"
  delegate_to: localhost
"""

RETURN = r"""
kind:
  description: Type of the report, one of the choices of O(kind).
  returned: success
  type: str
windows:
  description:
    - One dictionary for each event, test, device or size. Durations are in microseconds, or null
      if the report does not contain them. Most reports do not contain percentiles.
    - C(n) is the number of waits, round trips or I/Os, 0 if the report does not count
      (C(conditions.n_from) then is V(not told)).
    - C(bins.log2) has for each k the number of values below 2 ** k microseconds and at least half
      of it. C(bins.wide) lists the k that hold more than one octave, lowest first. C(bins.open)
      lists the k without an upper end.
    - C(conditions.io_latency) is V(no) or V(unknown) for a C(log file parallel write) that does
      not measure I/O.
  returned: success
  type: list
  elements: dict
figures:
  description:
    - Other figures of the report. The keys depend on C(kind).
    - C(release) begins with V(at least) if it is derived from the format of the tables.
  returned: success
  type: dict
remarks:
  description: Remarks about the figures, as sentences.
  returned: success
  type: list
  elements: str
table:
  description: The windows as a text table with a heading and one line per window.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.hostproof.collect import host_module
from ansible.module_utils.hostproof.controls.latency.measurement import (
    reports,
    window_table,
)
from ansible.module_utils.hostproof.controls.latency.probes import report_file
from ansible.module_utils.hostproof.errors import HostproofError

ARGUMENT_SPEC = {
    "path": {"type": "path", "required": True},
    "kind": {"type": "str", "choices": sorted(reports.KINDS)},
    "release": {"type": "str"},
    "multitenant": {"type": "bool"},
    "events": {"type": "list", "elements": "str"},
    "most_bytes": {"type": "int", "default": report_file.MOST_BYTES},
}


def main():
    host_module.run("latency_report", ARGUMENT_SPEC, read)


def read(params, _check_mode):
    try:
        text = report_file.read(params["path"], params["most_bytes"])
        report = reports.read(text, params["kind"], params["release"], params["multitenant"])
    except (HostproofError, OSError, ValueError) as problem:
        raise ValueError("{0}: {1}".format(params["path"], problem_text(problem))) from None
    windows, missing = chosen(report.windows, params["events"])
    remarks = report.remarks + missing
    return window_table.result(windows, remarks, kind=report.kind, figures=report.figures)


def chosen(windows, events):
    """The windows of these events, and a remark for each event that has none."""
    if events is None:
        return windows, []
    kept = [window for window in windows if window.subject.startswith(tuple(events))]
    absent = [
        event for event in events if not any(window.subject.startswith(event) for window in kept)
    ]
    return kept, [f"the report has no event {event!r}" for event in absent]


def problem_text(problem):
    if isinstance(problem, report_file.TooLong):
        return f"{problem}: see most_bytes"
    return problem.strerror if isinstance(problem, OSError) and problem.strerror else problem


if __name__ == "__main__":
    main()
