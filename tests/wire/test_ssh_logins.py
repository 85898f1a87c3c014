"""``cluster_nodes.ssh`` with real ssh clients and servers (OpenSSH), in network, mount, process and
host name namespaces. Each node is an address with its own sshd on port 22.

    node rac1 192.0.2.1 -> rac2 192.0.2.2, rac3 192.0.2.3
"""

import datetime
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.registry import check_ids
from default_policies import changed_policy
from hostproof_controller.report.render import render_folder
from report.report_samples import make_line

ROOT = Path(__file__).resolve().parents[2]
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root"),
    pytest.mark.skipif(SSHD is None or shutil.which("ssh") is None, reason="no ssh or no sshd"),
]

#: Runs in its own namespaces. /run is empty there and holds the homes, the keys and the files that
#: replace those of /etc. A node is a dict of lines of sshd_config, or a word: "closed" has no
#: server, "silent" accepts a connection and sends nothing, "unreachable" does not exist.
JUDGE = """
import json, os, pwd, shutil, socket, subprocess, sys
story = json.loads(sys.argv[2])
sshd = sys.argv[3]

def run(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)

def write(path, text):
    with open(path, "w") as stream:
        stream.write(text)

run("mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run")
os.mkdir("/run/sshd")
os.mkdir("/run/home")
for words in (
    "link set lo up", "link add eth0 type veth peer name eth1", "link set eth0 up",
    "link set eth1 up", "addr add 192.0.2.1/24 dev eth0",
):
    run("ip", *words.split())
socket.sethostname(story["own"])
names = [story["own"], *story["nodes"]]
hosts = "127.0.0.1 localhost\\n"
hosts += "".join(f"192.0.2.{number} {name}\\n" for number, name in enumerate(names, 1))

with open("/etc/passwd") as stream:
    passwd = [line for line in stream if line.split(":")[0] not in (*story["uids"], "sshd")]
passwd.append("sshd:x:999:65534::/run/sshd:/usr/sbin/nologin\\n")
shadow = "root:*:20000:0:99999:7:::\\n"
for name, uid in story["uids"].items():
    passwd.append(f"{name}:x:{uid}:54321::/run/home/{name}:/bin/bash\\n")
    shadow += f"{name}:*:20000:0:99999:7:::\\n"
with open("/etc/group") as stream:
    group = stream.read() + "oinstall:x:54321:\\n"
for name, text in {
    "hosts": hosts, "passwd": "".join(passwd), "shadow": shadow, "group": group,
    "nsswitch.conf": "passwd: files\\ngroup: files\\nshadow: files\\nhosts: files\\n",
}.items():
    write(f"/run/{name}", text)
    run("mount", "--bind", f"/run/{name}", f"/etc/{name}")

known = ""
listeners = []
for number, (name, kind) in enumerate(story["nodes"].items(), 2):
    address = f"192.0.2.{number}"
    if kind == "unreachable":
        continue
    run("ip", "addr", "add", f"{address}/32", "dev", "lo")
    if kind == "silent":
        listeners.append(socket.create_server((address, 22)))
    if isinstance(kind, str):
        continue
    key = f"/run/key-{name}"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    with open(f"{key}.pub") as stream:
        if kind.pop("known", True):
            known += f"{name} {stream.read()}"
    lines = {
        "ListenAddress": address, "HostKey": key, "PidFile": "none", "UsePAM": "no",
        "AuthorizedKeysFile": ".ssh/authorized_keys", **kind,
    }
    write(f"/run/config-{name}", "".join(f"{one} {text}\\n" for one, text in lines.items()))
    run(sshd, "-f", f"/run/config-{name}", "-E", f"/run/log-{name}")

for name in story["uids"]:
    home = f"/run/home/{name}"
    os.makedirs(f"{home}/.ssh", mode=0o700)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{home}/.ssh/id_ed25519")
    shutil.copy(f"{home}/.ssh/id_ed25519.pub", f"{home}/.ssh/authorized_keys")
    write(f"{home}/.ssh/known_hosts", known)
    write(f"{home}/.bashrc", story["profile"])
    run("chown", "-R", f"{name}:oinstall", home)

def homes():
    return {
        os.path.join(folder, file): os.stat(os.path.join(folder, file)).st_mtime_ns
        for folder, _, files in os.walk("/run/home")
        for file in files
    }

sys.path.insert(0, sys.argv[1])
from hostproof.evaluate import audit
from hostproof.collect.host import LiveHost, RecordedHost
host = LiveHost()
asked = {"cluster_nodes": story["policy"]}
before = homes()
found = audit.judge_host(host, asked)
assert homes() == before, "an audit changed a file of an account"
again = audit.judge_host(RecordedHost(host.evidence), asked)
assert [one.as_dict() for one in again] == [one.as_dict() for one in found]
print(json.dumps([one.as_dict() for one in found]))
"""

ACCOUNTS = {"grid": 54322, "oracle": 54321}
TODAY = datetime.date(2026, 11, 27)
Finding = dict[str, Any]


