"""/etc/hosts as it is judged: its lines, localhost, and the loopback interface."""

import name_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from cases import cases
from name_packs import node

LOCAL = "127.0.0.1 localhost\n"
OWN = "192.0.2.10 rac1.example.com rac1\n"


@pytest.fixture
def judge(valid):
    judged = valid(name_packs.judged)
    return lambda machine: judged(machine)["hosts_file"]


@cases(
    "text status why",
    (LOCAL + OWN, "pass", ""),
    (LOCAL + "::1 localhost\n" + OWN, "pass", ""),
    (LOCAL + OWN + "2001:db8::10 rac1\n", "pass", ""),
    (LOCAL + OWN + OWN, "pass", ""),
    (OWN, "warn", "no line leads from localhost to 127.0.0.1"),
    ("::1 localhost\n" + OWN, "warn", "no line leads from localhost"),
    ("192.0.2.10 localhost\n" + LOCAL, "fail", "localhost leads to 192.0.2.10"),
    (LOCAL + "127.0.1.1 localhost\n", "pass", ""),
    (LOCAL + OWN + "192.0.2.11 RAC1\n", "fail", "rac1 has the addresses 192.0.2.10, 192.0.2.11"),
    (LOCAL + "192.0.2.20 rac2\n192.0.2.21 rac2\n", "fail", "rac2 has the addresses"),
    (LOCAL + "192.0.2.20 filer\n192.0.2.21 filer\n", "warn", "filer has the addresses"),
    (LOCAL + OWN + "rac2 192.0.2.20\n", "warn", "lines that count for nothing: 3"),
)
def test_lines(judge, text, status, why):
    finding = judge(node().file("/etc/hosts", text))
    assert (finding.status, why in finding.why) == (status, True)
    assert finding.failing_layer == (None if status == "pass" else "persisted")


def test_the_file_of_a_container_of_rhel_8(judge):
    text = (packs.FIXTURES / "hosts/rhel-8.2-container.txt").read_text()
    finding = judge(node().file("/etc/hosts", text))
    assert (finding.status, finding.why) == ("warn", "lines that count for nothing: 10.")
    assert finding.persisted == "localhost is 127.0.0.1, ::1"


def test_without_the_file_localhost_has_no_line(judge):
    finding = judge(node().remove("/etc/hosts"))
    assert (finding.status, "no line leads from localhost" in finding.why) == ("warn", True)
    assert judge(node().deny("/etc/hosts")).status == "error"


@cases("loopback", "127.0.0.2/8", "127.0.0.1/32")
def test_the_loopback_interface(judge, loopback):
    addresses = name_packs.ADDRESSES.replace("127.0.0.1/8", loopback)
    finding = judge(node().command("ip -o addr show", addresses))
    assert (finding.status, finding.failing_layer) == ("fail", "running")
    assert finding.why == "no loopback interface has 127.0.0.1/8."


def test_unknown_addresses_are_an_error_unless_the_file_is_wrong(judge):
    assert judge(node().command("ip -o addr show", "x")).status == "error"
    machine = node().file("/etc/hosts", "192.0.2.10 localhost\n")
    finding = judge(machine.command("ip -o addr show", "x"))
    assert (finding.status, finding.running) == ("fail", "unknown")
    assert "Not known: interfaces" in finding.why


HEADER = """\
# Your system has configured 'manage_etc_hosts' as True.
# As a result, if you wish for changes to this file to persist
# then you will need to either
# a.) make changes to the master file in /etc/cloud/templates/hosts.redhat.tmpl
# b.) change or remove the value of 'manage_etc_hosts' in
#     /etc/cloud/cloud.cfg or cloud-config from user-data
"""
TEMPLATE = "{# a comment -#}\n" + HEADER + "127.0.0.1 {{fqdn}} {{hostname}}\n" + LOCAL
OF_HOST = TEMPLATE.replace("127.0.0.1 {{fqdn}}", "192.0.2.10 $fqdn")
MASTER = "/etc/cloud/templates/hosts.redhat.tmpl"
TRUE, FALSE = "manage_etc_hosts: true\n", "manage_etc_hosts: false\n"
CFG, CFG_D = "/etc/cloud/cloud.cfg", "/etc/cloud/cloud.cfg.d"
USER_DATA = "/var/lib/cloud/instance/cloud-config.txt"
VENDOR_DATA = "/var/lib/cloud/instance/vendor-cloud-config.txt"
REMOVES = "cloud-init removes the lines 8 at the next reboot"
LEADS = "cloud-init leads rac1 to the loopback interface at the next reboot"


