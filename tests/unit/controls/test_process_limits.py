"""Process limits as they are judged: every check in each status, and each layer by itself."""

import limit_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.process_limits.control import CONTROL as process_limits
from ansible.module_utils.hostproof.errors import PolicyError
from cases import cases
from default_policies import default_policy
from limit_packs import (
    CRON,
    DROP_IN,
    ENOUGH,
    PACKAGE,
    SERVICE,
    SESSION,
    host,
    package,
    process,
    unit,
    with_oracle,
)


@pytest.fixture
def judge(valid):
    return valid(limit_packs.judged)


def statuses(found, check):
    return {name: finding.status for name, finding in found.items() if name.endswith(check)}


class TestWhereItCounts:
    def test_without_oracle_everything_is_skipped(self, judge):
        findings = judge(host())
        assert {finding.status for finding in findings.values()} == {"skip"}
        assert "hostproof_profile" in findings["login"].why

    def test_not_a_linux_host(self, judge):
        findings = judge(with_oracle().remove("/proc/meminfo"))
        assert {finding.status for finding in findings.values()} == {"skip"}

    def test_processes_that_may_not_be_seen_are_an_error(self, judge):
        assert judge(host().deny("processes:oracle"))["login"].status == "error"

    @cases(
        "profile names",
        ("oracle_19c_single", {"oracle"}),
        ("rac_asm", {"oracle", "grid"}),
        ("oracle_26ai_restart", {"oracle", "grid"}),
    )
    def test_a_profile_announces_accounts(self, judge, profile, names):
        accounts = statuses(judge(with_oracle(), profile=profile), ": accounts")
        assert accounts == {
            f"{name}: accounts": "pass" if name == "oracle" else "warn" for name in names
        }

    def test_whoever_runs_a_listener_counts(self, judge):
        machine = process(host().account("net", 60, "dba"), "/u01/bin/tnslsnr", 77, uid=60)
        assert judge(machine)["net nofile: login"].status == "fail"


class TestLogin:
    def test_the_package_s_lines_are_enough_on_64_gib(self, judge):
        findings = judge(package(with_oracle()))
        assert set(statuses(findings, ": login").values()) == {"pass"}
        assert PACKAGE + ":2" in findings["oracle nofile: login"].persisted

    def test_nothing_sets_them(self, judge):
        findings = judge(with_oracle())
        assert set(statuses(findings, ": login").values()) == {"fail"}
        finding = findings["oracle memlock: login"]
        assert finding.persisted == "soft not set, hard not set"
        assert finding.commands == ("./hostproof apply --tags process_limits",)

    @cases(
        "item soft hard status",
        ("nofile", "1024", "65536", "pass"),
        ("nofile", "1023", "65536", "fail"),
        ("nofile", "1024", "65535", "fail"),
        ("nofile", "1024", "1048576", "pass"),
        ("nofile", "1024", "1048577", "fail"),
        ("nproc", "2047", "16384", "pass"),
        ("nproc", "2046", "16384", "fail"),
        ("nproc", "2047", "16383", "fail"),
        ("nproc", "unlimited", "unlimited", "pass"),
        ("stack", "10240", "10240", "pass"),
        ("stack", "10239", "10240", "fail"),
        ("stack", "10240", "32768", "pass"),
        ("stack", "10240", "32769", "warn"),
        ("stack", "10240", "unlimited", "warn"),
        ("memlock", "3145728", "3145728", "pass"),
        ("memlock", "3145727", "3145728", "fail"),
        # pam_limits cuts the soft one off at the hard one.
        ("memlock", "unlimited", "3145727", "fail"),
    )
    def test_its_edges(self, judge, item, soft, hard, status):
        machine = with_oracle().file(
            "/etc/security/limits.conf", f"oracle soft {item} {soft}\noracle hard {item} {hard}\n"
        )
        assert judge(machine)[f"oracle {item}: login"].status == status

    def test_with_huge_pages_nine_tenths_of_memory(self, judge):
        # 64 GiB: nine tenths are 60397977 kB, of which 1% may be missing.
        machine = with_oracle().pool(100, 100)
        machine.file("/etc/security/limits.conf", "oracle - memlock 59793997\n")
        assert judge(machine)["oracle memlock: login"].status == "pass"
        machine.evidence.clear()
        machine.file("/etc/security/limits.conf", "oracle - memlock 59793996\n")
        assert judge(machine)["oracle memlock: login"].status == "fail"

    def test_a_line_for_the_user_beats_everybody_s_and_the_later_file_wins(self, judge):
        machine = package(with_oracle())
        machine.file("/etc/security/limits.d/zzz.conf", "* hard nofile 10\n")
        assert judge(machine)["oracle nofile: login"].status == "pass"
        machine.evidence.clear()
        machine.file("/etc/security/limits.d/zzz.conf", "oracle hard nofile 10\n")
        finding = judge(machine)["oracle nofile: login"]
        assert finding.status == "fail"
        assert "would not win for oracle (nofile): /etc/security/limits.d/zzz.conf:1" in finding.fix
        assert finding.commands == ()

    def test_a_line_that_frees_the_account_of_all(self, judge):
        machine = package(with_oracle()).file("/etc/security/limits.conf", "oracle -\n")
        finding = judge(machine)["oracle nofile: login"]
        assert finding.status == "fail" and "limits.conf:1 frees the account" in finding.why

    def test_the_policy_s_own_numbers(self, judge):
        limits = [{"name": "nofile", "soft": 2000, "hard": "unlimited"}]
        findings = judge(package(with_oracle()), values=limits)
        assert findings["oracle nofile: login"].status == "fail"
        assert "process_limits_values" in findings["oracle nofile: login"].reference

    def test_unmanaged_is_not_judged(self, judge):
        found = sorted(statuses(judge(with_oracle(), unmanaged=["memlock", "nofile"]), ": login"))
        assert found == ["oracle nproc: login", "oracle stack: login"]

    def test_two_files_that_disagree(self, judge):
        machine = package(with_oracle())
        assert judge(machine)["consistent_sources"].status == "pass"
        machine.file("/etc/security/limits.conf", "oracle hard nofile 4096\n")
        machine.evidence.clear()
        finding = judge(machine)["consistent_sources"]
        assert finding.status == "warn"
        assert "(package oracle-database-preinstall) wins over 4096" in finding.why


LIMITS = "session required pam_limits.so"


