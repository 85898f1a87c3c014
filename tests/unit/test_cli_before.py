"""The command line of release 0.1 keeps working: its verbs, options, arguments and exit codes.

cli_before.json was written from the table of verbs that the command had before it became a click
group. A verb that is removed or renamed on purpose changes that file in the same commit.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hostproof_controller.cli import verbs

BEFORE = json.loads(Path(__file__).with_name("cli_before.json").read_text())


def options_of(name: str) -> dict[str, Any]:
    verb = verbs.by_name(name)
    assert verb, name
    return {
        word: option
        for option in verb.options
        if not option.only or name in option.only
        for word in option.names
    }


def test_the_table_is_complete():
    assert len(BEFORE["verbs"]) == 19
    assert len(BEFORE["ansible_options"]) == 38


@pytest.mark.parametrize("name", BEFORE["verbs"])
def test_every_option_is_still_there(name):
    before = BEFORE["verbs"][name]
    now = options_of(name)
    own = before["options"] + (BEFORE["ansible_options"] if before["contacts_hosts"] else [])
    for option in own:
        for word in option["names"]:
            assert (now[word].value is not None) == option["value"], word
            assert set(now[word].choices) >= set(option["choices"]), word
