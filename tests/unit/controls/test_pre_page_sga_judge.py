"""What pre_page_sga says of an instance: by release, by the pages that it was given, by its files.

Each test changes one thing of a host on which everything passes.
"""

import oracle_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.pre_page_sga.control import CONTROL as pre_page_sga
from ansible.module_utils.hostproof.parsers.oracle import pfile
from ansible.module_utils.hostproof.probes.oracle import oracle_parameters
from cases import cases
from oracle_packs import (
    HOME,
    PFILE,
    SPFILE,
    add_alert_log,
    answer,
    defaults,
    down,
    spfile_text,
    story,
)

ONLY = ("*", "use_large_pages", "ONLY")
CHECKS = [check.id.split(".")[1] for check in pre_page_sga.checks]


@pytest.fixture
def judge(findings_by_rules):
    """judge(host, **changes of the policy): the finding of each check, for one instance."""

    def judge_host(host, **changes):
        findings = findings_by_rules(pre_page_sga, host, oracle_packs.policy(**changes))
        assert list(findings) == CHECKS
        return {check: only for check, (only,) in findings.items()}

    return judge_host


def statuses(found):
    return {name: finding.status for name, finding in found.items()}


def test_everything_passes_on_a_host_that_is_ready(judge):
    findings = judge(story())
    assert set(statuses(findings).values()) == {"pass"}
    setting = findings["value"]
    assert setting.title == "ORCL: pre_page_sga suits the release and the page size"
    assert setting.desired == "not set, the default (release 19.21.0.0.0)"
    assert setting.persisted == "TRUE (default, nothing sets it)"
    assert setting.in_use == "SGA 16.0 GiB, all in pages of 2.0 MiB"
    assert findings["granted_at_start"].in_use == "8194 of 8194 pages of 2.0 MiB; memlock 128G"


def test_a_host_without_an_instance_has_nothing_red(judge):
    assert set(statuses(judge(packs.linux())).values()) == {"skip"}


def test_of_two_instances_with_one_sid_none_is_dropped(judge):
    findings = judge(story().instance("ORCL", *oracle_packs.PAGES["small"], pid=2102))
    assert set(statuses(findings).values()) == {"error"}
    assert "two running instances have one SID" in findings["value"].why


def test_asm_takes_no_part(judge):
    assert set(statuses(judge(packs.linux().instance("+ASM", kind="asm"))).values()) == {"skip"}


# -- the setting: by release and by pages


@cases("pages", "small", "mixed")
@cases("version", "11.2.0.4.0", "11.2.0.2.0", "11.1.0.7.0", "10.2.0.5.0")
def test_up_to_11_2_every_login_walks_the_sga(judge, version, pages):
    finding = judge(story(version, pages, stored=(("*", "pre_page_sga", "TRUE"),)))["value"]
    assert (finding.status, finding.severity) == ("fail", "critical")
    touched = {"small": 4194304, "mixed": 4096 + 2097152}[pages]
    assert f"Every login touches {touched} pages; with huge pages it would be 8192" in finding.why


def test_up_to_11_2_huge_pages_make_it_cheap(judge):
    stored = (("*", "pre_page_sga", "TRUE"), ONLY)
    assert judge(story("11.2.0.4.0", stored=stored))["value"].status == "pass"


def test_huge_pages_of_today_are_no_promise_for_the_next_start(judge):
    stored = (("*", "pre_page_sga", "TRUE"),)
    finding = judge(story("11.2.0.4.0", stored=stored))["value"]
    assert finding.status == "warn" and "use_large_pages is not ONLY" in finding.why
    # The value that was measured as the best stays (M. Przepiorowski, 2012).
    # ONLY fails without memlock and without the pool: they come first.
    words = ("keep pre_page_sga=TRUE; then", "memlock", "size the pool", "use_large_pages=ONLY")
    places = [finding.fix.index(word) for word in words]
    assert places == sorted(places)
    assert "pre_page_sga=FALSE" not in finding.fix


