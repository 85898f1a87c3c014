"""The virtual machine as the stories of all controls see it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from machines import vm
from machines.machine import TOOLS, Machine, Run
from machines.needs import ROOT

#: A login reads limits.d, as it does for the instance of an administrator who starts it by hand.
LOGIN = "su - oracle -c"


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """The paths of ``Machine.files`` that were written, created or removed."""
    return {path for path in before | after if before.get(path) != after.get(path)}


class LabMachine(Machine):
    """Hostproof is run here with one control alone."""

    preloads = True
    #: All stories share one preloaded Python and one copy of the modules.
    _shared: "LabMachine | None" = None

    def __init__(self) -> None:
        super().__init__(vm.ssh, ROOT / "inventories/lab")

    def module(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Run a module. The stories of all controls share one preloaded Python."""
        shared = LabMachine._shared = LabMachine._shared or self
        shared.preloads = self.preloads
        return Machine.module(shared, name, **arguments)

    @contextmanager
    def own_python(self) -> Iterator[None]:
        """Each module starts a Python of its own meanwhile, as under Ansible: once in each story
        that has no play."""
        self.preloads = False
        try:
            yield
        finally:
            self.preloads = True

    def play(self, playbook: str, *options: str, **variables: object) -> Run:
        return super().play(playbook, "--tags", self.control, *options, **variables)


class HugePagesLab(LabMachine):
    control = "hugepages"

    def start(self, sid: str, sga: str, pages: str) -> None:
        """Start a stand-in of an instance."""
        self.start_instance(sid, sga, pages, login=LOGIN)

    def cut_power(self, path: str) -> None:
        """Apply, and reset the machine right before the file gets its name."""
        self.send_killer()
        # The tests' own files are not what the cut may take.
        self.run("sync")
        tool = f"nohup python3 {TOOLS}/kill_at_each_step.py power-cut {self.control} {path}"
        with vm.boots_again():
            vm.run(f"{tool} >/dev/null 2>&1 &")
