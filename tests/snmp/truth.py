#!/usr/bin/env python3
"""What every recorded agent of other projects is recognised as, beside what a reader finds in it.

    tests/snmp/truth.py [FOLDER]     (../shared/data/snmp unless a folder is given)

snmpsim serves the records, and net-snmp's tool asks them. Fails where a role is wrong, a value
is wrong, anything that is no storage is called storage, or less than 95 percent of the models,
versions or serial numbers is found.
"""

import os
import sys
import tempfile
from pathlib import Path

import ansible.module_utils

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/unit"))
ansible.module_utils.__path__.append(str(ROOT / "module_utils"))
if len(sys.argv) > 1:
    os.environ["HOSTPROOF_SNMP_DATA"] = str(Path(sys.argv[1]).resolve())

import agents  # noqa: E402
import storage_truth  # noqa: E402
from ansible.module_utils.hostproof.collect.host import LiveHost  # noqa: E402
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_agent  # noqa: E402
from ansible.module_utils.hostproof.snmp import tools as snmp  # noqa: E402

AT_ONCE = 4
LOWEST = 0.95


def main() -> int:
    if not storage_truth.DATA.is_dir():
        print(f"SKIPPED no recorded agents in {storage_truth.DATA}")
        print("truth: 0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            with agents.snmpsim(storage_truth.DATA, Path(folder, "cache")) as port:
                rows = {kind: look_at_all(kind, port) for kind in storage_truth.KINDS}
        except agents.Unavailable as reason:
            print(f"SKIPPED {reason}")
            print("truth: 0 passed, 0 failed, 1 skipped")
            return 0
    print(f"{'record':<36}{'role':<12}{'product':<33}{'model | version | serial':<48}verdict")
    faults = sum((say(kind, records) for kind, records in rows.items()), [])
    checks = sum(map(len, rows.values())) + len(storage_truth.PARTS)
    for fault in faults:
        print(f"FAILED {fault}")
    print(f"truth: {checks - len(faults)} passed, {len(faults)} failed, 0 skipped")
    return 1 if faults else 0


def look_at_all(kind: str, port: int) -> list[storage_truth.Row]:
    def look(path: Path) -> storage_truth.Row:
        # The community is the record's path, without its suffix.
        credentials = snmp.Credentials("2c", f"{kind}/{path.stem}")
        target = snmp.Target("127.0.0.1", port, credentials, 2, 2)
        return storage_truth.compare(kind, path, storage_agent.identify_agent(LiveHost(), target))

    return storage_agent.in_parallel(look, storage_truth.records(kind), AT_ONCE)


def say(kind: str, rows: list[storage_truth.Row]) -> list[str]:
    """Print the table of a folder and its sums, and return what is wrong."""
    for row in rows:
        print(row.text())
    right = sum(row.role_right for row in rows)
    print(f"== {kind}: role right {right} of {len(rows)}")
    faults = [f"{kind}/{row.name}: {row.storage.role}" for row in rows if not row.role_right]
    faults += [f"{kind}/{row.name}: wrong {', '.join(row.wrong)}" for row in rows if row.wrong]
    for part in storage_truth.PARTS:
        hits, expected = storage_truth.score(rows, part)
        if expected:
            wrong = sum(part in row.wrong for row in rows)
            print(f"== {kind}: {part} found {hits} of {expected}, wrong {wrong}")
            if hits < LOWEST * expected:
                faults.append(f"{kind}: {part} found in {hits} of {expected} records only")
    if kind != "storage":
        called = sum(row.storage.outcome == storage_agent.RECOGNISED for row in rows)
        print(f"== {kind}: called storage {called}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
