# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that readings need on a host, with the packages that contain them."""

from typing import Dict, Optional, Tuple

#: Package: its name in RHEL and Oracle Linux, in SLES, and in Debian and Ubuntu.
_PACKAGES: Dict[Tuple[str, str, str], str] = {
    ("iproute", "iproute2", "iproute2"): "ip ss tc",
    ("ethtool", "ethtool", "ethtool"): "ethtool",
    ("nftables", "nftables", "nftables"): "nft",
    ("iptables", "iptables", "iptables"): "ip6tables iptables ip6tables-save iptables-save",
    ("glibc-common", "glibc", "libc-bin"): "getent",
    ("util-linux", "util-linux", "util-linux"): "findmnt lsblk swapon",
    ("procps-ng", "procps", "procps"): "pgrep ps sysctl",
    ("nfs-utils", "nfs-client", "nfs-common"): "mount.nfs nfsstat showmount",
    ("rpcbind", "rpcbind", "rpcbind"): "rpcinfo",
    ("device-mapper", "device-mapper", "dmsetup"): "dmsetup",
    ("device-mapper-multipath", "multipath-tools", "multipath-tools"): "multipath multipathd",
    ("systemd-udev", "udev", "udev"): "udevadm",
    ("chrony", "chrony", "chrony"): "chronyc",
    ("lldpd", "lldpd", "lldpd"): "lldpctl",
    ("net-snmp-utils", "net-snmp", "snmp"): "snmpbulkwalk snmpget snmpwalk",
}
PACKAGES_OF = {name: packages for packages, names in _PACKAGES.items() for name in names.split()}


def install_hint(key: str) -> Optional[str]:
    """The fix for a reading ("command:ss -H -t") whose program does not exist; None for others."""
    kind, _, words = key.partition(":")
    name = (words.split() or [""])[0].rpartition("/")[2]
    if kind != "command" or name not in PACKAGES_OF:
        return None
    red_hat, suse, debian = PACKAGES_OF[name]
    if red_hat == suse == debian:
        return f"install the package {red_hat}"
    return f"install the package {red_hat} (SLES: {suse}, Debian and Ubuntu: {debian})"
