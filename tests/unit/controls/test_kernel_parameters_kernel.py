"""Apply, apply again and revert on the kernel that the tests run on, in namespaces of its own.

Semaphores, shared memory, ports, TCP's buffers, fragments and reverse path filters belong to an IPC
or a network namespace, so that nothing of this machine changes; /etc/sysctl.d and the folder of the
journal are empty file systems of a mount namespace. What boots is taken to be nothing.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.kernel_parameters.parameter_table import ROWS
from default_policies import default_policy

ROOT = Path(__file__).resolve().parents[3]

#: What the kernel holds before, and after an apply.
VALUES = {
    "kernel.sem": ("100 64000 50 64", "250 64000 100 128"),
    "kernel.shmmni": ("1024", "4096"),
    "net.ipv4.ip_local_port_range": ("1024 65535", "9000 65500"),
    "net.ipv4.tcp_rmem": ("4096 65536 1048576", "4096 87380 4194304"),
    "net.ipv4.ipfrag_high_thresh": ("4194304", "16777216"),
    "net.ipv4.ipfrag_low_thresh": ("3145728", "15728640"),
    "net.ipv4.conf.lo.rp_filter": ("1", "2"),
}

STORY = """
import json, os, subprocess, sys
given = json.load(sys.stdin)
sys.path.insert(0, given["package"])
from hostproof.apply import transaction as apply, writer
from hostproof.controls.registry import CONTROLS, planner
from hostproof.errors import Absent
from hostproof.collect.host import LiveHost
from hostproof.apply.journal import Journal
from hostproof.parsers.systemd import sysctl_d
from hostproof.probes.systemd import boot

for folder in ("/etc/sysctl.d", "/var/lib"):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", folder], check=True)
paths = {name: "/proc/sys/" + name.replace(".", "/") for name in given["values"]}
for name, value in given["values"].items():
    with open(paths[name], "w") as stream:
        stream.write(value)

def state():
    found = {name: " ".join(open(path).read().split()) for name, path in paths.items()}
    found["files"] = sorted(os.listdir("/etc/sysctl.d"))
    return found

control = CONTROLS["kernel_parameters"]
policy = control.policy_from(given["policy"])

def plan():
    facts = control.read(LiveHost(), policy)
    # The account that reads files for root has no number in here.
    path = policy.sysctl_file
    file = open(path).read() if os.path.exists(path) else Absent("file:" + path, "not there")
    lines = sysctl_d.parse("" if isinstance(file, Absent) else file, path).assignments
    tree = boot.SysctlTree(lines, [], [], {})
    nothing = boot.Boot(tree, [], [], boot.NO_TUNED, [], [], {})
    return planner("kernel_parameters")(facts._replace(boot=nothing, file=file), policy)

told = {"before": state()}
wanted = plan()
apply.refuse(wanted, "kernel_parameters")
hand = writer.Writer()
apply.apply_plan(wanted, "kernel_parameters", Journal(hand), hand)
told["applied"] = state()
told["again"] = [change.path for change in plan().changes]
journal = Journal(hand)
apply.revert(journal.transactions("kernel_parameters"), journal, hand)
told["reverted"] = state()
print(json.dumps(told))
"""


def test_apply_apply_again_and_revert():
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare(1)")
    kept = {row.name for row in ROWS} - set(VALUES)
    policy = {
        **default_policy("kernel_parameters"),
        "profile": "rac_nfs",
        "releases": ["19"],
        "interconnect": ["lo", "lo8"],
        # Everything else is the machine's.
        "unmanaged": sorted(kept),
    }
    payload = {
        "package": str(ROOT / "module_utils"),
        "values": {name: before for name, (before, _after) in VALUES.items()},
        "policy": policy,
    }
    spaces = ["--user", "--map-root-user", "--net", "--ipc", "--mount"]
    done = subprocess.run(
        ["unshare", *spaces, sys.executable, "-c", STORY],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=False,
    )
    words = ("unshare:", "mount:", "FileNotFoundError: [Errno 2]", "PermissionError: [Errno 13]")
    if done.returncode and any(word in done.stderr for word in words):
        pytest.skip(f"no such namespaces are to be had here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    after = {name: value for name, (_before, value) in VALUES.items()}
    assert output["before"] == {**payload["values"], "files": []}
    drop_in = ["99-zz-hostproof-kernel_parameters.conf"]
    assert output["applied"] == {**after, "files": drop_in} and output["again"] == []
    assert output["reverted"] == output["before"]
