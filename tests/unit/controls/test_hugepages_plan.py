"""What apply would do: the plan, its guards with their numbers, and that it is done only once."""

import functools
from collections.abc import Callable
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.apply import difference
from ansible.module_utils.hostproof.apply.change import FileChange, Plan, ValueChange
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from ansible.module_utils.hostproof.controls.hugepages.policy import InstancePolicy
from ansible.module_utils.hostproof.errors import HostproofError, PolicyError
from cases import cases
from packs import GIB, HEADER, MIB, Machine, Shm

LISTED = [{"sid": "ORCL", "sga": "16G", "version": "19"}]
POOL_FILE = "/proc/sys/vm/nr_hugepages"
GROUP_FILE = "/proc/sys/vm/hugetlb_shm_group"


def fresh_host() -> Machine:
    """Ready for nothing: accounts are there, and transparent huge pages are on."""
    machine = packs.linux().account("oracle", 54321, "oinstall", "dba")
    machine.group("oinstall", packs.OINSTALL)
    machine.file(packs.THP_FILE, "[always] madvise never\n").remove("/etc/tmpfiles.d/thp.conf")
    return machine


def after(machine: Machine, plan: Plan) -> Machine:
    """The host as it is when the plan has been carried out."""
    machine.evidence.clear()
    for change in plan.changes:
        if isinstance(change, FileChange):
            assert change.content is not None
            machine.file(change.path, change.content)
        elif change.path == packs.THP_FILE:
            words = ["always", "madvise", "never"]
            marked = [f"[{word}]" if word == change.value else word for word in words]
            machine.file(change.path, " ".join(marked) + "\n")
        else:
            machine.file(change.path, change.value + "\n")
            if change.path == POOL_FILE:
                machine.pool(int(change.value), int(change.value))
    return machine


def changes(plan: Plan) -> dict[str, str | None]:
    """Path to what it would hold."""
    return {
        one.path: one.content if isinstance(one, FileChange) else one.value for one in plan.changes
    }


def reasons(plan: Plan) -> dict[str | None, str]:
    """Override to reason."""
    return {refusal.override: refusal.reason for refusal in plan.refusals}


