"""Names as they are judged: of the host, of its listeners, and of its cluster."""

import socket

import listener_packs
import name_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.name_resolution.control import CONTROL as names
from ansible.module_utils.hostproof.controls.name_resolution.policy import SUBJECTS
from ansible.module_utils.hostproof.controls.name_resolution.probes import tcp_connections
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import PolicyError
from cases import cases
from default_policies import changed_policy
from name_packs import SCAN, SERVERS, THREE, back, datagram, named, node, says, silent


@pytest.fixture
def judge(valid):
    return valid(name_packs.judged)


class TestWhereItCounts:
    def test_all_is_well(self, judge):
        findings = judge(node())
        assert {
            name: finding.status for name, finding in findings.items() if finding.status != "pass"
        } == {"listener_address": "skip", "scan_listeners": "skip"}

    def test_without_oracle_no_name_is_asked_for(self, judge):
        def bare():
            return node().file("/etc/oratab", "").remove("/etc/oracle/olr.loc")

        machine = bare()
        assert {finding.status for finding in judge(machine).values()} == {"skip"}
        assert not [key for key in machine.evidence if "getent" in key]
        assert judge(bare(), profile="rac_asm", scan_names=[SCAN])["scan"].status == "pass"
        assert judge(bare(), scan_names=[SCAN])["scan"].status == "pass"

    @cases(
        "lacking sign status",
        ("processes:pmon", "a Grid home", "pass"),
        ("processes:pmon", "oratab", "pass"),
        ("processes:pmon", "a listener", "pass"),
        ("processes:pmon", "none", "error"),
        ("file:/etc/oratab", "a Grid home", "pass"),
    )
    def test_one_sign_of_oracle_is_enough(self, judge, lacking, sign, status):
        """A pack that was recorded with a profile has no search for instances."""
        machine = node(listener_packs.linux().listener() if sign == "a listener" else None)
        if sign != "a Grid home":
            machine.remove("/etc/oracle/olr.loc")
        if sign not in ("oratab", "a Grid home"):
            machine.file("/etc/oratab", "")
        judge(machine)
        machine.evidence.pop(lacking, None)
        assert name_packs.judged(RecordedHost(machine.evidence))["hosts_file"].status == status

    def test_not_a_linux_host(self, judge):
        findings = judge(node().remove("/proc/sys/kernel/hostname"))
        assert {finding.status for finding in findings.values()} == {"skip"}

    @pytest.mark.parametrize("name", SUBJECTS)
    def test_unmanaged_is_not_judged(self, judge, name):
        finding = judge(node(), skip_checks=[name])[name]
        assert (finding.status, "name_resolution_skip_checks" in finding.why) == ("skip", True)

    def test_there_is_nothing_to_apply(self):
        policy = names.policy_from(changed_policy("name_resolution"))
        plan = planner("name_resolution")(names.read(node(), policy), policy)
        assert (plan.changes, plan.refusals) == ([], [])

    @cases(
        "changes problem",
        ({"scan_names": ["--help"]}, "must be a name"),
        ({"cluster_names": ["a b"]}, "must be a name"),
        ({"cluster_names": ["rac"] * 65}, "at most 64"),
        ({"scan_address_count": 0}, "scan_address_count"),
        ({"skip_checks": ["dns"]}, "must be one of"),
    )
    def test_a_bad_policy(self, changes, problem):
        with pytest.raises(PolicyError, match=problem):
            names.policy_from(changed_policy("name_resolution", **changes))


