"""The samples of the report's unit tests serve here too."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("unit/report", "unit", "")]