class TestPam:
    def test_a_way_in_that_reads_no_limits(self, judge):
        machine = with_oracle().file("/etc/pam.d/cron", "session required pam_loginuid.so\n")
        findings = judge(machine)
        assert findings["cron: pam"].status == "warn" and findings["sshd: pam"].status == "pass"

    @cases(
        "line",
        "@include common",
        "session include common",
        "-session\tsubstack common # x",
        "session required /lib/security/pam_limits.so debug",
        "session [success=1 \\\n default=ignore] pam_limits.so",
    )
    def test_what_is_included_counts(self, judge, line):
        machine = with_oracle().file("/etc/pam.d/common", "session required pam_limits.so\n")
        assert judge(machine.file("/etc/pam.d/su", line + "\n"))["su: pam"].status == "pass"

    def test_a_file_of_the_vendor(self, judge):
        machine = with_oracle().remove("/etc/pam.d/su", "/etc/pam.d/cron")
        machine.file("/usr/lib/pam.d/su", "session include common\n")
        machine.file("/usr/lib/pam.d/common", LIMITS + "\n")
        machine.file("/usr/lib/pam.d/cron", "session required pam_unix.so\n")
        machine.file("/usr/lib/pam.d/sshd", "session required pam_unix.so\n")
        findings = judge(machine)
        assert statuses(findings, ": pam") == {
            **{"cron: pam": "warn", "login: pam": "pass", "sshd: pam": "pass", "su: pam": "pass"}
        }
        readings = {key: machine.evidence[key] for key in machine.evidence if "/lib/pam" not in key}
        assert "su: pam" not in judge(RecordedHost(readings))

    @cases(
        "line status",
        ("session [success=1 default=ignore] pam_succeed_if.so user = oracle", "error"),
        ("session [success=done default=ignore] pam_permit.so", "error"),
        ("session sufficient pam_permit.so", "error"),
        ("session [success=2 default=ignore] pam_permit.so\nsession optional pam_x.so", "error"),
        ("session [success=1 default=ignore] pam_permit.so\nsession required pam_unix.so", "pass"),
        ("session [default=1] pam_permit.so\n\nsession requisite pam_deny.so", "pass"),
        ("# session sufficient pam_permit.so", "pass"),
        ("auth sufficient pam_unix.so", "pass"),
    )
    def test_a_line_that_can_skip_it(self, judge, line, status):
        text = f"{line}\nsession required pam_limits.so\n"
        finding = judge(with_oracle().file("/etc/pam.d/su", text))["su: pam"]
        assert (finding.status, "/etc/pam.d/su" in finding.why) == (status, status == "error")

    @cases(
        "text common status",
        ("session [success=1] pam_x.so\nsession include common", LIMITS, "error"),
        ("session [success=1] pam_x.so\n@include common", LIMITS, "error"),
        ("session sufficient pam_x.so\nsession substack common", LIMITS, "error"),
        ("session [success=1] pam_x.so\nsession optional a.so\n@include common", LIMITS, "pass"),
        ("session include common\n" + LIMITS, "session sufficient pam_x.so", "error"),
        ("session include common\n" + LIMITS, "session [default=1] pam_x.so", "error"),
        ("session include common\n" + LIMITS, "session optional pam_x.so", "pass"),
        ("auth include common", LIMITS, "warn"),
        ("SESSION Required pam_limits.so", "", "pass"),
        ("session required pam_limits.so [conf=/etc/x y.conf]", "", "warn"),
    )
    def test_included_lines_are_read_in_their_place(self, judge, text, common, status):
        machine = with_oracle().file("/etc/pam.d/common", common + "\n")
        assert judge(machine.file("/etc/pam.d/su", text + "\n"))["su: pam"].status == status

    @cases("line", "@include su", "@include nothing")
    def test_what_cannot_be_followed_is_an_error(self, judge, line):
        findings = judge(with_oracle().file("/etc/pam.d/su", line + "\n"))
        assert statuses(findings, "pam")["su: pam"] == "error"

    @cases(
        "line",
        "auth required pam_limits.so",
        "# session required pam_limits.so",
        "session",
        # It reads that file alone.
        "session required pam_limits.so\tconf=/etc/security/other.conf",
    )
    def test_other_lines_do_not(self, judge, line):
        assert judge(with_oracle().file("/etc/pam.d/su", line + "\n"))["su: pam"].status == "warn"

    @cases(
        "stdout rc status",
        ("port 22\nusepam yes\n", 0, "pass"),
        # UsePAM no, also where no line sets it, or a file of sshd_config.d sets it first.
        ("port 22\nusepam no\n", 0, "warn"),
        # An sshd that was built without PAM.
        ("port 22\n", 0, "warn"),
        ("", 255, "error"),
    )
    def test_sshd_opens_a_session_of_pam_with_use_pam_alone(self, judge, stdout, rc, status):
        finding = judge(with_oracle().command("/usr/sbin/sshd -T", stdout, rc))["sshd: pam"]
        assert finding.status == status
        assert ("UsePAM yes" in (finding.fix or "")) == (status == "warn")

    @cases(
        "stdout rc status",
        ("usepam yes\n", 0, "pass"),
        ("usepam no\n", 0, "warn"),
        ("", 255, "error"),
    )
    def test_an_sshd_that_ends_at_a_match_block(self, judge, stdout, rc, status):
        machine = with_oracle()
        line = "'Match Group' in configuration but 'user' not in connection test specification.\r\n"
        machine.commands["/usr/sbin/sshd -T"] = packs.Output(255, "", line)
        connection = "-C user=root,host=x,addr=127.0.0.1,laddr=127.0.0.1,lport=22"
        machine.command(f"/usr/sbin/sshd -T {connection}", stdout, rc)
        assert judge(machine)["sshd: pam"].status == status
        # A recording of an earlier release.
        del machine.evidence[f"command:/usr/sbin/sshd -T {connection}"]
        assert judge(RecordedHost(machine.evidence))["sshd: pam"].status == "error"

    def test_an_sshd_that_is_not_there_has_no_settings(self, judge):
        machine = with_oracle()
        del machine.commands["/usr/sbin/sshd -T"]
        assert judge(machine)["sshd: pam"].status == "pass"

    def test_a_recording_of_an_earlier_release_has_no_settings_of_sshd(self, judge):
        machine = with_oracle()
        judge(machine)
        readings = {key: machine.evidence[key] for key in machine.evidence if "sshd -T" not in key}
        assert judge(RecordedHost(readings, "0.2.0"))["sshd: pam"].status == "pass"

    def test_no_pam(self, judge):
        machine = with_oracle()
        machine.remove(*[path for path in machine.files if path.startswith("/etc/pam.d")])
        assert judge(machine)["pam"].status == "skip"


UNIT = """[Service]
LimitNOFILE=65536
LimitNPROC=infinity
LimitSTACK=10M:32M
LimitMEMLOCK=infinity
TasksMax=infinity
"""


