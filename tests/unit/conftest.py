"""What every unit test may use: the helpers beside this file, and the published schema."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/finding.schema.json").read_text())


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The children that os.fork makes in the test: other tests of this process leave theirs, which
    live as long as a host that nobody has collected yet."""
    children: list[int] = []
    fork = os.fork

    def noted() -> int:
        child = fork()
        if child:
            children.append(child)
        return child

    monkeypatch.setattr(os, "fork", noted)
    return children


def validator_of(definition: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(
        {"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{definition}"}
    )


@pytest.fixture(scope="session")
def validate_finding() -> Callable[[Any], None]:
    """Raises unless a finding (as a dictionary) is what docs/finding.schema.json says."""
    return validator_of("finding").validate


@pytest.fixture(scope="session")
def validate_line() -> Callable[[Any], None]:
    """Raises unless a line of findings.jsonl (as a dictionary) is what the schema says."""
    return validator_of("host_result").validate
