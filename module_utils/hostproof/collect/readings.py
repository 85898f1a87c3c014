# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The register of readings: since which release a key of the evidence is read.

A recording by an older release does not have such a key. Its host then answers NotRecorded
(errors.py) instead of "absent" or "unanswered". A key that is not in the register is read since the
first release: a recording that lacks it is incomplete.

A new reading is one line: its key, with * for what differs between hosts, and the next release.
tests/unit/test_released_packs.py names each key that is missing here.
"""

import re
from functools import lru_cache
from typing import Iterable, Optional, Pattern, Tuple

#: The first pattern that matches is the one that counts.
SINCE = (
    ("command:/usr/sbin/sshd -T*", "0.3.0"),
    ("command:cat */dbs/*+ASM*.ora", "0.3.0"),
    ("command:cat */gpnp/*/profile.xml", "0.3.0"),
    ("command:cat */sqlnet.ora", "0.3.0"),
    ("command:dpkg-query -W -f ${Package}*", "0.3.0"),
    ("command:ethtool -g *", "0.3.0"),
    ("command:id -G *", "0.3.0"),
    ("command:ifconfig -a", "0.3.0"),
    ("command:ip -4 -o route show exact *", "0.3.0"),
    ("command:iptables-save", "0.3.0"),
    ("command:nft -j list ruleset", "0.3.0"),
    ("command:no -F -a", "0.3.0"),
    ("command:no -r -a", "0.3.0"),
    ("command:pgrep -l -f [O]SWatcher*", "0.3.0"),
    ("command:readlink -m -- *", "0.3.0"),
    ("command:readlink -v *", "0.2.0"),
    ("command:rpm -q --qf %{NAME} %{VERSION}* oracleasm*", "0.3.0"),
    ("command:rpm -qa --queryformat %{NAME}*", "0.3.0"),
    ("command:sqlplus *: wait chains", "0.3.0"),
    ("command:ls -1 *", "0.3.0"),
    ("command:powermt display dev=all", "0.3.0"),
    ("command:ss -lntup", "0.3.0"),
    ("command:stat -L -c %F %u *", "0.3.0"),
    ("command:stat -L -c %F *", "0.3.0"),
    ("command:tail -c * */alert/log.xml", "0.3.0"),
    ("command:stat -L -c %u %a */bin/oradism", "0.3.0"),
    ("command:systemctl is-enabled autofs.service", "0.3.0"),
    ("command:systemctl is-enabled avahi-daemon.*", "0.3.0"),
    ("command:systemctl is-enabled *iscsi.service", "0.3.0"),
    ("command:systemctl is-enabled *mount", "0.3.0"),
    ("command:systemctl is-enabled proxyt.service", "0.3.0"),
    ("command:systemctl show --property=*.slice", "0.3.0"),
    ("command:systemctl show -p Id -p UnitFileState -p ActiveState *", "0.3.0"),
    ("command:systemctl show -p Id -p UnitFileState firewalld.service *", "0.3.0"),
    ("dir:/etc/cloud/cloud.cfg.d", "0.3.0"),
    ("dir:/etc/iscsi/nodes*", "0.3.0"),
    ("dir:/var/lib/iscsi/nodes*", "0.3.0"),
    ("dir:/etc/multipath/conf.d", "0.3.0"),
    ("dir:*/systemd/system-environment-generators", "0.3.0"),
    ("dir:*/systemd/system-generators", "0.3.0"),
    ("dir:/etc/systemd/system/multi-user.target.wants", "0.3.0"),
    ("dir:*.wants", "0.3.0"),
    ("dir:*.requires", "0.3.0"),
    ("dir:/etc/systemd/*", "0.2.0"),
    ("dir:/run/systemd/*.*", "0.2.0"),
    ("dir:/run/systemd/generator", "0.2.0"),
    ("dir:*/lib/systemd/*", "0.2.0"),
    ("dir:*/inventory", "0.3.0"),
    ("dir:/etc/rc.d/rc*", "0.3.0"),
    ("dir:/etc/rc*.d", "0.3.0"),
    ("dir:/sys/block/*/holders", "0.3.0"),
    ("dir:/sys/class/fc_host", "0.3.0"),
    ("dir:/sys/kernel/mm/hugepages", "0.2.0"),
    ("dir:/sys/kernel/mm/transparent_hugepage", "0.3.0"),
    ("dir:/tmp/.oracle", "0.3.0"),
    ("dir:/var/tmp/.oracle", "0.3.0"),
    ("file:*/credstore/sysctl.extra", "0.3.0"),
    ("file:*/credstore.encrypted/sysctl.extra", "0.3.0"),
    ("file:*/oracle/ocr.loc", "0.3.0"),
    ("file:*/oracle/olr.loc", "0.3.0"),
    ("file:*/ntp.conf", "0.2.0"),
    ("file:*/oratab", "0.2.0"),
    ("file:/etc/cloud/*", "0.3.0"),
    ("file:/var/lib/cloud/instance/*cloud-config.txt", "0.3.0"),
    ("file:/etc/multipath.conf", "0.3.0"),
    ("file:/etc/multipath/wwids", "0.3.0"),
    (r"file:^node\.(?:startup* in *", "0.3.0"),
    ("file:/sys/block/*/wwid", "0.3.0"),
    ("file:/sys/class/iscsi_*", "0.3.0"),
    ("file:*ORACLEASM_SCAN* in *", "0.3.0"),
    ("file:*afd_diskstring* in *", "0.3.0"),
    ("file:/etc/profile.d/sh.local", "0.3.0"),
    ("file:/etc/security/limits.d/zz-hostproof-hugepages.conf", "0.3.0"),
    ("file:/etc/sysconfig/iptables", "0.3.0"),
    ("file:/etc/sysconfig/nftables.conf", "0.3.0"),
    ("file:/proc/net/ip_tables_names", "0.3.0"),
    ("file:/proc/loadavg", "0.3.0"),
    ("file:/proc/sys/kernel/pid_max", "0.3.0"),
    ("file:/proc/sys/kernel/shm_rmid_forced", "0.3.0"),
    ("file:/proc/sys/net/ipv4/conf/*/arp_ignore", "0.3.0"),
    ("file:/proc/sys/vm/overcommit_memory", "0.3.0"),
    ("file:/sys/class/net/*/operstate", "0.3.0"),
    ("file:/sys/devices/system/cpu/vulnerabilities/spectre_v2", "0.3.0"),
    ("file:/sys/fs/cgroup/cgroup.subtree_control", "0.3.0"),
    ("file:/sys/kernel/kexec_crash_loaded", "0.3.0"),
    ("file:/sys/fs/cgroup/cpu/system.slice/cpu.rt_runtime_us", "0.3.0"),
    ("file:/usr/lib/pam.d/*", "0.3.0"),
    ("file:^CONFIG_RT_GROUP_SCHED= in /boot/config-*", "0.3.0"),
    ("lines:boot", "0.2.0"),
    ("lines:called by *", "0.3.0"),
    ("lines:clock_steps", "0.3.0"),
    ("lines:disk_values", "0.3.0"),
    ("file:*CRS_LIMIT_MEMLOCK* in *", "0.3.0"),
    ("file:*ResourceDisk* in /etc/waagent.conf", "0.3.0"),
    ("lines:oracle_cron", "0.3.0"),
    ("lines:oracle_starters", "0.3.0"),
    ("lines:packet_filters", "0.3.0"),
    ("lines:pam_umask", "0.3.0"),
    ("lines:swap", "0.3.0"),
    ("link:*/redo*.log", "0.3.0"),
    ("link:/etc/systemd/system/*.mount", "0.3.0"),
    ("link:/usr/lib/systemd/system/systemd-sysctl.service", "0.3.0"),
    ("link:/usr/lib/systemd/system/systemd-tmpfiles-setup.service", "0.3.0"),
    ("link:/sys/block/*/device", "0.3.0"),
    ("link:/sys/class/net/*/device", "0.3.0"),
    ("processes:avahi", "0.3.0"),
    ("processes:proxyt", "0.3.0"),
    ("processes:rac_instances", "0.3.0"),
    ("processes:realtime", "0.3.0"),
    ("program:*/bin/sqlplus", "0.2.0"),
    ("sample:cpu_use", "0.3.0"),
    ("stat:*/bin/oradism", "0.3.0"),
    ("stat:*/dbs", "0.3.0"),
    ("stat:*/dbs/oranfstab", "0.3.0"),
    ("stat:/dev/shm/*", "0.3.0"),
    ("stat:/etc/cloud/cloud-init.disabled", "0.3.0"),
    ("stat:/etc/sysconfig/network-scripts/ifup-eth", "0.3.0"),
    ("stat:/run/ostree-booted", "0.3.0"),
    ("stat:/usr/bin/scp", "0.3.0"),
    ("stat:/usr/bin/ssh", "0.3.0"),
    ("stat:/usr/sbin/cvuqdisk", "0.3.0"),
    ("stat:/var/log/sa", "0.3.0"),
    ("stat:/var/log/sysstat", "0.3.0"),
)

#: Keys that had another name: name of today to the name before. The text of packages had no epoch,
#: and that of the agent of Azure no size.
RENAMED = {
    r"file:^[ \t]*ResourceDisk\.(?:Format|EnableSwap|SwapSizeMB|MountPoint)[ \t]*= "
    "in /etc/waagent.conf": r"file:^[ \t]*ResourceDisk\.(?:Format|EnableSwap|MountPoint)[ \t]*= "
    "in /etc/waagent.conf",
    "processes:pmon": r"processes:^(ora|asm|mdb|apx)_pmon_\S+$",
    r"command:rpm -qa --queryformat %{NAME}\t%{EPOCH}:%{VERSION}-%{RELEASE}\t%{ARCH}"
    r"\tinstalled\n": r"command:rpm -qa --queryformat %{NAME}\t%{VERSION}-%{RELEASE}\t%{ARCH}"
    r"\tinstalled\n",
}

_RELEASE = re.compile(r"\d{1,4}\.\d{1,4}\.\d{1,4}\Z")


def release_of(text: object) -> str:
    """The release in the field ``hostproof`` of an evidence pack; "" if it names none."""
    return text if isinstance(text, str) and _RELEASE.match(text) else ""


def newer_than(release: str, key: str, recorded: Iterable[str] = ()) -> Optional[str]:
    """The release since which the key is read, if ``release`` ("" for unknown) is older.

    A recording with another key of the same pattern (``recorded``) has this reading: there the key
    is missing for another reason, and the result is None.
    """
    row = next((row for row in SINCE if matches(row[0], key)), None)
    if row is None or (release and _order(release) >= _order(row[1])):
        return None
    is_read = "*" in row[0] and any(matches(row[0], other) for other in recorded)
    return None if is_read else row[1]


def matches(pattern: str, key: str) -> bool:
    """Whether the key is one of the pattern."""
    return _expression(pattern).match(key) is not None


@lru_cache(maxsize=None)
def _expression(pattern: str) -> Pattern[str]:
    """Kept, because a recording that lacks many keys compares all of them; only rows are given."""
    return re.compile(re.escape(pattern).replace(r"\*", ".*") + r"\Z", re.DOTALL)


def _order(release: str) -> Tuple[int, ...]:
    return tuple(int(number) for number in release.split("."))
