"""Latencies in report.html: what is drawn, what the tables say, and what is no window."""

import copy
import re
import xml.etree.ElementTree as ElementTree

import pytest
from cases import cases
from hostproof_controller.latency.baseline import Baseline
from hostproof_controller.latency.change_findings import judge_host
from hostproof_controller.latency.comparing import compare_hosts
from hostproof_controller.report import latency_figure
from hostproof_controller.report.evidence import show_reading
from hostproof_controller.report.latency_series import (
    change_text,
    count_text,
    duration,
    edge,
    octave_with,
    read_windows,
    size_text,
    span_text,
    summary,
)
from hostproof_controller.report.store import merge
from latency_samples import active, example, latency_line, of_fixture, passive, reading
from report_samples import AT, finding, make_line, pack
from test_report_html import NASTY, Page
from whole_reports import render_html

NOW = "2026-11-21T04:00:00Z"


def text_of(*lines):
    return render_html(merge(lines), NOW)


def drawings(text):
    """The SVG elements by their titles; each must be well-formed XML."""
    svgs = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.S)]
    return {svg.find("title").text: svg for svg in svgs}


def tables(text):
    """Rows of cells of each table of latencies."""
    return [
        [
            [re.sub("<.*?>", "", cell) for cell in re.split(r"<t[hd][^>]*>", row)[1:]]
            for row in re.split(r"<tr[^>]*>", table)[1:]
        ]
        for table in re.findall(r"<table class=lt>(.*?)</table>", text)
    ]


# Words and numbers


@cases(
    "microseconds told",
    *((0, "0 µs"), (0.25, "0.25 µs"), (78.203, "78.2 µs"), (105, "105 µs"), (999.4, "999 µs")),
    *((999.6, "1 ms"), (1024, "1.02 ms"), (30_000, "30 ms"), (9_996_000, "10 s")),
    (61_300_000, "61.3 s"),
)
def test_durations_in_the_unit_that_fits(microseconds, told):
    assert duration(microseconds) == told


def test_the_ends_of_octaves_are_called_as_oracle_calls_them():
    ends = [edge(octave) for octave in (0, 1, 9, 10, 15, 20, 21, 30)]
    assert ends == ["1 µs", "2 µs", "512 µs", "1 ms", "32 ms", "1 s", "2 s", "1024 s"]
    assert span_text(14, 14, False) == "8–16 ms"
    assert span_text(10, 10, False) == "512 µs–1 ms"
    assert span_text(0, 10, False) == "under 1 ms"
    assert span_text(16, 16, True) == "from 32 ms on"


def test_sizes_counts_and_changes():
    assert [size_text(size) for size in (0, 12, 512, 8192, 1 << 20, 3 << 19)] == [
        *("0 B", "12 B", "512 B", "8 KiB", "1 MiB", "1.5 MiB"),
    ]
    counts = (7, 9999, 10_000, 124_246, 999_499, 999_600, 1_240_000, 10**13)
    assert [count_text(count) for count in counts] == [
        *("7", "9999", "10k", "124k", "999k", "1M", "1.24M", "10T"),
    ]
    assert change_text(412.0, 431.0) == "+4.6%"
    assert change_text(431.0, 412.0) == "−4.4%"
    assert change_text(400.0, 5200.0) == "13 times"
    assert (change_text(10.0, 30.0), change_text(10.0, 29.9)) == ("3 times", "+199.0%")
    assert change_text(None, 1.0) == change_text(1.0, None) == change_text(0.0, 1.0) == ""


# Heat maps


def rows_of(text, name=""):
    """Lines of tables whose first cell begins so: their cells as (text, class, columns, title)."""
    rows = []
    for row in re.split(r"<tr[^>]*>", text)[1:]:
        cells = re.findall(r"<t[hd]([^>]*)>([^<]*)", row)
        if cells and cells[0][1].startswith(name):
            rows.append(
                [
                    (
                        words,
                        (re.search(r"class=(\S+)", attributes) or ["", ""])[1],
                        int((re.search(r"colspan=(\d+)", attributes) or ["", "1"])[1]),
                        (re.search(r'title="([^"]*)"', attributes) or ["", ""])[1],
                    )
                    for attributes, words in cells
                ]
            )
    return rows


