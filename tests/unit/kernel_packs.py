"""A Linux host with the kernel's own values of 6.18, and what apply would make of it."""

from typing import Any

import packs
from ansible.module_utils.hostproof.apply.change import FileChange, Plan
from ansible.module_utils.hostproof.controls.kernel_parameters.control import (
    CONTROL as kernel_parameters,
)
from ansible.module_utils.hostproof.controls.kernel_parameters.policy import Policy
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.parsers.systemd import sysctl_d
from default_policies import default_policy

DROP_IN = "/etc/sysctl.d/99-zz-hostproof-kernel_parameters.conf"
HEADER = "# Written by Hostproof (role kernel_parameters): change the policy, not this file.\n"
HOME = packs.HOME

#: Read on Linux 6.18, x86-64, in an IPC and a network namespace of its own; net.core and memory
#: are those of a host of 64 GiB.
STOCK = {
    **{"fs.aio-max-nr": "65536", "fs.aio-nr": "0", "fs.file-max": "6505912"},
    **{"fs.file-nr": "1950\t0\t6505912", "kernel.numa_balancing": "0", "kernel.panic": "0"},
    **{"kernel.panic_on_oops": "0", "kernel.pid_max": "4194304", "kernel.shm_rmid_forced": "0"},
    **{"kernel.sem": "32000\t1024000000\t500\t32000", "kernel.shmall": "18446744073692774399"},
    **{"kernel.shmmax": "18446744073692774399", "kernel.shmmni": "4096"},
    **{"net.core.rmem_default": "212992", "net.core.rmem_max": "212992"},
    **{"net.core.wmem_default": "212992", "net.core.wmem_max": "212992"},
    **{"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.default.rp_filter": "0"},
    **{"net.ipv4.ip_local_port_range": "32768\t60999", "net.ipv4.ipfrag_high_thresh": "4194304"},
    **{"net.ipv4.ipfrag_low_thresh": "3145728", "net.ipv4.tcp_rmem": "4096\t131072\t33554432"},
    **{"net.ipv4.tcp_wmem": "4096\t16384\t4194304", "vm.dirty_background_bytes": "0"},
    **{"vm.dirty_background_ratio": "10", "vm.dirty_bytes": "0", "vm.dirty_ratio": "20"},
    **{"vm.min_free_kbytes": "67584", "vm.overcommit_memory": "0", "vm.swappiness": "60"},
}


def proc(name: str) -> str:
    return "/proc/sys/" + sysctl_d.normalize(name)


def stock() -> packs.Machine:
    """Nothing of Oracle is on it; kdump has loaded its kernel."""
    machine = packs.linux().file("/sys/kernel/kexec_crash_loaded", "1\n")
    machine.file("/proc/loadavg", "0.20 0.18 0.12 1/300 11206\n")
    for name, value in STOCK.items():
        machine.file(proc(name), value + "\n")
    sets = (packs.FIXTURES / "sysvipc_sem/linux-6.18-two-sets.txt").read_text()
    return machine.file("/proc/sysvipc/sem", sets)


def with_home(machine: packs.Machine, release: str = "19.0.0.0.0", home: str = HOME) -> Any:
    """A home of a database in oratab; its sqlplus tells the release."""
    tab = machine.files.get("/etc/oratab", "")
    machine.file("/etc/oratab", f"{tab}DB{len(tab)}:{home}:N\n")
    machine.command(f"stat -L -c %U {home}/bin/sqlplus", "oracle\n")
    return machine.command(f"sqlplus -V of {home}", f"\nSQL*Plus: Release {release} - Production\n")


def sets(machine: packs.Machine, **values: str) -> packs.Machine:
    """Values of the kernel; two underscores are a dot."""
    for name, value in values.items():
        machine.file(proc(name.replace("__", ".")), value + "\n")
    return machine


def policy_of(**changes: Any) -> Policy:
    defaults = default_policy("kernel_parameters")
    assert not set(changes) - set(defaults)
    return kernel_parameters.policy_from({**defaults, **changes})


def plan_of(machine: packs.Machine, **changes: Any) -> Plan:
    policy = policy_of(**changes)
    return planner("kernel_parameters")(kernel_parameters.read(machine, policy), policy)


def after(machine: packs.Machine, plan: Plan) -> packs.Machine:
    """The host when the plan has been carried out."""
    machine.evidence.clear()
    for change in plan.changes:
        if isinstance(change, FileChange):
            assert change.content is not None
            machine.file(change.path, change.content)
        else:
            assert machine.files[change.path].strip() == change.before
            machine.file(change.path, change.value + "\n")
    return machine


def drop_in(plan: Plan) -> dict[str, str]:
    """What the drop-in would set, by key; nothing where none is written."""
    for change in plan.changes:
        if isinstance(change, FileChange):
            assert change.path == DROP_IN
            lines = sysctl_d.parse(change.content or "", DROP_IN).assignments
            return {line.key.replace("/", "."): str(line.value) for line in lines}
    return {}


def values(plan: Plan) -> dict[str, str]:
    """What the running kernel would be given, by key."""
    return {
        change.path.removeprefix("/proc/sys/").replace("/", "."): change.value.replace("\t", " ")
        for change in plan.changes
        if not isinstance(change, FileChange)
    }
