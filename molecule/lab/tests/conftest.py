"""The lab as its story's tests see it."""

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines import vm  # noqa: E402
from machines.plays import Run, play  # noqa: E402

#: On the machine: the stand-in, the target code, and the script that kills it.
TOOLS = "/opt/hostproof-tests"

#: Everything that persists a setting, with content, owner and mode. Times are not compared.
MANIFEST = (
    "cd / && { find etc -xdev -printf '%p %y %#m %U:%G %l\\n'; "
    "find etc -xdev -type f -exec sha256sum {} +; } | sort"
)

VALUES = {
    "pool": "/proc/sys/vm/nr_hugepages",
    "group": "/proc/sys/vm/hugetlb_shm_group",
    "transparent": "/sys/kernel/mm/transparent_hugepage/enabled",
}


class Lab:
    """The machine: what it looks like, what runs on it, and Hostproof's playbooks against it."""

    def run(self, command: str, *, timeout: float = 120) -> str:
        """What a command prints; the test fails if the command does."""
        done = vm.run(command, timeout=timeout)
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def play(self, playbook: str, *options: str, **variables: Any) -> Run:
        return play(ROOT / "inventories/lab", playbook, *options, **variables)

    def values(self) -> dict[str, str]:
        """The kernel's values that the control sets."""
        lines = self.run(f"cat {' '.join(VALUES.values())}").splitlines()
        return dict(zip(VALUES, lines, strict=True))

    def files(self) -> list[str]:
        """Every file under /etc; a changed file is a changed line."""
        return self.run(MANIFEST).splitlines()

    def send_tools(self) -> None:
        """Put the stand-in, the target code and the killer on the machine, in one stream."""
        content = io.BytesIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            tarfile.open(fileobj=content, mode="w:gz") as archive,
        ):
            archive.add(ROOT / "tests/standins/instance.py", "instance.py")
            archive.add(ROOT / "molecule/lab/kill_at_each_step.py", "kill_at_each_step.py")
            archive.add(write_policy(folder), "policy.json")
            archive.add(
                ROOT / "module_utils/hostproof",
                "hostproof",
                filter=lambda member: None if "__pycache__" in member.name else member,
            )
        command = f"mkdir -p {TOOLS} && tar -xzf - --no-same-owner -C {TOOLS}"
        subprocess.run(vm.ssh(command), input=content.getvalue(), check=True, timeout=60)

    def kill_at_each_step(self, *arguments: str) -> str:
        """Run molecule/lab/kill_at_each_step.py on the machine."""
        return self.run(f"python3 {TOOLS}/kill_at_each_step.py {' '.join(arguments)}", timeout=400)

    def cut_power(self, path: str) -> None:
        """Apply, and reset the machine right before the file gets its name."""
        before = vm.boot_id()
        vm.run(f"nohup python3 {TOOLS}/kill_at_each_step.py power-cut {path} >/dev/null 2>&1 &")
        vm.wait(previous_boot=before)

    def start_instance(self, sid: str, sga: str, pages: str) -> None:
        """Start a stand-in as a login of oracle does, so that limits.d reaches it."""
        start = f"setsid -f {TOOLS}/instance.py --sid {sid} --sga {sga} --pages {pages}"
        self.run(f"su - oracle -c '{start} >/tmp/{sid}.log 2>&1'")
        wait = f"for i in $(seq 60); do grep -q . /tmp/{sid}.log && break; sleep 0.5; done"
        said = self.run(f"{wait}; cat /tmp/{sid}.log")
        assert said.startswith("ready"), said

    def stop_instance(self, sid: str) -> None:
        """Stop a stand-in and wait until its segment is gone."""
        pmon = f"^ora_pmon_{sid} "
        self.run(f"pkill -f '{pmon}'; while pgrep -f '{pmon}' >/dev/null; do sleep 0.2; done")


def write_policy(folder: str) -> Path:
    """The role's variables for the lab as a JSON file: its defaults and the inventory's."""
    policy = yaml.safe_load((ROOT / "roles/hugepages/defaults/main.yml").read_text())
    lab = ROOT / "inventories/lab/group_vars/lab/hugepages.yml"
    policy.update(yaml.safe_load(lab.read_text()))
    path = Path(folder, "policy.json")
    path.write_text(json.dumps(policy))
    return path


@pytest.fixture(scope="session")
def lab() -> Lab:
    machine = Lab()
    machine.send_tools()
    return machine