class TestUnits:
    def test_none(self, judge):
        assert judge(with_oracle())["units"].status == "skip"

    def test_with_limits_of_its_own(self, judge):
        findings = judge(unit(with_oracle(), UNIT, **ENOUGH))
        assert findings["dbora.service: units"].status == "pass"
        assert findings["dbora.service: tasks"].status == "pass"
        assert "stack 10240/32768 (/etc/systemd/system/dbora.service:4)" in (
            findings["dbora.service: units"].persisted
        )

    def test_with_systemd_s_defaults(self, judge):
        finding = judge(unit(with_oracle(), "[Service]\n"))["dbora.service: units"]
        assert finding.status == "fail"
        assert "now memlock is too low: soft 8192, hard 8192" in finding.why
        assert "LimitSTACK=10485760:33554432" in finding.fix

    def test_the_advice_changes_the_place_that_counts(self, judge):
        """systemctl edit writes override.conf, and a drop-in of a later name counts after it."""
        machine = unit(with_oracle(), UNIT, **ENOUGH)
        drop_in = "/etc/systemd/system/dbora.service.d/zz.conf"
        machine.file(drop_in, "[Service]\nLimitSTACK=1M\nTasksMax=64\n")
        findings = judge(machine)
        assert findings["dbora.service: units"].fix == (
            f"put 'LimitSTACK=10485760:33554432' into {drop_in}, and run systemctl daemon-reload"
        )
        assert findings["dbora.service: tasks"].fix == (
            f"put 'TasksMax=infinity' into {drop_in}, and run systemctl daemon-reload"
        )

    def test_a_script_that_lowers_a_limit_is_corrected(self, judge):
        start = f"ExecStart=/bin/sh -c 'ulimit -n 1024; {packs.HOME}/bin/dbstart {packs.HOME}'\n"
        finding = judge(unit(with_oracle(), UNIT + start, **ENOUGH))["dbora.service: units"]
        assert finding.fix == "set 'ulimit -n 65536' at /etc/systemd/system/dbora.service:7"

    def test_a_file_that_is_not_loaded_yet(self, judge):
        finding = judge(unit(with_oracle(), UNIT))["dbora.service: units"]
        assert (finding.status, "at boot memlock" in finding.why) == ("fail", False)

    def test_loaded_and_gone_at_the_next_boot(self, judge):
        finding = judge(unit(with_oracle(), "[Service]\n", **ENOUGH))["dbora.service: units"]
        assert finding.status == "fail" and "at boot memlock" in finding.why
        assert "now" not in finding.why

    def test_a_drop_in_wins_and_a_manager_s_default_fills_in(self, judge):
        machine = unit(with_oracle(), UNIT.replace("LimitNOFILE=65536\n", ""), **ENOUGH)
        machine.file("/etc/systemd/system.conf.d/o.conf", "[Manager]\nDefaultLimitNOFILE=70000\n")
        drop_in = "/etc/systemd/system/dbora.service.d/l.conf"
        machine.file(drop_in, "[Service]\nLimitMEMLOCK=1G\nTasksMax=900\n")
        findings = judge(machine)
        finding = findings["dbora.service: units"]
        assert "nofile 70000/70000 (/etc/systemd/system.conf.d/o.conf:2)" in finding.persisted
        assert f"memlock 1048576/1048576 ({drop_in}:2)" in finding.persisted
        assert finding.status == "fail"
        assert findings["dbora.service: tasks"].status == "warn"
        assert "a reboot sets 900" in findings["dbora.service: tasks"].why

    def test_a_stack_without_a_ceiling_is_a_warning(self, judge):
        machine = unit(with_oracle(), UNIT, **{**ENOUGH, "LimitSTACK": "infinity"})
        finding = judge(machine)["dbora.service: units"]
        assert finding.status == "warn" and "above the 32768" in finding.why

    def test_clusterware_may_set_others(self, judge):
        machine = unit(with_oracle(), "[Service]\n")
        text = "[Service]\nExecStart=/etc/rc.d/init.d/ohasd start\n"
        limit_packs.starter(machine, "ohasd.service", text)
        shown = machine.commands[f"systemctl show {limit_packs.SHOW_UNIT} dbora.service"].stdout
        machine.command(f"systemctl show {limit_packs.SHOW_UNIT} ohasd.service", shown)
        findings = judge(machine)
        assert findings["ohasd.service: units"].status == "warn"
        assert findings["dbora.service: units"].status == "fail"

    @cases("loaded status", ("4915", "warn"), ("16383", "warn"), ("16384", "pass"))
    def test_tasks(self, judge, loaded, status):
        findings = judge(unit(with_oracle(), "[Service]\n", TasksMax=loaded))
        assert findings["dbora.service: tasks"].status == status

    @cases(
        "file now status says",
        (None, "16384", "pass", ""),
        (None, "16383", "warn", "it is 16383 now"),
        ("user-.slice.d/a.conf", "infinity", "warn", "a reboot sets 512"),
        ("user-54321.slice.d/a.conf", "512", "warn", "it is 512 now, a reboot sets 512"),
        ("user-54321.slice", "infinity", "warn", "a reboot sets 512"),
        ("slice.d/a.conf", "infinity", "warn", "a reboot sets 512"),
        ("user-1.slice.d/a.conf", "infinity", "pass", ""),
        ("user-54321.slice.d/a.txt", "infinity", "pass", ""),
    )
    def test_the_slice_of_an_account_limits_its_logins(self, judge, file, now, status, says):
        machine = limit_packs.tasks_of(with_oracle(), "user-54321.slice", now)
        if file:
            machine.file(f"/etc/systemd/system/{file}", "[Slice]\nTasksMax=512\n")
        finding = judge(machine)["user-54321.slice: tasks"]
        assert finding.status == status
        assert says in finding.why or status == "pass"
        command = "systemctl set-property user-54321.slice TasksMax=infinity"
        # 50-TasksMax.conf of set-property would lose to a.conf.
        loses = "a.conf" in (file or "")
        assert (command in finding.commands) == (status == "warn" and not loses)
        edit = "run systemctl edit user-54321.slice, and put '[Slice]' and 'TasksMax=infinity'"
        assert (finding.fix or "").startswith(edit) == (status == "warn" and loses)

    def test_a_later_drop_in_of_the_slice_wins(self, judge):
        machine = with_oracle()
        machine.file("/usr/lib/systemd/system/user-.slice.d/10.conf", "[Slice]\nTasksMax=33%\n")
        machine.file("/etc/systemd/system/user-.slice.d/20.conf", "[Slice]\nTasksMax=512\n")
        assert judge(machine)["user-54321.slice: tasks"].status == "warn"
        machine.file("/etc/systemd/system/user-.slice.d/30.conf", "[Slice]\nTasksMax=infinity\n")
        machine.evidence.clear()
        assert judge(machine)["user-54321.slice: tasks"].status == "pass"

    def test_the_slice_of_a_service_limits_it(self, judge):
        machine = unit(with_oracle(), UNIT, **ENOUGH)
        limit_packs.tasks_of(machine, "system.slice", "900")
        findings = judge(machine)
        assert findings["dbora.service: tasks"].status == "pass"
        assert findings["system.slice: tasks"].status == "warn"
        machine = unit(with_oracle(), UNIT + "Slice=db.slice\n", **ENOUGH)
        limit_packs.tasks_of(machine, "db.slice", "900")
        findings = judge(machine)
        assert "system.slice: tasks" not in findings
        assert findings["db.slice: tasks"].status == "warn"

    def test_the_parents_of_a_slice_limit_it(self, judge):
        machine = unit(with_oracle(), UNIT + "Slice=oracle-db-a.slice\n", **ENOUGH)
        for name in ("oracle.slice", "user.slice"):
            limit_packs.tasks_of(machine, name, "900")
        for name in ("oracle-db.slice", "oracle-db-a.slice"):
            limit_packs.tasks_of(machine, name, "infinity")
        findings = statuses(judge(machine), ": tasks")
        found = {name: findings[f"{name}: tasks"] for name in ("oracle.slice", "user.slice")}
        assert found == {"oracle.slice": "warn", "user.slice": "warn"}
        assert findings["oracle-db.slice: tasks"] == findings["oracle-db-a.slice: tasks"] == "pass"

    def test_a_slice_that_is_no_slice_is_the_default(self, judge):
        """systemd ignores the line: unit_name_is_valid() in load-fragment.c."""
        machine = unit(with_oracle(), UNIT + "Slice=db\n", **ENOUGH)
        limit_packs.tasks_of(machine, "system.slice", "900")
        assert judge(machine)["system.slice: tasks"].status == "warn"

    @cases(
        "name line slices",
        ("db@A", "Slice=db-%i.slice\n", ["db-A.slice", "db.slice"]),
        ("db@A", "Slice=%p.slice\n", ["db.slice"]),
        # systemctl would take it for a pattern of names.
        ("db@A", "Slice=d*.slice\n", ["system-db.slice", "system.slice"]),
        ("db@A", "", ["system-db.slice", "system.slice"]),
        ("a-db@A", "", ["system-a\\x2ddb.slice", "system.slice"]),
    )
    def test_the_slice_of_an_instance(self, judge, name, line, slices):
        group = f"0::/x.slice/{name}.service\n"
        machine = process(with_oracle(), "ora_pmon_A", 11, group)
        machine.file(f"/etc/systemd/system/{name[:-1]}.service", UNIT + line)
        shown = "".join(f"{key}={value}\n" for key, value in ENOUGH.items())
        machine.command(f"systemctl show {limit_packs.SHOW_UNIT} {name}.service", shown)
        for slice_name in slices:
            limit_packs.tasks_of(machine, slice_name, "900")
        found = statuses(judge(machine), ".slice: tasks")
        low = [key.partition(":")[0] for key, status in found.items() if status == "warn"]
        assert sorted(low) == sorted(slices)

    @cases("value status", ("512", "warn"), ("infinity", "pass"), ("33%", "pass"), ("x", "error"))
    def test_the_tasks_of_a_login_by_an_older_logind(self, judge, value, status):
        machine = with_oracle()
        machine.file("/etc/systemd/logind.conf.d/a.conf", f"[Login]\nUserTasksMax={value}\n")
        finding = judge(machine)["user-54321.slice: tasks"]
        assert finding.status == status
        assert status != "warn" or "512 (/etc/systemd/logind.conf.d/a.conf)" in finding.persisted
        # Later releases ignore it, and have this file.
        path = "/usr/lib/systemd/system/user-.slice.d/10-defaults.conf"
        machine.evidence.clear()
        machine.file(path, "[Slice]\nTasksMax=33%\n")
        assert judge(machine)["user-54321.slice: tasks"].status == "pass"

    def test_a_slice_has_no_limits_of_processes(self, judge):
        findings = judge(unit(with_oracle(), UNIT, **ENOUGH))
        assert list(statuses(findings, ": units")) == ["dbora.service: units"]

    def test_a_recording_of_an_earlier_release_has_no_slices(self, judge):
        machine = unit(with_oracle(), UNIT, **ENOUGH)
        judge(machine)
        readings = {key: machine.evidence[key] for key in machine.evidence if ".slice" not in key}
        findings = judge(RecordedHost(readings, "0.2.0"))
        assert list(statuses(findings, ": tasks")) == ["dbora.service: tasks"]

    def test_what_systemd_does_not_tell_is_an_error(self, judge):
        machine = unit(with_oracle(), UNIT)
        machine.command(f"systemctl show {limit_packs.SHOW_UNIT} dbora.service", "", 1)
        findings = judge(machine)
        assert findings["dbora.service: units"].status == "error"
        assert findings["dbora.service: tasks"].status == "error"

    @cases(
        "line status",
        ("LimitNOFILE=65536", "pass"),
        # systemd ignores them.
        ("LimitNOFILE=64K", "error"),
        ("LimitNPROC=16K", "error"),
        ("LimitMEMLOCK=128G", "pass"),
    )
    def test_a_suffix_is_for_bytes(self, judge, line, status):
        machine = unit(with_oracle(), f"{UNIT}{line}\n", **ENOUGH)
        assert judge(machine)["dbora.service: units"].status == status

    @cases(
        "value now status",
        ("max", "infinity", "error"),
        ("16K", "infinity", "error"),
        ("max", "900", "warn"),
        ("50%", "infinity", "pass"),
        ("", "infinity", "pass"),
    )
    def test_tasks_that_are_no_number(self, judge, value, now, status):
        loaded = {**ENOUGH, "TasksMax": now}
        machine = unit(with_oracle(), f"{UNIT}TasksMax={value}\n", **loaded)
        assert judge(machine)["dbora.service: tasks"].status == status

    def test_an_instance_of_a_template(self, judge):
        group = "0::/system.slice/system-db.slice/db@A.service\n"
        machine = process(with_oracle(), "ora_pmon_A", 11, group)
        machine.file("/etc/systemd/system/db@.service", UNIT)
        shown = "".join(f"{name}={value}\n" for name, value in ENOUGH.items())
        machine.command(f"systemctl show {limit_packs.SHOW_UNIT} db@A.service", shown)
        findings = judge(machine)
        assert findings["db@A.service: units"].status == "pass"
        assert findings["db@A.service: tasks"].status == "pass"
        for folder, tasks in (("db@.service.d", 100), ("db@A.service.d", 99)):
            machine.file(f"/etc/systemd/system/{folder}/a.conf", f"[Service]\nTasksMax={tasks}\n")
            machine.evidence.clear()
            finding = judge(machine)["db@A.service: tasks"]
            assert finding.status == "warn" and f"a reboot sets {tasks}" in finding.why

    def test_a_limit_that_is_none(self, judge):
        machine = unit(with_oracle(), UNIT.replace("65536", "many"), **ENOUGH)
        assert judge(machine)["dbora.service: units"].status == "error"


