"""What apply would do about limits: the plan, its guards, and that it is done once."""

import random

import limit_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.hugepages import plan as hugepages_plan
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from cases import cases
from limit_packs import DROP_IN, HEADER, PACKAGE, after, host, judged, package, plan_of, with_oracle

#: What a login of oracle lacks where nothing is set; 58 GiB of 64 may be locked
#: then, though 3 are enough without huge pages: hugepages may be applied later.
WHOLE = """oracle hard memlock 60817408
oracle hard nofile 65536
oracle hard nproc 16384
oracle hard stack 32768
oracle soft memlock 60817408
oracle soft nofile 1024
oracle soft nproc 16384
oracle soft stack 10240
"""


def reasons(machine, **changes):
    return "\n".join(refusal.reason for refusal in plan_of(machine, **changes).refusals)


class TestChanges:
    def test_a_stock_host(self):
        plan = plan_of(with_oracle())
        (change,) = plan.changes
        assert (change.path, change.before) == (DROP_IN, None) and change.content == HEADER + WHOLE
        assert plan.refusals == [] and "until they are restarted" in plan.pending[-1]

    def test_without_oracle_nothing_is_planned(self):
        plan = plan_of(host())
        assert plan.changes == [] and "No account oracle" in plan.pending[0]

    def test_what_the_package_grants_stays_there(self):
        assert plan_of(package(with_oracle())).changes == []

    def test_what_it_does_not_grant_is_written_and_it_is_named(self):
        machine = package(with_oracle()).pool(100, 100)
        # 512 GiB: nine tenths are more than the 128 GiB that the package has.
        machine.memory(MemTotal=512 << 20)
        plan = plan_of(machine)
        (change,) = plan.changes
        # Whole GiB, so that a MemTotal that differs a little does not change the file.
        size = 461 << 20
        assert change.content == (
            f"{HEADER}oracle hard memlock {size}\noracle soft memlock {size}\n"
        )
        assert f"wins over {PACKAGE}:7 (oracle hard memlock 134217728)" in plan.pending[0]

    def test_a_missing_account_waits(self):
        plan = plan_of(with_oracle(), profile="rac_asm")
        assert "no account grid" in plan.pending[0] and "grid" not in str(plan.changes[0].content)

    def test_nothing_is_lowered_but_a_stack_above_the_most(self):
        machine = with_oracle().file(
            "/etc/security/limits.conf",
            "oracle soft nofile 4096\noracle soft stack 20480\noracle hard stack unlimited\n",
        )
        content = str(plan_of(machine).changes[0].content)
        assert "oracle soft nofile 4096\n" in content
        assert "oracle soft stack 20480\noracle" not in content.replace("hard", "")
        assert "oracle soft stack 20480\n" in content and "oracle hard stack 32768\n" in content

    def test_unmanaged_keeps_what_an_earlier_apply_wrote(self):
        machine = with_oracle()
        after(machine, plan_of(machine))
        assert plan_of(machine, unmanaged=["memlock"]).changes == []
        machine.evidence.clear()
        (change,) = plan_of(
            machine, values=[{"name": "nofile", "soft": 2048, "hard": 70000}], unmanaged=["memlock"]
        ).changes
        assert "oracle hard memlock 60817408\n" in str(change.content)
        assert "oracle hard nofile 70000\n" in str(change.content)

    def test_unmanaged_is_not_written(self):
        content = str(plan_of(with_oracle(), unmanaged=["memlock"]).changes[0].content)
        assert "memlock" not in content

    def test_a_demand_that_is_gone_leaves_the_file(self):
        machine = with_oracle()
        after(machine, plan_of(machine))
        package(machine)
        machine.evidence.clear()
        assert plan_of(machine).changes[0].content == HEADER


@cases("first", "hugepages", "process_limits")
def test_hugepages_and_this_control_do_not_undo_each_other(first):
    """Both write locked memory where nobody grants it."""
    machine = with_oracle().group("oinstall", 54321)
    after(machine, plan_of(machine))
    if first == "hugepages":
        lines = [line for line in machine.files.pop(DROP_IN).splitlines() if "memlock" in line]
        machine.file(packs.LIMITS_FILE, packs.HEADER + "\n".join(lines) + "\n")
        machine.evidence.clear()
        after(machine, plan_of(machine))
        assert "memlock" not in machine.files[DROP_IN]
    machine.evidence.clear()
    policy = hugepages.policy_from(packs.hugepages_policy(users=["oracle"]))
    plan = hugepages_plan.plan(hugepages.read(machine, policy), policy)
    assert packs.LIMITS_FILE not in [change.path for change in plan.changes]
    assert "limits" not in str(plan.refusals)


class TestRefused:
    def test_a_later_file(self):
        machine = with_oracle().file("/etc/security/limits.d/zzz.conf", "oracle hard nproc 9\n")
        assert "/etc/security/limits.d/zzz.conf:1 counts instead" in reasons(machine)
        assert reasons(machine, unmanaged=["nproc"]) == ""

    def test_a_line_that_frees_the_account(self):
        machine = with_oracle().file("/etc/security/limits.conf", "oracle -\n")
        assert "/etc/security/limits.conf:1 counts instead" in reasons(machine)

    def test_other_settings_in_the_file(self):
        machine = with_oracle().file(DROP_IN, "@dba - core 0\n")
        assert "holds other settings" in reasons(machine)
        machine.evidence.clear()
        assert reasons(machine.file(DROP_IN, "# nothing\n")) == ""

    @cases("most refused", (65536, False), (65535, True))
    def test_more_files_than_the_kernel_lets_anybody_have(self, most, refused):
        """pam_limits then fails, and with it the login."""
        machine = with_oracle().file("/proc/sys/fs/nr_open", f"{most}\n")
        assert ("fs.nr_open is" in reasons(machine)) is refused

    def test_a_name_that_is_no_account_s(self):
        machine = limit_packs.process(host().account("%x", 7), "ora_pmon_A", 11, uid=7)
        assert "'%x' is not a name" in reasons(machine)


LINES = [
    f"{domain} {kind} {item} {value}"
    for domain in ("oracle", "@oinstall", "*")
    for kind in ("soft", "hard", "-")
    for item in ("nofile", "nproc", "stack", "memlock")
    for value in ("10", "4096", "20000", "70000", "2000000", "unlimited")
]


@pytest.mark.parametrize("seed", range(40))
def test_a_second_apply_is_empty_and_the_login_passes(seed):
    chance = random.Random(seed)
    machine = with_oracle()
    for path in ("limits.conf", "limits.d/a.conf", "limits.d/oracle.conf"):
        lines = chance.sample(LINES, chance.randint(0, 6))
        machine.file(f"/etc/security/{path}", "\n".join(lines) + "\n")
    machine.pool(*(chance.choice([(0, 0), (9, 9)])))
    plan = plan_of(machine)
    assert plan.refusals == []
    after(machine, plan)
    assert plan_of(machine).changes == []
    machine.evidence.clear()
    findings = judged(machine)
    statuses = {finding.status for name, finding in findings.items() if name.endswith(": login")}
    assert statuses == {"pass"}
