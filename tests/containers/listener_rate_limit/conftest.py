"""The container as its story's tests see it, and the module listener_probe run in it."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import testinfra

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines.box import Box  # noqa: E402

SCENARIO = "listener_rate_limit"


@pytest.fixture(scope="session")
def box() -> Box:
    return Box(SCENARIO)


@pytest.fixture
def host(box: Box, monkeypatch: pytest.MonkeyPatch) -> testinfra.host.Host:
    return box.host(monkeypatch)


@pytest.fixture(scope="session")
def probe(box: Box) -> Callable[..., dict[str, Any]]:
    """Runs listener_probe inside the container; what it returns."""

    def run(**arguments: Any) -> dict[str, Any]:
        shown = box.module("listener_probe", **arguments)
        assert not shown.get("failed"), shown
        return shown

    return run