class TestInForce:
    def test_a_login_a_unit_and_cron_each_with_another_limit(self, judge):
        machine = process(with_oracle(), "ora_pmon_A", 11, SESSION, Max_open_files=(1024, 65536))
        process(machine, "ora_pmon_B", 12, SERVICE, Max_open_files=(1023, 524288))
        process(machine, "ora_pmon_C", 13, CRON, Max_open_files=(4096, 4096))
        unit(machine, UNIT, **ENOUGH)
        machine.command(f"systemctl show {limit_packs.SHOW_UNIT} cron.service", "", 1)
        findings = judge(machine)
        in_force = {
            name[9]: finding for name, finding in findings.items() if name.endswith("in_force")
        }
        statuses = {name: finding.status for name, finding in in_force.items()}
        assert statuses == {"A": "pass", "B": "fail", "C": "fail"}
        assert "nofile 1024/65536" in in_force["A"].in_use
        assert "(in session-3.scope)" in in_force["A"].in_use
        assert "nofile 1023/524288" in in_force["B"].in_use
        assert in_force["B"].fix.startswith("correct the limits of dbora.service")
        assert in_force["B"].fix.endswith("; then restart B")
        assert "nofile 4096/4096" in in_force["C"].in_use and "cron" in in_force["C"].fix
        # Who only starts a shell is no service of Oracle's.
        assert "cron.service: units" not in findings

    @cases(
        "argv0 name",
        ("ora_lgwr_A", "ora_lgwr_A"),
        ("db_pmon_B", "db_pmon_B"),
        ("asm_pmon_+ASM1", "asm_pmon_+ASM1"),
        ("/u01/bin/tnslsnr", "tnslsnr LISTENER"),
        ("/u01/grid/bin/ohasd.bin", "ohasd.bin"),
        ("/u01/grid/bin/crsd.bin", "crsd.bin"),
    )
    def test_each_that_others_inherit_from(self, judge, argv0, name):
        machine = process(with_oracle(), argv0, 11, Max_locked_memory=(65536, 65536))
        finding = judge(machine)[f"{name}: in_force"]
        assert finding.status == "fail" and "memlock is too low: soft 64, hard 64" in finding.why

    @cases("name", "sshd", "ssh")
    def test_a_login_without_a_session_of_pam(self, judge, name):
        group = f"0::/system.slice/{name}.service\n"
        machine = process(with_oracle(), "ora_pmon_A", 11, group, Max_open_files=(9, 9))
        finding = judge(machine)["ora_pmon_A: in_force"]
        assert finding.status == "fail" and "let sshd use PAM (process_limits.pam)" in finding.fix

    def test_root_s_processes_are_not_counted(self, judge):
        machine = process(
            with_oracle(), "/g/bin/ohasd.bin", 11, SERVICE, uid=0, Max_processes=(9, 9)
        )
        assert judge(unit(machine, UNIT, **ENOUGH))["ohasd.bin: in_force"].status == "pass"

    def test_the_stack_that_clusterware_documents_is_enough_below_it(self, judge):
        ohasd = "0::/system.slice/oracle-ohasd.service\n"
        for group, kilobytes, status in (
            (ohasd, 2048, "pass"),
            (ohasd, 2047, "fail"),
            (SESSION, 2048, "fail"),
            (SERVICE, 2048, "fail"),
        ):
            stack = (kilobytes << 10, 32768 << 10)
            machine = process(with_oracle(), "ora_pmon_A", 11, group, Max_stack_size=stack)
            assert judge(machine)["ora_pmon_A: in_force"].status == status, (group, kilobytes)
            few = process(
                with_oracle(), "ora_pmon_A", 11, group, Max_stack_size=stack, Max_open_files=(9, 9)
            )
            assert judge(few)["ora_pmon_A: in_force"].status == "fail"

    @cases(
        "text loaded status",
        # A setting has one value for both limits, and each of these is sufficient.
        (UNIT.replace("10M:32M", "32M"), ENOUGH, "pass"),
        (UNIT.replace("10M:32M", "32M"), {**ENOUGH, "LimitNOFILE": "4096"}, "fail"),
        # The hard limits are sufficient, and nothing shows the soft limits.
        (UNIT.replace("10M:32M", "32M").replace("LimitNOFILE", "#"), ENOUGH, "error"),
        ("[Service]\n", {}, "fail"),
    )
    def test_a_systemd_that_shows_hard_limits_alone(self, judge, text, loaded, status):
        """systemd 219 of EL7: property_get_rlimit() of dbus-execute.c."""
        machine = package(unit(with_oracle(), text, **loaded))
        for command in list(machine.commands):
            if command.startswith("systemctl show"):
                lines = machine.commands[command].stdout.splitlines()
                shown = "".join(f"{line}\n" for line in lines if "Soft=" not in line)
                machine.command(command, shown)
        finding = judge(machine)["dbora.service: units"]
        assert finding.status == status, finding.why

    def test_a_unit_whose_limits_come_from_pam(self, judge):
        for lines, status in (
            ("User=oracle\nPAMName=login\n", "skip"),
            ("ExecStart=/bin/su - oracle -c dbstart\n", "skip"),
            ("ExecStart=/bin/bash -c 'su - oracle -c dbstart'\n", "skip"),
            ('ExecStart=-/usr/bin/sh -lc "exec /bin/su - oracle -c dbstart"\n', "skip"),
            ("ExecStart=/bin/bash -c 'dbstart; su - oracle'\n", "fail"),
            ("ExecStart=/opt/su - oracle -c dbstart\n", "fail"),
            ("ExecStart=-/usr/sbin/runuser -l oracle -c dbstart\n", "skip"),
            ("PAMName=login\nPAMName=\n", "fail"),
            ("ExecStart=/u01/app/bin/supervise oracle\n", "fail"),
        ):
            machine = package(unit(with_oracle(), "[Service]\n" + lines))
            assert judge(machine)["dbora.service: units"].status == status, lines

    def test_a_stack_without_a_ceiling(self, judge):
        machine = process(with_oracle(), "ora_pmon_A", 11, Max_stack_size=(10240 << 10, -1))
        assert judge(machine)["ora_pmon_A: in_force"].status == "warn"

    def test_what_only_has_the_name_does_not_count(self, judge):
        machine = process(with_oracle(), "ora_pmon_A", 11)
        machine.running[-1] |= {"exe": "/usr/bin/sleep", "exe_uid": 0}
        assert judge(machine)["in_force"].status == "skip"

    def test_limits_that_may_not_be_read(self, judge):
        machine = process(with_oracle(), "ora_pmon_A", 11).deny("/proc/11/limits")
        assert judge(machine)["ora_pmon_A: in_force"].status == "error"


