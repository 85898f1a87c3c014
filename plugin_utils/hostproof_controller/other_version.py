# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another version of Hostproof: where it is, its checks, its defaults, and an audit with its code.

Its code runs in separate processes, with the Python and the ansible-core of this version.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.errors import HostproofError

from . import bounded_yaml
from .report.renamed import current
from .report.store import Results, merge, read_entries
from .report.text import one_line, shorten

#: Seconds for the list of checks.
SECONDS = 120

#: Prints the version and the checks; 0.1.0 has no registry.
_LIST = """
import json, sys
import ansible.module_utils
ansible.module_utils.__path__.insert(0, sys.argv[1])
from ansible.module_utils.hostproof import VERSION
try:
    from ansible.module_utils.hostproof.controls.registry import CONTROLS, NAMES
    checks = [one for name in NAMES for one in CONTROLS[name].checks]
except ImportError:
    from ansible.module_utils.hostproof.controls import CONTROLS
    checks = [one for control in CONTROLS.values() for one in control.CHECKS]
json.dump({"version": VERSION, "checks": {one.id: one.severity for one in checks}}, sys.stdout)
"""


class Version(NamedTuple):
    """``path`` has playbooks/ and roles/; ``severities`` has its checks by their ids there."""

    path: Path
    version: str
    severities: dict[str, str]

    @property
    def checks(self) -> dict[str, str]:
        """Severities by the ids of today."""
        return {current(check): severity for check, severity in self.severities.items()}

    @property
    def is_collection(self) -> bool:
        return (self.path / "MANIFEST.json").is_file()

    def defaults(self) -> dict[str, Any]:
        """The default of every variable of the policies."""
        values: dict[str, Any] = {}
        for path in sorted(self.path.glob("roles/*/defaults/main.yml")):
            content = bounded_yaml.load(str(path))
            if content is not None and not isinstance(content, dict):
                raise HostproofError(f"{path}: must be a map")
            values |= content or {}
        return values


def installed(named: str, scratch: Path, checkout: Path, programs: Path) -> Version:
    """The version in a directory, or of a git revision of ``checkout``.

    The directory is a checkout, a collection, a Python package or a virtualenv with it.
    ``programs`` has python and ansible-playbook.
    """
    program = str(programs / "python")
    path = Path(named)
    if not path.exists():
        return _version(named, _extracted(named, scratch / "revision", checkout), program)
    inside = [path, path / "hostproof", *path.glob("lib/python3*/site-packages/hostproof")]
    folder = next((place for place in inside if (place / "playbooks/audit.yml").is_file()), None)
    if folder is None:
        raise HostproofError(f"{named} contains no Hostproof (no playbooks/audit.yml)")
    return _version(named, folder.resolve(), program)


def _version(named: str, folder: Path, program: str) -> Version:
    collection = folder / "plugins/module_utils"
    travels = collection if collection.is_dir() else folder / "module_utils"
    done = _run([program, "-P", "-c", _LIST, str(travels)], {}, SECONDS)
    try:
        answer = json.loads(done.stdout)
        version, checks = str(answer["version"]), dict(answer["checks"])
    except (ValueError, KeyError, TypeError):
        raise HostproofError(f"{named}: cannot read its checks: {_reason(done)}") from None
    return Version(folder, version, checks)


def _extracted(revision: str, folder: Path, checkout: Path) -> Path:
    """The files of a git revision."""
    folder.mkdir(parents=True)
    git = ["git", "-C", str(checkout)]
    words = ["rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}"]
    result = _run([*git, *words], {}, SECONDS) if (checkout / ".git").exists() else None
    if result is None or result.returncode:
        raise HostproofError(f"there is no directory and no git revision {shorten(revision, 200)}")
    archive = folder.with_suffix(".tar")
    for argv in (
        [*git, "archive", "--format=tar", f"--output={archive}", result.stdout.strip()],
        ["tar", "-xf", str(archive), "-C", str(folder)],
    ):
        done = _run(argv, {}, SECONDS)
        if done.returncode:
            raise HostproofError(f"{shorten(revision, 200)}: {_reason(done)}")
    return folder


def audit(
    version: Version, packs: Path, inventories: Sequence[str], scratch: Path, programs: Path
) -> Results:
    """The results of its audit of the packs."""
    report = scratch / "report"
    scratch.mkdir()
    variables = {
        "ANSIBLE_CONFIG": str(version.path / "ansible.cfg"),
        "HOSTPROOF_EVIDENCE": str(packs),
        "HOSTPROOF_REPORT": str(report),
    }
    if version.is_collection:
        # Ansible finds a collection by the names of the directories that contain it.
        (scratch / "ansible_collections/hostproof").mkdir(parents=True)
        (scratch / "ansible_collections/hostproof/hostproof").symlink_to(version.path)
        (scratch / "ansible.cfg").write_text("[defaults]\ngathering = explicit\n")
        variables |= {
            "ANSIBLE_CONFIG": str(scratch / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(scratch),
        }
    extra = {
        "hostproof_evidence_folder": str(packs),
        "ansible_connection": "local",
        "ansible_become": False,
        "ansible_python_interpreter": str(programs / "python"),
    }
    sources = [word for source in inventories for word in ("-i", source)]
    playbook = (
        "hostproof.hostproof.audit"
        if version.is_collection
        else str(version.path / "playbooks/audit.yml")
    )
    program = str(programs / "ansible-playbook")
    done = _run([program, *sources, "-e", json.dumps(extra), playbook], variables, None)
    if not (report / "findings.jsonl").exists():
        raise HostproofError(f"Hostproof {version.version} audited no pack: {_reason(done)}")
    return merge(read_entries([str(report)]))


def _run(
    argv: list[str], variables: Mapping[str, str], seconds: int | None
) -> subprocess.CompletedProcess[str]:
    # The caller's own controller must not be imported in place of the other one.
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment = {**kept, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    try:
        return subprocess.run(
            argv,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise HostproofError(f"{argv[0]} did not end within {seconds} seconds") from None
    except OSError as problem:
        raise HostproofError(f"{argv[0]}: {problem.strerror}") from problem


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The last line that it printed."""
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return shorten(one_line(lines[-1]), 300) if lines else f"exit code {done.returncode}"
