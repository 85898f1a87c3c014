"""Imports the programs of tests/, whose names have no suffix."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).resolve().parents[1]


def imported_program(name: str) -> ModuleType:
    """tests/NAME as a module."""
    module_name = "hostproof_tests_" + name.replace("/", "_")
    loader = importlib.machinery.SourceFileLoader(module_name, str(TESTS / name))
    spec = importlib.util.spec_from_loader(module_name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # NamedTuple looks up its own module.
    sys.modules[module_name] = module
    loader.exec_module(module)
    return module