class TestGroups:
    FOLDER = "/sys/fs/cgroup/user.slice/user-54321.slice"

    def machine(self):
        return process(with_oracle(), "ora_pmon_A", 11, SESSION)

    def named(self, found, check):
        (finding,) = [finding for name, finding in found.items() if name.endswith(check)]
        return finding

    def test_no_limit(self, judge):
        findings = judge(self.machine())
        assert self.named(findings, "cgroup_tasks").status == "pass"
        assert self.named(findings, "cgroup_memory").status == "pass"

    def test_tasks_of_a_group_above(self, judge):
        machine = self.machine().file(f"{self.FOLDER}/pids.max", "10813\n")
        for used, status, why in (
            (9731, "warn", "fewer than the 16384"),
            (10812, "warn", "more than 90 percent are used"),
            (10813, "fail", "all are used"),
        ):
            machine.file(f"{self.FOLDER}/pids.current", f"{used}\n").evidence.clear()
            finding = self.named(judge(machine), "cgroup_tasks")
            assert (finding.status, why in finding.why) == (status, True), finding.why

    def test_a_fork_that_was_refused(self, judge):
        machine = self.machine().file(f"{self.FOLDER}/pids.max", "99999\n")
        machine.file(f"{self.FOLDER}/pids.events", "max 0\n")
        assert self.named(judge(machine), "cgroup_tasks").status == "pass"
        machine.file(f"{self.FOLDER}/pids.events", "max 1\n")
        machine.evidence.clear()
        assert self.named(judge(machine), "cgroup_tasks").status == "fail"

    def test_memory(self, judge):
        machine = self.machine().file(f"{self.FOLDER}/memory.max", f"{packs.GIB}\n")
        machine.file(f"{self.FOLDER}/memory.current", "4096\n")
        finding = self.named(judge(machine), "cgroup_memory")
        assert (finding.status, finding.running) == ("warn", f"1.0 GiB ({self.FOLDER}/memory.max)")
        # The page cache counts, and the kernel gives it back.
        machine.file(f"{self.FOLDER}/memory.current", f"{packs.GIB}\n")
        machine.evidence.clear()
        assert self.named(judge(machine), "cgroup_memory").status == "warn"
        machine.file(f"{self.FOLDER}/memory.max", f"{64 * packs.GIB}\n")
        machine.evidence.clear()
        assert self.named(judge(machine), "cgroup_memory").status == "pass"
        machine.file(f"{self.FOLDER}/memory.high", f"{2 * packs.GIB}\n")
        machine.evidence.clear()
        finding = self.named(judge(machine), "cgroup_memory")
        assert (finding.status, finding.running) == ("warn", f"2.0 GiB ({self.FOLDER}/memory.high)")

    def test_version_1(self, judge):
        machine = with_oracle()
        group = "4:pids:/a\n3:cpu,memory:/a\n1:name=systemd:/system.slice/x.service\n"
        process(machine, "ora_pmon_A", 11, group)
        machine.file("/sys/fs/cgroup/pids/a/pids.max", "100\n")
        machine.file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n")
        machine.command(f"systemctl show {limit_packs.SHOW_UNIT} x.service", "", 1)
        findings = judge(machine)
        assert self.named(findings, "cgroup_tasks").status == "warn"
        assert self.named(findings, "cgroup_memory").status == "pass"

    @cases("group", "0::/../x\n", "0::/gone\n", "nonsense\n", "")
    def test_a_group_that_cannot_be_seen_is_an_error(self, judge, group):
        findings = judge(process(with_oracle(), "ora_pmon_A", 11).file("/proc/11/cgroup", group))
        expected = "error" if group else "pass"
        assert self.named(findings, "cgroup_memory").status == expected