class TestOwnName:
    @cases(
        "own status why",
        ("rac_1", "fail", "underscore"),
        ("-rac1", "fail", "is not a label"),
        ("localhost", "fail", "it is localhost"),
        ("localhost.localdomain", "fail", "it is localhost"),
        ("r" * 63, "pass", ""),
        ("r" * 64, "fail", "64 letters"),
        ("Rac1", "warn", "capitals"),
        ("rac1.example.com", "pass", ""),
    )
    def test_its_form(self, judge, own, status, why):
        machine = named(node().file("/etc/hostname", own), own, "192.0.2.10")
        finding = judge(machine.file("/proc/sys/kernel/hostname", own + "\n"))["hostname"]
        assert (finding.status, why in finding.why) == (status, True)

    def test_the_next_boot_brings_another(self, judge):
        finding = judge(node().file("/etc/hostname", "db7\n"))["hostname"]
        assert (finding.status, finding.why) == ("fail", "a reboot brings db7.")
        assert finding.fix == "put 'rac1' into /etc/hostname"
        finding = judge(node().remove("/etc/hostname"))["hostname"]
        assert (finding.status, finding.fix) == ("warn", "put 'rac1' into /etc/hostname")

    @cases(
        "own static layer fix",
        ("rac1", "rac1.example.com", "persisted", "put 'rac1' into /etc/hostname"),
        ("rac1", "localhost.localdomain", "persisted", "put 'rac1' into /etc/hostname"),
        ("rac1", "ip-192-0-2-10", "persisted", "put 'rac1' into /etc/hostname"),
        ("localhost", "rac1", "running", "reboot the host"),
        ("ip-192-0-2-10", "rac1", "running", "reboot the host"),
        ("rac_1", "rac_1", "running", "choose a valid name"),
        ("rac_1", "rac_2", "running", "choose a valid name"),
        ("RAC1", "RAC1", "running", "keep the name otherwise"),
        ("RAC1", "rac1", "running", "put 'RAC1' into /etc/hostname"),
    )
    def test_the_fix_follows_the_wrong_name(self, judge, own, static, layer, fix):
        machine = named(node().file("/etc/hostname", static), own, "192.0.2.10")
        finding = judge(machine.file("/proc/sys/kernel/hostname", own + "\n"))["hostname"]
        assert (finding.failing_layer, fix in finding.fix) == (layer, True), finding
        # Either the host gets another name or its file the name that it has, never both.
        assert ("hostnamectl" in finding.fix) == (own == static or own == "rac_1")

    def test_comments_of_the_file_are_no_name_and_an_empty_name_is_unknown(self, judge):
        own = node().files["/etc/hostname"]
        result = judge(node().file("/etc/hostname", "# set by the installer\n\n" + own))["hostname"]
        assert result.status == "pass", result
        for text in ("", "\n"):
            result = judge(node().file("/proc/sys/kernel/hostname", text))
            assert result["hostname"].status == result["scan"].status == "error"
            assert "the kernel has no host name" in result["scan"].why

    @cases(
        "name status",
        ("c" * 15, "pass"),
        ("c" * 16, "fail"),
        ("a_b", "fail"),
        ("1rac", "fail"),
        ("r1", "pass"),
    )
    def test_the_name_of_the_cluster(self, judge, name, status):
        params = name_packs.PARAMS.replace("CLUSTER_NAME=rac", f"CLUSTER_NAME={name}")
        machine = node().file(f"{name_packs.GRID}/crs/install/crsconfig_params", params)
        finding = judge(machine)["hostname"]
        assert finding.status == status
        # The name of the host is right.
        assert status == "pass" or "hostnamectl" not in finding.fix

    def test_a_name_of_the_cluster_with_an_underscore(self, judge):
        finding = judge(named(node(), "rac_scan", *THREE), scan_names=["rac_scan"])["hostname"]
        assert (finding.status, "rac_scan has an underscore" in finding.why) == ("fail", True)

    def test_a_name_that_is_an_option_is_not_run(self, judge):
        machine = node().file("/proc/sys/kernel/hostname", "--service=x\n")
        findings = judge(machine)
        assert findings["hostname"].status == "fail"
        assert findings["hostname_address"].status == "error"
        assert not [key for key in machine.evidence if "--service" in key]


