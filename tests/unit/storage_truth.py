"""The recorded agents that other projects published, and what a reader finds in them.

They lie beside the checkout (``../shared/data/snmp``) or where HOSTPROOF_SNMP_DATA says, and are
not part of this project.
"""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_agent import Storage
from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_rules import STORAGE_ROLES

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("HOSTPROOF_SNMP_DATA") or ROOT.parent / "shared/data/snmp")
KINDS = ("storage", "negatives", "switches")
PARTS = ("model", "version", "serial")

#: Roles that are right for a class of truth.json.
ROLES = {
    "storage": ("nas", "san", "backup", "tape"),
    "raid": ("san",),
    "backup": ("backup",),
    "hci": ("nas", "san"),
    "san-switch": ("san_switch",),
}

#: Another name of the same thing, with the reason.
ALSO_RIGHT = {
    # The record has the text under an OID that already holds the number 118, and a server can
    # serve one of them. 118 is Brocade's type number of the 6505, which EMC sells as DS-6505B.
    ("fabos_2", "model"): "6505",
    # The reader left out the revision of the SCSI INQUIRY data, which is the controller firmware.
    ("netapp_e2700", "version"): "08.52",
}
#: What the truth names and the record does not: it says "not required" of it.
NOT_REQUIRED = {("dsm_ds916", "model")}


class Row(NamedTuple):
    name: str
    storage: Storage
    role_right: bool
    wanted: dict[str, Any]
    wrong: list[str]

    def text(self) -> str:
        storage = self.storage
        values = " | ".join(str(getattr(storage, part) or "-") for part in PARTS)
        faults = [] if self.role_right else ["ROLE"]
        faults += [f"{part}: {self.wanted[part]!r} is right" for part in self.wrong]
        product = " ".join(filter(None, (storage.vendor, storage.product)))
        verdict = "; ".join(faults) or "ok"
        return f"{self.name:<36}{storage.role:<12}{product[:32]:<33}{values:<48}{verdict}"


def records(kind: str) -> list[Path]:
    return sorted((DATA / kind).glob("*.snmprec"))


def truth(kind: str, name: str) -> dict[str, Any]:
    """What truth.json and truth_audit.json say of a record."""
    facts: dict[str, Any] = {}
    for file in ("truth.json", "truth_audit.json"):
        path = DATA / kind / file
        if path.exists():
            facts.update(json.loads(path.read_text()).get(name) or {})
    return facts


def compare(kind: str, path: Path, storage: Storage) -> Row:
    facts = truth(kind, path.stem)
    if kind != "storage":
        return Row(path.stem, storage, storage.role not in STORAGE_ROLES, {}, [])
    expected = {part: facts.get(part) for part in PARTS if (path.stem, part) not in NOT_REQUIRED}
    roles = ROLES.get(str(facts.get("class")).split("(")[0], STORAGE_ROLES)
    wrong = [
        part
        for part, value in expected.items()
        if getattr(storage, part) not in (None, value, ALSO_RIGHT.get((path.stem, part)))
    ]
    return Row(path.stem, storage, storage.role in roles, expected, wrong)


def score(rows: list[Row], part: str) -> tuple[int, int]:
    """How many of the values that a reader finds were found, and how many there are."""
    expected = [row for row in rows if row.wanted.get(part)]
    right = [row for row in expected if getattr(row.storage, part) and part not in row.wrong]
    return len(right), len(expected)
