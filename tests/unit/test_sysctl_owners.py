"""Each key of sysctl is written by one control: two drop-ins would override each other."""

from typing import Any

import io_packs
import kernel_packs
import nfs_packs
import packs
from ansible.module_utils.hostproof.apply.change import FileChange, ValueChange
from ansible.module_utils.hostproof.controls.kernel_parameters.parameter_table import ROWS
from ansible.module_utils.hostproof.controls.kernel_parameters.policy import OF_OTHERS
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.parsers.systemd import sysctl_d
from default_policies import default_policy

CREDENTIALS = {"default": {"version": "2c", "community": "public"}}
CHANGES: dict[str, dict[str, Any]] = {
    "flow_control": {"snmp_credentials": CREDENTIALS},
    "storage_type": {"snmp_credentials": CREDENTIALS},
    "kernel_parameters": {"profile": "rac_nfs", "interconnect": ["eth1", "eth8"]},
    "hugepages": {"instances": [{"sid": "ORCL", "sga": "16G"}]},
}


def written(machine: packs.Machine, name: str) -> set[str]:
    """The keys, as paths below /proc/sys, that the plan of a control writes on a machine."""
    control = CONTROLS[name]
    policy = control.policy_from(default_policy(name) | CHANGES.get(name, {}))
    try:
        changes = planner(name)(control.read(machine, policy), policy).changes
    except HostproofError:
        return set()
    keys = set()
    for change in changes:
        if isinstance(change, FileChange) and "/sysctl.d/" in change.path:
            assignments = sysctl_d.parse(change.content or "", change.path).assignments
            keys |= {assignment.key for assignment in assignments}
        if isinstance(change, ValueChange) and change.path.startswith("/proc/sys/"):
            keys.add(change.path.removeprefix("/proc/sys/"))
    return keys


def test_every_key_has_one_owner():
    owners: dict[str, set[str]] = {}
    for machine in (
        kernel_packs.with_home(kernel_packs.stock()),
        packs.database_host().pool(100, 0),
        io_packs.story(limit=65536, persisted=None, used=60000),
        nfs_packs.nfs_host(),
    ):
        for name in CONTROLS:
            machine.evidence.clear()
            for key in written(machine, name):
                owners.setdefault(key, set()).add(name)
    assert {key: names for key, names in owners.items() if len(names) > 1} == {}
    assert owners["fs/aio-max-nr"] == {"kernel_parameters"}
    assert owners["vm/nr_hugepages"] == {"hugepages"}
    assert owners["fs/file-max"] == {"kernel_parameters"}
    # What another control writes may not be listed in kernel_parameters_values either.
    of_others = {key for key, names in owners.items() if names != {"kernel_parameters"}}
    assert of_others <= set(OF_OTHERS), of_others - set(OF_OTHERS)
    assert not {sysctl_d.normalize(row.name) for row in ROWS} & set(OF_OTHERS)
    assert set(OF_OTHERS.values()) <= set(CONTROLS)
