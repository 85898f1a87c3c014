# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof init``: a first policy from what runs on a host, to be read and corrected.

Answers of a host become text of an inventory, where Ansible evaluates templates. A name that could
be a template, or that contains unprintable characters, is omitted.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import yaml
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.answer import attempt, if_known
from ansible.module_utils.hostproof.collect.host import Host, RecordedHost
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.probes.net import network_interfaces
from ansible.module_utils.hostproof.probes.nfs import nfs_mounted
from ansible.module_utils.hostproof.probes.oracle import instances, listeners

from ..host_names import RULE, is_host_name
from ..policies import controls
from ..report.render import write_private
from ..report.text import one_line
from ..targets import PROFILE
from . import options, terminal
from .ansible_options import AnsibleOptions
from .errors import Refused
from .play import Play

GROUP = "databases"
#: Controls that are recorded by default: those that a policy is written for.
READ = ("flow_control", "hugepages", "listener_rate_limit", "nfs_mounts")

_TEMPLATE = ("{{", "{%", "{#")
#: Content of a mount, guessed from its path; the user corrects it in the file.
_CLASSES = (
    (r"redo|/onlinelog", "redo"),
    (r"backup|rman|dpump|/exp|/fra\b|flash|recovery|arch", "backup"),
    (r"vot|ocr|crs", "crs_voting"),
    (r"diag|/adr", "adr"),
    (r"home|product|/app\b", "oracle_home"),
    (r"oradata|data|dbf", "datafiles"),
)
#: Mounts that Oracle has by custom; any other is only named in a comment.
_ORACLE = re.compile(r"^/u\d\d\b|ora|redo|rman|asm|crs|/fra\b", re.IGNORECASE)


class Part(NamedTuple):
    """The policy of one control: ``variables`` that hold, and lines of comment around them."""

    control: str
    notes: list[str]
    variables: dict[str, Any]
    examples: list[str]


@options.command("init", hosts=True)
@click.option(
    "--out",
    metavar="DIR",
    type=options.NEW_DIRECTORY,
    required=True,
    help="new directory for the inventory, for example inventories/mine",
)
@click.option(
    "--evidence",
    metavar="FILE",
    type=click.Path(),
    help="read this evidence pack instead of a host",
)
@options.with_profile
def command(ansible: AnsibleOptions, out: str, evidence: str | None, profile: str | None) -> int:
    """Reads one host and writes an inventory with its instances and mounts.

    The host is this machine, unless -i and --limit select another. Comments describe its listeners
    and links. It never overwrites files.
    """
    if os.path.lexists(out):
        raise Refused(f"{out} exists already; init overwrites nothing")
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        if evidence is None:
            code = _record(ansible, folder, profile)
            if code:
                return code
        name, host = _the_host(evidence or folder)
        parts = list(parts_of(host))
    is_here = evidence is None and not ansible.has("inventory")
    _write(out, name, parts, is_here, profile)
    if profile is not None:
        terminal.say(f"{out}/group_vars/{GROUP}/{PROFILE}.yml: {PROFILE}")
    for part in parts:
        names = ", ".join(part.variables) or "nothing but comments"
        terminal.say(f"{out}/group_vars/{GROUP}/{part.control}.yml: {names}")
    terminal.say(f"\nRead them, correct them, then: ./hostproof audit -i {out} --become")
    return 0


def _record(ansible: AnsibleOptions, folder: str, profile: str | None) -> int:
    """Record the host as ``record`` does, quickly: without sampling windows and logins."""
    variables = {"hostproof_window_seconds": 0, "hugepages_query_instances": False}
    ansible = ansible.replaced(
        extra_vars=(*ansible.all("extra_vars"), json.dumps(variables)),
        tags=ansible.all("tags") or READ,
    )
    os.environ["HOSTPROOF_RECORDS"] = folder
    return Play("record", ansible, quiet=True, profile=profile).run()


