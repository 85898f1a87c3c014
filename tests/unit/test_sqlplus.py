"""Asking and changing an instance through sqlplus. The instance is a stand-in's; what is asked is
the SQL of the product, which the stand-in lets SQLite run."""

import subprocess

import pytest
from ansible.module_utils.hostproof.apply import parameter_change
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect.answer import attempt
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.errors import HostproofError, ParseError, Unanswered
from ansible.module_utils.hostproof.parsers.oracle import spfile
from ansible.module_utils.hostproof.parsers.oracle.pfile import Entry
from ansible.module_utils.hostproof.probes.oracle import oracle_parameters as probe
from ansible.module_utils.hostproof.probes.oracle import sqlplus
from cases import cases
from standin_instance import StandIn

NAMES = ("pre_page_sga", "use_large_pages", "sga_target")


@pytest.fixture
def orcl(tmp_path):
    return StandIn(tmp_path / "u01/app/oracle/product/19/db")


@pytest.fixture
def journal(tmp_path):
    return Journal(Writer(), str(tmp_path / "journal"))


def ask(orcl, host=None):
    return probe.ask(host or LiveHost(), orcl.target, NAMES, 20.0)


def test_an_instance_tells_release_values_and_entries(orcl):
    orcl.store(("*", "pre_page_sga", "FALSE"), ("ORCL", "sga_target", "1073741824"))
    answer = ask(orcl)
    assert (answer.version, answer.status) == ((19, 0, 0, 0, 0), "OPEN")
    assert answer.running["pre_page_sga"] == "TRUE"
    assert answer.stored == [
        Entry("*", "pre_page_sga", "FALSE", 0),
        Entry("ORCL", "sga_target", "1073741824", 0),
    ]
    assert (answer.spfile, answer.trace) == (str(orcl.spfile), str(orcl.home / "trace"))


def test_values_with_bars_lines_and_backslashes_come_whole(orcl):
    odd = "a|b\\p\nc 'd' \\0"
    orcl.running(sga_target=odd)
    assert ask(orcl).running["sga_target"] == odd


def test_an_instance_started_with_a_text_file_has_no_spfile(orcl):
    orcl.write(spfile=None)
    orcl.running(spfile=None)
    answer = ask(orcl)
    assert (answer.spfile, answer.stored) == (None, [])


def test_an_idle_instance_is_no_answer(orcl):
    orcl.write(status="DOWN")
    with pytest.raises(Unanswered, match="ended with 1: ORA-01034: ORACLE not available"):
        ask(orcl)


def test_a_login_that_takes_too_long_is_no_answer(orcl):
    orcl.write(login_seconds=5)
    with pytest.raises(Unanswered, match="timed out"):
        probe.ask(LiveHost(), orcl.target, NAMES, 0.5)


def test_a_recorded_answer_gives_the_same(orcl):
    live = LiveHost()
    assert ask(orcl, live) == ask(orcl, RecordedHost(live.evidence))
    (reading,) = live.evidence.values()
    assert reading["argv"][1:] == ["-S", "-L", "-R", "3", "/ as sysdba"]


def test_what_a_login_script_prints_does_no_harm(orcl):
    script = orcl.home / "bin/sqlplus"
    script.unlink()
    noisy = f"#!/bin/sh\necho 'welcome to ORCL'\nexec {StandIn.__init__.__globals__['STANDIN']} "
    script.write_text(noisy + '"$@"\n')
    script.chmod(0o755)
    assert ask(orcl).version == (19, 0, 0, 0, 0)


def test_the_release_of_a_home_needs_no_instance(orcl):
    orcl.write(status="DOWN")
    assert probe.release_of_home(LiveHost(), orcl.target) == (19, 0, 0, 0, 0)


def test_the_release_update_is_told_since_18c(orcl):
    """Before, v$instance has no version_full, and the question is none the worse for it."""
    assert ask(orcl).full is None
    orcl.write(full="19.22.0.0.0")
    assert ask(orcl).full == (19, 22, 0, 0, 0)
    assert probe.release_of_home(LiveHost(), orcl.target) == (19, 22, 0, 0, 0)


def test_what_is_no_release_is_refused():
    with pytest.raises(ParseError, match="not numbers between dots"):
        probe.version_of("19c")


# -- changes


def change(orcl, value, name="pre_page_sga"):
    stored = [(entry.sid, entry.name, entry.value) for entry in ask(orcl).stored]
    before = sqlplus.entries_of(stored, name, orcl.sid)
    return parameter_change.stored_change(
        orcl.target, name, before, [("*", value), (orcl.sid, None)], 20.0
    )


def carry_out(made, journal):
    apply.apply_plan(Plan([made], [], [], []), "pre_page_sga", journal, Writer())


def revert(journal):
    apply.revert(journal.transactions(), journal, Writer())


@cases(
    "before",
    [],
    [("*", "pre_page_sga", "TRUE")],
    [("ORCL", "pre_page_sga", "TRUE")],
    [("*", "pre_page_sga", "TRUE"), ("ORCL", "pre_page_sga", "true")],
)
def test_a_change_is_made_read_back_and_undone(orcl, journal, before):
    others = [("*", "sga_target", "17179869184"), ("ORCL2", "pre_page_sga", "TRUE")]
    orcl.store(*before, *others)
    carry_out(change(orcl, "FALSE"), journal)
    stored = {tuple(entry) for entry in orcl.read()["stored"]}
    assert stored == {("*", "pre_page_sga", "FALSE"), *others}
    assert Entry("*", "pre_page_sga", "FALSE", 3) in spfile.parse(
        orcl.spfile.read_bytes().decode("utf-8", "surrogateescape")
    )
    revert(journal)
    back = {(sid, name, value.upper()) for sid, name, value in orcl.read()["stored"]}
    assert back == {(sid, name, value.upper()) for sid, name, value in [*before, *others]}


