"""The lab as its story's tests see it."""

import json
import sys
from pathlib import Path

import pytest
import testinfra
import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines import vm  # noqa: E402
from machines.machine import TOOLS, Machine  # noqa: E402

#: A login reads limits.d, as it does for the instance of an administrator who starts it by hand.
LOGIN = "su - oracle -c"


class Lab(Machine):
    """The virtual machine."""

    def start(self, sid: str, sga: str, pages: str) -> None:
        """Start a stand-in of an instance."""
        self.start_instance(sid, sga, pages, login=LOGIN)

    def kill_at_each_step(self, *arguments: str) -> str:
        """Run molecule/lab/kill_at_each_step.py on the machine."""
        return self.run(f"python3 {TOOLS}/kill_at_each_step.py {' '.join(arguments)}", timeout=600)

    def cut_power(self, path: str) -> None:
        """Apply, and reset the machine right before the file gets its name."""
        before = vm.boot_id()
        vm.run(f"nohup python3 {TOOLS}/kill_at_each_step.py power-cut {path} >/dev/null 2>&1 &")
        vm.wait(previous_boot=before)


def write_policy(folder: Path) -> Path:
    """The role's variables for the lab as a JSON file: its defaults and the inventory's."""
    policy = yaml.safe_load((ROOT / "roles/hugepages/defaults/main.yml").read_text())
    lab = ROOT / "inventories/lab/group_vars/lab/hugepages.yml"
    policy.update(yaml.safe_load(lab.read_text()))
    path = folder / "policy.json"
    path.write_text(json.dumps(policy))
    return path


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    machine = Lab(vm.ssh, ROOT / "inventories/lab")
    machine.send(
        ROOT / "tests/standins/instance.py",
        ROOT / "molecule/lab/kill_at_each_step.py",
        ROOT / "module_utils/hostproof",
        write_policy(tmp_path_factory.mktemp("policy")),
    )
    return machine


@pytest.fixture
def host() -> testinfra.host.Host:
    """The machine as testinfra sees it, over the connection that Ansible uses too."""
    state = json.loads(vm.STATE.read_text())
    return testinfra.get_host(
        f"ssh://{state['user']}@{state['address']}:{state['port']}",
        ssh_identity_file=state["key"],
        ssh_extra_args=state["ssh_arguments"],
    )
