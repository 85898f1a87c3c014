# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of this run as a printed command repeats them: -i, -e, --become and the like.

A printed command without them would act on other hosts or with another policy. A secret is never
printed: a file of variables keeps its path, and the value of a secret variable becomes a reference
to a shell variable of the same name. A shell without that variable rejects the command.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
from collections.abc import Container, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from ansible.module_utils.hostproof.collect.masking import masked_value, names_a_secret

from . import runs
from .layout import ROOT

#: Inventories that are read if none is named.
_DEFAULT_INVENTORIES = frozenset(
    str(ROOT / "inventories" / name) for name in ("local", "evidence.py")
)
#: Variables that a command adds for one run. A printed command names its own controls.
_OF_ONE_RUN = frozenset(
    (
        *("hostproof_checks", "hostproof_skip_checks", "hostproof_set"),
        *("hostproof_waivers", "hostproof_baseline", "hostproof_strict", "hostproof_gate"),
        *("hostproof_evidence", "hostproof_evidence_folder"),
    )
)
#: Variables with which the evidence of packs is read on the controller.
_OF_EVIDENCE = frozenset(
    ("ansible_connection", "ansible_become", "ansible_python_interpreter", *_OF_ONE_RUN)
)

#: Ansible's destinations with the option, and the setting that gives the default.
_WITH_VALUE = {
    "remote_user": ("-u", "DEFAULT_REMOTE_USER"),
    "connection": ("-c", "DEFAULT_TRANSPORT"),
    "private_key_file": ("--private-key", "DEFAULT_PRIVATE_KEY_FILE"),
    "ssh_common_args": ("--ssh-common-args", ""),
    "ssh_extra_args": ("--ssh-extra-args", ""),
    "connection_password_file": ("--connection-password-file", "CONNECTION_PASSWORD_FILE"),
    "become_method": ("--become-method", "DEFAULT_BECOME_METHOD"),
    "become_user": ("--become-user", ""),
    "become_password_file": ("--become-password-file", "BECOME_PASSWORD_FILE"),
}
_FLAGS = {
    "become": "--become",
    "ask_pass": "-k",
    "become_ask_pass": "-K",
    "ask_vault_pass": "--ask-vault-password",
}
_LISTS = {"vault_ids": "--vault-id", "vault_password_files": "--vault-password-file"}

#: Original files of variables of a slice, one per line: the job has copies of them.
VARIABLE_FILES = "HOSTPROOF_VARIABLE_FILES"
_COPY_OF_SLICE = re.compile(r"@slice/variables-([0-9]+)\Z")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def of_inventories(sources: Sequence[str]) -> list[str]:
    """-i and the name of each inventory that a command must name, as a shell takes them."""
    return [f"-i {shlex.quote(name)}" for name in sources if name not in _DEFAULT_INVENTORIES]


def is_a_run() -> bool:
    """Whether this process runs a playbook: a stored report does not say how it was made."""
    from ansible.context import CLIARGS

    return "inventory" in CLIARGS


def of_run() -> str:
    """All options of this run, in one line; empty outside of a run."""
    from ansible.context import CLIARGS

    inventories = runs.inventories(CLIARGS.get("inventory"))
    return " ".join([*of_inventories(inventories), *without_inventories()])


def prime() -> None:
    """Make the options that each worker repeats, before Ansible forks them."""
    if is_a_run():
        without_inventories()


@functools.cache
def without_inventories() -> tuple[str, ...]:
    """The options of this run but for -i and --limit, each as a shell takes it."""
    from ansible.context import CLIARGS

    constants = import_module("ansible.constants")

    options = list(_of_variables([str(raw) for raw in CLIARGS.get("extra_vars") or ()]))
    options += [option for name, option in _FLAGS.items() if CLIARGS.get(name)]
    for name, (option, setting) in _WITH_VALUE.items():
        value = CLIARGS.get(name)
        if value and value != getattr(constants, setting, None) and _is_shown("", value):
            options.append(f"{option} {shlex.quote(str(value))}")
    for name, option in _LISTS.items():
        options += [f"{option} {shlex.quote(str(value))}" for value in CLIARGS.get(name) or ()]
    return tuple(option for option in options if option.isprintable())


def _of_variables(extra: Sequence[str]) -> Iterator[str]:
    parsed = [(raw, _parsed(raw)) for raw in extra]
    reads_packs = any("hostproof_evidence_folder" in values for _, values in parsed)
    left_out = _OF_EVIDENCE if reads_packs else _OF_ONE_RUN
    for raw, values in parsed:
        if raw.startswith("@"):
            file = _file(raw)
            if file:
                yield f"-e {shlex.quote(file)}"
        elif values and raw.isprintable() and _repeats_as_it_is(values, left_out):
            yield f"-e {shlex.quote(raw)}"
        else:
            yield from _one_by_one(values, left_out)


def _one_by_one(values: Mapping[str, Any], left_out: Container[str]) -> Iterator[str]:
    for name, value in values.items():
        if name in left_out or not _NAME.match(name):
            continue
        if _is_shown(name, value):
            yield f"-e {shlex.quote(json.dumps({name: value}))}"
        else:
            yield f'-e "{name}=${{{name}:?}}"'


def _repeats_as_it_is(values: dict[str, Any], left_out: frozenset[str]) -> bool:
    return not left_out & values.keys() and all(_is_shown(*item) for item in values.items())


def _parsed(raw: str) -> dict[str, Any]:
    """The variables of one -e; none of a file or of what cannot be read."""
    from ansible.parsing.splitter import parse_kv

    text = raw.strip()
    try:
        if text[:1] in ("{", "["):
            import yaml

            values = yaml.safe_load(text)
        else:
            values = {} if text[:1] == "@" else parse_kv(text)
    except Exception:
        # Ansible has read it, possibly with a tag such as !vault: nothing of it is shown.
        return {}
    return {str(name): value for name, value in values.items()} if isinstance(values, dict) else {}


def _file(raw: str) -> str | None:
    """The file of variables, as its reader has it."""
    copy = _COPY_OF_SLICE.match(raw)
    if copy and os.environ.get(VARIABLE_FILES):
        return "@" + os.environ[VARIABLE_FILES].split("\n")[int(copy[1])]
    private = os.environ.get(runs.ARTIFACTS)
    # The directory of a job of ansible-runner ends with the job.
    return None if private and raw[1:].startswith(f"{private}/") else raw


def _is_shown(name: str, value: object) -> bool:
    """Whether the value holds no secret."""
    # The names of all variables with no_log name a secret.
    if names_a_secret(name):
        return False
    whole = {name: value} if name else str(value)
    return bool(masked_value("", whole) == whole)
