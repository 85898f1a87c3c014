# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.html: one self-contained page."""

import html

from .store import Results
from .summary import render_summary


def render_html(results, generated, strict=False):
    # type: (Results, str, bool) -> str
    """The text of report.html."""
    return "<!doctype html><pre>{0}</pre>".format(html.escape(render_summary(results)))
