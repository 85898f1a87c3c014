"""A controller whose Python is too old: each plugin states it before anything else."""

import subprocess
from pathlib import Path

import pytest
from matrix.controllers import Missing, find_python

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = [*ROOT.glob("action_plugins/*.py"), *ROOT.glob("callback_plugins/*.py")]

#: Imports each plugin. Of Ansible there are only empty classes.
LOAD = """\
import importlib.util, sys, types

class Nothing(types.ModuleType):
    __path__ = []
    def __getattr__(self, name):
        return type(name, (Exception,), {})

class Ansible:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "ansible":
            return importlib.util.spec_from_loader(name, self)
    def create_module(self, spec):
        return Nothing(spec.name)
    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Ansible())
for path in sys.argv[1:]:
    spec = importlib.util.spec_from_file_location("plugin", path)
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    except Exception as problem:
        print(type(problem).__name__, problem)
"""


@pytest.mark.one_core
def test_every_plugin_says_which_python_is_required():
    try:
        python = find_python("3.10")
    except Missing as missing:
        pytest.skip(str(missing))
    done = subprocess.run([python, "-c", LOAD, *PLUGINS], capture_output=True, text=True)
    says = "AnsibleError Python 3.11 or newer is required on the controller; this is 3.10"
    assert done.stdout.splitlines() == [says] * len(PLUGINS), done.stderr
