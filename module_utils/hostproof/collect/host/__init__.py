# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only interface to a host: every read goes through a Host.

``LiveHost`` reads the machine that it runs on and records the results. ``RecordedHost`` answers
from such a record, so that a control can check old evidence with the current policy. Both have the
same methods and raise Absent, Denied or Unanswered (errors.py), a RecordedHost also NotRecorded. A
missing answer is never an empty answer.

A reading (one entry of the evidence) is a JSON object: ``kind``, ``at`` (UTC), and either
the answer (``text``, ``names``, ``target``, ``stat``, ``argv``/``rc``/``stdout``/``stderr``,
``names``/``values``, ``uid``, ``processes``, ``under``, ``lines``/``callers``/``unread``,
``unseen``, ``windows``/``remarks`` and, of a report, ``figures``,
``seconds``/``first``/``second``/``errors``) or ``error`` (absent, denied, unanswered) with
``message``.

Methods that need a sampling window (``sample``, ``measure``, ``wait_for_window``) open a separate
one or wait for the shared one. To wait, they raise window.Waits. ``open_window`` then runs the
window, and a repeated call returns the answers (audit.read_all).
"""

from ..command import Output
from .answers import (
    HIDDEN_LINE,
    FoundLines,
    Measure,
    OpenFiles,
    Process,
    Record,
    Sample,
    Secret,
    Stat,
    matching_lines,
    now,
)
from .interface import Host
from .live import LiveHost
from .recorded import RecordedHost
