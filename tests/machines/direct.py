"""Modules run on a machine without a play: as Ansible runs them there, but for what it does around.

A play of Hostproof costs seconds on the controller. Where a step of a story is about what a module
finds or does on the machine, the module is run there by itself, with the arguments that the role
would give it. What a play adds (templates, reports, output, diff) other steps show.
"""

import io
import json
import sys
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import ansible.module_utils
import yaml

from .needs import ROOT

sys.path.append(str(ROOT / "plugin_utils"))

from hostproof_controller import policies  # noqa: E402 - found by the path above

#: Where the tests' own tools lie on a machine.
TOOLS = "/opt/hostproof-tests"
LIBRARY = "lib"
#: Not by PYTHONPATH, which a machine's Python may not listen to.
PATH = f"import sys; sys.path.insert(0, '{TOOLS}/{LIBRARY}')"
RUN = (
    f"{PATH}; import runpy; "
    "(lambda name: runpy.run_module('ansible.modules.' + name, run_name='__main__'))"
)


@cache
def archive() -> bytes:
    """Ansible's code for targets with ours in its places, and the modules."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=1) as tar:
        for name, source in (
            ("module_utils", Path(ansible.module_utils.__file__).parent),
            ("module_utils/hostproof", ROOT / "module_utils/hostproof"),
            ("modules", ROOT / "library"),
        ):
            tar.add(source, f"{LIBRARY}/ansible/{name}", filter=sources_only)
        for package in ("ansible", "ansible/modules"):
            tar.addfile(tarfile.TarInfo(f"{LIBRARY}/{package}/__init__.py"))
    return content.getvalue()


def sources_only(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if member.isdir():
        return None if member.name.endswith("__pycache__") else member
    return member if member.name.endswith(".py") else None


def policy(control: str, inventory: Path, **variables: Any) -> dict[str, Any]:
    """A control's policy from its role's defaults, the inventory's variables and these."""
    role = policies.controls()[control]
    values = {role.variable(field): value for field, value in role.defaults.items()}
    for path in sorted(inventory.glob("group_vars/*/*.yml")):
        values.update(yaml.safe_load(path.read_text()) or {})
    values.update(variables)
    return {field: values[role.variable(field)] for field in role.fields}


def request(**arguments: Any) -> bytes:
    """What a module reads from its standard input."""
    return json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode()