@cases("version", "10.2.0.5.0", "11.1.0.7.0", "11.2.0.1.0")
def test_a_release_without_use_large_pages_keeps_its_pool(judge, version):
    finding = judge(story(version, stored=(("*", "pre_page_sga", "TRUE"),)))["value"]
    assert (finding.status, "use_large_pages=" in finding.fix) == ("warn", False)
    assert finding.fix.startswith(
        "keep pre_page_sga=TRUE, and the pool as large as the SGA (control hugepages)"
    )


def test_memory_target_of_the_next_start_is_reset_before_only(judge):
    stored = (("*", "pre_page_sga", "TRUE"), ("*", "memory_target", "20G"))
    finding = judge(story("11.2.0.4.0", stored=stored, memory_target="0"))["value"]
    fix = finding.fix
    assert finding.status == "warn"
    assert fix.index("RESET memory_target SCOPE=SPFILE SID='*'") < fix.index("ORA-27138")
    assert fix.index("ORA-27138") < fix.index("SET use_large_pages=ONLY SCOPE=SPFILE SID='*'")


@cases("update", "19.21.0.0.0", "19.22.0.0.0")
def test_a_text_file_is_edited(judge, update):
    """ALTER SYSTEM would end with ORA-32001."""
    machine = story(stored=(), spfile=None, update=update, pre_page_sga="FALSE").remove(SPFILE)
    machine.file(PFILE, "sga_target=16G\nORCL.pre_page_sga=false\n")
    finding = judge(machine)["value"]
    assert finding.status == "warn"
    expected = f"delete the lines ORCL.pre_page_sga from {PFILE}; then restart ORCL"
    assert finding.fix.startswith(expected)


@cases("pages", "small", "huge")
def test_up_to_11_2_the_default_is_false_and_fine(judge, pages):
    finding = judge(story("11.2.0.4.0", pages, stored=()))["value"]
    assert finding.status == "pass" and finding.persisted == "FALSE (default, nothing sets it)"


@cases("version", "12.1.0.2.0", "12.2.0.1.0", "18.0.0.0.0", "23.0.0.0.0")
def test_since_12_1_true_is_the_default_also_in_small_pages(judge, version):
    assert judge(story(version, "small"))["value"].status == "pass"


def test_since_12_1_false_only_moves_the_cost(judge):
    finding = judge(story(stored=(("*", "pre_page_sga", "FALSE"), ONLY)))["value"]
    assert finding.status == "warn" and "The instance runs with FALSE" in finding.why
    assert finding.fix.startswith("as SYSDBA: ALTER SYSTEM RESET pre_page_sga SCOPE=SPFILE")
    assert finding.commands == ()


def test_a_next_start_that_would_hurt_is_found_now(judge):
    machine = story("11.2.0.4.0", "small", (("*", "pre_page_sga", "TRUE"),), pre_page_sga="FALSE")
    finding = judge(machine)["value"]
    assert finding.status == "fail"
    assert finding.why.startswith("Every login will touch 4194304 pages")


@cases(
    "wanted stored status",
    ("TRUE", "TRUE", "pass"),
    ("FALSE", "FALSE", "pass"),
    ("TRUE", "FALSE", "fail"),
    ("FALSE", "TRUE", "fail"),
    (True, "TRUE", "pass"),
)
def test_a_policy_that_says_what_it_wants(judge, wanted, stored, status):
    machine = story(stored=(("*", "pre_page_sga", stored), ONLY))
    assert judge(machine, value=wanted)["value"].status == status


def test_what_is_not_managed_is_not_judged(judge):
    findings = judge(
        story(),
        value="unmanaged",
        use_large_pages="unmanaged",
        lock_sga="unmanaged",
        memory_target="unmanaged",
    )
    found = [name for name, status in statuses(findings).items() if status == "skip"]
    assert found == ["value", "use_large_pages", "memory_target", "lock_sga"]


# -- what decides with it


