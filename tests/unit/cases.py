"""The table of a test: one line for its names and one for each row."""

from typing import Any

import pytest


def cases(names: str, *rows: Any, ids: Any = None) -> pytest.MarkDecorator:
    """@pytest.mark.parametrize, with the names in one text, separated by blanks."""
    return pytest.mark.parametrize(names.split() if " " in names else names, rows, ids=ids)
