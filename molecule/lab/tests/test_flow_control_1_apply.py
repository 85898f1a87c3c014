"""The story of flow control on real drivers: e1000e, e1000, a bond of both, and virtio without any.

Every test goes on where the one before it ended; test_flow_control_2_path continues. The filer
behind the cables is molecule/lab/wires.py.
"""

import re

from flow_lab import FlowLab
from machines import vm

#: What a boot keeps with the e1000 drivers; rx and tx differ once, so that nothing can be mixed up.
WANTED = [
    {"name": "{e1000e}", "rx": "on", "tx": "off"},
    {"role": "storage", "rx": "off", "tx": "off"},
]
MEMBERS = (3, 4)


def wanted(flow: FlowLab) -> list[dict[str, str]]:
    return [
        {key: text.format(e1000e=flow.card(1)) for key, text in rule.items()} for rule in WANTED
    ]


def test_the_cards_are_as_their_drivers_leave_them(flow, flow_untouched):
    assert flow.card(2) == "dbnet0"
    assert flow_untouched["pause"] == {
        flow.card(1): "on on on",
        flow.card(2): "on on off",
        flow.card(3): "on on on",
        flow.card(4): "on on off",
    }


def test_without_a_policy_nothing_changes_and_tx_of_a_storage_card_is_told(flow, flow_untouched):
    applied = flow.play("apply", hostproof_window_seconds=1)
    assert applied.changed == 0
    assert "flow_control_rules is auto: nothing is changed" in applied.output
    statuses = applied.statuses()
    assert statuses[f"{flow.card(1)} flow_control.configured"] in ("warn", "fail")
    assert statuses["dbnet0 flow_control.configured"] == "pass"
    assert statuses["dbnet0 flow_control.persisted"] == "warn"
    assert statuses["dbnet0 flow_control.link_file_inverted"] == "warn"
    assert statuses[f"{flow.card(5)} flow_control.supported"] == "skip"
    assert statuses[f"{flow.card(5)} flow_control.configured"] == "skip"
    assert flow.state() == flow_untouched


def test_check_mode_shows_the_plan_and_changes_nothing(flow, flow_untouched):
    planned = flow.play("apply", "--check", "--diff", flow_control_rules=wanted(flow))
    assert planned.rc == 0
    output = planned.output
    assert output.count("+TxFlowControl=no") == 4
    assert output.count("+RxFlowControl=yes") == 1
    # Each file takes over what counted before it: the distribution's, or the administrator's.
    assert output.count("+NamePolicy=keep kernel database onboard slot path") == 3
    assert output.count("+Name=dbnet0") == 1
    assert flow.state() == flow_untouched


def test_apply_sets_one_member_of_the_bond_after_the_other_and_verifies(flow, flow_untouched):
    flow.run(f"{{ {WATCH} ; }} >/tmp/bond.log 2>&1 & echo $! > /tmp/bond.pid")
    applied = flow.play("apply", flow_control_rules=wanted(flow), hostproof_window_seconds=1)
    flow.run("kill $(cat /tmp/bond.pid)")
    assert applied.changed == 1
    assert flow.state()["pause"] == in_force(flow)
    # Somebody carried the bond at every moment.
    seen = set(flow.run("cat /tmp/bond.log").split())
    assert seen <= {"1", "2"}
    assert "2" in seen
    statuses = applied.statuses()
    assert_verified(flow, statuses)


def assert_verified(flow: FlowLab, statuses: dict[str, str]) -> None:
    """Every card is set as WANTED says, uses it, and will after the next boot."""
    for cable in (1, 2, *MEMBERS):
        for check in ("negotiated", "link_file_inverted"):
            assert statuses[f"{flow.card(cable)} flow_control.{check}"] in ("pass", "skip")
        for check in ("configured", "persisted"):
            assert statuses[f"{flow.card(cable)} flow_control.{check}"] == "pass"
    assert statuses["bond0 flow_control.bond_members_alike"] == "pass"


#: How many members carry the bond, over and over; a link that goes down is down for two seconds.
WATCH = (
    "while :; do awk '/^MII Status: up/ {up++} END {print up - 1}' /proc/net/bonding/bond0; "
    "sleep 0.5; done"
)


