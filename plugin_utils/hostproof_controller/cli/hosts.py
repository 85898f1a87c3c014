# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of --limit that name no host of the inventory, and what they may have meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from ..layout import ROOT
from ..report.text import LISTS_HOSTS, as_typed
from .errors import Refused
from .suggestions import did_you_mean, quoted

#: Exit code of a run that is rejected because a hostname is misspelt.
EXIT_UNKNOWN_HOST = 64

#: What makes a word a pattern: no name was misspelt where one matches nothing.
_PATTERN = re.compile(r"[*?\[\]~@]")


def unknown_words(limit: str, names: Iterable[str], matches: Any) -> list[str]:
    """A sentence for each word of a limit that matches nothing.

    ``names`` are the hosts and groups, ``matches(word)`` says whether a pattern finds any host.
    """
    known = list(names)
    messages = []
    for raw in re.split(r"[,:](?![^\[]*\])", limit) if not limit.startswith("@") else []:
        word = raw.strip().lstrip("!&")
        # Colons in an IPv6 address are not separators.
        if not word or word in known or limit in known or _PATTERN.match(word):
            continue
        if not matches(word):
            hint = "" if _PATTERN.search(word) else did_you_mean(word, known, 0)
            messages.append(
                f"--limit: no host or group of the inventory is {quoted(word)}"
                f"{hint or f'; {as_typed(LISTS_HOSTS)} lists the hosts'}"
            )
    return messages


def why_no_host(sources: list[str], limit: str) -> list[str]:
    """Why a limit leaves no host of an inventory that is yet to be read; nothing where it does."""
    from ansible.errors import AnsibleError
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader

    try:
        inventory = InventoryManager(loader=DataLoader(), sources=sources)
        messages = unknown_of(inventory, limit)
        inventory.subset(limit)
        if messages or inventory.get_hosts("all"):
            return messages
    except (AnsibleError, OSError):
        # What is wrong with it Ansible has said already.
        return []
    return [f"--limit: {quoted(limit)} leaves no host; {as_typed(LISTS_HOSTS)} lists them all"]


def hosts_and_groups(sources: list[str], limit: str) -> tuple[list[str], dict[str, list[str]]]:
    """The hosts that a run over these inventories has, and those of each group; Refused if none."""
    # Its settings are those of the run, and are read with the first import.
    os.environ["ANSIBLE_CONFIG"] = str(ROOT / "ansible.cfg")
    from ansible.errors import AnsibleError
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader

    try:
        inventory = InventoryManager(loader=DataLoader(), sources=sources)
        for sentence in unknown_of(inventory, limit):
            raise Refused(sentence)
        inventory.subset(limit or None)
        hosts = [host.name for host in inventory.get_hosts("all")]
    except (AnsibleError, OSError) as problem:
        raise Refused(f"the inventory cannot be read: {problem}") from problem
    if not hosts:
        raise Refused("no host matches: nothing to split into slices")
    groups = {
        name: [host.name for host in group.get_hosts()]
        for name, group in inventory.groups.items()
        if name not in ("all", "ungrouped")
    }
    return hosts, groups


def unknown_of(inventory: Any, limit: str) -> list[str]:
    names = [*inventory.hosts, *inventory.groups, "all", "localhost"]
    return unknown_words(limit, names, inventory.get_hosts)
