"""The table of ways in of docs/security.md: complete, current, and of tests that exist."""

from programs import imported_program

ways_in = imported_program("ways_in")


def test_each_cell_has_a_test_or_a_reason():
    assert all(len(cells) == len(ways_in.GUARANTEES) for cells in ways_in.WAYS.values())
    assert ways_in.missing() == []


def test_the_page_has_the_table_of_today():
    page = ways_in.PAGE.read_text()
    assert ways_in.written(page) == page, "run tests/ways_in"
