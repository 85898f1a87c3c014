# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How instances should do their input and output: the role's variables and their checks."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    absolute_path,
    checked_by,
    decimal,
    drop_in,
    entries,
    flag,
    instance_name,
    one_of,
    reader,
    whole_number,
)
from ...evaluate.policy import PolicyValues, is_whole
from ...parsers.systemd import sysctl_d

NAME = "async_io"

AUTO = "auto"
UNMANAGED = "unmanaged"

#: Oracle's installation guides and preinstallation package; My Oracle Support 579108.1.
DOCUMENTED, MOS = 1048576, 3145728


def _aio_max_nr(given: PolicyValues, name: str) -> int:
    value = given[name]
    if value in ("documented", "mos"):
        return DOCUMENTED if value == "documented" else MOS
    if is_whole(value) and 0 < int(value) < 1 << 63:
        return int(value)
    raise given.error(name, f"must be documented, mos or a number of events, not {value!r}")


class WantedInstance(NamedTuple):
    """An instance to judge. ``home`` and ``alert_log`` are None where the host says."""

    sid: str = instance_name()
    home: Optional[str] = absolute_path().optional()
    alert_log: Optional[str] = absolute_path().optional()


class Policy(NamedTuple):
    """The role's variables (roles/async_io/meta/argument_specs.yml).

    ``instances`` is None for "auto": those that run and those of oratab. ``aio_max_nr`` is
    events. ``filesystemio_options`` is None where it is not managed.
    """

    instances: Optional[Tuple[WantedInstance, ...]] = entries(WantedInstance).none_for(AUTO)
    ask_instances: bool = flag()
    sqlplus_seconds: int = whole_number(1, 600)
    filesystemio_options: Optional[str] = one_of(
        "setall", "asynch", "directio", "none", UNMANAGED
    ).none_for(UNMANAGED)
    set_parameters: bool = flag()
    aio_max_nr: int = checked_by(_aio_max_nr, "raw")
    growth: float = decimal(1, 100)
    used_limit: int = whole_number(1, 100)
    sysctl_file: str = drop_in(sysctl_d.DIRECTORIES[0])
    message_days: int = whole_number(1, 365)
    cache_limit: int = whole_number(0, 10000)
    allow_cache_loss: bool = flag()
    hdisk_queue_depth: int = whole_number(0, 4096)


policy_from = reader(NAME, Policy)
