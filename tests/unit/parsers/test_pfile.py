"""Text parameter files: entries, which one counts, and what is refused."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import pfile
from cases import cases


def test_a_file_as_create_pfile_writes_it(fixture_text):
    entries = pfile.parse(fixture_text("pfile/initORCL.ora"))
    assert len(entries) == 13
    assert entries[0] == pfile.Entry("orcl1", "__db_cache_size", "11274289152", 1)
    assert entries[3].value == "'/u02/oradata/orcl/control01.ctl','/u02/oradata/orcl/control02.ctl'"
    assert entries[5].value == "(PROTOCOL=TCP) (SERVICE=orclXDB)"
    assert entries[-1] == pfile.Entry("*", "use_large_pages", "ONLY", 13)


@cases("sid value line", ("orcl1", "TRUE", 8), ("orcl2", "FALSE", 9), ("other", "TRUE", 8))
def test_an_entry_for_a_sid_beats_the_one_for_all(fixture_text, sid, value, line):
    entries = pfile.parse(fixture_text("pfile/initORCL.ora"))
    entry = pfile.effective(entries, "pre_page_sga", sid)
    assert (entry.value, entry.line) == (value, line)


def test_a_file_written_by_hand(fixture_text):
    entries = pfile.parse(fixture_text("pfile/hand-written.ora"))
    values = {entry.name: entry.value for entry in entries}
    assert values["db_name"] == "orcl"
    assert values["event"] == "10298 trace name context forever, level 32 # not a comment"
    assert values["log_archive_dest_1"] == "LOCATION=/u04/arch"
    assert values["control_files"] == '("/u02/control01.ctl", "/u03/control02.ctl")'
    assert values["ifile"] == "/u01/app/oracle/admin/orcl/pfile/more.ora"
    assert all(entry.sid == pfile.ALL for entry in entries)


def test_the_last_of_two_alike_counts(fixture_text):
    entries = pfile.parse(fixture_text("pfile/hand-written.ora"))
    assert pfile.effective(entries, "pre_page_sga", "orcl").value == "true"
    assert [entry.line for entry in pfile.for_instance(entries, "pre_page_sga", "orcl")] == [3, 4]


def test_line_ends_of_windows_and_none_at_the_end():
    entries = pfile.parse("a=1\r\n*.b = 'x y'\r\nc=3")
    assert [(entry.name, entry.value) for entry in entries] == [
        ("a", "1"),
        ("b", "x y"),
        ("c", "3"),
    ]


@cases(
    "line values",
    # Oracle Database Reference, Initialization Parameter Files.
    (
        "PROCESSES = 100 CPU_COUNT = 1 OPEN_CURSORS=10",
        {"processes": "100", "cpu_count": "1", "open_cursors": "10"},
    ),
    (
        "*.sga_target=2G\t*.pre_page_sga = true # x=1",
        {"sga_target": "2G", "pre_page_sga": "true"},
    ),
    (
        "control_files=('/a x=1', /b) db_name='o c=2'",
        {"control_files": "('/a x=1', /b)", "db_name": "o c=2"},
    ),
    (
        "local_listener=(ADDRESS=(PROTOCOL = tcp) (PORT = 1521)) sga_target=1G",
        {"local_listener": "(ADDRESS=(PROTOCOL = tcp) (PORT = 1521))", "sga_target": "1G"},
    ),
    (
        "log_archive_dest_1='LOCATION=/a REOPEN = 5'",
        {"log_archive_dest_1": "LOCATION=/a REOPEN = 5"},
    ),
    ("log_archive_dest_1=LOCATION=/a", {"log_archive_dest_1": "LOCATION=/a"}),
)
def test_several_parameters_on_a_line(line, values):
    entries = pfile.parse(f"db_block_size=8192\n{line}\n")
    assert {entry.name: entry.value for entry in entries[1:]} == values
    assert {entry.line for entry in entries[1:]} == {2}


def test_nothing_set_is_an_answer():
    assert pfile.parse("") == []
    assert pfile.parse("# only words\n\n") == []
    assert pfile.effective([], "pre_page_sga", "orcl") is None


@cases(
    "text problem",
    ("a=1\nnonsense\n", r"line 2: column 1: expected \[SID.\]NAME = VALUE"),
    ("a=1\nb='open\nc=3\n", "line 2: column 3: expected the closing '"),
    ("a=(1,2\n", r"line 1: column 1: expected 1 more '\)'"),
    ("a=1)\n", r"line 1: column 4: expected no '\)'"),
    ("a=1 \\", "line 1: column 1: expected another line"),
    ("a=x\0y\n", "line 1: column 1: a byte that is no text"),
    ("=TRUE\n", "line 1: column 1: expected"),
)
def test_what_is_broken_is_refused_with_its_place(text, problem):
    with pytest.raises(ParseError, match=problem):
        pfile.parse(text)
