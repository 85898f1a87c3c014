"""Imports the programs of tests/ and tools/, whose names have no suffix."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def imported_program(name: str, folder: str = "tests") -> ModuleType:
    """FOLDER/NAME as a module."""
    module_name = "hostproof_tests_" + name.replace("/", "_")
    loader = importlib.machinery.SourceFileLoader(module_name, str(ROOT / folder / name))
    spec = importlib.util.spec_from_loader(module_name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # NamedTuple looks up its own module.
    sys.modules[module_name] = module
    loader.exec_module(module)
    return module
