"""kernel_parameters on AIX. No AIX was at hand: the texts have the form of public outputs."""

from typing import Any

import kernel_packs
import packs
import pytest
from aix_packs import AixMachine, aix
from ansible.module_utils.hostproof.controls.kernel_parameters.control import (
    CONTROL as kernel_parameters,
)
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.evaluate.finding import Finding
from ansible.module_utils.hostproof.parsers.unix import ioo
from cases import cases
from default_policies import default_policy

NOW, AT_BOOT = "no -F -a", "no -r -a"
IFCONFIG = (packs.FIXTURES / "ifconfig/aix-two-interfaces.txt").read_text()
DEFAULTS = (packs.FIXTURES / "no/aix-defaults.txt").read_text()
#: The values of the guide, which pass.
GOOD = {
    "ipqmaxlen": 512,
    "rfc1323": 1,
    "sb_max": 4194304,
    "tcp_ephemeral_low": 9000,
    "tcp_recvspace": 65536,
    "tcp_sendspace": 65536,
    "udp_ephemeral_low": 9000,
    "udp_recvspace": 655360,
    "udp_sendspace": 65536,
}


def tunables(**values: Any) -> str:
    rows = {**GOOD, **values}
    return "".join(f"{name:>25} = {value}\n" for name, value in rows.items() if value is not None)


def host(now: str = "", at_boot: str = "", ifconfig: str = "") -> AixMachine:
    """An AIX host with a home, whose tunables and interfaces pass unless they are given."""
    machine = aix().file("/etc/oratab", f"ORCL:{packs.HOME}:N\n")
    machine.command(NOW, now or tunables()).command(AT_BOOT, at_boot or tunables())
    good = IFCONFIG.replace("65536 rfc1323 0", "65536 rfc1323 1")
    return machine.command("ifconfig -a", ifconfig or good)


@pytest.fixture
def judge(findings_by_rules):
    def judge_host(machine: packs.Machine, **changes: Any) -> Finding:
        findings = findings_by_rules(
            kernel_parameters, machine, {**default_policy("kernel_parameters"), **changes}
        )
        (finding,) = findings.pop("aix_network")
        others = [one for some in findings.values() for one in some]
        if isinstance(machine, AixMachine):
            statuses = {(one.status, one.why) for one in others}
            assert statuses == {("skip", "Not a Linux host: it has no /proc/meminfo.")}
        return finding

    return judge_host


def test_the_values_of_the_guide_pass(judge):
    finding = judge(host())
    assert finding.status == "pass"
    assert finding.persisted.startswith("ipqmaxlen 512, rfc1323 1, sb_max 4194304, ")
    assert finding.running.startswith(f"system: {finding.persisted}; en0: tcp_sendspace 131072, ")
    assert "lo0" not in finding.running and finding.commands == ()
    assert finding.evidence == (f"command:{NOW}", f"command:{AT_BOOT}", "command:ifconfig -a")


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_value_below_the_minimum(judge, name):
    low = tunables(**{name: GOOD[name] - 1})
    finding = judge(host(now=low, at_boot=low))
    assert finding.status == "fail"
    shown = f"{name} {GOOD[name] - 1}"
    assert finding.why == f"Too low: system: {shown}; after a reboot: {shown}."
    option = "-r" if name == "ipqmaxlen" else "-p"
    assert finding.commands == (f"no {option} -o {name}={GOOD[name]}",)
    assert judge(host(now=tunables(**{name: GOOD[name] + 1}))).status == "pass"


def test_the_values_that_aix_comes_with(judge):
    finding = judge(host(now=DEFAULTS, at_boot=DEFAULTS, ifconfig=IFCONFIG))
    assert finding.status == "fail"
    low = "ipqmaxlen 100, rfc1323 0, sb_max 1048576, tcp_recvspace 16384, tcp_sendspace 16384, "
    low += "udp_recvspace 42080, udp_sendspace 9216"
    assert finding.why == f"Too low: system: {low}; en0: rfc1323 0; after a reboot: {low}."
    assert finding.commands == (
        "no -p -o rfc1323=1 -o sb_max=4194304 -o tcp_recvspace=65536 -o tcp_sendspace=65536 "
        "-o udp_recvspace=655360 -o udp_sendspace=65536",
        "no -r -o ipqmaxlen=512",
        "chdev -l en0 -a rfc1323=1",
    )


def test_only_the_next_boot_is_too_low(judge):
    finding = judge(host(now=tunables(tcp_recvspace=262144), at_boot=tunables(tcp_recvspace=16384)))
    assert finding.status == "fail"
    assert finding.why == "Too low: after a reboot: tcp_recvspace 16384."
    assert finding.failing_layer == "persisted"
    # The higher value of the running kernel is kept.
    assert finding.commands == ("no -p -o tcp_recvspace=262144",)


