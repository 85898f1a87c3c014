"""Every control on an AIX host: it skips with a reason, judges, or says that it cannot tell.

It never passes on what it could not read, never crashes, and runs no command with options that only
GNU's programs have.
"""

import json
from typing import Any

import aix_packs
import packs
import pytest
from aix_packs import AixMachine
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.collect.identity import ANYBODY
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.errors import Unanswered
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from default_policies import default_policy
from snmp_agents import storage_policy

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"


def policy_of(name: str) -> dict[str, Any]:
    """The role's defaults, as the modules take them."""
    if name == "storage_type":
        return storage_policy()
    return default_policy(name, secrets=True)


@pytest.fixture
def aix() -> AixMachine:
    """With an NFS mount, an oratab and a home."""
    machine = aix_packs.aix()
    machine.command("mount", (packs.FIXTURES / "mount/aix-mount.txt").read_text())
    machine.file("/etc/filesystems", (packs.FIXTURES / "aix_filesystems/made-up.txt").read_text())
    machine.file("/etc/oratab", f"SALES:{HOME}:N\n")
    machine.file(f"{HOME}/dbs/initSALES.ora", "*.sga_target=8G\n")
    machine.file(
        f"{HOME}/network/admin/listener.ora", "LISTENER=(ADDRESS=(PROTOCOL=tcp)(PORT=1))\n"
    )
    return machine


def judged(machine: AixMachine, *names: str) -> list[Finding]:
    return audit.judge_host(machine, {name: policy_of(name) for name in names or CONTROLS})


@pytest.mark.parametrize("name", sorted(set(CONTROLS) - {"async_io", "io_pacing", "custom"}))
def test_no_other_control_passes_here(aix, validate_finding, name):
    findings = judged(aix, name)
    assert findings
    for finding in findings:
        validate_finding(finding.as_dict())
        assert finding.status in ("skip", "error"), finding
        assert finding.why


def test_the_same_offline(aix):
    live = judged(aix)
    assert (
        audit.judge_host(
            RecordedHost(json.loads(json.dumps(aix.evidence))),
            {name: policy_of(name) for name in CONTROLS},
        )
        == live
    )


def test_nfs_mounts_are_judged_where_the_policy_names_them(aix):
    source = "filer1:/vol/oradata"
    mounts = [{"path": "/u02/oradata", "source": source, "class": "datafiles"}]
    policy = policy_of("nfs_mounts") | {"mounts": mounts, "sharing": "rac"}
    findings = audit.judge_host(aix, {"nfs_mounts": policy})
    named = {
        finding.check: finding for finding in findings if finding.title.startswith("/u02/oradata: ")
    }
    assert named["nfs_mounts.options_in_force"].status == "pass"
    assert named["nfs_mounts.safe_transport"].status == "pass"
    # /etc/filesystems has it at another path: the next boot does not mount it here.
    assert named["nfs_mounts.options_persisted"].status == "fail"


def test_every_argv_is_one_for_aix(aix):
    judged(aix)
    assert ["lsattr", "-E", "-l", "sys0", "-a", "maxpout", "-a", "minpout"] in aix.asked
    for argv in aix.asked:
        assert argv[0] not in ("ps", "cat /proc", "sysctl", "systemctl", "ip", "ss"), argv
        assert not [word for word in argv if word.startswith("--")], argv


def test_processes_of_a_binary_proc_are_not_known(monkeypatch):
    """AIX has /proc with a folder for each process, but none of Linux's files in it."""
    monkeypatch.setattr("os.path.exists", lambda path: path != "/proc/self/cmdline")
    monkeypatch.setattr("os.listdir", lambda _path: ["0", "1", "4718740", "sys", "version"])
    for ask in (
        lambda: LiveHost().processes("pmon", "pmon", ANYBODY),
        lambda: LiveHost().open_files("database", "ora", ["/u02"], ANYBODY),
    ):
        with pytest.raises(Unanswered, match="Linux only"):
            ask()
    monkeypatch.setattr("os.listdir", lambda _path: ["4718740"])
    with pytest.raises(Unanswered, match="Linux only"):
        LiveHost().processes("pmon", "pmon", ANYBODY)
