"""Who keeps the clock of a host, how, and how well: each status of each check, and the plan."""

from typing import Any

import clock_packs
import packs
import pytest
from ansible.module_utils.hostproof.apply.change import FileChange, Plan
from ansible.module_utils.hostproof.collect.answer import attempt
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.controls.time_sync import facts
from ansible.module_utils.hostproof.controls.time_sync.control import CONTROL as time_sync
from ansible.module_utils.hostproof.controls.time_sync.facts import (
    CURRENT,
    NTPQ,
    SHOW,
    SOURCES,
    TIMEDATECTL,
    TRACKING,
)
from ansible.module_utils.hostproof.errors import Denied
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from clock_packs import CONF, DEBIAN, FIXTURES, FOLDER, answers, bare, daemon, shown, with_chrony
from default_policies import changed_policy
from kernel_packs import with_home

DROP_IN = FOLDER + "/zz-hostproof-time_sync.conf"
HEADER = "# Written by Hostproof (role time_sync): change the policy, not this file.\n"
SINGLE = {"profile": "oracle_19c_single"}
RAC = {"profile": "rac_asm"}


def with_ntpd(argv: str, options: str, enabled: str = "enabled") -> packs.Machine:
    machine = daemon(bare(), argv).file("/etc/sysconfig/ntpd", f'# x\nOPTIONS="{options}"\n')
    machine.command(" ".join(SHOW), shown(ntpd=f"{enabled} /usr/sbin/ntpd -u ntp:ntp $OPTIONS"))
    return machine.command(" ".join(NTPQ), (FIXTURES / "ntpq-made-up.txt").read_text())


def with_clusterware(machine: packs.Machine, said: str) -> packs.Machine:
    path = "/u01/app/19.0.0/grid/bin/ocssd.bin"
    process = {"pid": 900, "uid": 54331, "gid": 54321, "started": 60.0, "argv0": path}
    machine.running.append({**process, "exe": path, "exe_uid": 54331})
    machine.command("getent passwd", "grid:x:54331:54321::/home/grid:/bin/bash\n")
    name = "ask for the mode of cluster time synchronization (crsctl check ctss)"
    return machine.command(name, said)


OBSERVER = "CRS-4700: The Cluster Time Synchronization Service is in Observer mode.\n"
ACTIVE = (
    "CRS-4701: The Cluster Time Synchronization Service is in Active mode.\n"
    "CRS-4702: Offset (in msec): 0\n"
)


@pytest.fixture
def judge(findings_of):
    """judge(host, **changes of the policy): findings by the name of their check."""

    def judge_host(host: RecordedHost, **changes: Any) -> dict[str, Finding]:
        findings = findings_of("time_sync", host, changed_policy("time_sync", **changes))
        return {check: some[-1] for check, some in findings.items()}

    return judge_host


def plan_of(machine: packs.Machine, **changes: Any) -> Plan:
    policy = time_sync.policy_from(changed_policy("time_sync", **changes))
    return planner("time_sync")(time_sync.read(machine, policy), policy)


class TestForWhom:
    def test_nothing_is_red_without_oracle(self, judge):
        assert {finding.status for finding in judge(bare()).values()} == {"skip"}

    def test_no_linux_host(self, judge):
        machine = bare().remove("/proc/sys/kernel/osrelease")
        assert {finding.status for finding in judge(machine, **RAC).values()} == {"skip"}

    def test_a_stock_debian_that_is_in_time(self, judge):
        statuses = {name: finding.status for name, finding in judge(with_chrony(), **RAC).items()}
        assert statuses.pop("ctss") == "skip" and set(statuses.values()) == {"pass"}

    def test_a_record_says_the_same(self, judge):
        machine = with_clusterware(with_chrony(), OBSERVER)
        live = {name: finding.as_dict() for name, finding in judge(machine).items()}
        assert live["ctss"]["status"] == "pass"
        again = judge(RecordedHost(machine.evidence))
        assert {name: finding.as_dict() for name, finding in again.items()} == live


