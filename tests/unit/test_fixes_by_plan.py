"""A finding advises apply only where the plan of its control changes something."""

from typing import Any

import account_packs
import io_packs
import kernel_packs
import limit_packs
import oracle_packs
import packs
import pytest
from ansible.module_utils.hostproof.apply.change import FileChange, Plan, Refusal
from ansible.module_utils.hostproof.controls.kernel_parameters.control import (
    CONTROL as kernel_parameters,
)
from ansible.module_utils.hostproof.controls.process_limits.facts import REMOVE_IPC
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.advice import apply_line
from ansible.module_utils.hostproof.evaluate.checking import Rules, Verdict
from ansible.module_utils.hostproof.evaluate.control import Control
from ansible.module_utils.hostproof.evaluate.finding import FAIL, Finding
from cases import cases
from default_policies import changed_policy

NAME = "swappiness"
CHANGE = FileChange("/etc/sysctl.d/a.conf", "a\n", None)
REFUSED = Refusal("it would lose a line", None)
NOTHING = Plan([], [], [], [])


def control_with(plan: Any, fix: str = "apply it") -> Control:
    rules = Rules(NAME)

    @rules.check(
        f"{NAME}.by_apply", "", "", severity="low", takes_effect="now", why="", reference=""
    )
    def by_apply(_facts: Any, _policy: Any) -> Verdict:
        return Verdict(FAIL, "w", fix=fix, commands=[apply_line(NAME), "mount /u02"])

    @rules.check(f"{NAME}.other", "", "", severity="low", takes_effect="now", why="", reference="")
    def other(_facts: Any, _policy: Any) -> Verdict:
        return Verdict(FAIL, "w", fix="edit it", commands=["mount /u03"])

    return Control(
        NAME,
        policy=None,
        policy_from=dict,
        facts=None,
        read=lambda *_: None,
        rules=[rules],
        plan=plan,
    )


def fixes(plan: Any, crashed: Any = None) -> list[tuple[str | None, tuple[str, ...]]]:
    findings: list[Finding] = control_with(plan).judge(None, None, crashed)
    return [(finding.fix, finding.commands) for finding in findings]


OTHER = ("edit it", ("mount /u03",))


def test_a_plan_that_changes_something_keeps_the_fix():
    plan = NOTHING._replace(changes=[CHANGE])
    kept = ("apply it", (apply_line(NAME), "mount /u02"))
    assert fixes(lambda *_: plan) == [kept, OTHER]


@cases(
    "plan fix",
    (Plan([CHANGE], [REFUSED], [], []), "apply is blocked. First: it would lose a line"),
    (NOTHING, "apply changes nothing here"),
    (
        NOTHING._replace(pending=["A restart sets it."]),
        "apply changes nothing here: A restart sets it",
    ),
    ids=["rejected", "no change", "no change but pending"],
)
def test_a_plan_that_changes_nothing_takes_the_commands_away(plan, fix):
    assert fixes(lambda *_: plan) == [(fix, ()), OTHER]


def test_the_fix_by_hand_stays_where_apply_is_blocked():
    def plan(*_: Any) -> Plan:
        return Plan([CHANGE], [REFUSED], [], [])

    finding = control_with(plan, "put hard into /etc/fstab:3").judge(None, None)[0]
    assert finding.fix == (
        "put hard into /etc/fstab:3; apply is blocked. First: it would lose a line"
    )
    assert finding.commands == ()


def test_a_host_that_cannot_be_planned():
    def plan(*_: Any) -> Plan:
        raise HostproofError("/etc/fstab is not readable.")

    assert fixes(plan) == [("apply cannot plan this host: /etc/fstab is not readable", ()), OTHER]


def test_an_error_in_the_plan_costs_no_finding():
    def plan(*_: Any) -> Plan:
        raise KeyError("x")

    with pytest.raises(KeyError):
        fixes(plan)
    advice = fixes(plan, lambda check, problem: Verdict(FAIL, f"{check}: {problem!r}"))
    expected = "apply cannot plan this host: swappiness.plan: KeyError('x')"
    assert advice == [(expected, ()), OTHER]


