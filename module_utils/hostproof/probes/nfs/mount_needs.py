# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the next reboot needs to mount by NFS in addition to an entry in fstab, a unit or a map.

Sources: systemd-fstab-generator(8), ``fstab=``; systemd.special(7), remote-fs.target; mount.nfs(8)
and nfs-utils, utils/statd/start-statd: NFSv3 with locks needs rpcbind and rpc.statd.
"""

from typing import Dict, NamedTuple, Optional, Set, Tuple

from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.host import Host
from ...errors import Unanswered
from ...parsers.kernel import kernel_cmdline
from ...parsers.nfs import nfs_options
from ...parsers.systemd import systemd_unit
from ..kernel import module_files
from ..systemd import boot_services, unit_files
from . import mount_units

_TARGET = "remote-fs.target"
_FOR_LOCKS = ("rpcbind.service", "rpcbind.socket", "rpc-statd.service")
_MODULES = ("sunrpc", "lockd", "nfs")


class Needs(NamedTuple):
    """Each field says what is missing, and is "" where it is there.

    ``fstab`` and ``target`` are for what remote-fs.target starts, ``modules`` for every mount,
    ``locks`` for NFSv3 with locks, ``versions`` for mounts of a version. ``only_target`` are the
    units that no other unit starts.
    """

    fstab: str
    target: str
    modules: Answer[str]
    locks: Answer[str]
    only_target: Set[str]
    versions: Dict[str, Answer[str]] = {}


NOTHING = Needs("", "", "", "", set())


def read_needs(host: Host, units: Optional[mount_units.Units]) -> Needs:
    """``units`` is None where no systemd runs."""
    params = parameters(host)
    modprobe = module_files.read_modprobe(host)
    modules = attempt(_first_reason, modprobe, params, _MODULES)
    versions = {
        number: attempt(_first_reason, modprobe, params, ("nfsv" + number,)) for number in "34"
    }
    if units is None:
        return Needs("", "", modules, "", set(), versions)
    services = boot_services.Units(host, params)
    return Needs(
        fstab=why_no_fstab(params),
        target=_why_no_target(services, units),
        modules=modules,
        locks=attempt(_why_no_locks, services),
        only_target={name for name, pullers in units.pulled_in.items() if pullers == {_TARGET}},
        versions=versions,
    )


def parameters(host: Host) -> boot_services.Params:
    text = unless_absent(attempt(host.read_text, "/proc/cmdline"), "\n")
    return kernel_cmdline.parse(text)


def why_no_fstab(params: boot_services.Params) -> str:
    """Why systemd makes no units of fstab; "" where it does."""
    values = [value for name, value in params if name == "fstab" and value is not None]
    if values and values[-1].lower() in systemd_unit.FALSE:
        return f"fstab={values[-1]} on the kernel command line"
    return ""


def why_not(needs: Needs, kind: str, path: str, fstype: str, options: str) -> str:
    """What an entry lacks to be mounted at boot; "" where that is nothing. Raises what is
    unknown."""
    if kind == "fstab" and needs.fstab:
        return needs.fstab
    by_target = kind == "fstab" or systemd_unit.unit_name(path) in needs.only_target
    if by_target and needs.target:
        return needs.target
    if known(needs.modules):
        return known(needs.modules)
    settings = nfs_options.parse(options)
    version = "4" if fstype == "nfs4" else (settings.get("vers") or "")[:1]
    if known(needs.versions.get(version, "")):
        return known(needs.versions[version])
    return known(needs.locks) if _needs_locks(fstype, settings) else ""


def _needs_locks(fstype: str, settings: Dict[str, str]) -> bool:
    has_locks = settings.get("lock") != "no" and settings.get("local_lock") != "all"
    return fstype == "nfs" and settings.get("vers") == "3" and has_locks


def _first_reason(
    modprobe: module_files.Modprobe, params: boot_services.Params, modules: Tuple[str, ...]
) -> str:
    for module in modules:
        reason = module_files.why_not_loaded(modprobe, params, module)
        if reason:
            return reason
    return ""


def _why_no_target(services: boot_services.Units, units: mount_units.Units) -> str:
    if not unit_files.place_of(services.names, _TARGET):
        return ""
    masked = services.why_masked(_TARGET)
    if masked or _TARGET in units.pulled_in:
        return masked
    return f"{_TARGET} is not enabled"


def _why_no_locks(services: boot_services.Units) -> str:
    """mount.nfs starts each by itself, unless it is masked. A socket whose service is masked does
    not start (socket_start() in systemd), nor does rpcbind.service without its socket if it
    requires that."""
    for unit in _FOR_LOCKS:
        place = unit_files.place_of(services.names, unit)
        masked = services.why_masked(unit) if place else ""
        if masked and unit == _FOR_LOCKS[0]:
            return f"{masked}, and NFSv3 with locks needs rpcbind"
        if masked:
            raise Unanswered(
                "file:" + place,
                f"{masked}: whether mount.nfs gets what NFSv3 with locks needs is unknown",
            )
    return ""
