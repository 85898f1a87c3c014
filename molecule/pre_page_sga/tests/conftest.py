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

SCENARIO = "pre_page_sga"


@pytest.fixture(scope="session")
def box() -> Box:
    return Box(SCENARIO)


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