class TestChanges:
    def test_everything_for_a_listed_instance(self, plan):
        host_plan = plan(fresh_host(), instances=LISTED)
        assert host_plan.refusals == []
        assert changes(host_plan) == {
            packs.SYSCTL_FILE: HEADER + "vm.hugetlb_shm_group = 54321\nvm.nr_hugepages = 8196\n",
            packs.LIMITS_FILE: HEADER
            + f"oracle soft memlock {58 * MIB}\noracle hard memlock {58 * MIB}\n",
            packs.TMPFILES_FILE: HEADER + f"w! {packs.THP_FILE} - - - - never\n",
            GROUP_FILE: "54321",
            POOL_FILE: "8196",
            packs.THP_FILE: "never",
        }
        assert [type(change) for change in host_plan.changes] == [FileChange] * 3 + [
            ValueChange
        ] * 3

    @cases("memlock limit", ("70000000", "70000000"), ("unlimited", "unlimited"))
    def test_memlock_of_the_policy(self, plan, memlock, limit):
        contents = changes(plan(fresh_host(), instances=LISTED, memlock=memlock))
        lines = f"oracle soft memlock {limit}\noracle hard memlock {limit}\n"
        assert contents[packs.LIMITS_FILE] == HEADER + lines

    def test_diff_is_the_plan(self, plan):
        host_plan = plan(fresh_host(), instances=LISTED)
        diff = {
            entry["after_header"]: (entry["before"], entry["after"])
            for entry in difference.of_plan(host_plan)
        }
        assert diff[POOL_FILE] == ("0\n", "8196\n")
        assert diff[packs.THP_FILE] == ("always\n", "never\n")
        assert diff[packs.SYSCTL_FILE] == ("", changes(host_plan)[packs.SYSCTL_FILE])
        assert len(diff) == 6

    @cases(
        "policy",
        {},
        {"memlock": "unlimited"},
        {"memlock": "70000000"},
        {"group": ""},
        {"transparent": "madvise"},
        {"spare_pages": 12},
    )
    def test_second_apply_changes_nothing(self, plan, policy):
        machine = fresh_host()
        first = plan(machine, instances=LISTED, **policy)
        assert first.changes
        second = plan(after(machine, first), instances=LISTED, **policy)
        assert (second.changes, second.refusals, second.at_boot) == ([], [], [])

    def test_what_was_applied_passes(self, plan, judge):
        machine = fresh_host()
        after(machine, plan(machine, instances=LISTED))
        statuses = {
            check: group[0].status for check, group in judge(machine, instances=LISTED).items()
        }
        assert set(statuses.values()) == {"pass", "skip"}

    def test_host_that_is_ready_needs_no_change(self, plan):
        assert plan(packs.database_host()).changes == []

    def test_what_another_file_sets_already_is_left_to_it(self, plan):
        machine = fresh_host().file(
            "/etc/sysctl.d/97-oracle.conf", "vm.nr_hugepages=8196\nvm.hugetlb_shm_group=54321\n"
        )
        assert packs.SYSCTL_FILE not in changes(plan(machine, instances=LISTED))

    def test_later_file_that_sets_the_same_value_is_no_rival(self, plan):
        machine = fresh_host().file("/etc/sysctl.d/zzz.conf", "vm.hugetlb_shm_group=54321\n")
        host_plan = plan(machine, instances=LISTED)
        assert host_plan.refusals == [] and packs.SYSCTL_FILE in changes(host_plan)

    def test_pool_of_a_running_instance_is_told_to_wait_for_its_restart(self, plan):
        machine = packs.database_host().remove(packs.SYSCTL_FILE)
        assert plan(machine).pending == ["ORCL keeps its limits and pages until it is restarted."]

    def test_activation_at_reboot_leaves_the_running_kernel_alone(self, plan):
        host_plan = plan(fresh_host(), instances=LISTED, activation="reboot")
        assert {type(change) for change in host_plan.changes} == {FileChange}
        found = {value.path: value.value for value in host_plan.at_boot}
        assert found == {POOL_FILE: "8196", GROUP_FILE: "54321", packs.THP_FILE: "never"}
        assert any(f"{POOL_FILE} = 8196" in text for text in host_plan.pending)

    def test_host_without_a_database_keeps_its_pool_and_limits(self, plan):
        host_plan = plan(fresh_host())
        assert set(changes(host_plan)) == {packs.TMPFILES_FILE, packs.THP_FILE}
        assert any("stay as they are" in text for text in host_plan.pending)

    def test_missing_account_waits(self, plan):
        host_plan = plan(fresh_host(), instances=LISTED, users=["oracle", "grid"])
        assert "grid" not in str(changes(host_plan)[packs.LIMITS_FILE])
        assert any("no account grid" in text for text in host_plan.pending)

    def test_only_account_is_missing(self, plan):
        host_plan = plan(fresh_host(), instances=LISTED, users=["grid"])
        assert packs.LIMITS_FILE not in changes(host_plan)
        assert any("no account grid" in text for text in host_plan.pending)

    def test_owner_of_a_running_instance_gets_the_limit_too(self, plan):
        machine = fresh_host().account("oradev", 7000, "oinstall")
        machine.instance("DEV", Shm(1 * GIB, False), uid=7000, memlock=65536)
        assert "oradev soft memlock" in str(changes(plan(machine))[packs.LIMITS_FILE])

    def test_kernel_without_transparent_huge_pages(self, plan):
        machine = fresh_host().remove(packs.THP_FILE)
        assert packs.TMPFILES_FILE not in changes(plan(machine, instances=LISTED))

    @cases(
        "policy untouched",
        ({"memlock": "unmanaged"}, packs.LIMITS_FILE),
        ({"transparent": "unmanaged"}, packs.TMPFILES_FILE),
        ({"group": ""}, GROUP_FILE),
    )
    def test_what_is_not_managed(self, plan, policy, untouched):
        assert untouched not in changes(plan(fresh_host(), instances=LISTED, **policy))


