"""The story of pre_page_sga in a container: every test goes on where the one before it ended.

ORCL is an instance of 19c that kept pre_page_sga=FALSE from an older release. Its process and its
segment are real, sqlplus and what it changes are stand-ins (molecule/pre_page_sga/prepare.sh). Root
in a container may not see the pages of another account's process: what rests on them is in the lab.
"""

import json

import pytest

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"
SPFILE = f"{HOME}/dbs/spfileORCL.ora"
STATE = f"{HOME}/standin/ORCL.json"
CONTROL = "ORCL pre_page_sga"
MODULE = {"sid": "ORCL", "oracle_home": HOME}


def state(box):
    return json.loads(box.run(f"cat {STATE}"))


def stored(box):
    return {(sid, name): value for sid, name, value in state(box)["stored"]}


def sqlplus(box, statements):
    """As the administrator would."""
    box.run(
        f"printf '{statements}\\n' | ORACLE_HOME={HOME} ORACLE_SID=ORCL "
        f"setpriv --reuid=54321 --regid=54321 --clear-groups {HOME}/bin/sqlplus -S '/ as sysdba'"
    )


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    return {"files": box.files(), "spfile": box.run(f"sha256sum {SPFILE}"), "stored": stored(box)}


def test_verify_says_what_the_instance_runs_with(box, untouched):
    verified = box.play("verify")
    setting = verified.finding(f"{CONTROL}.value")
    assert setting["status"] == "warn"
    assert (setting["running"], setting["in_use"]) == ("FALSE", "unknown")
    assert setting["persisted"] == f"FALSE (*.pre_page_sga in {SPFILE})"
    statuses = verified.statuses()
    assert statuses[f"{CONTROL}.granted_at_start"] == "pass"
    assert statuses[f"{CONTROL}.use_large_pages"] == "pass"
    assert statuses[f"{CONTROL}.pending_restart"] == "pass"
    assert statuses[f"{CONTROL}.parameter_file"] == "pass"


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched):
    planned = box.play("apply", "--check", "--diff", pre_page_sga_value="TRUE")
    assert (planned.rc, planned.changed) == (0, 1)
    assert "-*=FALSE ORCL=unset" in planned.output
    assert "+*=TRUE ORCL=unset" in planned.output
    assert box.run(f"sha256sum {SPFILE}") == untouched["spfile"]
    box.run("! test -e /var/lib/hostproof")


def test_apply_sets_it_for_the_next_start_alone(box, untouched):
    applied = box.play("apply", pre_page_sga_value="TRUE")
    # The running instance has the old value until it is restarted. That is not a failure.
    assert (applied.rc, applied.changed) == (0, 1)
    assert "ORCL runs with pre_page_sga FALSE until it is restarted" in applied.output
    assert stored(box) == untouched["stored"] | {("*", "pre_page_sga"): "TRUE"}
    assert state(box)["running"]["pre_page_sga"] == "FALSE"
    assert state(box)["status"] == "OPEN"
    assert box.files() == untouched["files"]


def test_verify_says_what_waits_for_a_restart(box):
    verified = box.verify()
    assert verified.statuses()[f"{CONTROL}.value"] == "warn"
    pending = verified.finding(f"{CONTROL}.pending_restart")
    assert (pending["status"], pending["persisted"]) == ("warn", "pre_page_sga TRUE")


def test_a_second_apply_changes_nothing(box):
    before = box.run(f"sha256sum {SPFILE}; find /var/lib/hostproof | sort")
    again = box.apply(pre_page_sga_value="TRUE")
    assert (again.rc, again.changed) == (2, 0)
    assert box.run(f"sha256sum {SPFILE}; find /var/lib/hostproof | sort") == before


def test_the_next_start_makes_it_right(box):
    sqlplus(box, "shutdown immediate\\nstartup")
    verified = box.verify()
    assert verified.statuses()[f"{CONTROL}.value"] == "pass"
    assert verified.statuses()[f"{CONTROL}.pending_restart"] == "pass"


