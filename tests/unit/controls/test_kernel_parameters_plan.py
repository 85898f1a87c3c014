"""What apply would do about kernel parameters: the plan, its guards, and that it is done once."""

import random

import kernel_packs
import packs
import pytest
from ansible.module_utils.hostproof.apply.change import FileChange
from ansible.module_utils.hostproof.controls.kernel_parameters.parameter_table import ROWS
from ansible.module_utils.hostproof.errors import HostproofError
from kernel_packs import DROP_IN, HEADER, after, drop_in, plan_of, proc, sets, stock, values

SINGLE = {"profile": "oracle_19c_single"}
RAC = {"profile": "rac_nfs", "interconnect": ["eth1", "eth8"]}

#: What a stock kernel of 64 GiB lacks of the demands on 19c.
LACKING = {
    "fs.aio-max-nr": "1048576",
    "fs.file-max": "6815744",
    "kernel.panic_on_oops": "1",
    "net.core.rmem_default": "262144",
    "net.core.rmem_max": "4194304",
    "net.core.wmem_default": "262144",
    "net.core.wmem_max": "1048576",
}


def cluster_host() -> packs.Machine:
    return stock().file(proc("net.ipv4.conf.eth1.rp_filter"), "0\n")


class TestChanges:
    def test_a_stock_host_of_a_profile(self):
        plan = plan_of(stock(), **SINGLE)
        assert plan.refusals == [] and values(plan) == LACKING | {"vm.swappiness": "10"}
        # The kernel's own value of this one depends on how it was built.
        assert drop_in(plan) == values(plan) | {"kernel.numa_balancing": "0"}

    def test_a_host_with_a_home_gets_what_the_documents_ask_and_no_advice(self):
        plan = plan_of(kernel_packs.with_home(stock()))
        assert drop_in(plan) == values(plan) == LACKING

    def test_one_drop_in_with_a_header_comes_first(self):
        first, *others = plan_of(stock(), **SINGLE).changes
        assert isinstance(first, FileChange) and (first.path, first.before) == (DROP_IN, None)
        assert str(first.content).startswith(HEADER)
        assert not [change for change in others if isinstance(change, FileChange)]

    def test_without_oracle_and_without_a_policy_nothing_is_planned(self):
        plan = plan_of(stock())
        assert plan.changes == [] and "No Oracle software" in plan.pending[0]

    def test_a_node_of_a_cluster(self):
        plan = plan_of(sets(cluster_host(), net__ipv4__conf__eth1__rp_filter="1"), **RAC)
        assert values(plan)["net.ipv4.conf.eth1.rp_filter"] == "2"
        assert drop_in(plan)["net.ipv4.ipfrag_high_thresh"] == "16777216"
        # Taking memory for it from a running host makes it reclaim at once.
        assert drop_in(plan)["vm.min_free_kbytes"] == "268435"
        assert "vm.min_free_kbytes" not in values(plan)
        assert [value.path for value in plan.at_boot] == ["/proc/sys/vm/min_free_kbytes"]
        assert "vm/min_free_kbytes = 268435" in plan.pending[0]

    def test_the_high_mark_of_fragments_is_written_before_the_low_one(self):
        """The kernel refuses a low mark above the high one."""
        names = [line for line in [*drop_in(plan_of(cluster_host(), **RAC))] if "ipfrag" in line]
        assert names == ["net.ipv4.ipfrag_high_thresh", "net.ipv4.ipfrag_low_thresh"]

    def test_an_interface_whose_name_has_a_dot(self):
        machine = stock().file("/proc/sys/net/ipv4/conf/bond0.7/rp_filter", "1\n")
        machine.file("/etc/sysctl.d/50-default.conf", "net.ipv4.conf.default.rp_filter = 1\n")
        plan = plan_of(machine, profile="rac_asm", interconnect=["bond0.7", "eth8"])
        (change,) = [change for change in plan.changes if isinstance(change, FileChange)]
        assert "net/ipv4/conf/bond0.7/rp_filter = 2\n" in str(change.content)
        assert after(machine, plan)
        assert plan_of(machine, profile="rac_asm", interconnect=["bond0.7", "eth8"]).changes == []

    def test_what_another_place_sets_stays_there(self):
        machine = stock().file("/etc/sysctl.d/97-oracle.conf", "fs.aio-max-nr = 3145728\n")
        plan = plan_of(machine, **SINGLE)
        assert "fs.aio-max-nr" not in drop_in(plan)
        # The running kernel has not read it yet, and gets what the boot will set.
        assert values(plan)["fs.aio-max-nr"] == "3145728"

    def test_a_drop_in_of_which_no_line_is_due(self):
        """Another place sets everything: what an earlier apply wrote goes, the header stays."""
        machine = stock()
        after(machine, plan_of(machine, **SINGLE))
        machine.file("/etc/sysctl.d/97-oracle.conf", machine.files[DROP_IN].removeprefix(HEADER))
        machine.remove(DROP_IN)
        assert plan_of(machine, **SINGLE).changes == []
        machine.evidence.clear()
        machine.file(DROP_IN, HEADER + "kernel.msgmni = 2878\n")
        (change,) = plan_of(machine, **SINGLE).changes
        assert isinstance(change, FileChange) and (change.path, change.content) == (DROP_IN, HEADER)

    def test_activation_at_reboot_leaves_the_running_kernel_alone(self):
        plan = plan_of(stock(), activation="reboot", **SINGLE)
        assert values(plan) == {}
        assert {value.path for value in plan.at_boot} == {proc(name) for name in LACKING} | {
            proc("vm.swappiness")
        }

    def test_what_the_kernel_does_not_have_is_never_written(self):
        machine = stock().remove(proc("kernel.numa_balancing"), proc("fs.aio-max-nr"))
        plan = plan_of(machine, **SINGLE)
        assert not {"kernel.numa_balancing", "fs.aio-max-nr"} & {*drop_in(plan), *values(plan)}

    def test_unmanaged_is_neither_read_for_nor_written(self):
        machine = stock().deny(proc("fs.aio-max-nr"))
        plan = plan_of(machine, unmanaged=["fs.aio-max-nr", "vm/swappiness"], **SINGLE)
        assert not {"fs.aio-max-nr", "vm.swappiness"} & {*drop_in(plan), *values(plan)}

    def test_unmanaged_later_keeps_the_line_that_an_earlier_apply_wrote(self):
        machine = stock()
        after(machine, plan_of(machine, **SINGLE))
        assert plan_of(machine, unmanaged=["vm.swappiness"], **SINGLE).changes == []

    def test_a_demand_that_is_gone_leaves_the_drop_in(self):
        machine = stock()
        after(machine, plan_of(machine, **SINGLE))
        plan = plan_of(machine, releases=["11.2"])
        assert "kernel.panic_on_oops" not in drop_in(plan) and values(plan) == {}

    def test_dirty_bytes_count_instead_of_the_ratio(self):
        machine = sets(stock(), vm__dirty_bytes="1073741824", vm__dirty_ratio="90")
        assert "vm.dirty_ratio" not in values(plan_of(machine, **SINGLE))
        machine = sets(stock(), vm__dirty_ratio="90")
        machine.file("/etc/sysctl.d/50.conf", "vm.dirty_bytes = 1073741824\n")
        assert "vm.dirty_ratio" not in values(plan_of(machine, **SINGLE))
        machine.file("/etc/sysctl.d/50.conf", "")
        machine.evidence.clear()
        assert values(plan_of(machine, **SINGLE))["vm.dirty_ratio"] == "40"