@cases(
    "version value pages status",
    ("19.0.0.0.0", "ONLY", "huge", "pass"),
    ("19.0.0.0.0", "TRUE", "huge", "pass"),
    ("19.0.0.0.0", "TRUE", "small", "warn"),
    ("19.0.0.0.0", "TRUE", "mixed", "warn"),
    ("19.0.0.0.0", "FALSE", "small", "fail"),
    ("19.0.0.0.0", "AUTO", "huge", "warn"),
    ("19.0.0.0.0", "AUTO_ONLY", "huge", "warn"),
    ("12.2.0.1.0", "AUTO_ONLY", "huge", "fail"),
    ("11.2.0.3.0", "AUTO", "huge", "warn"),
    ("11.2.0.1.0", "TRUE", "huge", "skip"),
    ("10.2.0.5.0", "TRUE", "small", "skip"),
    ("19.0.0.0.0", "PERHAPS", "huge", "error"),
)
def test_use_large_pages(judge, version, value, pages, status):
    machine = story(version, pages, stored=(("*", "use_large_pages", value),))
    assert judge(machine)["use_large_pages"].status == status


def test_use_large_pages_as_the_policy_says(judge):
    machine = story(stored=(("*", "use_large_pages", "TRUE"),))
    finding = judge(machine, use_large_pages="ONLY")["use_large_pages"]
    assert (finding.status, finding.desired) == ("fail", "ONLY")


def test_memory_target_keeps_the_sga_out_of_huge_pages(judge):
    machine = story(pages="amm", stored=(("*", "memory_target", "8G"), ONLY), memory_target="0")
    finding = judge(machine)["memory_target"]
    assert finding.status == "fail" and "ORA-27138" in finding.why
    assert finding.persisted == "memory_target 8.0 GiB, memory_max_target 0"


def test_memory_target_is_unknown_before_11(judge):
    assert judge(story("10.2.0.5.0"))["memory_target"].status == "skip"


LOCKED = ("*", "lock_sga", "TRUE")


@cases(
    "pages memlock stored status said",
    ("huge", None, (("*", "lock_sga", "FALSE"),), "pass", ""),
    ("huge", None, (LOCKED,), "warn", "never paged out"),
    ("small", None, (LOCKED,), "pass", ""),
    ("small", 1 << 20, (LOCKED,), "fail", "memlock is 1.0 MiB"),
    ("small", None, (LOCKED, ("*", "memory_target", "8589934592")), "fail", "ORA-00847"),
)
def test_lock_sga(judge, pages, memlock, stored, status, said):
    finding = judge(story(pages=pages, stored=stored, memlock=memlock))["lock_sga"]
    assert finding.status == status and said in finding.why


# -- the last start


@cases(
    "log version status said",
    ("11.2.0.3-short", "11.2.0.3.0", "fail", "512 of 601 pages of 2.0 MiB"),
    ("11.2.0.4-only", "11.2.0.4.0", "pass", ""),
    ("11.2.0.4-one-page-short", "11.2.0.4.0", "fail", "20480 of 20481 pages"),
    ("11.2.0.2-refused", "11.2.0.2.0", "fail", "0 of 601 pages"),
    ("12.1-short", "12.1.0.2.0", "fail", "228357 pages of 4 KiB (892.0 MiB) were used"),
    ("12.2-only", "12.2.0.1.0", "pass", ""),
    ("23ai-none", "23.0.0.0.0", "fail", "0 of 766 pages of 2.0 MiB"),
)
def test_the_last_start_in_every_form(judge, log, version, status, said):
    finding = judge(story(version, alert_log=log))["granted_at_start"]
    assert finding.status == status and said in finding.why


def test_an_alert_log_that_says_nothing_is_no_pass(judge):
    machine = story(alert_log=None)
    assert judge(machine)["granted_at_start"].status == "error"
    add_alert_log(machine := story(alert_log=None), "Starting ORACLE instance (normal)\nmore\n")
    finding = judge(machine)["granted_at_start"]
    assert finding.status == "error" and "no lines about large pages" in finding.why
    add_alert_log(machine := story(pages="small", alert_log=None), "no start in here\n")
    assert judge(machine)["granted_at_start"].status == "error"


