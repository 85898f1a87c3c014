"""What apply would do about disks: the file of rules, its guards, and that it is done once."""

import random
from typing import Any

import pytest
from ansible.module_utils.hostproof.apply.change import CommandChange, FileChange, Plan, ValueChange
from ansible.module_utils.hostproof.errors import PolicyError
from block_packs import NAMED, RULES, after, plan_of, policy_of, recorded
from cases import cases

QUEUE = {"scheduler": ["none"], "nr_requests": 64, "queue_depth": 32, "max_sectors_kb": 256}
HEADER = "# Written by Hostproof (role block_devices): change the policy, not this file.\n"
OF_MAP = (
    'ACTION!="remove", SUBSYSTEM=="block", ENV{DM_UUID}=="mpath-1Linux_scsi_debug_2000", '
    'ENV{DEVTYPE}=="disk", '
)
OF_PATH = 'SUBSYSTEM=="block", ENV{ID_SERIAL}=="1Linux_scsi_debug_2000", ENV{DEVTYPE}=="disk", '


def rules(plan: Plan) -> str:
    return "".join(str(change.content) for change in plan.changes if isinstance(change, FileChange))


def values(plan: Plan) -> dict[str, str]:
    return {change.path: change.value for change in plan.changes if isinstance(change, ValueChange)}