class TestNamesOfOthers:
    """oifcfg is run as the owner of Clusterware, who says what he likes."""

    @pytest.mark.parametrize(
        "name",
        ["../../../../../tmp/evil", "../../core", "/tmp/evil", "..", ".", "all", "default"]
        + ["eth1\x00", "a" * 40, "-w", "eth*", "\x1b[2J"],
    )
    def test_no_name_leads_root_anywhere(self, name):
        machine = kernel_packs.with_home(stock())
        grid = {"pid": 50, "uid": 54331, "gid": 1, "started": 1.0}
        machine.running.append({**grid, "argv0": "/u01/app/19.0.0/grid/bin/ocssd.bin"})
        machine.command("getent passwd", "grid:x:54331:54321::/home/grid:/bin/bash\n")
        machine.command(
            "list the networks of Clusterware (oifcfg getif)",
            f"{name} 192.0.2.0 global cluster_interconnect\n"
            "eth8 198.51.100.0 global cluster_interconnect\n",
        )
        path = f"/proc/sys/net/ipv4/conf/{name}/rp_filter"
        machine.file(path, "1\n")
        try:
            plan = plan_of(machine, profile="rac_nfs", interconnect="auto")
        except HostproofError:
            return
        assert path not in [change.path for change in plan.changes]
        assert name in ("all", "default") or f"file:{path}" not in machine.evidence

    def test_a_sound_name_is_taken(self):
        machine = kernel_packs.with_home(stock())
        grid = {"pid": 50, "uid": 54331, "gid": 1, "started": 1.0}
        machine.running.append({**grid, "argv0": "/u01/app/19.0.0/grid/bin/ocssd.bin"})
        machine.command("getent passwd", "grid:x:54331:54321::/home/grid:/bin/bash\n")
        machine.command(
            "list the networks of Clusterware (oifcfg getif)",
            "eth1.7 192.0.2.0 global cluster_interconnect\n"
            "eth8 198.51.100.0 global cluster_interconnect\n",
        )
        machine.file("/proc/sys/net/ipv4/conf/eth1.7/rp_filter", "1\n")
        plan = plan_of(machine, profile="rac_nfs", interconnect="auto")
        assert "/proc/sys/net/ipv4/conf/eth1.7/rp_filter" in [one.path for one in plan.changes]


