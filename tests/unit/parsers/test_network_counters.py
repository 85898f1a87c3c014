"""Counters of the network: RPC, TCP and IP of the host, and what ss tells of a connection."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.net import proc_net_snmp, socket_info
from ansible.module_utils.hostproof.parsers.nfs import proc_net_rpc_nfs
from ansible.module_utils.hostproof.parsers.nfs.proc_net_rpc_nfs import Calls
from cases import cases

CONNECTION = "ESTAB 0 0 10.9.0.1:674 10.9.0.2:2049 uid:0 ino:0 sk:1001 <->\n"


class TestRpc:
    def test_recorded(self, fixture_text):
        first, second = [
            proc_net_rpc_nfs.parse(fixture_text(f"proc_net_rpc_nfs/linux-6.1-load-{number}.txt"))
            for number in (1, 2)
        ]
        assert proc_net_rpc_nfs.difference(first, second) == Calls(5307, 0)

    def test_a_counter_that_ran_over(self):
        difference = proc_net_rpc_nfs.difference(Calls(4294967290, 4294967295), Calls(10, 1))
        assert difference == Calls(16, 2)

    def test_a_module_that_was_loaded_anew(self):
        with pytest.raises(ParseError, match="loaded again"):
            proc_net_rpc_nfs.difference(Calls(100000, 0), Calls(10, 0))

    @cases("text", "", "net 0 0 0 0\n", "rpc 5\n", "rpc a b c\n")
    def test_something_else(self, text):
        with pytest.raises(ParseError):
            proc_net_rpc_nfs.parse(text)


class TestSnmp:
    def test_recorded(self, fixture_text):
        groups = proc_net_snmp.parse(fixture_text("proc_net_snmp/linux-6.1-snmp-load-1.txt"))
        assert groups["Tcp"]["MaxConn"] == -1 and groups["Ip"]["ReasmFails"] == 0
        groups = proc_net_snmp.parse(fixture_text("proc_net_snmp/linux-6.1-netstat-loss-2.txt"))
        assert "TCPOFOQueue" in groups["TcpExt"]

    @cases(
        "text", "", "Tcp: A B\n", "Tcp: A B\nUdp: 1 2\n", "Tcp: A B\nTcp: 1\n", "Tcp: A\nTcp: x\n"
    )
    def test_something_else(self, text):
        with pytest.raises(ParseError):
            proc_net_snmp.parse(text)


class TestSocketInfo:
    @cases("kernel", "5.10", "6.1", "6.12")
    def test_recorded(self, kernel, fixture_text):
        connections = socket_info.parse(fixture_text(f"socket_info/linux-{kernel}-load-2.txt"))
        filers = [entry for entry in connections if entry.peer_port == 2049]
        assert {filer.peer for filer in filers} == {"10.9.0.2", "10.9.1.2"}
        for connection in filers:
            assert (
                connection.rtt_ms
                and connection.least_rtt_ms
                and connection.segments_sent
                and connection.data_received
            )

    def test_loss(self, fixture_text):
        connections = socket_info.parse(fixture_text("socket_info/linux-6.1-loss-2.txt"))
        assert max(connection.retransmitted for connection in connections) > 200

    def test_a_release_that_does_not_tell_of_disorder(self, fixture_text):
        connections = socket_info.parse(fixture_text("socket_info/linux-5.10-load-2.txt"))
        assert {connection.out_of_order for connection in connections} == {None}

    def test_what_is_not_shown_is_none(self):
        text = CONNECTION + "\t cubic rtt:0.4/0.1 segs_out:5 data_segs_in:4 minrtt:0.1 snd_wnd:9\n"
        (connection,) = socket_info.parse(
            "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n" + text
        )
        assert (
            connection.retransmitted,
            connection.out_of_order,
            connection.rtt_ms,
            connection.uid,
        ) == (0, 0, 0.4, 0)

    def test_everything(self):
        text = CONNECTION.replace("uid:0", "uid:54321") + (
            "\t cubic wscale:7,7 rtt:12.5/3 bytes_retrans:820 segs_out:30625 segs_in:17551\n"
            "\t data_segs_out:28348 data_segs_in:16060 retrans:1/33 dsack_dups:3 minrtt:0.02"
            " rcv_ooopack:271 snd_wnd:880128\n"
        )
        assert socket_info.parse(text) == [
            socket_info.Connection(
                "ESTAB",
                "10.9.0.1",
                674,
                "10.9.0.2",
                2049,
                54321,
                12.5,
                0.02,
                33,
                30625,
                16060,
                271,
                data_sent=28348,
            )
        ]

    def test_no_connection_is_an_answer(self):
        assert socket_info.parse("") == []

    @cases(
        "shown plain",
        ("[2001:DB8::1]", "2001:db8::1"),
        ("[fe80::1%eth0]", "fe80::1"),
        ("[::ffff:10.0.0.5]", "10.0.0.5"),
        ("10.0.0.5%eth0", "10.0.0.5"),
    )
    def test_one_form_of_an_address(self, shown, plain):
        assert socket_info.plain_address(shown) == plain
        (connection,) = socket_info.parse(f"ESTAB 0 0 {shown}:700 {shown}:2049\n")
        assert (connection.peer, connection.peer_port) == (plain, 2049)

    @cases("text", "\t cubic rtt:1/1\n", "ESTAB 0 0 nowhere\n", "x\n")
    def test_something_else(self, text):
        with pytest.raises(ParseError):
            socket_info.parse(text)
