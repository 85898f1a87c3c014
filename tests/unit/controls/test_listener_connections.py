"""The nodes that a listener accepts, and the connections that it loses."""

import html
import re

import pytest
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.parsers.oracle import listener_log, oracle_net
from cases import cases
from listener_packs import AGENT, ESTABLISH, GRID, LIMITED, LOG, OPEN, linux, listener_policy, wants

ON = "TCP.VALIDNODE_CHECKING = yes\n"
INVITED, ADD = ON + "TCP.INVITED_NODES = ", "add db01.example.com to"
OWN = {"db01_example_com": "192.0.2.10"}


@pytest.fixture
def one(valid):
    def judge(machine, **changes):
        findings = audit.judge_host(machine, {"listener_rate_limit": listener_policy(**changes)})
        return {finding.check.partition(".")[2]: finding for finding in findings}

    judged = valid(judge)
    return lambda check, machine, **changes: judged(machine, **changes)[check]


def host(text=OPEN, **options):
    return linux().listener(text, **options).socket(1521, 128)


#: The host of the listener is not invited: the next start ends with TNS-00584.
REJECTED = INVITED + "(192.0.2.9)\n"


@cases(
    "check machine first",
    ("loaded", lambda: host(changed=8000), None),
    ("loaded", lambda: host(changed=8000).sqlnet(REJECTED), "valid_nodes"),
    ("loaded", lambda: linux().listener(OPEN).sqlnet(REJECTED), "valid_nodes"),
    ("queue_size", lambda: linux().listener(LIMITED).socket(1521, 128), None),
    (
        "queue_size",
        lambda: linux().listener(LIMITED).socket(1521, 128).sqlnet(REJECTED),
        "valid_nodes",
    ),
)
def test_no_restart_of_a_listener_that_would_not_start_again(one, check, machine, first):
    finding = one(check, machine(), **wants())
    correct = f"correct listener_rate_limit.{first} first"
    assert finding.status == "fail" and "restart" in finding.fix
    assert (correct in finding.fix.partition("restart")[0]) == (first is not None), finding.fix
    assert first is None or not finding.commands