def test_the_heat_map_of_an_exadata_cell_holds_the_numbers_that_the_cell_printed():
    text = text_of(example())
    heads = tables(text)[1][0]
    # By hand from iolstats-seed-long.txt.
    ends = [f"{1 << k}" for k in range(5, 9)]
    assert heads[6:10] == [f"{low}–{2 * int(low)} µs" for low in ends]
    assert heads[10] == "512 µs–1 ms"
    assert heads[11:] == [*(f"{1 << k}–{2 << k} ms" for k in range(9)), "512 ms–1 s"]
    (row,) = rows_of(text, "CD_02_enkcel01, read, 8 KiB")
    row_of_8_kib = "66 101 3189 6347 717 1826 23.2k 124k 191k 79.2k 37k 18.5k 12.8k 526 1"
    assert " ".join(cell[0] for cell in row[6:] if cell[0]) == row_of_8_kib
    assert "8–16 ms: 191,169 of 498,831, 38.3%" in [cell[3] for cell in row]


def test_a_cell_stands_below_its_octave_and_its_colour_tells_its_share():
    text = text_of(example())
    heads = tables(text)[1][0]
    for row in rows_of(text, "CD_02_enkcel01"):
        assert sum(cell[2] for cell in row) == len(heads)
    (row,) = rows_of(text, "CD_02_enkcel01, read, 8 KiB")
    at = heads.index("8–16 ms")
    assert row[at][:3] == ("191k", "q5", 1)
    by_share = {cell[0]: cell[1] for row in rows_of(text, "CD_02_enkcel01") for cell in row}
    assert [by_share[n] for n in ("101", "12.8k", "23.2k", "124k", "191k", "1403")] == [
        *("q1", "q2", "q3", "q4", "q5", "q6"),
    ]
    assert "Share of the line:" in text


def test_coarse_bins_tell_between_which_times_a_percentile_lies():
    table = tables(text_of(example()))[1]
    assert table[0][:6] == ["What", "Windows", "Count", "p50", "p90", "p99"]
    # 498,831 reads of 8 KiB: 249,416 of them end in 8-16 ms, 448,948 in 32-64 ms.
    assert table[3][:6] == [
        *("CD_02_enkcel01, read, 8 KiB", "1", "498,831", "8–16 ms", "32–64 ms", "128–256 ms"),
    ]
    (few,) = [row for row in table if row[2] == "35"]
    assert few[4:6] == ["–", "–"], "ten of 35 are not beyond the 90th of a hundred"


def test_a_bin_without_an_upper_end_and_one_of_several_octaves_are_shown_as_such():
    window = active(100, probe="database", subject="log file sync", layer="database", size=None)[0]
    bins = {"log2": {"10": 700, "11": 250, "16": 50}, "wide": {"10": 0}, "open": 16}
    window = window._replace(bins=bins, p50=None, p90=None, p99=None)
    text = text_of(latency_line("db01", {"database": {"windows:awr": reading([window])}}))
    (row,) = rows_of(text, "log file sync")
    shown = [cell for cell in row if cell[3]]
    assert [cell[3] for cell in shown] == [
        "under 1 ms: 700 of 1,000, 70%",
        "1–2 ms: 250 of 1,000, 25%",
        "from 32 ms on: 50 of 1,000, 5%",
    ]
    assert [cell[2] for cell in shown] == [11, 1, 1]
    (rows,) = tables(text)
    assert rows[0][-1] == "from 32 ms on"
    assert sum(cell[2] for cell in row) == len(rows[0])
    (series,) = read_windows(reading([window])).series
    assert octave_with(series, 0.5) == "under 1 ms"
    assert octave_with(series, 0.9) == "1–2 ms"


def test_windows_that_divide_the_octaves_differently_do_not_lie_over_each_other():
    first, second = active(100, probe="database", subject="x", layer="database", size=None)[:2]
    windows = [
        first._replace(bins={"log2": {"15": 10, "20": 90}, "wide": {"20": 16}}),
        second._replace(bins={"log2": {"17": 10, "18": 20, "20": 30}}),
    ]
    text = text_of(latency_line("db01", {"database": {"windows:awr": reading(windows)}}))
    (row,) = rows_of(text, "x")
    (rows,) = tables(text)
    assert sum(cell[2] for cell in row) == len(rows[0])
    assert [(cell[0], cell[2]) for cell in row if cell[3]] == [
        ("10", 1),
        ("10", 1),
        ("20", 1),
        ("120", 2),
    ]


