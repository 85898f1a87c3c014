"""Packet filter rules and port conflicts, as they are judged."""

import json
import os
import shutil
import subprocess

import firewall_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.firewall.control import CONTROL as firewall
from ansible.module_utils.hostproof.controls.firewall.parsers import (
    firewalld_zone,
    iptables_save,
    nft_json,
    nft_text,
    packets,
    sockets,
)
from ansible.module_utils.hostproof.errors import ParseError, PolicyError
from default_policies import changed_policy
from firewall_packs import LISTENER, NO_RULES, NO_SOCKETS, fixture, host, save, with_firewalld

SINGLE, RAC = "oracle_19c_single", "oracle_19c_rac"
SHARED = packs.ROOT.parent / "shared/data/preinstall/07-firewall"


@pytest.fixture
def judge(validate_finding):
    def judge_host(machine, profile=SINGLE, **changes):
        """Findings by check and port."""
        findings = firewall_packs.judged(machine, profile=profile, **changes)
        for finding in findings:
            validate_finding(finding.as_dict())
        names = [finding.title.rpartition(": ")[0].rpartition(" ")[2] for finding in findings]
        return {
            (finding.check[len("firewall.") :], name): finding
            for finding, name in zip(findings, names, strict=True)
        }

    return judge_host


def state(tables, port, protocol="tcp", direction="in"):
    return packets.reach(tables, protocol, port, direction).state


def text_rules(*rules, policy="accept", hook="input"):
    body = "\n".join(rules)
    return nft_text.parse(
        f"table inet filter {{\n chain input {{\n type filter hook {hook} priority filter; policy "
        f"{policy};\n{body}\n }}\n chain other {{ accept; }}\n}}\n"
    )