class TestNeverLower:
    def test_each_number_of_the_semaphores_by_itself(self):
        machine = sets(stock(), kernel__sem="100\t64000\t50\t256")
        machine.file("/etc/sysctl.conf", "kernel.sem = 100 64000 50 256\n")
        plan = plan_of(machine, **SINGLE)
        assert values(plan)["kernel.sem"] == drop_in(plan)["kernel.sem"] == "250 64000 100 256"
        (change,) = [change for change in plan.changes if change.path == proc("kernel.sem")]
        # As the kernel prints it, for it is read back.
        assert not isinstance(change, FileChange) and change.value == "250\t64000\t100\t256"

    def test_what_a_later_boot_would_raise_is_not_lowered_either(self):
        machine = stock().file("/etc/sysctl.d/50.conf", "kernel.sem = 100 99999 100 128\n")
        assert drop_in(plan_of(machine, **SINGLE))["kernel.sem"] == "32000 1024000000 500 32000"
        machine = sets(machine, kernel__sem="250\t32000\t100\t128")
        machine.evidence.clear()
        assert drop_in(plan_of(machine, **SINGLE))["kernel.sem"] == "250 99999 100 128"

    def test_what_systemd_raised_as_far_as_it_goes(self):
        machine = sets(stock(), fs__file_max="9223372036854775807")
        machine.file(proc("fs.file-max"), "9223372036854775807\n")
        plan = plan_of(machine, **SINGLE)
        assert "fs.file-max" not in {*drop_in(plan), *values(plan)}

    def test_a_port_range_that_is_within_stays(self):
        for now, written in (
            ("10000\t38231", None),
            ("32768\t60999", None),
            # Too few ports, though all of them are allowed.
            ("10000\t38230", "9000 65500"),
            ("60000\t61000", "9000 65500"),
            ("1024\t65535", "9000 65500"),
        ):
            planned = values(plan_of(sets(stock(), net__ipv4__ip_local_port_range=now), **SINGLE))
            assert planned.get("net.ipv4.ip_local_port_range") == written

    @pytest.mark.parametrize("seed", range(40))
    def test_of_any_host(self, seed):
        chance = random.Random(seed)
        machine = any_host(chance)
        policy = any_policy(chance)
        plan = planned(machine, policy)
        if plan is None:
            return
        lowest = {row.name for row in ROWS if row.compare == "at_least"}
        named = {entry["name"] for entry in policy["values"] if entry.get("compare") == "exactly"}
        for name, value in values(plan).items():
            if name in lowest - named:
                before = machine.files[proc(name)].split()
                pairs = zip(value.split(), before, strict=True)
                assert all(int(new) >= int(old) for new, old in pairs)


class TestRefused:
    def reasons(self, machine, **changes):
        return "\n".join(refusal.reason for refusal in plan_of(machine, **changes).refusals)

    def test_a_later_file_wins(self):
        machine = stock().file("/etc/sysctl.d/99-zzz.conf", "\nvm.swappiness = 60\n")
        reasons = self.reasons(machine, **SINGLE)
        assert "/etc/sysctl.d/99-zzz.conf:2 (vm.swappiness = 60) comes later" in reasons
        assert "kernel_parameters_sysctl_file" in reasons
        assert "vm.swappiness in kernel_parameters_unmanaged" in reasons

    def test_tuned_wins_with_what_it_never_applies_again(self):
        machine = stock().file("/etc/tuned/active_profile", "ours\n")
        machine.file("/etc/tuned/ours/tuned.conf", "[vm]\ndirty_ratio=80\n")
        assert "tuned profile /etc/tuned/ours/tuned.conf" in self.reasons(machine, **SINGLE)
        assert self.reasons(machine, unmanaged=["vm.dirty_ratio"], **SINGLE) == ""

    def test_tuned_loses_where_it_applies_the_files_again(self):
        machine = stock().file("/etc/tuned/active_profile", "ours\n")
        machine.file("/etc/tuned/ours/tuned.conf", "[sysctl]\nvm.swappiness=30\n")
        machine.evidence.clear()
        assert self.reasons(machine, **SINGLE) == ""
        assert drop_in(plan_of(machine, **SINGLE))["vm.swappiness"] == "10"

    def test_saptune_is_not_fought(self):
        machine = stock().file("/run/saptune/parameter/vm.swappiness", "{}")
        reasons = self.reasons(machine, **SINGLE)
        assert "saptune manages vm.swappiness (/run/saptune/parameter)" in reasons
        assert self.reasons(machine, unmanaged=["vm.swappiness"], **SINGLE) == ""

    def test_other_settings_in_the_drop_in(self):
        machine = stock().file(DROP_IN, "vm.max_map_count = 262144\n")
        assert "holds other settings (vm/max_map_count)" in self.reasons(machine, **SINGLE)

    def test_a_limit_below_what_is_used(self):
        low = [{"name": "kernel.sem", "value": "250 104 100 128", "compare": "exactly"}]
        assert "105 of 104 semaphores are in use" in self.reasons(stock(), values=low)
        enough = [{**low[0], "value": "250 105 100 128"}]
        assert self.reasons(stock(), values=enough) == ""

    def test_an_unknown_is_never_guessed(self):
        with pytest.raises(HostproofError):
            plan_of(stock().deny("/etc/sysctl.conf"), **SINGLE)