class TestChanges:
    def test_without_a_policy_nothing_is_planned(self):
        plan = plan_of(recorded())
        assert plan.changes == [] and "block_devices_devices is auto" in plan.pending[0]

    def test_owners_and_queues_of_a_map_and_its_paths(self):
        plan = plan_of(recorded(), {**NAMED, **QUEUE})
        assert plan.refusals == [] and rules(plan).startswith(HEADER)
        assert set(rules(plan).removeprefix(HEADER).splitlines()) == {
            OF_MAP + 'OWNER="oracle", GROUP="dba", MODE="0660"',
            OF_MAP + 'ATTR{queue/scheduler}="none", ATTR{queue/nr_requests}="64"',
            f'ACTION!="remove", {OF_PATH}ATTR{{queue/scheduler}}="none", '
            'ATTR{queue/nr_requests}="64", ATTR{device/queue_depth}="32"',
            f'ACTION=="add", {OF_PATH}ATTR{{queue/max_sectors_kb}}="256"',
        }
        assert values(plan) == {
            "/sys/block/dm-0/queue/scheduler": "none",
            "/sys/block/dm-0/queue/nr_requests": "64",
            **{
                f"/sys/block/{disk}/{key}": value
                for disk in ("sda", "sdb")
                for key, value in (
                    ("queue/scheduler", "none"),
                    ("queue/nr_requests", "64"),
                    ("device/queue_depth", "32"),
                )
            },
        }

    def test_the_size_of_requests_waits_for_the_boot(self):
        """A map in use was made with the size that its paths had."""
        plan = plan_of(recorded(), {**NAMED, **QUEUE})
        assert "/sys/block/sda/queue/max_sectors_kb = 256" in plan.pending[0]
        later = {change.path: change.before for change in plan.at_boot}
        assert later["/sys/block/sda/queue/max_sectors_kb"] == "512"

    def test_the_size_of_requests_alone(self):
        plan = plan_of(recorded(), {"name": NAMED["name"], "max_sectors_kb": 256})
        size = 'ATTR{queue/max_sectors_kb}="256"'
        assert rules(plan) == HEADER + f'ACTION=="add", {OF_PATH}{size}\n'

    def test_the_scheduler_is_written_before_the_length_and_journaled_after_it(self):
        """A new scheduler brings a length of its own, and so does the old one on revert."""
        plan = plan_of(recorded(), {"name": "/dev/sda", "scheduler": ["none"], "nr_requests": 64})
        found = list(values(plan))
        assert found == ["/sys/block/sda/queue/scheduler", "/sys/block/sda/queue/nr_requests"]
        seen = [(change.path, change.before) for change in plan.at_boot]
        assert seen == [("/sys/block/sda/queue/nr_requests", "256")]

    def test_udev_sets_the_owner_by_the_new_rule(self):
        (change,) = [
            one for one in plan_of(recorded(), NAMED).changes if isinstance(one, CommandChange)
        ]
        assert (change.before, change.after) == ("0:6 660", "54321:54322 660")
        found = [command.argv[:2] for command in change.make]
        assert found == [("udevadm", "control"), ("udevadm", "trigger"), ("udevadm", "settle")]
        assert change.make[1].argv[-1] == "--name-match=/dev/mapper/mpatha"
        assert [command.argv for command in change.undo[1:]] == [
            ("chown", "0:6", "/dev/mapper/mpatha"),
            ("chmod", "660", "/dev/mapper/mpatha"),
        ]

    def test_what_another_rule_sets_stays_there(self):
        other = 'ENV{DM_NAME}=="mpath*", OWNER="oracle", GROUP="dba", MODE="660"\n'
        plan = plan_of(recorded().rule("12-asm.rules", other), NAMED)
        assert rules(plan) == "" and [type(change) for change in plan.changes] == [CommandChange]

    def test_a_rule_by_the_kernels_name_is_made_good(self):
        other = 'KERNEL=="dm-0", OWNER="oracle", GROUP="dba", MODE="660"\n'
        assert 'OWNER="oracle"' in rules(plan_of(recorded().rule("12-asm.rules", other), NAMED))

    def test_at_reboot_nothing_but_the_file(self):
        plan = plan_of(recorded(), {**NAMED, **QUEUE}, activation="reboot")
        assert [type(change) for change in plan.changes] == [FileChange]
        assert {change.path for change in plan.at_boot} >= set(
            values(plan_of(recorded(), {**NAMED, **QUEUE}))
        )

    def test_a_demand_that_is_gone_leaves_the_file(self):
        machine = recorded()
        after(machine, plan_of(machine, {**NAMED, **QUEUE}))
        plan = plan_of(machine, NAMED)
        assert "ATTR" not in rules(plan) and 'OWNER="oracle"' in rules(plan)

    def test_the_best_scheduler_that_the_kernel_has(self):
        entry = {"name": "mpatha", "scheduler": ["noop", "none", "mq-deadline"]}
        # What is in force will do, and is kept.
        assert values(plan_of(recorded(), entry)) == {}
        entry["scheduler"] = ["noop", "none"]
        assert set(values(plan_of(recorded(), entry)).values()) == {"none"}

    @pytest.mark.parametrize("seed", range(20))
    def test_a_plan_that_is_carried_out_leaves_nothing_to_plan(self, seed):
        chance = random.Random(seed)
        entry: dict[str, Any] = {"name": chance.choice(["mpath*", "/dev/sda", "sd*"])}
        choices: dict[str, list[Any]] = {
            "owner": ["oracle"],
            "group": ["dba"],
            "mode": ["0660", "0640"],
            "scheduler": [["none"], ["mq-deadline"], ["kyber", "none"]],
            "nr_requests": [64, 256],
            "queue_depth": [32, 192],
            "rotational": [True, False],
        }
        for key, some in choices.items():
            if chance.random() < 0.6:
                entry[key] = chance.choice(some)
        machine = recorded()
        for disk, number in (("sda", 0), ("sdb", 16)):
            machine.owners[f"/dev/{disk}"] = (0, 6, 0o660)
            assert f"/run/udev/data/b8:{number}" in machine.files
        plan = plan_of(machine, entry)
        assert plan.refusals == []
        after(machine, plan)
        assert plan_of(machine, entry).changes == []