class TestPackets:
    @pytest.mark.parametrize(
        ("rules", "policy", "expected"),
        [
            ([], "accept", "open"),
            ([], "drop", "blocked"),
            (["tcp dport 1521 drop"], "accept", "blocked"),
            (["tcp dport 1500-1600 accept"], "drop", "open"),
            (["tcp dport { 22, 1521 } accept"], "drop", "open"),
            (["tcp dport 1520 accept"], "drop", "blocked"),
            (["udp dport 1521 accept"], "drop", "blocked"),
            (["th dport 1521 accept"], "drop", "open"),
            (["meta l4proto tcp accept"], "drop", "open"),
            (["ip protocol udp accept"], "drop", "blocked"),
            (["ct state established,related accept"], "drop", "blocked"),
            (["ct state { new, established } accept"], "drop", "open"),
            (["ct state vmap { established : accept, invalid : drop }"], "accept", "open"),
            # As firewalld has it in filter_INPUT.
            (["ct status dnat accept"], "drop", "blocked"),
            (["iif lo accept"], "drop", "blocked"),
            (["iifname != lo tcp dport 1521 drop"], "accept", "blocked"),
            (['iifname "eth0" tcp dport 1521 accept'], "drop", "partly"),
            (["ip saddr 10.0.0.0/8 accept"], "drop", "partly"),
            (["ip saddr 127.0.0.0/8 accept"], "drop", "blocked"),
            (["ip saddr @clients tcp dport 1521 accept"], "drop", "partly"),
            (["ip6 saddr ::1 accept"], "drop", "blocked"),
            (["ip saddr 10.0.0.1 drop", "reject with tcp reset"], "accept", "blocked"),
            (["jump other"], "drop", "open"),
            (["goto other"], "drop", "open"),
            (["tcp dport 1521 return", "drop"], "accept", "open"),
            (['tcp dport 1521 counter log prefix "a drop" level info drop'], "accept", "blocked"),
            (["tcp dport 1521 # drop", "accept"], "drop", "open"),
            (['osf name "Linux" tcp dport 1521 drop'], "accept", "unclear"),
            (['osf name "Linux" tcp dport 1521 drop', "drop"], "accept", "blocked"),
            (["tcp dport @ports drop"], "accept", "unclear"),
            (["tcp dport vmap { 1521 : jump other }"], "drop", "unclear"),
            (["jump absent"], "drop", "unclear"),
            (['log prefix "in: " jump other'], "drop", "open"),
            (['ct state new log prefix "x" tcp dport 22 accept'], "drop", "blocked"),
            (["log flags tcp options tcp dport 22 accept"], "drop", "blocked"),
            (["tcp dport 1521 queue num 0"], "accept", "unclear"),
        ],
    )
    def test_a_new_connection_to_the_listener(self, rules, policy, expected):
        assert state(text_rules(*rules, policy=policy), 1521) == expected

    def test_hooks(self):
        out = text_rules("tcp dport 2049 drop", hook="output")
        assert state(out, 2049) == "open"
        assert state(out, 2049, direction="out") == "blocked"
        assert state(text_rules("drop", hook="forward"), 1521) == "open"
        raw = text_rules("tcp dport 1521 drop", hook="prerouting")
        assert state(raw, 1521) == "blocked"

    def test_a_chain_of_a_device(self):
        text = (
            "table netdev x { chain y { type filter hook ingress device eth0 priority 0;"
            " policy accept; tcp dport 1521 drop; } }\n"
        )
        assert state(nft_text.parse(text), 1521) == "partly"
        assert state(text_rules("tcp dport 1521 drop", hook="ingress"), 1521) == "partly"

    def test_every_base_chain_counts(self):
        tables = {**text_rules(), ("ip", "raw"): text_rules(policy="drop")["inet", "filter"]}
        assert state(tables, 1521) == "blocked"

    @pytest.mark.parametrize(
        ("name", "states"),
        [
            ("two-families.nft", {1521: "open", 22: "open", 1522: "blocked"}),
            # define, and a verdict map of the protocol, in files of public servers.
            ("verdict-maps.nft", {1521: "open", 1522: "blocked"}),
            ("defined-lists.nft", {1521: "unclear"}),
            ("debian-12-nftables.conf", {1521: "open"}),
        ],
    )
    def test_files_of_public_hosts(self, name, states):
        tables = nft_text.parse(fixture(name))
        assert {port: state(tables, port) for port in states} == states

    def test_define(self):
        text = "define ports = { 1521, # listener\n 6200, }\ndefine all = { $ports, 22 }\n"
        chain = "type filter hook input priority 0; policy drop; tcp dport $all accept"
        tables = nft_text.parse(f"{text}table inet f {{ chain c {{ {chain} }} }}\n")
        states = {port: state(tables, port) for port in (22, 1521, 6200, 80)}
        assert states == {22: "open", 1521: "open", 6200: "open", 80: "blocked"}

    def test_a_value_of_define_does_not_grow_without_end(self):
        lines = ["define a0 = { 1, 2 }"]
        lines += [f"define a{n} = {{ $a{n - 1}, $a{n - 1} }}" for n in range(1, 60)]
        with pytest.raises(ParseError, match="more than"):
            nft_text.parse("\n".join(lines))

    def test_a_verdict_map_that_is_not_read_can_drop(self):
        assert state(text_rules("meta mark vmap { 1 : drop }"), 1521) == "unclear"

    def test_a_loop_of_jumps_ends(self):
        tables = nft_text.parse(
            "table ip t {\nchain a {\ntype filter hook input priority 0\njump b\n}\n"
            "chain b {\njump a\n}\n}\n"
        )
        assert state(tables, 1521) == "unclear"

    @pytest.mark.parametrize(
        ("rules", "limits"),
        [
            (["tcp dport 1521 limit rate 10/second burst 5 packets accept", "drop"], 1),
            (["tcp dport 1521 limit rate over 10/second drop"], 1),
            (["limit rate 10/second log", "tcp dport 1521 accept"], 0),
            (["tcp dport 22 limit rate over 10/second drop"], 0),
            (["tcp dport 1521 limit rate 10/second accept", "accept"], 0),
        ],
    )
    def test_limits(self, rules, limits):
        reach = packets.reach(text_rules(*rules), "tcp", 1521, "in")
        assert reach.state == "open"
        assert len(reach.limits) == limits


