"""Hosts of several distributions, as the control platform reads them."""

from pathlib import Path
from typing import Any

import packs
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from default_policies import changed_policy

FOLDER = packs.FIXTURES / "platform"
#: 2026-11-26, the day after the rows of the table were read.
NOW = 1795651200
SPECTRE = "/sys/devices/system/cpu/vulnerabilities/spectre_v2"
#: Of Linux 6.18 in a virtual machine.
MITIGATED = (
    "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; PBRSB-eIBRS: SW sequence; BHI: "
    "Vulnerable"
)
RECORDERS = "pgrep -l -f [O]SWatcher|[E]xaWatcher|[p]mlogger|[o]sysmond"


def os_release(name: str) -> str:
    return (FOLDER / f"os-release-{name}.txt").read_text()


def supported(machine: packs.Machine, name: str = "debian-12") -> packs.Machine:
    """What every distribution with systemd has, and its os-release."""
    machine.file("/etc/os-release", os_release(name))
    machine.command("uname -m", "x86_64\n").command("getconf PAGESIZE", "4096\n")
    machine.command("systemctl get-default", "multi-user.target\n")
    machine.command(RECORDERS, "812 pmlogger\n")
    active = "systemctl is-active multi-user.target graphical.target"
    machine.command(active, "active\ninactive\n", rc=3)
    machine.file(SPECTRE, MITIGATED + "\n")
    for program in ("ssh", "scp"):
        machine.file(f"/usr/bin/{program}", "", mode=0o755)
    return machine


def host(name: str, kernel: str, default: str | None = None) -> packs.Machine:
    """Nothing of Oracle is on it. ``default`` is the kernel of the next boot."""
    machine = supported(packs.linux(), name)
    machine.file("/proc/sys/kernel/osrelease", kernel + "\n")
    machine.command("grubby --default-kernel", f"/boot/vmlinuz-{default or kernel}\n")
    machine.file("/sys/fs/selinux/enforce", "1\n")
    machine.file("/etc/selinux/config", "# modes\nSELINUX=enforcing\nSELINUXTYPE=targeted\n")
    return machine.command("date +%s %z", f"{NOW} +0000\n")


def ol(version: str) -> str:
    """os-release of Oracle Linux: no recorded host has one, so it is made up."""
    text = os_release("rhel-9.4")
    text = text.replace('ID="rhel"', 'ID="ol"').replace(
        'VERSION_ID="9.4"', f'VERSION_ID="{version}"'
    )
    return text.replace("Red Hat Enterprise Linux 9.4 (Plow)", f"Oracle Linux Server {version}")


def recorded(folder: Path) -> packs.Machine:
    """A host of an insights archive: its os-release, kernel, default kernel and SELinux."""
    commands = folder / "insights_commands"
    kernel = (commands / "uname_-a").read_text().split()[2]
    machine = host("debian-12", kernel)
    machine.file("/etc/os-release", (folder / "etc/os-release").read_text())
    default = commands / "grubby_--default-kernel"
    if default.exists():
        machine.command("grubby --default-kernel", default.read_text())
    else:
        machine.commands.pop("grubby --default-kernel")
    config = folder / "etc/selinux/config"
    if config.exists():
        machine.file("/etc/selinux/config", config.read_text())
    return machine.file("/proc/cmdline", (folder / "proc/cmdline").read_text())


def judged(machine: packs.Machine, **changes: Any) -> dict[str, Finding]:
    """Findings by their checks, without the control's name; the first of each."""
    findings = audit.judge_host(machine, {"platform": changed_policy("platform", **changes)})
    return {finding.check.partition(".")[2]: finding for finding in reversed(findings)}
