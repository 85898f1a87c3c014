"""Names as a real resolver and real name servers answer them: glibc's getent, and servers of our
own that speak DNS over UDP, in network, mount and host name namespaces.

    node rac1 192.0.2.10 ── 192.0.2.53, 192.0.2.54 name servers
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from default_policies import changed_policy

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")

SCAN, NODE, VIP = "rac-scan.example.com", "rac1.example.com", "rac1-vip.example.com"
THREE = ["192.0.2.21", "192.0.2.22", "192.0.2.23"]
HOSTS = "127.0.0.1 localhost\n192.0.2.10 rac1.example.com rac1\n"
RESOLV = "search example.com\noptions timeout:1 attempts:2\n"
RESOLV += "nameserver 192.0.2.53\nnameserver 192.0.2.54\n"

#: Runs in namespaces of its own. Each server has a zone of names and addresses, or a word: "silent"
#: never answers, "garbage" sends what is no answer.
JUDGE = """
import json, os, socket, struct, subprocess, sys, threading
story = json.loads(sys.argv[2])
for words in (
    "link set lo up", "link add eth0 type veth peer name eth1", "link set eth0 up",
    "link set eth1 up", "addr add 192.0.2.10/24 dev eth0",
    "addr add 192.0.2.53/32 dev lo", "addr add 192.0.2.54/32 dev lo",
):
    subprocess.run(["ip", *words.split()], check=True)
socket.sethostname(story["own"])
for path, text in story["files"].items():
    place = os.path.join(sys.argv[3], os.path.basename(path))
    with open(place, "w") as stream:
        stream.write(text)
    subprocess.run(["mount", "--bind", place, path], check=True)