class TestFormats:
    def test_nft_in_text_and_in_json_are_the_same(self):
        of_text, (of_json, foreign) = (
            nft_text.parse(fixture("limited.nft")),
            nft_json.parse(fixture("limited.json")),
        )
        assert not foreign
        for port in (22, 1521, 1525, 6200, 5000):
            for protocol in ("tcp", "udp"):
                expected = packets.reach(of_json, protocol, port, "in")
                reach = packets.reach(of_text, protocol, port, "in")
                assert (reach.state, len(reach.limits)) == (expected.state, len(expected.limits))
        assert state(of_json, 1521) == "blocked"
        assert packets.reach(of_json, "tcp", 1525, "in").limits == ("limit rate 10/second",)

    def test_iptables_nft_shows_its_hashlimit_only_in_iptables_save(self):
        assert nft_json.parse(fixture("hashlimit.json"))[1]
        saved = iptables_save.parse(fixture("hashlimit.save"))
        reach = packets.reach(saved, "tcp", 1521, "in")
        assert reach == packets.Reach("open", ("hashlimit-above 10/sec",))
        assert state(saved, 1524) == "blocked"

    def test_recorded_rules_of_insights(self):
        tables, _foreign = nft_json.parse(fixture("insights-svc.json"))
        # A verdict map of one chain has its elements elsewhere; the other chain rejects the rest.
        assert state(tables, 443) == "unclear"
        assert state(tables, 1521) == "blocked"
        saved = iptables_save.parse(fixture("insights-iptables.save"))
        assert (state(saved, 22), state(saved, 1521)) == ("open", "partly")

    @pytest.mark.parametrize(
        ("rule", "expected"),
        [
            ("-A INPUT -p tcp --dport 1521 -j DROP", "blocked"),
            ("-A INPUT ! -i lo -p tcp -j REJECT --reject-with tcp-reset", "blocked"),
            ("-A INPUT ! -s 10.0.0.0/8 -j DROP", "partly"),
            ("[12:640] -A INPUT -p tcp -m multiport --dports 80,1521:1530 -j DROP", "blocked"),
            ("-A INPUT -p tcp --syn -j DROP", "blocked"),
            ("-A INPUT -p tcp ! --syn -j DROP", "open"),
            ("-A INPUT -p tcp --tcp-flags FIN,SYN,RST,ACK SYN -j DROP", "blocked"),
            ("-A INPUT -p icmp -m icmp --icmp-type 8 -j DROP", "open"),
            ('-A INPUT -m comment --comment "no -j DROP" -j ACCEPT', "open"),
            ("-A INPUT -m recent --update --seconds 60 --name x -j DROP", "unclear"),
            (
                "-A INPUT -p tcp -m tcp --dport 1521 -m connlimit --connlimit-above 9 -j DROP",
                "open",
            ),
            ("-A INPUT -j LOG --log-prefix DROP", "open"),
            ("-A INPUT -j nowhere", "unclear"),
            # As a person writes it, and not iptables-save.
            ("-A INPUT -p 6 --dport 1521 -j DROP", "blocked"),
            ("-A INPUT -p TCP --dport 1521 -j DROP", "blocked"),
            ("-A INPUT -p 0 -j DROP", "blocked"),
            ("-A INPUT -p tcp --dport=1521 --jump DROP", "blocked"),
            ("-A INPUT --protocol tcp --in-interface eth0 --dport 1521 -j DROP", "partly"),
            ("-A INPUT --in-interface lo --jump DROP", "open"),
            ("-A INPUT -j DROP -p tcp --dport 22", "open"),
            ("-A INPUT -j REJECT --reject-with tcp-reset -p tcp --dport 1521", "blocked"),
            ("-A INPUT -p tcp --dport 1500: -j DROP", "blocked"),
            ("-A INPUT -p tcp --dport :1520 -j DROP", "open"),
            ("-A INPUT -p tcp -m multiport --dports 22,1500: -j DROP", "blocked"),
            ("-A INPUT -p tcp --dport : -j DROP", "unclear"),
            ("-A INPUT -s 0/0 -j DROP", "blocked"),
            ("-A INPUT ! -s 0.0.0.0/0.0.0.0 -j DROP", "open"),
            ("-A INPUT -p tcp --sport 1024:65535 --dport 1521 -j DROP", "blocked"),
            ("-A INPUT -p tcp --sport 1:1023 --dport 1521 -j DROP", "unclear"),
        ],
    )
    def test_iptables_save(self, rule, expected):
        text = f"*filter\n:INPUT ACCEPT [0:0]\n{rule}\nCOMMIT\n"
        assert state(iptables_save.parse(text), 1521) == expected

    @pytest.mark.parametrize("test", ["ip protocol 6", "meta l4proto 6 th dport 1521"])
    def test_a_protocol_by_its_number(self, test):
        assert state(text_rules(f"{test} drop"), 1521) == "blocked"

    def test_a_built_in_chain_needs_no_head(self):
        text = "*filter\n-A INPUT -p tcp --dport 1521 -j DROP\nCOMMIT\n"
        assert state(iptables_save.parse(text), 1521) == "blocked"

    @pytest.mark.parametrize("expression", [{"queue": {"num": 0}}, {"quota": {"val": 1}}])
    def test_json_without_a_certain_verdict(self, expression):
        match = {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}}
        port = {"match": {**match, "right": 1521}}
        chain = {"family": "ip", "table": "t", "name": "c", "hook": "input", "type": "filter"}
        rule = {"family": "ip", "table": "t", "chain": "c"}
        rules = [
            {
                "chain": {
                    **chain,
                    "prio": 0,
                    "policy": "drop" if "quota" in expression else "accept",
                }
            },
            {"rule": {**rule, "expr": [port, expression, {"accept": None}]}},
        ]
        tables, _has_other = nft_json.parse(json.dumps({"nftables": rules}))
        assert state(tables, 1521) in ("unclear", "partly")

    def test_the_status_of_a_connection_in_json(self):
        of_firewalld = {"op": "in", "left": {"ct": {"key": "status"}}, "right": "dnat"}
        place = {"family": "inet", "table": "firewalld"}
        chain = {**place, "name": "filter_INPUT", "hook": "input", "type": "filter"}
        expressions = [
            [{"match": of_firewalld}, {"accept": None}],
            [{"reject": {"type": "icmpx", "expr": "admin-prohibited"}}],
        ]
        rules = [
            {"rule": {**place, "chain": "filter_INPUT", "expr": words}} for words in expressions
        ]
        tables, _foreign = nft_json.parse(json.dumps({"nftables": [{"chain": chain}, *rules]}))
        assert state(tables, 1521) == "blocked"

    @pytest.mark.parametrize(
        ("parse", "text"),
        [
            (nft_text.parse, 2 * "table inet f { chain input { tcp dport 80 accept; }\n}\n"),
            (iptables_save.parse, "*filter\n:INPUT ACCEPT [0:0]\n"),
            (iptables_save.parse, "*filter\nnonsense\nCOMMIT\n"),
            (iptables_save.parse, '*filter\n-A INPUT --comment "x\nCOMMIT\n'),
            (nft_json.parse, "[]"),
            (nft_json.parse, '{"nftables": [{"rule": {"family": "ip"}}]}'),
            (nft_json.parse, "[" * 100000),
            (nft_text.parse, 'include "/etc/nftables/*.nft"\n'),
            (nft_text.parse, "table inet filter {\n"),
            (nft_text.parse, "table inet filter { what }\n"),
            (sockets.parse, "nothing"),
            (sockets.parse, NO_SOCKETS + "tcp LISTEN\n"),
            (firewalld_zone.parse_zone, "<zone>"),
            (firewalld_zone.parse_zone, "<service/>"),
            (firewalld_zone.parse_zone, '<!DOCTYPE zone [<!ENTITY a "b">]><zone/>'),
            (firewalld_zone.parse_zone, '<zone><port port="x" protocol="tcp"/></zone>'),
            (firewalld_zone.parse_zone, "<zone>" + "<a>" * 70 + "</a>" * 70 + "</zone>"),
        ],
    )
    def test_what_cannot_be_read(self, parse, text):
        with pytest.raises(ParseError):
            parse(text)


