"""What every unit test may use: the helpers beside this file, and the published schema."""

import json
import os
import re
from collections.abc import Callable
from itertools import filterfalse
from pathlib import Path
from typing import Any

import advice_rows
import jsonschema
import pytest
from ansible.module_utils.hostproof.controls.registry import NAMES
from hostproof_controller.cli import command, play
from hostproof_controller.commands import is_from_host, is_own
from long_tests import LONG

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent
SCHEMA = json.loads((ROOT / "docs/finding.schema.json").read_text())


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The children that os.fork makes in the test: other tests of this process leave theirs, which
    live as long as a host that nobody has collected yet."""
    children: list[int] = []
    fork = os.fork

    def noted() -> int:
        child = fork()
        if child:
            children.append(child)
        return child

    monkeypatch.setattr(os, "fork", noted)
    return children


@pytest.fixture
def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., str]:
    """refused(word, ...): the output of a command that is refused before anything runs. No program
    is started for it: that would take most of the time."""

    def run(*words: str) -> str:
        for name in ("HOSTPROOF_REPORTS", "HOSTPROOF_RECORDS"):
            monkeypatch.setenv(name, str(tmp_path / "reports"))
        monkeypatch.setattr(play, "_wait_for", lambda *_: pytest.fail("something was run"))
        assert command.main(words) == 1
        assert not [*(tmp_path / "reports").glob("*")]
        return "".join(capsys.readouterr())

    return run


def validate_by(definition: str) -> Callable[[Any], None]:
    """A function that raises unless a value is as the definition of the schema says.

    Many tests get the same finding. A value that passed is not validated again: that took half of
    the time of tests that judge a host.
    """
    validator = jsonschema.Draft202012Validator(
        {"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{definition}"}
    )
    valid: set[str] = set()

    def validate(value: Any) -> None:
        # repr tells a tuple from a list and 1 from "1"; JSON does not.
        text = repr(value)
        if text not in valid:
            validator.validate(value)
            valid.add(text)

    return validate


#: A name of a host that a shell would run or a terminal cannot print: no form accepts it.
HOSTILE = re.compile(r"[$`]|[^ -~]")


@pytest.fixture(scope="session")
def validate_finding() -> Callable[[Any], None]:
    """Raises unless a finding (as a dictionary) is what docs/finding.schema.json says."""
    validate = validate_by("finding")

    def validate_with_commands(value: Any) -> None:
        validate(value)
        # The controller drops a command that it does not know. Checks of users have their own.
        if value["control"] in {*NAMES} - {"custom"}:
            for line in filterfalse(HOSTILE.search, value["commands"]):
                assert is_from_host(line) or is_own(line), f"no form of commands.py is {line}"

    return validate_with_commands


@pytest.fixture(scope="session")
def validate_line() -> Callable[[Any], None]:
    """Raises unless a line of findings.jsonl (as a dictionary) is what the schema says."""
    return validate_by("host_result")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of which no test would run is not read: to read all of them takes half a minute."""
    whole = collection_path.is_relative_to(FOLDER) and (
        collection_path.relative_to(FOLDER).as_posix() in LONG
    )
    return True if whole and config.getoption("markexpr") == "not long" else None


# Before pytest's own, which selects by marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files of this folder come first: their plays wait, and at the end nothing else would
    run meanwhile."""
    for item in items:
        if item.path.is_relative_to(FOLDER):
            _, _, inside = item.nodeid.partition("::")
            name = f"{item.path.relative_to(FOLDER).as_posix()}::{inside}"
            if any(name.startswith(start) for start in LONG):
                item.add_marker(pytest.mark.long)
    items.sort(key=lambda item: item.path.parent != FOLDER)


#: The advice that the worker processes produced (controls/conftest.py).
_ADVICE: advice_rows.Rows = {}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    advice_rows.add(
        advice_rows.parsed(getattr(node, "workeroutput", {}).get("advice", "")), _ADVICE
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the advice of a run of all tests that passed, for tests/advice --unused."""
    config = session.config
    whole = config.args == ["tests/unit"] and not (
        config.getoption("markexpr") or config.getoption("keyword") or config.getoption("lf")
    )
    if config.cache is not None and not hasattr(config, "workerinput"):
        complete = whole and _ADVICE and not session.testsfailed
        config.cache.set("hostproof/advice", advice_rows.text_of(_ADVICE) if complete else "")