class TestOwnAddress:
    @cases(
        "addresses status why",
        (["192.0.2.10"], "pass", ""),
        (["127.0.1.1"], "fail", "rac1 leads to 127.0.1.1 (/etc/hosts:2)"),
        (["192.0.2.10", "::1"], "fail", "rac1 leads to ::1."),
        (["fe80::1%eth0", "192.0.2.10"], "fail", "rac1 leads to fe80::1"),
        (["169.254.3.4"], "fail", "leads to 169.254.3.4"),
        (["192.0.2.99"], "fail", "no interface has 192.0.2.99"),
        ([], "fail", "rac1 does not resolve"),
    )
    def test_where_it_leads(self, judge, addresses, status, why):
        machine = named(node(), "rac1", *addresses)
        if addresses:
            machine.file("/etc/hosts", f"127.0.0.1 localhost\n{addresses[0]} rac1\n")
        finding = judge(machine)["hostname_address"]
        assert (finding.status, why in finding.why) == (status, True)

    def test_what_could_not_be_told_in_time_is_an_error(self, judge):
        machine = node()
        machine.evidence["command:getent ahosts rac1"] = {
            "kind": "command",
            "error": "unanswered",
            "message": "timed out after 6 seconds",
        }
        findings = judge(machine)
        assert findings["hostname_address"].status == "error" and findings["scan"].status == "pass"

    @cases("text", "no address here\n", "999.1.1.1 STREAM x\n", "\0\n")
    def test_what_is_no_answer(self, judge, text):
        machine = node().command("getent ahosts rac1", text)
        assert judge(machine)["hostname_address"].status == "error"

    def test_getent_fails(self, judge):
        machine = node().command("getent ahosts rac1", "", rc=3)
        assert judge(machine)["hostname_address"].status == "error"


class TestReverse:
    @cases(
        "told status",
        (["rac1.example.com"], "pass"),
        (["RAC1"], "pass"),
        (["db7.example.com", "rac1"], "pass"),
        (["db7.example.com"], "fail"),
        ([], "warn"),
    )
    def test_what_leads_back(self, judge, told, status):
        assert judge(back(node(), "192.0.2.10", *told))["reverse_lookup"].status == status

    @cases(
        "told fix",
        ("db7", "correct the PTR record of 192.0.2.10 in DNS to rac1, or put the name first"),
        ("rac1", "correct name_resolution.hostname_address first: rac1 leads to 127.0.0.1"),
    )
    def test_the_fix_names_the_wrong_address_and_the_name_of_the_host(self, judge, told, fix):
        """A name in the line of localhost has the canonical name localhost."""
        answers = "127.0.0.1 STREAM localhost\n192.0.2.10 STREAM\n"
        machine = back(node(), "192.0.2.10", told).command("getent ahosts rac1", answers)
        finding = judge(back(machine, "127.0.0.1", "localhost"))["reverse_lookup"]
        assert finding.fix is not None and finding.fix.startswith(fix)


class TestListener:
    def listening(self, address="0.0.0.0", *leads):
        machine = node(listener_packs.ready_host())
        named(machine, "db01.example.com", *(leads or ["192.0.2.10"]))
        head = "State  Recv-Q Send-Q Local Address:Port  Peer Address:Port\n"
        return machine.command("ss -ltn", f"{head}LISTEN 0 128 {address}:1521 0.0.0.0:*\n")

    @cases(
        "address status",
        ("0.0.0.0", "pass"),
        ("[::]", "pass"),
        ("192.0.2.10", "pass"),
        ("127.0.0.1", "fail"),
        ("[::1]", "fail"),
    )
    def test_where_it_listens(self, judge, address, status):
        finding = judge(self.listening(address))["listener_address"]
        assert finding.status == status and finding.in_use == f"{address} port 1521"

    def test_a_port_that_nobody_listens_on(self, judge):
        machine = self.listening().command("ss -ltn", "State  Recv-Q Send-Q Local Address:Port\n")
        finding = judge(machine)["listener_address"]
        assert (finding.status, "does not listen on port 1521" in finding.why) == ("fail", True)

    def test_what_ss_does_not_tell_is_not_well(self, judge):
        machine = self.listening().command("ss -ltn", "State  Recv-Q Send-Q\n", rc=1)
        assert judge(machine)["listener_address"].status == "error"

    @cases("leads why", ("127.0.1.1", "leads to 127.0.1.1"), ("192.0.2.77", "of another host"))
    def test_where_its_name_leads(self, judge, leads, why):
        finding = judge(self.listening("0.0.0.0", leads))["listener_address"]
        assert (finding.status, why in finding.why) == ("fail", True)


