"""Real-time priority of OCSSD, LMS and VKTM, and the default of TasksMax, as they are judged."""

import limit_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.process_limits.facts import SHOW_MANAGER
from ansible.module_utils.hostproof.controls.process_limits.parsers import pid_stat
from ansible.module_utils.hostproof.controls.process_limits.probes import realtime
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases
from limit_packs import SERVICE, host, process, unit, with_oracle

#: The kernel of packs.linux().
CONFIG = "/boot/config-5.14.0-503.11.1.el9_5.x86_64"
ZGREP = "zgrep ^CONFIG_RT_GROUP_SCHED= /proc/config.gz"
FOLDER = packs.FIXTURES / "pid_stat"
RR = (FOLDER / "linux-6.18-rr.txt").read_text()
OTHER = (FOLDER / "linux-6.18-other.txt").read_text()


@pytest.fixture
def judge(valid):
    judged = valid(limit_packs.judged)
    return lambda machine, **changes: judged(machine, **changes)["realtime"]


def with_groups(machine):
    return machine.file(CONFIG, "CONFIG_RT_GROUP_SCHED=y\n")


def running(machine, stat, argv0="ora_vktm_ORCL", pid=4711):
    return machine.process(argv0, pid=pid, uid=54321).file(f"/proc/{pid}/stat", stat)


def test_scheduling_of_real_processes():
    assert pid_stat.parse(RR) == ("RR", 1) and pid_stat.parse(OTHER) == ("OTHER", 0)
    assert pid_stat.parse(RR.replace("(sleep)", "(a) b c)")) == ("RR", 1)
    with pytest.raises(ParseError, match="fields after the name"):
        pid_stat.parse("1 (sleep) S 1 1")


def test_a_kernel_without_the_option(judge):
    finding = judge(with_oracle())
    assert (finding.status, finding.running) == ("pass", "built without CONFIG_RT_GROUP_SCHED")
    assert finding.in_use is None


@cases(
    "subtree status",
    ("cpuset cpu io memory pids\n", "fail"),
    ("cpuset io memory pids\n", "pass"),
    ("\n", "pass"),
)
def test_the_cpu_controller_of_version_2(judge, subtree, status):
    finding = judge(with_groups(with_oracle()).file(realtime.SUBTREE, subtree))
    assert finding.status == status
    assert finding.running.startswith("built with CONFIG_RT_GROUP_SCHED, ")


@cases("share status", ("0", "fail"), ("950000", "pass"), ("x", "error"))
def test_the_share_of_services_in_version_1(judge, share, status):
    assert judge(with_groups(with_oracle()).file(realtime.SHARE, share + "\n")).status == status
    assert judge(with_groups(with_oracle())).status == "pass"


@cases(
    "argv0 stat status",
    ("ora_vktm_ORCL", RR, "pass"),
    ("ora_vktm_ORCL", OTHER, "warn"),
    ("asm_lms0_+ASM1", OTHER, "warn"),
    ("/u01/app/19.3.0/grid/bin/ocssd.bin", RR, "pass"),
    ("/u01/app/19.3.0/grid/bin/ocssd.bin", OTHER, "warn"),
    ("ora_pmon_ORCL", OTHER, "pass"),
    ("ora_vktm_ORCL", "4711 (oracle) S\n", "error"),
)
def test_processes(judge, argv0, stat, status):
    finding = judge(running(with_oracle(), stat, argv0))
    assert finding.status == status
    if status == "warn":
        assert (finding.failing_layer, "OTHER 0" in finding.in_use) == ("in_use", True)


def test_a_kernel_that_blocks_beside_what_runs(judge):
    blocked = "cpuset cpu io memory pids\n"
    machine = with_groups(with_oracle()).file(realtime.SUBTREE, blocked)
    finding = judge(running(machine, RR))
    assert (finding.status, finding.in_use) == ("warn", "ora_vktm_ORCL RR 1")
    machine = with_groups(with_oracle()).file(realtime.SUBTREE, blocked)
    assert judge(running(machine, OTHER)).status == "fail"