class TestOneDaemon:
    def test_none(self, judge):
        finding = judge(bare().command(" ".join(SHOW), shown()), **SINGLE)["one_daemon"]
        assert (finding.status, finding.running) == ("fail", "none")
        assert "start it while neither Clusterware nor a database runs here" in finding.fix
        assert finding.commands == ()

    @cases("said status", ("CRS-4700 ... in Observer mode.", "fail"), ("CRS-4639", "error"))
    def test_none_where_clusterware_may_keep_the_clocks_alike(self, judge, said, status):
        machine = with_clusterware(bare().command(" ".join(SHOW), shown()), said)
        assert judge(machine, **SINGLE)["one_daemon"].status == status

    def test_two_at_once(self, judge):
        machine = daemon(with_chrony(), "/usr/lib/systemd/systemd-timesyncd", pid=701)
        findings = judge(machine, **SINGLE)
        assert findings["one_daemon"].status == "fail"
        assert "chronyd and systemd-timesyncd set the clock at once" in findings["one_daemon"].why
        assert findings["sources"].status == findings["offset"].status == "skip"

    @cases(
        "units status says",
        ({"chrony": "enabled /usr/sbin/chronyd"}, "pass", None),
        ({"chrony": "disabled /usr/sbin/chronyd"}, "fail", "the next reboot starts none"),
        ({"chrony": "linked /usr/sbin/chronyd"}, "fail", "the next reboot starts none"),
        ({"chrony": "enabled-runtime /usr/sbin/chronyd"}, "fail", "the next reboot starts none"),
        ({"ntpd": "enabled /usr/sbin/ntpd"}, "fail", "the next reboot starts ntpd"),
        (
            {"chrony": "enabled /usr/sbin/chronyd", "systemd_timesyncd": "enabled /x"},
            "fail",
            "The next reboot starts chronyd and systemd-timesyncd.",
        ),
    )
    def test_the_next_boot(self, judge, units, status, says):
        machine = with_chrony().command(" ".join(SHOW), shown(**units))
        finding = judge(machine, **SINGLE)["one_daemon"]
        assert finding.status == status
        assert says is None or says in finding.why

    def test_not_the_one_of_the_policy(self, judge):
        finding = judge(with_chrony(), daemon="ntpd", **SINGLE)["one_daemon"]
        assert "chronyd keeps the clock, and time_sync_daemon is ntpd" in finding.why

    def test_what_only_has_the_name_does_not_count(self, judge):
        machine = daemon(with_chrony(), "/tmp/ntpd", pid=701, exe="/tmp/sleep", exe_uid=1000)
        daemon(machine, "/home/x/phc2sys", pid=702, exe_uid=1000)
        machine.running[:0] = [
            {**machine.running[0], "uid": 54321, "argv0": "/usr/sbin/ntpd", "exe": "/usr/sbin/ntpd"}
        ]
        assert judge(machine, **SINGLE)["one_daemon"].status == "pass"

    def test_a_chronyd_that_only_serves_keeps_no_clock(self, judge):
        finding = judge(with_chrony(argv="/usr/sbin/chronyd -x"), **SINGLE)["one_daemon"]
        assert (finding.status, finding.running) == ("fail", "none")

    def test_a_chronyd_that_only_serves_does_not_hide_one_that_keeps_it(self, judge):
        """Seen on a real host: the one that serves had the lower pid."""
        machine = daemon(with_chrony(), "/usr/sbin/chronyd -d -x", pid=600)
        machine.running.reverse()
        finding = judge(machine, **SINGLE)["one_daemon"]
        assert (finding.status, finding.running) == ("pass", "chronyd")

    def test_ptp_below_chronyd_is_one_and_beside_it_two(self, judge):
        machine = daemon(with_chrony(), "/usr/sbin/ptp4l -i eth0", pid=701)
        daemon(machine, "/usr/sbin/phc2sys -a -E ntpshm", pid=702)
        assert judge(machine, **SINGLE)["one_daemon"].running == "chronyd"
        machine = daemon(with_chrony(), "/usr/sbin/phc2sys -a -r", pid=702)
        assert judge(machine, **SINGLE)["one_daemon"].running == "chronyd, ptp"

    @cases(
        "units status",
        # chronyd has the card as a source (refclock PHC, or SHM by phc2sys).
        ({"ptp4l": "/usr/sbin/ptp4l -f /etc/ptp4l.conf -i eth0"}, "pass"),
        ({"phc2sys": "/usr/sbin/phc2sys -a -r -E ntpshm"}, "pass"),
        ({"phc2sys": "/usr/sbin/phc2sys -a -r -Entpshm"}, "pass"),
        ({"phc2sys": "/usr/sbin/phc2sys -a -r"}, "fail"),
        ({"ptp4l": "/usr/sbin/ptp4l -S -i eth0"}, "fail"),
        ({"ptp4l": ""}, "fail"),
    )
    def test_ptp_units_at_boot(self, judge, units, status):
        enabled = {name: f"enabled {argv}" for name, argv in units.items()}
        machine = with_chrony()
        machine.command(" ".join(SHOW), shown(chrony="enabled /usr/sbin/chronyd", **enabled))
        assert judge(machine, **SINGLE)["one_daemon"].status == status
        for argv in units.values():
            if argv:
                daemon(machine, argv, pid=702)
        assert judge(machine, **SINGLE)["one_daemon"].status == status

    def test_without_systemd_the_next_boot_is_unknown(self, judge):
        machine = with_chrony()
        del machine.commands[" ".join(SHOW)]
        assert judge(machine, **SINGLE)["one_daemon"].status == "error"