def test_a_plan_does_not_guess_the_pages_of_an_old_release(box):
    kept = box.run(f"cat {STATE}")
    old = json.loads(kept) | {"version": "11.2.0.4.0", "stored": []}
    # Since 18c only.
    del old["full"]
    box.run(f"cat > {STATE} <<'END'\n{json.dumps(old)}\nEND")
    refused = box.apply(pre_page_sga_value="TRUE")
    assert refused.rc == 2
    assert "maps: Permission denied" in " ".join(refused.output.split())
    assert stored(box) == {}
    box.run(f"cat > {STATE} <<'END'\n{kept}\nEND")


def test_revert_puts_the_entry_back(box, untouched):
    reverted = box.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert stored(box) == untouched["stored"]
    assert box.files() == untouched["files"]
    again = box.revert()
    assert (again.rc, again.changed) == (0, 0)


def test_an_instance_started_with_a_text_file_is_its_administrators(box):
    kept = box.run(f"cat {STATE}")
    record = json.loads(kept)
    record |= {
        "spfile": None,
        "running": record["running"] | {"pre_page_sga": "FALSE", "spfile": None},
    }
    box.run(f"mv {SPFILE} /tmp/; echo '*.pre_page_sga=FALSE' > {HOME}/dbs/initORCL.ora")
    box.run(f"cat > {STATE} <<'END'\n{json.dumps(record)}\nEND")
    refused = box.apply(pre_page_sga_value="TRUE")
    assert refused.rc == 2
    assert f"into {HOME}/dbs/initORCL.ora manually" in " ".join(refused.output.split())
    box.run(f"rm {HOME}/dbs/initORCL.ora; mv /tmp/spfileORCL.ora {SPFILE}")
    box.run(f"cat > {STATE} <<'END'\n{kept}\nEND")


# -- the module


def test_the_module_reads_what_runs_and_what_will(oracle_parameter):
    result = oracle_parameter(names=["pre_page_sga", "sga_target"], **MODULE)
    assert (result["version"], result["parameter_file"]) == ("19.0.0.0.0", SPFILE)
    assert result["parameters"]["pre_page_sga"] == {
        "running": "TRUE",
        "next": "FALSE",
        "pending_restart": True,
        "entries": [{"sid": "*", "value": "FALSE", "line": 0}],
    }
    assert result["parameters"]["sga_target"]["entries"][0]["sid"] == "ORCL"


def test_the_module_reads_the_spfile_without_the_instance(oracle_parameter):
    result = oracle_parameter(sid="ORCL", spfile=SPFILE, names=["pre_page_sga"])
    assert result["parameters"]["pre_page_sga"]["next"] == "FALSE"
    assert result["parameters"]["pre_page_sga"]["running"] is None


def test_the_module_sets_once_and_revert_puts_back(box, oracle_parameter, module):
    before = stored(box)
    arguments = {"state": "present", "name": "use_large_pages", "value": "TRUE", **MODULE}
    assert oracle_parameter("--check", **arguments)["changed"]
    assert stored(box) == before
    assert oracle_parameter(**arguments)["changed"]
    assert stored(box) == before | {("*", "use_large_pages"): "TRUE"}
    assert not oracle_parameter(**arguments)["changed"]
    absent = {"state": "absent", "name": "pre_page_sga", **MODULE}
    assert oracle_parameter(**absent)["changed"]
    assert ("*", "pre_page_sga") not in stored(box)
    assert not oracle_parameter(**absent)["changed"]
    reverted = module("revert_control", control="oracle_parameter")
    assert len(reverted["reverted"]) == 2
    assert stored(box) == before


def test_the_module_says_what_the_instance_said(box, oracle_parameter):
    refused = oracle_parameter(
        state="present", name="lock_sga", value="TRUE", scope="both", **MODULE
    )
    assert "ORA-02095: specified initialization parameter cannot be modified" in refused["msg"]
    unknown = oracle_parameter(names=["no_such_parameter"], **MODULE)
    assert "ORCL has no parameter no_such_parameter" in unknown["msg"]
    sqlplus(box, "shutdown immediate")
    down = oracle_parameter(names=["lock_sga"], **MODULE)
    assert "ORA-01034: ORACLE not available" in down["msg"]
