"""What apply rejects of one part of a plan keeps no other part from being changed."""

from functools import partial
from typing import Any

import account_packs
import block_packs
import limit_packs
import listener_packs
import nfs_packs
import pytest
from ansible.module_utils.hostproof.apply import transaction
from ansible.module_utils.hostproof.apply.change import FileChange, Plan, Refusal, independent
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner
from ansible.module_utils.hostproof.errors import Denied
from ansible.module_utils.hostproof.evaluate.finding import FAIL, WARN
from default_policies import default_policy
from nic_packs import Host
from nic_packs import policy as nic_policy
from packs import Machine

SIZES = nfs_packs.OPTIONS.replace("262144", "65536")
MOUNTS = [
    nfs_packs.DATAFILES,
    {"path": "/u03", "source": "filer1:/vol/u03", "class": "redo", "sharing": "single"},
]
TWICE = f"filer1:/vol/u03 /u03 nfs {nfs_packs.OPTIONS} 0 0\nfiler1:/vol/u03 /u03 nfs soft 0 0\n"


def mounts() -> Machine:
    """/u02 has a wrong line, /u03 has two."""
    machine = nfs_packs.nfs_host().mount("/u02", nfs_packs.DATAFILES["source"])
    machine.mount("/u03", "filer1:/vol/u03")
    line = f"{nfs_packs.DATAFILES['source']} /u02 nfs {SIZES} 0 0\n"
    return machine.file(nfs_packs.FSTAB, line + TWICE)


def listeners() -> Machine:
    second = listener_packs.OPEN.replace("LISTENER =", "LISTENER_B =").replace("1521", "1522")
    machine = listener_packs.linux().listener(listener_packs.OPEN + second).socket(1521, 128)
    return machine.listener(None, name="LISTENER_B", pid=4002)


def interfaces() -> Machine:
    return Host().nic("ens4").nic("ens5").login("ens5")


def disks() -> Machine:
    """sda and sdb are two disks, and no paths of one."""
    machine = block_packs.recorded()
    path = "/run/udev/data/b8:16"
    return machine.file(path, machine.files[path].replace("scsi_debug_2000", "scsi_debug_2001"))


ACCOUNTS = {
    "groups": [{"name": "oinstall", "gid": 54321}, {"name": "dba", "gid": 54322}],
    "accounts": [
        {"name": "oracle", "uid": 54321, "group": "oinstall"},
        {"name": "grid", "uid": 54331, "group": "dba"},
    ],
}
ROWS: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    # control: host, policy, what changes, the part that is rejected
    "nfs_mounts": (mounts(), nfs_packs.nfs_policy(mounts=MOUNTS), "rsize=262144", "/u03"),
    "accounts": (
        account_packs.bare().group("54322", 54322),
        {**default_policy("accounts"), **ACCOUNTS},
        "useradd",
        "grid",
    ),
    "block_devices": (
        disks(),
        {
            **default_policy("block_devices"),
            "devices": [
                {"name": "/dev/sda", "nr_requests": 64},
                {"name": "/dev/sdb", "scheduler": ["kyber"], "nr_requests": 64},
            ],
        },
        "nr_requests",
        "queue of sdb",
    ),
    "process_limits": (
        limit_packs.with_oracle().file("/etc/security/limits.d/zzz.conf", "oracle hard nproc 9\n"),
        default_policy("process_limits"),
        "oracle hard nofile",
        "oracle nproc",
    ),
    "listener_rate_limit": (
        listeners(),
        listener_packs.listener_policy(
            listeners=[
                {"name": "LISTENER", "rate": 10},
                {"name": "LISTENER_B", "rate": 3, "ports": [1599]},
            ]
        ),
        "RATE_LIMIT = 10",
        "LISTENER_B",
    ),
    "flow_control": (
        interfaces(),
        nic_policy(rules=[{"name": "ens*", "rx": True, "tx": False, "autoneg": False}]),
        "ens4",
        "ens5",
    ),
}


def plan_of(control: str) -> Plan:
    machine, values, _changes, _part = ROWS[control]
    machine.evidence.clear()
    policy = CONTROLS[control].policy_from(values)
    return planner(control)(CONTROLS[control].read(machine, policy), policy)


@pytest.mark.parametrize("control", ROWS)
def test_only_the_rejected_part_is_left_out(control):
    _machine, _values, changed, part = ROWS[control]
    plan = plan_of(control)
    assert part in {refusal.part for refusal in plan.refusals}
    assert "" not in {refusal.part for refusal in plan.refusals} and changed in str(plan.changes)
    assert part.rpartition(" ")[2].rpartition("/")[2] not in str(plan.changes) or (
        control in ("nfs_mounts", "listener_rate_limit")
    )
    transaction.refuse(plan, control)
    sentences = transaction.left_out(plan, control)
    assert sentences and len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("control", ROWS)
def test_the_fix_of_the_others_is_apply(control):
    machine, values, _changes, part = ROWS[control]
    machine.evidence.clear()
    policy = CONTROLS[control].policy_from(values)
    findings = CONTROLS[control].judge(CONTROLS[control].read(machine, policy), policy)
    command = f"./hostproof apply --tags {control}"
    wrong = [finding for finding in findings if finding.status in (FAIL, WARN)]
    assert any(command in finding.commands for finding in wrong)
    blocked = [finding for finding in wrong if "apply is blocked" in (finding.fix or "")]
    assert not any(command in finding.commands for finding in blocked)
    named = part.replace("queue of ", "").partition(" ")[0]
    assert all(finding.title.startswith(named) for finding in blocked)


def part_plan(name: str, *reasons: str) -> Plan:
    change = FileChange("/etc/" + name, "", None)
    return Plan([change], [Refusal(reason, None) for reason in reasons], [name], [])


def unknown() -> Plan:
    raise Denied("file:/etc/c", "/etc/c is not readable.")


def test_parts_are_joined():
    plan = independent(
        [
            ("a", lambda: part_plan("a")),
            ("b", lambda: part_plan("b", "it is full", "it is full")),
            ("c", unknown),
        ]
    )
    assert [change.path for change in plan.changes] == ["/etc/a"] and plan.pending == ["a"]
    assert plan.refusals == [
        Refusal("it is full", None, "b"),
        Refusal("c: apply cannot plan it: /etc/c is not readable.", None, "c"),
    ]
    with pytest.raises(Denied):
        independent([("c", unknown)])


def test_a_reason_against_two_parts_is_stated_once():
    plan = independent((name, partial(part_plan, name, "it is full")) for name in ("a", "b"))
    assert transaction.left_out(plan, "space") == ["Not changed: it is full."]