class TestNeverSteps:
    @cases(
        "line status",
        ("makestep 1 3", "pass"),
        ("makestep 1 4", "fail"),
        ("MakeStep 0.1 -1", "fail"),
        ("# makestep 1 -1", "pass"),
    )
    def test_chrony_by_its_updates(self, judge, line, status):
        conf = DEBIAN.replace("makestep 1 3", line)
        assert judge(with_chrony(conf), **RAC)["never_steps"].status == status

    def test_elsewhere_than_on_a_node_it_is_a_warning(self, judge):
        conf = DEBIAN.replace("makestep 1 3", "makestep 1 -1")
        assert judge(with_chrony(conf), **SINGLE)["never_steps"].status == "warn"

    def test_the_last_makestep_counts_and_the_others_are_named(self, judge):
        machine = with_chrony().file(FOLDER + "/site.conf", "makestep 5 -1\n")
        finding = judge(machine, **RAC)["never_steps"]
        line = 1 + DEBIAN.split("\n").index("makestep 1 3")
        assert finding.status == "pass"
        assert finding.persisted == (
            f"makestep 1 3 from {CONF}:{line}; not used: makestep 5 -1 from {FOLDER}/site.conf:1"
        )

    def test_an_include_and_one_that_includes_itself(self, judge):
        machine = with_chrony("include /etc/chrony/x*.cnf\n")
        machine.file("/etc/chrony/x1.cnf", "makestep 1 -1\n")
        assert judge(machine, **RAC)["never_steps"].status == "fail"
        machine = with_chrony(f"include {CONF}\n")
        assert judge(machine, **RAC)["never_steps"].status == "error"

    def test_what_chronyd_would_not_start_with_is_unknown(self, judge):
        assert judge(with_chrony("makestep 1\n"), **RAC)["never_steps"].status == "error"

    def test_a_configuration_of_another_place(self, judge):
        machine = with_chrony(argv="/usr/sbin/chronyd -f /etc/own.conf")
        machine.file("/etc/own.conf", "makestep 1 -1\n")
        assert judge(machine, **RAC)["never_steps"].status == "fail"

    def test_a_configuration_without_its_whole_path(self, judge):
        machine = with_chrony(argv="/usr/sbin/chronyd -f own.conf")
        assert judge(machine, **RAC)["never_steps"].status == "error"

    def test_two_places_of_which_one_is_read(self, judge):
        machine = with_chrony().file("/etc/chrony.conf", "makestep 1 -1\n")
        assert judge(machine, **RAC)["never_steps"].status == "error"

    def test_a_configuration_that_is_younger_than_chronyd(self, judge):
        for written, status in ((1700000009.5, "pass"), (1700000010.0, "warn")):
            machine = with_chrony()
            stat = {"mode": 0o644, "uid": 0, "gid": 0, "size": 9, "mtime": written}
            reading = {"kind": "stat", "at": packs.RECORDED_AT, "stat": stat}
            machine.evidence["stat:" + CONF] = reading
            assert judge(machine, **RAC)["never_steps"].status == status

    def test_unmanaged(self, judge):
        conf = DEBIAN.replace("makestep 1 3", "makestep 1 -1")
        finding = judge(with_chrony(conf), max_step_updates="unmanaged", **RAC)["never_steps"]
        assert finding.status == "skip"

    @cases(
        "argv options status",
        ("/usr/sbin/ntpd -u ntp:ntp -g -x", "-g -x", "pass"),
        ("/usr/sbin/ntpd -u ntp:ntp -gx", "-gx", "pass"),
        ("/usr/sbin/ntpd -u ntp:ntp -g", "-g -x", "fail"),
        ("/usr/sbin/ntpd -u ntp:ntp -g -x", "-g", "fail"),
        ("/usr/sbin/ntpd -u xntp:x", "-g", "fail"),
    )
    def test_ntpd_now_and_after_the_next_boot(self, judge, argv, options, status):
        finding = judge(with_ntpd(argv, options), **RAC)["never_steps"]
        assert finding.status == status and "/etc/sysconfig/ntpd" in finding.persisted
        slews_now = " -x" in finding.running
        assert status == "pass" or ("then restart ntpd" in finding.fix) is not slews_now
        alone = judge(with_ntpd(argv, options), **SINGLE)["never_steps"]
        assert alone.status == {"pass": "pass", "fail": "warn"}[status]

    def test_an_ntpd_that_a_script_starts_is_not_told_for_the_next_boot(self, judge):
        machine = with_ntpd("/usr/sbin/ntpd -x", "-x")
        machine.command(" ".join(SHOW), shown(ntpd="enabled /usr/libexec/ntp-wrapper"))
        assert judge(machine, **RAC)["never_steps"].status == "warn"

    def test_timesyncd_is_enough_for_one_instance_and_not_for_a_node(self, judge):
        machine = daemon(bare(), "/usr/lib/systemd/systemd-timesyncd")
        machine.command(" ".join(SHOW), shown(systemd_timesyncd="enabled /x"))
        machine.command(" ".join(TIMEDATECTL), "NTPSynchronized=yes\n")
        assert judge(machine, **SINGLE)["never_steps"].status == "pass"
        assert judge(machine, **RAC)["never_steps"].status == "warn"
        findings = judge(machine, min_sources=3, **SINGLE)
        assert (findings["sources"].status, findings["offset"].status) == ("pass", "skip")

    def test_phc2sys_with_a_threshold(self, judge):
        for argv, status in (("-a -r", "pass"), ("-a -r -S 0.1", "fail")):
            machine = daemon(bare(), f"/usr/sbin/phc2sys {argv}")
            machine.command(" ".join(SHOW), shown(phc2sys="enabled /usr/sbin/phc2sys"))
            findings = judge(machine, **RAC)
            assert findings["never_steps"].status == status and findings["sources"].status == "skip"


