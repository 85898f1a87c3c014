#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: latency_report
short_description: Read latencies out of reports that people have
description:
  - Reads latencies from a report in text form, as windows in the form of the probes
    C(latency_tcp) and C(latency_disk).
  - Knows AWR reports of 10g to 19c in their text form, of one instance, of a pluggable database or
    of a cluster (C(awrgrpt.sql)); Statspack reports; what SLOB, Orion, oratcptest, ApacheBench,
    tcpdump and tcpstat print; and the C(iolstats) and C(devio_stats) dumps of an Exadata cell.
    Pieces of them do too.
  - Averages are computed from time and waits, or taken from the column of averages where that one
    has more digits; C(conditions.uncertainty_us) says what the digits leave open.
  - A report that is cut off, scrambled or of another kind fails with one sentence.
  - It reads one file where it runs. For a file on the controller delegate the task to localhost.
  - Writing an AWR report needs the Diagnostics Pack; reading one that is there does not.
options:
  path:
    description: The report. A plain file, in UTF-8 or a single-byte encoding.
    type: path
    required: true
  kind:
    description: What it is. Found out without it.
    type: str
    choices:
      - apachebench
      - awr
      - awr_global
      - devio_stats
      - iolstats
      - oratcptest
      - orion
      - slob_awr_info
      - slob_db_stats
      - slob_grep
      - statspack
      - tcpdump
      - tcpstat
  release:
    description: The release of the database (V(19.0.0.0.0)), for a report that does not tell it.
    type: str
  multitenant:
    description:
      - Whether the database is multitenant, for a report without it. In 12.2 and later this
        determines whether C(log file parallel write) is an I/O latency.
    type: bool
  events:
    description:
      - Wait events to tell, by the beginning of their names. Without it, all that are not idle.
      - An event that is not in the report gives a remark.
    type: list
    elements: str
  most_bytes:
    description: A larger file is refused.
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
  latency_report:
    path: /home/oracle/awrrpt_1_411_412.txt
    events: ["log file sync", "db file sequential read"]

- name: Read what oratcptest printed, from a file on the controller
  latency_report:
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
    - One for each event, test, device or size. Durations are microseconds, and null where the
      report does not tell them, as most reports do with percentiles.
    - C(n) is the number of waits, round trips or I/Os, 0 if the report does not count
      (C(conditions.n_from) then is V(not told)).
    - C(bins.log2) counts for k the values below 2 ** k microseconds and at least half of
      it; C(bins.wide) names the k that hold more than their octave, from the lowest on, and
      C(bins.open) the k without an upper end.
    - C(conditions.io_latency) is V(no) or V(unknown) for a C(log file parallel write) that times
      no I/O.
  returned: success
  type: list
  elements: dict
figures:
  description:
    - Other figures of the report; the keys depend on C(kind).
    - C(release) begins with V(at least) if it is derived from the form of the
      tables.
  returned: success
  type: dict
remarks:
  description: What to mind, in sentences.
  returned: success
  type: list
  elements: str
table:
  description: The windows for people, a heading and a line a window.
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


def read(given, _check_mode):
    try:
        text = report_file.read(given["path"], given["most_bytes"])
        report = reports.read(text, given["kind"], given["release"], given["multitenant"])
    except (HostproofError, OSError, ValueError) as problem:
        raise ValueError("{0}: {1}".format(given["path"], said(problem))) from None
    windows, missing = chosen(report.windows, given["events"])
    remarks = report.remarks + missing
    return window_table.result(windows, remarks, kind=report.kind, figures=report.figures)


def chosen(windows, events):
    """The windows of these events, and a remark for each event that has none."""
    if events is None:
        return windows, []
    kept = [one for one in windows if one.subject.startswith(tuple(events))]
    absent = [one for one in events if not any(window.subject.startswith(one) for window in kept)]
    return kept, [f"the report has no event {one!r}" for one in absent]


def said(problem):
    if isinstance(problem, report_file.TooLong):
        return f"{problem}: see most_bytes"
    return problem.strerror if isinstance(problem, OSError) and problem.strerror else problem


if __name__ == "__main__":
    main()