class TestWhereItCounts:
    def test_no_listener_and_no_profile(self, judge):
        assert {finding.status for finding in judge(host(), "none").values()} == {"skip"}

    def test_not_a_linux_host(self, judge):
        assert {finding.status for finding in judge(packs.Machine()).values()} == {"skip"}

    def test_a_recording_of_before(self, judge):
        """Without a profile or ports of the policy; with one, the rules are missing."""
        machine = host(sockets=LISTENER)
        firewall.read(machine, firewall.policy_from(changed_policy("firewall")))
        old = {key: value for key, value in machine.evidence.items() if "nft" not in key}
        findings = list(judge(RecordedHost(old), "none").values())
        assert {finding.status for finding in findings} == {"skip"}
        assert "not recorded by an unknown release" in findings[0].why
        assert "error" in {finding.status for finding in judge(RecordedHost(old)).values()}

    def test_a_listener_that_runs(self, judge):
        line = 'tcp LISTEN 0 8 0.0.0.0:1599 0.0.0.0:* users:(("tnslsnr",pid=1,fd=3))\n'
        findings = judge(host(sockets=NO_SOCKETS + line), "none")
        assert findings["ports", "1599/tcp"].status == "pass"
        findings = judge(
            host(sockets=NO_SOCKETS + line.replace("0.0.0.0:1", "127.0.0.1:1")), "none"
        )
        assert {finding.status for finding in findings.values()} == {"skip"}

    def test_sockets_that_are_not_known(self, judge):
        machine = host()
        machine.command("ss -lntup", "", rc=1)
        assert "error" in {finding.status for finding in judge(machine, "none").values()}
        assert judge(machine)["ports", "1521/tcp"].status == "pass"

    def test_profiles(self, judge):
        ports = {port for check, port in judge(host(), "rac_nfs") if check == "ports"}
        assert ports == {"1521/tcp", "6200/tcp", "42424/udp", "1525/tcp", "2049/tcp"}
        own = [{"name": "agent", "port": 3872}]
        ports = {port for check, port in judge(host(), ports=own) if check == "ports"}
        assert ports == {"3872/tcp"}

    def test_the_policy_is_bounded(self):
        with pytest.raises(PolicyError):
            firewall_packs.judged(host(), ports=[{"name": "x\n", "port": 70000}], profile="no")
        assert changed_policy("firewall")["ports"] == "auto"


