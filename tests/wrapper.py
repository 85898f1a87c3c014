"""./hostproof as a user runs it who has its virtualenv already: here it is that of the tests."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOSTPROOF = str(ROOT / "hostproof")
REQUIREMENTS = "requirements.txt"


def environment(folder: Path) -> dict[str, str]:
    """The variables of such a user; the virtualenv is made in ``folder``."""
    programs = folder / "venv/bin"
    programs.mkdir(parents=True)
    for name in ("python", "ansible-playbook", "ansible-galaxy"):
        target = Path(sys.executable).with_name(name)
        (programs / name).write_text(f'#!/bin/sh\nexec "{target}" "$@"\n')
        (programs / name).chmod(0o755)
    command = "cat requirements*.txt | cksum"
    stamp = subprocess.check_output(command, shell=True, cwd=ROOT, text=True).strip()
    (folder / "venv/hostproof-stamp").write_text(f"{REQUIREMENTS} {ROOT} {stamp}\n")
    unwanted = ("ANSIBLE_", "HOSTPROOF_", "MOLECULE_", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return {
        **kept,
        "HOSTPROOF_VENV": os.path.relpath(folder / "venv", ROOT),
        "HOSTPROOF_REQUIREMENTS": REQUIREMENTS,
    }