class TestRemoveIpc:
    @cases(
        "live text status word",
        ("b false", "[Login]\nRemoveIPC=no\n", "pass", None),
        ("b true", "[Login]\nRemoveIPC=no\n", "fail", "logind has yes"),
        ("b false", "[Login]\nRemoveIPC=yes\n", "fail", "a reboot sets yes"),
        ("b false", "[Login]\n#RemoveIPC=yes\n", "fail", "a reboot sets yes"),
        ("b false", "[Login]\n#RemoveIPC=no\n", "pass", None),
        ("b false", "[Login]\n", "warn", "built with"),
        ("b maybe", "[Login]\n", "error", "does not tell"),
    )
    def test_live_and_the_file(self, judge, live, text, status, word):
        machine = with_oracle().command(limit_packs.BUSCTL, live + "\n")
        finding = judge(machine.file("/etc/systemd/logind.conf", text))["remove_ipc"]
        assert finding.status == status
        assert word is None or word in finding.why

    def test_a_drop_in_wins_over_the_main_file(self, judge):
        machine = with_oracle().file("/etc/systemd/logind.conf", "[Login]\nRemoveIPC=no\n")
        machine.file("/usr/lib/systemd/logind.conf.d/50.conf", "[Login]\nRemoveIPC=yes\n")
        finding = judge(machine)["remove_ipc"]
        assert finding.status == "fail"
        assert finding.persisted == "yes from /usr/lib/systemd/logind.conf.d/50.conf:2"
        machine.file("/etc/systemd/logind.conf.d/50.conf", "")
        machine.evidence.clear()
        assert judge(machine)["remove_ipc"].status == "pass"

    @cases("uid status", (999, "warn"), (1000, "fail"))
    def test_an_account_of_the_system_is_only_warned(self, judge, uid, status):
        machine = host().account("oracle", uid, "oinstall").command(limit_packs.BUSCTL, "b true\n")
        assert judge(machine)["remove_ipc"].status == status

    def test_without_logind(self, judge):
        machine = with_oracle()
        del machine.commands[limit_packs.BUSCTL]
        assert judge(machine)["remove_ipc"].status == "skip"

    def test_where_systemd_does_not_run(self, judge):
        """A container may have its files and commands; they answer that there is no bus."""
        machine = unit(with_oracle(), UNIT).command(limit_packs.BUSCTL, "Failed to connect", 1)
        machine.folders.discard("/run/systemd/system")
        findings = judge(machine)
        assert findings["remove_ipc"].status == "skip" and findings["units"].status == "skip"
        assert findings["/tmp/.oracle: sockets_kept"].status == "warn"


@cases(
    "release text status",
    ('ID="ol"\nID_LIKE="fedora"\n', None, "pass"),
    ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "[Login]\n", "pass"),
    ("ID=rhel\n", "[Login]\n#RemoveIPC=yes\n", "fail"),
    ("ID=ubuntu\nID_LIKE=debian\n", "[Login]\n", "fail"),
    ("ID=debian\n", None, "fail"),
    ("ID=arch\n", None, "warn"),
    ("ID=rhel\n", "[Login]\nRemoveIPC=yes\n", "fail"),
)
def test_what_logind_was_built_with(judge, release, text, status):
    """No file sets it, and none shows it as a comment."""
    machine = with_oracle().remove("/etc/os-release").remove("/etc/systemd/logind.conf")
    machine.file("/etc/os-release", release)
    if text is not None:
        machine.file("/etc/systemd/logind.conf", text)
    assert judge(machine)["remove_ipc"].status == status


class TestUnlimitedFiles:
    @cases(
        "release kernel status",
        ('ID="ol"\nVERSION_ID="7.9"\n', None, "fail"),
        ('ID="rhel"\nVERSION_ID="7.6"\n', None, "fail"),
        ('ID="ol"\nVERSION_ID="8.9"\n', None, "pass"),
        ('ID="sles"\nVERSION_ID="15.5"\n', None, "pass"),
        # Without os-release the release follows from the kernel's version.
        (None, "2.6.32-754.el6.x86_64", "fail"),
        (None, "3.10.0-1160.el7.x86_64", "fail"),
        (None, "4.18.0-553.el8_10.x86_64", "pass"),
        (None, "5.14.0-503.11.1.el9_5.x86_64", "pass"),
        (None, "6.12.0-1.el10uek.x86_64", "pass"),
        (None, "2.6.39-400.x86_64", "fail"),
    )
    def test_pam_of_el7_asks_for_more_than_the_kernel_gives(self, judge, release, kernel, status):
        machine = package(with_oracle()).file(
            "/etc/security/limits.d/zzz.conf", "oracle - nofile unlimited\n"
        )
        machine.remove("/etc/os-release")
        if release:
            machine.file("/etc/os-release", release)
        if kernel:
            machine.file("/proc/sys/kernel/osrelease", kernel + "\n")
        finding = judge(machine)["oracle nofile: login"]
        assert finding.status == status
        assert status == "pass" or "a login with unlimited is rejected" in finding.why


class TestSessionProcesses:
    """KillUserProcesses=yes ends an instance that was started from a session."""

    @cases(
        "live text group status",
        ("b true", "", SESSION, "fail"),
        ("b false", "KillUserProcesses=yes", SESSION, "fail"),
        ("b true", "KillUserProcesses=no", SESSION, "fail"),
        ("b true", "", SERVICE, "warn"),
        ("b false", "#KillUserProcesses=yes", SESSION, "pass"),
        ("b true", "KillExcludeUsers=root oracle", SESSION, "warn"),
        ("b true", "KillOnlyUsers=web", SESSION, "warn"),
        ("b true", "KillOnlyUsers=web oracle", SESSION, "fail"),
        ("b maybe", "", SESSION, "error"),
        ("b true", "", "0::/user.slice/user-54321.slice/user@54321.service/x.scope\n", "warn"),
    )
    def test_each(self, judge, live, text, group, status):
        machine = process(with_oracle(), "ora_pmon_A", 11, group)
        if group == SERVICE:
            unit(machine, UNIT)
        machine.file("/etc/systemd/logind.conf", f"[Login]\n{text}\n")
        machine.command(" ".join(limit_packs.KILLS), live + "\n")
        finding = judge(machine)["session_processes"]
        assert finding.status == status
        assert status != "fail" or "ora_pmon_A in session-3.scope" in finding.why


