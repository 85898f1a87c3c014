# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of a report that mount one NFS export of datafiles, from findings alone.

Each host reports what it mounts and how (nfs_mounts.shared_export). A host cannot know who else
mounts the export: with local locks or cached attributes each of them may open the same database.
Hosts of a failover pair must be equal, too: mount options, login limits and huge pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.cluster_nodes import rules_traits
from ansible.module_utils.hostproof.controls.nfs_mounts import rules_locks
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, make_finding

from .comparison import differences
from .nodes import SHARED_EXPORT, State

#: Characters of an address, a path or options. A host can report any others.
_NO_TEXT = re.compile(r"[^A-Za-z0-9._:/=, -]")
_LONGEST = 300

_POOL = "hugepages.pool_persisted"
_LIMITS = "process_limits.login"
_FAILOVER = "failover"
#: Hosts that are named in a sentence.
_FEW = 4

_TEXTS = ("server", "export", "use", "locks", "attributes", "options")


class User(NamedTuple):
    """A host that mounts an export. ``server`` is a name, ``address`` None where it is not shown.

    ``pool`` is huge pages after a reboot, ``limits`` by account and item; None where they are
    unknown.
    """

    host: str
    server: str
    address: str | None
    use: str
    locks: str
    attributes: str
    options: str
    pool: int | None
    limits: dict[str, str] | None


class Export(NamedTuple):
    """``name`` is server:/path, as the first host names the server."""

    name: str
    users: list[User]


def exports_of(states: Iterable[State]) -> list[Export]:
    """The exports that two hosts or more mount, by name.

    Servers are one where an address or a name is the same.
    """
    by_path: dict[str, list[list[User]]] = {}
    for state in states:
        for finding in state.findings:
            if finding["check"] == SHARED_EXPORT and finding["values"]:
                path = _plain(finding["values"].get("export"))
                _add(by_path.setdefault(path, []), _user(state, finding["values"]))
    shared = []
    for path, groups in by_path.items():
        for group in groups:
            users = sorted(group, key=lambda user: user.host)
            if len({user.host for user in users}) > 1:
                shared.append(Export(f"{users[0].server}:{path}", users))
    return sorted(shared, key=lambda export: export.name)


def _add(groups: list[list[User]], user: User) -> None:
    same = [group for group in groups if any(_is_one(user, other) for other in group)]
    joined = [user, *(other for group in same for other in group)]
    groups[:] = [group for group in groups if group not in same] + [joined]


def _is_one(user: User, other: User) -> bool:
    return user.server == other.server or (
        user.address is not None and user.address == other.address
    )


def _user(state: State, values: dict[str, Any]) -> User:
    texts = {name: _plain(values.get(name)) for name in _TEXTS if name != "export"}
    address = values.get("address")
    return User(
        host=state.name,
        address=_plain(address) if address else None,
        pool=_pool_of(state),
        limits=_limits_of(state),
        **texts,
    )


def _plain(value: object) -> str:
    return _NO_TEXT.sub("?", str(value))[:_LONGEST]


def _pool_of(state: State) -> int | None:
    for finding in state.findings:
        if finding["check"] == _POOL and finding["values"]:
            pages = finding["values"].get("next_boot")
            return pages if isinstance(pages, int) and not isinstance(pages, bool) else None
    return None


def _limits_of(state: State) -> dict[str, str] | None:
    """By account and item, which begin the title."""
    limits = {
        finding["title"].partition(":")[0]: "soft {soft}, hard {hard}".format(**finding["values"])
        for finding in state.findings
        if finding["check"] == _LIMITS and {"soft", "hard"} <= set(finding["values"] or ())
    }
    return limits or None


def findings_on(export: Export) -> list[dict[str, Any]]:
    """The findings on an export, as a line of findings.jsonl has them."""
    findings = [_locks(export)]
    if any(user.use == _FAILOVER for user in export.users):
        findings += _pair(export.users)
    return findings


def _named(hosts: Iterable[str]) -> str:
    """All of a few hosts; of many the first ones and their number."""
    names = list(dict.fromkeys(hosts))
    if len(names) <= _FEW:
        return ", ".join(names)
    return f"{', '.join(names[: _FEW - 1])} and {len(names) - _FEW + 1} more hosts"


def _states(users: Iterable[User]) -> str:
    """The states of an export on its hosts, equal ones together: "33 hosts: ..."."""
    hosts: dict[str, list[str]] = {}
    for user in users:
        state = f"{user.locks} locks, attributes {user.attributes}, sharing {user.use}"
        hosts.setdefault(state, []).append(user.host)
    return "; ".join(
        f"{_named(names) if len(names) <= _FEW else f'{len(names)} hosts'}: {state}"
        for state, names in sorted(hosts.items(), key=lambda entry: -len(entry[1]))
    )


def _why_not_shared(users: Sequence[User], apart: bool) -> list[str]:
    local = [user.host for user in users if user.locks == "local"]
    cached = [user.host for user in users if user.attributes == "cached" and not apart]
    why = []
    if local:
        uses = "uses" if len(local) == 1 else "use"
        why.append(f"{_named(local)} {uses} local locks, which no other host sees.")
    if cached:
        why.append(f"{_named(cached)} cache{'s' * (len(cached) == 1)} attributes.")
    return why


def _locks(export: Export) -> dict[str, Any]:
    users = export.users
    # Hosts that never use the files at once need no view of each other's attributes.
    apart = all(user.use == _FAILOVER for user in users)
    unclear = [
        user.host
        for user in users
        if user.locks not in ("local", "server") or user.attributes not in ("cached", "not cached")
    ]
    seen = _named(user.host for user in users)
    why = _why_not_shared(users, apart)
    status = FAIL if why else PASS
    if unclear and not why:
        status = ERROR
        why.append(f"Locks and attributes of {_named(unclear)} are unknown.")
    if status == FAIL:
        why.append(f"{export.name} is mounted by {seen}. {rules_locks.shared_export.check.why}")
    return make_finding(
        rules_locks.shared_export.check,
        status,
        why=" ".join(why) or None,
        fix="mount it on one host only; or remove nolock and local_lock, and set noac (Linux: "
        "actimeo=0) unless the hosts are a failover pair (sharing: failover in nfs_mounts_mounts)",
        desired="locks on the server" + ("" if apart else ", attributes not cached"),
        running=_states(users),
        values={user.host: user.locks for user in users},
    ).as_dict()


def _pair(users: list[User]) -> list[dict[str, Any]]:
    """Differences between the hosts of a failover pair, and values that one of them lacks.

    A value that all of them lack is of a control that did not run.
    """
    check = rules_traits.check_results.check
    findings = differences(check, "mount options", {user.host: user.options for user in users})
    pools = {user.host: user.pool for user in users}
    if any(pages is not None for pages in pools.values()):
        findings += differences(rules_traits.huge_pages.check, "huge_pages", pools)
    for name in dict.fromkeys(name for user in users for name in user.limits or ()):
        by_host = {user.host: (user.limits or {}).get(name) for user in users}
        findings += differences(check, f"limit {name}", by_host)
    return findings
