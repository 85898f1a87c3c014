"""What the kernel and iproute2 show of sockets and addresses."""

import os
import socket
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.net import ip_addr, proc_net_tcp
from cases import cases


class TestProcNetTcp:
    def test_ipv4(self, fixture_text):
        sockets = proc_net_tcp.parse(fixture_text("proc_net_tcp/linux-6.18-tcp.txt"), "little")
        client = next(entry for entry in sockets if entry.inode == 80853)
        assert client == ("192.0.2.10", 37291, "192.0.2.20", 2049, proc_net_tcp.ESTABLISHED, 80853)
        assert (sockets[0].local_port, sockets[0].state, sockets[0].remote) == (2049, 10, "0.0.0.0")

    def test_ipv6_and_ipv4_in_ipv6(self, fixture_text):
        sockets = proc_net_tcp.parse(fixture_text("proc_net_tcp/linux-6.18-tcp6.txt"), "little")
        by_inode = {entry.inode: entry for entry in sockets}
        assert by_inode[80856].remote == "2001:db8::10"
        assert by_inode[80858].remote == "192.0.2.20"
        assert {by_inode[inode].remote_port for inode in (80856, 80858)} == {2049}

    def test_byte_order_of_the_machine(self):
        head = "  sl  local_address rem_address   st\n"
        line = "   0: C000020A:0801 C0000214:0801 01 0:0 00:0 0     0        0 7 1\n"
        assert proc_net_tcp.parse(head + line, "big")[0].local == "192.0.2.10"

    @cases(
        "text where",
        ("", "line 1"),
        ("  sl  local_address rem_address   st\n   0: 1402\n", "line 2"),
        ("  sl  local_address rem_address   st\n   0: 14:1 14:1 01 0 0 0 0 0 x\n", "line 2"),
    )
    def test_another_text(self, text, where):
        with pytest.raises(ParseError, match=f"/proc/net/tcp, {where}"):
            proc_net_tcp.parse(text)

    def test_this_kernel_shows_a_socket_of_this_process(self):
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            with socket.create_connection(server.getsockname()) as client:
                inode = os.fstat(client.fileno()).st_ino
                sockets = proc_net_tcp.parse(Path("/proc/self/net/tcp").read_text())
                mine = next(entry for entry in sockets if entry.inode == inode)
                assert (mine.local, mine.local_port) == client.getsockname()
                assert (mine.remote, mine.remote_port) == server.getsockname()
                assert mine.state == proc_net_tcp.ESTABLISHED


class TestIpAddr:
    def test_addresses_and_their_networks(self, fixture_text):
        addresses = ip_addr.parse(fixture_text("ip_addr/iproute2-6.1.txt"))
        assert [
            (address.interface, address.address, str(address.network)) for address in addresses
        ][1:5] == [
            ("lo", "192.0.2.10", "192.0.2.0/24"),
            ("lo", "198.51.100.10", "198.51.100.0/24"),
            ("lo", "192.0.2.20", "192.0.2.0/24"),
            ("lo", "2001:db8::10", "2001:db8::/64"),
        ]

    def test_the_network_of_a_point_to_point_link_is_the_peers(self):
        line = "5: tun0    inet 10.8.0.2 peer 10.8.0.1/32 scope global tun0\n"
        address = ip_addr.parse(line)[0]
        assert (address.address, str(address.network)) == ("10.8.0.2", "10.8.0.1/32")

    @cases("line", "1: lo", "1: lo link 00:00", "1: lo inet 192.0.2.300/24")
    def test_another_text(self, line):
        with pytest.raises(ParseError, match="ip -o addr, line 1"):
            ip_addr.parse(line + " x")