def test_a_rotated_alert_log_is_skipped_where_pmon_proves_the_pages(judge):
    add_alert_log(machine := story(alert_log=None), "no start in here\n")
    finding = judge(machine)["granted_at_start"]
    assert finding.status == "skip" and "The pages of pmon are checked" in finding.why
    assert "file:/proc/2101/maps" in finding.evidence
    grep = f"grep -a -n -e ^Starting ORACLE instance {oracle_packs.ALERT_LOG}"
    machine = story(alert_log=None).command(grep, "", 2)
    assert judge(machine)["granted_at_start"].status == "error"
    machine = story(alert_log=None).deny("/proc/2101/maps").command(grep, "", 1)
    assert judge(machine)["granted_at_start"].status == "error"


def test_who_asked_for_no_huge_pages_was_not_refused_any(judge):
    machine = story(stored=(("*", "use_large_pages", "FALSE"),), alert_log=None)
    add_alert_log(machine, "Starting ORACLE instance (normal)\nmore\n")
    assert judge(machine)["granted_at_start"].status == "skip"


# -- the next start


def test_what_waits_for_a_restart_is_told(judge):
    machine = story(stored=(("*", "pre_page_sga", "FALSE"), ONLY), pre_page_sga="TRUE")
    finding = judge(machine)["pending_restart"]
    assert finding.status == "warn"
    assert (finding.running, finding.persisted) == ("pre_page_sga TRUE", "pre_page_sga FALSE")


@cases(
    "coming says",
    ("8G", None),
    ("16G", " Its SGA grows from 8.0 GiB to 16.0 GiB: see"),
    ("4G", None),
)
def test_an_sga_that_grows_at_the_restart_is_told(judge, coming, says):
    sizes = {"sga_target": "8589934592", "sga_max_size": "8589934592"}
    stored = (("*", "sga_target", coming), ("*", "sga_max_size", coming), ONLY)
    finding = judge(story(stored=stored, **sizes))["pending_restart"]
    assert finding.status == ("pass" if coming == "8G" else "warn")
    assert ("Its SGA grows" in finding.why) is bool(says) and (says or "") in finding.why


def test_what_the_instance_derived_does_not_wait(judge):
    """On Exadata the default of use_large_pages is AUTO_ONLY."""
    findings = judge(story(stored=(), use_large_pages="AUTO_ONLY"))
    assert findings["pending_restart"].status == "pass"
    stored = (("*", "use_large_pages", "TRUE"),)
    findings = judge(story(stored=stored, use_large_pages="AUTO_ONLY"))
    assert findings["pending_restart"].status == "warn"


def test_an_entry_for_the_sid_beats_the_one_for_all(judge):
    stored = (("*", "pre_page_sga", "TRUE"), ("ORCL", "pre_page_sga", "FALSE"), ONLY)
    findings = judge(story(stored=stored))
    assert findings["one_value"].status == "warn"
    assert "Effective for ORCL: ORCL.pre_page_sga=FALSE" in findings["one_value"].why
    assert findings["value"].persisted == f"FALSE (ORCL.pre_page_sga in {SPFILE})"


def test_instances_of_a_database_that_start_differently(judge):
    stored = (("*", "pre_page_sga", "TRUE"), ("ORCL2", "pre_page_sga", "FALSE"), ONLY)
    finding = judge(story(stored=stored))["one_value"]
    assert finding.status == "warn" and "start with different values" in finding.why


def test_the_last_of_two_lines_counts(judge):
    machine = story("11.2.0.4.0", "small", stored=(), spfile=None).remove(SPFILE)
    machine.file(PFILE, "pre_page_sga=true\n*.pre_page_sga = FALSE\n")
    findings = judge(machine)
    assert findings["value"].persisted == f"FALSE (*.pre_page_sga in {PFILE})"
    assert findings["one_value"].status == "warn"
    assert (
        "*.pre_page_sga=true (line 1), *.pre_page_sga=FALSE (line 2)" in findings["one_value"].why
    )


def test_the_next_start_takes_another_file(judge):
    finding = judge(story(spfile=None))["parameter_file"]
    assert finding.status == "warn"
    assert finding.why == f"It runs with a text file (pfile); a plain startup uses {SPFILE}."


def test_a_file_that_is_not_reached_is_named(judge):
    finding = judge(story().file(PFILE, "pre_page_sga=TRUE\n"))["parameter_file"]
    assert (finding.status, finding.persisted) == ("pass", f"{SPFILE} (ignored: {PFILE})")