def test_the_receive_buffer_is_less_than_sb_max(judge):
    finding = judge(host(now=tunables(udp_recvspace=4194304)))
    assert finding.status == "fail" and finding.why == "Too low: system: sb_max 4194304."
    assert finding.failing_layer == "running" and finding.commands == ("no -p -o sb_max=8388608",)
    assert judge(host(now=tunables(udp_recvspace=4194303))).status == "pass"


class TestInterfaces:
    def test_one_overrides_the_tunables(self, judge):
        finding = judge(host(ifconfig=IFCONFIG.replace("recvspace 65536", "recvspace 65535")))
        assert finding.status == "fail"
        assert finding.why == "Too low: en0: tcp_recvspace 65535, rfc1323 0."
        assert finding.commands == ("chdev -l en0 -a tcp_recvspace=65536 -a rfc1323=1",)

    @cases("isno status", ("0", "pass"), ("1", "fail"), ("x", "error"))
    def test_they_count_if_use_isno_is_on(self, judge, isno, status):
        now = tunables() + f"##Restricted tunables\n                 use_isno = {isno}\n"
        assert judge(host(now=now, ifconfig=IFCONFIG)).status == status

    def test_they_are_not_needed_without_use_isno(self, judge):
        assert judge(host(now=tunables(use_isno=0)).failing("ifconfig -a", "no\n")).status == "pass"

    def test_none_has_options(self, judge):
        text = "".join(line for line in IFCONFIG.splitlines(True) if "rfc1323" not in line)
        assert judge(host(ifconfig=text)).status == "pass"

    @cases("text", "", "ifconfig: no\n", "  tcp_sendspace 1\n", IFCONFIG + "ifconfig: 0821-103\n")
    def test_no_output_of_ifconfig(self, text):
        with pytest.raises(ParseError):
            ioo.parse_interfaces(text)


class TestUnknown:
    @cases("line", NOW, AT_BOOT, "ifconfig -a")
    def test_a_command_fails(self, judge, line):
        finding = judge(host().failing(line, "0821-501 not permitted\n"))
        assert finding.status == "error" and "0821-501 not permitted" in finding.why

    @cases("value", None, "n/a", "-1", "4M")
    @cases("layer", "now", "at_boot")
    def test_a_tunable_has_no_number(self, judge, layer, value):
        finding = judge(host(**{layer: tunables(sb_max=value)}))
        assert finding.status == "error" and "sb_max is" in finding.why

    def test_an_option_of_an_interface_has_no_number(self, judge):
        assert judge(host(ifconfig=IFCONFIG.replace("rfc1323 0", "rfc1323 on"))).status == "error"

    def test_it_does_not_hide_what_is_too_low(self, judge):
        finding = judge(host(now=tunables(rfc1323=0)).failing(AT_BOOT, "no\n"))
        assert finding.status == "fail"
        assert finding.why.startswith("Too low: system: rfc1323 0. Not known: persisted: ")
        assert finding.commands == ("no -p -o rfc1323=1",)

    def test_which_system_it_is(self, judge):
        assert judge(host().failing("uname -s", "no\n")).status == "error"


class TestWhereItCounts:
    def test_without_oracle_it_is_skipped(self, judge):
        finding = judge(host().remove("/etc/oratab"))
        assert finding.status == "skip"
        assert finding.why.startswith("No Oracle software was found on this host")

    def test_a_profile_is_enough(self, judge):
        assert judge(host().remove("/etc/oratab"), profile="rac_asm").status == "pass"

    def test_the_inventory_is_enough(self, judge):
        machine = host().remove("/etc/oratab")
        machine.file("/etc/oraInst.loc", "inventory_loc=/u01/app/oraInventory\ninst_group=dba\n")
        machine.file(
            "/u01/app/oraInventory/ContentsXML/inventory.xml",
            '<INVENTORY><HOME_LIST><HOME NAME="db" LOC="/u01/db" TYPE="O" IDX="1"/></HOME_LIST>'
            "</INVENTORY>\n",
        )
        assert judge(machine).status == "pass"

    def test_on_linux_it_is_skipped(self, judge):
        finding = judge(kernel_packs.with_home(kernel_packs.stock()))
        assert (finding.status, finding.why) == ("skip", "Not an AIX host (Linux).")

    def test_on_solaris_it_is_skipped(self, judge):
        finding = judge(host().command("uname -s", "SunOS\n"))
        assert (finding.status, finding.why) == ("skip", "Not an AIX host (SunOS).")