class TestAuto:
    def test_instance_in_ordinary_pages_gets_its_pool(self, plan):
        machine = fresh_host().instance("ORCL", Shm(4 * GIB, False), memlock=65536)
        assert changes(plan(machine))[POOL_FILE] == "2049"

    def test_pool_is_never_shrunk(self, plan):
        """An instance that is down would find its pages gone."""
        machine = packs.database_host().pool(9000, 808)
        assert POOL_FILE not in changes(plan(machine))
        assert "vm.nr_hugepages = 9000" in str(changes(plan(machine))[packs.SYSCTL_FILE])

    def test_pool_of_the_next_boot_is_never_shrunk(self, plan):
        machine = packs.database_host().file(
            packs.SYSCTL_FILE, HEADER + "vm.hugetlb_shm_group = 54321\nvm.nr_hugepages = 9000\n"
        )
        assert changes(plan(machine)) == {POOL_FILE: "9000"}

    def test_pool_is_never_set_to_nothing(self, plan):
        """Automatic Memory Management: it runs, and no segment of it wants a huge page."""
        machine = fresh_host().instance("AMM", Shm(20480, False), memlock=65536)
        with pytest.raises(HostproofError, match="list it in hugepages_instances"):
            plan(machine)

    def test_listed_pool_is_shrunk_to_what_is_listed(self, plan):
        assert changes(plan(fresh_host().pool(9000, 9000), instances=LISTED))[POOL_FILE] == "8196"

    def test_the_margin_of_a_listed_instance_stays_when_it_has_started(self, plan):
        """The second apply, after the start of the instance for which the first made the pool."""
        for extra, written in ((0, None), (4, None), (5, str(packs.PAGES_NEEDED))):
            machine = packs.database_host().pool(packs.PAGES_NEEDED + extra, 2 + extra)
            assert changes(plan(machine, instances=LISTED)).get(POOL_FILE) == written, extra


class TestOthersAreLeftAlone:
    def test_group_that_shuts_out_who_runs_is_refused(self, plan):
        machine = packs.database_host()
        machine.group("asmadmin", 54327, "grid")
        host_plan = plan(machine, group="asmadmin")
        assert host_plan.refusals == [], "the group that counts now is one of ORCL's"
        machine.file(GROUP_FILE, "0\n").evidence.clear()
        host_plan = plan(machine, group="asmadmin")
        assert "ORCL does not run with the group asmadmin" in reasons(host_plan)[None]

    def test_the_owner_needs_no_group_of_the_policy(self, plan, judge):
        """The kernel accepts any group of the owner, and the host needs no oinstall."""
        machine = packs.database_host().stop_instances()
        machine.instance("ORCL", *packs.healthy_sga(), groups=(54322,), memlock=60 * GIB)
        machine.file(GROUP_FILE, "54322\n").file(
            packs.SYSCTL_FILE,
            f"{HEADER}vm.hugetlb_shm_group = 54322\nvm.nr_hugepages = {packs.PAGES_NEEDED}\n",
        )
        assert plan(machine).changes == [] and judge(machine)["shm_group"][0].status == "pass"

    def test_the_file_of_earlier_releases_moves_behind_the_preinstallation_package(self, plan):
        old = "/etc/security/limits.d/99-zz-hostproof-hugepages.conf"
        machine = fresh_host().file(old, HEADER + "oracle soft memlock 1\n")
        machine.file(
            "/etc/security/limits.d/oracle-database-preinstall-19c.conf",
            "oracle soft memlock 1\noracle hard memlock 1\n",
        )
        host_plan = plan(machine, instances=LISTED)
        assert host_plan.refusals == [] and changes(host_plan)[old] is None
        assert "oracle hard memlock 6" in str(changes(host_plan)[packs.LIMITS_FILE])

    def test_a_limit_that_covers_the_sga_rejects_nothing(self, plan):
        machine = fresh_host().file(
            "/etc/security/limits.d/zzz.conf",
            "oracle soft memlock 33554432\noracle hard memlock 33554432\n",
        )
        host_plan = plan(machine, instances=LISTED)
        assert host_plan.refusals == []
        assert POOL_FILE in changes(host_plan) and packs.LIMITS_FILE not in changes(host_plan)

    def test_limit_of_another_place_is_not_lowered(self, plan):
        machine = fresh_host().account("grid", 54331, "oinstall")
        machine.file("/etc/security/limits.d/50-pre.conf", "oracle - memlock unlimited\n")
        host_plan = plan(machine, instances=LISTED, users=["oracle", "grid"])
        content = changes(host_plan)[packs.LIMITS_FILE]
        assert "grid soft memlock" in content and "oracle" not in content