def test_without_a_distribution_a_bar_reaches_from_the_least_to_the_most():
    windows = passive(640) + passive(5200, subject="sdb")
    text = text_of(latency_line("db01", {"disk": {"windows:disk": reading(windows)}}))
    (rows,) = tables(text)
    for name, middle in (("sda", "p50"), ("sdb", "p50")):
        (row,) = rows_of(text, name)
        (bar,) = [cell for cell in row if cell[1] == "rg"]
        assert bar[0].startswith(middle) or bar[0].startswith("mean")
        before = sum(cell[2] for cell in row[: row.index(bar)])
        (series,) = [
            entry for entry in read_windows(reading(windows)).series if entry.name.startswith(name)
        ]
        totals = summary(series)
        columns = rows[0][before : before + bar[2]]
        ends = [octave_of(value) for value in (totals.minimum, totals.maximum)]
        assert [columns[0], columns[-1]] == ends
    assert "Share of the line" not in text
    assert "p50 is the median, min and max are the extremes" in text


def octave_of(microseconds):
    octave = int(microseconds).bit_length()
    return span_text(octave, octave, False)


# Before and after


def pair(before, after, name="disk_read"):
    return {f"windows:before:{name}": reading(before), f"windows:after:{name}": reading(after)}


def test_before_and_after_lie_over_one_axis_with_a_mark_for_each_window():
    before, after = active(410), active(540)
    svg = drawings(text_of(latency_line("db01", {"change": pair(before, after)})))[
        "disk_read: /u02/a.dbf, user, 8 KiB"
    ]
    words = [text.text for text in svg.iter("text")]
    assert {"before", "after"} <= set(words)
    place = {}
    for letter, windows in (("A", before), ("B", after)):
        marks = [c for c in svg.iter("circle") if c.get("class") == "w" + letter]
        heights = [float(mark.get("cy")) for mark in marks]
        assert len(marks) == 10 and heights == sorted(heights)
        # The same order along the axis as the windows' p50.
        order = sorted(range(10), key=lambda number: windows[number].p50)
        assert order == sorted(range(10), key=lambda n: float(marks[n].get("cx")))
        lines = [p for p in svg.iter("path") if (p.get("class") or "").startswith("m" + letter)]
        place[letter] = [float(line.get("d")[1:].split(" ")[0]) for line in lines]
    assert place["A"][0] < place["B"][0], "p50 went up"
    assert place["A"][0] < place["A"][1], "p50 is not right of p99"
    assert words[-4:] == [word for word in words if word.startswith("p")]


def area(svg, letter):
    """Of a curve, in square pixels, from its steps."""
    (path,) = [p for p in svg.iter("path") if p.get("class") == "c" + letter and "H" in p.get("d")]
    start = re.match(r"M([\d.]+) ([\d.]+)", path.get("d"))
    x, floor = float(start.group(1)), float(start.group(2))
    level, total = floor, 0.0
    for command, value in re.findall(r"([VH])([\d.]+)", path.get("d")):
        if command == "V":
            level = float(value)
        else:
            total += (floor - level) * (float(value) - x)
            x = float(value)
    return total


def curve(text, letter):
    (svg,) = drawings(text).values()
    swatches = [p for p in svg.iter("path") if p.get("class") == "c" + letter]
    assert len(swatches) == 2
    svg.remove(swatches[1])
    return area(svg, letter) if "H" in swatches[0].get("d") else 0.0


def test_both_distributions_have_the_same_area_however_many_there_were():
    text = text_of(latency_line("db01", {"change": pair(active(410), active(900, n=5000))}))
    before, after = curve(text, "A"), curve(text, "B")
    assert before > 1000
    assert after == pytest.approx(before, rel=0.02)


def test_fine_bins_beside_coarse_ones_are_drawn_by_octave():
    late = [window._replace(bins={"log2": {"9": 900, "10": 300}}) for window in active(410)]
    text = text_of(latency_line("db01", {"change": pair(active(410), late)}))
    assert curve(text, "A") == pytest.approx(curve(text, "B"), rel=0.02)