def judge(
    nodes: dict[str, Any], own: str = "rac1", uids: dict[str, int] = ACCOUNTS, profile: str = ""
) -> list[Finding]:
    """All findings of a node on which these accounts log in on these other nodes."""
    policy = changed_policy(
        "cluster_nodes", name="rac", expected=[own, *nodes], ssh_accounts=list(uids)
    )
    story = {"own": own, "nodes": nodes, "uids": uids, "profile": profile, "policy": policy}
    # With its own process namespace, the servers end with the test.
    isolated = ["unshare", "--net", "--mount", "--uts", "--pid", "--mount-proc"]
    command = [
        *isolated,
        "--fork",
        "--kill-child",
        sys.executable,
        "-c",
        JUDGE,
        str(ROOT / "module_utils"),
    ]
    arguments = [json.dumps(story), str(SSHD)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    findings: list[Finding] = json.loads(done.stdout)
    return findings


def ssh(nodes: dict[str, Any], **changes: Any) -> Finding:
    (findings,) = [
        finding for finding in judge(nodes, **changes) if finding["check"] == "cluster_nodes.ssh"
    ]
    return findings


def test_accounts_with_keys_log_in_on_every_node() -> None:
    findings = ssh({"rac2": {}, "rac3": {}})
    assert (findings["status"], findings["running"]) == ("pass", "4 of 4 logins")


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (
            {"AuthorizedKeysFile": "none", "PasswordAuthentication": "yes"},
            "grid@rac3: Permission denied (publickey,password",
        ),
        ({"DenyUsers": "grid"}, "grid@rac3: Permission denied (publickey"),
        ({"known": False}, "Host key verification failed"),
        ("closed", "connect to host rac3 port 22: Connection refused"),
        ("unreachable", "connect to host rac3 port 22: "),
        ("silent", "timed out"),
    ],
    ids=["password only", "refused", "unknown host key", "closed", "unreachable", "silent"],
)
def test_the_node_without_a_login_is_named(node: Any, problem: str) -> None:
    begun = time.monotonic()
    findings = ssh({"rac2": {}, "rac3": node}, uids={"grid": 54322})
    assert time.monotonic() - begun < 60
    assert (findings["status"], findings["running"]) == ("fail", "1 of 2 logins")
    assert findings["why"].startswith("grid on rac3: ")
    assert problem in findings["why"]
    assert "rac2" not in findings["why"]


def test_one_of_two_accounts_is_refused() -> None:
    findings = ssh({"rac2": {}, "rac3": {"DenyUsers": "oracle"}})
    assert (findings["status"], findings["running"]) == ("fail", "3 of 4 logins")
    assert findings["why"].startswith("oracle on rac3: ")
    assert "grid" not in findings["why"]


def test_a_login_that_does_not_end_is_an_error_in_bounded_time() -> None:
    begun = time.monotonic()
    findings = ssh({"rac2": {}, "rac3": {"ForceCommand": "sleep 200"}}, uids={"grid": 54322})
    assert time.monotonic() - begun < 60
    assert findings["status"] == "error"
    assert "log in on rac3 as grid with ssh" in f"{findings['why']} {findings['evidence']}"


def test_a_profile_that_prints_text_breaks_scp() -> None:
    findings = ssh({"rac2": {}}, uids={"grid": 54322}, profile="echo Welcome\n")
    assert findings["status"] == "fail"
    assert findings["why"] == "grid on rac2: its profile prints text, which breaks scp."


def test_the_node_with_another_uid_and_the_node_without_ssh_are_named(tmp_path: Path) -> None:
    """grid has another uid on rac2, and rac3 has no ssh server."""
    others = {"rac1": {}, "rac2": {}, "rac3": "closed"}
    lines = []
    for own, uid in (("rac1", 54322), ("rac2", 54399), ("rac3", 54322)):
        nodes = {name: kind for name, kind in others.items() if name != own}
        lines.append(make_line(own, judge(nodes, own=own, uids={"grid": uid})))
    text = tmp_path / "findings.jsonl"
    text.write_text("".join(json.dumps(dict(line)) + "\n" for line in lines))
    render_folder(str(tmp_path), today=TODAY, known_checks=check_ids)
    written = [json.loads(line) for line in text.read_text().splitlines()]
    bad = {
        (
            line["host"],
            finding["check"].partition(".")[2],
            finding["title"].partition(":")[0],
        ): finding
        for line in written
        for finding in line["findings"]
        if finding["check"] in ("cluster_nodes.accounts", "cluster_nodes.ssh")
        and finding["status"] not in ("pass", "skip")
    }
    uid = bad.pop(("(cluster rac)", "accounts", "uid_gid grid"))
    assert (uid["status"], uid["running"]) == (
        "fail",
        "54322:54321 on rac1, rac3; 54399:54321 on rac2",
    )
    assert uid["why"].startswith("rac2 is not like the others.")
    assert sorted(host for host, check, _ in bad if check == "ssh") == ["rac1", "rac2"]
    for (_, check, _), finding in bad.items():
        assert (check, finding["status"]) == ("ssh", "fail")
        assert finding["why"].startswith("grid on rac3: ")
        assert "Connection refused" in finding["why"]
