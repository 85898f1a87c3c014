"""flow_control on Solaris: dladm, on texts after its manual (no Solaris was at hand)."""

import itertools
import json
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.collect.host import Output, RecordedHost
from ansible.module_utils.hostproof.controls.flow_control.control import CONTROL as flow_control
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from nic_packs import policy

CHECKS = {check.id.split(".")[1] for check in flow_control.checks}
NO_SENDING = [{"role": "storage", "rx": "on", "tx": "off"}]
HEAD = "LINK     PROPERTY        PERM VALUE        EFFECTIVE    DEFAULT   POSSIBLE\n"
MOUNTS = (
    "rpool/ROOT on / type zfs read/write/setuid/dev=4410002 on Mon Jul  7 13:24:00 2025\n"
    "filer1:/vol/oradata on /u02 type nfs remote/read/write/hard/vers=3/dev=8e80001"
    " on Mon Jul  7 13:24:00 2025\n"
)
SAVED = "LINK     PROPERTY        VALUE        DEFAULT   POSSIBLE\n"


def fixture(name: str) -> str:
    return (packs.FIXTURES / name).read_text()


class Solaris(packs.Machine):
    """An NFS mount whose server is reached over the interface."""

    def __init__(self, interface: str = "net0") -> None:
        super().__init__()
        self.command("uname -s", "SunOS\n")
        self.command("mount -v", MOUNTS)
        self.file("/etc/vfstab", "")
        self.command("route -n get filer1", fixture("route_get/aix.txt").replace("en2", interface))
        self.command("dladm show-link", fixture("dladm/show-link.txt"))
        self.command("dladm show-phys", fixture("dladm/show-phys.txt"))
        self.command("dladm show-phys -m", fixture("dladm/show-phys-m.txt"))

    def flow(self, link: str, now: str, effective: str = "--", saved: str = "--") -> "Solaris":
        row = f"{link}     flowctrl        rw   {now}         {effective}           auto      no\n"
        self.command(f"dladm show-linkprop -p flowctrl {link}", HEAD + row)
        row = f"{link}     flowctrl        {saved}           --        no,tx,rx,bi,pfc,auto\n"
        return self.command(f"dladm show-linkprop -P -p flowctrl {link}", SAVED + row)


@pytest.fixture
def judge(findings_of):
    def judge_host(host: RecordedHost, **changes: Any):
        findings = findings_of("flow_control", host, policy(**changes))
        for one in itertools.chain.from_iterable(findings.values()):
            assert set(one.evidence) <= set(getattr(host, "evidence", one.evidence)), one
        assert set(findings) == CHECKS
        return findings

    return judge_host


def only(found: dict[str, list[Any]], check: str) -> Any:
    (finding,) = found[check]
    return finding


def test_what_is_set_and_what_came_of_it(judge):
    findings = judge(Solaris().flow("net0", "bi", "rx", "rx"), rules=NO_SENDING)
    assert only(findings, "supported").status == "pass"
    # Set is bi, and negotiation made rx of it: in force is what is wanted.
    assert only(findings, "configured").status == "pass"
    assert only(findings, "negotiated").status == "pass"
    assert only(findings, "persisted").status == "pass"
    assert only(findings, "full_duplex").status == "pass"
    assert only(findings, "pause_frames").status == "skip"


def test_sending_is_what_the_default_warns_of(judge):
    findings = judge(Solaris().flow("net0", "bi", "bi"))
    assert only(findings, "configured").status == "warn"
    assert only(findings, "persisted").status == "warn"
    findings = judge(Solaris().flow("net0", "bi", "bi"), rules=NO_SENDING)
    assert only(findings, "configured").status == "fail"
    assert only(findings, "configured").commands == ("dladm set-linkprop -p flowctrl=rx net0",)


def test_auto_is_what_came_of_it(judge):
    findings = judge(Solaris().flow("net0", "auto", "no"))
    assert only(findings, "configured").status == "pass"
    findings = judge(Solaris().flow("net0", "auto", "no", "auto"))
    assert only(findings, "persisted").status == "error"


def test_auto_without_effective_is_unknown(judge):
    machine = Solaris().flow("net0", "auto")
    text = "LINK     PROPERTY PERM VALUE DEFAULT POSSIBLE\nnet0 flowctrl rw auto auto no,auto\n"
    machine.command("dladm show-linkprop -p flowctrl net0", text)
    assert only(judge(machine), "configured").status == "error"


def test_by_priority_is_left_alone(judge):
    findings = judge(Solaris().flow("net0", "pfc", "pfc"))
    assert only(findings, "configured").status == "skip"
    assert "hands off" in only(findings, "priority_flow_control").why


def test_no_value_is_no_flow_control(judge):
    assert only(judge(Solaris().flow("net0", "--")), "supported").status == "skip"


def test_below_a_vlan_on_an_aggregation(judge):
    findings = judge(Solaris("storage7").flow("net1", "no", "no").flow("net2", "bi", "bi"))
    assert [finding.title.split(":")[0] for finding in findings["configured"]] == ["net1", "net2"]
    assert [finding.status for finding in findings["configured"]] == ["pass", "warn"]
    assert only(findings, "bond_members_alike").status == "fail"


@cases("missing", "dladm show-link", "dladm show-phys", "dladm show-linkprop -p flowctrl net0")
def test_a_command_that_fails_is_no_pass(judge, missing):
    machine = Solaris().flow("net0", "no", "no", "no")
    machine.commands[missing] = Output(1, "", "dladm: insufficient privileges\n")
    findings = judge(machine)
    assert only(findings, "configured").status == "error"
    assert only(findings, "persisted").status == "error"


def test_another_form_of_an_old_release_is_an_error(judge):
    machine = Solaris().flow("net0", "no")
    machine.command("dladm show-link", "net0  type: non-vlan  mtu: 1500  device: e1000g0\n")
    assert judge(machine)["supported"][0].status == "error"


def test_the_plan_refuses_with_what_to_do():
    host_policy = flow_control.policy_from(policy(rules=NO_SENDING))
    facts = flow_control.read(Solaris().flow("net0", "bi", "bi"), host_policy)
    (refusal,) = planner("flow_control")(facts, host_policy).refusals
    assert "dladm set-linkprop -p flowctrl=rx net0" in refusal.reason
    facts = flow_control.read(Solaris().flow("net0", "rx", "rx", "rx"), host_policy)
    assert planner("flow_control")(facts, host_policy).refusals == []


def test_offline_is_the_same():
    machine = Solaris().flow("net0", "bi", "bi", "no")
    live = audit.judge_host(machine, {"flow_control": policy()})
    recorded = RecordedHost(json.loads(json.dumps(machine.evidence)))
    assert audit.judge_host(recorded, {"flow_control": policy()}) == live
