"""Seeds the faults of the NFS story on the lab's machine, to look at them as a user would.

    tests/run_lab --keep
    .venv-dev/bin/python molecule/lab/seed_nfs_faults.py seed
    ./hostproof verify -i inventories/lab --tags nfs_mounts -e @.cache/machines/lab/nfs_faults.json
    .venv-dev/bin/python molecule/lab/seed_nfs_faults.py heal

The JSON file is the policy: nfs_mounts_mounts with a mount for each fault.
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "molecule/lab/tests")]

import nfs_faults  # noqa: E402
from machines import vm  # noqa: E402
from nfs_lab import NfsLab  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="The faults of the NFS story.")
    parser.add_argument("action", choices=("seed", "heal"))
    if parser.parse_args().action == "heal":
        nfs_faults.heal(NfsLab())
        return
    nfs_faults.seed(NfsLab())
    policy = vm.FOLDER / "nfs_faults.json"
    policy.write_text(json.dumps({"nfs_mounts_mounts": nfs_faults.wanted()}, indent=2) + "\n")
    print(f"./hostproof verify -i inventories/lab --tags nfs_mounts -e @{policy}")


if __name__ == "__main__":
    main()
