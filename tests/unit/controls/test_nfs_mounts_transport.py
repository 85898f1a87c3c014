"""The health of the wire, and who is to blame for it: each row of the diagnosis as a story.

The recorded stories come from virtual machines in which the fault was made: frames that netem
lost in either direction, and disks of the server that were slow.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.errors import Unanswered
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from ansible.module_utils.hostproof.probes.nfs import nfs_mounted, nfs_traffic
from cases import cases
from nfs_packs import Did, Op, listed, nfs_host, nfs_policy, ready_host, shown

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
CHECKS = ("latency", "client_queue", "retransmissions", "nconnect")
#: Seconds between the two readings of each pair of fixtures (SOURCES.md).
PAIRS = {
    "6.1-load": 9.8,
    "6.1-loss": 8.4,
    "6.1-slow": 8.5,
    "6.1-replies-lost": 8.7,
    "6.1-udp-load": 8.5,
    "6.1-udp-loss": 8.5,
    "6.1-udp-slow": 8.5,
}


class Story:
    """The facts of a host, to be changed, and what is judged of one mount of it."""

    def __init__(self, machine: Any = None, path: str = "/u02", **policy: Any) -> None:
        self.path = path
        self.policy = nfs_mounts.policy_from(nfs_policy(**{**listed(), **policy}))
        self.facts = nfs_mounts.read(machine or ready_host(), self.policy)

    def traffic(self, **changes: Any) -> "Story":
        self.facts = self.facts._replace(traffic=self.facts.traffic._replace(**changes))
        return self

    def mount(self, **changes: Any) -> "Story":
        mounts = dict(self.facts.traffic.mounts)
        mounts[self.path] = mounts[self.path]._replace(**changes)
        return self.traffic(mounts=mounts)

    def op(self, name: str = "READ", **changes: Any) -> "Story":
        ops = dict(self.facts.traffic.mounts[self.path].ops)
        ops[name] = ops[name]._replace(**changes)
        return self.mount(ops=ops)

    def connection(self, **changes: Any) -> "Story":
        ((server, delta),) = self.facts.traffic.connections.items()
        return self.traffic(connections={server: delta._replace(**changes)})

    def judge(self, name: str) -> Any:
        (finding,) = [
            finding
            for finding in nfs_mounts.judge(self.facts, self.policy)
            if finding.check == f"nfs_mounts.{name}" and finding.title.startswith(self.path + ": ")
        ]
        return finding

    def statuses(self) -> dict[str, str]:
        return {name: self.judge(name).status for name in CHECKS}


def recorded(name: str, path: str = "/u01/oradata", without: tuple[str, ...] = ()) -> Story:
    """A host as the fixtures of a pair show it; ``without`` are sources that could not be read."""
    kernel, _, what = name.partition("-")
    parts = {
        "file:/proc/self/mountstats": f"mountstats/linux-{name}",
        "file:/proc/net/rpc/nfs": f"proc_net_rpc_nfs/linux-{name}",
        "file:/proc/net/snmp": f"proc_net_snmp/linux-{kernel}-snmp-{what}",
        "file:/proc/net/netstat": f"proc_net_snmp/linux-{kernel}-netstat-{what}",
        "command:ss -tine dport = :2049": f"socket_info/linux-{name}",
    }
    # Over UDP the counters of TCP were not kept.
    without += tuple(
        source
        for source, part in parts.items()
        if "udp" in name and not (FIXTURES / f"{part}-1.txt").exists()
    )
    texts = [
        {
            source: (FIXTURES / f"{part}-{number}.txt").read_text()
            for source, part in parts.items()
            if source not in without
        }
        for number in (1, 2)
    ]
    mountinfo = (FIXTURES / f"mountinfo/linux-{kernel}-nfs.txt").read_text()
    if "udp" in name:
        mountinfo = mountinfo.replace("proto=tcp", "proto=udp")
    errors = {source: f"{source}: absent" for source in without}
    host = RecordedHost(
        {
            "file:/proc/self/mountinfo": {"kind": "file", "text": mountinfo},
            "sample:nfs_traffic": {
                "kind": "sample",
                "seconds": PAIRS[name],
                "first": texts[0],
                "second": texts[1],
                "errors": errors,
            },
        }
    )
    story = Story(
        path=path, mounts=[{"path": path, "source": "filer:/vol/oradata", "class": "datafiles"}]
    )
    story.facts = story.facts._replace(
        mounted=nfs_mounted.read_mounted(host, nfs_mounted.LINUX),
        traffic=nfs_traffic.read_traffic(host, 5),
    )
    return story


class TestRecorded:
    @cases("path", "/u01/oradata", "/u03/redo", "/u05/home")
    def test_an_undisturbed_mount(self, path):
        assert recorded("6.1-load", path).statuses() == {
            "latency": PASS,
            "client_queue": PASS,
            "retransmissions": PASS,
            "nconnect": SKIP,
        }

    @cases("path", "/u01/oradata", "/u03/redo")
    def test_segments_to_the_server_are_lost(self, path):
        finding = recorded("6.1-loss", path).judge("retransmissions")
        assert finding.status == FAIL
        assert "544 of 12483 segments (4.36 %) to 10.9.0.2 again" in finding.why
        assert "lost on the way (network)" in finding.why and "slow" not in finding.why
        assert "ethtool" in finding.fix

    @cases("path", "/u01/oradata", "/u03/redo")
    def test_segments_from_the_server_are_lost(self, path):
        finding = recorded("6.1-replies-lost", path).judge("retransmissions")
        assert finding.status == FAIL
        assert "from 10.9.0.2 arrived out of order" in finding.why and "network" in finding.why

    def test_a_slow_answer_where_segments_are_lost_is_the_networks(self):
        finding = recorded("6.1-replies-lost").judge("latency")
        assert finding.status == WARN and "WRITE of /u01/oradata takes 23.9 ms" in finding.why
        assert "network" in finding.why and "server is slow" not in finding.why

    @cases("path", "/u01/oradata", "/u03/redo")
    def test_a_slow_server_over_tcp(self, path):
        story = recorded("6.1-slow", path)
        finding = story.judge("latency")
        assert finding.status == FAIL
        assert "at most 0.8 ms of it are the network's: the server is slow" in finding.why
        assert "0 of 744 segments (0.00 %)" in finding.why
        assert finding.fix.startswith("check the server")
        assert story.judge("retransmissions").status == PASS
        assert story.judge("client_queue").status == PASS

    def test_frames_are_lost_over_udp(self):
        finding = recorded("6.1-udp-loss").judge("retransmissions")
        assert finding.status == FAIL
        assert "0 answers came twice (bad xids) for 44 retransmissions" in finding.why
        assert "frames are lost on the way" in finding.why and "slow" not in finding.why

    def test_the_wait_for_a_timeout_is_no_lack_of_slots(self):
        finding = recorded("6.1-udp-loss").judge("client_queue")
        assert finding.status == SKIP and "wait for a timeout and not for a slot" in finding.why

    def test_a_slow_server_over_udp(self):
        story = recorded("6.1-udp-slow")
        finding = story.judge("retransmissions")
        assert finding.status == WARN
        assert "38 answers came twice (bad xids) for 38 retransmissions" in finding.why
        assert "the server is slow" in finding.why and "lost" not in finding.why
        assert "the server is slow" in story.judge("latency").why

    def test_udp_undisturbed(self):
        assert recorded("6.1-udp-load").judge("retransmissions").status == PASS

    def test_without_ss_the_counters_of_the_host_name_nobody(self):
        finding = recorded("6.1-loss", without=("command:ss -tine dport = :2049",)).judge(
            "retransmissions"
        )
        assert finding.status == WARN
        assert "566 of 12369 segments (4.58 %) of the whole host" in finding.why
        assert "to whom is unknown" in finding.why

    def test_a_slow_answer_without_ss_blames_nobody(self):
        finding = recorded("6.1-slow", without=("command:ss -tine dport = :2049",)).judge("latency")
        assert finding.status == FAIL
        assert "the server or the way to it" in finding.why and "is slow" not in finding.why

    def test_neither_ss_nor_snmp(self):
        story = recorded(
            "6.1-load", without=("command:ss -tine dport = :2049", "file:/proc/net/snmp")
        )
        finding = story.judge("retransmissions")
        assert finding.status == ERROR and "whether TCP segments are lost is unknown" in finding.why
        assert "install ss" in finding.fix

    def test_an_old_ss_and_replies_that_are_lost(self):
        story = recorded("6.1-replies-lost")
        connections = dict(story.facts.traffic.connections)
        connections["10.9.0.2"] = connections["10.9.0.2"]._replace(out_of_order=None)
        finding = story.traffic(connections=connections).judge("retransmissions")
        assert finding.status == WARN
        assert "432 of 6731 segments (6.42 %) of the whole host arrived out of order" in finding.why


class TestLatency:
    def test_healthy(self):
        finding = Story().judge("latency")
        assert finding.status == PASS
        assert finding.in_use == (
            "READ 100.0/s 0.8 MiB/s, queue 0.1, answer 4.0, in all 4.1 ms; "
            "WRITE 100.0/s 0.8 MiB/s, queue 0.1, answer 4.0, in all 4.1 ms"
        )

    def test_errors_are_told(self):
        assert Story().op("READ", errors=3).judge("latency").in_use.count("3 errors") == 1

    @cases("rtt status", (19.9, PASS), (20.0, WARN), (29.9, WARN), (30.0, FAIL))
    def test_thresholds(self, rtt, status):
        assert Story().op("WRITE", rtt_ms=rtt).judge("latency").status == status

    def test_the_slower_of_both_is_named(self):
        finding = Story().op("READ", rtt_ms=31.0).op("WRITE", rtt_ms=50.0).judge("latency")
        assert finding.why.startswith("WRITE of /u02 takes 50.0 ms")

    def test_a_few_writes_are_no_average(self):
        assert Story().op("WRITE", rtt_ms=90.0, ops=20).judge("latency").status == PASS

    def test_a_slow_network(self):
        story = Story().op("READ", rtt_ms=35.0).connection(rtt_ms=33.0, least_rtt_ms=31.0)
        finding = story.judge("latency")
        assert "at least 31.0 ms of it are the network's" in finding.why
        assert "server is slow" not in finding.why and "ethtool" in finding.fix

    def test_a_few_losses_do_not_excuse_a_slow_server(self):
        story = Story().op("READ", rtt_ms=270.0).connection(segments_retransmitted=50)
        finding = story.judge("latency")
        assert "losses explain at most 5.0 ms: the server is slow" in finding.why
        assert "50 of 20000 segments" in finding.why

    def test_many_losses_do(self):
        story = Story().op("READ", rtt_ms=70.0).connection(segments_retransmitted=600)
        finding = story.judge("latency")
        assert "(network)" in finding.why and "server is slow" not in finding.why

    def test_late_acknowledgements_blame_nobody(self):
        story = Story().op("READ", rtt_ms=45.0).connection(rtt_ms=40.0, least_rtt_ms=0.3)
        finding = story.judge("latency")
        assert "the server or the way to it" in finding.why
        assert "40.0 ms on average and 0.3 ms at least" in finding.why

    def test_udp_without_retransmissions_blames_nobody(self):
        story = Story().mount(protos=("udp",)).op("READ", rtt_ms=45.0)
        assert "the round trip of UDP is not measured" in story.judge("latency").why

    def test_requests_without_any_answer(self):
        finding = Story().mount(ops={}, all_ops=0, sends=12, receives=0).judge("latency")
        assert finding.status == FAIL and "12 requests went out to 10.0.0.5" in finding.why
        assert "no answer came back" in finding.why

    def test_one_request_under_way_is_no_outage(self):
        assert Story().mount(ops={}, all_ops=0, sends=1, receives=0).judge("latency").status == SKIP


class TestNoVerdict:
    @cases("name", "latency", "client_queue", "retransmissions")
    def test_no_traffic(self, name):
        did = Did(read=Op(ops=20), write=Op(ops=29))
        finding = Story(ready_host().did("/u02", did)).judge(name)
        assert finding.status == SKIP
        assert "No traffic, no verdict: 49 reads and writes in 10 s, fewer than 50" in finding.why
        assert "Direct NFS" in finding.why

    @cases("name", "latency", "client_queue", "retransmissions")
    @cases("did", Did(age=86400, older=-86395), Did(age=2, older=2))
    def test_remounted(self, name, did):
        finding = Story(ready_host().did("/u02", did)).judge(name)
        assert finding.status == SKIP and "replaced" in finding.why

    def test_counters_that_went_back(self):
        did = Did(read=Op(ops=-100))
        assert Story(ready_host().did("/u02", did)).judge("latency").status == SKIP

    def test_few_requests_that_took_all_the_time_are_traffic(self):
        did = Did(read=Op(ops=0), write=Op(ops=31, rtt=270.0))
        finding = Story(ready_host().did("/u02", did)).judge("latency")
        assert finding.status == FAIL and "270.0 ms" in finding.why

    def test_few_requests_of_each_kind_are_none(self):
        did = Did(read=Op(ops=10, rtt=300.0), write=Op(ops=10, rtt=300.0))
        assert Story(ready_host().did("/u02", did)).judge("latency").status == SKIP

    @cases("name", "latency", "client_queue", "retransmissions")
    def test_a_window_of_0(self, name):
        finding = Story(window_seconds=0).judge(name)
        assert finding.status == SKIP and "hostproof_window_seconds is 0" in finding.why

    @cases("name", "latency", "client_queue", "retransmissions")
    def test_unreadable(self, name):
        story = Story()
        story.facts = story.facts._replace(traffic=Unanswered("sample:nfs_traffic", "no sample"))
        finding = story.judge(name)
        assert finding.status == ERROR and "no sample" in finding.why

    @cases("name", "latency", "client_queue", "retransmissions")
    def test_no_counters(self, name):
        assert Story().traffic(mounts={}).judge(name).status == ERROR

    @pytest.mark.parametrize("name", CHECKS)
    def test_not_mounted(self, name):
        finding = Story(nfs_host().fstab("/u02", "filer1:/vol/u02")).judge(name)
        assert finding.status == SKIP and "not mounted" in finding.why


class TestClientQueue:
    @cases(
        "queue rtt status", (4.9, 1.0, PASS), (5.0, 2.5, WARN), (5.0, 2.6, PASS), (90.0, 40.0, WARN)
    )
    def test_thresholds(self, queue, rtt, status):
        assert Story().op(queue_ms=queue, rtt_ms=rtt).judge("client_queue").status == status

    def test_rpc_slots(self):
        finding = Story().op(queue_ms=12.0, rtt_ms=3.0).mount(backlog=7.4).judge("client_queue")
        assert (
            "READ of /u02 waits 12.0 ms in the client for an answer that takes 3.0" in finding.why
        )
        assert "7.4 requests on average queue for an RPC slot of the client" in finding.why
        assert "nfs_mounts_slot_table_entries" in finding.fix

    def test_slots_of_a_session(self):
        finding = Story().op(queue_ms=12.0, rtt_ms=3.0).mount(version="4.1").judge("client_queue")
        assert "slot of the NFSv4.1 session" in finding.why and "max_session_slots" in finding.fix

    def test_no_slot_is_missing(self):
        finding = Story().op(queue_ms=12.0, rtt_ms=3.0).judge("client_queue")
        assert "none queues for an RPC slot" in finding.why and "nconnect" in finding.fix

    def test_slots_of_udp(self):
        story = Story().op(queue_ms=12.0, rtt_ms=3.0).mount(backlog=2.0, protos=("udp",))
        assert "udp_slot_table_entries" in story.judge("client_queue").fix

    def test_a_timeout_over_tcp_is_no_queue(self):
        story = Story().op(queue_ms=120.0, rtt_ms=3.0, retransmissions=2)
        assert story.judge("client_queue").status == SKIP

    def test_a_queue_for_slots_stays_one_beside_timeouts(self):
        story = Story().op(queue_ms=120.0, rtt_ms=3.0, retransmissions=2).mount(backlog=9.0)
        assert story.judge("client_queue").status == WARN


def over_udp(again: int, bad_xids: int, ops: int = 2000) -> Story:
    return Story().mount(protos=("udp",), all_ops=ops, all_retransmissions=again, bad_xids=bad_xids)


class TestRetransmissionsOverUdp:
    @cases("again status", (0, PASS), (9, PASS), (10, WARN), (39, WARN), (40, FAIL))
    def test_thresholds(self, again, status):
        assert over_udp(again, 0).judge("retransmissions").status == status

    def test_the_case_study(self):
        finding = over_udp(45, 0).judge("retransmissions")
        assert "45 of 2000 requests (2.25 %) were sent again" in finding.why
        assert (
            "0 answers came twice (bad xids) for 45 retransmissions: frames are lost" in finding.why
        )

    def test_fragments_of_32_kib_are_22_packets(self):
        """Article 001: 'approximately 22 packets in one 32-KB NFS request'."""
        story = over_udp(45, 0)
        (mounted,) = (mount for mount in story.facts.mounted if mount.path == "/u02")
        options = re.sub(r"([rw])size=\d+", r"\1size=32768", mounted.options)
        assert "rsize=32768" in options
        story.facts = story.facts._replace(mounted=[mounted._replace(options=options)])
        assert story.judge("retransmissions").why.endswith(
            "a transfer of 32768 bytes is 22 packets at an MTU of 1500, and the loss of one "
            "repeats all of them."
        )

    def test_less_than_half_is_loss(self):
        assert "frames are lost" in over_udp(41, 20).judge("retransmissions").why

    def test_half_is_a_slow_server(self):
        finding = over_udp(40, 20).judge("retransmissions")
        assert "the server is slow" in finding.why and "lost" not in finding.why
        assert finding.fix.startswith("check the server")

    def test_bad_xids_are_of_every_mount_of_the_transport(self):
        story = over_udp(40, 40)
        mount = story.facts.traffic.mounts["/u02"]
        other = mount._replace(path="/u03", all_retransmissions=400)
        story.traffic(mounts={"/u02": mount, "/u03": other})
        assert "40 answers came twice (bad xids) for 440" in story.judge("retransmissions").why

    def test_fragments_that_did_not_fit_are_told(self):
        story = over_udp(40, 0)
        tcp = story.facts.traffic.tcp._replace(reassembly_failures=17)
        finding = story.traffic(tcp=tcp).judge("retransmissions")
        assert "could not put 17 fragmented packets together" in finding.why

    def test_tcp_segments_are_not_its_business(self):
        story = over_udp(0, 0).traffic(tcp=Unanswered("x", "no"), connections=Unanswered("x", "no"))
        assert story.judge("retransmissions").status == PASS


class TestRetransmissionsOverTcp:
    @cases("lost status", (0, PASS), (19, PASS), (20, WARN), (199, WARN), (200, FAIL))
    def test_segments(self, lost, status):
        story = Story(ready_host().wire(sent=20000, retransmitted=lost))
        assert story.judge("retransmissions").status == status

    def test_two_segments_are_chance(self):
        story = Story(ready_host().wire(sent=60, retransmitted=2))
        assert story.judge("retransmissions").status == PASS

    @cases("late status", (99, PASS), (100, WARN), (1000, FAIL))
    def test_segments_out_of_order(self, late, status):
        story = Story(ready_host().wire(received=20000, out_of_order=late))
        assert story.judge("retransmissions").status == status

    def test_a_request_after_a_timeout(self):
        finding = Story().mount(all_retransmissions=1).judge("retransmissions")
        assert finding.status == WARN
        assert "1 of 2000 requests (0.05 %) were sent again" in finding.why
        assert "TCP sent 0 of 20000 segments (0.00 %) to 10.0.0.5 again" in finding.why
        assert "the server did not answer the requests in time" in finding.why

    def test_reconnects(self):
        finding = Story().mount(all_retransmissions=64, reconnects=2).judge("retransmissions")
        assert finding.status == FAIL
        assert "the connection to 10.0.0.5 was replaced 2 times in 10 s" in finding.why
        assert "slow" not in finding.why and "did not answer" not in finding.why

    def test_a_connection_after_a_long_idle_time_is_fine(self):
        assert Story().mount(reconnects=1).judge("retransmissions").status == PASS

    def test_a_connection_that_does_not_last(self):
        finding = Story().mount(reconnects=3).judge("retransmissions")
        assert finding.status == WARN and "replaced 3 times" in finding.why

    def test_lost_segments_explain_what_was_sent_again(self):
        story = Story().mount(all_retransmissions=4).connection(segments_retransmitted=400)
        finding = story.judge("retransmissions")
        assert "lost on the way (network)" in finding.why and "did not answer" not in finding.why

    def test_what_is_known_is_said_where_segments_are_not(self):
        story = Story().mount(all_retransmissions=4)
        story.traffic(connections=Unanswered("x", "no ss"), tcp=Unanswered("x", "no snmp"))
        finding = story.judge("retransmissions")
        assert finding.status == WARN and "4 of 2000 requests" in finding.why
        assert "whether TCP segments are lost is unknown (no ss; no snmp)" in finding.why

    def test_host_wide_losses_too_few_to_matter(self):
        story = Story(ready_host().wire(retransmitted=1, shown_by_ss=False))
        assert story.judge("retransmissions").status == PASS

    def test_host_wide_losses_that_may_be_of_others(self):
        story = Story().mount(sends=2000)
        tcp = story.facts.traffic.tcp._replace(segments_sent=1000000, segments_retransmitted=90)
        finding = story.traffic(connections=Unanswered("x", "no ss"), tcp=tcp).judge(
            "retransmissions"
        )
        assert finding.status == ERROR
        assert "whether these went to 10.0.0.5 is unknown (no ss)" in finding.why

    def test_another_server_in_ss(self):
        story = Story()
        ((_, delta),) = story.facts.traffic.connections.items()
        story.traffic(connections={"10.9.9.9": delta}, tcp=Unanswered("x", "no snmp"))
        finding = story.judge("retransmissions")
        assert finding.status == ERROR and "ss shows no connection to 10.0.0.5" in finding.why

    def test_rdma_has_no_segments(self):
        story = Story().mount(protos=("rdma",))
        story.traffic(connections=Unanswered("x", "no"), tcp=Unanswered("x", "no"))
        assert story.judge("retransmissions").status == PASS
        assert story.mount(all_retransmissions=1).judge("retransmissions").status == WARN


class TestHardlyAnyTraffic:
    def quiet(self, **changes: Any) -> Story:
        return Story().mount(ops={}, all_ops=2, **changes)

    def test_nothing_was_sent_again(self):
        assert self.quiet(sends=2, receives=2).judge("retransmissions").status == SKIP

    def test_something_was(self):
        finding = self.quiet(all_retransmissions=2).judge("retransmissions")
        assert finding.status == WARN and "too few to tell why" in finding.why

    def test_requests_that_have_no_answer_yet(self):
        story = self.quiet(sends=9, receives=2)
        finding = story.traffic(calls=nfs_traffic.RpcCalls(9, 7)).judge("retransmissions")
        assert finding.status == WARN
        assert "7 requests of this host were sent again and have no answer yet" in finding.why

    def test_what_was_sent_again_elsewhere(self):
        story = self.quiet(sends=2, receives=2).traffic(calls=nfs_traffic.RpcCalls(9, 7))
        assert story.judge("retransmissions").status == SKIP


def nconnect(asked: str, shows: int, xprts: int, **policy: Any) -> Any:
    machine = nfs_host().persisted_mount(
        "/u02",
        "filer1:/vol/u02",
        f"rw,bg,hard,vers=3,proto=tcp{asked}",
        shown(nconnect=shows),
        did=Did(xprts=xprts),
    )
    return Story(machine, **policy)


class TestNconnect:
    def test_nobody_asks(self):
        assert nconnect("", 1, 1).judge("nconnect").status == SKIP

    def test_as_many_as_fstab_asks(self):
        finding = nconnect(",nconnect=4", 4, 4).judge("nconnect")
        assert finding.status == PASS
        assert (finding.running, finding.in_use) == ("nconnect=4", "4 connections")
        assert finding.values == {"wanted": 4, "running": 4} and "nconnect=4" in finding.persisted

    def test_the_first_mount_decided(self):
        finding = nconnect(",nconnect=4", 1, 1).judge("nconnect")
        assert finding.status == WARN
        assert "has 1 connections and not 4: the first mount of filer1 decided" in finding.why

    def test_nobody_asked_for_what_it_has(self):
        assert nconnect("", 4, 4).judge("nconnect").status == WARN

    def test_the_policy_asks(self):
        finding = nconnect("", 1, 1, **listed(options="nconnect=2")).judge("nconnect")
        assert (finding.status, finding.desired) == (WARN, "nconnect=2")

    def test_without_a_sample_the_options_count(self):
        finding = nconnect(",nconnect=4", 4, 4, window_seconds=0).judge("nconnect")
        assert (finding.status, finding.in_use) == (PASS, None)

    def test_what_boot_asks_is_unknown(self):
        story = nconnect("", 4, 4)
        persisted = story.facts.persisted._replace(entries=Unanswered("file:/etc/fstab", "denied"))
        story.facts = story.facts._replace(persisted=persisted)
        assert story.judge("nconnect").status == ERROR