def test_a_pool_without_room_now_waits_for_the_reboot(plan):
    """hugepages_activation is auto: everything else is changed now."""
    host_plan = plan(fresh_host().memory(MemAvailable=8 * MIB), instances=LISTED)
    assert host_plan.refusals == [] and POOL_FILE not in changes(host_plan)
    assert "vm.nr_hugepages = 8196" in str(changes(host_plan)[packs.SYSCTL_FILE])
    assert {packs.THP_FILE, packs.LIMITS_FILE, GROUP_FILE} <= set(changes(host_plan))
    assert [value.path for value in host_plan.at_boot] == [POOL_FILE]
    assert any("exceed the 8.0 GiB of available memory" in text for text in host_plan.pending)


def memory(**rows: int) -> Callable[[Machine], Machine]:
    return lambda machine: machine.memory(**rows)


def free(numbers: str) -> Callable[[Machine], Machine]:
    text = f"Node 0, zone Normal {numbers}\n"
    return lambda machine: machine.file("/proc/buddyinfo", text)


class TestGuards:
    @pytest.fixture
    def plan(self, plan):
        """Without the reboot as a way out."""
        return functools.partial(plan, activation="now")

    def test_share_of_memory(self, plan):
        host_plan = plan(fresh_host(), instances=[{"sid": "BIG", "sga": "45G"}])
        assert reasons(host_plan)["allow_over_memory_limit"] == (
            "23044 pages (45.0 GiB) are more than 70 percent of 64.0 GiB memory"
        )

    def test_memory_that_is_available(self, plan):
        machine = fresh_host().memory(MemAvailable=10 * MIB)
        assert reasons(plan(machine, instances=LISTED))["allow_low_memory"].startswith(
            "8196 pages more (16.0 GiB) exceed the 10.0 GiB of available memory"
        )

    def test_old_kernel_that_does_not_say_what_is_available(self, plan):
        machine = fresh_host().memory(MemFree=9 * MIB)
        text = machine.files["/proc/meminfo"]
        rows = [line for line in text.splitlines() if not line.startswith("MemAvailable")]
        machine.file("/proc/meminfo", "\n".join(rows) + "\n")
        assert "9.0 GiB" in reasons(plan(machine, instances=LISTED))["allow_low_memory"]

    def test_fragmentation(self, plan):
        machine = fresh_host().file(
            "/proc/buddyinfo", "Node 0, zone Normal 9 9 9 9 9 9 9 9 9 40 7\n"
        )
        assert reasons(plan(machine, instances=LISTED))["allow_compaction"].startswith(
            "only 54 of 8196 pages more are available without memory compaction"
        )

    def test_pages_in_use(self, plan):
        machine = fresh_host().pool(9000, 300, 100)
        assert reasons(plan(machine, instances=LISTED))["allow_shrink_below_use"] == (
            "8800 pages of the pool are in use or reserved, but the policy requires a pool of 8196"
        )

    def test_page_size(self, plan):
        machine = fresh_host().memory(Hugepagesize=MIB)
        assert "the default huge page is 1.0 GiB" in str(plan(machine, instances=LISTED).refusals)

    @cases(
        "spoil override",
        (memory(MemTotal=17 * MIB), "allow_over_memory_limit"),
        (memory(MemAvailable=10 * MIB), "allow_low_memory"),
        (free("9 9"), "allow_compaction"),
        (lambda machine: machine.pool(9000, 300), "allow_shrink_below_use"),
    )
    def test_override_names_the_risk_and_lifts_that_guard_alone(self, plan, spoil, override):
        machine = fresh_host()
        spoil(machine)
        refused = reasons(plan(machine, instances=LISTED))
        accepted = reasons(plan(machine, instances=LISTED, **{override: True}))
        assert override in refused and set(accepted) == set(refused) - {override}

    @cases(
        "spoil changes overrides",
        # 8196 pages of 2 MiB are 16785408 KiB: 70 percent, and all, of these sizes.
        (memory(MemTotal=23979155), {}, set()),
        (memory(MemTotal=23979153), {}, {"allow_over_memory_limit"}),
        (memory(MemTotal=16785408), {}, {"allow_over_memory_limit"}),
        (memory(MemTotal=16785407), {}, {None}),
        (memory(MemTotal=16785407), {"allow_over_memory_limit": True}, {None}),
        (memory(MemAvailable=16785408), {}, set()),
        (memory(MemAvailable=16785407), {}, {"allow_low_memory"}),
        (lambda machine: machine.pool(8197, 1), {}, set()),
        (lambda machine: machine.pool(8197, 0), {}, {"allow_shrink_below_use"}),
        # No growth needs no memory.
        (lambda machine: machine.pool(8196, 0).memory(MemAvailable=0), {}, set()),
        (lambda machine: machine.pool(8195, 0).memory(MemAvailable=0), {}, {"allow_low_memory"}),
        (free("0 0 0 0 0 0 0 0 0 8196 0"), {}, set()),
        (free("9 9 9 9 9 9 9 9 9 8195 0"), {}, {"allow_compaction"}),
    )
    def test_guards_at_their_edges(self, plan, spoil, changes, overrides):
        machine = fresh_host()
        spoil(machine)
        assert set(reasons(plan(machine, instances=LISTED, **changes))) == overrides

    def test_growth_at_the_next_boot_needs_no_free_memory_now(self, plan):
        machine = fresh_host().memory(MemAvailable=MIB)
        assert plan(machine, instances=LISTED, activation="reboot").refusals == []

    def test_missing_group(self, plan):
        host_plan = plan(fresh_host(), instances=LISTED, group="asmadmin")
        assert "the host has no group asmadmin: create it" in reasons(host_plan)[None]


