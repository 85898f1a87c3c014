# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof build-collection``: this checkout or package as the collection hostproof.hostproof.

The files move to the directories that Ansible requires (layout.py finds them there). Names become
fully qualified: in tasks, for modules and roles, and in the imports of modules.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from ansible.module_utils.hostproof import VERSION

from ..layout import IS_COLLECTION
from ..remote.sources import OF_COLLECTION
from . import options
from .environment import ROOT, child_environment, environment_folder
from .errors import Refused
from .terminal import say

NAME = "hostproof.hostproof"

#: Folders of a checkout, and of the collection.
FOLDERS = {
    "action_plugins": "plugins/action",
    "callback_plugins": "plugins/callback",
    "filter_plugins": "plugins/filter",
    "library": "plugins/modules",
    "module_utils": "plugins/module_utils",
    "plugin_utils": "plugins/plugin_utils",
    "playbooks": "playbooks",
    "roles": "roles",
    "docs": "docs",
}
FILES = (
    "LICENSE",
    "CHANGELOG.md",
    "galaxy.yml",
    "requirements.txt",
    "meta/runtime.yml",
    "tests/config.yml",
)
#: Its README, and a link in it to another page.
README = "docs/collection.md"
_TO_PAGE = re.compile(r"(?<=\]\()(?=[\w./-]+\.(?:md|yml)\b)")

#: Of another installation: links to directories of the checkout, what Python and we keep.
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".cache", "images")


@options.command("build-collection")
@click.option(
    "--out",
    metavar="DIR",
    type=options.DIRECTORY,
    default=".",
    help="output directory (default: the current one)",
)
def command(out: str) -> int:
    """Writes hostproof-hostproof-VERSION.tar.gz.

    In another project: ansible-galaxy collection install FILE, then use
    hostproof.hostproof.hugepages and the other roles, modules and playbooks.
    """
    if IS_COLLECTION:
        raise Refused("this is the collection already: it builds no other one")
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        lay_out(Path(folder))
        program = environment_folder() / "bin/ansible-galaxy"
        words = [str(program), "collection", "build", folder, "--output-path", out]
        done = subprocess.run(
            [*words, "--force"], env=child_environment(), capture_output=True, text=True
        )
    if done.returncode:
        raise Refused(f"ansible-galaxy cannot build it: {done.stderr.strip()}")
    say(os.path.join(out, f"hostproof-hostproof-{VERSION}.tar.gz"))
    return 0


def lay_out(folder: Path) -> None:
    """Write the collection's files into this empty directory."""
    for name, place in FOLDERS.items():
        for source in _files(ROOT / name):
            target = folder / place / source.relative_to(ROOT / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o644)
    for name in FILES:
        # The installed package has no tests.
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    text = (ROOT / README).read_text(encoding="utf-8")
    (folder / "README.md").write_text(_TO_PAGE.sub("docs/", text), encoding="utf-8")
    modules = sorted(path.stem for path in (folder / "plugins/modules").glob("*.py"))
    roles = sorted(path.name for path in (folder / "roles").iterdir())
    for path in (folder / "plugins/modules").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        text = text.replace("ansible.module_utils.hostproof", f"{OF_COLLECTION}hostproof")
        path.write_text(text, encoding="utf-8")
    for path in [*(folder / "playbooks").rglob("*.yml"), *(folder / "roles").rglob("tasks/*.yml")]:
        path.write_text(by_whole_names(path.read_text(encoding="utf-8"), modules, roles))


def _files(folder: Path) -> Iterator[Path]:
    for inside, folders, names in os.walk(folder):
        left_out = _LEFT_OUT(inside, [*folders, *names])
        # playbooks/ has links to the other directories of a checkout; os.walk follows none.
        folders[:] = [directory for directory in folders if directory not in left_out]
        yield from (Path(inside, name) for name in names if name not in left_out)


def by_whole_names(text: str, modules: list[str], roles: list[str]) -> str:
    """Tasks that call our modules and roles by their whole names, in any project."""
    called = re.compile(rf"^( *(?:- )?)({'|'.join(modules)}):", re.MULTILINE)
    text = called.sub(rf"\1{NAME}.\2:", text)
    of_role = re.compile(
        rf"((?:import|include)_role:\n(?: +(?!name:)\w+:.*\n)* +name: )({'|'.join(roles)})$",
        re.MULTILINE,
    )
    return of_role.sub(rf"\1{NAME}.\2", text)
