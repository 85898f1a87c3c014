# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounts of passwd(5) that share a uid with another account."""

from typing import Dict, List, Mapping


def parse(text: str, others: Mapping[str, int]) -> Dict[int, List[str]]:
    """Their names by uid. Lines that name no uid, such as "+" of NIS, do not count.

    ``others`` are accounts that may be in a directory service, with their uids."""
    names: Dict[int, List[str]] = {}
    for line in text.split("\n"):
        fields = line.split(":")
        if len(fields) < 4 or fields[0][:1] in ("+", "-", "#", ""):
            continue
        if fields[2].isdecimal() and len(fields[2]) <= 10:
            names.setdefault(int(fields[2]), []).append(fields[0])
    for name, uid in others.items():
        if name not in names.setdefault(uid, []):
            names[uid].append(name)
    return {uid: accounts for uid, accounts in names.items() if len(accounts) > 1}


def kept(text: str, others: Mapping[str, int]) -> str:
    """Lines to record: only names and uids of those accounts."""
    return "\n".join(
        f"{name}::{uid}:" for uid, accounts in parse(text, others).items() for name in accounts
    )
