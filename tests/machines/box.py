"""A scenario's container as its story's tests see it."""

import os
from pathlib import Path
from typing import Any

import pytest
import testinfra

from . import container
from .machine import Machine, Run
from .needs import ROOT

#: No login: pam_limits may not raise memlock in an unprivileged container, and refuses the session.
IDENTITY = "setpriv --reuid=54321 --regid=54321 --clear-groups sh -c"


class Box(Machine):
    """The container of a story, prepared as the scenario of that name. Hostproof is run there with
    the scenario's control alone."""

    def __init__(self, scenario: str) -> None:
        self.scenario = self.control = scenario
        policy = container.scenario_folder(scenario) / "inventory"
        super().__init__(lambda shell: container.command(scenario, shell), policy)
        self.send(ROOT / "tests/standins/instance.py")

    @property
    def inventories(self) -> list[Path]:
        return [container.inventory_file(self.scenario), *super().inventories]

    def play(self, playbook: str, *options: str, **variables: Any) -> Run:
        return super().play(playbook, "--tags", self.control, *options, **variables)

    def start(self, sid: str, sga: str) -> None:
        """Start a stand-in of an instance. Its pages are small: the pool belongs to the host."""
        self.start_instance(sid, sga, "4k", login=IDENTITY)

    def host(self, monkeypatch: pytest.MonkeyPatch) -> testinfra.host.Host:
        return testinfra_host(self.scenario, monkeypatch)


def testinfra_host(name: str, monkeypatch: pytest.MonkeyPatch) -> testinfra.host.Host:
    """The container as testinfra sees it, straight through the engine that runs it."""
    running = container.state(name)
    # testinfra calls the engine by name; here that may have to be our wrapper of it.
    monkeypatch.setenv("PATH", str(Path(running.executable).parent), prepend=os.pathsep)
    return testinfra.get_host(f"{running.engine}://{running.name}")
