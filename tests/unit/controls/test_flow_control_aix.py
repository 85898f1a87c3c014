"""flow_control on AIX: entstat and lsattr, on output of public AIX hosts (no AIX was at hand)."""

import itertools
import json
from typing import Any

import aix_packs
import pytest
from aix_packs import AixMachine
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.flow_control.control import CONTROL as flow_control
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from nic_packs import policy
from packs import FIXTURES

CHECKS = {check.id.split(".")[1] for check in flow_control.checks}
NO_PAUSE = [{"role": "storage", "rx": "off", "tx": "off"}]


def entstat(name: str, device: str | None = None) -> str:
    text = (FIXTURES / f"entstat/{name}.txt").read_text()
    if device is None:
        return text
    first = text.index("(") + 1
    return text[:first] + device + text[text.index(")") :]


@pytest.fixture
def judge(findings_of):
    def judge_host(host: RecordedHost, **changes: Any):
        results = findings_of("flow_control", host, policy(**changes))
        for one in itertools.chain.from_iterable(results.values()):
            assert set(one.evidence) <= set(getattr(host, "evidence", one.evidence)), one
        assert set(results) == CHECKS
        return results

    return judge_host


def of(machine: AixMachine, name: str, *adapters: str) -> AixMachine:
    device = "ent" + "".join(c for c in adapters[0] if c.isdigit())
    return machine.storage("en" + device[3:], entstat(name, device), *adapters)


def aix() -> AixMachine:
    return aix_packs.aix()


def only(found: dict[str, list[Any]], check: str) -> Any:
    (finding,) = found[check]
    return finding


def test_without_storage_nothing_is_judged(judge):
    results = judge(aix())
    assert {finding.status for findings in results.values() for finding in findings} == {"skip"}


def test_both_directions_on_is_what_the_default_warns_of(judge):
    results = judge(of(aix(), "elxent-enabled", "ent2"))
    finding = only(results, "configured")
    assert (finding.status, finding.running) == ("warn", "rx on, tx on")
    assert finding.title.startswith("ent2: ")
    assert finding.commands == ("chdev -l ent2 -a flow_ctrl=no -P",)
    assert "reboot" in str(finding.fix)
    assert only(results, "persisted").status == "warn"
    assert only(results, "persisted").persisted == "ODM flow_ctrl of ent2: rx on, tx on"
    assert only(results, "full_duplex").status == "pass"
    assert only(results, "pause_frames").status == "pass"
    assert only(results, "path_mtu").status == "pass"
    assert only(results, "negotiated").status == "skip"


def test_a_rule_makes_it_fail(judge):
    results = judge(of(aix(), "elxent-enabled", "ent2"), rules=NO_PAUSE)
    assert only(results, "configured").status == "fail"
    assert only(results, "persisted").status == "fail"


def test_off_now_and_at_boot_passes(judge):
    results = judge(of(aix(), "goent-disabled", "ent2").flow_ctrl("ent2", "no"), rules=NO_PAUSE)
    for check in ("supported", "configured", "persisted", "speed_duplex", "full_duplex", "drops"):
        assert only(results, check).status in ("pass", "skip"), results[check]
    assert only(results, "configured").status == "pass"
    assert only(results, "persisted").status == "pass"


def test_off_now_and_on_at_boot_fails_for_the_boot_alone(judge):
    results = judge(of(aix(), "goent-disabled", "ent2"), rules=NO_PAUSE)
    assert only(results, "configured").status == "pass"
    assert only(results, "persisted").status == "fail"
    assert "The settings at boot are rx on, tx on" in only(results, "persisted").why


def test_on_now_and_off_at_boot(judge):
    results = judge(of(aix(), "elxent-enabled", "ent2").flow_ctrl("ent2", "no"), rules=NO_PAUSE)
    assert only(results, "configured").status == "fail"
    assert only(results, "persisted").status == "pass"


def test_without_the_attribute_nothing_is_known_of_the_boot(judge):
    results = judge(of(aix(), "goent-disabled", "ent2").flow_ctrl("ent2", None), rules=NO_PAUSE)
    assert only(results, "persisted").status == "warn"
    assert "Nothing sets rx and tx at boot" in only(results, "persisted").why


def test_a_virtual_adapter_is_left_alone(judge):
    results = judge(of(aix(), "vioent", "ent2").flow_ctrl("ent2", None))
    assert only(results, "supported").status == "skip"
    assert "Virtual I/O Server" in only(results, "configured").why