class TestOrder:
    @cases(
        "line status",
        ("hosts: files dns", "pass"),
        ("hosts: files dns myhostname", "pass"),
        ("hosts: files mdns4_minimal [NOTFOUND=return] dns", "pass"),
        ("hosts: mymachines files myhostname resolve [!UNAVAIL=return] dns", "pass"),
        ("hosts: files myhostname resolve [!UNAVAIL=return] dns", "pass"),
        ("hosts: files resolve", "pass"),
        ("hosts: resolve files", "fail"),
        ("hosts: dns files", "fail"),
        ("hosts: files", "fail"),
        ("hosts: dns", "fail"),
        ("hosts: files [NOTFOUND=return] dns", "fail"),
        ("hosts: files [!SUCCESS=return] dns", "fail"),
        ("hosts: files [SUCCESS=return NOTFOUND=continue] dns", "pass"),
        ("hosts: myhostname files dns", "warn"),
        ("hosts: files nis dns", "warn"),
        ("passwd: files", "warn"),
        ("hosts: files [WHAT=return] dns", "error"),
        ("hosts: [NOTFOUND=return] files dns", "error"),
        ("hosts: files\nhosts: files dns", "error"),
    )
    def test_who_is_asked(self, judge, line, status):
        finding = judge(node().file("/etc/nsswitch.conf", line + "\n"))["search_order"]
        assert finding.status == status

    def test_without_a_file_it_depends_on_glibc(self, judge):
        findings = judge(node().remove("/etc/nsswitch.conf"))
        assert (findings["search_order"].status, findings["scan"].status) == ("warn", "pass")

    def test_multicast_dns_ends_the_search_for_its_own_domain(self, judge):
        line = "hosts: files mdns4_minimal [NOTFOUND=return] dns\n"
        machine = named(node().file("/etc/nsswitch.conf", line), "rac-scan.local", *THREE)
        for server in SERVERS:
            says(machine, server, "rac-scan.local", THREE)
        finding = judge(machine, scan_names=["rac-scan.local"])["search_order"]
        assert finding.status == "fail" and "ends the search for rac-scan.local" in finding.why


