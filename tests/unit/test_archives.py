"""What plays of the tests share: the packed modules of one state, and never those of another."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# How the tests themselves share what plays pack.
pytestmark = [pytest.mark.one_core, pytest.mark.long]
MODULE = """
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.words import WORD
AnsibleModule({}).exit_json(msg=WORD)
"""
PLAY = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"say_word": {}}]}]


class Checkout:
    """A checkout with one module, and a share of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("library", "module_utils"):
            (root / name).mkdir()
        (root / "library/say_word.py").write_text(MODULE)
        (root / "play.yml").write_text(json.dumps(PLAY))
        shutil.copytree(ROOT / "tests/archives", root / "tests/archives")

    def say(self, word: str) -> str:
        """What the module says whose import holds ``word``."""
        (self.root / "module_utils/words.py").write_text(f"WORD = {word!r}\n")
        program = Path(sys.executable).with_name("ansible-playbook")
        python = ["-e", f"ansible_python_interpreter={sys.executable}"]
        done = subprocess.run(
            [program, "-v", "-c", "local", "-i", "localhost,", self.root / "play.yml", *python],
            cwd=self.root,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.root),
                "PYTHONPATH": str(self.root / "tests/archives"),
                "ANSIBLE_LIBRARY": str(self.root / "library"),
                "ANSIBLE_MODULE_UTILS": str(self.root / "module_utils"),
                "ANSIBLE_NOCOLOR": "1",
            },
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def shared(self) -> dict[str, list[str]]:
        """The archives of each state."""
        archives = self.root / ".cache/archives"
        return {
            folder.name: sorted(path.name for path in folder.iterdir())
            for folder in archives.iterdir()
            if folder.is_dir()
        }


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_changed_module_is_packed_anew(checkout):
    assert '"msg": "first"' in checkout.say("first")
    before = checkout.shared
    assert [len(names) for names in before.values()] == [1]
    assert '"msg": "second"' in checkout.say("second")
    assert len(checkout.shared) == 2
    # The first is found again, and nothing is left in the folder that Ansible removes.
    assert '"msg": "first"' in checkout.say("first")
    assert len(checkout.shared) == 2
    assert list((checkout.root / ".ansible/tmp").iterdir()) == []
    assert [path for path in (checkout.root / ".cache/archives").iterdir() if path.is_file()] == []


def test_a_second_run_takes_what_the_first_packed(checkout):
    checkout.say("first")
    ((folder, (archive,)),) = checkout.shared.items()
    # Ansible notices that this is none.
    (checkout.root / ".cache/archives" / folder / archive).write_bytes(b"")
    with pytest.raises(AssertionError):
        checkout.say("first")