def test_a_group_with_another_gid_blocks_the_advice_of_every_account():
    policy = {
        "groups": [{"name": "oinstall", "gid": 54321}, {"name": "dba", "gid": 54322}],
        "accounts": [{"name": "oracle", "group": "oinstall", "groups": ["dba", "oper"]}],
    }
    machine = account_packs.bare().group("oinstall", 777)
    finding = account_packs.judged(machine, **policy)["exists"]
    assert finding.status == FAIL and finding.commands == ()
    assert "The group oinstall has gid 777, the policy requires 54321" in str(finding.fix)


def test_a_drop_in_with_foreign_lines_blocks_every_kernel_parameter():
    policy = kernel_packs.policy_of()
    machine = kernel_packs.with_home(kernel_packs.stock())
    machine.file(policy.sysctl_file, "net.ipv4.ip_forward = 1\n")
    assert kernel_packs.plan_of(machine).refusals
    findings = kernel_parameters.judge(kernel_parameters.read(machine, policy), policy)
    blocked = [finding for finding in findings if "apply is blocked" in str(finding.fix)]
    assert blocked
    assert [
        finding.check for finding in findings if apply_line("kernel_parameters") in finding.commands
    ] == []


def fix_of(control: str, check: str, machine: Any, **changes: Any) -> str:
    definition = CONTROLS[control]
    policy = definition.policy_from(changed_policy(control, **changes))
    findings = definition.judge(definition.read(machine, policy), policy)
    (result,) = [finding for finding in findings if finding.check == f"{control}.{check}"]
    assert result.status == FAIL
    return str(result.fix)


OPTIONS = "filesystemio_options"


@cases(
    "running stored fix",
    (
        "setall",
        (("*", OPTIONS, "setall"), ("ORCL", OPTIONS, "none")),
        "as SYSDBA: ALTER SYSTEM SET filesystemio_options=setall SCOPE=SPFILE SID='*' and "
        "ALTER SYSTEM RESET filesystemio_options SCOPE=SPFILE SID='ORCL'",
    ),
    ("none", (("*", OPTIONS, "setall"),), "restart the instance: the parameter is static"),
    ids=["the spfile is wrong", "the instance runs with another value"],
)
def test_a_fix_of_async_io_has_only_the_steps_that_are_needed(running, stored, fix):
    machine = io_packs.story(stored=stored, filesystemio_options=running)
    fix_text = fix_of("async_io", OPTIONS, machine)
    assert fix_text.startswith(fix)
    assert ("restart" in fix_text.partition("; apply changes")[0]) == (running == "none")


@cases("running", "TRUE", "FALSE")
def test_an_instance_that_runs_as_required_needs_no_restart(running):
    machine = oracle_packs.story(
        "11.2.0.4.0", "small", stored=(("*", "pre_page_sga", "TRUE"),), pre_page_sga=running
    )
    fix = fix_of("pre_page_sga", "value", machine)
    assert "SET pre_page_sga=FALSE SCOPE=SPFILE SID='*'" in fix
    assert ("restart ORCL" in fix) == (running == "TRUE")


@cases("running restarts", ("0", False), ("8G", True))
def test_memory_target_that_only_the_spfile_has_needs_no_restart(running, restarts):
    machine = oracle_packs.story(
        stored=(("*", "memory_target", "8G"), ("*", "use_large_pages", "TRUE")),
        memory_target=running,
    )
    fix = fix_of("pre_page_sga", "memory_target", machine)
    assert "RESET memory_target SCOPE=SPFILE SID='*'" in fix
    assert ("restart ORCL" in fix) == restarts


@cases("running restarts", ("b false", False), ("b true", True))
def test_logind_that_runs_as_required_needs_no_restart(running, restarts):
    machine = limit_packs.with_oracle()
    machine.command(" ".join(REMOVE_IPC), running + "\n")
    machine.file("/etc/systemd/logind.conf", "[Login]\nRemoveIPC=yes\n")
    fix = fix_of("process_limits", "remove_ipc", machine)
    # Any drop-in of another name could lose to it.
    assert "put 'RemoveIPC=no' in place of /etc/systemd/logind.conf:2" in fix
    assert ("end no session of oracle before the reboot; then reboot the host" in fix) == restarts


def test_a_pool_that_only_the_reboot_shrinks_needs_no_restart():
    machine = packs.database_host()
    machine.file(packs.SYSCTL_FILE, packs.HEADER)
    fix = fix_of("hugepages", "pool_persisted", machine)
    assert fix == f"the pool must have {packs.PAGES_NEEDED} pages: apply the control"
