"""flow_control: what is planned, in which order, and what stands in its way."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.apply.change import CommandChange, FileChange, Plan
from ansible.module_utils.hostproof.controls.flow_control import link_waits
from ansible.module_utils.hostproof.controls.flow_control.control import CONTROL as flow_control
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import Unanswered
from cases import cases
from nic_packs import Host, bonded_host, fixture, lacp, pause_text, policy, storage_host

OFF = [{"role": "storage", "rx": True, "tx": False, "autoneg": False}]
OURS = "/etc/systemd/network/00-hostproof-ens4.link"
SET = ("ethtool", "-A", "ens4")
Planner = Callable[..., Plan]


@pytest.fixture
def plan() -> Planner:
    def plan_host(host: Host, **changes: Any) -> Plan:
        host_policy = flow_control.policy_from(policy(**{"rules": OFF, **changes}))
        host.evidence.clear()  # each look is a new one
        return planner("flow_control")(flow_control.read(host, host_policy), host_policy)

    return plan_host


def commands(plan: Plan) -> list[CommandChange]:
    return [change for change in plan.changes if isinstance(change, CommandChange)]


def files(plan: Plan) -> dict[str, str | None]:
    return {one.path: one.content for one in plan.changes if isinstance(one, FileChange)}


def done(host: Host, plan: Plan) -> Host:
    """The host after the plan: what ethtool shows and what the files hold. A new check it."""
    for path, content in files(plan).items():
        assert content is not None
        host.file(path, content)
    for change in commands(plan):
        name = change.name.rpartition(" ")[2]
        setting = next(command for command in change.make if command.argv[:2] == ("ethtool", "-A"))
        values = [word == "on" for word in setting.argv[4::2]]
        host.command(f"ethtool -a {name}", pause_text(name, *values))
    host.evidence.clear()
    return host


def test_auto_changes_nothing(plan):
    host_plan = plan(storage_host(), rules="auto")
    assert not host_plan.changes and "auto" in host_plan.pending[0]


def test_what_persists_comes_first_and_a_second_apply_changes_nothing(plan):
    host = storage_host()
    first = plan(host)
    assert not first.refusals
    assert [type(change) for change in first.changes] == [FileChange, CommandChange]
    again = plan(done(host, first))
    assert not again.changes and not again.refusals


def test_the_link_file_keeps_the_name(plan):
    content = files(plan(storage_host()))[OURS]
    assert content is not None
    sections = content.partition("[Match]")[2]
    assert sections == (
        "\nPermanentMACAddress=52:54:00:0a:00:01\nDriver=e1000e\n\n[Link]\n"
        "NamePolicy=keep kernel database onboard slot path\n"
        "AlternativeNamesPolicy=database onboard slot path\nMACAddressPolicy=persistent\n"
        "AutoNegotiationFlowControl=no\nRxFlowControl=yes\nTxFlowControl=no\n"
    )


def test_the_link_file_takes_over_drop_ins_too(plan):
    host = storage_host()
    host.file("/etc/systemd/network/99-default.link.d/mtu.conf", "[Link]\nMTUBytes=9000\n")
    content = files(plan(host))[OURS]
    assert content is not None and "MTUBytes=9000\n" in content


@cases("team", False, True)
def test_a_boot_knows_an_interface_by_the_address_that_it_was_built_with(plan, team):
    """Whoever lent it another meanwhile: a bond, teamd, or cloned-mac-address= of a profile."""
    host = Host().nic("ens4", mac="52:54:00:0a:00:77", own="52:54:00:0a:00:01").mounts("ens4")
    if team:
        host.nic("team0", driver=None).link("/sys/class/net/ens4/master", "/sys/class/net/team0")
        host.command("ethtool -i team0", "driver: team\n")
    text = files(plan(host, allow_link_down=True))[OURS]
    assert text is not None and "\nPermanentMACAddress=52:54:00:0a:00:01\n" in text
    host = bonded_host()
    text = files(plan(host))["/etc/systemd/network/00-hostproof-ens10.link"]
    assert text is not None and "\nPermanentMACAddress=52:54:00:0a:00:02\n" in text


def test_without_a_permanent_address_no_file_is_written(plan):
    for answer in ("Permanent address: not set\n", "Permanent address: 00:00:00:00:00:00\n"):
        host = storage_host().command("ethtool -P ens4", answer)
        host.command("udevadm info -q property -p /sys/class/net/ens4", UDEV_KNOWS)
        with pytest.raises(Unanswered, match="ethtool -P does not show the permanent MAC"):
            plan(host)


UDEV_KNOWS = "ID_NET_LINK_FILE=/usr/lib/systemd/network/99-default.link\n"


def test_a_file_with_more_sections_is_not_taken_over(plan):
    host = storage_host()
    path = "/etc/systemd/network/50-vf.link"
    match = "[Match]\nPermanentMACAddress=52:54:00:0a:00:01\n"
    host.file(path, match + "[Link]\nName=x\n[SR-IOV]\nVirtualFunction=0\n")
    host_plan = plan(host)
    assert [refusal.override for refusal in host_plan.refusals] == [None]
    assert f"{path} counts for ens4 and has [SR-IOV]" in host_plan.refusals[0].reason
    assert (
        "AutoNegotiationFlowControl=no RxFlowControl=yes TxFlowControl=no"
        in host_plan.refusals[0].reason
    )
    # What is not for systemd is no reason.
    host.file(path, match + "[Link]\nName=x\n[X-Ours]\nNote=1\n")
    assert not plan(host).refusals


def test_a_section_that_came_behind_ours_is_told(plan):
    host = storage_host()
    host = done(host, plan(host))
    text = fixture("99-default.link") + "[SR-IOV]\nVirtualFunction=0\n"
    host.file("/usr/lib/systemd/network/99-default.link", text)
    host_policy = flow_control.policy_from(policy(rules=OFF))
    findings = flow_control.judge(flow_control.read(host, host_policy), host_policy)
    persisted = [finding for finding in findings if finding.check == "flow_control.persisted"]
    assert [finding.status for finding in persisted] == ["warn"]


def test_the_driver_is_the_one_that_udev_compares(plan):
    host = storage_host(driver="mlx4_core")
    host.command("udevadm info -q property -p /sys/class/net/ens4", "ID_NET_DRIVER=mlx4_en\n")
    text = files(plan(host))[OURS]
    assert text is not None and "\nDriver=mlx4_en\n" in text
    host.command("udevadm --version", "239 (239-58.0.1.el8)\n").file("/sbin/ethtool", "")
    text = files(plan(host))["/etc/udev/rules.d/99-hostproof-pause-ens4.rules"]
    assert text is not None and 'DRIVERS=="mlx4_core"' in text
    assert 'RUN+="/sbin/ethtool -A $name autoneg' in text


def test_a_driver_with_the_negotiation_of_the_link_gets_no_other(plan):
    rule = [{"role": "storage", "rx": True, "tx": True}]
    lines = ("RX negotiated: on", "TX negotiated: on")
    text = files(plan(storage_host(driver="ice", more=lines), rules=rule))[OURS]
    assert text is not None and "AutoNegotiation" not in text
    assert text.endswith("RxFlowControl=yes\nTxFlowControl=yes\n")


def test_where_no_link_file_counts_none_is_taken_over(plan):
    content = files(plan(storage_host().remove("/usr/lib/systemd/network/99-default.link")))[OURS]
    assert content is not None and "NamePolicy" not in content


def test_a_link_file_changed_behind_ours_is_told(plan):
    host = storage_host()
    host = done(host, plan(host))
    host.file(
        "/usr/lib/systemd/network/99-default.link", "[Match]\nOriginalName=*\n[Link]\nName=x\n"
    )
    host_policy = flow_control.policy_from(policy(rules=OFF))
    findings = flow_control.judge(flow_control.read(host, host_policy), host_policy)
    persisted = [finding for finding in findings if finding.check == "flow_control.persisted"]
    assert [finding.status for finding in persisted] == ["warn"] and "hidden" in persisted[0].why


def test_an_old_systemd_gets_an_udev_rule(plan):
    host = storage_host().command("udevadm --version", "239 (239-58.0.1.el8)\n")
    with pytest.raises(Unanswered, match="ethtool is in no directory"):
        plan(host)
    host.file("/usr/sbin/ethtool", "")
    path = "/etc/udev/rules.d/99-hostproof-pause-ens4.rules"
    host_plan = plan(host)
    text = files(host_plan)[path]
    assert text is not None
    assert text.splitlines()[1] == (
        'ACTION=="add", SUBSYSTEM=="net", ATTR{address}=="52:54:00:0a:00:01", '
        'DRIVERS=="e1000e", RUN+="/usr/sbin/ethtool -A $name autoneg off rx on tx off"'
    )
    host = done(host, host_plan)
    rule = text.splitlines()[1]
    host.command(f"grep -s -H -E -e ethtool -- {path}", f"{path}:{rule}\n")
    assert not plan(host).changes


def test_the_command_says_all_and_undoes_all(plan):
    change = commands(plan(storage_host()))[0]
    assert change.make[0].argv == (*SET, "autoneg", "off", "rx", "on", "tx", "off")
    assert change.undo[0].argv == (*SET, "autoneg", "on", "rx", "on", "tx", "on")
    assert change.after == "Autonegotiate:\toff\nRX:\t\ton\nTX:\t\toff"


@cases(
    "driver text state",
    # What an e1000 negotiates differs from time to time; what a tg3 is set to does not.
    ("e1000", pause_text("x", True, True, False), "Autonegotiate:\ton"),
    ("e1000", pause_text("x", False, True, False), "Autonegotiate:\toff\nRX:\t\ton\nTX:\t\toff"),
    ("tg3", pause_text("x", True, True, False), "Autonegotiate:\ton\nRX:\t\ton\nTX:\t\toff"),
    ("tg3", fixture("pause-mlx5.txt"), "Autonegotiate:\toff\nRX:\t\ton\nTX:\t\ton"),
)
def test_the_look_tells_the_state(plan, driver, text, state):
    change = commands(plan(storage_host(driver=driver)))[0]
    match = re.search(change.look.expected, text, re.MULTILINE)
    assert match is not None and match.group(1) == state


def test_what_is_kept_is_what_is_in_force(plan):
    rule = [{"role": "storage", "tx": False}]
    change = commands(plan(storage_host(), rules=rule))[0]
    assert change.make[0].argv[3:] == ("autoneg", "off", "rx", "on", "tx", "off")
    assert not commands(plan(storage_host(pause=(True, True, False)), rules=rule))


def test_negotiation_stays_where_it_gives_what_is_wanted(plan):
    lines = ("RX negotiated: on", "TX negotiated: on")
    settings = fixture("settings-partner.txt").replace(
        "partner advertised pause frame use: Symmetric",
        "partner advertised pause frame use: Transmit-only",
    )
    host = storage_host(driver="tg3", more=lines, settings=settings)
    change = commands(plan(host, rules=[{"role": "storage", "rx": True, "tx": False}]))[0]
    assert change.make[0].argv[3:] == ("autoneg", "on", "rx", "on", "tx", "off")


def judged(host: Host, check: str, **changes: Any) -> list[str]:
    host.evidence.clear()
    host_policy = flow_control.policy_from(policy(**{"rules": OFF, **changes}))
    findings = flow_control.judge(flow_control.read(host, host_policy), host_policy)
    return [finding.status for finding in findings if finding.check == "flow_control." + check]


NEGOTIATED_OFF = ("RX negotiated: off", "TX negotiated: off")


@cases("partner", "Not told", "No")
def test_a_boot_sets_what_is_wanted_and_not_what_is_offered_now(plan, partner):
    """Negotiation gives what is required, and only because the other end offers nothing."""
    settings = fixture("settings-partner.txt").replace(
        "partner advertised pause frame use: Symmetric",
        f"partner advertised pause frame use: {partner}",
    )
    rule = [{"role": "storage", "tx": False}]
    host = storage_host(driver="tg3", more=NEGOTIATED_OFF, settings=settings)
    host_plan = plan(host, rules=rule)
    assert not commands(host_plan)
    text = files(host_plan)[OURS]
    assert text is not None and text.endswith("TxFlowControl=no\n")
    # What the other end offers is known, or negotiation is not left to it.
    assert ("AutoNegotiationFlowControl=yes\n" in text) == (partner == "No")
    host.file(OURS, text)
    assert judged(host, "persisted", rules=rule) == ["pass"] and not plan(host, rules=rule).changes


def test_a_boot_of_a_driver_that_offers_both_does_not_negotiate(plan):
    rule = [{"role": "storage", "tx": False}]
    host = storage_host(pause=(True, True, False))
    text = files(plan(host, rules=rule))[OURS]
    assert text is not None
    assert text.endswith("AutoNegotiationFlowControl=no\nRxFlowControl=yes\nTxFlowControl=no\n")
    host.file(OURS, text)
    assert judged(host, "persisted", rules=rule) == ["pass"]
    with pytest.raises(Unanswered, match="offers both directions"):
        plan(host, rules=[{"role": "storage", "tx": False, "autoneg": "keep"}])


LINK = "/etc/systemd/network/10-storage.link"
BOTH_SIDES = "[Match]\nMACAddress=52:54:00:0a:00:01\n[Link]\nRxFlowControl=yes\nTxFlowControl=no\n"


def test_negotiation_that_is_off_now_must_be_off_after_a_boot(plan):
    rule = [{"role": "storage", "rx": True, "tx": False}]
    for pause in ((False, True, False), (True, True, True)):
        host = storage_host(driver="tg3", pause=pause).file(LINK, BOTH_SIDES)
        if pause[0]:
            host.command("ethtool -a ens4", pause_text("ens4", *pause, *NEGOTIATED_OFF))
        text = files(plan(host, rules=rule))[OURS]
        assert text is not None and "AutoNegotiationFlowControl=no\n" in text
        host = done(host, plan(host, rules=rule))
        assert judged(host, "persisted", rules=rule) == ["pass"]
    # These never negotiate it, so nothing is missing.
    host = storage_host(driver="mlx5_core", pause=(False, True, False)).file(LINK, BOTH_SIDES)
    assert not plan(host, rules=rule).changes


def test_negotiation_that_must_be_kept_and_cannot_give_it_is_unknown(plan):
    keep = [{"role": "storage", "tx": False, "autoneg": "keep"}]
    with pytest.raises(Unanswered, match="offers both directions"):
        plan(storage_host(), rules=keep)
    with pytest.raises(Unanswered, match="takes no change of autoneg"):
        plan(storage_host(driver="i40e", more=("RX negotiated: on", "TX negotiated: on")))


def test_match_peer_needs_a_peer(plan):
    with pytest.raises(Unanswered, match="match_peer"):
        plan(storage_host(), rules=[{"role": "storage", "rx": "match_peer"}])


def test_an_interface_without_a_link_is_set_for_the_boot_alone(plan):
    host_plan = plan(storage_host(carrier=0))
    assert not commands(host_plan) and OURS in files(host_plan)
    assert "no link" in host_plan.pending[0]


def test_an_interface_that_was_taken_down_is_waited_for_by_nobody(plan):
    host_plan = plan(storage_host().take_down("ens4"))
    assert not commands(host_plan) and OURS in files(host_plan)
    assert "no link" in host_plan.pending[0]


def test_a_link_that_nobody_tells_of_is_not_planned(plan):
    host = storage_host().remove("/sys/class/net/ens4/carrier")
    with pytest.raises(Unanswered, match="whether ens4 has a link is not known"):
        plan(host)


def test_without_a_link_negotiation_stays_as_it_is(plan):
    rule = [{"role": "storage", "rx": True, "tx": False}]
    text = files(plan(storage_host(driver="tg3", carrier=0), rules=rule))[OURS]
    assert text is not None and "AutoNegotiationFlowControl=yes\n" in text
    # This driver offers both while it negotiates.
    text = files(plan(storage_host(carrier=0), rules=rule))[OURS]
    assert text is not None and "AutoNegotiationFlowControl=no\n" in text
    keep = [{"role": "storage", "rx": True, "tx": False, "autoneg": "keep"}]
    with pytest.raises(Unanswered, match="offers both directions"):
        plan(storage_host(carrier=0), rules=keep)


def test_tx_of_an_intel_driver_is_not_promised_for_the_next_link(plan):
    rule = [{"role": "storage", "rx": False, "tx": True, "autoneg": False}]
    assert any("sets tx again" in message for message in plan(storage_host(), rules=rule).pending)
    assert not any("sets tx again" in message for message in plan(storage_host()).pending)


def test_priority_flow_control_and_virtual_interfaces_are_left_alone(plan):
    host = storage_host().command("dcb pfc show dev ens4 prio-pfc", fixture("dcb-pfc.txt"))
    assert not plan(host).changes
    host = Host().nic("ens3", driver="virtio_net", pause=None).mounts("ens3")
    host_plan = plan(host)
    assert not host_plan.changes and not host_plan.refusals


# -- guards ---------------------------------------------------------------------------------------


def reasons(plan: Plan) -> list[str]:
    assert all(refusal.override == "allow_link_down" for refusal in plan.refusals)
    return [refusal.reason for refusal in plan.refusals]


def test_the_only_path_of_the_play(plan):
    assert "only path of the ssh connection" in reasons(plan(storage_host().login("ens4")))[0]
    assert not plan(storage_host().login("ens4"), allow_link_down=True).refusals
    assert not plan(storage_host().nic("ens5").login("ens5")).refusals


def test_the_path_of_the_play_is_asked_for_by_its_own_address(plan):
    """Policy routing sends from 192.0.2.1 over ens4, and anything else over ens5."""
    host = storage_host().nic("ens5").login("ens4").route("198.51.100.7", "ens5")
    assert "only path of the ssh connection" in reasons(plan(host))[0]


def test_what_comes_in_need_not_come_the_way_that_goes_out(plan):
    host = storage_host().nic("ens5").login("ens5")
    host.command(
        "ip -o addr show",
        "2: ens4    inet 192.0.2.1/24 brd 192.0.2.255 scope global ens4\n"
        "3: ens5    inet 192.0.2.9/24 brd 192.0.2.255 scope global ens5\n",
    )
    assert "only path of the ssh connection" in reasons(plan(host))[0]


def test_who_is_logged_in_must_be_known(plan):
    host = storage_host().deny("open_files:sshd")
    with pytest.raises(Exception, match="denied"):
        plan(host)


def test_the_interconnect_without_a_bond(plan):
    rule = [{"role": "interconnect", "rx": True, "tx": False, "autoneg": False}]
    assert "30 seconds" in reasons(plan(Host().nic("ens5"), rules=rule, interconnect=["ens5"]))[0]


def test_members_of_a_bond_one_at_a_time(plan):
    host_plan = plan(bonded_host())
    assert not host_plan.refusals
    first, second = commands(host_plan)
    assert (first.name, second.name) == ("flow control of ens10", "flow control of ens8")
    for change, own, other in ((first, "ens10", "ens8"), (second, "ens8", "ens10")):
        for steps in (change.make, change.undo):
            before, setting, link, after = steps
            assert before.argv[-2:] == ("bond0", other)
            assert setting.argv[:3] == ("ethtool", "-A", own) and link.argv[-1] == own
            assert after.argv[-2:] == ("bond0", own)


def test_a_login_over_a_bond_is_no_reason(plan):
    assert not plan(bonded_host().login("bond0")).refusals


def test_a_bond_without_another_member_that_works(plan):
    host_plan = plan(bonded_host(up=(True, False)))
    assert any("1 others, 0 in use" in reason for reason in reasons(host_plan))
    assert any("is not in use by bond0 now" in reason for reason in reasons(host_plan))
    alone = Host().nic("ens8").bond("bond0", lacp(("ens8", True)), "ens8").mounts("bond0")
    assert "0 others" in reasons(plan(alone))[0]


def test_members_of_a_bond_stay_alike_while_one_is_rejected(plan):
    host_plan = plan(bonded_host(up=(True, False), second={"carrier": 0}))
    assert {refusal.part for refusal in host_plan.refusals} == {"bond0"} and not host_plan.changes


def test_a_bond_that_notices_nothing(plan):
    host = bonded_host()
    host.file("/proc/net/bonding/bond0", lacp(("ens8", True), ("ens10", True), miimon=0))
    assert all("does not notice" in reason for reason in reasons(plan(host)))


def test_a_team_cannot_be_waited_for(plan):
    host = Host().nic("ens8").nic("team0", driver=None).folder("/sys/class/net/team0/lower_ens8")
    host.link("/sys/class/net/ens8/master", "/sys/class/net/team0")
    host.command("ethtool -i team0", "driver: team\n").mounts("team0")
    assert "not a bond of the kernel" in reasons(plan(host))[0]


def test_what_comes_after_a_link_file_must_go_first(plan):
    host = storage_host()
    path = "/etc/udev/rules.d/70-pause.rules"
    rule = 'ACTION=="add", SUBSYSTEM=="net", RUN+="/sbin/ethtool -A $name rx on tx on"\n'
    host.file(path, rule).command(f"grep -s -H -E -e ethtool -- {path}", f"{path}:{rule}")
    host_plan = plan(host)
    assert [refusal.override for refusal in host_plan.refusals] == [None]
    assert "70-pause.rules:1 sets tx on" in host_plan.refusals[0].reason


@cases(
    "path later",
    ("/etc/udev/rules.d/70-pause.rules", False),
    ("/usr/lib/udev/rules.d/70-pause.rules", False),
    ("/etc/udev/rules.d/99-zz-pause.rules", True),
)
def test_rules_of_an_old_systemd_run_by_the_names_of_their_files(plan, path, later):
    host = storage_host()
    host.command("udevadm --version", "239 (239-58.0.1.el8)\n").file("/usr/sbin/ethtool", "")
    rule = 'ACTION=="add", SUBSYSTEM=="net", RUN+="/sbin/ethtool -A $name rx on tx on"\n'
    host.file(path, rule).command(f"grep -s -H -E -e ethtool -- {path}", f"{path}:{rule}")
    refusals = plan(host).refusals
    assert [f"{path}:1 sets tx on" in refusal.reason for refusal in refusals] == [True] * later


def test_what_only_may_come_after_a_link_file_must_go_too(plan):
    host = storage_host()
    path = "/etc/udev/rules.d/70-pause.rules"
    rule = 'ATTR{device/vendor}=="0x8086", RUN+="/sbin/ethtool -A $name rx on tx on"\n'
    host.file(path, rule).command(f"grep -s -H -E -e ethtool -- {path}", f"{path}:{rule}")
    assert "70-pause.rules:1 sets tx on" in plan(host).refusals[0].reason


# -- the scripts that wait ------------------------------------------------------------------------


def run(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-c", script.replace("sleep 0.5", "sleep 0.01"), "sh", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def wait_bond(tmp_path: Path, text: str, limit: str, *members: str, back: bool = False) -> int:
    (tmp_path / "bond0").write_text(text)
    script = link_waits.WAIT_BOND_BACK if back else link_waits.WAIT_BOND
    answer = run(script.replace("/proc/net/bonding", str(tmp_path)), limit, "bond0", *members)
    assert answer.stdout.endswith("carried\n") == (answer.returncode == 0), answer
    return answer.returncode


def test_waiting_for_a_bond(tmp_path):
    real = fixture("bonding-lacp.txt")
    assert wait_bond(tmp_path, real, "60", "ens8") == 0
    assert wait_bond(tmp_path, real, "60", "ens8", "ens10") == 0


def test_the_way_back_waits_for_what_is_left_of_the_bond(tmp_path):
    gone = fixture("bonding-lacp.txt").replace("Slave Interface: ens8", "Slave Interface: ens9")
    assert wait_bond(tmp_path, gone, "1", "ens8") == 1
    assert wait_bond(tmp_path, gone, "1", "ens8", back=True) == 0
    assert wait_bond(tmp_path, gone, "1", "ens8", "ens10", back=True) == 0
    # Who is left must carry it as before.
    down = gone.replace("ens10\nMII Status: up", "ens10\nMII Status: down")
    assert down != gone and wait_bond(tmp_path, down, "1", "ens8", "ens10", back=True) == 1
    script = link_waits.WAIT_BOND_BACK.replace("/proc/net/bonding", str(tmp_path))
    assert run(script, "1", "bond7", "ens8").stdout == "bond7 is no more\ncarried\n"


def test_only_the_way_back_takes_a_bond_that_is_no_more(plan):
    for change in commands(plan(bonded_host())):
        assert "is no more" not in "".join(step.argv[2] for step in change.make[::3])
        assert all("is no more" in step.argv[2] for step in change.undo[::3])


@cases(
    "old new",
    ("ens8\nMII Status: up", "ens8\nMII Status: down"),
    # In sync, but not collecting and distributing yet; and the same at the other end.
    ("port number: 1\n    port state: 63", "port number: 1\n    port state: 15"),
    ("Mac Address: 52:54:00:0a:00:06", "Mac Address: 00:00:00:00:00:00"),
    ("Slave queue ID: 0\nAggregator ID: 1", "Slave queue ID: 0\nAggregator ID: 2"),
    ("Slave Interface: ens8", "Slave Interface: other"),
)
def test_a_member_that_does_not_carry_its_bond_is_waited_for_in_vain(tmp_path, old, new):
    text = fixture("bonding-lacp.txt")
    assert old in text and wait_bond(tmp_path, text.replace(old, new, 1), "1", "ens8") == 1


def test_a_bond_without_lacp_is_waited_for_by_its_link(tmp_path):
    text = (
        "Ethernet Channel Bonding Driver: v6.1\n\nBonding Mode: fault-tolerance (active-backup)\n"
        "MII Status: up\n\nSlave Interface: ens8\nMII Status: up\n"
    )
    assert wait_bond(tmp_path, text, "60", "ens8") == 0
    assert wait_bond(
        tmp_path, text.replace("ens8\nMII Status: up", "ens8\nMII Status: down"), "1", "ens8"
    )


def test_waiting_for_a_link(tmp_path):
    folder = tmp_path / "ens8"
    folder.mkdir()
    script = link_waits.WAIT_CARRIER.replace("/sys/class/net", str(tmp_path))
    (folder / "carrier").write_text("1\n")
    assert run(script, "60", "ens8").stdout == "carried\n"
    (folder / "carrier").write_text("0\n")
    assert run(script, "1", "ens8").returncode == 1 and run(script, "1", "gone").returncode == 1
    (folder / "operstate").write_text("down\n")
    assert run(script, "1", "ens8").returncode == 1
    # What the kernel refuses to tell of an interface that was taken down.
    (folder / "carrier").unlink()
    assert run(script, "1", "ens8").stdout.endswith("carried\n")
