"""avahi-daemon and the route of zero configuration networking, as they are judged."""

import name_packs
import pytest
from ansible.module_utils.hostproof.collect.command import Output
from ansible.module_utils.hostproof.controls.name_resolution.probes import zeroconf
from cases import cases
from name_packs import node

SHOW = " ".join(zeroconf.ROUTE)
#: Of CentOS 7.9: RedHatInsights/insights-puptoo, commit 8adf7f2, centos79.tar.gz, Apache-2.0.
CENTOS = "169.254.0.0/16 dev eth0 scope link metric 1002 \n"
#: Of iproute2 6.1 in a network namespace, for an address of 169.254.0.0/16.
OF_ADDRESS = "169.254.0.0/16 dev d1 proto kernel scope link src 169.254.100.7 \n"
ARGV0 = "avahi-daemon: running [rac1.local]"


@pytest.fixture
def judge(valid):
    judged = valid(name_packs.judged)
    return lambda machine, **changes: judged(machine, **changes)["zeroconf"]


def is_enabled(machine, service, socket="disabled"):
    for unit, state in zip(zeroconf.UNITS, (service, socket), strict=True):
        machine.command(
            f"systemctl is-enabled {unit}", f"{state}\n", 0 if state == "enabled" else 1
        )
    return machine


def with_script(machine, text=None):
    machine.file(zeroconf.SCRIPT, "# adds the route\n", mode=0o755)
    return machine if text is None else machine.file(zeroconf.SYSCONFIG, text)


def test_all_is_off(judge):
    finding = judge(is_enabled(node().command(SHOW, ""), "disabled"))
    assert finding.status == "pass", finding
    assert finding.persisted == "no unit enabled; no route"
    assert finding.running == "0 processes; no route"


def test_on_a_host_of_no_cluster_it_is_skipped(judge):
    params = f"{name_packs.GRID}/crs/install/crsconfig_params"
    machine = node().command(SHOW, CENTOS).file(params, "CLUSTER_NAME=\n")
    assert judge(machine).status == "skip"
    assert judge(machine, profile="oracle_19c_rac").status == "warn"
    assert judge(machine, profile="oracle_19c_restart").status == "skip"


@cases("argv0", ARGV0, "/usr/sbin/avahi-daemon", "avahi-daemon: chroot helper")
def test_a_daemon_that_runs(judge, argv0):
    finding = judge(node().command(SHOW, "").process(argv0))
    assert (finding.status, finding.why) == ("fail", "avahi-daemon runs.")
    assert finding.failing_layer == "running"
    assert "systemctl disable --now avahi-daemon.socket avahi-daemon.service" in finding.commands


@cases("argv0", "avahi-daemon-x", "/opt/avahi-autoipd", "vi avahi-daemon")
def test_another_program(judge, argv0):
    assert judge(node().command(SHOW, "").process(argv0)).status == "pass"


@cases(
    "service socket status why",
    ("enabled", "disabled", "fail", "avahi-daemon starts after reboot (avahi-daemon.service)."),
    ("disabled", "enabled", "fail", "avahi-daemon starts after reboot (avahi-daemon.socket)."),
    ("masked", "not-found", "pass", ""),
    ("enabled-runtime", "static", "pass", ""),
    ("bad", "disabled", "error", "systemctl answered 'bad'"),
)
def test_what_the_next_boot_starts(judge, service, socket, status, why):
    finding = judge(is_enabled(node().command(SHOW, ""), service, socket))
    assert (finding.status, why in finding.why) == (status, True)


@cases(
    "stderr status",
    ("Failed to get unit file state for {}: No such file or directory\n", "pass"),
    ("Failed to get unit file state for {}: Connection timed out\n", "error"),
    ("", "error"),
)
def test_systemd_of_el7_prints_no_state_for_a_unit_that_does_not_exist(judge, stderr, status):
    machine = node().command(SHOW, "")
    for unit in zeroconf.UNITS:
        machine.commands[f"systemctl is-enabled {unit}"] = Output(1, "", stderr.format(unit))
    assert judge(machine).status == status


def test_the_route_of_centos_7(judge):
    finding = judge(node().command(SHOW, CENTOS))
    assert (finding.status, finding.why) == ("warn", "eth0 has the route 169.254.0.0/16.")
    assert finding.commands == ("ip route del 169.254.0.0/16 scope link proto boot",)


def test_the_route_of_an_address_is_that_of_haip(judge):
    assert judge(node().command(SHOW, OF_ADDRESS)).status == "pass"


@cases("text rc", ("169.254.0.0/16 dev", 0), ("", 1), ("x", 0))
def test_what_is_no_route_is_unknown(judge, text, rc):
    assert judge(node().command(SHOW, text, rc)).status == "error"


@cases(
    "text status",
    (None, "warn"),
    ("NETWORKING=yes\n", "warn"),
    ("NOZEROCONF=yes\n", "pass"),
    ("NOZEROCONF=no # any value counts\n", "pass"),
    (' export NOZEROCONF="yes"\n', "pass"),
    ("#NOZEROCONF=yes\n", "warn"),
    ("NOZEROCONF=yes\nNOZEROCONF=\n", "warn"),
    ("NOZEROCONF=''\n", "warn"),
    ("NOZEROCONF= # none\n", "warn"),
)
def test_network_scripts_read_nozeroconf(judge, text, status):
    finding = judge(with_script(node().command(SHOW, ""), text))
    assert (finding.status, "NOZEROCONF" in (finding.why or "")) == (status, status == "warn")


def test_a_daemon_that_runs_is_a_failure_whatever_is_unknown(judge):
    machine = with_script(node().command(SHOW, "", 1).process(ARGV0)).deny(zeroconf.SYSCONFIG)
    finding = judge(machine)
    assert (finding.status, "Not known: routes" in finding.why) == ("fail", True)
    assert judge(with_script(node().command(SHOW, "")).deny(zeroconf.SYSCONFIG)).status == "error"


class TestProxyt:
    @pytest.fixture
    def judge(self, valid):
        judged = valid(name_packs.judged)
        return lambda machine, **changes: judged(machine, **changes)["proxyt"]

    def test_it_is_off(self, judge):
        finding = judge(node())
        assert finding.status == "pass" and finding.running == "0 processes"
        assert finding.persisted == "not enabled"

    @cases("argv0", "proxyt", "/usr/sbin/proxyt")
    def test_it_runs(self, judge, argv0):
        finding = judge(node().process(argv0))
        assert finding.status == "fail" and finding.running == "1 processes"
        assert finding.failing_layer == "running"
        assert finding.commands == ("systemctl disable --now proxyt.service",)

    @cases("argv0", "proxytd", "vi proxyt", "/opt/proxy")
    def test_another_program(self, judge, argv0):
        assert judge(node().process(argv0)).status == "pass"

    @cases("state status", ("enabled", "fail"), ("masked", "pass"), ("bad", "error"))
    def test_what_the_next_boot_starts(self, judge, state, status):
        machine = node().command(f"systemctl is-enabled {zeroconf.PROXYT}", state + "\n", 0)
        assert judge(machine).status == status

    def test_what_is_unknown_does_not_hide_a_daemon_that_runs(self, judge):
        machine = node().process("proxyt")
        machine.command(f"systemctl is-enabled {zeroconf.PROXYT}", "bad\n", 1)
        assert judge(machine).status == "fail"

    def test_on_a_host_of_no_cluster_it_is_skipped(self, judge):
        params = f"{name_packs.GRID}/crs/install/crsconfig_params"
        assert judge(node().file(params, "CLUSTER_NAME=\n")).status == "skip"
