# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free space and free inodes of the file systems that Oracle uses."""

from ...collect.answer import known
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.size import human
from .facts import Facts, usage_key
from .policy import NAME, Policy
from .subjects import FILE_SYSTEMS, FileSystem

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "space.free",
    "The file system has the free space that its paths need",
    "File system has less free space than its paths need",
    severity="high",
    takes_effect="now",
    why="The installer stops without its space. A full diagnostic destination or home keeps the "
    "instance from writing traces and audit files, and logins fail.",
    reference="Cluster Verification Utility, Free Space; Database Installation Guide for Linux, "
    "Server Configuration Checklist",
    each=FILE_SYSTEMS,
)
def free(file_system: FileSystem, facts: Facts, policy: Policy) -> Verdict:
    usage = known(facts.usage[file_system.mount.path])
    demands = file_system.demands + file_system.shared
    demanded = sum(demand.free for demand in demands)
    reserve = policy.oracle_free if any(demand.is_of_oracle for demand in demands) else 0
    required = demanded + reserve
    status = WARN if usage.free < required else PASS
    if usage.free < demanded or (reserve and not usage.free):
        status = FAIL
    parts = f", of which {human(reserve)} are space_oracle_free" if reserve else ""
    return Verdict(
        status,
        f"{human(usage.free)} of {human(usage.size)} are free. Needed: {human(required)}{parts}. "
        f"Paths: {file_system.paths}.",
        fix="remove what is not needed, or enlarge the file system",
        desired=f"at least {human(required)} free",
        running=f"{human(usage.free)} free of {human(usage.size)}",
        evidence=[usage_key(file_system.mount.path)],
        values={"free": usage.free, "wanted": required, "unit": "bytes"},
    )


@rules.check(
    "space.inodes",
    "The file system has enough free inodes",
    "File system has few free inodes left",
    severity="medium",
    takes_effect="now",
    why="Without free inodes no file can be created, however much space is free. Trace and audit "
    "files use many. CVU does not check inodes.",
    reference="statfs(2), f_ffree; Hostproof's own limit",
    each=FILE_SYSTEMS,
)
def inodes(file_system: FileSystem, facts: Facts, policy: Policy) -> Verdict:
    usage = known(facts.usage[file_system.mount.path])
    if not usage.inodes:
        raise Skip(
            f"A file system of type {file_system.mount.fstype} has no fixed number of inodes."
        )
    status = WARN if usage.inodes_free * 100 < policy.inodes_free * usage.inodes else PASS
    return Verdict(
        status if usage.inodes_free else FAIL,
        f"{usage.inodes_free} of {usage.inodes} inodes are free.",
        fix="remove old trace and audit files, or recreate the file system with more inodes",
        desired=f"at least {policy.inodes_free} % free",
        running=f"{usage.inodes_free} free of {usage.inodes}",
        values={"free": usage.inodes_free, "all": usage.inodes, "unit": "inodes"},
        evidence=[usage_key(file_system.mount.path)],
    )
