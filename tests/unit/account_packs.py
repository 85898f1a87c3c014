"""A host with the accounts of Oracle software, and findings and plans of the control accounts."""

from typing import Any

import packs
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.controls.accounts.control import CONTROL as accounts
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from default_policies import default_policy

GROUPS = ("oinstall", "dba", "oper", "backupdba", "dgdba", "kmdba")
PASSWD = "root:x:0:0:root:/root:/bin/bash\noracle:x:54321:54321::/home/oracle:/bin/bash\n"
#: What Oracle Linux 8 ships in /etc/profile and /etc/bashrc.
STOCK = """if [ $UID -gt 199 ] && [ "`id -gn`" = "`id -un`" ]; then
    umask 002
else
    umask 022
fi
"""
POLICY = {
    "groups": [{"name": "oinstall", "gid": 54321}, {"name": "dba", "gid": 54322}],
    "accounts": [{"name": "oracle", "uid": 54321, "groups": ["dba"]}],
}


def bare() -> packs.Machine:
    """Linux without an account of Oracle."""
    machine = packs.linux().file("/etc/passwd", PASSWD.split("\n")[0] + "\n")
    return machine.file("/etc/profile", STOCK).file("/etc/bashrc", STOCK)


def host(*groups: str) -> packs.Machine:
    """The account oracle as Oracle's preinstallation package makes it."""
    machine = bare().file("/etc/passwd", PASSWD)
    for number, group in enumerate(GROUPS):
        machine.group(group, 54321 + number, *(["oracle"] if number else []))
    names = groups or GROUPS
    numbers = {"root": 0, **{group: 54321 + number for number, group in enumerate(GROUPS)}}
    for path in ("/bin/bash", "/bin/ksh93", "/bin/sh", "/bin/tcsh", "/usr/bin/zsh"):
        machine.command(f"stat -L -c %F %u %a {path}", "regular file 0 755\n")
    machine.command("stat -L -c %F %u %a /home/oracle", "directory 54321 700\n")
    machine.command("id -G oracle", " ".join(f"{numbers.get(name, 54400)}" for name in names))
    return machine.account("oracle", 54321, *names)


def instance(
    machine: packs.Machine,
    umask: str | None = "0022",
    gid: int = 54321,
    gids: str = "54321 54322 54323 54324 54325 54326",
    pid: int = 3101,
) -> packs.Machine:
    machine.process("ora_pmon_ORCL", pid=pid, uid=54321)
    line = "" if umask is None else f"Umask:\t{umask}\n"
    status = f"Name:\tora_pmon_ORCL\n{line}Gid:\t7\t{gid}\t8\t9\nGroups:\t{gids} \n"
    return machine.file(f"/proc/{pid}/status", status)


def inventory(machine: packs.Machine, stat: str, group: str = "oinstall") -> packs.Machine:
    machine.file("/etc/oraInst.loc", f"inventory_loc=/u01/oraInventory\ninst_group={group}\n")
    return machine.command("stat -L -c %u %g %a /u01/oraInventory", stat)


def judged(machine: packs.Machine, **changes: Any) -> dict[str, Finding]:
    """Findings by the check's name without the control's; the last subject wins."""
    policy = {**default_policy("accounts"), **changes}
    findings = audit.judge_host(machine, {"accounts": policy})
    return {finding.check.partition(".")[2]: finding for finding in findings}


def plan_of(machine: packs.Machine, **changes: Any) -> Plan:
    policy = accounts.policy_from({**default_policy("accounts"), **changes})
    return planner("accounts")(accounts.read(machine, policy), policy)
