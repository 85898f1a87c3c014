"""A host with the accounts and processes of Oracle, and the limits that each of them has."""

import re
from typing import Any

import packs
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.controls.process_limits.control import CONTROL as process_limits
from ansible.module_utils.hostproof.controls.process_limits.facts import (
    CLEANER,
    KILLS,
    REMOVE_IPC,
    SHOW_MANAGER,
    SHOW_UNIT,
)
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from default_policies import default_policy

DROP_IN = "/etc/security/limits.d/zz-hostproof-process_limits.conf"
PACKAGE = "/etc/security/limits.d/oracle-database-preinstall-19c.conf"
HEADER = "# Written by Hostproof (role process_limits): change the policy, not this file.\n"
BUSCTL = " ".join(REMOVE_IPC)
#: What Oracle's package writes for the account oracle, but for comments; with 64 GiB it is enough.
BY_PACKAGE = """oracle   soft   nofile    1024
oracle   hard   nofile    65536
oracle   soft   nproc    16384
oracle   hard   nproc    16384
oracle   soft   stack    10240
oracle   hard   stack    32768
oracle   hard   memlock    134217728
oracle   soft   memlock    134217728
"""
#: /proc/PID/limits in bytes, as one whose login read those lines has them.
GOOD = {
    "Max stack size": (10240 << 10, 32768 << 10),
    "Max processes": (16384, 16384),
    "Max open files": (1024, 65536),
    "Max locked memory": (134217728 << 10, 134217728 << 10),
}
UNITS = {"Max stack size": "bytes", "Max processes": "processes", "Max open files": "files"}
#: systemd 252 of Debian 12, but for the name of the property.
DEFAULTS = {
    **{"LimitNOFILE": "524288", "LimitNOFILESoft": "1024", "LimitNPROC": "257149"},
    **{"LimitNPROCSoft": "257149", "LimitSTACK": "infinity", "LimitSTACKSoft": "8388608"},
    **{"LimitMEMLOCK": "8388608", "LimitMEMLOCKSoft": "8388608", "TasksMax": "77144"},
}
ENOUGH = {
    **{"LimitNOFILE": "65536", "LimitNOFILESoft": "65536", "LimitNPROC": "infinity"},
    **{"LimitNPROCSoft": "infinity", "LimitSTACK": "33554432", "LimitSTACKSoft": "10485760"},
    **{"LimitMEMLOCK": "infinity", "LimitMEMLOCKSoft": "infinity", "TasksMax": "infinity"},
}
SERVICE = "0::/system.slice/dbora.service\n"
SESSION = "0::/user.slice/user-54321.slice/session-3.scope\n"
CRON = "0::/system.slice/cron.service\n"


def host() -> packs.Machine:
    """Nothing of Oracle is on it; logind and the cleaner are as they come."""
    machine = packs.linux()
    machine.file("/proc/sys/fs/nr_open", "1048576\n").folder("/run/systemd/system")
    for service in ("login", "sshd", "su", "cron"):
        machine.file(f"/etc/pam.d/{service}", "session required pam_limits.so\n")
    machine.command("/usr/sbin/sshd -T", "port 22\nusepam yes\n")
    machine.file("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=yes\n")
    machine.file("/usr/lib/tmpfiles.d/tmp.conf", "q /tmp 1777 root root 10d\n")
    machine.command(BUSCTL, "b false\n").command(" ".join(KILLS), "b false\n")
    machine.command(" ".join(CLEANER), "active\n")
    shown = "".join(f"Default{name}={value}\n" for name, value in DEFAULTS.items())
    for name, most in (("system", "infinity"), ("user", "infinity"), ("user-54321", "78152")):
        tasks_of(machine, f"{name}.slice", most)
    return machine.command(f"systemctl show {SHOW_MANAGER}", shown)


def with_oracle(machine: packs.Machine | None = None) -> packs.Machine:
    return (machine or host()).account("oracle", 54321, "oinstall")


def tasks_of(machine: packs.Machine, name: str, most: str) -> packs.Machine:
    """A slice whose only limit is TasksMax."""
    return machine.command(f"systemctl show {SHOW_UNIT} {name}", f"TasksMax={most}\n")


def package(machine: packs.Machine) -> packs.Machine:
    return machine.file(PACKAGE, BY_PACKAGE)


def limits(**changes: tuple[int, int]) -> str:
    """The text of /proc/PID/limits; -1 is unlimited."""
    rows = {**GOOD, **{name.replace("_", " "): pair for name, pair in changes.items()}}
    lines = ["Limit                     Soft Limit           Hard Limit           Units     "]
    for name, pair in rows.items():
        soft, hard = ("unlimited" if number < 0 else str(number) for number in pair)
        lines.append(f"{name:<25} {soft:<20} {hard:<20} {UNITS.get(name, 'bytes'):<10}")
    return "\n".join(lines) + "\n"


def process(
    machine: packs.Machine,
    argv0: str,
    pid: int,
    group: str = SESSION,
    uid: int = 54321,
    **changes: tuple[int, int],
) -> packs.Machine:
    """A process with the good limits, but for the changes, in a group of control."""
    machine.process(argv0, pid=pid, uid=uid)
    machine.file(f"/proc/{pid}/limits", limits(**changes))
    machine.file(f"/proc/{pid}/cgroup", group)
    return machine.folder("/sys/fs/cgroup" + group.strip().rpartition(":")[2])


def unit(machine: packs.Machine, text: str, **loaded: str) -> packs.Machine:
    """dbora.service, which the next boot starts, and what systemd has loaded of it."""
    if "Exec" not in text:
        text += f"ExecStart={packs.HOME}/bin/dbstart {packs.HOME}\n"
    starter(machine, "dbora.service", text)
    shown = "".join(f"{name}={value}\n" for name, value in {**DEFAULTS, **loaded}.items())
    return machine.command(f"systemctl show {SHOW_UNIT} dbora.service", shown)


def starter(machine: packs.Machine, name: str, text: str) -> packs.Machine:
    """An enabled unit on a host with a home."""
    folder = "/etc/systemd/system"
    machine.file("/etc/oratab", f"ORCL:{packs.HOME}:Y\n")
    machine.command(f"stat -L -c %U {packs.HOME}/bin/sqlplus", "oracle\n")
    template = re.sub("@[^.]*", "@", name)
    machine.file(f"{folder}/{template}", text)
    return machine.link(f"{folder}/multi-user.target.wants/{name}", f"{folder}/{template}")


def judged(machine: packs.Machine, **changes: Any) -> dict[str, Finding]:
    """Findings by "whose: check", or by the check alone; both without the control's name."""
    policy = {**default_policy("process_limits"), **changes}
    findings = {}
    for finding in audit.judge_host(machine, {"process_limits": policy}):
        check = finding.check.partition(".")[2]
        whose = finding.title.partition(": ")[0] if ": " in finding.title else ""
        findings[f"{whose}: {check}" if whose else check] = finding
    return findings


def plan_of(machine: packs.Machine, **changes: Any) -> Plan:
    policy = process_limits.policy_from({**default_policy("process_limits"), **changes})
    return planner("process_limits")(process_limits.read(machine, policy), policy)


def after(machine: packs.Machine, plan: Plan) -> packs.Machine:
    """The host when the plan has been carried out."""
    machine.evidence.clear()
    for change in plan.changes:
        machine.file(change.path, change.content)  # type: ignore[union-attr]
    return machine