def test_an_spfile_in_asm_is_asked_for_by_the_instance(judge):
    asm = "+DATA/ORCL/spfileorcl.ora"
    findings = judge(story(spfile=asm).remove(SPFILE).file(PFILE, f"SPFILE='{asm}'\n"))
    assert set(statuses(findings).values()) == {"pass"}
    assert findings["parameter_file"].persisted == asm
    findings = judge(story(spfile=asm).remove(SPFILE))
    assert findings["parameter_file"].status == "skip"
    assert "Clusterware" in findings["parameter_file"].why


def test_no_file_for_a_plain_startup(judge):
    finding = judge(story(spfile="/u02/spfile.ora").remove(SPFILE))["parameter_file"]
    assert finding.status == "warn" and "finds no parameter file" in finding.why


def test_a_read_only_home_has_its_files_below_oracle_base(judge):
    home = oracle_packs.HOME
    machine = story(spfile="/u01/app/oracle/dbs/spfileORCL.ora").remove(SPFILE)
    machine.file(home + "/install/orabasetab", f"{home}:/u01/app/oracle:OraDB19Home1:Y:\n")
    machine.file("/u01/app/oracle/dbs/spfileORCL.ora", oracle_packs.spfile_text((ONLY,)))
    assert judge(machine)["parameter_file"].status == "pass"


def test_ifile_is_followed(judge):
    machine = story("11.2.0.4.0", "small", stored=(), spfile=None, pre_page_sga="TRUE")
    machine.remove(SPFILE).file(PFILE, "ifile=/u01/app/oracle/more.ora\n")
    machine.file("/u01/app/oracle/more.ora", "pre_page_sga=TRUE\n")
    assert judge(machine)["value"].status == "fail"


# -- an instance that is down


def test_an_instance_that_is_down_is_judged_by_its_files(judge):
    findings = judge(down())
    assert findings["value"].running == "down"
    skipped = dict.fromkeys(("pending_restart", "logon_time"), "skip")
    assert statuses(findings) == dict.fromkeys(CHECKS, "pass") | skipped


@cases(
    "stored log status",
    ((("*", "pre_page_sga", "TRUE"),), "11.2.0.3-short", "fail"),
    ((("*", "pre_page_sga", "TRUE"),), "11.2.0.4-only", "warn"),
    ((("*", "pre_page_sga", "TRUE"), ONLY), "11.2.0.3-short", "pass"),
    ((), "11.2.0.3-short", "pass"),
)
def test_down_the_last_start_says_what_the_next_may_get(judge, stored, log, status):
    assert judge(down("11.2.0.4.0", stored, log))["value"].status == status


def test_oratab_without_a_parameter_file_lists_no_instance(judge):
    assert set(statuses(judge(down().remove(SPFILE))).values()) == {"skip"}


# -- what is not known


def unasked(findings):
    """Without the check that an instance passes by running."""
    return {name: finding for name, finding in findings.items() if name != "last_start"}


def test_an_instance_that_does_not_answer_is_no_pass(judge):
    machine = story()
    machine.command(oracle_packs.QUERY, "ERROR:\nORA-01017: invalid username/password\n", 1)
    findings = unasked(judge(machine))
    assert set(statuses(findings).values()) <= {"error", "skip"}
    assert "ORA-01017" in findings["value"].why


def test_an_answer_cut_off_is_no_pass(judge):
    machine = story()
    machine.command(oracle_packs.QUERY, answer("19.0.0.0.0", defaults("19.0.0.0.0"), ())[:-15])
    assert "pass" not in statuses(unasked(judge(machine))).values()


def test_not_asked_is_not_known(judge):
    findings = unasked(judge(story(), query_instances=False))
    assert "pass" not in statuses(findings).values()
    assert "pre_page_sga_query_instances is false" in findings["value"].why


def test_not_asked_runs_no_program_of_the_home(judge):
    findings = judge(story(), query_instances=False)
    assert any("no program of the home of" in finding.why for finding in findings.values())