class TestPorts:
    def test_no_rules_at_all(self, judge):
        findings = judge(host())
        assert findings["ports", "1521/tcp"].status == "pass"
        assert findings["rate_limit", "1521/tcp"].status == "pass"

    def test_rules_that_drop_now(self, judge):
        finding = judge(host(fixture("limited.json")))["ports", "1521/tcp"]
        assert (finding.status, finding.running) == ("fail", "dropped or rejected")
        assert finding.persisted == "accepted"

    def test_rules_that_drop_after_a_reboot(self, judge):
        machine = host(enabled="nftables").file(
            "/etc/sysconfig/nftables.conf", fixture("limited.nft")
        )
        finding = judge(machine)["ports", "1521/tcp"]
        assert (finding.status, finding.running) == ("fail", "accepted")
        assert (finding.persisted, finding.failing_layer) == ("dropped or rejected", "persisted")

    def test_a_unit_that_only_this_boot_starts_loads_nothing_after_a_reboot(self, judge):
        machine = host(enabled="nftables").file(
            "/etc/sysconfig/nftables.conf", fixture("limited.nft")
        )
        for line, output in list(machine.commands.items()):
            machine.command(line, output.stdout.replace("=enabled", "=enabled-runtime"))
        finding = judge(machine)["ports", "1521/tcp"]
        assert (finding.status, finding.persisted) == ("pass", "accepted")

    def test_firewalld(self, judge):
        machine = with_firewalld(host(enabled="firewalld"), fixture("public.xml"))
        findings = judge(machine, RAC)
        statuses = {
            port: finding.status for (check, port), finding in findings.items() if check == "ports"
        }
        assert statuses["1521/tcp"] == "pass"
        assert (statuses["6200/tcp"], statuses["42424/udp"]) == ("warn", "fail")
        limit = findings["rate_limit", "1525/tcp"]
        assert (limit.status, limit.persisted) == ("warn", "limit 10/m")

    @pytest.mark.parametrize(
        ("rule", "status"),
        [
            ('family="ipv6"><port port="1521" protocol="tcp"/><accept/>', "fail"),
            ('family="ipv6"><source address="fd00::/8"/><accept/>', "fail"),
            ('family="ipv4"><port port="1521" protocol="tcp"/><accept/>', "pass"),
            ('><source address="10.0.0.0/8"/><accept/>', "warn"),
            ('><source address="10.0.0.0/8"/><protocol value="vrrp"/><accept/>', "fail"),
            ('><protocol value="vrrp"/><accept/>', "fail"),
            ('><source address="10.0.0.0/8"/><icmp-type name="echo-request"/><accept/>', "fail"),
            ('><source address="10.0.0.0/8"/><protocol value="tcp"/><accept/>', "error"),
            ('><source ipset="a"/><source-port port="53" protocol="tcp"/><accept/>', "error"),
        ],
    )
    def test_a_rich_rule_for_other_packets_opens_nothing(self, judge, rule, status):
        machine = with_firewalld(host(enabled="firewalld"), f"<zone><rule {rule}</rule></zone>")
        assert judge(machine)["ports", "1521/tcp"].status == status

    def test_a_rich_rule_for_ipv6_closes_nothing(self, judge):
        rule = '<rule family="ipv6"><port port="1521" protocol="tcp"/><drop/></rule>'
        zone = f'<zone><port port="1521" protocol="tcp"/>{rule}</zone>'
        machine = with_firewalld(host(enabled="firewalld"), zone)
        assert judge(machine)["ports", "1521/tcp"].status == "pass"

    @pytest.mark.parametrize(
        ("rules", "status"),
        [
            # Without a priority denials come first, and the ports of a zone have none.
            ("<rule>{}<accept/></rule><rule>{}<drop/></rule>", "fail"),
            ('<rule priority="-1">{}<accept/></rule><rule>{}<drop/></rule>', "pass"),
            ('<rule priority="1">{}<drop/></rule><rule>{}<accept/></rule>', "pass"),
            ('<rule priority="1">{}<accept/></rule><rule>{}<drop/></rule>', "fail"),
            ('<rule priority="1">{}<accept/></rule><rule priority="2">{}<drop/></rule>', "pass"),
            ('<rule priority="2">{}<accept/></rule><rule priority="1">{}<drop/></rule>', "fail"),
            ('<rule priority="-9">{}<drop/></rule><rule priority="-10">{}<accept/></rule>', "pass"),
            ('<rule priority="7">{}<accept/></rule><rule priority="7">{}<drop/></rule>', "fail"),
            ('{}<rule priority="5">{}<drop/></rule>', "pass"),
            ('{}<rule priority="-5">{}<drop/></rule>', "fail"),
            ('<rule priority="x">{}<accept/></rule>', "error"),
        ],
    )
    def test_the_priority_of_a_rich_rule(self, judge, rules, status):
        """firewalld.richlanguage(5), and the action among equal ones."""
        zone = "<zone>" + rules.replace("{}", '<port port="1521" protocol="tcp"/>') + "</zone>"
        machine = with_firewalld(host(enabled="firewalld"), zone)
        assert judge(machine)["ports", "1521/tcp"].status == status

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("direct.xml", '<direct><rule ipv="ipv4">-p tcp -j DROP</rule></direct>'),
            ("policies/in.xml", '<policy target="DROP"><egress-zone name="HOST"/></policy>'),
        ],
    )
    def test_direct_rules_and_policies_are_not_read(self, judge, path, text):
        machine = with_firewalld(host(enabled="firewalld"), fixture("public.xml"))
        machine.file(f"/etc/firewalld/{path}", text)
        assert judge(machine)["ports", "1521/tcp"].status == "error"

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            ("/etc/NetworkManager/system-connections/eth1.nmconnection", "zone=private"),
            ("/etc/sysconfig/network-scripts/ifcfg-eth1", 'ZONE="private"'),
        ],
    )
    def test_a_zone_of_a_connection(self, judge, path, line):
        def machine():
            made = with_firewalld(host(enabled="firewalld"), fixture("public.xml"))
            return made.file("/etc/firewalld/zones/private.xml", '<zone target="DROP"/>')

        assert judge(machine())["ports", "1521/tcp"].status == "pass"
        text = f"[connection]\n{line}\n"
        finding = judge(machine().file(path, text))["ports", "1521/tcp"]
        assert finding.persisted == "accepted for some sources or interfaces"
        closed = machine().file(path, text).deny(path)
        assert judge(closed)["ports", "1521/tcp"].status == "error"

    @pytest.mark.parametrize(("zone", "status"), [("trusted", "warn"), ("../../x", "error")])
    def test_a_connection_of_a_zone_that_firewalld_ships(self, judge, zone, status):
        machine = with_firewalld(host(enabled="firewalld"), '<zone target="DROP"/>')
        machine.file("/usr/lib/firewalld/zones/trusted.xml", '<zone target="ACCEPT"/>')
        path = "/etc/NetworkManager/system-connections/a.nmconnection"
        machine.file(path, f"zone={zone}\n")
        assert judge(machine)["ports", "1521/tcp"].status == status

    def test_a_second_zone_with_interfaces(self, judge):
        machine = with_firewalld(host(enabled="firewalld"), fixture("public.xml"))
        zone = '<zone target="DROP"><interface name="eth1"/></zone>'
        machine.file("/etc/firewalld/zones/private.xml", zone)
        assert judge(machine)["ports", "1521/tcp"].status == "warn"

    def test_files_that_cannot_be_read(self, judge):
        machine = host(enabled="nftables").file("/etc/nftables.conf", 'include "/etc/x.nft"\n')
        assert judge(machine)["ports", "1521/tcp"].status == "error"
        machine = host(fixture("limited.json"), enabled="iptables")
        finding = judge(machine)["ports", "1521/tcp"]
        # What drops the port now is wrong, whatever the files hold.
        assert finding.status == "fail"
        assert "/etc/sysconfig/iptables" in finding.why

    def test_a_condition_that_is_not_read(self, judge):
        expr = [{"match": {"op": "==", "left": {"osf": {"key": "name"}}, "right": "Linux"}}]
        rule = {"family": "ip", "table": "t", "chain": "c", "expr": [*expr, {"drop": None}]}
        chain = {"family": "ip", "table": "t", "name": "c", "hook": "input", "type": "filter"}
        rules = json.dumps({"nftables": [{"chain": {**chain, "policy": "accept"}}, {"rule": rule}]})
        findings = judge(host(rules))
        assert findings["ports", "1521/tcp"].status == "error"
        assert findings["rate_limit", "1521/tcp"].status == "error"

    def test_without_root(self, judge):
        machine = host()
        machine.command("nft -j list ruleset", "", rc=1)
        assert judge(machine)["ports", "1521/tcp"].status == "error"

    def test_without_nft(self, judge):
        machine = host()
        machine.commands.pop("nft -j list ruleset")
        assert judge(machine)["ports", "1521/tcp"].status == "pass"
        machine = save(host(), fixture("hashlimit.save"))
        machine.commands.pop("nft -j list ruleset")
        assert judge(machine)["rate_limit", "1521/tcp"].status == "warn"
        # Rules may be there, and no program can list them.
        machine = host().folder("/sys/module/nf_tables")
        machine.commands.pop("nft -j list ruleset")
        assert judge(machine)["ports", "1521/tcp"].status == "error"

    def test_legacy_tables_that_nft_does_not_list(self, judge):
        machine = host().file("/proc/net/ip_tables_names", "filter\n")
        text = "*filter\n:INPUT DROP [0:0]\nCOMMIT\n"
        assert judge(machine)["ports", "1521/tcp"].status == "error"
        machine = host().file("/proc/net/ip_tables_names", "filter\n")
        machine.command("iptables-legacy-save", text)
        assert judge(machine)["ports", "1521/tcp"].status == "fail"


