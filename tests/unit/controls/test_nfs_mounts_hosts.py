"""Odd but real hosts: what nfs_mounts says of them must neither frighten nor lull anybody."""

from collections.abc import Callable
from typing import Any

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls import nfs_mounts
from ansible.module_utils.hostproof.finding import Finding
from nfs_packs import OPTIONS, NfsMachine, nfs_host, ready_host

DATABASE_FILE = "/u02/oradata/ORCL/system01.dbf"

#: judge(host, **changes of the policy): findings by check.
Judge = Callable[..., dict[str, list[Finding]]]


@pytest.fixture
def judge(validate_finding) -> Judge:
    def judge_host(host: NfsMachine, **changes: Any) -> dict[str, list[Finding]]:
        policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**changes))
        found: dict[str, list[Finding]] = {}
        for finding in nfs_mounts.judge(nfs_mounts.read(host, policy), policy):
            validate_finding(finding.as_dict())
            found.setdefault(finding.check.removeprefix("nfs_mounts."), []).append(finding)
        return found

    return judge_host


def frightening(findings: dict[str, list[Finding]]) -> dict[str, str]:
    """What is neither a pass nor a skip, by check."""
    return {
        check: f"{one.status}: {one.why}"
        for check, some in findings.items()
        for one in some
        if one.status not in ("pass", "skip")
    }


def database_on(options: str | None = None, fstab: str = OPTIONS) -> NfsMachine:
    """A database whose files lie on /u02."""
    machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", fstab, options)
    return machine.database(DATABASE_FILE)


def test_oracle_restart_is_no_cluster(judge):
    machine = ready_host()
    machine.process("/u01/app/grid/bin/ohasd.bin", pid=90, uid=0)
    machine.process("/u01/app/grid/bin/ocssd.bin", pid=99)
    assert frightening(judge(machine)) == {}