def in_force(flow: FlowLab) -> dict[str, str]:
    """What the drivers say where WANTED is in force."""
    off = dict.fromkeys((flow.card(cable) for cable in (2, *MEMBERS)), "off off off")
    return {flow.card(1): "off on off", **off}


def test_a_second_apply_changes_nothing(flow):
    before = (flow.state(), flow.run("find /var/lib/hostproof | sort"))
    again = flow.apply(flow_control_rules=wanted(flow), hostproof_window_seconds=0)
    assert again.changed == 0
    assert '"diff": []' in again.output
    assert (flow.state(), flow.run("find /var/lib/hostproof | sort")) == before


def test_after_a_boot_each_driver_does_what_the_policy_wants_and_keeps_its_name(flow):
    """This settles what systemd.link(5) has the wrong way round: RxFlowControl= is ethtool's rx."""
    names = flow.cards()
    link = flow.run(f"cat /etc/systemd/network/00-hostproof-{flow.card(1)}.link")
    assert re.search(
        r"^AutoNegotiationFlowControl=no\nRxFlowControl=yes\nTxFlowControl=no$", link, re.MULTILINE
    )
    vm.reboot()
    flow.wait_for_lacp()
    assert flow.cards() == names
    assert flow.state()["pause"] == in_force(flow)
    verified = flow.verify(flow_control_rules=wanted(flow), hostproof_window_seconds=1)
    statuses = verified.statuses()
    assert_verified(flow, statuses)


def test_revert_puts_everything_back_also_after_the_reboot(flow, flow_untouched):
    reverted = flow.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    flow.wait_for_lacp()
    assert flow.state() == flow_untouched


def test_a_second_revert_finds_nothing_to_put_back(flow, flow_untouched):
    again = flow.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert flow.state() == flow_untouched


def put_back(flow: FlowLab, untouched: dict[str, object]) -> None:
    assert flow.revert().rc == 0
    flow.wait_for_lacp()
    assert flow.state() == untouched


def test_the_card_of_the_running_play_is_left_alone(flow, flow_untouched):
    """The play itself comes over a card without flow control: another ssh session stands in."""
    name = flow.card(1)
    flow.run(
        "mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -C wired -f /tmp/wired-key; "
        "cat /tmp/wired-key.pub >> /root/.ssh/authorized_keys; "
        "ip netns exec wired setsid -f ssh -i /tmp/wired-key -o StrictHostKeyChecking=no "
        "-o UserKnownHostsFile=/dev/null 10.9.2.1 sleep 600 </dev/null >/dev/null 2>&1; "
        "for i in $(seq 100); do ss -tn state established '( sport = :22 )' | grep -q 10.9.2.2 "
        "&& exit; sleep 0.3; done; exit 1"
    )
    refused = flow.apply(flow_control_rules=wanted(flow), hostproof_window_seconds=0)
    # Not a word of the shell's own arguments, which pkill would find too.
    flow.run(
        "pkill -f 'ssh -i /tmp/[w]ired'; rm -f /tmp/wired-key*; "
        "sed -i '/ wired$/d' /root/.ssh/authorized_keys"
    )
    assert refused.rc == 2
    output = " ".join(refused.output.split())
    assert f"{name} is the only path of the ssh connection" in output
    assert "flow_control_allow_link_down: true" in output
    # The other cards are set: they do not depend on it.
    assert flow.state()["pause"] == {**in_force(flow), name: flow_untouched["pause"][name]}
    put_back(flow, flow_untouched)


def test_a_bond_with_one_member_left_is_refused(flow, flow_untouched):
    down, left = (flow.card(cable) for cable in MEMBERS)
    flow.run(
        f"ip link set {down} down; for i in $(seq 50); do "
        "awk '/Number of ports:/ {exit $NF != 1}' /proc/net/bonding/bond0 && exit; sleep 0.3; "
        "done; exit 1"
    )
    refused = flow.apply(flow_control_rules=wanted(flow), hostproof_window_seconds=0)
    flow.run(f"ip link set {down} up")
    flow.wait_for_lacp()
    assert refused.rc == 2
    assert f"{left} is the only member of bond0 that carries it" in " ".join(refused.output.split())
    # No member of the bond is changed, so that they stay alike.
    kept = {flow.card(cable): flow_untouched["pause"][flow.card(cable)] for cable in MEMBERS}
    assert flow.state()["pause"] == {**in_force(flow), **kept}
    put_back(flow, flow_untouched)