def _the_host(source: str) -> tuple[str, Host]:
    """Name and readings of the one host of a pack, or of a directory of packs."""
    path = Path(source)
    packs = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if len(packs) != 1:
        names = ", ".join(one_line(pack.stem) for pack in packs[:10]) or "none"
        raise Refused(f"init needs exactly one host, found: {names}; use --limit NAME")
    if not is_host_name(packs[0].stem):
        raise Refused(
            f"{one_line(str(packs[0]))}: a pack is named as its host: a host's name is {RULE}"
        )
    return packs[0].stem, RecordedHost(*evidence.open_pack(str(packs[0])))


def parts_of(host: Host) -> Iterator[Part]:
    """The running configuration as policies; each is valid for its control."""
    for part in (_instances(host), _mounts(host), _listeners(host), _links(host)):
        yield _accepted(part)


def _accepted(part: Part) -> Part:
    """The part, without variables where the control rejects them."""
    role = controls()[part.control]
    values = {
        field: part.variables.get(role.variable(field), role.defaults[field])
        for field in role.fields
    }
    try:
        CONTROLS[part.control].policy_from(values)
    except HostproofError as problem:
        note = f"Omitted, because the policy would be rejected: {one_line(str(problem))}"
        return part._replace(variables={}, notes=[*part.notes, note])
    return part


def _safe(*texts: str) -> bool:
    """Whether these may be in a variable: Ansible would answer what looks like a template."""
    return all(
        text.isprintable() and not any(mark in text for mark in _TEMPLATE) and len(text) < 1000
        for text in texts
    )


def _why_left_out(instance: instances.Instance) -> str:
    if not _safe(instance.sid):
        return f"Left out for its name: {one_line(ascii(instance.sid))}"
    why = one_line(str(instance.segments)) if instance.segments else "none was found"
    return f"Left out: the SGA of {one_line(instance.sid)} could not be read ({why})"


def _instances(host: Host) -> Part:
    answer = attempt(instances.find_instances, host)
    notes: list[str] = []
    if not isinstance(answer, list):
        return Part("hugepages", [f"Instances are not known: {one_line(str(answer))}"], {}, [])
    listed, users = [], []
    for instance in answer:
        sizes = if_known(instance.segments, [])
        if not _safe(instance.sid) or not sizes:
            notes.append(_why_left_out(instance))
            continue
        listed.append({"sid": instance.sid, "sga": size_text(sum(part.size for part in sizes))})
        user = if_known(instance.user, None)
        if isinstance(user, str) and _safe(user) and user not in users:
            users.append(user)
    variables: dict[str, Any] = {}
    if listed:
        notes.append("Running instances with their memory. sga is the larger of")
        notes.append("SGA_MAX_SIZE and SGA_TARGET; version: 19 tells the release.")
        variables["hugepages_instances"] = sorted(listed, key=lambda entry: str(entry["sid"]))
    if users:
        variables["hugepages_users"] = sorted(users)
    if not answer:
        notes.append("No instance runs: without a list what runs, and what oratab has, counts.")
    return Part("hugepages", notes, variables, ["hugepages_group: oinstall"])


def size_text(size: int) -> str:
    """Bytes as a policy has them, exactly."""
    for power, unit in ((3, "G"), (2, "M"), (1, "K")):
        if size and size % 1024**power == 0:
            return f"{size // 1024**power}{unit}"
    return str(size)


def _mounts(host: Host) -> Part:
    system = attempt(nfs_mounted.read_system, host)
    mounts = attempt(lambda: nfs_mounted.read_mounted(host, if_known(system, "")))
    if not isinstance(mounts, list):
        return Part("nfs_mounts", [f"Mounts are not known: {one_line(str(mounts))}"], {}, [])
    notes, entries = [], {}
    for mount in mounts:
        if not _safe(mount.path, mount.source) or ":" not in mount.source:
            notes.append(f"Left out for its name: {one_line(ascii(mount.path))}")
        elif not _ORACLE.search(mount.path):
            notes.append(f"Left out, if it holds no files of Oracle: {one_line(mount.path)}")
        else:
            entries[mount.path] = {
                "path": mount.path,
                "source": mount.source,
                "class": class_of(mount.path),
            }
    variables: dict[str, Any] = {}
    if entries:
        notes.append("What is mounted now. The class is a guess by the path: correct it, for the")
        notes.append(
            "options follow from it (datafiles, redo, oracle_home, crs_voting, adr, backup)."
        )
        variables["nfs_mounts_mounts"] = [entries[path] for path in sorted(entries)]
    if not mounts:
        notes.append("Nothing is mounted over NFS.")
    return Part(
        "nfs_mounts", notes, variables, ["nfs_mounts_sharing: single", 'nfs_mounts_version: "3"']
    )