def test_a_kernel_that_shows_its_options_itself(judge):
    assert judge(with_oracle().remove(CONFIG)).status == "error"
    for rc, status in ((0, "fail"), (1, "pass"), (2, "error")):
        machine = with_oracle().remove(CONFIG).file(realtime.SUBTREE, "cpu\n")
        machine.command(ZGREP, "CONFIG_RT_GROUP_SCHED=y\n" if rc == 0 else "", rc=rc)
        assert judge(machine).status == status


@cases(
    "line status",
    ("CONFIG_RT_GROUP_SCHED=y", "fail"),
    ("# CONFIG_RT_GROUP_SCHED is not set", "pass"),
)
def test_a_host_in_image_mode_has_the_options_with_the_modules(judge, line, status):
    path = CONFIG.replace("/boot/config-", "/usr/lib/modules/") + "/config"
    machine = with_oracle().remove(CONFIG).file(realtime.SUBTREE, "cpu\n")
    assert judge(machine.file(path, line + "\n")).status == status


def test_a_release_that_is_no_file_name(judge):
    machine = with_oracle().file("/proc/sys/kernel/osrelease", "5.14/../../etc/shadow\n")
    assert judge(machine).status == "error"


def test_what_is_unknown_does_not_hide_a_process_without_priority(judge):
    assert judge(running(with_oracle().deny(CONFIG), OTHER)).status == "warn"
    assert judge(running(with_oracle().deny(CONFIG), RR)).status == "error"
    assert judge(with_oracle().deny("processes:realtime")).status == "error"


class TestDefaultTasks:
    @pytest.fixture
    def judge(self, valid):
        judged = valid(limit_packs.judged)
        return lambda machine, **changes: judged(machine, **changes)["default_tasks"]

    @staticmethod
    def manager(value):
        shown = "" if value is None else f"DefaultTasksMax={value}\n"
        return with_oracle().command(f"systemctl show {SHOW_MANAGER}", shown)

    @cases(
        "value status",
        ("77144", "pass"),
        ("infinity", "pass"),
        ("18446744073709551615", "pass"),
        ("16384", "pass"),
        ("16383", "warn"),
        ("512", "warn"),
        ("x", "error"),
        (None, "skip"),
    )
    def test_the_running_value(self, judge, value, status):
        finding = judge(self.manager(value))
        if status in ("pass", "warn"):
            assert finding.evidence[0] == f"command:systemctl show {SHOW_MANAGER}"
        assert finding.status == status
        assert finding.running == (value if status in ("pass", "warn") else None)

    @cases(
        "value status", ("512", "warn"), ("15%", "pass"), ("infinity", "pass"), ("65535", "pass")
    )
    def test_the_value_of_the_next_boot(self, judge, value, status):
        path = "/etc/systemd/system.conf.d/tasks.conf"
        finding = judge(self.manager("77144").file(path, f"[Manager]\nDefaultTasksMax={value}\n"))
        assert (finding.status, finding.persisted) == (status, f"{value} ({path})")
        if status == "warn":
            assert finding.failing_layer == "persisted"

    def test_a_value_that_only_waits_for_systemd_to_read_it(self, judge):
        path = "/etc/systemd/system.conf.d/tasks.conf"
        machine = self.manager("512").file(path, "[Manager]\nDefaultTasksMax=65535\n")
        assert judge(machine).commands == ("systemctl daemon-reexec",)
        assert judge(self.manager("512")).commands == ()

    def test_where_it_is_not_judged(self, judge):
        machine = process(unit(with_oracle(), "dbora.service"), "ora_pmon_ORCL", 800, SERVICE)
        assert judge(machine).status == "skip"
        assert judge(with_oracle().remove("/run/systemd/system")).status == "skip"
        assert judge(host()).status == "skip"
