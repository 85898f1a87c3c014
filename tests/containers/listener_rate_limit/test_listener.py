"""The story of a listener's rate: every test goes on where the one before it ended.

The listeners are stand-ins, started as oracle and grid (molecule/listener_rate_limit/prepare.sh).
The policy is in molecule/listener_rate_limit/inventory: 10 connections a second.
"""

import time

import pytest

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"
GRID = "/u01/app/19.0.0/grid"
FILE = f"{HOME}/network/admin/listener.ora"
GRID_FILE = f"{GRID}/network/admin/listener.ora"
LOG = "/u01/app/oracle/diag/tnslsnr/$(uname -n)/listener/trace/listener.log"
CONTROL = "LISTENER listener_rate_limit"
RESTART = {"listener_rate_limit_allow_restart": True}

BEFORE = "(ADDRESS = (PROTOCOL = TCP)(HOST = 127.0.0.1)(PORT = 1521))   # clients"
AFTER = (
    "(ADDRESS = (PROTOCOL = TCP)(HOST = 127.0.0.1)(PORT = 1521)(RATE_LIMIT = 10)(QUEUESIZE = 256))"
    "   # clients"
)


def seen(box, path=FILE):
    """Content, owner, mode: what has to be the same again."""
    return box.run(f"stat -c '%U:%G %a' {path}; cat {path}")


def listener(box):
    """Process and owner of the listener that the story is about."""
    return box.run(f"ps -o pid=,user= -p $(pgrep -f '^{HOME}/bin/tnslsnr')").split()


def statuses(run):
    return {name: status for name, status in run.statuses().items() if "GRIDL" not in name}


def find(run, check, name="LISTENER"):
    """The finding of a check about a listener."""
    findings = [
        finding for finding in run.findings if finding["check"] == f"listener_rate_limit.{check}"
    ]
    return next(
        finding
        for finding in findings
        if finding["title"].startswith(f"{name}: ") or len(findings) == 1
    )


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    return {"files": box.files(), "file": seen(box), "grid": seen(box, GRID_FILE)}


def test_verify_finds_a_listener_without_a_limit(box, untouched):
    verified = box.play("verify")
    assert find(verified, "listener_runs")["status"] == "pass"
    assert find(verified, "rate")["status"] == "fail"
    assert find(verified, "loaded")["status"] == "pass"


def test_a_burst_is_not_delayed(probe):
    shown = probe(pings=1, burst=50, rate=10, maximum=60)
    assert shown["pings"][0]["outcome"] == "answered"
    assert shown["burst"]["verdict"] == "not_delayed"


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched):
    planned = box.play("apply", "--check", "--diff", **RESTART)
    assert (planned.rc, planned.changed) == (0, 1)
    assert f"+      {AFTER}" in planned.output
    assert seen(box) == untouched["file"]
    box.run("! test -e /var/lib/hostproof")


def test_without_permission_the_listener_keeps_running_and_is_found_older_than_its_file(
    box, untouched, probe
):
    time.sleep(2)
    before = listener(box)
    applied = box.play("apply")
    assert "lsnrctl stop LISTENER" in applied.output
    assert listener(box) == before
    verified = box.verify()
    assert find(verified, "rate")["status"] == "pass"
    assert find(verified, "loaded")["status"] == "fail"
    assert probe(pings=0, burst=30, rate=10)["burst"]["verdict"] == "not_delayed"


def test_its_revert_is_identical(box, untouched):
    assert box.revert().rc == 0
    assert seen(box) == untouched["file"]


def test_apply_edits_one_address_and_restarts_the_listener(box, untouched):
    # The file was written again a moment ago: the listener is older than it.
    before = listener(box)
    applied = box.play("apply", "--diff", **RESTART)
    assert (applied.rc, applied.changed) == (0, 1)
    assert seen(box) == untouched["file"].replace(BEFORE, AFTER)
    assert listener(box)[0] != before[0]
    assert listener(box)[1] == "oracle"
    assert box.files() == untouched["files"]


def test_verify_passes(box):
    verified = box.verify()
    assert verified.rc == 0
    for check in ("rate", "rate_enabled", "loaded", "drain_time", "queue_size"):
        assert find(verified, check)["status"] == "pass", check


def test_a_burst_of_50_is_delayed_at_about_that_rate_and_none_is_refused(box, probe):
    shown = probe(pings=0, burst=50, rate=10)["burst"]
    assert shown["verdict"] == "delayed"
    assert shown["outcomes"]["answered"] == 50
    assert 7.5 <= shown["drain_rate"] <= 12.5
    assert shown["as_expected"] is True
    assert "* establish * 1158" in box.run(f"cat {LOG}")


def test_the_delay_is_seen_in_the_log(box):
    assert find(box.verify(), "delayed")["status"] in ("pass", "warn")


def test_a_second_apply_changes_nothing(box):
    before = listener(box), seen(box)
    again = box.apply(**RESTART)
    assert (again.rc, again.changed) == (0, 0)
    assert (listener(box), seen(box)) == before


def test_a_file_that_an_administrator_touches_makes_the_listener_older(box):
    time.sleep(2)
    before = listener(box)
    box.run(f"touch {FILE}")
    assert find(box.verify(), "loaded")["status"] == "fail"
    assert box.apply(**RESTART).rc == 0
    assert listener(box)[0] != before[0]
    assert find(box.verify(), "loaded")["status"] == "pass"


def test_a_file_of_grid_infrastructure_is_refused_and_untouched(box, untouched):
    listeners = [{"name": "GRIDL", "rate": 10}]
    policy = {"listener_rate_limit_listeners": listeners, **RESTART}
    verified = box.verify(**policy)
    assert find(verified, "editable", "GRIDL")["status"] in ("warn", "fail")
    refused = box.apply(**policy)
    assert refused.rc == 2
    assert "Grid Infrastructure manages listener.ora" in refused.output
    assert seen(box, GRID_FILE) == untouched["grid"]


def test_a_file_that_cannot_be_read_is_named_with_its_place_and_never_written(box):
    good = seen(box)
    box.run(f"cp -p {FILE} /tmp/good; sed -i 's/^ADR_BASE_LISTENER/)ADR_BASE_LISTENER/' {FILE}")
    broken = seen(box)
    verified = box.verify()
    assert find(verified, "syntax")["status"] in ("fail", "error")
    assert "line 12, column 1" in find(verified, "syntax")["why"]
    assert box.apply(**RESTART).rc == 2
    assert seen(box) == broken
    box.run(f"cp -p /tmp/good {FILE}; rm /tmp/good")
    assert seen(box) == good


def test_revert_puts_the_file_back_and_the_listener_knows_it(box, untouched, probe):
    reverted = box.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert seen(box) == untouched["file"]
    assert box.files() == untouched["files"]
    assert probe(pings=0, burst=30, rate=10)["burst"]["verdict"] == "not_delayed"


def test_a_second_revert_finds_nothing_to_put_back(box, untouched):
    again = box.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert seen(box) == untouched["file"]


def test_the_stand_in_takes_no_orders_from_other_accounts(box):
    order = f"ORACLE_HOME={HOME} {HOME}/bin/lsnrctl stop"
    output = box.run(f"{order}; true")
    assert "TNS-01190" in output
    assert listener(box)[1] == "oracle"
