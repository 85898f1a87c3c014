"""Parameters of AWR and Statspack reports, and event 44951 among them."""

from ansible.module_utils.hostproof.controls.latency.parsers import awr
from ansible.module_utils.hostproof.controls.latency.parsers.report_parameters import (
    Parameter,
    ReclaimEvent,
    parse,
    reclaim_event,
)
from cases import cases
from packs import FIXTURES

HEAD = """
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
"""


def event(*lines: str) -> ReclaimEvent | None:
    names = ["event", *[""] * (len(lines) - 1)]
    rows = [f"{name:29} {line}" for name, line in zip(names, lines, strict=True)]
    values = parse((HEAD + "\n".join(rows) + "\n").split("\n"))
    assert values is not None
    return reclaim_event(values.get("event"))


def test_the_tables_of_a_real_report_with_containers_and_pages():
    report = awr.parse((FIXTURES / "latency/awr-19c-pdb-shortened.txt").read_text())
    values = report.parameters
    assert values is not None
    assert values["compatible"] == Parameter("19.0.0", False)
    assert values["db_cache_size"].text == "0"
    # The table of lists has both; each is cut off at the end of its column.
    assert values["control_files"].text.startswith("+data/racdb/controlfile/current.2+fra/")
    assert values["control_files"].cut
    assert sorted(values) == [
        *("audit_file_dest", "audit_trail", "compatible", "control_files", "db_block_size"),
        *("db_cache_size", "db_create_file_dest", "undo_tablespace"),
    ]


def test_without_a_table_nothing_is_known():
    assert parse(["compatible   19.0.0"]) is None
    assert reclaim_event(None) is None


def test_what_it_became_counts():
    row = f"{'db_securefile':29} {'PERMITTED':33} NEVER"
    values = parse((HEAD + row).split("\n"))
    assert values == {"db_securefile": Parameter("never", False)}


@cases(
    "lines level",
    # As 11.2 wraps it, in the middle of words too.
    (["44951 trace name context forever,", " level 1024"], 1024),
    (["'44951 TRACE NAME CONTEXT FOREVER", "', LEVEL 3"], 3),
    (
        ["10183 trace name context forever,", " level 1, 44951 trace name contex", "t forever"],
        0,
    ),
    (["44951 trace name context forever,", " level 16 10183 trace name contex"], 16),
    (["44951 trace name context forever,", " level 0x400"], 1024),
    # Values of a list, each in a line of its own.
    (
        [
            "10183 trace name context",
            "forever, level 1",
            "44951 trace name context",
            "forever, level 9",
        ],
        9,
    ),
    (["44951 trace name context", "forever, level 16", "31156 trace name context"], 16),
    # As 19c cuts it off.
    (["44951 trace name context forever,"], 0),
    (["44951 trace name context forever,", "31156 trace name context forever,"], 0),
)
def test_the_level_of_the_event(lines, level):
    assert event(*lines) == ReclaimEvent(level or None)


def test_a_level_that_fills_its_column_may_go_on():
    assert event("44951 trace name context forever", ",level 10".rjust(33)) == ReclaimEvent(None)


@cases("text", "10183 trace name context forever", "44951 trace name errorstack", "449510")
def test_other_events(text):
    assert event(text) is None