def class_of(path: str) -> str:
    return next((name for mark, name in _CLASSES if re.search(mark, path.lower())), "datafiles")


def _listeners(host: Host) -> Part:
    answer = attempt(listeners.read_listeners, host)
    if not isinstance(answer, list):
        why = f"Listeners are not known: {one_line(str(answer))}"
        return Part("listener_rate_limit", [why], {}, [])
    notes = [
        "Choose the rate: without a list, running listeners are checked with the settings of",
        "their file, and nothing is changed. Running listeners:",
    ]
    notes += [f"  {one_line(entry.name)} of {one_line(entry.home)}" for entry in answer] or [
        "  none"
    ]
    examples = ["listener_rate_limit_listeners:"] if answer else []
    for listener in answer:
        if _safe(listener.name):
            examples.append(
                f"  - {{name: {json.dumps(listener.name, ensure_ascii=False)}, rate: 20}}"
            )
    return Part("listener_rate_limit", notes, {}, examples)


def _links(host: Host) -> Part:
    interfaces = attempt(lambda: network_interfaces.read_interfaces(host, None))
    if not isinstance(interfaces, network_interfaces.Interfaces):
        return Part("flow_control", [f"Links are not known: {one_line(str(interfaces))}"], {}, [])
    notes = [
        "Without a rule, links to storage and the interconnect are checked, and nothing "
        "is changed.",
        "These lead somewhere:",
    ]
    seen = [
        f"  {one_line(path.role)}: {one_line(', '.join(path.nics))} ({one_line(path.what)})"
        for path in interfaces.paths
    ]
    examples = [
        "flow_control_rules:",
        '  - {role: storage, rx: "on", tx: "off"}',
        '  - {role: interconnect, rx: keep, tx: "off"}',
    ]
    return Part("flow_control", notes + (seen or ["  none"]), {}, examples)


def _write(out: str, name: str, parts: list[Part], is_here: bool, profile: str | None) -> None:
    texts = {f"group_vars/{GROUP}/{part.control}.yml": text_of(part, name) for part in parts}
    if profile is not None:
        texts[f"group_vars/{GROUP}/{PROFILE}.yml"] = (
            "---\n# The purpose of these hosts. ./hostproof checks --profile NAME lists what it "
            f"requires.\n{PROFILE}: {profile}\n"
        )
    host: dict[str, Any] = {}
    if is_here:
        host = {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        }
    hosts = {"all": {"children": {GROUP: {"hosts": {name: host}}}}}
    head = "---\n# The host that ./hostproof init read."
    head += "\n" if is_here else " Set the connection: ansible_host, ansible_user.\n"
    texts["hosts.yml"] = head + yaml.safe_dump(hosts, sort_keys=False)
    try:
        os.makedirs(os.path.join(out, "group_vars", GROUP), mode=0o700)
    except OSError as problem:
        raise Refused(f"--out: {problem.filename}: {problem.strerror}") from problem
    for path, text in texts.items():
        write_private(os.path.join(out, path), text)


def text_of(part: Part, name: str) -> str:
    """The file of one control: comments, what holds, and what could."""
    lines = [
        "---",
        f"# The policy of the control {part.control}, from what ran on {one_line(name)}.",
        f"# All variables: roles/{part.control}/README.md",
        "",
        *(f"# {note}".rstrip() for note in part.notes),
    ]
    for variable, value in part.variables.items():
        lines.append(f"{variable}:")
        lines += [f"  - {_flow(item)}" for item in value]
    if part.examples:
        lines += ["", "# Yours to decide:", *(f"# {example}" for example in part.examples)]
    return "\n".join(lines) + "\n"


def _flow(value: object) -> str:
    """One line of YAML: JSON is YAML, and whatever is in a text stays text."""
    return json.dumps(value, ensure_ascii=False)
