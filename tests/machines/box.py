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
    """The container of a scenario. Hostproof is run there with the scenario's control alone."""

    def __init__(self, scenario: str) -> None:
        self.scenario = self.control = scenario
        inventory = ROOT / "molecule" / scenario / "inventory"
        super().__init__(lambda shell: container.command(scenario, shell), inventory)
        self.send(ROOT / "tests/standins/instance.py")

    def play(self, playbook: str, *options: str, **variables: Any) -> Run:
        return super().play(playbook, "--tags", self.scenario, *options, **variables)

    def start(self, sid: str, sga: str) -> None:
        """Start a stand-in of an instance. Its pages are small: the pool belongs to the host."""
        self.start_instance(sid, sga, "4k", login=IDENTITY)

    def host(self, monkeypatch: pytest.MonkeyPatch) -> testinfra.host.Host:
        """The container as testinfra sees it, straight through the engine that runs it."""
        noted = container.state(self.scenario)
        # testinfra calls the engine by name; here that may have to be our wrapper of it.
        monkeypatch.setenv("PATH", str(Path(noted["executable"]).parent), prepend=os.pathsep)
        return testinfra.get_host(f"{noted['engine']}://{noted['name']}")
