# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms of the findings that ``./hostproof report --format`` prints."""

from __future__ import annotations

import datetime
import os
import tempfile

from ansible.module_utils.hostproof.controls.registry import check_ids

from .csv import findings_as_csv
from .markdown import findings_as_markdown
from .render import render_folder, render_lines
from .sarif import sarif
from .store import FINDINGS_FILE, Results, merged_lines

#: Formats that every run writes, with the file name of each.
RENDERED = {
    "json": "report.json",
    "junit": "report.xml",
    "prometheus": "report.prom",
    "html": "report.html",
}
#: Every format; those that no run writes are made here.
FORMATS = ("csv", "markdown", "sarif", "junit", "json", "prometheus", "html")


def text_of(results: Results, form: str, strict: bool) -> str:
    """The findings in one of the FORMATS."""
    if form in RENDERED:
        return _rendered(results, RENDERED[form], strict)
    if form == "csv":
        return findings_as_csv(results)
    return findings_as_markdown(results) if form == "markdown" else sarif(results)


def _rendered(results: Results, name: str, strict: bool) -> str:
    """One of the files that a run writes, by what writes it."""
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        with open(os.path.join(folder, FINDINGS_FILE), "w", encoding="ascii") as stream:
            stream.writelines(render_lines(merged_lines(results)))
        render_folder(
            folder,
            today=datetime.date.today(),
            known_checks=check_ids,
            strict=strict,
            as_one_page=True,
        )
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            return stream.read()