class TestSourcesAndOffset:
    def test_fewer_answer_than_the_policy_wants(self, judge):
        finding = judge(with_chrony(), min_sources=2, **SINGLE)["sources"]
        assert (finding.status, finding.running) == ("warn", "1 of 3 answer, followed: 127.0.0.1")

    def test_a_source_that_is_never_selected_is_not_counted(self, judge):
        """A server with noselect answers, and has "?"; a falseticker answers too."""
        machine = with_chrony()
        followed, *_others = (FIXTURES / "chrony-4.3-sources.csv").read_text().splitlines()
        lines = [followed, *(followed.replace("*", state) for state in "?x")]
        machine.command(" ".join(SOURCES), "\n".join(lines) + "\n")
        finding = judge(machine, min_sources=3, **SINGLE)["sources"]
        assert (finding.status, finding.values["answering"]) == ("warn", 2)

    def test_a_clock_without_a_source_says_an_offset_of_nothing(self, judge):
        machine = answers(with_chrony(), "tracking-no-source", "sources-none-reached")
        findings = judge(machine, **SINGLE)
        assert (findings["sources"].status, findings["offset"].status) == ("fail", "error")

    def test_the_offset_at_its_edge(self, judge):
        output = (FIXTURES / "chrony-4.3-tracking.csv").read_text()
        now = output.split(",")[4]
        for offset, status in (("-1.000000000", "pass"), ("1.000001000", "fail")):
            machine = with_chrony().command(" ".join(TRACKING), output.replace(now, offset, 1))
            finding = judge(machine, **SINGLE)["offset"]
            assert finding.status == status
            assert finding.values == {"clock_offset_ms": round(float(offset) * 1000, 3)}

    def test_ntpq(self, judge):
        findings = judge(with_ntpd("/usr/sbin/ntpd -x", "-x"), **SINGLE)
        assert findings["sources"].running == "2 of 3 answer, followed: 192.0.2.1"
        assert findings["offset"].values == {"clock_offset_ms": -1.254}

    def test_a_daemon_that_does_not_answer(self, judge):
        machine = with_chrony()
        machine.command(" ".join(SOURCES), "Could not open connection to daemon\n", rc=1)
        findings = judge(machine, **SINGLE)
        assert (findings["sources"].status, findings["offset"].status) == ("error", "error")

    def test_a_hostile_answer_is_no_source(self, judge):
        machine = with_chrony().command(" ".join(SOURCES), "^,*,\x1b[2J,8,0,17,1,0.1,0.1,0.1\n")
        finding = judge(machine, **SINGLE)["sources"]
        assert finding.status == "error" and "\x1b" not in str(finding.as_dict())


