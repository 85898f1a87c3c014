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
from cases import cases
from default_policies import changed_policy
from firewall_packs import (
    ADDRESSES,
    LISTENER,
    NO_RULES,
    NO_SOCKETS,
    fixture,
    host,
    node,
    save,
    with_firewalld,
)

#: Direct rules and policies of firewalld.
DIRECT = '<direct><rule ipv="ipv4" table="filter" chain="{0}" priority="0">{1}</rule></direct>'
POLICY = '<policy{0}><ingress-zone name="{1}"/><egress-zone name="{2}"/>{3}</policy>'
DROPS = '<rule><port port="1521" protocol="tcp"/><drop/></rule>'
NAT, MANGLE = (DIRECT.replace("filter", table) for table in ("nat", "mangle"))
RC, OF = "/etc/rc.d/rc.local", "systemd/system"
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
    return packets.reach(tables, packets.Packet(protocol, port, direction)).state


def text_rules(*rules, policy="accept", hook="input"):
    body = "\n".join(rules)
    return nft_text.parse(
        f"table inet filter {{\n chain input {{\n type filter hook {hook} priority filter; policy "
        f"{policy};\n{body}\n }}\n chain other {{ accept; }}\n}}\n"
    )


class TestPackets:
    @cases(
        "rules policy expected",
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
        (["tcp dport vmap { 1521 : jump other }"], "drop", "open"),
        (["jump absent"], "drop", "unclear"),
        (['log prefix "in: " jump other'], "drop", "open"),
        (['ct state new log prefix "x" tcp dport 22 accept'], "drop", "blocked"),
        (["log flags tcp options tcp dport 22 accept"], "drop", "blocked"),
        (["tcp dport 1521 queue num 0"], "accept", "unclear"),
        (["tcp flags & (fin | syn | rst | ack) == syn tcp dport 22 accept"], "drop", "blocked"),
        (["tcp flags syn / fin,syn,rst,ack tcp dport 1521 drop"], "accept", "blocked"),
        (["tcp dport { ssh, ncube-lm } accept"], "accept", "open"),
        (["tcp dport ssh accept"], "drop", "blocked"),
        # Hardening that does not concern the first packet.
        (["ip frag-off & 0x1fff != 0 drop"], "accept", "open"),
        (["tcp flags & (fin|syn) == (fin|syn) drop"], "accept", "open"),
        (["tcp flags != syn ct state new drop"], "accept", "open"),
        (["ct direction original drop"], "accept", "unclear"),
    )
    def test_a_new_connection_to_the_listener(self, rules, policy, expected):
        assert state(text_rules(*rules, policy=policy), 1521) == expected

    def test_hooks(self):
        out = text_rules("tcp dport 2049 drop", hook="output")
        assert state(out, 2049) == "open" and state(out, 2049, direction="out") == "blocked"
        assert state(text_rules("drop", hook="forward"), 1521) == "open"
        assert state(text_rules("tcp dport 1521 drop", hook="prerouting"), 1521) == "blocked"

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

    @cases(
        "name states",
        ("two-families.nft", {1521: "open", 22: "open", 1522: "blocked"}),
        # define, and a verdict map of the protocol, in files of public servers.
        ("verdict-maps.nft", {1521: "open", 1522: "blocked"}),
        ("defined-lists.nft", {1521: "partly"}),
        ("debian-12-nftables.conf", {1521: "open"}),
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

    @cases(
        "chains expected",
        ({"b": ["jump a"]}, "unclear"),
        ({"b": [f"ip saddr 10.{n}.0.0/16 jump b" for n in range(40)]}, "unclear"),
        ({name: [f"jump {name}x"] * 9 for name in ("b" + "x" * n for n in range(20))}, "open"),
    )
    def test_chains_with_many_ways_through_them_end(self, chains, expected):
        """Each jump doubled the ways that were tried. The kernel rejects loops; a file can hold
        them."""
        chains = {
            "a": ["type filter hook input priority 0", "jump b"],
            "b" + "x" * 20: [],
            **chains,
        }
        lines = [
            line for name, rules in chains.items() for line in (f"chain {name} {{", *rules, "}")
        ]
        tables = nft_text.parse("table ip t {\n" + "\n".join(lines) + "\n}\n")
        assert state(tables, 1521) == expected

    @cases(
        "rules limits",
        (["tcp dport 1521 limit rate 10/second burst 5 packets accept", "drop"], 1),
        (["tcp dport 1521 limit rate over 10/second drop"], 1),
        (["limit rate 10/second log", "tcp dport 1521 accept"], 0),
        (["tcp dport 22 limit rate over 10/second drop"], 0),
        (["tcp dport 1521 limit rate 10/second accept", "accept"], 0),
        (["tcp dport 1521 ct count over 20 drop"], 1),
    )
    def test_limits(self, rules, limits):
        reach = packets.reach(text_rules(*rules), packets.Packet("tcp", 1521))
        assert reach.state == "open" and len(reach.limits) == limits


class TestFormats:
    def test_nft_in_text_and_in_json_are_the_same(self):
        of_text, (of_json, foreign) = (
            nft_text.parse(fixture("limited.nft")),
            nft_json.parse(fixture("limited.json")),
        )
        assert not foreign
        for port in (22, 1521, 1525, 6200, 5000):
            for protocol in ("tcp", "udp"):
                expected = packets.reach(of_json, packets.Packet(protocol, port))
                reach = packets.reach(of_text, packets.Packet(protocol, port))
                assert (reach.state, len(reach.limits)) == (expected.state, len(expected.limits))
        assert state(of_json, 1521) == "blocked"
        assert packets.reach(of_json, packets.Packet("tcp", 1525)).limits == (
            "limit rate 10/second",
        )

    def test_iptables_nft_shows_its_hashlimit_only_in_iptables_save(self):
        assert nft_json.parse(fixture("hashlimit.json"))[1]
        saved = iptables_save.parse(fixture("hashlimit.save"))
        reach = packets.reach(saved, packets.Packet("tcp", 1521))
        assert reach == packets.Reach("open", ("hashlimit-above 10/sec",))
        assert state(saved, 1524) == "blocked"

    def test_recorded_rules_of_insights(self):
        tables, _foreign = nft_json.parse(fixture("insights-svc.json"))
        # A verdict map of one chain accepts and drops some sources; the other rejects the rest.
        assert state(tables, 443) == "partly" and state(tables, 1521) == "blocked"
        saved = iptables_save.parse(fixture("insights-iptables.save"))
        assert (state(saved, 22), state(saved, 1521)) == ("open", "partly")

    @cases(
        "rule expected",
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
        ("-A INPUT -p tcp -m tcp --dport 1521 -m connlimit --connlimit-above 9 -j DROP", "open"),
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
        ("-A INPUT -p tcp --sport 1:1023 --dport 1521 -j DROP", "open"),
        ("-A INPUT -f -j DROP", "open"),
        ("-A INPUT -p tcp -m tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG NONE -j DROP", "open"),
    )
    def test_iptables_save(self, rule, expected):
        text = f"*filter\n:INPUT ACCEPT [0:0]\n{rule}\nCOMMIT\n"
        assert state(iptables_save.parse(text), 1521) == expected

    @cases("test", "ip protocol 6", "meta l4proto 6 th dport 1521")
    def test_a_protocol_by_its_number(self, test):
        assert state(text_rules(f"{test} drop"), 1521) == "blocked"

    def test_a_built_in_chain_needs_no_head(self):
        text = "*filter\n-A INPUT -p tcp --dport 1521 -j DROP\nCOMMIT\n"
        assert state(iptables_save.parse(text), 1521) == "blocked"

    @cases("expression", {"queue": {"num": 0}}, {"quota": {"val": 1}})
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
        rules = [{"rule": {**place, "chain": "filter_INPUT", "expr": one}} for one in expressions]
        tables, _foreign = nft_json.parse(json.dumps({"nftables": [{"chain": chain}, *rules]}))
        assert state(tables, 1521) == "blocked"

    @cases(
        "parse text",
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
        machine = host().command("ss -lntup", "", rc=1)
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
        findings = judge(with_firewalld(host(enabled="firewalld"), fixture("public.xml")), RAC)
        statuses = {
            port: finding.status for (check, port), finding in findings.items() if check == "ports"
        }
        assert statuses["1521/tcp"] == "pass"
        assert (statuses["6200/tcp"], statuses["42424/udp"]) == ("pass", "fail")
        limit = findings["rate_limit", "1525/tcp"]
        assert (limit.status, limit.persisted) == ("warn", "limit 10/m")

    @cases(
        "rule status",
        ('family="ipv6"><port port="1521" protocol="tcp"/><accept/>', "fail"),
        ('family="ipv6"><source address="fd00::/8"/><accept/>', "fail"),
        ('family="ipv4"><port port="1521" protocol="tcp"/><accept/>', "pass"),
        ('><source address="10.0.0.0/8"/><accept/>', "pass"),
        ('><source address="10.0.0.0/8"/><protocol value="vrrp"/><accept/>', "fail"),
        ('><protocol value="vrrp"/><accept/>', "fail"),
        ('><source address="10.0.0.0/8"/><icmp-type name="echo-request"/><accept/>', "fail"),
        ('><source address="10.0.0.0/8"/><protocol value="tcp"/><accept/>', "pass"),
        ('><source address="a"/><source-port port="53" protocol="tcp"/><accept/>', "fail"),
    )
    def test_a_rich_rule_for_other_packets_opens_nothing(self, judge, rule, status):
        machine = with_firewalld(host(enabled="firewalld"), f"<zone><rule {rule}</rule></zone>")
        assert judge(machine)["ports", "1521/tcp"].status == status

    def test_a_rich_rule_for_ipv6_closes_nothing(self, judge):
        rule = '<rule family="ipv6"><port port="1521" protocol="tcp"/><drop/></rule>'
        zone = f'<zone><port port="1521" protocol="tcp"/>{rule}</zone>'
        machine = with_firewalld(host(enabled="firewalld"), zone)
        assert judge(machine)["ports", "1521/tcp"].status == "pass"

    @cases(
        "rules status",
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
    )
    def test_the_priority_of_a_rich_rule(self, judge, rules, status):
        """firewalld.richlanguage(5), and the action among equal ones."""
        zone = "<zone>" + rules.replace("{}", '<port port="1521" protocol="tcp"/>') + "</zone>"
        machine = with_firewalld(host(enabled="firewalld"), zone)
        assert judge(machine)["ports", "1521/tcp"].status == status

    @cases(
        "path text status",
        ("direct", '<direct><rule ipv="ipv4">-p tcp -j DROP</rule></direct>', "error"),
        ("direct", DIRECT.format("INPUT", "-p tcp --dport 1521 -j DROP"), "fail"),
        ("direct", DIRECT.format("INPUT", "-p tcp --dport 22 -j DROP"), "pass"),
        ("direct", DIRECT.format("OUTPUT", "-p tcp -m tcp --dport=443 -j DROP"), "pass"),
        ("direct", DIRECT.format("OUTPUT", "-j DROP"), "fail"),
        ("direct", DIRECT.format("IN_public_deny", "-j DROP"), "error"),
        ("direct", DIRECT.replace("ipv4", "ipv6").format("INPUT", "-j DROP"), "pass"),
        (
            "direct",
            '<direct><passthrough ipv="ipv4">-A INPUT -p tcp --dport 1521 -j REJECT'
            "</passthrough></direct>",
            "fail",
        ),
        ("direct", '<direct><passthrough ipv="ipv4">-F</passthrough></direct>', "error"),
        ("policies/in", '<policy target="DROP"><egress-zone name="HOST"/></policy>', "pass"),
        ("policies/in", POLICY.format(' target="DROP"', "ANY", "HOST", ""), "fail"),
        ("policies/in", POLICY.format(' target="DROP"', "public", "HOST", ""), "fail"),
        ("policies/in", POLICY.format(' target="DROP"', "work", "HOST", ""), "pass"),
        ("policies/in", POLICY.format(' target="REJECT" priority="5"', "ANY", "HOST", ""), "pass"),
        ("policies/in", POLICY.format("", "ANY", "HOST", DROPS), "fail"),
        ("policies/in", POLICY.format("", "ANY", "HOST", DROPS + "<disable/>"), "pass"),
        # Replies belong to connections that exist.
        ("policies/out", POLICY.format(' target="DROP"', "HOST", "ANY", ""), "pass"),
    )
    def test_direct_rules_and_policies(self, judge, path, text, status):
        machine = with_firewalld(host(enabled="firewalld"), fixture("public.xml"))
        conf = "/etc/firewalld/firewalld.conf"
        machine.file(conf, machine.files[conf] + "FirewallBackend=nftables\n")
        machine.file(f"/etc/firewalld/{path}.xml", text)
        assert judge(machine)["ports", "1521/tcp"].status == status

    @cases("backend status", ("FirewallBackend=nftables\n", "fail"), ("", "pass"))
    def test_what_a_direct_rule_accepts_the_zone_may_still_drop(self, judge, backend, status):
        machine = with_firewalld(host(enabled="firewalld"), "<zone/>")
        conf = "/etc/firewalld/firewalld.conf"
        machine.file(conf, machine.files[conf] + backend)
        rule = DIRECT.format("INPUT", "-p tcp --dport 1521 -j ACCEPT")
        machine.file("/etc/firewalld/direct.xml", rule)
        assert judge(machine)["ports", "1521/tcp"].status == status

    @cases(
        "path line",
        ("/etc/NetworkManager/system-connections/eth1.nmconnection", "zone=private"),
        ("/etc/sysconfig/network-scripts/ifcfg-eth1", 'ZONE="private"'),
    )
    def test_a_zone_of_a_connection(self, judge, path, line):
        def machine():
            made = with_firewalld(host(enabled="firewalld"), fixture("public.xml"))
            return made.file("/etc/firewalld/zones/private.xml", '<zone target="DROP"/>')

        assert judge(machine())["ports", "1521/tcp"].status == "pass"
        text = f"[connection]\n{line}\n"
        finding = judge(machine().file(path, text))["ports", "1521/tcp"]
        assert finding.persisted.startswith("accepted for some sources or interfaces (")
        assert judge(machine().file(path, text).deny(path))["ports", "1521/tcp"].status == "error"

    @cases("zone status", ("trusted", "pass"), ("../../x", "error"))
    def test_a_connection_of_a_zone_that_firewalld_ships(self, judge, zone, status):
        machine = with_firewalld(host(enabled="firewalld"), '<zone target="DROP"/>')
        machine.file("/usr/lib/firewalld/zones/trusted.xml", '<zone target="ACCEPT"/>')
        machine.file("/etc/NetworkManager/system-connections/a.nmconnection", f"zone={zone}\n")
        assert judge(machine)["ports", "1521/tcp"].status == status

    def test_a_second_zone_with_interfaces(self, judge):
        machine = with_firewalld(host(enabled="firewalld"), fixture("public.xml"))
        zone = '<zone target="DROP"><interface name="eth1"/></zone>'
        machine.file("/etc/firewalld/zones/private.xml", zone)
        finding = judge(machine)["ports", "1521/tcp"]
        assert (finding.status, finding.persisted) == (
            *("pass", "accepted for some sources or interfaces (eth1)"),
        )

    def test_files_that_cannot_be_read(self, judge):
        machine = host(enabled="nftables").file("/etc/nftables.conf", 'include "/etc/x.nft"\n')
        assert judge(machine)["ports", "1521/tcp"].status == "error"
        machine = host(fixture("limited.json"), enabled="iptables")
        finding = judge(machine)["ports", "1521/tcp"]
        # What drops the port now is wrong, whatever the files hold.
        assert finding.status == "fail" and "/etc/sysconfig/iptables" in finding.why

    def test_a_condition_that_is_not_read(self, judge):
        expr = [{"match": {"op": "==", "left": {"osf": {"key": "name"}}, "right": "Linux"}}]
        rule = {"family": "ip", "table": "t", "chain": "c", "expr": [*expr, {"drop": None}]}
        chain = {"family": "ip", "table": "t", "name": "c", "hook": "input", "type": "filter"}
        rules = json.dumps({"nftables": [{"chain": {**chain, "policy": "accept"}}, {"rule": rule}]})
        findings = judge(host(rules))
        assert findings["ports", "1521/tcp"].status == "error"
        assert findings["rate_limit", "1521/tcp"].status == "error"

    def test_without_root(self, judge):
        machine = host().command("nft -j list ruleset", "", rc=1)
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
        findings = judge(save(host(fixture("hashlimit.json")), fixture("hashlimit.save")))
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
        found = {port for port, finding in statuses.items() if finding.status == "fail"}
        assert found == {"5353/udp"}
        assert statuses["5353/udp"].running == "avahi-daemon"
        assert statuses["42424/udp"].running == "octssd.bin"
        assert statuses["42424/tcp"].running == "free"

    @cases("program status", ("chronyd", "pass"), ("node", "fail"))
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


FILTER = (
    "table inet filter {{\n chain input {{\n type filter hook input priority 0; policy {0};\n"
    "{1}\n }}\n}}\n"
)
OUTPUT = (
    "table ip o {\n chain output {\n type filter hook output priority 0; policy drop;\n%s\n }\n}\n"
)
ESTABLISHED = 'ct state established,related accept\niifname "lo" accept\n'
PORTS = "tcp dport { 22, 1521, 1525, 6200 } accept\nudp dport 42424 accept\n"


def with_nft(machine, text):
    return machine.file("/etc/nftables.conf", text)


TRUST = 'iifname "eth1" accept'
INGRESS = (
    "table netdev f {{\n chain in {{\n type filter hook ingress {0} priority -500; policy drop;"
    "\n }}\n}}\n"
)
NOTRACK = (
    "table ip raw {{\n chain pre {{\n type filter hook prerouting priority raw; policy accept;\n"
    " {0}notrack\n }}\n}}\n"
)


RAW = "\nCOMMIT\n*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -i eth1 -j {0}"


class TestInterconnect:
    """Traffic between the nodes uses ports that change (Grid guide, Port Numbers)."""

    @cases(
        "rules status dropped",
        (ESTABLISHED + PORTS, "fail", "UDP ports 1 to 42423, 42425 to 65535"),
        (ESTABLISHED + PORTS + 'iifname "eth1" accept', "pass", ""),
        (ESTABLISHED + PORTS + 'iifname "eth*" accept', "pass", ""),
        (ESTABLISHED + PORTS + 'iifname "eth0" accept', "fail", "UDP ports"),
        (ESTABLISHED + PORTS + 'iifname { "eth1", "eth2" } accept', "pass", ""),
        # The addresses that Clusterware adds are others than those of the interface.
        (ESTABLISHED + PORTS + "ip saddr 192.168.10.0/24 accept", "fail", "169.254.0.0/19"),
        (ESTABLISHED + "ip saddr { 192.168.10.0/24, 169.254.0.0/16 } accept", "pass", ""),
        (ESTABLISHED + 'iifname "eth1" tcp dport 1-65535 accept', "fail", "UDP packets"),
        (ESTABLISHED + 'iifname "eth1" meta l4proto { tcp, udp } accept', "pass", ""),
        (
            ESTABLISHED + 'iifname "eth1" tcp dport 1-1023 accept\n'
            'iifname "eth1" tcp dport 1024-65535 accept\n'
            'iifname "eth1" meta l4proto udp accept',
            "pass",
            "",
        ),
        (ESTABLISHED + 'iifname "eth1" th dport 1024-65535 accept', "fail", "1 to 1023"),
        (ESTABLISHED + 'iifname "eth1" ip daddr 192.168.10.1 accept', "fail", "169.254.0.0/19"),
        (
            ESTABLISHED + 'iifname "eth1" ip daddr { 192.168.10.1, 169.254.12.7 } accept',
            "fail",
            "multicast address 224.0.0.251",
        ),
        (
            "set nodes { type ipv4_addr; flags interval;"
            " elements = { 192.168.10.0/24, 169.254.0.0/16 } }",
            "pass",
            "",
        ),
    )
    def test_a_filter_that_accepts_ports_alone(self, judge, rules, status, dropped):
        if rules.startswith("set "):
            text = FILTER.format("drop", ESTABLISHED + "ip saddr @nodes accept")
            text = text.replace("{\n", "{\n" + rules + "\n", 1)
        else:
            text = FILTER.format("drop", rules)
        machine = with_nft(node(host(enabled="nftables", sockets=LISTENER)), text)
        finding = judge(machine, "none")["interconnect", "eth1"]
        assert (finding.status, finding.running) == (status, "accepted")
        assert not (finding.fix or "").startswith("load"), "the file is wrong"
        assert dropped in finding.persisted

    @cases(
        "before rules after status",
        # nft(8): a chain of a device, of several devices, and names with *.
        ("", TRUST, INGRESS.format('device "eth1"'), "fail"),
        ("", TRUST, INGRESS.format('device "eth0"'), "pass"),
        ("", TRUST, INGRESS.format('devices = { "eth0", "eth1" }'), "fail"),
        ("", TRUST, INGRESS.format('devices = { "eth0", "eth5" }'), "pass"),
        ("", TRUST, INGRESS.format('devices = { "eth*" }'), "fail"),
        # Packets that are not tracked are neither new nor established.
        ("", TRUST, NOTRACK.format('iifname "eth1" '), "pass"),
        ("", 'iifname "eth1" ct state new accept', NOTRACK.format('iifname "eth1" '), "fail"),
        ("", 'iifname "eth1" ct state new accept', NOTRACK.format('iifname "eth0" '), "pass"),
        ("", "ct state new,untracked accept", NOTRACK.format(""), "pass"),
        # What a file removes again, and where it adds a rule.
        (FILTER.format("drop", "drop") + "delete table inet filter\n", TRUST, "", "pass"),
        (FILTER.format("drop", "drop") + "flush table inet filter\n", TRUST, "", "pass"),
        (FILTER.format("drop", "drop") + "flush chain inet filter input\n", TRUST, "", "pass"),
        ("destroy table inet filter\n", TRUST, "", "pass"),
        ("", "drop", f"insert rule inet filter input index 0 {TRUST}\n", "pass"),
        ("", "drop", f"add rule inet filter input {TRUST}\n", "fail"),
        ("", "", f"add rule inet filter input index 0 {TRUST}\n", "pass"),
        # Each base chain decides, whatever its priority is.
        ("", TRUST, FILTER.format("drop", "").replace("inet filter", "ip early"), "fail"),
        ("", "", FILTER.format("accept", TRUST).replace("inet filter", "ip early"), "fail"),
        ("", "fib daddr type multicast drop\n" + TRUST, "", "fail"),
        ("", "ct state invalid drop\n" + TRUST, "", "pass"),
        ("", 'iifname "eth1" ct state new limit rate 9/second accept', "", "fail"),
        ("", "iifgroup 5 accept", "", "error"),
    )
    def test_chains_of_the_kernel(self, judge, before, rules, after, status):
        text = before + FILTER.format("drop", ESTABLISHED + rules) + after
        machine = with_nft(node(host(enabled="nftables", sockets=LISTENER)), text)
        assert judge(machine, "none")["interconnect", "eth1"].status == status

    @cases(
        "out status",
        ("tcp dport 22 accept", "fail"),
        ("ct state established accept", "fail"),
        ('ct state established accept\noifname "eth1" accept', "pass"),
    )
    def test_packets_to_the_other_nodes(self, judge, out, status):
        machine = with_nft(node(host(enabled="nftables", sockets=LISTENER)), OUTPUT % out)
        assert judge(machine, "none")["interconnect", "eth1"].status == status

    @cases(
        "text status",
        ("-A INPUT -i eth1 -j ACCEPT", "pass"),
        ("-A INPUT -i eth+ -j ACCEPT", "pass"),
        ("-A INPUT -p tcp -m multiport --dports 22,1521 -j ACCEPT", "fail"),
        ("-A INPUT -m iprange --src-range 192.168.10.1-192.168.10.9 -j ACCEPT", "fail"),
        ("-A INPUT -i eth1 -m pkttype --pkt-type host -j ACCEPT", "fail"),
        ("-A INPUT -i eth1 -m limit --limit 100/s -j ACCEPT", "fail"),
        # The packets above the limit meet the next rule.
        ("-A INPUT -i eth1 -m limit --limit 9/s -j LOG\n-A INPUT -i eth1 -j ACCEPT", "pass"),
        # iptables-extensions(8): NOTRACK, and targets that change or mark a packet.
        ("-A INPUT -i eth1 -j ACCEPT" + RAW.format("CT --notrack"), "pass"),
        ("-A INPUT -i eth1 -m state --state NEW -j ACCEPT" + RAW.format("NOTRACK"), "fail"),
        ("-A INPUT -i eth1 -m state --state NEW -j ACCEPT" + RAW.format("CT --notrack"), "fail"),
        ("-A INPUT -i eth1 -j ACCEPT" + RAW.format("CT --helper ftp"), "pass"),
        ("-A INPUT -i eth1 -j ACCEPT" + RAW.format("DROP"), "fail"),
    )
    def test_in_the_form_of_iptables(self, judge, text, status):
        machine = node(host(enabled="iptables", sockets=LISTENER))
        head = ":INPUT DROP [0:0]\n-A INPUT -m state --state ESTABLISHED -j ACCEPT\n"
        machine.file("/etc/sysconfig/iptables", f"*filter\n{head}{text}\nCOMMIT\n")
        assert judge(machine, "none")["interconnect", "eth1"].status == status

    @cases(
        "zone status",
        ('<zone target="ACCEPT"><interface name="eth1"/></zone>', "pass"),
        ('<zone target="ACCEPT"><source address="192.168.10.0/24"/></zone>', "fail"),
        (
            '<zone target="ACCEPT"><source address="192.168.10.0/24"/>'
            '<source address="169.254.0.0/16"/></zone>',
            "pass",
        ),
        ('<zone target="ACCEPT"><source ipset="nodes"/></zone>', "pass"),
        ('<zone><interface name="eth1"/><port port="1-60000" protocol="udp"/></zone>', "fail"),
        (
            '<zone><interface name="eth1"/><protocol value="tcp"/><protocol value="udp"/></zone>',
            "pass",
        ),
    )
    def test_a_zone_of_firewalld(self, judge, zone, status):
        machine = node(host(enabled="firewalld", sockets=LISTENER))
        with_firewalld(machine, fixture("public.xml"))
        machine.file("/etc/firewalld/zones/private.xml", zone)
        machine.file(
            "/etc/firewalld/ipsets/nodes.xml",
            '<ipset type="hash:net"><entry>192.168.10.0/24</entry>'
            "<entry>169.254.0.0/16</entry></ipset>",
        )
        finding = judge(machine, "none")["interconnect", "eth1"]
        assert finding.status == status
        if status == "fail":
            assert finding.commands == (
                "firewall-cmd --permanent --zone=trusted --change-interface=eth1",
            )

    @cases(
        "path text status",
        ("policies/out", POLICY.format(' target="REJECT"', "HOST", "ANY", ""), "fail"),
        ("policies/out", POLICY.format(' target="REJECT"', "HOST", "private", ""), "fail"),
        ("policies/out", POLICY.format(' target="REJECT"', "HOST", "public", ""), "pass"),
        ("policies/in", POLICY.format(' target="DROP"', "ANY", "HOST", ""), "fail"),
        # Before the target of the zone, also if it follows the rules of the zone.
        ("policies/in", POLICY.format(' target="DROP" priority="9"', "ANY", "HOST", ""), "fail"),
        ("direct", DIRECT.format("OUTPUT", "-p udp -j DROP"), "fail"),
        ("direct", DIRECT.format("FORWARD", "-j DROP"), "pass"),
        ("direct", NAT.format("POSTROUTING", "-o eth0 -j MASQUERADE"), "pass"),
        ("direct", MANGLE.format("PREROUTING", "-j DSCP --set-dscp 8"), "pass"),
        ("direct", DIRECT.replace("filter", "raw").format("PREROUTING", "-j DROP"), "error"),
    )
    def test_policies_and_direct_rules_of_firewalld(self, judge, path, text, status):
        machine = node(host(enabled="firewalld", sockets=LISTENER))
        with_firewalld(machine, fixture("public.xml"))
        zone = '<zone target="ACCEPT"><interface name="eth1"/></zone>'
        machine.file("/etc/firewalld/zones/private.xml", zone).file(
            f"/etc/firewalld/{path}.xml", text
        )
        assert judge(machine, "none")["interconnect", "eth1"].status == status

    def test_each_node_by_its_address_is_a_list_to_check(self, judge):
        lines = ADDRESSES.splitlines(keepends=True)
        text = FILTER.format("drop", ESTABLISHED + "ip saddr { 192.168.10.2, 192.168.10.3 } accept")
        machine = with_nft(
            node(host(enabled="nftables", sockets=LISTENER), "".join(lines[:-1])), text
        )
        assert judge(machine, "none")["interconnect", "eth1"].status == "warn"

    def test_the_names_of_interfaces_are_not_known(self, judge):
        text = FILTER.format("drop", ESTABLISHED + PORTS)

        def machine(rules):
            made = with_nft(node(host(enabled="nftables", sockets=LISTENER)), rules)
            return made.command("getent passwd", "")

        assert judge(machine(text), "none")["interconnect", ""].status == "fail"
        named = text.replace("tcp dport", 'iifname "eth1" accept\ntcp dport')
        assert judge(machine(named), "none")["interconnect", ""].status == "error"
        trusted = text.replace("tcp dport", 'iifname "eth*" accept\ntcp dport')
        assert judge(machine(trusted), "none")["interconnect", ""].status == "pass"

    @cases(
        "rule status ports",
        ("", "fail", "pass"),
        ('iifname "eth1" accept', "pass", "pass"),
        ('iifname "eth*" accept', "pass", "pass"),
        ('iifname "lo" accept', "fail", "pass"),
    )
    def test_before_clusterware_is_installed(self, judge, rule, status, ports):
        """The profile announces a cluster: one interface must accept all packets."""
        text = FILTER.format("drop", ESTABLISHED + PORTS + rule)
        machine = with_nft(host(enabled="nftables", sockets=LISTENER), text)
        findings = judge(machine.command("ip -o addr show", ADDRESSES), RAC)
        assert findings["interconnect", ""].status == status
        assert findings["ports", "1521/tcp"].status == ports

    def test_the_accepted_interface_may_be_the_private_one(self, judge):
        text = FILTER.format("drop", ESTABLISHED + 'iifname "eth1" accept')
        machine = with_nft(host(enabled="nftables", sockets=LISTENER), text)
        findings = judge(machine.command("ip -o addr show", ADDRESSES), RAC)
        assert findings["ports", "1521/tcp"].status == "error"

    def test_a_private_interface_that_is_trusted_opens_nothing_for_clients(self, judge):
        text = FILTER.format("drop", ESTABLISHED + 'iifname "eth1" accept')
        findings = judge(with_nft(node(host(enabled="nftables", sockets=LISTENER)), text), RAC)
        statuses = {port: f.status for (check, port), f in findings.items() if check == "ports"}
        assert statuses == {
            **{"1521/tcp": "fail", "6200/tcp": "fail"},
            **{"42424/udp": "pass", "1525/tcp": "pass"},
        }

    @cases("source status", ("192.168.10.0/24", "fail"), ("10.1.0.0/16", "pass"))
    def test_sources_of_the_interconnect_are_no_clients(self, judge, source, status):
        rule = f"ip saddr {source} tcp dport 1521 accept"
        text = FILTER.format("drop", ESTABLISHED + 'iifname "eth1" accept\n' + rule)
        machine = with_nft(node(host(enabled="nftables", sockets=LISTENER)), text)
        finding = judge(machine, "none")["ports", "1521/tcp"]
        assert finding.status == status
        if status == "fail":
            assert finding.fix == "accept 1521/tcp from the clients in the files of nftables"
            assert finding.commands == ()

    @cases(
        "text status", ("", "fail"), ("local_only=FALSE\n", "fail"), ("local_only=TRUE\n", "skip")
    )
    def test_css_alone_is_a_cluster_unless_it_is_oracle_restart(self, judge, text, status):
        machine = node(host(enabled="nftables", sockets=LISTENER)).file("/etc/oracle/ocr.loc", text)
        machine.running = [one for one in machine.running if "crsd" not in one["argv0"]]
        findings = judge(with_nft(machine, FILTER.format("drop", PORTS)), "none")
        found = [finding for (check, _of), finding in findings.items() if check == "interconnect"]
        assert [finding.status for finding in found] == [status]

    def test_not_a_node(self, judge):
        machine = with_nft(host(enabled="nftables", sockets=LISTENER), FILTER.format("drop", PORTS))
        assert judge(machine)["interconnect", ""].status == "skip"


class TestReplies:
    @cases(
        "rules status",
        ("tcp dport 22 accept", "fail"),
        ("", "fail"),
        ("ct state new accept", "fail"),
        ("ct state established,related accept", "pass"),
        ("ct state { established, related } accept", "pass"),
        ("tcp sport 1521 accept", "pass"),
        ("tcp sport 22 accept", "fail"),
        ("tcp sport { 22, 1500-1600 } accept", "pass"),
        ("tcp dport 32768-60999 accept", "pass"),
        ("tcp dport 1024-65535 accept", "pass"),
        ("udp sport 1521 accept", "fail"),
        ("oifname lo accept", "fail"),
        ("tcp flags syn drop\naccept", "pass"),
    )
    def test_an_output_policy_that_drops_them(self, judge, rules, status):
        machine = with_nft(host(enabled="nftables", sockets=LISTENER), OUTPUT % rules)
        finding = judge(machine, "none")["ports", "1521/tcp"]
        assert finding.status == status
        if status == "fail":
            assert finding.persisted == "replies are dropped"
            assert finding.fix.startswith("put 'ct state established,related accept' into")

    @cases("rules status", ("", "fail"), (ESTABLISHED, "pass"))
    def test_of_a_server(self, judge, rules, status):
        """The input rules of a client of NFS."""
        machine = with_nft(host(enabled="nftables"), FILTER.format("drop", rules))
        ports = [{"name": "NFS", "port": 2049, "direction": "out"}]
        assert judge(machine, "none", ports=ports)["ports", "2049/tcp"].status == status


def _match(left, right, op="=="):
    return {"match": {"op": op, "left": left, "right": right}}


def _pair(protocol, port):
    return {"concat": [protocol, port]}


_DPORT = {"payload": {"protocol": "tcp", "field": "dport"}}
_TH_DPORT = {"payload": {"protocol": "th", "field": "dport"}}
_JOINED = {"concat": [{"meta": {"key": "l4proto"}}, _TH_DPORT]}
_FIB = {"fib": {"result": "oif", "flags": ["saddr", "iif"]}}
_UPDATE = {
    "set": {
        "op": "update",
        "elem": {"payload": {"protocol": "ip", "field": "saddr"}},
        "set": "@seen",
        "stmt": [{"limit": {"rate": 9, "per": "minute", "inv": True}}],
    }
}


class TestLists:
    """A list of sources is a choice, and no warning for ever."""

    @cases(
        "rules status",
        ("ip saddr 10.1.0.0/16 tcp dport 1521 accept", "pass"),
        ("ip saddr @apps tcp dport 1521 accept", "pass"),
        ("ip saddr @none tcp dport 1521 accept", "fail"),
        ("ip saddr { 10.1.0.0/16, 10.2.0.7 } tcp dport @db accept", "pass"),
        ("tcp dport @none_ports accept", "fail"),
        ("tcp dport $DB accept", "pass"),
        ("ip saddr $LAN tcp dport $DB accept", "pass"),
        ("ip saddr @apps drop\naccept", "pass"),
        ("ip saddr != 10.1.0.0/16 drop\naccept", "pass"),
        ("tcp dport vmap @verdicts", "pass"),
        ("ip saddr vmap { 10.1.0.0/16 : accept, 10.2.0.0/16 : drop }", "pass"),
        ("ip saddr . tcp dport @pairs accept", "pass"),
        ("ip saddr . tcp dport { 10.1.0.0/16 . 1522 } accept", "fail"),
        ("ip saddr . tcp dport @absent accept", "error"),
        ("ip saddr . tcp dport != { 10.1.0.0/16 . 1521 } drop\naccept", "error"),
        ("meta l4proto . th dport { tcp . 1521 } accept", "pass"),
        ("meta l4proto . th dport { udp . 1521 } accept", "fail"),
        ('iifname . tcp dport { "eth0" . 1521 } accept', "pass"),
        ("ip saddr . tcp dport vmap @pairs_to", "pass"),
        ("ip saddr . tcp dport vmap { 10.1.0.0/16 . 1521 : drop }", "fail"),
        ('iifname vmap { "eth0" : jump other, "lo" : accept }', "pass"),
        ('iifname vmap { "lo" : accept }', "fail"),
        ("tcp dport != { 22, 1521 } drop\naccept", "pass"),
        ("tcp dport != { 22, 80 } drop\naccept", "fail"),
        ('tcp dport 1521 counter name "db" accept', "pass"),
        ("tcp dport 1521 meta mark set 0x1 accept", "pass"),
        ("tcp dport 1521 ct mark set 5 drop", "fail"),
        ("tcp dport 1521 add @seen { ip saddr } accept", "pass"),
        ("update @seen { ip saddr limit rate over 9/minute } drop\ntcp dport 1521 accept", "pass"),
        ("fib saddr . iif oif missing drop\ntcp dport 1521 accept", "pass"),
    )
    def test_rules_of_nft(self, judge, rules, status):
        head = (
            "define DB = { 1521, 2484 }\ndefine LAN = 10.1.0.0/16\n"
            "table inet filter {\n set apps { type ipv4_addr; flags interval;"
            ' elements = { 10.1.0.0/16, 10.2.0.7 comment "x" } }\n'
            " set none { type ipv4_addr; }\n set none_ports { type inet_service; }\n"
            " set db {\n type inet_service\n elements = { 1521,\n 2484 }\n }\n"
            " map verdicts { type inet_service : verdict; elements = { 1521 : accept } }\n"
            " set pairs { type ipv4_addr . inet_service; flags interval;"
            " elements = { 10.1.0.0/16 . 1500-1600, 10.2.0.7 . 22 } }\n"
            " map pairs_to { type ipv4_addr . inet_service : verdict;"
            " elements = { 10.1.0.0/16 . 1521 : accept } }\n"
            " set seen { type ipv4_addr; flags dynamic,timeout; timeout 5m; }\n"
            " chain other { tcp dport 1521 accept; }\n}\n"
        )
        machine = with_nft(
            host(enabled="nftables", sockets=LISTENER),
            head + FILTER.format("drop", ESTABLISHED + rules),
        )
        assert judge(machine, "none")["ports", "1521/tcp"].status == status

    def test_running_rules_and_files_make_different_choices(self, judge):
        def machine(running, later):
            save_text = f"*filter\n:INPUT DROP [0:0]\n{running}\nCOMMIT\n"
            made = save(host(enabled="iptables", sockets=LISTENER), save_text)
            made.commands.pop("nft -j list ruleset")
            head = "*filter\n:INPUT DROP [0:0]\n"
            return made.file("/etc/sysconfig/iptables", f"{head}{later}\nCOMMIT\n")

        everyone = "-A INPUT -p tcp --dport 1521 -j ACCEPT"
        some = everyone.replace("-p", "-s 10.1.0.0/16 -p")
        others = everyone.replace("-p", "-s 10.2.0.0/16 -p")
        together = [(some, some, "pass", None), (everyone, some, "warn", "persisted")]
        together += [(some, everyone, "warn", "running"), (some, others, "warn", "persisted")]
        together += [("", some, "fail", "running"), (some, "", "fail", "persisted")]
        for running, later, status, layer in together:
            finding = judge(machine(running, later), "none")["ports", "1521/tcp"]
            assert (finding.status, finding.failing_layer) == (status, layer), (running, later)
            if layer == "running":
                assert finding.commands == ("systemctl reload iptables.service",)

    @cases(
        "sources status",
        (["10.1.2.0/24"], "pass"),
        (["10.0.0.0/8"], "fail"),
        (["10.9.0.0/16"], "fail"),
    )
    def test_the_policy_names_the_sources(self, judge, sources, status):
        rule = "ip saddr 10.1.0.0/16 tcp dport 1521 accept"
        machine = with_nft(host(enabled="nftables"), FILTER.format("drop", rule))
        ports = [{"name": "listener", "port": 1521, "sources": sources}]
        found = with_nft(machine, FILTER.format("drop", ESTABLISHED + rule))
        finding = judge(found, "none", ports=ports)["ports", "1521/tcp"]
        assert finding.status == status
        assert not (finding.fix or "").startswith("load"), "the file is wrong"

    @cases(
        "expressions state",
        ([[_match(_JOINED, "@pairs"), {"accept": None}]], "open"),
        ([[_match(_JOINED, {"set": [_pair("tcp", 1521)]}), {"accept": None}]], "open"),
        ([[_match(_JOINED, {"set": [_pair("udp", 1521)]}), {"accept": None}]], "blocked"),
        ([[_match(_JOINED, "@absent"), {"accept": None}]], "unclear"),
        ([[_match(_JOINED, "@pairs", "!="), {"drop": None}], [{"accept": None}]], "unclear"),
        ([[{"vmap": {"key": _JOINED, "data": "@verdicts"}}]], "open"),
        ([[_match(_DPORT, {"set": [22, 1521]}, "!="), {"drop": None}], [{"accept": None}]], "open"),
        ([[_match(_DPORT, 22, "!="), {"drop": None}], [{"accept": None}]], "blocked"),
        ([[_match(_FIB, False), {"drop": None}], [{"accept": None}]], "open"),
        ([[_UPDATE, {"drop": None}], [{"accept": None}]], "open"),
    )
    def test_json_of_several_fields_and_of_other_statements(self, expressions, state):
        """libnftables-json(5): concat, fib, set."""
        place = {"family": "inet", "table": "filter"}
        head = {"name": "input", "type": "filter", "hook": "input", "policy": "drop"}
        pairs = {"name": "pairs", "elem": [_pair("tcp", {"range": [1500, 1600]})]}
        verdicts = {"name": "verdicts", "elem": [[_pair("tcp", 1521), {"accept": None}]]}
        objects = [{"set": {**place, **pairs}}, {"map": {**place, **verdicts}}]
        objects.append({"chain": {**place, **head}})
        replies = [_match({"ct": {"key": "state"}}, "established", "in"), {"accept": None}]
        objects += [
            {"rule": {**place, "chain": "input", "expr": one}} for one in [replies, *expressions]
        ]
        tables, _foreign = nft_json.parse(json.dumps({"nftables": objects}))
        assert packets.reach(tables, packets.Packet("tcp", 1521)).state == state

    @cases(
        "source status",
        ('<source address="10.1.0.0/16"/>', "pass"),
        ('<source ipset="apps"/>', "pass"),
        ('<source ipset="empty"/>', "fail"),
        ('<source ipset="filled"/>', "pass"),
        ('<source mac="00:00:5e:00:53:01"/>', "pass"),
        ('<source ipset="none"/>', "error"),
    )
    @cases("where", "rich rule", "zone")
    def test_sources_of_firewalld(self, judge, source, status, where):
        made = with_firewalld(host(enabled="firewalld", sockets=LISTENER), "<zone/>")
        files = {
            "apps": "<entry>10.1.0.0/16</entry>",
            "empty": "",
            "filled": '<option name="timeout"/>',
        }
        for name, inside in files.items():
            made.file(
                f"/etc/firewalld/ipsets/{name}.xml", f'<ipset type="hash:net">{inside}</ipset>'
            )
        rule = f'<rule>{source}<port protocol="tcp" port="1521"/><accept/></rule>'
        if where == "zone":
            made.file("/etc/firewalld/zones/db.xml", f'<zone target="ACCEPT">{source}</zone>')
            rule = ""
        made.file("/etc/firewalld/zones/public.xml", f"<zone>{rule}</zone>")
        assert judge(made, "none")["ports", "1521/tcp"].status == status

    def test_elements_of_a_set_in_the_kernel(self, judge):
        """As nft 1.0.6 prints them; field report fw11."""
        assert judge(host(fixture("named-set.json"), sockets=LISTENER), "none")[
            "ports", "1521/tcp"
        ].status == ("pass")


class TestIncludes:
    @cases(
        "line status",
        ('include "/etc/nftables/*.nft"', "pass"),
        ('include "/etc/nftables/db.nft"', "pass"),
        ('include "nftables/db.nft"', "pass"),
        ("include '/etc/nftables/db.nft'", "pass"),
        ('# include "/etc/nftables/db.nft"', "fail"),
        ('include "/etc/nftables/none/*.nft"', "fail"),
        ('include "/etc/nftables/none.nft"', "error"),
        ('include "/root/db.nft"', "error"),
        ('include "/etc/nftables/../../root/x"', "error"),
        ('include "/etc/nftables.conf"', "error"),
        ('include "./nftables/db.nft"', "error"),
        ('include "/etc/nftables/../nftables/db.nft"', "pass"),
        ('include "/etc/nft*/db.nft"', "pass"),
        ('include "/etc/*/db.nft"', "pass"),
        ('include "/etc/nftables/?[ac].nft"', "fail"),
        ('include "/etc/nftables/[a-d]*.nft"', "pass"),
        ('include "/opt/*/db.nft"', "error"),
    )
    def test_rules_in_another_file(self, judge, line, status):
        text = FILTER.format("drop", ESTABLISHED) + line + "\n"
        machine = with_nft(host(enabled="nftables", sockets=LISTENER), text)
        machine.file("/etc/nftables/db.nft", "add rule inet filter input tcp dport 1521 accept\n")
        assert judge(machine, "none")["ports", "1521/tcp"].status == status


#: As docker 27 and fail2ban 1.0 write them (iptables-save), shortened.
DOCKER = """\
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
:DOCKER - [0:0]
:DOCKER-USER - [0:0]
-A FORWARD -j DOCKER-USER
-A FORWARD -o docker0 -j DOCKER
-A DOCKER -d 172.17.0.2/32 ! -i docker0 -o docker0 -p tcp -m tcp --dport 80 -j ACCEPT
-A DOCKER ! -i docker0 -o docker0 -j DROP
-A DOCKER-USER -j RETURN"""
BANNED = """\
:INPUT ACCEPT [0:0]
:f2b-all - [0:0]
-A INPUT -p tcp -j f2b-all
-A f2b-all -s 198.51.100.7/32 -j REJECT --reject-with icmp-port-unreachable
-A f2b-all -j RETURN"""


class TestLoaders:
    @cases(
        "unit word",
        ("SuSEfirewall2", "SuSEfirewall2"),
        ("shorewall", "shorewall"),
        ("ferm", "ferm"),
    )
    def test_a_service_whose_files_are_not_read(self, judge, unit, word):
        finding = judge(host(enabled=unit, sockets=LISTENER), "none")["ports", "1521/tcp"]
        assert finding.status == "error" and word in finding.why

    @cases(
        "state wanted status",
        ("enabled", "", "error"),
        ("generated", "multi-user.target", "error"),
        ("generated", "", "pass"),
        ("disabled", "", "pass"),
        ("masked", "", "pass"),
    )
    def test_what_the_next_boot_starts(self, judge, state, wanted, status):
        machine = host(sockets=LISTENER)
        for line in [line for line in machine.commands if line.startswith("systemctl show")]:
            block = (
                f"Id=csf.service\nUnitFileState={state}\nWantedBy={wanted}\nActiveState=active\n"
            )
            machine.command(line, block)
        assert judge(machine, "none")["ports", "1521/tcp"].status == status

    @cases(
        "path text mode status",
        ("/etc/rc.d/rc.local", "iptables -A INPUT -p tcp --dport 1521 -j DROP", 0o755, "error"),
        ("/etc/rc.d/rc.local", "iptables -P INPUT DROP", 0o644, "pass"),
        ("/etc/rc.d/rc.local", "# iptables -P INPUT DROP", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "iptables -L -n", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "/usr/sbin/iptables-restore < /root/rules", 0o755, "error"),
        ("/etc/network/if-pre-up.d/fw", "nft -f /etc/fw.nft", 0o755, "error"),
        ("/etc/rc.d/rc.local", "nft -o -f /etc/fw.nft", 0o755, "error"),
        ("/etc/rc.d/rc.local", "nft -ef /etc/fw.nft", 0o755, "error"),
        ("/etc/rc.d/rc.local", "nft -I /etc/nft --file /etc/fw.nft", 0o755, "error"),
        ("/etc/rc.d/rc.local", "nft -c -f /etc/fw.nft", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "nft -a list ruleset", 0o755, "pass"),
        ("/etc/network/interfaces", "  pre-up iptables-restore < /etc/fw", 0o644, "error"),
        ("/etc/rc.d/rc.local", "iptables -L -n && iptables -A INPUT -j DROP", 0o755, "error"),
        ("/etc/rc.d/rc.local", "[ $# -gt 0 ] || iptables -P INPUT DROP", 0o755, "error"),
        ("/etc/rc.d/rc.local", "iptables-apply /etc/fw.rules", 0o755, "error"),
        ("/etc/rc.d/rc.local", "iptables -t nat -A POSTROUTING -j MASQUERADE", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "iptables -w -A FORWARD -i br0 -j ACCEPT", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "cp /root/v4 /etc/iptables/rules.v4", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "nft 'add rule ip t input tcp dport 1521 drop'", 0o755, "error"),
        ("/etc/rc.d/rc.local", 'NFT="/usr/sbin/nft"\n$NFT -f /etc/x', 0o755, "error"),
        ("/etc/rc.d/rc.local", "nft -i < /etc/fw.nft", 0o755, "error"),
        ("/etc/rc.d/rc.local", "ufw --force enable", 0o755, "error"),
        ("/etc/rc.d/rc.local", "/usr/sbin/ufw deny 1521/tcp", 0o755, "error"),
        ("/etc/rc.d/rc.local", "ufw status verbose", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "/lib/ufw/ufw-init start", 0o755, "error"),
        ("/etc/rc.d/rc.local", "firewall-cmd --zone=drop --add-interface=eth0", 0o755, "error"),
        ("/etc/rc.d/rc.local", "firewall-cmd --panic-on", 0o755, "error"),
        ("/etc/rc.d/rc.local", "firewall-cmd --list-all --zone=public", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "firewall-offline-cmd --remove-port=1521/tcp", 0o755, "error"),
        ("/etc/rc.d/rc.local", "netfilter-persistent start", 0o755, "error"),
        ("/etc/rc.d/rc.local", "netfilter-persistent save", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "/sbin/shorewall start", 0o755, "error"),
        ("/etc/rc.d/rc.local", "/sbin/shorewall status", 0o755, "pass"),
        ("/etc/rc.d/rc.local", "rcSuSEfirewall2 start", 0o755, "error"),
        ("/etc/rc.d/rc.local", "csf -s", 0o755, "error"),
        ("/etc/rc.d/rc.local", "ferm /etc/ferm/ferm.conf", 0o755, "error"),
        ("/etc/rc.d/rc.local", "service iptables restart", 0o755, "error"),
        ("/etc/rc.d/rc.local", "/etc/init.d/iptables start", 0o755, "error"),
        ("/etc/rc.d/rc.local", "systemctl --no-block start nftables.service", 0o755, "error"),
        ("/etc/rc.d/rc.local", "systemctl stop firewalld", 0o755, "error"),
        ("/etc/rc.d/rc.local", "systemctl status firewalld", 0o755, "pass"),
        ("/etc/cron.d/fw", "@reboot root ufw enable", 0o644, "error"),
        ("/var/spool/cron/root", "@reboot /usr/sbin/nft -f /root/fw.nft", 0o600, "error"),
        ("/etc/NetworkManager/dispatcher.d/30-fw", "ufw enable", 0o755, "error"),
        ("/etc/NetworkManager/dispatcher.d/30-fw", "ufw enable", 0o644, "pass"),
    )
    def test_a_script_that_changes_rules(self, judge, path, text, mode, status):
        machine = host(sockets=LISTENER).file(path, f"#!/bin/sh\n{text}\n", mode)
        assert judge(machine, "none")["ports", "1521/tcp"].status == status

    @cases(
        "enabled files status",
        # A script with nft as its interpreter, and one of a unit.
        ("", {RC: "/etc/fw.nft", "/etc/fw.nft": "#!/usr/sbin/nft -f\nflush ruleset"}, "error"),
        ("nftables", {f"/usr/lib/{OF}/nftables.service": "ExecStart=nft -f x"}, "pass"),
        ("nftables", {f"/etc/{OF}/nftables.service": "ExecStart=nft -f x"}, "error"),
        ("nftables", {f"/etc/{OF}/nftables.service.d/a.conf": "ExecStartPost=nft -f x"}, "error"),
        ("nftables", {RC: "systemctl restart nftables"}, "pass"),
        ("nftables", {RC: "systemctl stop nftables"}, "error"),
        ("nftables", {f"/usr/lib/{OF}/ip6tables.service": "ExecStart=/x/iptables/a start"}, "pass"),
    )
    def test_units_and_the_scripts_that_they_call(self, judge, enabled, files, status):
        machine = host(enabled=enabled, sockets=LISTENER)
        for path, text in files.items():
            head = "" if path.startswith("/usr/lib") or text.startswith("#!") else "#!/bin/sh\n"
            machine.file(path, f"{head}{text}\n", 0o755)
            if path.endswith(".service"):
                name = path.rpartition("/")[2]
                machine.command(f"systemctl is-enabled {name}", "enabled\n")
        machine.file("/etc/nftables.conf", "table inet filter {\n}\n")
        machine.command("systemctl is-enabled nftables.service", "enabled\n")
        assert judge(machine, "none")["ports", "1521/tcp"].status == status

    @cases(
        "rules enabled states",
        # Docker and libvirt filter what they forward, fail2ban some senders.
        (DOCKER, "firewalld", ("accepted", "accepted")),
        (
            BANNED,
            "firewalld",
            ("accepted for some sources or interfaces (198.51.100.7)", "accepted"),
        ),
        # Rules that no unit loads, beside those of firewalld.
        (":INPUT DROP [0:0]", "firewalld", ("dropped or rejected", "unknown")),
        (":INPUT DROP [0:0]", "iptables", ("dropped or rejected", "accepted")),
        (":INPUT DROP [0:0]\n-A INPUT -i eth0 -j ACCEPT", "firewalld", None),
        (":INPUT DROP [0:0]\n-A INPUT -s 10.0.0.0/8 -j ACCEPT", "", None),
    )
    def test_rules_of_others_in_the_kernel(self, judge, rules, enabled, states):
        machine = save(host(enabled=enabled, sockets=LISTENER), f"*filter\n{rules}\nCOMMIT\n")
        machine.commands.pop("nft -j list ruleset")
        with_firewalld(machine, '<zone><port port="1521" protocol="tcp"/></zone>')
        machine.file("/etc/sysconfig/iptables", "*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n")
        for line in [line for line in machine.commands if line.startswith("systemctl show")]:
            if not enabled:
                machine.command(line, machine.commands[line].stdout.replace("=active", "=inactive"))
        finding = judge(machine, "none")["ports", "1521/tcp"]
        if states is None:
            assert finding.status == "error", (finding.running, finding.persisted)
        else:
            assert (finding.running, finding.persisted) == states

    def test_rules_in_the_kernel_that_nothing_explains(self, judge):
        machine = host(fixture("named-set.json"), sockets=LISTENER)
        for line in [line for line in machine.commands if line.startswith("systemctl show")]:
            machine.command(line, machine.commands[line].stdout.replace("=active", "=inactive"))
        finding = judge(machine, "none")["ports", "1521/tcp"]
        assert finding.status == "error" and "no unit or script" in finding.why


UFW_RULES = "### RULES ###\n"


class TestUfw:
    """The files of ufw 0.36.2 as Debian 12 installs them."""

    @cases(
        "rule changes status",
        ("-A ufw-user-input -p tcp --dport 22 -j ACCEPT", {}, "fail"),
        ("-A ufw-user-input -p tcp --dport 1521 -j ACCEPT", {}, "pass"),
        ("-A ufw-user-input -p tcp --dport 1521 -s 10.0.0.0/8 -j ACCEPT", {}, "pass"),
        (
            "-A ufw-user-input -p tcp --dport 1521 -m conntrack --ctstate NEW -m recent --set\n"
            "-A ufw-user-input -p tcp --dport 1521 -m conntrack --ctstate NEW -m recent "
            "--update --seconds 30 --hitcount 6 -j ufw-user-limit\n"
            "-A ufw-user-input -p tcp --dport 1521 -j ufw-user-limit-accept",
            {},
            "pass",
        ),
        ("-A ufw-user-input -i eth0 -j ACCEPT", {}, "pass"),
        ("-A ufw-user-output -p tcp --sport 1521 -j REJECT", {}, "fail"),
        ("", {"ENABLED=yes": "ENABLED=no"}, "pass"),
        ("", {'INPUT_POLICY="DROP"': 'INPUT_POLICY="ACCEPT"'}, "pass"),
        ("", {'INPUT_POLICY="DROP"': 'INPUT_POLICY="REJECT"'}, "fail"),
        ("", {'INPUT_POLICY="DROP"': ""}, "error"),
        (
            "-A ufw-user-input -p tcp --dport 1521 -j ACCEPT",
            {'OUTPUT_POLICY="ACCEPT"': 'OUTPUT_POLICY="DROP"'},
            "pass",
        ),
    )
    def test_the_next_boot(self, judge, rule, changes, status):
        texts = {
            "/etc/ufw/ufw.conf": "ENABLED=yes\nLOGLEVEL=low\n",
            "/etc/default/ufw": 'DEFAULT_INPUT_POLICY="DROP"\nDEFAULT_OUTPUT_POLICY="ACCEPT"\n',
            "/etc/ufw/before.rules": fixture("ufw-before.rules"),
            "/etc/ufw/user.rules": fixture("ufw-user.rules").replace(
                UFW_RULES, f"{UFW_RULES}{rule}\n"
            ),
            "/etc/ufw/after.rules": "*filter\n:ufw-after-input - [0:0]\n"
            "-A ufw-after-input -p udp --dport 137 -j ufw-skip-to-policy-input\nCOMMIT\n",
        }
        machine = host(enabled="ufw", sockets=LISTENER)
        for path, text in texts.items():
            for old, new in changes.items():
                text = text.replace(old, new)
            machine.file(path, text)
        findings = judge(machine, "none")
        finding = findings["ports", "1521/tcp"]
        assert finding.status == status
        if "ufw-user-output" not in rule and status == "fail":
            assert finding.commands == ("ufw allow 1521/tcp",)
        if "hitcount" in rule:
            assert findings["rate_limit", "1521/tcp"].persisted == "recent hitcount 6"

    @cases(
        "before status",
        ("*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n", "pass"),
        ("*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p udp -j NOTRACK\nCOMMIT\n", "pass"),
        ("*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p tcp -j DROP\nCOMMIT\n", "fail"),
    )
    def test_other_tables_of_before_rules(self, judge, before, status):
        machine = host(enabled="ufw", sockets=LISTENER).file("/etc/ufw/ufw.conf", "ENABLED=yes\n")
        policies = 'DEFAULT_INPUT_POLICY="DROP"\nDEFAULT_OUTPUT_POLICY="ACCEPT"\n'
        machine.file("/etc/default/ufw", policies)
        rule = "-A ufw-user-input -p tcp --dport 1521 -j ACCEPT\n"
        machine.file("/etc/ufw/before.rules", before + fixture("ufw-before.rules"))
        user = fixture("ufw-user.rules").replace(UFW_RULES, UFW_RULES + rule)
        machine.file("/etc/ufw/user.rules", user).file("/etc/ufw/after.rules", "*filter\nCOMMIT\n")
        assert judge(machine, "none")["ports", "1521/tcp"].status == status


class TestAdvice:
    """Each fix is followed as it is written."""

    def test_only_the_reload_is_missing(self, judge):
        rules = fixture("limited.json")
        of_firewalld = rules.replace('"table": "filter"', '"table": "firewalld"')
        for running, fix, commands in (
            (of_firewalld, "load the files of firewalld", ("firewall-cmd --reload",)),
            # A table that firewalld does not make.
            (rules, "remove the rule that drops 1521/tcp where it was added manually", ()),
        ):
            machine = host(running, enabled="firewalld", sockets=LISTENER)
            zone = '<zone><rule family="ipv4"><source address="10.1.0.0/16"/><port port="1521"'
            with_firewalld(machine, zone + ' protocol="tcp"/><accept/></rule></zone>')
            finding = judge(machine, "none")["ports", "1521/tcp"]
            assert (finding.status, finding.failing_layer) == ("fail", "running")
            assert finding.fix.startswith(fix) and finding.commands == commands

    def test_the_file_drops_and_an_unread_rule_runs(self, judge):
        """Field report fx03."""
        text = "-A INPUT -m set --match-set dbclients src -p tcp -m tcp --dport 1521 -j ACCEPT"
        machine = save(
            host(enabled="iptables", sockets=LISTENER),
            f"*filter\n:INPUT DROP [0:0]\n{text}\nCOMMIT\n",
        )
        machine.commands.pop("nft -j list ruleset")
        machine.file("/etc/sysconfig/iptables", "*filter\n:INPUT DROP [0:0]\nCOMMIT\n")
        finding = judge(machine, "none")["ports", "1521/tcp"]
        assert (finding.status, finding.failing_layer) == ("fail", "persisted")
        assert finding.fix == (
            "put '-A INPUT -p tcp -m tcp --dport 1521 -j ACCEPT' into /etc/sysconfig/iptables, "
            "above the first rule that drops or rejects, and above COMMIT"
        )

    @cases(
        "zone fix commands",
        (
            "<zone/>",
            "open 1521/tcp in the zone public of firewalld; then load the files of firewalld",
            ("firewall-cmd --permanent --zone=public --add-port=1521/tcp", "firewall-cmd --reload"),
        ),
        (
            f"<zone>{DROPS}</zone>",
            "remove the rich rule or policy of the zone public that drops 1521/tcp; "
            "then load the files of firewalld",
            ("firewall-cmd --reload",),
        ),
    )
    def test_both_are_wrong(self, judge, zone, fix, commands):
        machine = host(fixture("limited.json"), enabled="firewalld", sockets=LISTENER)
        finding = judge(with_firewalld(machine, zone), "none")["ports", "1521/tcp"]
        assert (finding.fix, finding.commands) == (fix, commands)

    def test_a_rule_that_no_file_has(self, judge):
        finding = judge(host(fixture("limited.json"), sockets=LISTENER), "none")[
            "ports", "1521/tcp"
        ]
        assert finding.fix.startswith(
            "remove the rule that drops 1521/tcp where it was added manually"
        )


@pytest.mark.skipif(not SHARED.exists(), reason="../shared is not here")
@cases("name", "block", "drop", "public", "trusted", "home")
def test_zones_as_firewalld_ships_them(judge, name):
    machine = with_firewalld(host(enabled="firewalld"), "")
    machine.file(
        "/etc/firewalld/zones/public.xml", (SHARED / f"firewalld/zones/{name}.xml").read_text()
    )
    for service in ("mdns", "samba-client"):
        machine.file(f"/usr/lib/firewalld/services/{service}.xml", "<service/>")
    assert judge(machine)["ports", "1521/tcp"].status == ("pass" if name == "trusted" else "fail")


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

    @pytest.mark.parametrize(
        "path", sorted(firewall_packs.FOLDER.glob("*.nft")), ids=lambda path: path.name
    )
    def test_a_file_and_what_the_kernel_makes_of_it_are_the_same(self, path):
        listed = _in_namespace(f"nft -f {path}; nft -j list ruleset")
        of_text, (of_json, _foreign) = nft_text.parse(path.read_text()), nft_json.parse(listed)
        packets_to_try = [
            packets.Packet(protocol, port, direction, interface, remote)
            for protocol in ("tcp", "udp")
            for port in (22, 53, 80, 443, 1521, 1525, 2049, 5000, 6200, 42424, 60000)
            for direction in ("in", "out")
            for interface in ("", "eth0", "eth1")
            for remote in ((), tuple(packets.networks_of("10.1.0.5")))
        ]
        differing = [
            packet
            for packet in packets_to_try
            for text, kernel in [(packets.reach(of_text, packet), packets.reach(of_json, packet))]
            if (text.state, text.limits, text.is_reply)
            != (kernel.state, kernel.limits, kernel.is_reply)
        ]
        assert differing == []

    def test_dropped_in_the_kernel_and_not_in_the_files(self, judge, tmp_path):
        rules = tmp_path / "rules.nft"
        rules.write_text(fixture("limited.nft"))
        machine = host(_in_namespace(f"nft -f {rules}; nft -j list ruleset"), enabled="nftables")
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
        found = [state(tables, port, direction="out") for port in (1521, 1525)]
        assert found == [*("blocked", "open")]
        assert connected == "[111, 0]"

    def test_no_rules_is_the_same_everywhere(self):
        assert nft_json.parse(_in_namespace("nft -j list ruleset")) == nft_json.parse(NO_RULES)