class TestResolver:
    @cases(
        "text status why",
        (name_packs.RESOLV, "pass", ""),
        ("nameserver 192.0.2.53\n", "warn", "192.0.2.53 is the only server"),
        ("nameserver 127.0.0.53\noptions edns0\n", "pass", ""),
        ("search example.com\n", "warn", "names no server"),
        ("nameserver 192.0.2.1\nnameserver 192.0.2.2\n", "warn", "up to 20 seconds"),
        (name_packs.RESOLV + "nameserver 192.0.2.3\nnameserver 192.0.2.4\n", "warn", "nothing: 7"),
        (name_packs.RESOLV + " nameserver 192.0.2.55\n", "warn", "nothing: 6"),
        (name_packs.RESOLV.replace("\n", "\r\n"), "warn", "names no server"),
        (name_packs.RESOLV + "search a.example\r\n", "warn", "nothing: 6"),
        (name_packs.RESOLV.replace(".54", ".53"), "warn", "192.0.2.53 is the only server"),
        (name_packs.RESOLV + "nameserver dns1\n", "warn", "nothing: 6"),
        (name_packs.RESOLV + "search a b c d e f g\n", "warn", "glibc before 2.26 takes 6"),
        (name_packs.RESOLV + "options timeout:99 attempts:99\n", "warn", "up to 300 seconds"),
    )
    def test_what_it_says(self, judge, text, status, why):
        finding = judge(node().file("/etc/resolv.conf", text))["resolv_conf"]
        assert (finding.status, why in finding.why) == (status, True)

    def test_who_writes_it(self, judge):
        assert "written by NetworkManager" in judge(node())["resolv_conf"].persisted
        stub = "/run/systemd/resolve/stub-resolv.conf"
        machine = node().remove("/etc/resolv.conf").file(stub, "nameserver 127.0.0.53\n")
        finding = judge(machine.link("/etc/resolv.conf", stub))["resolv_conf"]
        assert f"written by {stub}" in finding.persisted

    @cases("wait status", (4, "pass"), (3, "warn"))
    def test_how_long_is_too_long(self, judge, wait, status):
        assert judge(node(), max_wait_seconds=wait)["resolv_conf"].status == status


class TestServers:
    def test_a_silent_one(self, judge):
        findings = judge(silent(node(), SERVERS[1], SCAN))
        finding = findings["name_servers"]
        assert finding.why == "192.0.2.54: no answer in 1.5 seconds, queried twice."
        assert (findings["name_servers"].status, findings["scan"].status) == ("fail", "fail")
        assert findings["scan"].because_of == ("name_resolution.name_servers",)

    @cases("code status", (0, "pass"), (3, "pass"), (2, "fail"), (5, "fail"))
    def test_what_it_answers_with(self, judge, code, status):
        findings = judge(says(node(), SERVERS[0], SCAN, [], code))
        assert (findings["name_servers"].status, findings["scan"].status) == (status, "fail")

    def test_one_that_is_not_recorded_is_unknown(self, judge):
        machine = node()
        reading = {"kind": "udp", "error": "unanswered", "message": "Network is unreachable"}
        machine.evidence[f"udp:{SERVERS[1]} {SCAN}"] = reading
        machine.evidence[f"udp:{SERVERS[1]} {SCAN} again"] = reading
        findings = judge(machine)
        assert (findings["name_servers"].status, findings["scan"].status) == ("error", "error")

    def test_where_dns_is_not_asked_no_server_is_judged(self, judge):
        findings = judge(node().file("/etc/nsswitch.conf", "hosts: files\n"))
        assert (findings["name_servers"].status, findings["resolv_conf"].status) == ("skip", "skip")
        assert findings["scan"].status == "fail" and "DNS is not asked" in findings["scan"].why

    def test_where_there_is_nothing_to_ask_them_for_they_are_not_well(self, judge):
        machine = node().deny("/proc/sys/kernel/hostname")
        assert judge(machine, scan_names=[])["name_servers"].status == "error"

    def test_without_a_scan_they_are_asked_for_the_own_name(self, judge):
        machine = node()
        for server in SERVERS:
            says(machine, server, "rac1.example.com", [], 3)
        findings = judge(machine, scan_names=[])
        assert (findings["name_servers"].status, findings["scan"].status) == ("pass", "skip")


