"""The command line of release 0.1 keeps working: commands, options, arguments and exit codes.

cli_before.json was written from the private table of verbs that the command had before it became a
click group. A command that is removed or renamed on purpose changes that file in the same commit.
"""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from ansible.cli.playbook import PlaybookCLI
from cli_commands import commands, options_of

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

BEFORE = json.loads(Path(__file__).with_name("cli_before.json").read_text())


def ansible_options() -> list[dict[str, Any]]:
    """Those of the table that this ansible-core has: a newer one may have dropped an option."""
    playbook = PlaybookCLI(["ansible-playbook"])
    playbook.init_parser()
    known = {name for action in playbook.parser._actions for name in action.option_strings}
    return [
        {**option, "names": [name for name in option["names"] if name in known]}
        for option in BEFORE["ansible_options"]
    ]


def test_the_table_is_complete():
    assert len(BEFORE["verbs"]) == 19
    assert len(BEFORE["ansible_options"]) == 38
    assert sum(bool(option["names"]) for option in ansible_options()) >= 36


@pytest.mark.parametrize("name", BEFORE["verbs"])
def test_every_option_and_alias_is_still_there(name):
    before = BEFORE["verbs"][name]
    now = options_of(name)
    own = before["options"] + (ansible_options() if before["contacts_hosts"] else [])
    for option in own:
        for word in option["names"]:
            is_flag = now[word].is_flag or now[word].count
            assert is_flag != option["value"], word
            if option["choices"]:
                assert isinstance(now[word].type, click.Choice)
                assert list(now[word].type.choices) == option["choices"], word


@pytest.mark.parametrize("name", BEFORE["verbs"])
def test_it_takes_as_many_arguments(name):
    arguments = [param for param in commands()[name].params if isinstance(param, click.Argument)]
    least = sum(argument.required * abs(argument.nargs) for argument in arguments)
    endless = any(argument.nargs == -1 for argument in arguments)
    most = None if endless else sum(argument.nargs for argument in arguments)
    before = BEFORE["verbs"][name]["arguments"]
    assert least == sum(argument["least"] for argument in before)
    counts = [argument["most"] for argument in before]
    assert most == (None if None in counts else sum(counts))


@pytest.mark.parametrize("name", BEFORE["verbs"])
def test_its_exit_codes_are_the_same(name):
    added = {5} if 4 in commands()[name].exits and 3 in commands()[name].exits else set()
    assert set(commands()[name].exits) - added == set(BEFORE["verbs"][name]["exits"])


def test_every_value_arrives_under_the_name_that_the_command_expects():
    """A parameter that the function does not take would only fail when somebody uses it."""
    import inspect

    for name, command in commands().items():
        function = inspect.unwrap(command.callback)
        taken = inspect.signature(function).parameters
        if any(param.kind is param.VAR_KEYWORD for param in taken.values()) or name == "test":
            continue
        names = {param.name for param in command.params if param.expose_value}
        assert names <= set(taken), name
