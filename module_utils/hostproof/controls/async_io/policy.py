# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""I/O of instances as the policy requires it: validated role variables."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    absolute_path,
    checked_by,
    decimal,
    entries,
    flag,
    instance_name,
    one_of,
    reader,
    whole_number,
)
from ...evaluate.policy import PolicyValues, is_whole

NAME = "async_io"

AUTO = "auto"
UNMANAGED = "unmanaged"

#: Oracle's installation guides and preinstallation package; My Oracle Support 579108.1.
DOCUMENTED, MOS = 1048576, 3145728


def _aio_max_nr(values: PolicyValues, name: str) -> int:
    value = values[name]
    if value in ("documented", "mos_579108"):
        return DOCUMENTED if value == "documented" else MOS
    if is_whole(value) and 0 < int(value) < 1 << 63:
        return int(value)
    raise values.error(name, f"must be documented, mos_579108 or a number of events, not {value!r}")


class WantedInstance(NamedTuple):
    """An instance to check. ``home`` and ``alert_log`` are None if the host reports them."""

    sid: str = instance_name()
    home: Optional[str] = absolute_path().optional()
    alert_log: Optional[str] = absolute_path().optional()


class Policy(NamedTuple):
    """The role's variables.

    ``instances`` is None for "auto": running instances and those in oratab. ``aio_max_nr`` is a
    number of events. ``filesystemio_options`` is None if it is not managed.
    """

    instances: Optional[Tuple[WantedInstance, ...]] = entries(WantedInstance).none_for(AUTO)
    """The instances to check, each with C(sid), and C(home) or C(alert_log) where the host does not
    tell them.

    C(auto) takes those that run and those that oratab lists.

    Default: auto
    """
    query_instances: bool = flag()
    """Query the parameters of running instances with C(sqlplus / as sysdba), as their owner.

    If C(false), the I/O of the processes is checked against C(async_io_filesystemio_options), and
    the parameters are C(error).

    Default: true
    """
    sqlplus_timeout: int = whole_number(1, 600)
    """Maximum time of an answer of sqlplus, from 1 to 600 seconds.

    Default: 20
    """
    filesystemio_options: Optional[str] = one_of(
        "setall", "asynch", "directio", "none", UNMANAGED
    ).none_for(UNMANAGED)
    """The value for instances whose files are in a file system. It has no effect in ASM and
    with Direct NFS, and is not checked there.

    C(setall) is asynchronous and direct I/O, C(asynch) only asynchronous, C(directio) only
    direct, C(none) neither. C(unmanaged) does not check the parameter.

    Default: setall
    """
    set_filesystemio_options: bool = flag()
    """Apply sets C(filesystemio_options) in the spfile of instances that run with another value. It
    takes effect at their next start.

    Default: false
    """
    aio_max_nr: int = checked_by(_aio_max_nr, "raw")
    """The minimum of C(fs.aio-max-nr), the limit of events in all AIO contexts of the host.

    C(documented) is 1048576 of the installation guides, C(mos_579108) is 3145728 of My Oracle
    Support 579108.1; or a number.

    Default: documented
    """
    growth_factor: float = decimal(1, 100)
    """Growth factor for the events that are in use now, from 1 to 100. The product is the
    requirement if it exceeds C(async_io_aio_max_nr).

    Default: 2.0
    """
    used_limit_percent: int = whole_number(1, 100)
    """Maximum use of C(fs.aio-max-nr) in percent, from 1 to 100; more fails.

    Default: 80
    """
    message_days: int = whole_number(1, 365)
    """Age in days up to which messages of the database and of the kernel count, from 1 to 365.

    Default: 7
    """
    cache_limit_percent: int = whole_number(0, 10000)
    """Maximum size of the page cache, in percent of the SGA, at which apply sets a value that
    bypasses it.

    Default: 50
    """
    allow_cache_loss: bool = flag()
    """Ignore C(async_io_cache_limit_percent) and set a value that bypasses the page cache.
    After the next start the database reads from storage instead of from the cache.

    Default: false
    """
    hdisk_queue_depth: int = whole_number(0, 4096)
    """On AIX, the minimum of C(queue_depth) of each hdisk; a lower value is a warning. The Host
    Attachment Kit of NetApp sets 12. For other storage, see the vendor's documentation.

    Default: 12
    """


policy_from = reader(NAME, Policy)