@cases(
    "hosts files status why",
    # The header without the configuration: a recording of an older release.
    (HEADER + LOCAL + OWN, None, "warn", REMOVES),
    (HEADER + LOCAL, None, "warn", LEADS),
    (HEADER + LOCAL + "127.0.0.1 rac1.example.com rac1\n", None, "pass", ""),
    (LOCAL + OWN, None, "pass", ""),
    (HEADER + LOCAL + OWN, {CFG: TRUE}, "warn", REMOVES),
    (HEADER + LOCAL + OWN, {CFG: "x: 1\n"}, "warn", REMOVES),
    (HEADER + LOCAL + OWN, {CFG: "manage_etc_hosts: False\n"}, "pass", ""),
    # It adds the name of the host to a loopback address, and leaves the other lines.
    (LOCAL + OWN, {CFG: "manage_etc_hosts: localhost\n"}, "warn", LEADS),
    ("127.0.1.1 rac1\n" + LOCAL, {CFG: "manage_etc_hosts: localhost\n"}, "pass", ""),
    # The file was replaced, and only the data of the instance has the setting.
    (LOCAL + OWN, {CFG: "", USER_DATA: TRUE}, "warn", "the lines 2"),
    (LOCAL + OWN, {CFG: "", VENDOR_DATA: TRUE}, "warn", "the lines 2"),
    (LOCAL + OWN, {CFG: "", VENDOR_DATA: TRUE, USER_DATA: FALSE}, "pass", ""),
    (HEADER + LOCAL + OWN, {CFG: TRUE, f"{CFG_D}/99_x.cfg": FALSE}, "pass", ""),
    (LOCAL + OWN, {CFG: FALSE, USER_DATA: 'manage_etc_hosts: "true"\n'}, "warn", "the lines 2"),
    # cloud-init is not installed any more, or off.
    (HEADER + LOCAL + OWN, {}, "pass", ""),
    (HEADER + LOCAL + OWN, {CFG: "", "/etc/cloud/cloud-init.disabled": ""}, "pass", ""),
    # The template has the lines.
    (HEADER + LOCAL + OWN, {CFG: "", MASTER: HEADER + LOCAL + OWN}, "pass", ""),
    (HEADER + LOCAL + OWN, {CFG: "", MASTER: TEMPLATE}, "warn", REMOVES + "; " + LEADS),
    (HEADER + LOCAL + OWN, {CFG: "", MASTER: OF_HOST}, "pass", ""),
)
def test_what_cloud_init_writes_at_each_boot(judge, hosts, files, status, why):
    machine = node().file("/etc/hosts", hosts)
    for path, text in (files or {}).items():
        machine.file(path, text)
    finding = judge(machine)
    if files is None:
        # As recorded before Hostproof read the configuration.
        for key in [key for key in machine.evidence if "cloud" in key]:
            machine.evidence.pop(key)
        finding = name_packs.judged(RecordedHost(machine.evidence, "0.2.0"))["hosts_file"]
    assert (finding.status, why in (finding.why or "")) == (status, True), finding
    if status == "warn":
        assert finding.failing_layer == "persisted" and "manage_etc_hosts: false" in finding.fix
        has_template = "localhost\n" not in (files or {}).get(CFG, "")
        assert ("put the lines of /etc/hosts into the template" in finding.fix) == has_template