class TestSockets:
    def named(self, found):
        return [found[f"{folder}: sockets_kept"].status for folder in process_limits_sockets()]

    @cases(
        "lines wanted",
        ("q /tmp 1777 root root 10d\nq /var/tmp 1777 root root 30d\n", ["fail", "fail"]),
        ("q /tmp 1777 root root 10d\nx /tmp/.oracle*\n", ["fail", "pass"]),
        ("D /tmp 1777 root root -\nd /var/tmp 1777 root root 30d\n", ["pass", "fail"]),
        ("e /var/t* - - - 30d\n", ["fail", "fail"]),
        ("e /var/t* - - - 30d\nx /var/tmp/.ora*\n", ["fail", "pass"]),
        ("q /var/tmp 1777 root root 30d\nx /var/tmp/.oracle/*\n", ["fail", "pass"]),
        ("q /var/tmp 1777 root root 30d\nx /var/tmp/.oracle/s*\n", ["fail", "fail"]),
        # The timer ignores lines with !, which are for the boot.
        ("q /var/tmp 1777 root root 30d\nx! /var/tmp/.oracle*\n", ["fail", "fail"]),
        ("q! /var/tmp 1777 root root 30d\n", ["fail", "pass"]),
        ("q %T 1777 root root 10d\nq %V 1777 root root 30d\n", ["fail", "fail"]),
        ("q /var/tmp 1777 root root 30d\nx %V/.oracle*\n", ["fail", "pass"]),
        # X keeps the folder and not what lies in it.
        ("q /var/tmp 1777 root root 30d\nX /var/tmp/.oracle*\n", ["fail", "fail"]),
    )
    def test_which_lines_count(self, judge, lines, wanted):
        machine = with_oracle().file("/etc/tmpfiles.d/a.conf", lines)
        if "/tmp/.oracle*" in lines or lines.startswith("D"):
            machine.file("/usr/lib/tmpfiles.d/tmp.conf", "")
            wanted = ["pass", wanted[1]]
        assert self.named(judge(machine)) == wanted

    def test_the_file_of_the_same_name_masks_the_vendor_s(self, judge):
        machine = with_oracle().file("/etc/tmpfiles.d/tmp.conf", "")
        assert self.named(judge(machine)) == ["pass", "pass"]

    @cases(
        "command wanted",
        ("/usr/sbin/tmpwatch -umc -x /tmp/.X11-unix -X '/tmp/hsperf_*' 10d /tmp", ["fail", "pass"]),
        ("/usr/sbin/tmpwatch -umc -x /tmp/.oracle 10d /tmp", ["pass", "pass"]),
        ("tmpwatch -X '/var/tmp/.ora*' 720 /tmp /var/tmp", ["fail", "pass"]),
        ("tmpreaper --protect '.oracle/*' 7d /tmp", ["pass", "pass"]),
        ("tmpreaper 7d /usr/tmp", ["pass", "fail"]),
        ('tmpwatch "$flags" 30d $DIRS', ["error", "error"]),
        ("find /tmp -type f -mtime +10 -delete", ["fail", "pass"]),
        ("nice find /tmp/ /var/tmp -xdev -type s -atime +3 -exec rm -f {} \\;", ["fail", "fail"]),
        ("find /var/tmp -mtime +5 -print0 | xargs -0 rm -f", ["pass", "fail"]),
        ("find /tmp -type f -name '*.trc' -mtime +10 -delete", ["pass", "pass"]),
        ("find /tmp -type f ! -path '*/.oracle/*' -mtime +10 -delete", ["pass", "pass"]),
        ("find /tmp -name .oracle -prune -o -mtime +10 -delete", ["pass", "pass"]),
        ("find /tmp -maxdepth 1 -type f -delete", ["pass", "pass"]),
        ("find /tmp -maxdepth 1 -mtime +9 -exec rm -rf {} +", ["fail", "pass"]),
        ("find /tmp -size +100M -delete", ["pass", "pass"]),
        ("find /tmp/* -mtime +9 -delete", ["pass", "pass"]),
        ("find /u01/app/trace $LOGS -name '*.trc' -delete", ["pass", "pass"]),
        ("cd /var/tmp && find . -mtime +9 -delete", ["error", "error"]),
        ("find /tmp -mtime +9 -ls", ["pass", "pass"]),
        ("rm -rf /var/tmp/.oracle/*", ["pass", "fail"]),
        ("rm -rf /tmp/*", ["pass", "pass"]),
        ("# tmpwatch 10d /tmp", ["pass", "pass"]),
        # The files in the directory have other names.
        ("find /tmp ! -name '.oracle' -mtime +5 -delete", ["fail", "pass"]),
        (
            "find /tmp \\( -name .oracle -o -name .X11-unix \\) -prune -o -mtime +3"
            " -exec rm -rf {} +",
            ["pass", "pass"],
        ),
        ("find /tmp -depth -name .oracle -prune -o -type s -delete", ["fail", "pass"]),
        ("find / -path /tmp -prune -o -path '*/.oracle/*' -delete", ["pass", "fail"]),
        ("find /tmp -mindepth 3 -mtime +9 -delete", ["pass", "pass"]),
        ("find /tmp -maxdepth 2 -mtime +9 -delete", ["fail", "pass"]),
        ("find /tmp -type d -empty -delete", ["pass", "pass"]),
        ("find /tmp -iname '*ORACLE*' -mtime +3 -exec rm -r {} \\;", ["fail", "pass"]),
        ("find /tmp -mtime +3 -exec sh -c 'rm -f \"$1\"' _ {} \\;", ["fail", "pass"]),
        ("find /tmp -mtime +3 | while read f; do rm -f $f; done", ["error", "pass"]),
        ("find /var/tmp -mtime +3 | grep -v oracle | xargs rm", ["pass", "error"]),
        ("find /tmp -name .oracle -prune -o -print | grep log | xargs rm", ["pass", "pass"]),
        ("find /tmp -maxdepth 1 -mtime +3 | sort | xargs rm -f", ["pass", "pass"]),
        ("find /tmp -maxdepth 1 -mtime +3 | sort | xargs rm -rf", ["error", "pass"]),
        ("find /tmp -regex '.*/cache.*' -delete", ["error", "pass"]),
        ("bash -c 'find /tmp -mtime +3 -delete'", ["fail", "pass"]),
        ('su - root -c "find /var/tmp -mtime +3 -delete"', ["pass", "fail"]),
        ("rm -rf /tmp", ["fail", "pass"]),
        ("rm -f /tmp", ["pass", "pass"]),
        ("rm -rf /var/tmp/{*,.*}", ["pass", "error"]),
        ("find /tmp " + "! " * 200 + "-name x -delete", ["error", "pass"]),
    )
    def test_a_cleaner_of_cron(self, judge, command, wanted):
        """An x line of tmpfiles.d is not for tmpwatch or find."""
        kept = "x /tmp/.oracle*\nx /var/tmp/.oracle*\n"
        for path, line in (
            ("/etc/cron.daily/tmpwatch", f"#!/bin/sh\n{command}\n"),
            ("/var/spool/cron/oracle", f"15 3 * * * {command}\n"),
        ):
            if command.startswith("#") and path.startswith("/var"):
                continue
            machine = with_oracle().file("/etc/tmpfiles.d/oracle.conf", kept).file(path, line)
            findings = judge(machine)
            assert self.named(findings) == wanted
            for folder, status in zip(process_limits_sockets(), wanted, strict=True):
                assert status != "fail" or path in findings[f"{folder}: sockets_kept"].why

    @cases(
        "tmp var_tmp wanted",
        ("", "", ["fail", "fail"]),
        ("-x /tmp/.oracle", "", ["pass", "fail"]),
        ("-x /tmp/.oracle", "-X '/var/tmp/.oracle/*'", ["pass", "pass"]),
    )
    def test_the_script_of_tmpwatch_s_package(self, judge, tmp, var_tmp, wanted):
        """tmpwatch.daily of EL 6 and 7."""
        script = (packs.FIXTURES / "temp_cleaners/rhel-6-tmpwatch.txt").read_text()
        script = script.replace("10d /tmp", f"{tmp} 10d /tmp")
        script = script.replace("30d /var/tmp", f"{var_tmp} 30d /var/tmp")
        kept = "x /tmp/.oracle*\nx /var/tmp/.oracle*\n"
        machine = with_oracle().file("/etc/tmpfiles.d/oracle.conf", kept)
        machine.file("/etc/cron.daily/tmpwatch", script)
        assert self.named(judge(machine)) == wanted

    @cases("line", "$(which tmpwatch)", "`which tmpwatch`", "/usr/sbin/tmpwatch", "'tmpreaper -v'")
    def test_a_program_in_a_variable(self, judge, line):
        """A public script: whether it reaches the sockets is not in the line of the program."""
        script = (packs.FIXTURES / "temp_cleaners/variable-tmpwatch.txt").read_text()
        kept = "x /tmp/.oracle*\nx /var/tmp/.oracle*\n"
        machine = with_oracle().file("/etc/tmpfiles.d/oracle.conf", kept)
        machine.file("/etc/cron.daily/clean", script.replace("$(which tmpwatch)", line))
        assert self.named(judge(machine)) == ["error", "error"]

    @cases(
        "loop wanted",
        ("for d in /var/tmp /u01/tmp", ["pass", "fail"]),
        ("for d in /u01/tmp", ["pass", "pass"]),
        ("# for d in /u01/tmp\nfor d in $DIRS", ["error", "error"]),
        ("d=/tmp; for d in /u01/tmp", ["error", "error"]),
        ("for d in $DIRS", ["error", "error"]),
        ("for d in $(cat /etc/dirs)", ["error", "error"]),
    )
    def test_a_cleaner_in_a_loop(self, judge, loop, wanted):
        kept = "x /tmp/.oracle*\nx /var/tmp/.oracle*\n"
        machine = with_oracle().file("/etc/tmpfiles.d/oracle.conf", kept)
        machine.file("/etc/cron.daily/clean", f'{loop}; do\n  tmpwatch 10d "${{d}}"\ndone\n')
        assert self.named(judge(machine)) == wanted

    def test_a_table_of_cron_that_nobody_may_read(self, judge):
        machine = with_oracle().file("/etc/tmpfiles.d/tmp.conf", "")
        machine.file("/etc/crontab", "").deny("/etc/crontab")
        findings = judge(machine)
        assert self.named(findings) == ["error", "error"]
        assert "requires root" in findings["/tmp/.oracle: sockets_kept"].fix

    def test_a_cleaner_that_does_not_run(self, judge):
        machine = with_oracle().command(" ".join(limit_packs.CLEANER), "inactive\n", 3)
        assert self.named(judge(machine)) == ["warn", "pass"]

    def test_a_cleaner_of_which_nothing_is_known(self, judge):
        machine = with_oracle().command(" ".join(limit_packs.CLEANER), "", 1)
        assert self.named(judge(machine)) == ["error", "pass"]


