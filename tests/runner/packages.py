"""The Debian packages of each stage, and what the runner says before it installs them."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable

from .stages import Stage

#: Stage to its packages, by the command that shows that they are there. Images and engines that
#: are not needed everywhere are installed when they are (runc, PostgreSQL).
PACKAGES = {
    "containers": {
        "podman": "podman",
        "runc": "runc",
        "/usr/lib/podman/netavark": "netavark",
        "mmdebstrap": "mmdebstrap",
    },
    "snmp": {"snmpget": "snmp", "snmpd": "snmpd"},
    "wire": {"tshark": "tshark", "nmap": "nmap"},
    "wire, all of it": {"sshd": "openssh-server", "ssh": "openssh-client"},
    "browser": {"chromium": "chromium"},
    "lab": {
        "qemu-system-x86_64": "qemu-system-x86",
        "qemu-img": "qemu-utils",
        "ssh": "openssh-client",
        "mmdebstrap": "mmdebstrap",
    },
    "pools": {"java": "openjdk-17-jre-headless", "mvn": "maven"},
    "delivery": {"mmdebstrap": "mmdebstrap"},
    "delays": {"cc": "build-essential", "qemu-system-x86_64": "qemu-system-x86"},
    "monitoring": {
        "prometheus": "prometheus",
        "prometheus-node-exporter": "prometheus-node-exporter",
    },
}
SIZE = re.compile(r"^After this operation, (\S+ \S+) of additional disk space", re.MULTILINE)
NEW = re.compile(r"(\d+) newly installed")


def has(command: str) -> bool:
    """Whether a command is installed; the directories of root's tools count for every account."""
    return shutil.which(command, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is not None


def missing(names: Iterable[str]) -> list[str]:
    """The packages that these stages install."""
    wanted = [PACKAGES.get(name, {}) for name in names]
    return sorted({p for packages in wanted for command, p in packages.items() if not has(command)})


def announcement(chosen: list[Stage], *, short: bool) -> str:
    """The packages that a run installs and its duration on two processors."""
    names = [stage.name for stage in chosen]
    if short:
        # It runs only where its machine is there already.
        names = [name for name in names if name != "lab"]
    else:
        names += [f"{name}, all of it" for name in names]
    seconds = max(
        sum(stage.budget for stage in chosen) / 2, *(stage.budget for stage in chosen), 60
    )
    lines = [f"{', '.join(stage.name for stage in chosen)}: about {seconds / 60:.0f} minutes"]
    packages = missing(names)
    if packages and os.geteuid() == 0 and has("apt-get"):
        lines.append(f"apt-get installs {' '.join(packages)}{size_of(packages)}")
        lines.append("./hostproof test --quick installs none of them")
    elif packages:
        lines.append(f"not installed here, so tests are skipped: {' '.join(packages)}")
    return "\n".join(lines)


def size_of(packages: list[str]) -> str:
    """Number and size as apt-get says them; empty where it has no lists of packages yet."""
    command = ["apt-get", "--assume-no", "--no-install-recommends", "install", *packages]
    environment = {**os.environ, "LC_ALL": "C"}
    asked = subprocess.run(command, capture_output=True, text=True, env=environment)
    number, size = NEW.search(asked.stdout), SIZE.search(asked.stdout)
    return f": {number[1]} packages, {size[1]}" if number and size else ""