class TestRateLimit:
    def test_hashlimit_on_the_listener(self, judge):
        """Seed article 000: connections above a rate are dropped, and nothing logs it."""
        machine = save(host(fixture("hashlimit.json")), fixture("hashlimit.save"))
        findings = judge(machine)
        assert findings["ports", "1521/tcp"].status == "pass"
        limit = findings["rate_limit", "1521/tcp"]
        assert (limit.status, limit.running) == ("warn", "hashlimit-above 10/sec")

    def test_a_blocked_port_has_no_limit(self, judge):
        machine = host(fixture("limited.json"), enabled="nftables")
        machine.file("/etc/nftables.conf", fixture("limited.nft"))
        assert judge(machine)["rate_limit", "1521/tcp"].status == "skip"


class TestPortConflict:
    def test_of_a_cluster(self, judge):
        findings = judge(host(sockets=fixture("ss.txt")), RAC)
        statuses = {
            port: finding for (check, port), finding in findings.items() if check == "port_conflict"
        }
        assert {port for port, finding in statuses.items() if finding.status == "fail"} == {
            "5353/udp"
        }
        assert statuses["5353/udp"].running == "avahi-daemon"
        assert statuses["42424/udp"].running == "octssd.bin"
        assert statuses["42424/tcp"].running == "free"

    @pytest.mark.parametrize(("program", "status"), [("chronyd", "pass"), ("node", "fail")])
    def test_the_port_of_ntp_is_that_of_the_time_daemon(self, judge, program, status):
        line = f'udp UNCONN 0 0 0.0.0.0:123 0.0.0.0:* users:(("{program}",pid=7,fd=5))\n'
        finding = judge(host(sockets=NO_SOCKETS + line))["port_conflict", "123/udp"]
        assert (finding.status, finding.running) == (status, program)

    def test_of_a_single_instance(self, judge):
        line = 'tcp LISTEN 0 8 *:1521 *:* users:(("python3",pid=1,fd=3))\n'
        findings = judge(host(sockets=NO_SOCKETS + line))
        assert findings["port_conflict", "1521/tcp"].status == "fail"
        assert len([1 for check, _port in findings if check == "port_conflict"]) == 2

    def test_a_program_that_only_root_sees(self, judge):
        line = "tcp LISTEN 0 8 *:1521 *:*\n"
        assert judge(host(sockets=NO_SOCKETS + line))["port_conflict", "1521/tcp"].status == "error"


