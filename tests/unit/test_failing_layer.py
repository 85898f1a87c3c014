"""A finding names the layer with the wrong value."""

from typing import Any

import account_packs
import io_packs
import kernel_packs
import nfs_packs
import oracle_packs
import packs
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.evaluate.checking import failing
from ansible.module_utils.hostproof.evaluate.finding import FAIL, PASS, Check, Finding, make_finding
from cases import cases
from default_policies import default_policy
from hostproof_controller.report.summary import _values

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
CHECK = Check("hugepages.one", "t", "low", "now", "w", "r", (), "p")


def judged(control: str, machine: packs.Machine, **changes: Any) -> dict[str, list[Finding]]:
    definition = CONTROLS[control]
    policy = definition.policy_from(default_policy(control) | changes)
    by_check: dict[str, list[Finding]] = {}
    for finding in definition.judge(definition.read(machine, policy), policy):
        by_check.setdefault(finding.check.partition(".")[2], []).append(finding)
    return by_check


@cases(
    "status layers named failing_layer",
    (FAIL, {"persisted": "1"}, None, "persisted"),
    (FAIL, {"persisted": "1", "running": "2"}, None, None),
    (FAIL, {"persisted": "1", "running": "2"}, "persisted", "persisted"),
    (FAIL, {"persisted": "1", "running": "2"}, "in_use", None),
    (FAIL, {"desired": "1"}, None, None),
    (PASS, {"persisted": "1"}, None, None),
)
def test_only_a_layer_that_exists_fails(status, layers, named, failing_layer):
    assert make_finding(CHECK, status, failing_layer=named, **layers).failing_layer == failing_layer


def test_the_layer_closest_to_the_use_is_named():
    assert failing(running=True, persisted=True) == "running"
    assert failing(in_use=True, running=True) == "in_use"
    assert failing() is None


@cases(
    "now line layer words",
    (4194304, "net.core.rmem_max = 212992\n", "persisted", "(after reboot)"),
    (212992, "net.core.rmem_max = 4194304\n", "running", "212992 (running)"),
    (212992, "net.core.rmem_max = 212992\n", "running", "212992 (running)"),
)
def test_a_kernel_parameter_that_is_wrong_in_one_layer(now, line, layer, words):
    machine = kernel_packs.with_home(kernel_packs.stock())
    kernel_packs.sets(machine, net__core__rmem_max=str(now))
    machine.folder("/etc/sysctl.d").file("/etc/sysctl.conf", line)
    findings = judged("kernel_parameters", machine)
    (finding,) = (
        f for some in findings.values() for f in some if f.title.startswith("net.core.rmem_max")
    )
    assert (finding.status, finding.failing_layer) == (FAIL, layer)
    shown = _values(finding.as_dict())
    assert shown.startswith("at least 4194304 → 212992") and shown.endswith(words)


def test_the_time_follows_the_effective_value():
    machine = kernel_packs.with_home(kernel_packs.stock())
    kernel_packs.sets(machine, net__core__rmem_max="4194304")
    machine.folder("/etc/sysctl.d").file("/etc/sysctl.conf", "net.core.rmem_max = 212992\n")
    machine.file("/etc/sysctl.d/50.conf", "net.core.rmem_max = 4194304\n")
    (result,) = (
        finding
        for some in judged("kernel_parameters", machine).values()
        for finding in some
        if finding.title.startswith("net.core.rmem_max")
    )
    assert _values(result.as_dict()) == (
        "at least 4194304 → 212992 from /etc/sysctl.d/99-sysctl.conf:1 (after reboot); "
        "not used: /etc/sysctl.d/50.conf:1 = 4194304"
    )


@cases("running persisted layer", ("soft", "hard", "running"), ("hard", "soft", "persisted"))
def test_a_mount_that_is_soft_in_one_layer(running, persisted, layer):
    machine = nfs_packs.nfs_host().persisted_mount(
        "/u02",
        "filer1:/vol/u02",
        f"{nfs_packs.OPTIONS},{persisted}",
        nfs_packs.shown(recovery=running),
    )
    machine.database("/u02/oradata/ORCL/system01.dbf")
    (finding,) = judged("nfs_mounts", machine)["safe_transport"]
    assert (finding.status, finding.failing_layer) == (FAIL, layer)


def test_a_transparent_huge_page_mode_that_only_the_reboot_changes():
    machine = packs.database_host()
    machine.file(THP, "always madvise [never]\n")
    machine.file("/etc/tmpfiles.d/thp.conf", f"w {THP} - - - - always\n")
    (finding,) = judged("hugepages", machine)["transparent_hugepages"]
    assert (finding.status, finding.failing_layer) == (FAIL, "persisted")
    machine = packs.database_host()
    machine.file(THP, "[always] madvise never\n")
    (finding,) = judged("hugepages", machine)["transparent_hugepages"]
    assert (finding.status, finding.failing_layer) == (FAIL, "running")


@cases("groups running layer", ("54321", "54321", "persisted"), ("54321 54322", "54321", "in_use"))
def test_groups_that_the_account_or_the_instance_lacks(groups, running, layer):
    names = ["oinstall", "dba"][: len(groups.split())]
    machine = account_packs.instance(account_packs.host(*names), gids=running)
    policy = {"accounts": [{"name": "oracle", "groups": ["dba"]}]}
    finding = account_packs.judged(machine, **policy)["groups"]
    assert finding.failing_layer == layer


@cases(
    "running stored layer",
    ("none", "setall", "running"),
    ("setall", "none", "persisted"),
    ("none", "none", "running"),
)
def test_a_parameter_of_an_instance(running, stored, layer):
    machine = io_packs.story(
        stored=(("*", "filesystemio_options", stored),), filesystemio_options=running
    )
    (finding,) = judged("async_io", machine)["filesystemio_options"]
    assert (finding.status, finding.failing_layer) == (FAIL, layer)


@cases("running layer", ("TRUE", "running"), ("FALSE", "persisted"))
def test_pre_page_sga_of_11_2(running, layer):
    machine = oracle_packs.story(
        "11.2.0.4.0", "small", stored=(("*", "pre_page_sga", "TRUE"),), pre_page_sga=running
    )
    (finding,) = judged("pre_page_sga", machine)["value"]
    assert (finding.status, finding.failing_layer) == (FAIL, layer)
