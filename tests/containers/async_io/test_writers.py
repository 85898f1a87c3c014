"""The story of async_io in a container: every test goes on where the one before it ended.

ORCL is an instance of 19c that nobody ever told filesystemio_options. Its processes, their contexts
and the flags of their files are real; sqlplus and what it changes are stand-ins
(molecule/async_io/prepare.sh).
"""

import json

import pytest
from machines.box import IDENTITY

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"


def stored(box):
    state = json.loads(box.run(f"cat {HOME}/standin/ORCL.json"))
    return {(sid, name): value for sid, name, value in state["stored"]}


def of(name):
    return f"ORCL async_io.{name}"


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    box.start("ORCL", "64M")
    box.write("dsync")
    return {"files": box.files(), "stored": stored(box)}


def test_verify_shows_what_the_processes_do(box, untouched):
    verified = box.play("verify")
    finding = verified.finding(of("filesystemio_options"))
    assert (finding["status"], finding["running"]) == ("fail", "none")
    assert finding["in_use"] == (
        "synchronous (no AIO context), through the page cache, each write to disk"
    )
    statuses = verified.statuses()
    assert statuses[of("direct_files")] == "warn"
    assert statuses[of("contexts")] == "skip"
    assert statuses[of("durable_files")] == "pass"
    assert statuses[of("disk_asynch_io")] == statuses[of("io_slaves")] == "pass"
    assert statuses[of("aio_refused")] == statuses[of("io_stalled")] == "pass"
    assert statuses["async_io.aio_usage"] == "pass"


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched):
    planned = box.play("apply", "--check", "--diff", async_io_set_filesystemio_options=True)
    # The page cache is the machine's, and far larger than an SGA of 64 MiB.
    assert planned.rc != 0
    assert "bypasses it; make the SGA larger first" in planned.output
    assert "async_io_allow_cache_loss" in planned.output
    planned = box.play(
        "apply",
        "--check",
        "--diff",
        async_io_set_filesystemio_options=True,
        async_io_allow_cache_loss=True,
    )
    assert (planned.rc, planned.changed) == (0, 1)
    assert "+*=setall ORCL=unset" in planned.output
    assert "fs.aio-max-nr" not in planned.output
    assert stored(box) == untouched["stored"]
    assert box.files() == untouched["files"]


def test_apply_sets_the_next_start(box, untouched):
    risk = {"async_io_set_filesystemio_options": True, "async_io_allow_cache_loss": True}
    applied = box.play("apply", **risk)
    # The running instance has the old value until it is restarted. That is not a failure.
    assert (applied.rc, applied.changed) == (0, 1)
    assert "ORCL runs with filesystemio_options none until it is restarted" in applied.output
    assert stored(box) == untouched["stored"] | {("*", "filesystemio_options"): "setall"}
    again = box.apply(**risk)
    assert again.changed == 0


def test_after_its_restart_it_writes_as_the_policy_says(box):
    box.run(
        f"printf 'shutdown immediate\\nstartup\\n' | ORACLE_HOME={HOME} ORACLE_SID=ORCL "
        f"setpriv --reuid=54321 --regid=54321 --clear-groups {HOME}/bin/sqlplus -S '/ as sysdba'"
    )
    box.stop_writers()
    box.write("direct+dsync", 16)
    verified = box.verify()
    assert verified.worse_than_pass() == {}
    finding = verified.finding(of("filesystemio_options"))
    assert finding["in_use"] == "asynchronous, past the page cache, each write to disk"
    assert "2 contexts" in verified.finding(of("contexts"))["in_use"]


def test_one_file_that_the_parameter_does_not_reach(box):
    hold = "--process dbw1 --hold dsync:/u02/oradata/late01.dbf --context 16"
    box.start_stand_in("ORCL", hold, login=IDENTITY)
    finding = box.verify().finding(of("direct_files"))
    assert finding["status"] == "fail"
    assert "/u02/oradata/late01.dbf" in finding["why"]
    assert "1 data files through the page cache" in finding["in_use"]


def test_revert_puts_everything_back(box, untouched):
    reverted = box.play("revert")
    assert reverted.rc == 0
    assert stored(box) == untouched["stored"]
    assert box.files() == untouched["files"]