class TestScan:
    def test_values_are_compared_in_any_order(self, judge):
        finding = judge(named(node(), SCAN, *reversed(THREE)))["scan"]
        assert finding.status == "pass"
        assert finding.values == {f"addresses of {SCAN}": ", ".join(THREE)}

    @cases("number", 1, 2, 4)
    def test_how_many_addresses(self, judge, number):
        some = [*THREE, "192.0.2.24"][:number]
        machine = named(node(), SCAN, *some)
        for server in SERVERS:
            says(machine, server, SCAN, some)
        finding = judge(machine)["scan"]
        assert (finding.status, f"has {number} of 3 addresses" in finding.why) == ("fail", True)
        assert judge(machine, scan_address_count=number)["scan"].status == "pass"

    def test_etc_hosts_hides_dns(self, judge):
        hosts = f"192.0.2.10 rac1\n192.0.2.21 {SCAN.upper()} # no\n"
        finding = judge(named(node().file("/etc/hosts", hosts), SCAN, THREE[0]))["scan"]
        assert (finding.status, "which hides DNS (/etc/hosts:2)" in finding.why) == ("fail", True)
        assert finding.persisted == "/etc/hosts: 192.0.2.21"

    def test_something_in_between_says_something_else(self, judge):
        finding = judge(named(node(), SCAN, "192.0.2.21", "192.0.2.22"))["scan"]
        assert (finding.status, "resolves other addresses" in finding.why) == ("fail", True)

    def test_addresses_of_ipv6_beside_those_of_the_servers(self, judge):
        both = named(node(), SCAN, "192.0.2.23", "2001:db8::21", *THREE[:2])
        both.command("ip -o addr show", name_packs.ADDRESSES + "2: eth0    inet6 2001:db8::1/64\n")
        assert judge(both)["scan"].status == "pass"

    @cases(
        "addresses code status why",
        (3, 0, "error", "queried for IPv6"),
        (2, 0, "fail", "2 of 3 addresses"),
        (3, 3, "fail", "knows no such name"),
        (3, 2, "fail", "answers with code 2"),
    )
    def test_a_cluster_of_ipv6(self, judge, addresses, code, status, why):
        """Supported since 12.1. Only IPv4 addresses are requested."""
        machine = named(node(), SCAN, *[f"2001:db8::2{n}" for n in range(addresses)])
        for server in SERVERS:
            says(machine, server, SCAN, [], code)
        finding = judge(machine)["scan"]
        assert (finding.status, why in finding.why) == (status, True)
        assert finding.values[f"addresses of {SCAN}"].startswith("2001:db8::20, 2001:db8::21")

    def test_etc_hosts_hides_dns_of_ipv6_too(self, judge):
        machine = named(node(), SCAN, "2001:db8::20", "2001:db8::21", "2001:db8::22")
        machine.file("/etc/hosts", f"192.0.2.10 rac1\n2001:db8::20 {SCAN}\n")
        for server in SERVERS:
            says(machine, server, SCAN, [])
        assert judge(machine)["scan"].status == "fail"

    def test_a_cluster_of_ipv6_by_a_short_name(self, judge):
        resolv = name_packs.RESOLV.replace("example.com", "example.com example.net")
        machine = node().file("/etc/resolv.conf", resolv)
        named(machine, "rac-scan", "2001:db8::20", "2001:db8::21", "2001:db8::22")
        for server in SERVERS:
            says(machine, server, SCAN, [])
            says(machine, server, "rac-scan.example.net", [], 3)
        assert judge(machine, scan_names=["rac-scan"])["scan"].status == "error"

    def test_nobody_here_finds_it(self, judge):
        finding = judge(named(node(), SCAN))["scan"]
        assert (finding.status, "this host does not find it" in finding.why) == ("fail", True)

    def test_of_another_network(self, judge):
        far = ["198.51.100.1", "198.51.100.2", "198.51.100.3"]
        machine = named(node(), SCAN, *far)
        for server in SERVERS:
            says(machine, server, SCAN, far)
        finding = judge(machine)["scan"]
        assert (finding.status, "of no network of this host" in finding.why) == ("warn", True)

    @cases(
        "message",
        b"",
        b"\0" * 12,
        name_packs.reply("other.example.com", THREE),
        name_packs.reply(SCAN, THREE)[:-3],
        b"\xff" * 600,
    )
    def test_what_is_no_answer(self, judge, message):
        assert judge(datagram(node(), SERVERS[0], SCAN, message))["scan"].status == "error"

    def test_a_name_with_an_empty_label(self, judge):
        findings = judge(named(node(), "rac..scan", *THREE), scan_names=["rac..scan"])
        assert (findings["hostname"].status, findings["scan"].status) == ("fail", "error")


