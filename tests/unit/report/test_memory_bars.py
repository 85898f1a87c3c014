"""The bars of memory in report.html: their lengths, their texts, and values that are no sizes."""

import re
from pathlib import Path

from ansible.module_utils.hostproof.controls.memory_pressure import budget as judged
from cases import cases
from hostproof_controller.report import memory_bars as bars
from hostproof_controller.report.memory_bars import memory_bars
from hostproof_controller.report.store import merge
from report_samples import finding, make_line
from whole_reports import render_html

GIB = 1 << 30
PARTS = judged.PARTS


def values(now, coming, memory=64):
    sizes = {"memory": memory * GIB, "unit": "bytes"}
    for when, some in (("now", now), ("next", coming)):
        sizes |= {f"{when}_{name}": size * GIB for name, size in zip(PARTS, some, strict=True)}
    return sizes


def budget(sizes):
    return finding(check="memory_pressure.budget", values=sizes)


def rows(markup):
    """Of each bar the class and number of columns of its cells."""
    return [re.findall(r"<td class=(\w+) colspan=(\d+)", row) for row in markup.split("<tr>")[1:]]


NOW = (32, 0, 16, 4, 2, 2)
NEXT = (32, 32, 32, 16, 8, 8)


def test_the_parts_are_those_of_the_control():
    assert bars.PARTS == judged.PARTS


def test_a_report_imports_no_rules_of_memory():
    """Half of the controls took 8 % of a run."""
    folder = Path(bars.__file__).parent
    texts = {path.name: path.read_text() for path in folder.glob("*.py")}
    assert [name for name, text in texts.items() if "controls.memory" in text] == []


class TestBars:
    def test_lengths_are_shares_of_the_longest(self):
        now, coming, memory = rows(memory_bars(budget(values(NOW, NEXT))))
        assert now == [("q5", "25"), ("q4", "13"), ("q1", "3"), ("q6", "1"), ("q3", "2")]
        assert sum(int(columns) for _kind, columns in coming) == 100
        assert memory == [("mm", "50")]

    def test_memory_is_the_longest_where_it_suffices(self):
        now, coming, memory = rows(memory_bars(budget(values(NOW, NOW))))
        assert now == coming
        assert (memory, now[0]) == ([("mm", "100")], ("q5", "50"))

    def test_texts(self):
        shown = memory_bars(budget(values(NOW, NEXT)))
        assert 'title="page cache 2.0 GiB"' in shown
        assert "<th scope=row>next start<td class=ms>128.0 GiB" in shown
        assert "<i class=q3></i> page cache" in shown
        # The policy of the page allows no style attributes.
        assert "style" not in shown

    @cases(
        "change",
        {"memory": "64"},
        {"now_pga": -1},
        {"next_sga": 1 << 70},
        {"now_sga": 1.5},
        {"memory": True},
    )
    def test_values_that_are_no_sizes(self, change):
        assert memory_bars(budget(values(NOW, NEXT) | change)) == ""

    def test_other_checks_and_errors_have_none(self):
        assert memory_bars(budget(None)) == ""
        other = finding(check="memory_pressure.physical", values=values(NOW, NEXT))
        assert memory_bars(other) == ""


def test_the_page_shows_them_with_the_finding():
    line = make_line("db01", [budget(values(NOW, NEXT))])
    page = render_html(merge([line]), "2026-11-21T04:00:00Z")
    place = page.index("<code>memory_pressure.budget</code>")
    assert page.index("<figure class=mb>") > place