class TestRivals:
    @cases(
        "path text line",
        ("/etc/sysctl.d/zzz.conf", "vm.nr_hugepages=5\n", 1),
        ("/usr/lib/sysctl.d/zzz.conf", "\nvm/nr_hugepages = 5\n", 2),
        ("/etc/tmpfiles.d/hp.conf", "w /proc/sys/vm/nr_hugepages - - - - 5\n", 1),
    )
    def test_file_that_beats_the_drop_in_is_named(self, plan, path, text, line):
        refusals = plan(fresh_host().file(path, text), instances=LISTED).refusals
        assert [refusal.override for refusal in refusals] == [None]
        text = f"would not win at boot, {path}:{line} (vm.nr_hugepages = 5) comes later"
        assert text in refusals[0].reason

    def test_earlier_file_is_no_rival(self, plan):
        machine = fresh_host().file("/etc/sysctl.d/97-oracle.conf", "vm.nr_hugepages=5\n")
        assert plan(machine, instances=LISTED).refusals == []

    def test_limits_that_are_read_later(self, plan):
        machine = fresh_host().file("/etc/security/limits.d/zzz.conf", "oracle soft memlock 64\n")
        (refusal,) = plan(machine, instances=LISTED).refusals
        text = "would be overridden for oracle: 64 (/etc/security/limits.d/zzz"
        assert f"{packs.LIMITS_FILE} {text}" in refusal.reason

    def test_hard_limit_alone_that_is_read_later(self, plan):
        machine = fresh_host().file("/etc/security/limits.d/zzz.conf", "oracle hard memlock 64\n")
        (refusal,) = plan(machine, instances=LISTED).refusals
        assert "64 (/etc/security/limits.d/zzz.conf:1)" in refusal.reason

    def test_tmpfiles_that_sets_the_mode_too(self, plan):
        machine = fresh_host().file(
            "/etc/tmpfiles.d/site.conf", f"w {packs.THP_FILE} - - - - madvise\n"
        )
        (refusal,) = plan(machine, instances=LISTED).refusals
        assert "/etc/tmpfiles.d/site.conf:1 also sets transparent huge pages" in refusal.reason

    def test_tuned_profile_that_sets_the_mode(self, plan):
        machine = fresh_host().file("/etc/tuned/active_profile", "fast\n")
        machine.file("/usr/lib/tuned/fast/tuned.conf", "[vm]\ntransparent_hugepages=always\n")
        (refusal,) = plan(machine, instances=LISTED).refusals
        assert "tuned profile /usr/lib/tuned/fast/tuned.conf" in refusal.reason

    @cases(
        "variable path text lost",
        (
            "sysctl_file",
            "/etc/sysctl.d/97-site.conf",
            "vm.nr_hugepages = 1\nkernel.sem = 250 32000 100 128\n",
            "kernel/sem",
        ),
        (
            "limits_file",
            "/etc/security/limits.d/site.conf",
            "oracle - memlock 1\noracle - nofile 65536\n",
            "oracle nofile",
        ),
        (
            "tmpfiles_file",
            "/etc/tmpfiles.d/site.conf",
            "d /run/site 0755 root root -\n",
            "/run/site",
        ),
    )
    def test_file_with_other_settings_is_not_replaced(self, plan, variable, path, text, lost):
        """The drop-ins are written as a whole: what else stood in them would be gone."""
        host_plan = plan(fresh_host().file(path, text), instances=LISTED, **{variable: path})
        (refusal,) = host_plan.refusals
        assert f"{path} holds other settings ({lost}), which would be lost" in refusal.reason

    def test_file_with_the_same_settings_is_replaced(self, plan):
        machine = fresh_host().file(packs.LIMITS_FILE, "oracle soft memlock 64\n# no newline")
        host_plan = plan(machine, instances=LISTED)
        assert host_plan.refusals == [] and packs.LIMITS_FILE in changes(host_plan)

    def test_old_drop_in_of_ours_does_not_beat_what_is_right_elsewhere(self, plan):
        """The site sets the pool by itself now, in a file that is read before ours."""
        machine = fresh_host().file(packs.SYSCTL_FILE, HEADER + "vm.nr_hugepages = 5000\n")
        machine.file(
            "/etc/sysctl.d/97-site.conf", "vm.nr_hugepages=8196\nvm.hugetlb_shm_group=54321\n"
        )
        first = plan(machine, instances=LISTED)
        assert changes(first)[packs.SYSCTL_FILE] == HEADER
        assert plan(after(machine, first), instances=LISTED).changes == []