# -- of any host ----------------------------------------------------------------------------------


def any_number(chance: random.Random) -> int:
    return chance.choice([0, 1, 2, 50, 128, 9000, 65500, 1 << 20, 1 << 24, 1 << 33])


def any_host(chance: random.Random) -> packs.Machine:
    """Values, files, a profile of TuneD and owners as chance has it."""
    machine = cluster_host()
    names = [name for name in kernel_packs.STOCK if not name.endswith("-nr") or "max" in name]
    for name in chance.sample(names, 8):
        count = len(kernel_packs.STOCK[name].split())
        machine.file(proc(name), "\t".join(str(any_number(chance)) for _ in range(count)) + "\n")
    for path in ("/etc/sysctl.d/50-a.conf", "/usr/lib/sysctl.d/60-b.conf", "/etc/sysctl.conf"):
        lines = []
        for name in chance.sample(names, 5):
            count = len(kernel_packs.STOCK[name].split())
            numbers = " ".join(str(any_number(chance)) for _ in range(count))
            lines.append(f"{name} = {chance.choice([numbers, numbers, '4G', numbers + ' 7'])}\n")
        machine.file(path, "".join(lines))
    if chance.random() < 0.5:
        machine.file("/etc/tuned/active_profile", "ours\n")
        name = chance.choice(names)
        machine.file("/etc/tuned/ours/tuned.conf", f"[sysctl]\n{name}={any_number(chance)}\n")
    return machine


def any_policy(chance: random.Random) -> dict:
    named = chance.sample([row.name for row in ROWS], 2)
    return {
        "profile": chance.choice(["oracle_19c_single", "rac_nfs", "rac_asm"]),
        "releases": chance.choice(["auto", ["11.2"], ["12.2", "23"], ["26"]]),
        "interconnect": chance.choice(["auto", ["eth1", "eth8"]]),
        "unmanaged": chance.sample([row.name for row in ROWS], 2),
        "values": [
            {
                "name": name,
                "value": "5 900000",
                "compare": chance.choice(["at_least", "at_most", "exactly", "within"]),
            }
            if name.endswith("port_range")
            else {"name": name, "value": str(any_number(chance)), "compare": "exactly"}
            for name in sorted(set(named))
            if chance.random() < 0.3
        ],
    }


def planned(machine: packs.Machine, policy: dict) -> kernel_packs.Plan | None:
    """None where apply refuses, or does not guess."""
    try:
        plan = plan_of(machine, **policy)
    except HostproofError:
        return None
    return None if plan.refusals else plan


@pytest.mark.parametrize("seed", range(150))
def test_a_second_apply_changes_nothing(seed):
    chance = random.Random(seed)
    machine = any_host(chance)
    policy = any_policy(chance)
    plan = planned(machine, policy)
    if plan is not None:
        again = plan_of(after(machine, plan), **policy)
        assert (again.changes, again.refusals, again.at_boot) == ([], [], [])


def test_chance_finds_hosts_where_something_is_applied():
    """Else the two tests above would look at nothing."""
    applied = 0
    for seed in range(150):
        chance = random.Random(seed)
        plan = planned(any_host(chance), any_policy(chance))
        applied += plan is not None and bool(plan.changes)
    assert applied >= 40


def test_a_parameter_that_is_rejected_leaves_the_others():
    machine = kernel_packs.with_home(kernel_packs.stock())
    machine.file("/etc/sysctl.d/99-zzzz.conf", "net.core.rmem_max = 1\n")
    planned = plan_of(machine)
    assert [refusal.part for refusal in planned.refusals] == ["net.core.rmem_max"]
    (content,) = [change.content for change in planned.changes if isinstance(change, FileChange)]
    assert "fs.aio-max-nr = " in content and "rmem_max" not in content
    assert "/proc/sys/net/core/rmem_max" not in [change.path for change in planned.changes]
