"""The AIX host of the story: the container, what its stand-ins hold, and modules run in it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines.box import Box  # noqa: E402

SCENARIO = "io_pacing"
STANDINS = "/opt/hostproof-tests/aix"


class Aix(Box):
    """The container with what only the stand-ins know: the database, the kernel, the calls."""

    python = "/opt/freeware/bin/python3"

    def attributes(self, device: str, layer: str) -> dict[str, str]:
        """Every attribute of a device in a layer (odm, running)."""
        attributes = json.loads(self.run(f"{STANDINS}/odm.py get {device}"))
        return {name: attribute[layer] for name, attribute in attributes.items()}

    def layers(self) -> dict[str, dict[str, str]]:
        """Every device in both layers: what revert must bring back."""
        devices = ("sys0", "hdisk1", "ent0")
        layers = ("odm", "running")
        return {
            f"{device} {layer}": self.attributes(device, layer)
            for device in devices
            for layer in layers
        }

    def marks(self) -> dict[str, tuple[str, str]]:
        """maxpout and minpout in both layers."""
        layers = {layer: self.attributes("sys0", layer) for layer in ("odm", "running")}
        return {layer: (values["maxpout"], values["minpout"]) for layer, values in layers.items()}

    def put(self, key: str, value: Any) -> None:
        """Set one thing of what the stand-ins tell of."""
        self.run(f"{STANDINS}/odm.py set {key} '{json.dumps(value)}'")

    def calls(self) -> list[list[str]]:
        """The argv of every command of AIX that was run since ``forget_calls``."""
        text = self.run(f"cat {STANDINS}/state/calls.jsonl")
        return [json.loads(line)["argv"] for line in text.splitlines()]

    def forget_calls(self) -> None:
        self.run(f": > {STANDINS}/state/calls.jsonl")

    def changes(self) -> list[list[str]]:
        """Every chdev that was run since ``forget_calls``."""
        return [argv for argv in self.calls() if argv[0] == "chdev"]


@pytest.fixture(scope="session")
def box() -> Aix:
    return Aix(SCENARIO)


@pytest.fixture(scope="session")
def module(box: Aix) -> Callable[..., dict[str, Any]]:
    """Runs a module inside the container, with options of Ansible; what it returns."""

    def run(which: str, /, *options: str, **arguments: Any) -> dict[str, Any]:
        return box.module(
            which,
            _ansible_check_mode="--check" in options,
            _ansible_diff="--diff" in options,
            **arguments,
        )

    return run