class TestClockSource:
    @pytest.mark.parametrize(
        ("name", "status"),
        [("tsc", "pass"), ("kvm-clock", "warn"), ("hpet", "fail"), ("jiffies", "fail")]
        + [("hyperv_clocksource_tsc_page", "warn")]
        + [("acpi_pm", "fail"), ("xen", "warn")],
    )
    def test_each(self, judge, name, status):
        finding = judge(with_chrony().file(CURRENT, name + "\n"), **SINGLE)["clock_source"]
        assert finding.status == status
        assert finding.status == "pass" or "tsc" in f"{finding.why} {finding.fix}"

    def test_the_clock_of_the_hypervisor(self, judge):
        """19c and 26ai recommend tsc for guests on x86-64; no guide of an earlier release does."""
        machine = with_chrony().file(CURRENT, "kvm-clock\n")
        machine.file(CURRENT.replace("current", "available"), "kvm-clock acpi_pm\n")
        assert judge(machine, **SINGLE)["clock_source"].status == "pass"
        machine = with_chrony().file(CURRENT, "kvm-clock\n")
        for release, status in (("12.2.0.1.0", "pass"), ("19.0.0.0.0", "warn")):
            old = with_home(with_chrony().file(CURRENT, "kvm-clock\n"), release)
            assert judge(old)["clock_source"].status == status

    def test_a_kernel_that_does_not_tell(self, judge):
        assert judge(with_chrony().remove(CURRENT), **SINGLE)["clock_source"].status == "skip"


class TestClusterware:
    @cases(
        "machine said status",
        (with_chrony, OBSERVER, "pass"),
        (with_chrony, ACTIVE, "fail"),
        (bare, OBSERVER, "fail"),
        (bare, ACTIVE, "warn"),
        (with_chrony, "CRS-4639: Could not contact\n", "error"),
    )
    def test_each_mode_with_and_without_a_daemon(self, judge, machine, said, status):
        host = machine()
        host.commands.setdefault(" ".join(SHOW), packs.Output(0, shown(), ""))
        findings = judge(with_clusterware(host, said))
        assert findings["ctss"].status == status
        if machine is bare:
            assert "while neither Clusterware nor a database runs there" in findings["ctss"].fix
        if (machine, said) == (bare, ACTIVE):
            assert findings["one_daemon"].status == "warn"

    @cases(
        "profile status says",
        ("none", "warn", "its release is not known"),
        ("rac_nfs", "warn", "its release is not known"),
        ("oracle_19c_rac", "warn", "deprecated in 19c"),
        ("oracle_23ai_rac", "fail", "desupported in 23ai"),
        ("oracle_26ai_rac", "fail", "desupported in 26ai"),
    )
    def test_ctss_alone_by_the_announced_release(self, judge, profile, status, says):
        host = bare().command(" ".join(SHOW), shown())
        findings = judge(with_clusterware(host, ACTIVE), profile=profile)
        for check in ("ctss", "one_daemon"):
            assert (findings[check].status, says in findings[check].why) == (status, True)

    @cases(
        "version status says",
        ("12.2.0.1.0", "pass", ""),
        ("19.22.0.0.0", "warn", "deprecated in 19c"),
        ("21.3.0.0.0", "warn", "deprecated in 21c"),
        ("23.5.0.24.07", "fail", "desupported in 23ai"),
        ("23.26.0.0.0", "fail", "desupported in 26ai"),
    )
    def test_ctss_alone_by_the_installed_release(self, judge, version, status, says):
        host = with_home(bare(), version).command(" ".join(SHOW), shown())
        finding = judge(with_clusterware(host, ACTIVE))["ctss"]
        assert (finding.status, says in (finding.why or "")) == (status, True)

    def test_what_was_left_is_named(self, judge):
        machine = bare().file("/etc/ntp.conf", "server 192.0.2.1\n")
        machine.command(" ".join(SHOW), shown())
        assert "left: /etc/ntp.conf" in judge(with_clusterware(machine, OBSERVER))["ctss"].why

    def test_a_node_is_told_by_its_clusterware(self, judge):
        conf = DEBIAN.replace("makestep 1 3", "makestep 1 -1")
        assert judge(with_clusterware(with_chrony(conf), OBSERVER))["never_steps"].status == "fail"

    @cases(
        "path text profile",
        ("ocr.loc", "local_only=TRUE\n", "none"),
        ("olr.loc", "crs_home=/u01/app/19.0.0/grid\nlocal_only=true\n", "none"),
        ("ocr.loc", "local_only=TRUE\n", "oracle_19c_restart"),
    )
    def test_oracle_restart_is_no_cluster_and_has_no_ctss(self, judge, path, text, profile):
        conf = DEBIAN.replace("makestep 1 3", "makestep 1 -1")
        machine = with_clusterware(with_home(with_chrony(conf)), "CRS-4013: not supported\n")
        findings = judge(machine.file("/etc/oracle/" + path, text), profile=profile)
        assert (findings["never_steps"].status, findings["ctss"].status) == ("warn", "skip")


