# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the NFS mounts of a host should be: the role's variables, checked."""

import re
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ...parsers import modprobe_d, nfs_options, sysctl_d
from ...policy import PolicyValues

NAME = "nfs_mounts"

#: What lies on a mount decides its options (options_table.py).
CLASSES = ("datafiles", "redo", "oracle_home", "crs_voting", "adr", "backup")
#: Who uses the files: one host; several at once; one at a time (cold standby).
USES = ("single", "rac", "failover")
VERSIONS = ("3", "4.0", "4.1", "4.2")
ANY_VERSION = "any"


class WantedMount(NamedTuple):
    """A mount that the host must have.

    ``use`` is None where the policy leaves it to what runs on the host. ``version`` is None where
    any will do. ``overrides`` are canonical settings (parsers/nfs_options.py) that replace those
    of the options table.
    """

    path: str
    source: str
    file_class: str
    use: Optional[str]
    version: Optional[str]
    overrides: Dict[str, str]


class Policy(NamedTuple):
    """The role's variables (roles/nfs_mounts/meta/argument_specs.yml), checked.

    ``wanted`` is None for "auto": the mounts that hold Oracle files now. Sizes are bytes, times
    milliseconds or seconds as the name says, ratios percent.
    """

    wanted: Optional[Tuple[WantedMount, ...]]
    use: Optional[str]
    version: Optional[str]
    transfer_size: int
    single_actimeo_zero: bool
    adr_actimeo_zero: bool
    slot_table_entries: int
    direct_nfs: str
    oracle_homes: Tuple[str, ...]
    sample_seconds: int
    sample_minimum_ops: int
    retransmission_warn_percent: float
    retransmission_fail_percent: float
    tcp_retransmission_warn_percent: float
    tcp_retransmission_fail_percent: float
    rtt_warn_ms: float
    rtt_fail_ms: float
    queue_warn_ms: float
    remount_ok: bool
    modprobe_file: str
    sysctl_file: str
    allow_version_change: bool
    allow_source_change: bool
    allow_local_locks_on_shared_files: bool
    allow_lowered_transfer_size: bool
    allow_hidden_files: bool


def policy_from(values):
    # type: (Dict[str, Any]) -> Policy
    """A Policy from the role's variables without their prefix; PolicyError names the variable."""
    given = PolicyValues(NAME, values, Policy._fields)
    use = given.one_of("use", ("auto",) + USES)
    version = _version(given, given["version"])
    policy = Policy(
        wanted=_wanted(given, version),
        use=None if use == "auto" else use,
        version=version,
        transfer_size=_transfer_size(given),
        single_actimeo_zero=given.flag("single_actimeo_zero"),
        adr_actimeo_zero=given.flag("adr_actimeo_zero"),
        slot_table_entries=given.whole_number("slot_table_entries", 0, 65536),
        direct_nfs=given.one_of("direct_nfs", ("auto", "required", "forbidden", "unmanaged")),
        oracle_homes=_paths(given, "oracle_homes"),
        sample_seconds=given.whole_number("sample_seconds", 0, 600),
        sample_minimum_ops=given.whole_number("sample_minimum_ops", 1),
        retransmission_warn_percent=given.decimal("retransmission_warn_percent", 0, 100),
        retransmission_fail_percent=given.decimal("retransmission_fail_percent", 0, 100),
        tcp_retransmission_warn_percent=given.decimal("tcp_retransmission_warn_percent", 0, 100),
        tcp_retransmission_fail_percent=given.decimal("tcp_retransmission_fail_percent", 0, 100),
        rtt_warn_ms=given.decimal("rtt_warn_ms", 0),
        rtt_fail_ms=given.decimal("rtt_fail_ms", 0),
        queue_warn_ms=given.decimal("queue_warn_ms", 0),
        remount_ok=given.flag("remount_ok"),
        modprobe_file=given.drop_in("modprobe_file", modprobe_d.DIRECTORIES[0]),
        sysctl_file=given.drop_in("sysctl_file", sysctl_d.DIRECTORIES[0]),
        allow_version_change=given.flag("allow_version_change"),
        allow_source_change=given.flag("allow_source_change"),
        allow_local_locks_on_shared_files=given.flag("allow_local_locks_on_shared_files"),
        allow_lowered_transfer_size=given.flag("allow_lowered_transfer_size"),
        allow_hidden_files=given.flag("allow_hidden_files"),
    )
    for low, high in (
        ("retransmission_warn_percent", "retransmission_fail_percent"),
        ("tcp_retransmission_warn_percent", "tcp_retransmission_fail_percent"),
        ("rtt_warn_ms", "rtt_fail_ms"),
    ):
        if getattr(policy, low) > getattr(policy, high):
            raise given.error(low, "must not be above {0}_{1}".format(NAME, high))
    return policy