def test_without_distributions_the_windows_alone_are_drawn():
    text = text_of(latency_line("db01", {"change": pair(passive(640), passive(655))}))
    (svg,) = drawings(text).values()
    assert len(list(svg.iter("circle"))) == 20
    assert sum("H" in path.get("d") for path in svg.iter("path")) == 0 or not any(
        len(path.get("d")) > 40 for path in svg.iter("path")
    )


def test_the_table_tells_before_after_and_change():
    (rows,) = tables(text_of(latency_line("db01", {"change": pair(active(410), active(540))})))
    assert rows[0] == [
        *("What", "When", "Windows", "Count", "min", "p50", "p90", "p99", "max", "mean"),
    ]
    assert rows[1][:4] == ["disk_read: /u02/a.dbf, user, 8 KiB", "before", "10", "12,000"]
    assert rows[2][:3] == ["after", "10", "12,000"]
    assert [row[0] for row in rows[3:]] == ["change"]
    # In rows of their own the name is missing, so that p50 is one place to the left.
    before, after = (float(text.split(" ")[0]) for text in (rows[1][5], rows[2][4]))
    change = float(re.fullmatch(r"\+([\d.]+)%", rows[3][4]).group(1))
    assert change == pytest.approx((after / before - 1) * 100, abs=0.5), "of rounded figures"


def test_the_window_is_the_unit_of_every_figure():
    means = (1000.0, 100.0, 130.0)
    windows = [
        window._replace(n=n, mean=mean, p50=None)
        for window, n, mean in zip(passive(100, count=3), (9, 90, 900), means, strict=True)
    ]
    (series,) = read_windows(reading(windows)).series
    totals = summary(series)
    assert (totals.windows, totals.n, totals.mean, totals.p50) == (3, 999, 130.0, None)
    assert totals.minimum == min(window.minimum for window in windows)
    assert totals.maximum == max(window.maximum for window in windows)


def test_what_was_measured_on_one_side_alone_is_said():
    cited = pair(passive(640), passive(640) + passive(300, subject="dm-9"))
    text = text_of(latency_line("db01", {"change": cited}))
    (rows,) = tables(text)
    assert rows[4][:3] == ["disk: dm-9, read", "before", "not measured"]
    assert rows[5][:2] == ["after", "10"]
    assert set(drawings(text)) == {"disk: sda, read"}


def test_a_side_whose_other_one_is_not_cited_is_drawn_alone():
    cited = {"windows:after:disk_read": reading(active(410))}
    text = text_of(latency_line("db01", {"change": cited}))
    assert not drawings(text)
    assert [row[0] for row in tables(text)[0]] == ["What", "/u02/a.dbf, user, 8 KiB"]


# What surrounds them


def test_a_reading_is_drawn_once_and_other_findings_link_to_it():
    readings = {"windows:disk": reading(passive(640))}
    line = latency_line("db01", {"disk": readings, "host_overhead": readings})
    page = Page(text_of(line))
    assert len([tag for tag, attributes in page.tags if attributes.get("class") == "lt"]) == 1
    assert "#h:db01/l1" in page.links
    assert page.ids.count("h:db01/l1") == 1


@cases("status is_open", ("fail", True), ("warn", True), ("pass", False))
def test_what_needs_attention_is_unfolded(status, is_open):
    page = Page(
        text_of(latency_line("db01", {"d": {"windows:d": reading(passive(9))}}, status=status))
    )
    (figure,) = [
        attributes
        for tag, attributes in page.tags
        if tag == "details" and attributes.get("class") == "l"
    ]
    assert ("open" in figure) is is_open


def test_a_page_with_drawings_is_self_contained():
    text = text_of(example("db01"), example("db02"))
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert all(link.partition("#")[2] in page.ids for link in page.links)
    for tag, attributes in page.tags:
        assert not {"src", "style", "xlink:href"} & set(attributes)
        assert tag not in ("image", "use", "foreignobject", "animate", "iframe", "link")
    assert "http:" not in text and "https:" not in text
    for svg in re.findall(r"<svg.*?</svg>", text, re.S):
        assert svg.startswith('<svg role="img"')
        assert re.match(r"<svg[^>]*><title>[^<]+</title><desc>[^<]+</desc>", svg)