def test_what_nobody_tells_is_an_error(judge):
    text = entstat("goent-disabled", "ent2").replace("Flow Control Status", "Flow State")
    machine = aix().storage("en2", text, "ent2")
    assert only(judge(machine), "configured").status == "error"
    text = text.replace("4-Port 10/100/1000 Base-TX PCI-Express Adapter (14106803)", "x (lp-hea)")
    machine = aix().storage("en2", text).flow_ctrl("ent2", None)
    finding = only(judge(machine), "configured")
    assert finding.status == "error" and "HMC" in finding.why


def test_a_link_that_is_down(judge):
    results = judge(of(aix(), "shient-down", "ent2"))
    for check in ("configured", "full_duplex", "speed_duplex"):
        assert only(results, check).status == "skip"


def test_half_duplex_fails(judge):
    text = entstat("goent-disabled", "ent2").replace("1000 Mbps Full", "100 Mbps Half")
    assert only(judge(aix().storage("en2", text, "ent2")), "full_duplex").status == "fail"


def test_a_forced_speed_is_a_warning(judge):
    text = entstat("goent-disabled", "ent2").replace("Auto negotiation", "1000 Mbps Full Duplex")
    finding = only(judge(aix().storage("en2", text, "ent2")), "speed_duplex")
    assert finding.status == "warn" and "ethtool" not in (finding.fix or "")


def test_pause_frames_and_drops_are_what_the_sample_counted(judge):
    before = entstat("elxent-enabled", "ent2")
    after = before.replace("XOFF packets transmitted: 0", "XOFF packets transmitted: 40")
    after = after.replace("DMA Overrun: 156783", "DMA Overrun: 156790")
    machine = aix().storage("en2", before, "ent2")
    machine.sampled("pause", "command:entstat -d ent2", before, after)
    results = judge(machine)
    assert only(results, "pause_frames").status == "warn"
    assert "sent 40 PAUSE frames" in only(results, "pause_frames").why
    assert only(results, "drops").status == "warn" and "DMA Overrun 7" in only(results, "drops").why


def test_counters_that_were_set_back_tell_nothing(judge):
    before = entstat("elxent-enabled", "ent2").replace(
        "XOFF packets received: 0", "XOFF packets received: 9"
    )
    after = before.replace("DMA Overrun: 156783", "DMA Overrun: 0")
    after = after.replace("XOFF packets received: 9", "XOFF packets received: 0")
    machine = aix().storage("en2", before, "ent2")
    machine.sampled("pause", "command:entstat -d ent2", before, after)
    results = judge(machine)
    assert only(results, "drops").status == "error" and "DMA Overrun" in only(results, "drops").why
    assert only(results, "pause_frames").status == "error"


def test_priority_flow_control_is_left_alone(judge):
    text = entstat("lnc2ent-dcbx", "ent2")
    assert only(judge(aix().storage("en2", text, "ent2")), "priority_flow_control").status == "pass"
    text = text.replace("Priority Flow Control: Disabled", "Priority Flow Control: Enabled")
    results = judge(aix().storage("en2", text, "ent2"))
    assert only(results, "configured").status == "skip"
    assert "hands off" in only(results, "priority_flow_control").why


def test_members_of_an_aggregation(judge):
    results = judge(aix().storage("en10", entstat("link-aggregation"), "ent4", "ent5"))
    assert [finding.title.split(":")[0] for finding in results["configured"]] == ["ent4", "ent5"]
    assert only(results, "bond_members_alike").status == "pass"
    assert "/proc" not in str(results["bond_members_alike"])
    text = entstat("link-aggregation").replace("Distributing: Enabled", "Distributing: Disabled", 1)
    results = judge(aix().storage("en10", text, "ent4", "ent5"))
    assert only(results, "bond_members_alike").status == "warn"
    assert "ent4" in only(results, "bond_members_alike").why


def test_a_backup_adapter_that_differs(judge):
    machine = aix().storage("en20", entstat("etherchannel-backup"), "ent0", "ent5")
    finding = only(judge(machine), "bond_members_alike")
    assert finding.status == "fail" and "ent0: 10000" in finding.why


def test_a_backup_adapter_without_a_primary_one(judge):
    """entstat can call the primary channel active after its only adapter was removed."""
    text = entstat("etherchannel-backup")
    begin, end = text.index("ETHERNET STATISTICS (ent0)"), text.index("Backup adapter - ent5")
    machine = aix().storage("en20", text[:begin] + text[end:], "ent5")
    assert only(judge(machine), "bond_members_alike").status != "error"


