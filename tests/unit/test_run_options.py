"""Printed commands repeat the options of the run, and never print a secret."""

import shlex
import subprocess

import pytest
from ansible import context
from ansible.utils.context_objects import CLIArgs
from cases import cases
from hostproof_controller import commands, policies, run_options, selection
from hostproof_controller.layout import ROOT


@pytest.fixture
def options_of(monkeypatch):
    def read(**given):
        monkeypatch.setattr(context, "CLIARGS", CLIArgs({"inventory": (), **given}))
        run_options.without_inventories.cache_clear()
        run = run_options.of_run()
        line = f"./hostproof apply --tags hugepages {run}".strip() + " --limit db01"
        assert commands.is_own(line), line
        return run

    yield read
    run_options.without_inventories.cache_clear()


PACKS = '{"hostproof_evidence_folder": "/p", "ansible_connection": "local"}'


@cases(
    "given expected",
    ({}, ""),
    ({"inventory": (str(ROOT / "inventories/local"),)}, ""),
    ({"inventory": ("a b", "prod")}, "-i 'a b' -i prod"),
    (
        {"extra_vars": ("hostproof_profile=oracle_19c_rac",)},
        "-e hostproof_profile=oracle_19c_rac",
    ),
    ({"extra_vars": ('{"space_limit": [1, "x y"]}',)}, """-e '{"space_limit": [1, "x y"]}'"""),
    ({"extra_vars": ("@site/vars.yml",)}, "-e @site/vars.yml"),
    # The options that a command adds for one run are not repeated.
    ({"extra_vars": ('{"hostproof_checks": "a.b"}', "x=1")}, "-e x=1"),
    ({"extra_vars": (PACKS, "x=1")}, "-e x=1"),
    (
        {"extra_vars": ('{"ansible_connection": "local"}',)},
        """-e '{"ansible_connection": "local"}'""",
    ),
    # A secret keeps its name, and the values next to it are repeated.
    (
        {"extra_vars": ("ansible_password=hunter2 x=1",)},
        """-e "ansible_password=${ansible_password:?}" -e '{"x": "1"}'""",
    ),
    ({"extra_vars": ('{"app": {"db_password": "hunter2"}}',)}, '-e "app=${app:?}"'),
    ({"extra_vars": ("a='x\ny'",)}, """-e '{"a": "x\\ny"}'"""),
    ({"extra_vars": ("{a: !vault x}",)}, ""),
    (
        {"become": True, "become_ask_pass": True, "become_user": "adm"},
        "--become -K --become-user adm",
    ),
    ({"remote_user": "oper", "private_key_file": "k y"}, "-u oper --private-key 'k y'"),
    ({"vault_ids": ("prod@prompt",)}, "--vault-id prod@prompt"),
)
def test_a_printed_command_repeats_the_run(options_of, given, expected):
    printed = options_of(**given)
    assert printed == expected
    assert "hunter2" not in printed


def test_no_printed_command_selects_checks():
    names = {selection.CHECKS, selection.SKIPPED, selection.SET}
    assert names <= run_options._OF_ONE_RUN


def test_every_variable_with_no_log_is_secret(options_of):
    names = [
        control.variable(field)
        for control in policies.controls().values()
        for field, option in control.options.items()
        if option.get("no_log")
    ]
    assert names
    for name in names:
        assert options_of(extra_vars=(f"{name}=hunter2",)) == f'-e "{name}=${{{name}:?}}"'


def test_a_shell_rejects_a_secret_that_it_does_not_have(options_of):
    options = options_of(extra_vars=("ansible_password=hunter2",))
    done = subprocess.run(["sh", "-c", f"printf %s {options}"], capture_output=True, text=True)
    assert done.returncode != 0 and "ansible_password" in done.stderr and done.stdout == ""
    done = subprocess.run(
        ["sh", "-c", f"ansible_password='a b'; printf '%s\\n' {options}"],
        capture_output=True,
        text=True,
    )
    assert shlex.join(done.stdout.splitlines()) == "-e 'ansible_password=a b'"