def serve(listening, zone):
    while True:
        asked, client = listening.recvfrom(512)
        if zone == "silent":
            continue
        if zone == "garbage":
            listening.sendto(asked[:2] + b"\\x81\\x80" + b"\\xff" * 40, client)
            continue
        labels, at = [], 12
        while asked[at]:
            labels.append(asked[at + 1 : at + 1 + asked[at]].decode())
            at += 1 + asked[at]
        kind, end = struct.unpack(">H", asked[at + 1 : at + 3])[0], at + 5
        known = zone.get(".".join(labels).lower())
        those = known if kind == 1 and known else []
        head = struct.pack(">HHHHH", 0x8180 if known else 0x8183, 1, len(those), 0, 0)
        rows = [
            struct.pack(">HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(one) for one in those
        ]
        listening.sendto(asked[:2] + head + asked[12:end] + b"".join(rows), client)

for address, zone in story["servers"].items():
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.bind((address, 53))
    threading.Thread(target=serve, args=(listening, zone), daemon=True).start()

sys.path.insert(0, sys.argv[1])
from hostproof.evaluate import audit
from hostproof.collect.host import LiveHost, RecordedHost
host = LiveHost()
asked = {"name_resolution": story["policy"]}
found = audit.judge_host(host, asked)
again = audit.judge_host(RecordedHost(host.evidence), asked)
assert [one.as_dict() for one in again] == [one.as_dict() for one in found]
print(json.dumps([one.as_dict() for one in found]))
"""


@pytest.fixture
def judge(tmp_path):
    def judge_host(**changes: Any) -> dict[str, dict[str, Any]]:
        zone = {SCAN: THREE, NODE: ["192.0.2.10"], VIP: ["192.0.2.11"]}
        files = {
            "/etc/hosts": changes.get("hosts", HOSTS),
            "/etc/resolv.conf": changes.get("resolv", RESOLV),
            "/etc/nsswitch.conf": changes.get("order", "passwd: files\nhosts: files dns\n"),
            "/etc/hostname": "rac1\n",
        }
        first, second = changes.get("zones", ({}, {}))
        story = {
            "own": "rac1",
            "files": files,
            "servers": {
                "192.0.2.53": zone | first if isinstance(first, dict) else first,
                "192.0.2.54": zone | second if isinstance(second, dict) else second,
            },
            "policy": changed_policy(
                "name_resolution", scan_names=[changes.get("scan", SCAN)], cluster_names=[NODE, VIP]
            ),
        }
        isolated = ["unshare", "--net", "--mount", "--uts", sys.executable, "-c", JUDGE]
        arguments = [str(ROOT / "module_utils"), json.dumps(story), str(tmp_path)]
        done = subprocess.run([*isolated, *arguments], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        records = json.loads(done.stdout)
        findings = {
            finding["check"].partition(".")[2]: finding
            for finding in records
            if finding["status"] != "skip"
        }
        findings["node"] = next(finding for finding in records if finding["title"].startswith(NODE))
        findings["vip"] = next(finding for finding in records if finding["title"].startswith(VIP))
        return findings

    return judge_host


def test_three_addresses_by_each_server(judge):
    findings = judge()
    assert {name: finding["status"] for name, finding in findings.items()} == {
        **{"hostname": "pass", "hostname_address": "pass", "reverse_lookup": "pass"},
        **{"hosts_file": "pass", "search_order": "pass", "resolv_conf": "pass"},
        **{"name_servers": "pass", "scan": "pass", "cluster_names": "pass", "zeroconf": "pass"},
        **{"proxyt": "pass", "node": "pass", "vip": "pass"},
    }
    assert findings["scan"]["values"] == {f"addresses of {SCAN}": ", ".join(THREE)}
    assert findings["scan"]["persisted"] == "not in /etc/hosts"


def test_a_short_name_is_completed_as_the_resolver_does(judge):
    assert judge(scan="rac-scan")["scan"]["status"] == "pass"


def test_one_address(judge):
    finding = judge(zones=({SCAN: THREE[:1]}, {SCAN: THREE[:1]}))["scan"]
    assert (finding["status"], "192.0.2.53 has 1 of 3 addresses" in finding["why"]) == (
        "fail",
        True,
    )


def test_one_server_does_not_know_it(judge):
    finding = judge(zones=({}, {SCAN: []}))["scan"]
    assert (finding["status"], "192.0.2.54 knows no such name" in finding["why"]) == ("fail", True)


def test_the_servers_differ(judge):
    finding = judge(zones=({}, {SCAN: [*THREE[:2], "192.0.2.24"]}))["scan"]
    assert (finding["status"], "the servers do not say the same" in finding["why"]) == (
        "fail",
        True,
    )


def test_served_by_etc_hosts(judge):
    finding = judge(hosts=f"{HOSTS}192.0.2.21 {SCAN}\n")["scan"]
    assert (finding["status"], "/etc/hosts has it" in finding["why"]) == ("fail", True)
    assert "(/etc/hosts:3)" in finding["why"]
    assert finding["persisted"] == "/etc/hosts: 192.0.2.21"
    assert finding["running"].startswith("192.0.2.21; 192.0.2.53: ")


def test_a_silent_server_is_told_and_the_rest_is_known(judge):
    findings = judge(zones=({}, "silent"))
    assert (findings["name_servers"]["status"], findings["scan"]["status"]) == ("fail", "fail")
    message = "192.0.2.54: no answer in 1.5 seconds, queried twice."
    assert findings["name_servers"]["why"] == message
    assert findings["hostname_address"]["status"] == "pass"
    assert findings["cluster_names"]["status"] == "pass"


def test_all_servers_are_silent(judge):
    """What could not be found out in time is an error, never a pass: with these options glibc
    waits for as long as nobody shall."""
    slow = RESOLV.replace("timeout:1 attempts:2", "timeout:30 attempts:5")
    findings = judge(zones=("silent", "silent"), resolv=slow)
    assert findings["scan"]["status"] == "error"
    assert findings["name_servers"]["status"] == "fail"
    assert findings["resolv_conf"]["status"] == "warn"
    assert "300 seconds" in findings["resolv_conf"]["why"]
    assert findings["hostname_address"]["status"] == "pass"  # /etc/hosts knows it


def test_what_is_no_answer_is_no_answer(judge):
    findings = judge(zones=("garbage", "garbage"))
    assert (findings["name_servers"]["status"], findings["scan"]["status"]) == ("error", "error")


def test_the_own_name_as_debian_installs_it(judge):
    findings = judge(hosts="127.0.0.1 localhost\n127.0.1.1 rac1.example.com rac1\n")
    assert findings["hostname_address"]["status"] == "fail"
    assert findings["hostname_address"]["why"] == "rac1 leads to 127.0.1.1 (/etc/hosts:2)."
    assert (findings["node"]["status"], findings["vip"]["status"]) == ("fail", "pass")


def test_another_address_than_the_interfaces_have(judge):
    finding = judge(hosts="127.0.0.1 localhost\n192.0.2.99 rac1\n")["hostname_address"]
    assert (finding["status"], "no interface has 192.0.2.99" in finding["why"]) == ("fail", True)


def test_the_address_is_somebody_elses(judge):
    lines = "192.0.2.10 db7.example.com\n192.0.2.10 rac1\n"
    finding = judge(hosts="127.0.0.1 localhost\n" + lines)["reverse_lookup"]
    assert (finding["status"], finding["why"]) == ("fail", "192.0.2.10 is db7.example.com.")


def test_dns_is_not_asked(judge):
    findings = judge(order="hosts: files\n")
    assert (findings["search_order"]["status"], findings["scan"]["status"]) == ("fail", "fail")


def test_without_the_line_it_is_told_that_glibc_decides(judge):
    findings = judge(order="passwd: files\n", hosts=f"{HOSTS}192.0.2.99 {VIP}\n")
    assert findings["search_order"]["status"] == "warn"
    first, _, version = os.confstr("CS_GNU_LIBC_VERSION").partition(" ")
    if first == "glibc":
        files_first = tuple(map(int, version.split("."))) >= (2, 35)
        address = "192.0.2.99" if files_first else "192.0.2.11"
        assert findings["vip"]["running"].startswith(address)
