# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules that ufw loads at boot (ufw-framework(8)): files in the form of iptables-save."""

import re
from typing import Dict, List, Optional

from ....collect.answer import attempt, known, unless_absent
from ....collect.host import Host
from ....errors import Unanswered
from ..parsers import iptables_save
from ..parsers.packets import ACCEPT, DROP, Chain, Rule, Tables

_CONF, _DEFAULTS = "/etc/ufw/ufw.conf", "/etc/default/ufw"
_FILES = ("/etc/ufw/before.rules", "/etc/ufw/user.rules", "/etc/ufw/after.rules")
_SCRIPTS = ("/etc/ufw/before.init", "/etc/ufw/after.init")
#: The chains that ufw-init calls, in order, from each chain of the kernel.
_CALLED = ("before-logging", "before", "after", "after-logging", "reject", "track")


def read(host: Host) -> Optional[Tables]:
    """None if ufw is disabled in its file: then the unit loads nothing."""
    enabled = _setting(host, _CONF, "ENABLED") or "no"
    if enabled.lower() != "yes":
        return None
    chains: Dict[str, Chain] = {}
    others: Tables = {}
    for path in _FILES:
        for (_family, table), more in iptables_save.parse(host.read_text(path)).items():
            if table != "filter":
                others["ufw", f"{table} of {path}"] = more
                continue
            for name, chain in more.items():
                rules = chains[name].rules if name in chains else ()
                chains[name] = chain._replace(rules=(*rules, *chain.rules))
    for hook in ("input", "output"):
        _add_calls(chains, hook, _policy(host, hook))
    return {("ufw", "filter"): _with_logging(chains), **others}


def _policy(host: Host, hook: str) -> str:
    word = (_setting(host, _DEFAULTS, f"DEFAULT_{hook.upper()}_POLICY") or "").upper()
    if word not in ("ACCEPT", "DROP", "REJECT"):
        raise Unanswered("file:" + _DEFAULTS, f"{_DEFAULTS} states no policy for {hook}")
    return ACCEPT if word == "ACCEPT" else DROP


def _add_calls(chains: Dict[str, Chain], hook: str, policy: str) -> None:
    """ufw-init adds them after the files."""
    before, user = f"ufw-before-{hook}", f"ufw-user-{hook}"
    if before in chains and user in chains:
        call = Rule((), "jump", user)
        chains[before] = chains[before]._replace(rules=(*chains[before].rules, call))
    names = [f"ufw-{name}-{hook}" for name in _CALLED]
    rules = tuple(Rule((), "jump", name) for name in names if name in chains)
    chains[hook.upper()] = Chain(hook.upper(), hook, policy, rules)
    skip = f"ufw-skip-to-policy-{hook}"
    chains[skip] = Chain(skip, "", DROP, (Rule((), policy),))


def _with_logging(chains: Dict[str, Chain]) -> Dict[str, Chain]:
    """ufw-init makes chains that only log, if the files do not have them."""
    logging: List[str] = [
        rule.target
        for chain in chains.values()
        for rule in chain.rules
        if rule.target.startswith("ufw-logging-") or "-logging-" in rule.target
    ]
    return {**{name: Chain(name, "", DROP, ()) for name in logging}, **chains}


def _setting(host: Host, path: str, name: str) -> Optional[str]:
    text = str(unless_absent(attempt(host.read_text, path), ""))
    values = re.findall(rf"^[ \t]*{name}=[\"']?(\w+)", text, re.MULTILINE)
    return values[-1] if values else None


def scripts(host: Host) -> List[str]:
    """Scripts of the administrator that ufw runs: those that are executable."""
    return [
        path
        for path in _SCRIPTS
        for stat in [unless_absent(attempt(host.stat, path), None)]
        if stat is not None and known(stat).mode & 0o111
    ]
