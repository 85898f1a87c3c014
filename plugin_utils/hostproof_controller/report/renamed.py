# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check ids of release 0.1.0 that have another name today.

Reports and waiver files with old ids stay readable: a finding and a waiver get the id of today.
"""

import functools
from typing import Any

CHECKS = {
    "host.judged": "host.audited",
    "async_io.aio_room": "async_io.aio_usage",
    "async_io.limit_messages": "async_io.aio_refused",
    "async_io.nfs_silence": "async_io.nfs_not_responding",
    "block_devices.medium": "block_devices.disk_type",
    "cluster_nodes.verdicts": "cluster_nodes.check_results",
    "flow_control.half_duplex": "flow_control.full_duplex",
    "flow_control.wanted": "flow_control.configured",
    "hugepages.one_owner": "hugepages.single_source",
    "io_pacing.legal": "io_pacing.valid_pair",
    "io_pacing.neighbours": "io_pacing.related_tunables",
    "io_pacing.not_governed": "io_pacing.unpaced_mounts",
    "kernel_parameters.of_the_policy": "kernel_parameters.additional",
    "kernel_parameters.one_owner": "kernel_parameters.consistent_sources",
    "kernel_parameters.ports": "kernel_parameters.ephemeral_ports",
    "latency.host_gap": "latency.host_overhead",
    "latency.work_change": "latency.throughput_change",
    "latency.work_done": "latency.logical_reads",
    "listener_rate_limit.file_read": "listener_rate_limit.config_file",
    "listener_rate_limit.file_understood": "listener_rate_limit.syntax",
    "listener_rate_limit.parameters_once": "listener_rate_limit.duplicate_parameters",
    "listener_rate_limit.rate_as_wanted": "listener_rate_limit.rate",
    "listener_rate_limit.rate_bound": "listener_rate_limit.rate_enabled",
    "memory_pressure.shared_memory": "memory_pressure.dev_shm",
    "memory_pressure.swap_used": "memory_pressure.swapped_processes",
    "names.cluster": "name_resolution.cluster_names",
    "names.listener": "name_resolution.listener_address",
    "names.order": "name_resolution.search_order",
    "names.own_address": "name_resolution.hostname_address",
    "names.own_name": "name_resolution.hostname",
    "names.resolver": "name_resolution.resolv_conf",
    "names.reverse": "name_resolution.reverse_lookup",
    "names.scan": "name_resolution.scan",
    "names.servers": "name_resolution.name_servers",
    "nfs_mounts.locks_between_clients": "nfs_mounts.server_locks",
    "nfs_mounts.one_owner": "nfs_mounts.single_source",
    "nfs_mounts.programs_run": "nfs_mounts.exec_and_suid",
    "pool_validation.storm": "pool_validation.logon_storm",
    "pre_page_sga.setting": "pre_page_sga.value",
    "process_limits.group_memory": "process_limits.cgroup_memory",
    "process_limits.group_tasks": "process_limits.cgroup_tasks",
    "process_limits.one_owner": "process_limits.consistent_sources",
    "storage_type.paths": "storage_type.controller_interconnect",
}

CONTROLS = {"names": "name_resolution"}


@functools.cache
def current(check: str) -> str:
    """The id that a check has today."""
    control, _, name = check.partition(".")
    control = CONTROLS.get(control, control)
    # An error about a whole control.
    return CHECKS.get(check) or f"{control}.{'audited' if name == 'judged' else name}"


def is_old(finding: dict[str, Any]) -> bool:
    """Whether the finding, or a cause of it, has an old id."""
    check, causes = finding["check"], finding["because_of"]
    return current(check) != check or any(current(cause) != cause for cause in causes)


def with_current_ids(finding: dict[str, Any]) -> dict[str, Any]:
    """The finding with the ids of today."""
    check = current(finding["check"])
    causes = [*map(current, finding["because_of"])]
    return finding | {
        "check": check,
        "control": check.partition(".")[0],
        "because_of": causes,
    }