@pytest.mark.skipif(not SHARED.exists(), reason="../shared is not here")
@pytest.mark.parametrize("name", ["block", "drop", "public", "trusted", "home"])
def test_zones_as_firewalld_ships_them(judge, name):
    machine = with_firewalld(host(enabled="firewalld"), "")
    machine.file(
        "/etc/firewalld/zones/public.xml", (SHARED / f"firewalld/zones/{name}.xml").read_text()
    )
    for service in ("mdns", "samba-client"):
        machine.file(f"/usr/lib/firewalld/services/{service}.xml", "<service/>")
    finding = judge(machine)["ports", "1521/tcp"]
    assert finding.status == ("pass" if name == "trusted" else "fail")


def _in_namespace(script: str) -> str:
    """The standard output of a script in a network namespace of its own; skips visibly."""
    if shutil.which("nft") is None or os.getuid() != 0:
        pytest.skip("nft and root are needed for real rules in a network namespace")
    ran = subprocess.run(
        ["unshare", "--net", "sh", "-ec", script], capture_output=True, text=True, timeout=60
    )
    if ran.returncode != 0:
        pytest.skip(f"no network namespace with nft rules: {ran.stderr.strip()[:200]}")
    return ran.stdout


class TestRealRules:
    """nft of this machine in a network namespace: files and kernel differ."""

    def test_dropped_in_the_kernel_and_not_in_the_files(self, judge, tmp_path):
        rules = tmp_path / "rules.nft"
        rules.write_text(fixture("limited.nft"))
        listed = _in_namespace(f"nft -f {rules}; nft -j list ruleset")
        machine = host(listed, enabled="nftables")
        machine.file("/etc/nftables.conf", "flush ruleset\ntable inet filter {\n}\n")
        finding = judge(machine)["ports", "1521/tcp"]
        assert (finding.status, finding.running, finding.persisted) == (
            *("fail", "dropped or rejected"),
            "accepted",
        )

    def test_dropped_in_the_files_and_not_in_the_kernel(self, judge):
        listed = _in_namespace("nft -j list ruleset")
        machine = host(listed, enabled="nftables").file(
            "/etc/nftables.conf", fixture("limited.nft")
        )
        finding = judge(machine)["ports", "1521/tcp"]
        assert (finding.status, finding.running, finding.persisted) == (
            *("fail", "accepted"),
            "dropped or rejected",
        )

    def test_the_kernel_agrees(self):
        """A connection succeeds or not as the control says of each port."""
        script = (
            "ip link set lo up; nft add table ip t; "
            "nft 'add chain ip t out { type filter hook output priority 0; policy accept; }'; "
            "nft 'add rule ip t out tcp dport { 1520-1522 } reject with tcp reset'; "
            'python3 -c \'import socket; l = socket.create_server(("127.0.0.1", 1525)); '
            'print([socket.socket().connect_ex(("127.0.0.1", p)) for p in (1521, 1525)])\'; '
            "nft -j list ruleset"
        )
        connected, _line, listed = _in_namespace(script).partition("\n")
        tables, _foreign = nft_json.parse(listed)
        assert [state(tables, port, direction="out") for port in (1521, 1525)] == [
            *("blocked", "open"),
        ]
        assert connected == "[111, 0]"

    def test_no_rules_is_the_same_everywhere(self):
        assert nft_json.parse(_in_namespace("nft -j list ruleset")) == nft_json.parse(NO_RULES)
