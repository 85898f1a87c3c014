"""The alert log's large pages: asked and granted, in the forms of 11.2, 12.1, 12.2, 19c, 23ai."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import alert_log_large_pages as alert_log
from cases import cases

SMALL, LARGE = 4096, 2 << 20


@cases(
    "name size available asked granted",
    ("11.2.0.2-granted", None, 4663, 4609, 4609),
    ("11.2.0.2-refused", None, 512, 601, 0),
    ("11.2.0.3-short", LARGE, None, 601, 512),
    ("11.2.0.4-only", LARGE, None, 30721, 30721),
    ("11.2.0.4-one-page-short", LARGE, None, 20481, 20480),
    ("12.1-short", LARGE, 447, 451, 5),
    ("12.2-only", LARGE, 1610, 1602, 1602),
    ("19c-granted", LARGE, 8194, 8194, 8194),
    ("23ai-none", LARGE, 0, 766, 0),
    ("mixed-forms", LARGE, 6554, 5761, 5761),
)
def test_asked_and_granted(fixture_text, name, size, available, asked, granted):
    start = alert_log.parse(fixture_text(f"alert_log/{name}.txt"))
    assert start.large == [alert_log.PageSize(size, available, asked, granted, None)]


def test_the_first_table_of_a_start_counts(fixture_text):
    text = fixture_text("alert_log/23ai-none.txt")
    start = alert_log.parse(text)
    (header,) = [line for line in text.splitlines() if "ALLOCATED_PAGES" in line]
    other = f"{header}\n        2048K   9   9   9        NONE\n"
    assert alert_log.parse(text + other) == start
    last = "        2048K   8   8   8        NONE\n"
    begin = text[: text.index(header)]
    (page,) = alert_log.parse(f"{begin}{header}\n{last}{other}").large
    assert page.granted == 8


def test_the_numbers_add_up(fixture_text):
    # 1202 MB asked, 1024 MB granted: 89 pages of 2 MB are missing.
    (page,) = alert_log.parse(fixture_text("alert_log/11.2.0.3-short.txt")).large
    assert (page.asked - page.granted) * page.size == (1202 - 1024) << 20
    (page,) = alert_log.parse(fixture_text("alert_log/23ai-none.txt")).large
    assert page.asked * page.size == 1532 << 20
    (page,) = alert_log.parse(fixture_text("alert_log/12.1-short.txt")).large
    assert page.asked * page.size == 902 << 20


@cases(
    "name expected got", ("12.1-short", 5, 228357), ("19c-granted", 5, 5), ("23ai-none", 5, 391529)
)
def test_ordinary_pages_are_told_apart(fixture_text, name, expected, got):
    ordinary = alert_log.parse(fixture_text(f"alert_log/{name}.txt")).ordinary
    assert ordinary == alert_log.PageSize(SMALL, None, expected, got, None)


@cases(
    "name memlock parameter",
    ("11.2.0.4-only", "UNLIMITED", "ONLY"),
    ("11.2.0.4-one-page-short", "100 GB", None),
    ("12.1-short", "213M", None),
    ("23ai-none", "64K", None),
    ("11.2.0.3-short", None, None),
)
def test_memlock_and_parameter(fixture_text, name, memlock, parameter):
    start = alert_log.parse(fixture_text(f"alert_log/{name}.txt"))
    assert (start.memlock, start.use_large_pages) == (memlock, parameter)


def test_the_last_start_counts(fixture_text):
    first = fixture_text("alert_log/12.1-short.txt")
    text = first + "Shutting down instance (immediate)\n" + fixture_text("alert_log/12.2-only.txt")
    start = alert_log.parse(text)
    assert start.large[0].granted == 1602
    assert text.split("\n")[start.line - 1].startswith("Starting ORACLE instance")


def test_a_last_start_without_a_block_does_not_show_the_one_before(fixture_text):
    text = fixture_text("alert_log/12.2-only.txt") + "Starting ORACLE instance (normal)\nALTER\n"
    start = alert_log.parse(text)
    assert (start.large, start.ordinary) == ([], None)


@cases("error", "ORA-27125", "EPERM")
def test_an_error_of_a_row_is_kept(fixture_text, error):
    text = fixture_text("alert_log/23ai-none.txt").replace("0        NONE", f"0        {error}")
    assert alert_log.parse(text).large[0].error == error


@cases(
    "text problem",
    ("", "no line 'Starting ORACLE instance'"),
    ("Shutting down instance\n", "no line 'Starting ORACLE instance'"),
    (
        "Starting ORACLE instance (normal)\n"
        "***** Large Pages Information *****\nsomething new\n*****\n",
        "line 2: no form of a large pages block",
    ),
    (
        "Starting ORACLE instance (normal)\n"
        "PAGESIZE AVAILABLE_PAGES EXPECTED_PAGES ALLOCATED_PAGES ERROR(s)\n"
        "2048K  1  many  2  NONE\n",
        "line 3: no row of pages",
    ),
    (
        "Starting ORACLE instance (normal)\n"
        "PAGESIZE AVAILABLE_PAGES EXPECTED_PAGES ALLOCATED_PAGES ERROR(s)\n*****\n",
        "has no row",
    ),
)
def test_what_is_not_understood_is_said(text, problem):
    with pytest.raises(ParseError, match=problem.replace("(", r"\(")):
        alert_log.parse(text)


def test_large_pages_turned_off_need_no_numbers():
    start = alert_log.parse(
        "Starting ORACLE instance (normal)\n***** Large Pages Information *****\n"
        "Parameter use_large_pages = FALSE\n*****\n"
    )
    assert (start.use_large_pages, start.large) == ("FALSE", [])