class TestCluster:
    def test_who_is_asked_for(self, judge):
        found = {name for name in judge(node()) if name.startswith("rac")}
        assert found == {"rac1", "rac2", "rac1-vip", "rac2-vip", SCAN}

    @cases(
        "addresses why",
        ([], "it does not resolve"),
        (["127.0.0.1"], "it leads to 127.0.0.1"),
        (["192.0.2.20"], "rac2 has the same address"),
    )
    def test_a_vip(self, judge, addresses, why):
        finding = judge(named(node(), "rac2-vip", *addresses))["rac2-vip"]
        assert (finding.status, why in finding.why) == ("fail", True)

    @cases(
        "shared secondary wrong",
        (("rac1", "rac1-vip"), "", "the A record of rac1-vip"),
        (("rac1", "rac2-vip"), "", "the A record of rac2-vip"),
        (("rac1", "rac2"), "", "the A record of rac2 "),
        (("rac1", "rac1-vip"), "192.0.2.11", "the address of rac1 in /etc/hosts (line 2)"),
        (("rac2", "rac2-vip"), "", "find out which of"),
        (("rac1-vip", "rac2-vip"), "", "find out which of"),
    )
    def test_the_record_of_the_name_that_does_not_own_the_address(
        self, judge, shared, secondary, wrong
    ):
        machine = node()
        for name in shared:
            named(machine, name, secondary or "192.0.2.10" if "rac1" in shared else "192.0.2.30")
        if secondary:
            line = f"2: eth0    inet {secondary}/24 scope global secondary eth0:1\\ valid_lft x\n"
            machine.command("ip -o addr show", name_packs.ADDRESSES + line)
        findings = judge(machine)
        for name in shared:
            assert findings[name].status == "fail"
            assert wrong in findings[name].fix, findings[name]

    @cases(
        "address status", ("192.0.2.12", "pass"), ("10.0.0.12", "fail"), ("198.51.100.1", "fail")
    )
    def test_a_vip_is_in_the_subnet_of_the_own_name(self, judge, address, status):
        """10.0.0.0/24 is a subnet of this host, but the private one."""
        lines = name_packs.ADDRESSES + "3: eth1    inet 10.0.0.10/24 scope global eth1\n"
        findings = judge(named(node().command("ip -o addr show", lines), "rac2-vip", address))
        assert findings["rac2-vip"].status == status
        assert ("outside the public subnet 192.0.2.0/24" in (findings["rac2-vip"].why or "")) == (
            status == "fail"
        )

    def test_only_a_vip_has_to_be_in_the_public_subnet(self, judge):
        machine = named(node(), "rac2", "198.51.100.1")
        assert judge(machine)["rac2"].status == "pass"
        machine = named(node(), "rac2-vip", "198.51.100.1")
        finding = judge(machine, cluster_names=["rac2-vip"], scan_names=[])["rac2-vip"]
        assert finding.status == "pass"

    @cases("own", "192.0.2.99", "127.0.0.1")
    def test_a_public_subnet_that_is_unknown(self, judge, own):
        finding = judge(named(node(), "rac1", own))["rac2-vip"]
        assert (finding.status, "public subnet is unknown" in finding.why) == ("error", True)

    @cases(
        "second status problem",
        (("192.0.2.20",), "pass", ""),
        ((), "fail", "192.0.2.54 knows no such name"),
        (("192.0.2.99",), "fail", "the name servers do not say the same"),
    )
    def test_every_name_server_knows_a_node(self, judge, second, status, problem):
        machine = says(node(), SERVERS[0], "rac2.example.com", ["192.0.2.20"])
        says(machine, SERVERS[1], "rac2.example.com", second, 0 if second else 3)
        finding = judge(machine)["rac2"]
        assert (finding.status, problem in (finding.why or "")) == (status, True)
        assert f"udp:{SERVERS[1]} rac2.example.com" in finding.evidence

    def test_a_node_that_is_in_no_dns(self, judge):
        machine = node()
        for server in SERVERS:
            says(machine, server, "rac2.example.com", (), 3)
        assert judge(machine)["rac2"].status == "pass"

    def test_a_silent_server_is_asked_for_no_node(self, judge):
        machine = silent(node(), SERVERS[1], SCAN)
        says(machine, SERVERS[0], "rac2.example.com", ["192.0.2.20"])
        assert judge(machine)["rac2"].status == "pass"
        assert not [key for key in machine.evidence if key.startswith(f"udp:{SERVERS[1]} rac2")]

    def test_an_answer_of_a_server_that_cannot_be_read_is_an_error(self, judge):
        machine = name_packs.datagram(node(), SERVERS[0], "rac2.example.com", b"no DNS")
        assert judge(machine)["rac2"].status == "error"

    def test_one_that_is_unknown_has_no_value(self, judge):
        finding = judge(node().command("getent ahosts rac2", "x", rc=1))["rac2"]
        assert (finding.status, finding.values) == ("error", {"addresses of rac2": None})

    def test_no_cluster(self, judge):
        findings = judge(node().remove("/etc/oracle/olr.loc"))
        assert (findings["cluster_names"].status, findings["hostname"].status) == ("skip", "pass")

    def test_too_many_names(self, judge):
        params = name_packs.PARAMS.replace("rac1,rac2", ",".join(f"n{i}" for i in range(65)))
        machine = node().file(f"{name_packs.GRID}/crs/install/crsconfig_params", params)
        assert judge(machine)["cluster_names"].status == "error"


