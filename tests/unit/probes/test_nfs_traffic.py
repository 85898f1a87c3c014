"""What NFS mounts did between two readings of the kernel's counters."""

import pytest
from ansible.module_utils.hostproof.errors import HostproofError, ParseError, Unanswered
from ansible.module_utils.hostproof.probes.nfs import nfs_traffic
from ansible.module_utils.hostproof.probes.nfs.nfs_traffic import (
    ConnectionDelta,
    OpRates,
    RpcCalls,
    TcpDelta,
    read_traffic,
)
from cases import cases
from packs import Machine

MOUNTINFO = (
    "25 1 253:0 / / rw - xfs /dev/sda1 rw\n"
    "40 25 0:45 / /u02 rw - nfs filer:/vol rw,vers=3,proto=tcp,addr=10.0.0.5\n"
)
TCP = "tcp 877 1 2 0 3 {sends} {sends} 1 50 {backlog} 16 0 0"
SS = "command:ss -tine dport = :2049"


def stats(
    age: int = 100,
    ops: int = 1000,
    again: int = 0,
    sends: int = 5000,
    backlog: int = 0,
    xprts: int = 1,
    tail: str = " 0",
    path: str = "/u02",
) -> str:
    lines = [f"device filer:/vol mounted on {path} with fstype nfs statvers=1.1"]
    lines += ["\topts:\trw,vers=3,proto=tcp", f"\tage:\t{age}"]
    lines += ["\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)"]
    lines += ["\txprt:\t" + TCP.format(sends=sends, backlog=backlog)] * xprts
    lines += ["\tper-op statistics", f"\t     GETATTR: {ops} {ops} 0 0 0 0 0 0{tail}"]
    counts = f"{ops} {ops + again} {again} {ops * 160} {ops * 8192} {ops} {ops * 4} {ops * 5}"
    lines += [f"\t        READ: {counts}{tail}", "\t       WRITE: 0 0 0 0 0 0 0 0"]
    return "\n".join(lines) + "\n\n"


def host(first: str, second: str, mountinfo: str = MOUNTINFO) -> Machine:
    machine = Machine().file("/proc/self/mountinfo", mountinfo)
    return machine.sampled(nfs_traffic.SAMPLE, "file:/proc/self/mountstats", first, second)


def only(first: str, second: str) -> nfs_traffic.MountTraffic:
    (mount,) = read_traffic(host(first, second), 10).mounts.values()
    return mount


class TestMount:
    def test_rates_are_of_the_window(self):
        mount = only(stats(), stats(110, 1500, 3, sends=6003, backlog=2006))
        assert mount.ops["READ"] == OpRates(
            500, 50.0, 3, 0, 1.0, 4.0, 5.0, pytest.approx(0.398, abs=0.001)
        )
        assert (mount.server, mount.version, mount.transports) == ("10.0.0.5", "3", ("tcp:877",))
        assert (mount.all_ops, mount.all_retransmissions, mount.all_timeouts) == (1000, 3, 3)
        assert (mount.sends, mount.receives, mount.bad_xids, mount.reconnects) == (1003, 1003, 0, 0)
        assert mount.backlog == 2.0 and mount.max_slots == 16 and not mount.remounted

    def test_nothing_happened(self):
        mount = only(stats(), stats(110))
        assert mount.ops["READ"].ops == 0 and mount.ops["READ"].rtt_ms is None
        assert "WRITE" not in mount.ops and not mount.remounted

    def test_an_operation_that_was_first_used_in_the_window(self):
        mount = only(
            stats().replace("READ: 1000", "READ: 0 0 0 0 0 0 0 0 0\n\t LINK: 1"), stats(110)
        )
        assert mount.ops["READ"].ops == 1000

    def test_all_connections_are_summed(self):
        mount = only(stats(xprts=4), stats(110, sends=6000, xprts=4))
        assert (mount.connections, mount.sends) == (4, 4000)

    def test_a_kernel_without_errors(self):
        assert only(stats(tail=""), stats(110, 1500, tail="")).ops["READ"].errors is None

    @cases(
        "first second",
        (stats(), stats(age=3, ops=2000)),
        (stats(age=2), stats(age=4, ops=2000)),
        (stats(), stats(110, ops=999)),
        (stats(), stats(110, sends=10)),
        (stats(xprts=4), stats(110, xprts=2)),
        (stats(path="/u03"), stats(110)),
    )
    def test_made_anew(self, first, second):
        mount = only(first, second)
        assert mount.remounted and mount.ops == {} and mount.age > 0

    def test_ages_are_rounded_down(self):
        assert not only(stats(100), stats(109)).remounted

    def test_a_mount_that_went_away(self):
        assert (
            read_traffic(
                host(stats(), "device proc mounted on /proc with fstype proc\n"), 10
            ).mounts
            == {}
        )

    def test_an_address_of_six(self):
        mountinfo = MOUNTINFO.replace("10.0.0.5", "2001:DB8::5")
        (mount,) = read_traffic(host(stats(), stats(110), mountinfo), 10).mounts.values()
        assert mount.server == "2001:db8::5"


