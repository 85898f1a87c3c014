"""What sqlplus prints: rows between marks, errors by their lines, nothing that was cut off."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import sqlplus_rows
from cases import cases

ANSWER = "hostproof-begin\n|instance|ORCL|19.0.0.0.0|OPEN|\n\n|value|spfile|\\0|\nhostproof-end\n"


def test_rows_and_nulls():
    assert sqlplus_rows.parse(ANSWER) == [
        sqlplus_rows.Row("instance", ("ORCL", "19.0.0.0.0", "OPEN")),
        sqlplus_rows.Row("value", ("spfile", None)),
    ]


def test_what_stands_around_the_marks_is_not_ours():
    text = "glogin says hello\n" + ANSWER + "|value|x|y|\n"
    assert len(sqlplus_rows.parse(text)) == 2


def test_escapes():
    (row,) = sqlplus_rows.parse("hostproof-begin\n|v|a\\pb\\nc\\sd\\spe||\nhostproof-end\n")
    assert row.fields == ("a|b\nc\\d\\pe", "")


def test_no_row_is_an_answer():
    assert sqlplus_rows.parse("hostproof-begin\nhostproof-end\n") == []


@cases(
    "text problem",
    ("", "does not begin with hostproof-begin"),
    ("hostproof-begin\n|a|b|\n", "ends before hostproof-end"),
    ("hostproof-begin\n|a|b\nhostproof-end\n", "line 2: not a row between bars"),
    ("hostproof-begin\nORA-00942: no\nhostproof-end\n", "line 2: not a row between bars"),
    ("hostproof-begin\n|a|\\x|\nhostproof-end\n", "line 2: an escape that is none"),
    ("hostproof-begin\n||b|\nhostproof-end\n", "line 2: a row of no kind"),
)
def test_what_is_no_answer(text, problem):
    with pytest.raises(ParseError, match=problem):
        sqlplus_rows.parse(text)


def test_errors_by_their_lines():
    text = "select 1\n*\nERROR at line 1:\nORA-01034: ORACLE not available\nProcess ID: 0\n"
    assert sqlplus_rows.errors(text) == ["ORA-01034: ORACLE not available"]
    assert sqlplus_rows.errors("SP2-0042: unknown command\nTNS-12345: x\n") == [
        "SP2-0042: unknown command",
        "TNS-12345: x",
    ]
    assert sqlplus_rows.errors(ANSWER) == []