#: A configuration whose folder is read last, and steps for ever.
LATE = f"pool ntp.example.com\nmakestep 0.5 -1\nconfdir {FOLDER}\n"


class TestPlan:
    def test_one_drop_in_that_keeps_the_threshold(self):
        plan = plan_of(with_chrony(LATE), **RAC)
        assert plan.changes == [FileChange(DROP_IN, HEADER + "makestep 0.5 3\n", None)]
        assert plan.refusals == [] and "restart it while no database runs" in plan.pending[0]

    @cases("updates", 0, 1, 3, 100)
    def test_what_was_applied_is_planned_no_more(self, judge, updates):
        machine = with_chrony(LATE)
        (change,) = plan_of(machine, max_step_updates=updates, **RAC).changes
        assert isinstance(change, FileChange)
        machine.evidence = {
            key: reading for key, reading in machine.evidence.items() if key.startswith("argument:")
        }
        machine.file(change.path, str(change.content))
        assert plan_of(machine, max_step_updates=updates, **RAC) == Plan([], [], [], [])
        assert judge(machine, max_step_updates=updates, **RAC)["never_steps"].status == "pass"

    def test_nothing_is_raised(self):
        assert plan_of(with_chrony(LATE.replace("-1", "1")), **RAC).changes == []

    def test_a_drop_in_that_would_lose_is_refused_with_the_line_that_counts(self):
        plan = plan_of(with_chrony(DEBIAN.replace("makestep 1 3", "makestep 1 -1")), **RAC)
        assert plan.changes == []
        line = 1 + DEBIAN.split("\n").index("makestep 1 3")
        assert f"{CONF}:{line} (makestep 1 -1) counts" in plan.refusals[0].reason

    def test_the_fix_is_what_apply_would_do(self, judge):
        finding = judge(with_chrony(LATE), **RAC)["never_steps"]
        assert finding.commands == ("./hostproof apply --tags time_sync",)
        without = DEBIAN.replace("makestep 1 3", "makestep 1 -1").replace("confdir", "#confdir")
        finding = judge(with_chrony(without), **RAC)["never_steps"]
        assert (finding.status, finding.commands) == ("fail", ())
        assert "change that line to makestep 1 3" in finding.fix
        machine = with_chrony(LATE.replace(FOLDER, "/run/chrony.d")).folder("/run/chrony.d")
        assert plan_of(machine, **RAC).changes == [], "a boot empties /run"
        assert judge(machine, **RAC)["never_steps"].commands == ()

    def test_a_later_file_of_the_folder_is_a_rival(self):
        machine = with_chrony(LATE).file(FOLDER + "/zzz.conf", "makestep 2 -1\n")
        assert f"{FOLDER}/zzz.conf:1" in plan_of(machine, **RAC).refusals[0].reason

    def test_a_file_of_somebody_else_under_that_name_stays(self):
        plan = plan_of(with_chrony(LATE).file(DROP_IN, "makestep 9 -1\n"), **RAC)
        assert plan.changes == [] and plan.refusals

    def test_a_folder_that_is_not_there_is_not_made(self):
        assert plan_of(with_chrony(LATE.replace(FOLDER, "/etc/chrony/nowhere")), **RAC).refusals

    @cases(
        "machine changes",
        (bare(), {}),
        (with_chrony(LATE), {"max_step_updates": "unmanaged", **RAC}),
        (with_ntpd("/usr/sbin/ntpd -g", "-g"), RAC),
    )
    def test_nothing_is_planned_for_what_is_not_ours(self, machine, changes):
        plan = plan_of(machine, **changes)
        assert (plan.changes, plan.refusals) == ([], []) and plan.pending

    def test_what_may_not_be_read_is_not_guessed(self):
        machine = with_chrony(LATE).deny(FOLDER)
        with pytest.raises(Denied):
            plan_of(machine, **RAC)
        machine = with_chrony(LATE)
        del machine.evidence["argument:700:1"]
        with pytest.raises(Denied):
            plan_of(machine.deny("argument:700:1"), **RAC)