def test_more_than_a_drawing_or_table_holds_is_said(monkeypatch):
    monkeypatch.setattr(latency_figure, "TABLE_ROWS", 4)
    windows = [
        window for n in range(9) for window in passive(100 + n, subject=f"sd{n}", count=1 + n)
    ]
    text = text_of(latency_line("db01", {"disk": {"windows:disk": reading(windows)}}))
    assert "… and 5 more: findings.jsonl." in text
    (rows,) = tables(text)
    assert len(rows) == 5
    monkeypatch.setattr(latency_figure, "DRAWINGS", 2)
    windows = [
        (active(100, subject=f"f{n}"), active(100 * 3**n, subject=f"f{n}")) for n in range(5)
    ]
    befores, afters = (
        [window for side in sides for window in side] for sides in zip(*windows, strict=True)
    )
    text = text_of(latency_line("db01", {"change": pair(befores, afters)}))
    assert "Shown: the 2 of 5 with the largest change." in text
    assert [title.split(",")[0] for title in drawings(text)] == ["disk_read: f3", "disk_read: f4"]


def test_evidence_of_windows_stands_as_a_table_and_not_as_numbers_of_bins():
    note, text = show_reading(reading(active(410)[:2], ["sdc: too few I/Os to tell"]))
    lines = text.splitlines()
    assert lines[0].split() == ["what", "n", "min", "p50", "p90", "p99", "max", "mean"]
    assert [line.split()[:5] for line in lines[1:3]] == [
        ["/u02/a.dbf,", "user,", "8", "KiB", "1200"]
    ] * 2
    assert "number of values below each time" in text
    assert re.search(r"8 KiB: <512 µs \d+, <1 ms \d+", text)
    assert lines[-1] == "sdc: too few I/Os to tell"
    assert "counts" not in text and len(text) < 1000


def test_every_value_of_a_window_is_escaped():
    windows = [window._replace(probe=NASTY, subject=NASTY, layer=NASTY) for window in active(9)]
    keys = (f"windows:{NASTY}", f"windows:before:{NASTY}", f"windows:after:{NASTY}")
    readings = {key: reading(windows, [NASTY]) for key in keys}
    text = text_of(latency_line("db01", {"x": readings}))
    page = Page(text)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("svg") == 1
    assert tags.count("script") == 1 and "img" not in tags
    assert not re.search("[\x1b\ud800-\udfff\u202e]", text)
    assert drawings(text)


# What is no window


def mangled():
    """Readings that somebody edited; each leaves one good window and one that is none."""

    def change(name, value):
        def apply(reading):
            reading["windows"][1][name] = value

        return pytest.param(apply, id=f"{name}={str(value)[:40]}")

    def change_bins(name, value):
        def apply(reading):
            reading["windows"][1]["bins"][name] = value

        return pytest.param(apply, id=f"bins.{name}={str(value)[:40]}")

    def replace(value):
        def apply(reading):
            reading["windows"][1] = value

        return pytest.param(apply, id=f"window={value!r}")

    return [
        *(replace(value) for value in (None, 7, "window", [], {}, {"probe": "disk"})),
        *(change("n", value) for value in (-1, 1.5, "9", None, True, 10**40)),
        *(change("p50", value) for value in (-1, "9", float("nan"), float("inf"), 10**400, [])),
        *(change("size", value) for value in (-1, 0.5, "8k", 10**30)),
        *(change(name, None) for name in ("probe", "subject", "layer", "conditions")),
        *(change("bins", value) for value in (7, [], {}, "log2", {"log2": None}, {"log2": []})),
        change("bins", {"log2": {"x": 1}}),
        change("bins", {"log2": {"3": -1}}),
        change("bins", {"log2": {"99": 1}}),
        change("bins", {"log2": {"3": 1}, "wide": 3}),
        change("bins", {"log2": {"3": 1}, "wide": {"3": "0"}}),
        change("bins", {"log2": {"3": 1}, "open": "3"}),
        *(change_bins("counts", v) for v in (None, 7, [7], [[1]], [["1", 1]], [[-1, 1]])),
        *(change_bins("counts", v) for v in ([[1, 0]], [[1, -1]], [[10**18, 1]], [[1, 1, 1]])),
        *(change_bins("lowest_ns", value) for value in (None, "1", [])),
        *(change_bins("sum_ns", value) for value in (None, float("inf"), {})),
        change_bins("layout", "other"),
        change_bins("layout", None),
    ]


