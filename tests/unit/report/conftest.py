"""What the tests of the report share."""

import json
from pathlib import Path

import jsonschema
import pytest

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "finding.schema.json"


@pytest.fixture(scope="session")
def validate():
    """Checks a host result or a finding against the published schema."""
    validator = jsonschema.Draft202012Validator(
        json.loads(SCHEMA.read_text()), format_checker=jsonschema.FormatChecker()
    )
    return validator.validate