# -- options of a daemon come from its unit --------------------------------------------------------


def keepers_of(machine: packs.Machine) -> Any:
    return facts._read_keepers(machine, attempt(facts._read_units, machine))["chronyd"]


def test_options_are_those_of_the_unit_and_not_of_the_process():
    machine = clock_packs.daemon(
        clock_packs.bare(), "/usr/sbin/chronyd -f /root/secret", unit="chrony.service"
    )
    shown = clock_packs.shown(chrony="enabled /usr/sbin/chronyd -F 1")
    machine.command(" ".join(facts.SHOW), shown)
    assert keepers_of(machine).arguments == ("-F", "1")


@cases(
    "unit argv why",
    ("", "/usr/sbin/chronyd", "was started by no unit"),
    ("other.service", "/usr/sbin/chronyd", "other.service"),
    ("chrony.service", "/usr/sbin/timemaster -f /x", "is started by /usr/sbin/timemaster"),
)
def test_options_without_a_unit_are_unknown(unit, argv, why):
    machine = clock_packs.daemon(clock_packs.bare(), "/usr/sbin/chronyd -f /x", unit=unit)
    machine.command(" ".join(facts.SHOW), clock_packs.shown(chrony=f"enabled {argv}"))
    assert why in str(keepers_of(machine).arguments)


def without_unit(argv: str, uid: int) -> packs.Machine:
    return clock_packs.daemon(clock_packs.bare(), argv, unit="", uid=uid)


def test_options_of_a_process_of_root_without_a_unit_count():
    assert keepers_of(without_unit("/usr/sbin/chronyd -F 1", uid=0)).arguments == ("-F", "1")


@cases("options", "", "-x", "-F 1", "-f /x")
def test_options_of_a_process_of_another_account_without_a_unit_are_unknown(options):
    """The account of the daemon can start its program with any argument."""
    machine = without_unit(f"/usr/sbin/chronyd {options}".strip(), uid=110)
    assert "was started by no unit" in str(keepers_of(machine).arguments)


def test_a_daemon_whose_options_are_unknown_is_an_error(judge):
    machine = clock_packs.in_time(clock_packs.bare(), argv="/usr/sbin/chronyd -x")
    machine.running[0]["unit"] = ""
    findings = judge(machine, **RAC)
    assert findings["never_steps"].status == "error"
    assert "was started by no unit" in findings["never_steps"].why


def test_a_daemon_of_another_unit_has_the_options_of_that_unit():
    """A second chronyd that sets no clock (-x) may stand beside one that does."""
    machine = clock_packs.daemon(
        clock_packs.bare(), "/usr/sbin/chronyd -F 1", unit="lab-clock.service"
    )
    show = " ".join([*facts.SHOW[:3], "lab-clock.service"])
    shown = clock_packs.shown(chrony="enabled /usr/sbin/chronyd -x -f /etc/lab-clock.conf")
    machine.command(show, shown.replace("chrony.service", "lab-clock.service"))
    assert "chronyd" not in facts._read_keepers(machine, [])


@cases("options", "-f /x", "-f/x", "-df /x", "-4f/x")
def test_a_file_that_a_process_without_a_unit_names_is_not_known(options):
    machine = without_unit(f"/usr/sbin/chronyd {options}", uid=0)
    assert "was started by no unit" in str(keepers_of(machine).arguments)