def test_no_instance_is_restarted_and_what_runs_stays(orcl, journal):
    carry_out(change(orcl, "FALSE"), journal)
    assert orcl.read()["running"]["pre_page_sga"] == "TRUE"
    assert orcl.read()["status"] == "OPEN"


def test_the_next_start_takes_the_change(orcl, journal):
    carry_out(change(orcl, "FALSE"), journal)
    restart = sqlplus.command(orcl.target, "restart", "shutdown immediate\nstartup\n")
    assert "ORACLE instance started." in LiveHost().ask(restart).stdout
    assert ask(orcl).running["pre_page_sga"] == "FALSE"


def test_a_change_cut_off_half_way_is_undone(orcl, journal):
    orcl.store(("*", "pre_page_sga", "TRUE"), ("ORCL", "pre_page_sga", "TRUE"))
    made = change(orcl, "FALSE")
    name = journal.begin("pre_page_sga")
    journal.record(name, made)
    orcl.store(("*", "pre_page_sga", "FALSE"), ("ORCL", "pre_page_sga", "TRUE"))
    revert(journal)
    assert sorted(orcl.read()["stored"]) == [
        ["*", "pre_page_sga", "TRUE"],
        ["ORCL", "pre_page_sga", "TRUE"],
    ]


def test_an_instance_that_refuses_leaves_everything_as_it_was(orcl, journal):
    made = change(orcl, "FALSE")
    orcl.write(spfile=None)
    with pytest.raises(HostproofError, match="ORA-32001: write to SPFILE requested"):
        carry_out(made, journal)
    assert orcl.read()["stored"] == []


@cases(
    "scope value after",
    ("memory", "300", ["300", []]),
    ("both", "300", ["300", [["*", "processes", "300"]]]),
)
def test_a_value_in_force_is_set_and_put_back(orcl, journal, scope, value, after):
    orcl.running(processes="200")
    now = {"spfile": None, "memory": "200"}
    made = parameter_change.setting_change(orcl.target, "processes", "*", scope, now, value)
    carry_out(made, journal)
    assert [orcl.read()["running"]["processes"], orcl.read()["stored"]] == after
    revert(journal)
    assert [orcl.read()["running"]["processes"], orcl.read()["stored"]] == ["200", []]


def test_a_static_parameter_is_not_set_in_force(orcl, journal):
    now = {"spfile": None, "memory": "TRUE"}
    made = parameter_change.setting_change(orcl.target, "pre_page_sga", "*", "both", now, "FALSE")
    with pytest.raises(HostproofError, match="ORA-02095"):
        carry_out(made, journal)
    assert orcl.read()["stored"] == []


@cases(
    "value text", ("TRUE", "TRUE"), ("60G", "60G"), ("/u04/a b", "'/u04/a b'"), ("it's", "'it''s'")
)
def test_values_as_statements_take_them(value, text):
    assert sqlplus.quoted(value) == text


def test_nothing_ends_a_statement_early(orcl):
    with pytest.raises(ValueError, match="no line ends"):
        sqlplus.quoted("x\nshutdown abort")
    for name in ("x; drop", "X'", ""):
        with pytest.raises(ValueError, match="not a name that can be used in a statement"):
            sqlplus.alter(orcl.target, name, [sqlplus.Setting("*", "1")])
    with pytest.raises(ValueError, match="not a name that can be used in a statement"):
        sqlplus.alter(orcl.target, "processes", [sqlplus.Setting("a' scope", None)])
    with pytest.raises(ValueError, match="scope is spfile, memory, both"):
        sqlplus.alter(orcl.target, "processes", [], scope="now")


# -- the stand-in itself


def test_the_standin_answers_as_documented(orcl):
    environment = {"ORACLE_HOME": str(orcl.home), "ORACLE_SID": "ORCL", "PATH": "/usr/bin:/bin"}

    def sqlplus_says(*argv: str, text: str = "") -> tuple[int, str]:
        done = subprocess.run(
            [str(orcl.home / "bin/sqlplus"), *argv],
            env=environment,
            input=text,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout

    assert sqlplus_says("-V") == (0, "\nSQL*Plus: Release 19.0.0.0.0 - Production\n\n")
    code, output = sqlplus_says("-S", "-L", "scott/tiger")
    assert (code, "ORA-01017" in output) == (1, True)
    # Without WHENEVER an error does not change the code.
    code, output = sqlplus_says("-S", "/ as sysdba", text="select name from nowhere;\nexit\n")
    assert (code, "ORA-00942: table or view does not exist" in output) == (0, True)
    code, output = sqlplus_says("-S", "/ as sysdba", text="frobnicate;\n")
    assert 'SP2-0734: unknown command beginning "frobnicate' in output
    orcl.write(status="DOWN")
    code, output = sqlplus_says("/ as sysdba", text="exit\n")
    assert "Connected to an idle instance." in output


def test_a_missing_program_is_said(tmp_path):
    target = StandIn(tmp_path / "home").target._replace(home=str(tmp_path / "none"))
    problem = attempt(probe.ask, LiveHost(), target, NAMES, 5.0)
    assert "No such file" in str(problem)
