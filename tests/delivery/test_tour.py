"""docs/tour.md: each of its commands ends as it says, and prints what it shows."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import wrapper
from hostproof_controller.cli import command
from page_blocks import blocks

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
TOUR = ROOT / "docs/tour.md"
#: Where the tour writes; here to a folder of its own.
FOLDER = "/tmp/hostproof-tour"


class Stop(NamedTuple):
    """One block of commands, and the lines that it shows."""

    commands: str
    shown: list[str]

    @property
    def code(self) -> int:
        codes = re.findall(r"# exits with (\d+)", self.commands)
        return int(codes[-1]) if codes else 0


def stops() -> list[Stop]:
    result: list[Stop] = []
    for block in blocks(TOUR):
        if block.kind == "sh":
            result.append(Stop(block.text, []))
        else:
            result[-1].shown.extend(block.text.splitlines())
    return result


def is_shown(shown: list[str], printed: list[str]) -> str | None:
    """The first line that is not there, in the order of what was printed; None where all are.

    How wide the columns of a table are depends on what else is in it.
    """
    there = [" ".join(line.split()) for line in printed]
    place = 0
    for line in (" ".join(text.split()) for text in shown):
        if line in ("", "…"):
            continue
        start = line.removesuffix("…").rstrip()
        while place < len(there):
            place += 1
            if there[place - 1] == line or (start != line and there[place - 1].startswith(start)):
                break
        else:
            return line
    return None


def test_every_command_ends_and_prints_as_it_says(tmp_path):
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    for name in ("hostproof", "docs", "inventories"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = wrapper.environment(tmp_path / "user")
    environment.pop("COLUMNS", None)
    script = "set -u\n"
    for number, stop in enumerate(stops()):
        commands = stop.commands.replace(FOLDER, str(tmp_path / "tour"))
        script += (
            f"exec >'{tmp_path}/{number}.out' 2>&1\n{commands}\necho $? >'{tmp_path}/{number}'\n"
        )
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, timeout=600
    )
    assert done.returncode == 0
    for number, stop in enumerate(stops()):
        printed = (tmp_path / f"{number}.out").read_text().replace(str(tmp_path / "tour"), FOLDER)
        assert int((tmp_path / str(number)).read_text()) == stop.code, stop.commands + printed
        missing = is_shown(stop.shown, printed.splitlines())
        assert missing is None, f"not printed: {missing}\n{stop.commands}{printed}"


def test_every_verb_that_needs_no_host_is_on_the_tour():
    others = {"verify", "apply", "revert", "latency", "record", "detect-storage", "test", "help"}
    for name in command.COMMANDS:
        if name not in others:
            assert f"./hostproof {name}" in TOUR.read_text(), name


def test_what_is_not_printed_is_found():
    printed = ["one", "two words", "three"]
    assert is_shown(["one", "…", "three"], printed) is None
    assert is_shown(["two …"], printed) is None
    assert is_shown(["three", "one"], printed) == "one"
    assert is_shown(["two"], printed) == "two"