def test_below_a_vlan(judge):
    machine = aix().storage("en13", entstat("vlan"), "ent2")
    machine.command(
        "lsattr -E -l ent13 -a base_adapter", "base_adapter ent2 VLAN Base Adapter True\n"
    )
    machine.entstat("ent2", entstat("goent-disabled"))
    assert only(judge(machine), "configured").title.startswith("ent2: ")


def test_a_vlan_on_itself_is_unknown_and_does_not_hang(judge):
    machine = aix().storage("en13", entstat("vlan"))
    machine.command(
        "lsattr -E -l ent13 -a base_adapter", "base_adapter ent13 VLAN Base Adapter True\n"
    )
    assert judge(machine)["supported"][0].status == "error"


@cases("missing", "entstat -d ent2", "route -n get filer1", "mount")
def test_a_command_that_fails_is_an_error(judge, missing):
    results = judge(of(aix(), "elxent-enabled", "ent2").failing(missing, "no", 1))
    assert "error" in {finding.status for finding in results["supported"]}
    assert "pass" not in {finding.status for findings in results.values() for finding in findings}


def test_the_interconnect_is_named_or_unknown_on_a_cluster(judge):
    machine = aix().file("/etc/oracle/ocr.loc", "ocrconfig_loc=+DATA\n")
    finding = judge(machine)["supported"][0]
    assert finding.status == "error" and "flow_control_interconnect" in finding.why
    machine.entstat("ent2", entstat("goent-disabled")).flow_ctrl("ent2", "yes")
    machine.command("lsattr -E -l en2 -a mtu", "mtu 9000 Maximum IP Packet Size True\n")
    assert only(judge(machine, interconnect=["en2"]), "supported").running.endswith("interconnect")


def test_an_interconnect_by_its_network(judge):
    machine = aix().route("198.51.100.1", "198.51.100.1", "en2")
    machine.entstat("ent2", entstat("goent-disabled")).flow_ctrl("ent2", "yes")
    assert only(judge(machine, interconnect=["198.51.100.0/24"]), "supported").status == "pass"


def test_a_rule_by_name_reads_every_adapter(judge):
    machine = aix().command("lsdev -C -c adapter -F name", "ent2\nent4\nent5\nent10\nfcs0\n")
    machine.entstat("ent2", entstat("goent-disabled")).flow_ctrl("ent2", "no")
    machine.entstat("ent10", entstat("link-aggregation"))
    machine.flow_ctrl("ent4", "no").flow_ctrl("ent5", "no")
    results = judge(machine, rules=[{"name": "ent[245]", "rx": "off", "tx": "off"}])
    found = [finding.title.split(":")[0] for finding in results["configured"]]
    assert found == ["ent2", "ent4", "ent5"]
    assert [finding.status for finding in results["configured"]] == ["pass", "fail", "fail"]


def test_offline_is_the_same():
    machine = aix().storage("en10", entstat("link-aggregation"), "ent4", "ent5")
    live = audit.judge_host(machine, {"flow_control": policy()})
    recorded = RecordedHost(json.loads(json.dumps(machine.evidence)))
    assert audit.judge_host(recorded, {"flow_control": policy()}) == live


class TestPlan:
    def plan(self, machine: AixMachine, **changes: Any) -> Any:
        settings = flow_control.policy_from(policy(**changes))
        return planner("flow_control")(flow_control.read(machine, settings), settings)

    def test_the_default_changes_nothing(self):
        plan = self.plan(of(aix(), "elxent-enabled", "ent2"))
        assert (plan.changes, plan.refusals) == ([], [])

    def test_what_differs_is_refused_with_what_to_do(self):
        plan = self.plan(of(aix(), "elxent-enabled", "ent2"), rules=NO_PAUSE)
        (refusal,) = plan.refusals
        assert plan.changes == []
        assert refusal.override is None and "chdev -l ent2 -a flow_ctrl=no -P" in refusal.reason

    def test_what_is_so_already_is_not(self):
        machine = of(aix(), "goent-disabled", "ent2").flow_ctrl("ent2", "no")
        assert self.plan(machine, rules=NO_PAUSE).refusals == []

    def test_directions_that_differ_cannot_be_had(self):
        rule = [{"role": "storage", "rx": "on", "tx": "off"}]
        (refusal,) = self.plan(of(aix(), "elxent-enabled", "ent2"), rules=rule).refusals
        assert "both directions with one attribute" in refusal.reason
