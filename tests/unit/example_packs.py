"""The example packs of docs/examples/evidence, and the policies that they are judged with."""

from typing import Any

import aix_packs
import io_packs
import latency_packs
import listener_packs
import nfs_packs
import nic_packs
import oracle_packs
import packs
from default_policies import default_policy
from snmp_agents import storage_policy

FOLDER = packs.ROOT / "docs/examples/evidence"
AIX = "db06.example.com"


def policies() -> dict[str, Any]:
    """Of every control, as the role's defaults are."""
    return {
        "accounts": default_policy("accounts"),
        "async_io": io_packs.policy(),
        "block_devices": default_policy("block_devices"),
        "firewall": default_policy("firewall"),
        "flow_control": nic_packs.policy(),
        "hugepages": packs.hugepages_policy(),
        "interconnect": default_policy("interconnect"),
        "io_pacing": aix_packs.io_pacing_policy(),
        "kernel_parameters": default_policy("kernel_parameters"),
        "latency": latency_packs.latency_policy(),
        "listener_rate_limit": listener_packs.listener_policy(),
        "memory_pressure": default_policy("memory_pressure"),
        "name_resolution": default_policy("name_resolution"),
        "nfs_mounts": nfs_packs.nfs_policy(),
        "packages": default_policy("packages"),
        "platform": default_policy("platform"),
        "pool_validation": default_policy("pool_validation"),
        "pre_page_sga": oracle_packs.policy(),
        "process_limits": default_policy("process_limits"),
        "space": default_policy("space"),
        "storage_type": storage_policy(),
        "time_sync": default_policy("time_sync"),
    }