class TestWhatIsUnknown:
    @cases(
        "path",
        "/proc/meminfo",
        "/proc/cmdline",
        "/etc/sysctl.d",
        "/proc/buddyinfo",
        packs.THP_FILE,
        packs.SYSCTL_FILE,
        "/etc/security/limits.conf",
    )
    def test_no_plan_without_it(self, plan, path):
        machine = fresh_host().file(packs.SYSCTL_FILE, "").deny(path)
        with pytest.raises(HostproofError):
            plan(machine, instances=LISTED)


class TestPolicy:
    @cases(
        "changed message",
        ({"instances": "ORCL"}, "hugepages_instances must be auto or a list of {sid, sga"),
        ({"instances": ["ORCL"]}, "hugepages_instances has 'ORCL', which needs sid and sga"),
        ({"instances": [{"sid": "A"}]}, "which needs sid and sga"),
        ({"instances": [{"sid": "", "sga": "1G"}]}, "which needs sid and sga"),
        (
            {"instances": [{"sid": "A", "sga": "1G", "pga": "1G"}]},
            "hugepages_instances A has unknown pga",
        ),
        ({"instances": [{"sid": "A", "sga": "60GB"}]}, "hugepages_instances A: sga is not a size"),
        ({"instances": [{"sid": "A", "sga": "0"}]}, "must be more than nothing"),
        ({"instances": [{"sid": "A", "sga": True}]}, "is not a size"),
        (
            {"instances": [{"sid": "A", "sga": "1G", "version": "newest"}]},
            "hugepages_instances A: version 'newest' must be a number such as 19",
        ),
        (
            {"instances": [{"sid": "A", "sga": "1G"}, {"sid": "A", "sga": "2G"}]},
            "hugepages_instances lists a sid twice: A",
        ),
        ({"spare_pages": -1}, "hugepages_spare_pages must be a whole number, not -1"),
        ({"spare_pages": True}, "hugepages_spare_pages must be a whole number, not True"),
        ({"spare_pages": "1.5"}, "must be a whole number"),
        ({"spare_pages": "\u00b2"}, "must be a whole number"),
        ({"memory_limit_percent": 0}, "hugepages_memory_limit_percent must be 1 to 100, not 0"),
        ({"memory_limit_percent": 101}, "hugepages_memory_limit_percent must be 1 to 100, not 101"),
        ({"page_size": "2MB"}, "hugepages_page_size is not a size"),
        ({"memlock": "lots"}, "hugepages_memlock must be auto, unlimited, unmanaged or a"),
        ({"memlock": "\u00b2"}, "hugepages_memlock must be auto"),
        ({"memlock": 0}, "hugepages_memlock must be auto"),
        ({"transparent": "always"}, "hugepages_transparent must be one of auto, never, mad"),
        ({"activation": "later"}, "hugepages_activation must be one of auto, now, reboot"),
        ({"sysctl_file": "99-hp.conf"}, "hugepages_sysctl_file must be"),
        ({"sysctl_file": "/etc/sysctl.d/99-hp"}, "hugepages_sysctl_file must be"),
        ({"sysctl_file": "/etc/sysctl.conf"}, "hugepages_sysctl_file must be"),
        ({"limits_file": "/etc/security/limits.conf"}, "hugepages_limits_file must be"),
        ({"tmpfiles_file": "/opt/hp.conf"}, "hugepages_tmpfiles_file must be"),
        ({"allow_low_memory": "yes"}, "hugepages_allow_low_memory must be true or false"),
        ({"users": "oracle"}, "hugepages_users must be a list"),
        ({"users": ["oracle", ""]}, "hugepages_users"),
    )
    def test_value_that_cannot_be_used_is_named(self, changed: dict[str, Any], message: str):
        with pytest.raises(PolicyError) as problem:
            hugepages.policy_from(packs.hugepages_policy(**changed))
        assert message in str(problem.value)

    def test_missing_and_unknown_values(self):
        values = packs.hugepages_policy()
        del values["memlock"]
        with pytest.raises(PolicyError, match="hugepages policy: missing memlock; take the names"):
            hugepages.policy_from(values)
        with pytest.raises(PolicyError, match="hugepages policy: unknown sga_size; take"):
            hugepages.policy_from(packs.hugepages_policy() | {"sga_size": "1G"})

    @cases(
        "version number",
        ("19", 19),
        (19.3, 19),
        ("23ai", 23),
        ("11.2.0.4", 11),
        (None, None),
        ("12cR2", 12),
    )
    def test_versions(self, version, number):
        listed = [{"sid": "A", "sga": "1G", "version": version}]
        policy = hugepages.policy_from(packs.hugepages_policy(instances=listed))
        assert policy.instances is not None and policy.instances[0].version == number

    def test_sizes_and_numbers_as_text(self):
        changed = {"instances": [{"sid": "A", "sga": "1.5G"}], "spare_pages": "7"}
        policy = hugepages.policy_from(packs.hugepages_policy(**changed))
        assert policy.instances == (InstancePolicy("A", 1536 * MIB, None),)
        assert policy.spare_pages == 7
