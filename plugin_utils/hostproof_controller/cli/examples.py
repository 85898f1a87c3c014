# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in the help of commands."""

#: One example for the help of each command, without ``./hostproof``.
OF_COMMANDS = {
    "audit": "audit -i inventories/mine --become --limit db01.example.com",
    "record": "record -i inventories/mine --become",
    "detect-storage": "detect-storage -i inventories/mine",
    "latency baseline": "latency baseline -i inventories/mine --become",
    "latency compare": "latency compare -i inventories/mine --become --baseline baselines/RUN",
    "report": "report reports/RUN --format csv",
    "read": "read iostat.txt",
    "import-results": "import-results --from cvu cvu.txt --out reports/cvu",
    "checks": "checks --set preinstall",
    "explain": "explain hugepages.pool_covers_sga",
    "init": "init --out inventories/mine --profile oracle_19c_single",
    "apply": "apply -i inventories/mine --tags hugepages --check --diff",
    "verify": "verify -i inventories/mine --become",
    "revert": "revert -i inventories/mine --check --diff",
    "waive": "waive hugepages.shm_group --host db03.example.com --until 2027-06-30 "
    "--owner 'Dana Admin' --reason CHG-1042",
    "compare": "compare db01.example.com db02.example.com",
    "diff": "diff reports/BEFORE reports/AFTER",
    "history": "history --html trend.html",
    "catalogue": "catalogue diff ../hostproof-0.2.0",
    "schedule": "schedule --on-calendar daily --keep 30 -- -i inventories/mine",
    "notify": "notify --webhook-file /etc/hostproof/webhook",
    "prune": "prune --keep 30 --dry-run",
    "sign": "sign reports/RUN --key ~/.ssh/id_ed25519",
    "verify-report": "verify-report reports/RUN --allowed-signers signers",
    "config": "config",
    "completion": "completion bash",
    "build-collection": "build-collection --out dist",
    "test": "test --quick",
    "help": "help audit",
}