def test_pages_that_may_not_be_seen_are_no_pass(judge):
    stored = (("*", "pre_page_sga", "TRUE"),)
    finding = judge(story("11.2.0.4.0", stored=stored).deny("/proc/2101/maps"))["value"]
    assert finding.status == "error" and finding.fix.startswith("rerun with --become")


def test_an_spfile_that_is_not_understood_is_no_pass(judge):
    machine = down().file(SPFILE, "*.pre_page_sga=TRUE\n" * 3)
    findings = judge(machine, instances=[{"sid": "ORCL", "home": oracle_packs.HOME}])
    assert findings["value"].status == "error" and "not whole blocks" in findings["value"].why


def test_a_release_with_too_few_numbers_is_asked_for(judge):
    listed = [{"sid": "ORCL", "home": oracle_packs.HOME, "version": "12"}]
    finding = judge(down(), instances=listed)["value"]
    assert (finding.status, finding.fix) == ("error", None)
    assert "release 12 is not precise enough" in finding.why


def test_what_oratab_leads_to_is_not_read_as_root(judge):
    home = oracle_packs.HOME
    findings = judge(down().command(f"stat -L -c %U {home}/bin/sqlplus", "root\n"))
    assert "pass" not in statuses(findings).values()
    assert "belongs to root, which owns no database home" in findings["value"].why


def test_a_home_that_nobody_knows(judge):
    findings = judge(story().remove("/proc/2101/exe"))
    assert "neither its program nor oratab tells it" in findings["value"].why
    listed = [{"sid": "ORCL", "home": oracle_packs.HOME}]
    findings = judge(story().remove("/proc/2101/exe"), instances=listed)
    assert set(statuses(findings).values()) == {"pass"}


def test_an_alert_log_that_the_policy_names(judge):
    machine = story(alert_log=None)
    text = (oracle_packs.FIXTURES / "alert_log/12.1-short.txt").read_text()
    add_alert_log(machine, text, "/u05/alert_ORCL.log")
    listed = [{"sid": "ORCL", "alert_log": "/u05/alert_ORCL.log"}]
    finding = judge(machine, instances=listed)["granted_at_start"]
    assert finding.status == "fail" and finding.evidence[0].endswith("/u05/alert_ORCL.log")


@cases(
    "text values",
    ("SPFILE='/u02/sp.ora'\npre_page_sga=false\n", {"pre_page_sga": "false"}),
    # The spfile overrides what stands before it.
    ("pre_page_sga=false processes=90\nspfile=/u02/sp.ora\n", {"processes": "90"}),
    ("spfile=/u02/sp.ora ORCL.sga_target=1G\n*.sga_target=3G\n", {"sga_target": "1G"}),
)
def test_lines_around_the_spfile_of_a_text_file(text, values):
    stored = [("*", "pre_page_sga", "TRUE"), ("*", "sga_target", "2G")]
    machine = story().remove(SPFILE).file(PFILE, text).file("/u02/sp.ora", spfile_text(stored))
    file = oracle_parameters.read_parameter_file(machine, HOME, "ORCL", "oracle")
    expected = {"pre_page_sga": "TRUE", "sga_target": "2G", **values}
    actual = {name: pfile.effective(file.entries, name, "ORCL").value for name in expected}
    assert actual == expected
    assert (file.source, file.is_text) == ("/u02/sp.ora", False)


@cases(
    "name bad good",
    ("lock_sga", "TRUE", "FALSE"),
    ("memory_target", "8589934592", "0"),
    ("use_large_pages", "FALSE", "ONLY"),
)
@cases("now later", (True, False), (False, True), (True, True), ids=["now", "later", "both"])
def test_a_fix_has_the_change_and_the_restart_only_where_they_are_needed(
    judge, name, bad, good, now, later
):
    """The change only where the next start is wrong, the restart only where the instance is."""
    machine = story(
        pages="huge", stored=(("*", name, bad if later else good),), **{name: bad if now else good}
    )
    finding = judge(machine)[name]
    assert finding.status in ("fail", "warn")
    assert ("ALTER SYSTEM" in finding.fix, "restart ORCL" in finding.fix) == (later, now)
    assert finding.failing_layer == ("running" if now else "persisted")
