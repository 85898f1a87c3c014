"""The container as its story's tests see it, and modules run in it."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines.box import Box  # noqa: E402
from machines.machine import Run  # noqa: E402

SCENARIO = "pre_page_sga"


class Instance(Box):
    """The container. The role decides what is wanted, where a step does not say it."""

    def play(self, playbook: str, *options: str, **variables: Any) -> Run:
        return super().play(playbook, *options, **by_default(variables))

    def verify(self, **variables: Any) -> Run:
        return super().verify(**by_default(variables))

    def apply(self, *, check: bool = False, **variables: Any) -> Run:
        return super().apply(check=check, **by_default(variables))


def by_default(variables: dict[str, Any]) -> dict[str, Any]:
    return {"pre_page_sga_value": "auto", **variables}


@pytest.fixture(scope="session")
def box() -> Box:
    return Instance(SCENARIO)


@pytest.fixture(scope="session")
def module(box: Box) -> Callable[..., dict[str, Any]]:
    """Runs a module inside the container, with options of Ansible; what it returns."""

    def run(which: str, /, *options: str, **arguments: Any) -> dict[str, Any]:
        return box.module(
            which,
            _ansible_check_mode="--check" in options,
            _ansible_diff="--diff" in options,
            **arguments,
        )

    return run


@pytest.fixture(scope="session")
def oracle_parameter(module: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    return partial(module, "oracle_parameter")