class TestGuards:
    def test_a_rule_that_comes_later(self):
        other = 'ENV{DM_NAME}=="mpath*", OWNER="root"\n'
        plan = plan_of(recorded().rule("99-zzz.rules", other), NAMED)
        assert "would override OWNER of /dev/dm-0" in plan.refusals[0].reason
        assert "99-zzz.rules:1 (root)" in plan.refusals[0].reason

    def test_a_rule_that_is_final(self):
        other = 'ENV{DM_NAME}=="mpath*", OWNER:="root"\n'
        plan = plan_of(recorded().rule("12-asm.rules", other), NAMED)
        assert "12-asm.rules:1 (root)" in plan.refusals[0].reason

    def test_tuned_would_win(self):
        machine = recorded().file("/etc/tuned/active_profile", "ours\n")
        machine.file("/etc/tuned/ours/tuned.conf", "[disk]\nelevator=mq-deadline\n")
        machine.command("systemctl is-enabled tuned.service", "enabled\n")
        plan = plan_of(machine, {"name": "/dev/sda", "scheduler": ["none"]})
        assert "tuned profile /etc/tuned/ours/tuned.conf (mq-deadline)" in plan.refusals[0].reason

    def test_a_scheduler_that_the_kernel_does_not_have(self):
        plan = plan_of(recorded(), {"name": "/dev/sda", "scheduler": ["kyber"]})
        assert "offers mq-deadline none, but not kyber" in plan.refusals[0].reason

    def test_a_file_that_is_not_ours(self):
        machine = recorded().file(RULES, 'KERNEL=="sdx", OWNER="x"\n')
        assert "was not written by Hostproof" in plan_of(machine, NAMED).refusals[0].reason

    def test_an_account_that_is_not_there(self):
        plan = plan_of(recorded(), {**NAMED, "group": "asmadmin"})
        assert plan.refusals and "owner of" in plan.refusals[0].part
        assert all("no group entry asmadmin" in refusal.reason for refusal in plan.refusals)
        assert "asmadmin" not in rules(plan)

    @cases(
        "serial",
        'x", RUN+="/bin/sh',
        "a*",
        "a|b",
        "$env{X}",
        "%k",
        "a\\",
        "a b",
        "é",
        "x" * 300,
        "",
    )
    def test_nothing_of_a_host_becomes_a_rule(self, serial):
        """A disk chooses its own serial number, and whoever makes a map its name."""
        machine = recorded()
        path = "/run/udev/data/b8:0"
        machine.file(path, machine.files[path].replace("1Linux_scsi_debug_2000", serial))
        plan = plan_of(machine, {"name": "/dev/sda", "nr_requests": 64})
        (refusal,) = plan.refusals
        assert "no identity for a udev rule" in refusal.reason
        assert plan.changes == []

    def test_an_identity_by_the_place_where_it_is_plugged_in(self):
        machine = recorded()
        machine.file("/run/udev/data/b8:0", "E:ID_PATH=pci-0000:00:0d.0\nE:DEVTYPE=disk\n")
        plan = plan_of(machine, {"name": "/dev/sda", "nr_requests": 64})
        assert 'ENV{ID_PATH}=="pci-0000:00:0d.0"' in rules(plan)

    @cases(
        "field value",
        ("name", 'x", RUN+="y'),
        ("name", "/etc/passwd"),
        ("name", "/dev/../etc/*"),
        ("name", "a\nb"),
        ("owner", "Root; rm"),
        ("owner", "grid\n"),
        ("group", 'a"'),
        ("mode", 432),
        ("mode", "0999"),
        ("mode", "07777"),
        ("scheduler", ['none", RUN="x']),
        ("nr_requests", "64; x"),
        ("queue_depth", 0),
    )
    def test_nothing_of_a_policy_becomes_a_rule(self, field, value):
        with pytest.raises(PolicyError, match="block_devices_devices"):
            policy_of({**NAMED, field: value})

    @cases("path", "/etc/udev/rules.d/a.conf", "/tmp/x.rules", "/etc/udev/rules.d/../x.rules", "")
    def test_a_file_that_udev_would_not_read(self, path):
        with pytest.raises(PolicyError, match="block_devices_rules_file"):
            policy_of(NAMED, rules_file=path)