class TestValidNodes:
    @cases(
        "text found status fix",
        ("SQLNET.EXPIRE_TIME = 10\n", {}, "skip", ""),
        ("tcp.invited_nodes = (app9)\n", {}, "skip", ""),
        ("tcp.validnode_checking = no\ntcp.invited_nodes = (app9)\n", {}, "skip", ""),
        (INVITED + "(db01.example.com)\n", OWN, "pass", ""),
        (INVITED + "(DB01, 192.0.2.9)\n", {"DB01": "192.0.2.10"}, "pass", ""),
        (INVITED + "(192.0.2.10)\n", {}, "pass", ""),
        (INVITED + "(192.0.2.*)\n", {}, "pass", ""),
        (INVITED + "(192.0.2.0/24, 10.1.0.0/16)\n", {}, "pass", ""),
        (INVITED + "(dbalias)\n", {"dbalias": "192.0.2.10"}, "pass", ""),
        (INVITED + "(db01.example.com, app9)\n", {**OWN, "app9": ""}, "fail", "correct app9"),
        (
            "tcp.validnode_checking=YES\ntcp.invited_nodes=\n  (db01.example.com,\n   app9)\n",
            {**OWN, "app9": ""},
            "fail",
            "correct app9",
        ),
        (INVITED + "(192.0.2.9)\n", {}, "fail", ADD),
        (INVITED + "(10.1.0.0/16)\n", {}, "fail", ADD),
        (INVITED + "(app1)\n", {"app1": "192.0.2.9"}, "fail", ADD),
        (INVITED + "(db01.example.com)\n", {"db01_example_com": ""}, "fail", ""),
        (ON + "TCP.EXCLUDED_NODES = (app9)\n", {"app9": ""}, "fail", "correct app9"),
        (ON + "TCP.EXCLUDED_NODES = (app9)\n", {"app9": "192.0.2.9"}, "pass", ""),
        (INVITED + "(192.*.*.*)\n", {}, "pass", ""),
        (INVITED + "(10.*)\n", {}, "fail", ADD),
        (INVITED + "(::1, 2001:db8::/32, 192.0.2.10)\n", {}, "pass", ""),
        ("tcp.validnode_checking = (yes)\ntcp.invited_nodes = (10.1.0.1)\n", {}, "fail", ""),
        # * is for IPv4 addresses; what is not an address is a name.
        (INVITED + "(*.example.com, 192.0.2.10)\n", {}, "fail", "*.example.com"),
        (INVITED + "(192.0.2.10, 192.0.2.300)\n", {}, "fail", "192.0.2.300"),
        (INVITED + "(192.0.2.10, 10.1.0.0/33)\n", {}, "fail", "10.1.0.0/33"),
        # Connections between addresses of this host do not come from a loopback address.
        (INVITED + "(127.0.0.1)\n", {}, "fail", ADD),
        (INVITED + "(localhost)\n", {"localhost": "127.0.0.1"}, "fail", ADD),
    )
    def test_what_the_next_start_makes_of_the_lists(self, one, text, found, status, fix):
        finding = one("valid_nodes", host().sqlnet(text, **found))
        assert (finding.status, fix in (finding.fix or "")) == (status, True), finding
        if status == "fail":
            assert finding.failing_layer == "persisted" and "TNS-00584" in finding.why
            assert "do not restart the listener before" in finding.why

    @cases(
        "lists status",
        ("TCP.EXCLUDED_NODES = (192.0.2.10)\n", "fail"),
        ("TCP.EXCLUDED_NODES = (192.0.2.*)\n", "fail"),
        ("TCP.EXCLUDED_NODES = (DB01)\n", "fail"),
        ("TCP.EXCLUDED_NODES = (10.*)\n", "pass"),
        # The list of invited nodes takes precedence.
        ("TCP.EXCLUDED_NODES = (192.0.2.10)\nTCP.INVITED_NODES = (192.0.2.10)\n", "pass"),
    )
    def test_this_host_is_excluded(self, one, lists, status):
        finding = one("valid_nodes", host().sqlnet(ON + lists, DB01="192.0.2.10"))
        assert finding.status == status
        if status == "fail":
            assert "cannot register" in finding.why and "TNS-00584" not in finding.why
            entry = lists.partition("(")[2].rstrip(")\n")
            assert finding.fix.startswith(f"correct {entry} in TCP.EXCLUDED_NODES")

    def test_one_unknown_name_hides_no_failure(self, one):
        machine = host().sqlnet(INVITED + "(app1, app9)\n", app9="")
        machine.command("getent ahosts app1", "", 3)
        finding = one("valid_nodes", machine)
        assert (finding.status, "app9 does not resolve" in finding.why) == ("fail", True)
        assert "Not known: " in finding.why
        assert one("valid_nodes", host().sqlnet(INVITED + "(x")).status == "error"
        assert one("valid_nodes", host()).status == "skip"

    def test_the_file_of_tns_admin_with_ifile(self, one):
        def elsewhere():
            machine = linux().listener(OPEN, path="/etc/tns/listener.ora", TNS_ADMIN="/etc/tns")
            return machine.sqlnet(INVITED + "(192.0.2.77)\n")

        assert one("valid_nodes", elsewhere()).status == "skip"
        machine = elsewhere().file("/etc/tns/sqlnet.ora", ON + "IFILE = /etc/tns/nodes.ora\n")
        machine.file("/etc/tns/nodes.ora", "TCP.INVITED_NODES = (192.0.2.77)\n")
        finding = one("valid_nodes", machine)
        assert (finding.status, "/etc/tns/nodes.ora" in finding.fix) == ("fail", True)
        machine = elsewhere().file("/etc/tns/sqlnet.ora", ON + "IFILE = /etc/tns/gone.ora\n")
        finding = one("valid_nodes", machine)
        assert (finding.status, "IFILE of /etc/tns/sqlnet.ora" in finding.why) == ("error", True)

    def test_only_the_lists_are_recorded(self):
        text = "WALLET_LOCATION = (SOURCE=(METHOD=FILE))\n" + ON + "tcp.invited_nodes=(a,b) # x\n"
        assert oracle_net.kept_nodes(text) == ON + "tcp.invited_nodes=(a,b)\n"


def stack(code, *lines, minute=50):
    return ESTABLISH.format(minute=minute, second=1, code=code) + "".join(
        f"{' ' * number}{line}\n" for number, line in enumerate(lines)
    )