def process_limits_sockets():
    from ansible.module_utils.hostproof.controls.process_limits.rules_host import SOCKETS

    return SOCKETS


class TestPolicy:
    @cases(
        "changes problem",
        ({"accounts": ["root"]}, "other than root"),
        ({"accounts": ["@dba"]}, "'@dba' must be the name of an account"),
        ({"accounts": "oracle"}, "must be a list"),
        ({"values": [{"name": "cpu", "soft": 1, "hard": 1}]}, "must be one of nofile"),
        ({"values": [{"name": "nofile", "soft": 9, "hard": 8}]}, "must not be above hard"),
        ({"values": [{"name": "nofile", "soft": "9k", "hard": 8}]}, "must be unlimited or"),
        ({"unmanaged": ["core"]}, "'core' must be one of nofile"),
        ({"limits_file": "/etc/passwd"}, "process_limits_limits_file must be"),
    )
    def test_it_says_what_is_wrong(self, changes, problem):
        with pytest.raises(PolicyError, match=problem):
            process_limits.policy_from({**default_policy("process_limits"), **changes})

    def test_the_drop_in_is_read_after_the_package_s(self):
        assert PACKAGE < DROP_IN


@cases(
    "service group says",
    ("MemoryMax=2G", "", ("warn", "MemoryMax=2G")),
    ("MemoryHigh=90%", "", ("warn", "MemoryHigh=90%")),
    ("Slice=ora.slice", "MemoryLimit=8G", ("warn", "MemoryLimit=8G")),
    ("Slice=ora.slice", "MemoryMax=65G", ("pass", "MemoryMax=65G")),
    ("ExecStart=/u01/bin/lsnrctl start\nMemoryMax=2G", "", None),
    ("ExecStart=/u01/bin/srvctl start database -d A\nMemoryMax=2G", "", None),
)
def test_a_limit_of_memory_that_the_next_boot_sets(service, group, says):
    host = limit_packs.with_oracle()
    limit_packs.unit(host, f"[Service]\nUser=oracle\n{service}\n")
    host.file("/etc/systemd/system/ora.slice", f"[Slice]\n{group}\n")
    limit_packs.tasks_of(host, "ora.slice", "infinity")
    finding = limit_packs.judged(host).get("dbora.service: cgroup_memory")
    assert (finding and (finding.status, finding.persisted.partition(" ")[0])) == says


def test_clusterware_starts_what_a_unit_asks_for():
    host = limit_packs.with_oracle()
    text = "[Service]\nUser=oracle\nExecStart=/u01/bin/srvctl start database -d ORCL\n"
    finding = limit_packs.judged(limit_packs.unit(host, text))["dbora.service: units"]
    assert (finding.status, "calls srvctl" in finding.why) == ("skip", True)