def test_a_recorded_host_says_the_same():
    machine = node()
    first = name_packs.judged(machine)
    assert name_packs.judged(packs.RecordedHost(machine.evidence)) == first


def with_connections(**refused):
    """What connections to port 1521 of the SCAN gave; all of them opened where nothing is said."""
    machine = node()
    figures = {f"{one} port 1521": refused.get(f"a{one.split('.')[-1]}", "") for one in THREE}
    machine.measured["scan connections"] = {"windows": [], "remarks": [], "figures": figures}
    return machine


class TestScanListeners:
    def test_without_a_port_no_connection_is_opened(self, judge):
        machine = with_connections()
        assert judge(machine)["scan_listeners"].status == "skip"
        assert "windows:scan connections" not in machine.evidence

    def test_all_addresses_accept_one(self, judge):
        finding = judge(with_connections(), scan_port=1521)["scan_listeners"]
        assert (finding.status, finding.in_use) == ("pass", "3 of 3 addresses accept one")

    def test_the_address_without_a_listener_is_named(self, judge):
        machine = with_connections(a22="Connection refused")
        finding = judge(machine, scan_port=1521)["scan_listeners"]
        assert finding.status == "fail"
        assert finding.why == "Port 1521: 192.0.2.22: Connection refused."

    def test_another_port_than_the_recorded_one_is_an_error(self, judge):
        assert judge(with_connections(), scan_port=1522)["scan_listeners"].status == "error"

    def test_a_scan_that_does_not_resolve_is_an_error(self, judge):
        machine = named(with_connections(), SCAN)
        assert judge(machine, scan_port=1521)["scan_listeners"].status == "error"

    def test_sockets_of_this_host(self):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            assert tcp_connections.connect_to(LiveHost(), ["127.0.0.1"], port) == {"127.0.0.1": ""}
        closed = tcp_connections.connect_to(LiveHost(), ["127.0.0.1"], port)
        assert closed == {"127.0.0.1": "Connection refused"}
