"""The container as its story's tests see it."""

import sys
from pathlib import Path

import pytest
import testinfra

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines.box import Box  # noqa: E402


@pytest.fixture(scope="session")
def box() -> Box:
    return Box("packages")


@pytest.fixture
def host(box: Box, monkeypatch: pytest.MonkeyPatch) -> testinfra.host.Host:
    return box.host(monkeypatch)