@pytest.mark.parametrize("mangle", mangled())
def test_what_is_no_window_is_left_out_and_said(mangle):
    broken = copy.deepcopy(reading(active(410)[:2]))
    mangle(broken)
    read = read_windows(broken)
    assert [len(series.windows) for series in read.series] == [1]
    (problem,) = read.problems
    assert problem.startswith("window 2: ")
    cited = {"windows:before:x": broken, "windows:after:x": broken, "windows:x": broken}
    text = text_of(latency_line("db01", {"change": cited}))
    assert text.count("<p class=lp>windows:") == 3
    assert len(drawings(text)) == 1
    assert len(tables(text)) == 2


@cases(
    "told",
    {"kind": "windows"},
    {"kind": "windows", "windows": None, "remarks": None},
    {"kind": "windows", "windows": {}, "remarks": {}},
    {"kind": "windows", "windows": [], "remarks": []},
    {"kind": "windows", "error": "unanswered", "message": "no counters"},
    {"kind": "file", "text": "not windows"},
    7,
)
def test_a_reading_without_windows_does_not_end_the_report(told):
    cited = {"windows:before:x": told, "windows:after:x": told}
    line = make_line("db01", [finding(evidence=list(cited))], evidence=pack(cited))
    text = text_of(line)
    assert "<svg" not in text
    assert "windows:before:x" in text and "windows:after:x" in text


def test_windows_of_nothing_are_no_drawing():
    empty = passive(9)[0]._replace(
        n=0, minimum=None, mean=None, p50=None, maximum=None, bins={"log2": {"3": 0}}
    )
    readings = {
        key: reading([empty]) for key in ("windows:x", "windows:before:y", "windows:after:y")
    }
    text = text_of(latency_line("db01", {"x": readings}))
    for rows in tables(text):
        assert "not available" in rows[1]
    assert all(len(svg.findall("circle")) == 0 for svg in drawings(text).values())


@pytest.mark.parametrize(
    "name",
    sorted(
        path
        for path in (
            *("awr-19c-made-up.txt", "orion-19.3.txt", "orion-12.2-read-write.txt"),
            *("devio_stats-seed.txt", "oratcptest-250-bytes.txt", "statspack-made-up.txt"),
            *("apachebench-foreground-check.txt", "awr-11.2.0.1-shortened.txt"),
        )
    ),
)
def test_what_tools_print_can_be_drawn(name):
    text = text_of(latency_line("db01", {"database": {"windows:it": of_fixture(name)}}))
    assert re.search("<td[^>]* class=(q[1-6]|rg) ", text)


def test_what_a_comparison_says_and_what_is_drawn_are_the_same():
    means = [
        [window._replace(probe="nfs", layer="server", p50=None) for window in passive(middle)]
        for middle in (640, 900)
    ]
    windows = {"before": active(410) + means[0], "after": active(540) + means[1]}
    sides = [
        Baseline(
            host="db01",
            taken_at=AT,
            probes=[{"probe": "disk_read", "path": "/u02/a.dbf"}, {"probe": "nfs"}],
            rounds=10,
            seconds=3.0,
            pause=0.0,
            windows=windows[side],
            remarks=[],
        )
        for side in ("before", "after")
    ]
    verdict = compare_hosts({"db01": (sides[0], sides[1])})["db01"]
    judged = judge_host(verdict, AT, AT)
    line = make_line("db01", [entry.as_dict() for entry in judged.findings])
    text = text_of(dict(line, evidence=pack(judged.evidence)))
    for subject, title, figure in (
        ("/u02/a.dbf", "disk_read: /u02/a.dbf, user, 8 KiB", "p50"),
        ("sda", "nfs: sda, server", "mean"),
    ):
        (item,) = [entry for entry in judged.findings if subject in entry.title]
        before, after = re.search(figure + r" (\d+) -> (\d+) us", item.running).groups()
        words = [text.text for text in drawings(text)[title].iter("text")]
        assert {f"{figure} {before} µs", f"{figure} {after} µs"} <= set(words)
        assert item.status == "fail"