class TestSources:
    def test_the_sample_is_the_evidence(self):
        machine = host(stats(), stats(110))
        assert read_traffic(machine, 10).evidence == ("sample:nfs_traffic",)
        assert "sample:nfs_traffic" in machine.evidence

    def test_no_mountstats_no_traffic(self):
        with pytest.raises(Unanswered, match="mountstats"):
            read_traffic(Machine().file("/proc/self/mountinfo", MOUNTINFO), 10)
        with pytest.raises(ParseError):
            read_traffic(host("nothing\n", "nothing\n"), 10)

    def test_what_is_missing_besides_is_unknown(self):
        traffic = read_traffic(host(stats(), stats(110)), 10)
        for answer in (traffic.calls, traffic.tcp, traffic.connections):
            assert isinstance(answer, HostproofError)

    def test_ports_of_the_mounts_are_asked_for(self):
        queries = []

        class Asked(Machine):
            def sample(self, name, files, commands, seconds):
                queries.extend(commands)
                return super().sample(name, files, commands, seconds)

        machine = Asked().file("/proc/self/mountinfo", MOUNTINFO.replace("addr", "port=4711,addr"))
        with pytest.raises(HostproofError):
            read_traffic(machine, 10)
        assert queries == [["ss", "-tine", "dport", "=", ":2049", "or", "dport", "=", ":4711"]]


def wire(**texts: tuple[str, str]) -> nfs_traffic.Traffic:
    machine = host(stats(), stats(110))
    names = {
        "rpc": "file:/proc/net/rpc/nfs",
        "snmp": "file:/proc/net/snmp",
        "netstat": "file:/proc/net/netstat",
        "ss": SS,
    }
    for name, (first, second) in texts.items():
        machine.sampled(nfs_traffic.SAMPLE, names[name], first, second)
    return read_traffic(machine, 10)


SNMP = "Ip: ReasmFails\nIp: {0}\nTcp: InSegs OutSegs RetransSegs\nTcp: {1} {2} {3}\n"


class TestHost:
    def test_calls(self):
        assert wire(rpc=("rpc 10 1 10\n", "rpc 30 4 30\n")).calls == RpcCalls(20, 3)

    def test_tcp(self):
        texts = (SNMP.format(1, 100, 200, 3), SNMP.format(2, 150, 290, 7))
        assert wire(snmp=texts).tcp == TcpDelta(90, 4, 50, None, 1)
        netstat = ("TcpExt: TCPOFOQueue\nTcpExt: 5\n", "TcpExt: TCPOFOQueue\nTcpExt: 8\n")
        assert wire(snmp=texts, netstat=netstat).tcp == TcpDelta(90, 4, 50, 3, 1)

    def test_tcp_counters_that_went_back(self):
        texts = (SNMP.format(1, 100, 200, 3), SNMP.format(1, 150, 190, 3))
        assert isinstance(wire(snmp=texts).tcp, Unanswered)


def connection(
    sent: int,
    again: int = 0,
    data: int = 0,
    order: int = 0,
    *,
    local: str = "10.0.0.1:877",
    who: str = "",
) -> str:
    return (
        f"ESTAB 0 0 {local} 10.0.0.5:2049{who} ino:0 sk:1\n"
        f"\t cubic rtt:0.5/0.1 segs_out:{sent} data_segs_in:{data} retrans:0/{again} minrtt:0.1"
        f" rcv_ooopack:{order} snd_wnd:1\n"
    )


class TestConnections:
    def test_differences_by_server(self):
        first = connection(100, 5, 50, 1) + connection(10, local="10.0.0.1:900")
        second = connection(300, 9, 80, 3) + connection(20, local="10.0.0.1:900")
        assert wire(ss=(first, second)).connections == {
            "10.0.0.5": ConnectionDelta(2, 0.5, 0.1, 210, 4, 30, 2)
        }

    def test_a_new_connection_began_at_0(self):
        connections = wire(ss=("", connection(300, 9, 80, 3))).connections
        assert connections["10.0.0.5"] == ConnectionDelta(1, 0.5, 0.1, 300, 9, 80, 3)

    def test_a_connection_made_anew_on_its_port(self):
        connections = wire(ss=(connection(9000, 70, 5000), connection(300, 9, 80))).connections
        assert connections["10.0.0.5"] == ConnectionDelta(1, 0.5, 0.1, 300, 9, 80, 0)

    def test_connections_of_direct_nfs_are_the_databases(self):
        assert wire(ss=("", connection(300, 90, who=" uid:54321"))).connections == {}

    def test_what_ss_does_not_tell(self):
        line = "ESTAB 0 0 10.0.0.1:877 10.0.0.5:2049\n\t cubic rtt:0.5/0.1\n"
        assert wire(ss=(line, line)).connections == {
            "10.0.0.5": ConnectionDelta(1, 0.5, None, None, 0, None, None)
        }