HANDOFF = "TNS-12518: TNS:listener could not hand off client connection"
LOST = "TNS-12547: TNS:lost contact"
QUOTA = "TNS-12549: TNS:operating system resource quota exceeded"
NO_PROCESS = "Linux Error: 11: Resource temporarily unavailable"
SLOW = ("TNS-12525: TNS:listener has not received client's request in time allowed",)
SLOW += ("TNS-12535: TNS:operation timed out", "TNS-12606: TNS: Application timeout occurred")
GOOD = "".join(ESTABLISH.format(minute=n, second=n, code=0) for n in range(40))


class TestLostConnections:
    @cases(
        "lines status in_use fix",
        ("", "pass", "0 times TNS-12518, 0 times TNS-12547, 0 times TNS-12535", ""),
        (stack(12514, "TNS-12514: TNS:listener does not know of service"), "pass", "0 times", ""),
        (stack(12518), "warn", "1 times TNS-12518", "V$RESOURCE_LIMIT"),
        (stack(12518, HANDOFF, QUOTA, NO_PROCESS), "warn", "1 times TNS-12518", "nproc"),
        (
            stack(12518, HANDOFF, LOST, "Linux Error: 32: Broken pipe"),
            "warn",
            "1 times TNS-12518, 0 times TNS-12547",
            "the alert log",
        ),
        (
            stack(12518, HANDOFF, "TNS-12536: x", "Linux Error: 12: Cannot allocate memory"),
            "warn",
            "1 times TNS-12518",
            "uses up the memory",
        ),
        (stack(12547, LOST) * 2, "warn", "2 times TNS-12547", "read the alert log"),
        (LOST + "\n" + HANDOFF + "\n", "warn", "1 times TNS-12518, 1 times TNS-12547", ""),
        (stack(12525, *SLOW), "pass", "1 times TNS-12535", ""),
        (stack(12525, *SLOW) * 9, "warn", "9 times TNS-12535", "the network and firewalls"),
    )
    def test_what_the_log_counts(self, one, lines, status, in_use, fix):
        finding = one("lost_connections", host().log(GOOD + lines))
        assert (finding.status, in_use in finding.in_use) == (status, True), finding
        assert fix in (finding.fix or ""), finding
        assert ("nproc" in (finding.fix or "")) == (NO_PROCESS in lines)

    def test_the_error_of_the_system_is_counted(self, one):
        text = GOOD + stack(12518, HANDOFF, QUOTA, NO_PROCESS) * 3
        assert (
            "3 times 11 (Resource temporarily unavailable)"
            in one("lost_connections", host().log(text)).why
        )
        log = listener_log.parse(text)
        assert (log.failures, log.codes) == ({12518: 3}, {12518: 3})

    def test_the_xml_log_where_the_text_log_is_gone(self, one):
        lines = GOOD + stack(12518, HANDOFF, QUOTA, NO_PROCESS) + stack(12547, LOST)
        pieces = re.split(r"\n(?=TNS-|\d\d-)", lines.rstrip("\n"))
        messages = "".join(
            "<msg time='2026-11-20T10:00:00.000+01:00' org_id='oracle' comp_id='tnslsnr'\n"
            f" type='UNKNOWN' level='16' pid='7'>\n <txt>{html.escape(piece)}\n </txt>\n</msg>\n"
            for piece in pieces
        )
        xml_path = LOG.replace("trace/listener.log", "alert/log.xml")
        found = [
            one("lost_connections", host().log(text, path))
            for text, path in ((lines, LOG), (f"host_id='x'>\n{messages}", xml_path))
        ]
        assert found[0].in_use == found[1].in_use
        assert found[0].why == found[1].why and "1 times 11 (Resource" in found[0].why

    def test_without_a_log_nothing_is_counted(self, one):
        assert one("lost_connections", host()).status in ("skip", "error")


class TestQueueOfGridInfrastructure:
    @cases(
        "port backlog policy status",
        (1521, 128, {}, "pass"),
        (1521, 128, wants(queuesize=512), "fail"),
        (1521, 512, wants(queuesize=512), "pass"),
        (1521, 128, wants(queuesize=None), "warn"),
        (1522, 128, {}, "skip"),
    )
    def test_by_the_backlog_of_its_port(self, one, port, backlog, policy, status):
        machine = linux().listener(AGENT, home=GRID).socket(port, backlog)
        finding = one("queue_size", machine, **policy)
        assert finding.status == status, finding
        if status not in ("skip",):
            assert f"port 1521 {backlog}" in finding.running
        if status in ("fail", "warn"):
            assert "a listener of the database home" in finding.fix