def _version(given, value):
    # type: (PolicyValues, Any) -> Optional[str]
    """YAML makes a number of 4.1; "4" alone leaves the minor version to the server."""
    text = str(value)
    if text == ANY_VERSION:
        return None
    if text not in VERSIONS:
        raise given.error(
            "version",
            "must be any, {0}, not {1!r} (name the minor version)".format(
                ", ".join(VERSIONS), value
            ),
        )
    return text


def _transfer_size(given):
    # type: (PolicyValues) -> int
    size = given.size("transfer_size")
    if size % 1024 or not 1024 <= size <= 1048576:
        raise given.error("transfer_size", "must be a multiple of 1024 up to 1M (nfs(5), rsize)")
    return size


def _paths(given, name):
    # type: (PolicyValues, str) -> Tuple[str, ...]
    paths = given.names(name)
    for path in paths:
        if not path.startswith("/"):
            raise given.error(name, "must hold absolute paths, not {0!r}".format(path))
    return tuple(_clean_path(path) for path in paths)


def _clean_path(path):
    # type: (str) -> str
    """As the kernel writes a mount point: no slash at the end, none doubled."""
    return re.sub("/+", "/", path).rstrip("/") or "/"


def _wanted(given, version):
    # type: (PolicyValues, Optional[str]) -> Optional[Tuple[WantedMount, ...]]
    value = given["wanted"]
    if value == "auto":
        return None
    if not isinstance(value, (list, tuple)):
        raise given.error("wanted", "must be auto or a list of {path, source, class}")
    mounts = tuple(_wanted_mount(given, item, version) for item in value)
    paths = [mount.path for mount in mounts]
    twice = sorted({path for path in paths if paths.count(path) > 1})
    if twice:
        raise given.error("wanted", "lists a path twice: " + ", ".join(twice))
    return mounts


def _wanted_mount(given, item, version):
    # type: (PolicyValues, Any, Optional[str]) -> WantedMount
    needed = ("path", "source", "class")
    if not isinstance(item, dict) or not all(item.get(name) for name in needed):
        raise given.error("wanted", "has {0!r}, which needs path, source and class".format(item))
    path = str(item["path"])
    unknown = sorted(set(item) - {"path", "source", "class", "use", "version", "options"})
    if unknown:
        raise given.error("wanted", "{0} has unknown {1}".format(path, ", ".join(unknown)))
    if not path.startswith("/") or _clean_path(path) == "/":
        raise given.error("wanted", "path {0!r} must be absolute, and not /".format(path))
    source = str(item["source"])
    if not re.match(r"^(\[[^\]]+\]|[^:/]+):/", source) or re.search(r"\s", source):
        raise given.error("wanted", "{0}: source {1!r} must be SERVER:/EXPORT".format(path, source))
    use = item.get("use", given["use"])
    for name, choice, choices in (("class", item["class"], CLASSES), ("use", use, USES)):
        if choice not in choices and not (name == "use" and choice == "auto"):
            raise given.error(
                "wanted",
                "{0}: {1} must be one of {2}, not {3!r}".format(
                    path, name, ", ".join(choices), choice
                ),
            )
    return WantedMount(
        path=_clean_path(path),
        source=source,
        file_class=str(item["class"]),
        use=None if use == "auto" else str(use),
        version=_version(given, item["version"]) if "version" in item else version,
        overrides=_overrides(given, path, item.get("options", "")),
    )


def _overrides(given, path, text):
    # type: (PolicyValues, str, Any) -> Dict[str, str]
    """Options as mount takes them ("nconnect=4,actimeo=0") that replace those of the table."""
    if not isinstance(text, str):
        raise given.error(
            "wanted", "{0}: options must be a text such as nconnect=4, not {1!r}".format(path, text)
        )
    settings = nfs_options.parse(text)
    unknown = sorted(name for name in settings if name not in nfs_options.KNOWN)
    if unknown:
        raise given.error("wanted", "{0}: options has unknown {1}".format(path, ", ".join(unknown)))
    return settings
