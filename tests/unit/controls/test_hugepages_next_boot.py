"""What decides the next reboot after sysctl.d: TuneD, numbers that the kernel refuses, and scripts.

Each row tells a host that 0.1.0 could take for ready: the drop-in of Hostproof sets 8194 pages, and
something else decides. ``truth`` says what that host really does, and where that is written.
"""

from typing import Any, NamedTuple

import packs
import pytest
from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import HostproofError
from packs import Machine

FOLDER = packs.FIXTURES / "hugepages/next_boot"
KEY = "vm.nr_hugepages"
POOL = "/proc/sys/vm/nr_hugepages"
SYSFS = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
UNIT = "/etc/systemd/system/hp.service"
OTHER = "/etc/sysctl.d/99-zzz.conf"
NODE = "devices/system/node/node1"
SOME_SYSCTL = "[sysctl]\nvm.swappiness=30\n"

#: Sources of the truths below.
REAPPLY = "TuneD, plugin_sysctl.py, _apply_system_sysctl()"
PROFILES = "TuneD, profiles/loader.py, merger.py, unit.py; run in test_tuned_truth.py"
NUMBERS = "Linux, kernel/sysctl.c; measured in test_sysctl_number.py"
MANUAL = "sysctl(8), systemd.service(5), systemd-rc-local-generator(8), crontab(5)"


class Row(NamedTuple):
    """``files`` are added to the healthy host; a path that ends in + is executable."""

    name: str
    files: dict[str, str]
    check: str
    status: str
    truth: str
    says: tuple[str, ...] = ()
    profile: str | None = None
    enabled: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


def unit(*lines: str) -> dict[str, str]:
    return {UNIT: "\n".join(["[Unit]", "[Service]", "Type=oneshot", *lines]) + "\n"}


TUNED = (
    Row(
        "sysctl.conf that systemd does not read counts for TuneD",
        {"/etc/sysctl.conf": f"{KEY} = 1024\n"},
        "pool_persisted",
        "fail",
        f"1024: {REAPPLY} ends with /etc/sysctl.conf, linked or not",
        ("1024 pages from /etc/sysctl.conf:1", "reapply_sysctl"),
        profile=SOME_SYSCTL,
        remove=("/etc/sysctl.d/99-sysctl.conf",),
    ),
    Row(
        "without a section of sysctl nothing is applied again",
        {"/etc/sysctl.conf": f"{KEY} = 1024\n"},
        "pool_persisted",
        "pass",
        f"8194: {REAPPLY} is called by an instance of the plugin only",
        profile="[vm]\ntransparent_hugepages=never\n",
    ),
    Row(
        "reapply_sysctl = 0",
        {
            "/etc/sysctl.conf": f"{KEY} = 1024\n",
            "/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n",
        },
        "pool_persisted",
        "pass",
        "8194: tuned-main.conf(5)",
        profile=SOME_SYSCTL,
    ),
    Row(
        "a value of /usr/lib/sysctl.d loses to the profile",
        {"/usr/lib/sysctl.d/99-pool.conf": f"{KEY} = 8194\n"},
        "pool_persisted",
        "fail",
        f"10: {REAPPLY} reads /etc only",
        ("10 pages from tuned profile", "not used: /usr/lib/sysctl.d/99-pool.conf:1 = 8194"),
        profile=f"[sysctl]\n{KEY}=10\n",
        remove=(packs.SYSCTL_FILE,),
    ),
    Row(
        "a boot finds no file in /run, and TuneD none either",
        {"/run/sysctl.d/99-zz-hostproof-hugepages.conf": f"{KEY} = 10\n"},
        "pool_persisted",
        "pass",
        "",
        (f"8194 pages from {packs.SYSCTL_FILE}:3",),
        profile=SOME_SYSCTL,
    ),
    Row(
        "a line with a dash is not applied again",
        {packs.SYSCTL_FILE: f"-{KEY} = 8194\nvm.hugetlb_shm_group = 54321\n"},
        "pool_persisted",
        "fail",
        f"10: {REAPPLY} writes to /proc/sys/-vm/nr_hugepages",
        ("10 pages from tuned profile",),
        profile=f"[sysctl]\n{KEY}=10\n",
    ),
    Row(
        "the drop-in in /etc beats the profile",
        {},
        "pool_persisted",
        "pass",
        f"8194: {REAPPLY}",
        ("TuneD applies it after its own values",),
        profile=f"[sysctl]\n{KEY}=10\n",
    ),
    Row(
        "one file under two names is one owner",
        {"/etc/sysctl.conf": f"{KEY} = 8194\nvm.hugetlb_shm_group = 54321\n"},
        "single_source",
        "pass",
        "99-sysctl.conf is a link to sysctl.conf",
        profile=SOME_SYSCTL,
        remove=(packs.SYSCTL_FILE,),
    ),
    Row(
        "the group too",
        {"/etc/sysctl.conf": "vm.hugetlb_shm_group = 0\n"},
        "shm_group",
        "fail",
        f"0: {REAPPLY}; the host's kernel of EL9 has the change of 5.16",
        ("0 from /etc/sysctl.conf:1",),
        profile=SOME_SYSCTL,
    ),
    Row(
        "type says the plugin",
        {"/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n"},
        "pool_persisted",
        "fail",
        f"10: {PROFILES}",
        ("10 pages from tuned profile",),
        profile=f"[hp]\ntype=sysctl\n{KEY}=10\n",
    ),
    Row(
        "a section of the plugin sysfs",
        {},
        "pool_persisted",
        "fail",
        f"10: {PROFILES}; nothing is applied again after it",
        ("10 pages from tuned profile",),
        profile=f"[sysfs]\n{SYSFS}=10\n",
    ),
    Row(
        "sysfs for one node",
        {},
        "pool_persisted",
        "error",
        "kernel hugetlbpage.rst: a part of the pool, so the sum is not in the file",
        profile="[x]\ntype=sysfs\n/sys/devices/system/node/node1/hugepages/"
        "hugepages-2048kB/nr_hugepages=10\n",
    ),
    Row(
        "an included profile, and a variable of the including one",
        {
            "/usr/lib/tuned/base/tuned.conf": f"[variables]\nhp=8194\n[sysctl]\n{KEY}=${{hp}}\n",
            "/etc/tuned/tuned-main.conf": "reapply_sysctl = no\n",
        },
        "pool_persisted",
        "fail",
        f"10: {PROFILES}",
        ("10 pages from tuned profile /usr/lib/tuned/base/tuned.conf",),
        profile="[main]\ninclude=base\n[variables]\nhp=10\n",
    ),
    Row(
        "a value that a function of TuneD makes",
        {"/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n"},
        "pool_persisted",
        "error",
        "only TuneD knows: profiles/functions",
        ("by a function of TuneD",),
        profile=f"[sysctl]\n{KEY}=${{f:exec:cat:/root/pages}}\n",
    ),
    Row(
        "a script of the profile",
        {"/usr/lib/tuned/site/set.sh": f"#!/bin/sh\n. /usr/lib/tuned/functions\necho 9 > {POOL}\n"},
        "pool_persisted",
        "error",
        "tuned.conf(5), plugin script: it runs when TuneD starts",
        ("/usr/lib/tuned/site/set.sh:3",),
        profile="[script]\nscript=${i:PROFILE_DIR}/set.sh\n",
    ),
    Row(
        "vm under another name turns transparent huge pages on",
        {},
        "transparent_hugepages",
        "fail",
        f"always: {PROFILES}",
        ("always from tuned profile",),
        profile="[thp]\ntype=vm\ntransparent_hugepages=always\n",
    ),
    Row(
        "sysfs turns them on",
        {},
        "transparent_hugepages",
        "fail",
        f"always: {PROFILES}",
        ("always from tuned profile",),
        profile="[sysfs]\n/sys/kernel/mm/transparent_hugepage/enabled=always\n",
    ),
    Row(
        "a section for another architecture does not count",
        {},
        "transparent_hugepages",
        "pass",
        f"never: {PROFILES}; the release of the kernel says x86_64",
        profile="[vm.arm]\ntype=vm\nuname_regex=aarch64\ntransparent_hugepages=always\n",
    ),
    Row(
        "a section for some processors may count",
        {},
        "transparent_hugepages",
        "error",
        "cpuinfo_regex is compared with /proc/cpuinfo, which is not read",
        profile="[vm.amd]\ntype=vm\ncpuinfo_regex=AMD\ntransparent_hugepages=always\n",
    ),
    Row(
        "a profile that comes after the active one",
        {
            "/etc/tuned/post_loaded_profile": "late\n",
            "/usr/lib/tuned/late/tuned.conf": f"[sysfs]\n{SYSFS}=10\n",
        },
        "pool_persisted",
        "fail",
        "TuneD, daemon.py, _load_profiles(): post_loaded_profile",
        ("10 pages from tuned profile /usr/lib/tuned/late/tuned.conf",),
        profile=SOME_SYSCTL,
    ),
)

NUMBER = (
    Row(
        "a leading 0",
        {OTHER: f"{KEY} = 08194\n"},
        "pool_persisted",
        "fail",
        f"0 pages: {NUMBERS}; systemd writes the last assignment alone",
        ("octal has no 8", "nothing sets it"),
    ),
    Row(
        "octal",
        {OTHER: f"{KEY} = 010002\n"},
        "pool_persisted",
        "fail",
        f"4098: {NUMBERS}",
        ("4098 pages from", "written '010002', a leading 0 makes it octal"),
    ),
    Row(
        "hexadecimal is a number",
        {OTHER: f"{KEY} = 0x2002\n"},
        "pool_persisted",
        "pass",
        f"8194: {NUMBERS}",
    ),
    Row("a unit", {OTHER: f"{KEY} = 16G\n"}, "pool_persisted", "fail", f"refused: {NUMBERS}"),
    Row("a sign", {OTHER: f"{KEY} = +8194\n"}, "pool_persisted", "fail", f"refused: {NUMBERS}"),
    Row(
        "a comment behind the number",
        {OTHER: f"{KEY} = 8194 # for ORCL\n"},
        "pool_persisted",
        "pass",
        f"8194: {NUMBERS}, a space ends it",
    ),
    Row(
        "a comment that touches it",
        {OTHER: f"{KEY} = 8194# for ORCL\n"},
        "pool_persisted",
        "fail",
        f"refused: {NUMBERS}",
    ),
    Row(
        "more than 64 bits",
        {OTHER: f"{KEY} = 18446744073709551617\n"},
        "pool_persisted",
        "fail",
        f"refused, not 1: {NUMBERS}",
    ),
    Row(
        "procps writes line by line, so the one before stays",
        {
            OTHER: f"{KEY} = 08194\n",
            "/etc/rc.local+": "#!/bin/sh\nsysctl --system\n",
        },
        "pool_persisted",
        "pass",
        f"8194: {MANUAL}; the refused line changes nothing",
        ("loaded by /etc/rc.local:2",),
    ),
    Row(
        "an octal group",
        {OTHER: "vm.hugetlb_shm_group = 054321\n"},
        "shm_group",
        "fail",
        f"22737: {NUMBERS}; the host's kernel of EL9 has the change of 5.16",
        ("22737 from",),
    ),
    Row(
        "a value beyond the pool, at the next reboot",
        {OTHER: "vm.nr_overcommit_hugepages = 0x10\n"},
        "no_overcommit",
        "warn",
        f"16: {NUMBERS}",
        ("16 from /etc/sysctl.d/99-zzz.conf:1",),
    ),
)

SCRIPTS = (
    Row(
        "rc.local: sysctl -p of a file that systemd does not read",
        {"/etc/sysctl.conf": f"{KEY}=10\n", "/etc/rc.local+": "#!/bin/sh\n/sbin/sysctl -p\n"},
        "pool_persisted",
        "fail",
        f"10: {MANUAL}",
        ("10 pages from /etc/sysctl.conf:1", "loaded by /etc/rc.local:2"),
        remove=("/etc/sysctl.d/99-sysctl.conf",),
    ),
    Row(
        "rc.local: sysctl -p of what wins anyway",
        {"/etc/sysctl.conf": f"{KEY}=8194\n", "/etc/rc.local+": "#!/bin/sh\nsysctl -qp\n"},
        "pool_persisted",
        "pass",
        f"8194: {MANUAL}",
    ),
    Row(
        "rc.local: a named file",
        {"/opt/db.conf": f"{KEY}=10\n", "/etc/rc.local+": "#!/bin/sh\nsysctl -p/opt/db.conf\n"},
        "pool_persisted",
        "fail",
        f"10: {MANUAL}",
        ("10 pages from /opt/db.conf:1",),
    ),
    Row(
        "rc.local: echo",
        {"/etc/rc.local+": f"#!/bin/bash\ntouch /x\necho 10 >{POOL} 2>&1\n"},
        "pool_persisted",
        "fail",
        "10: proc(5)",
        ("10 pages from /etc/rc.local:3",),
    ),
    Row(
        "rc.local: a file without #! that it sources",
        {
            "/opt/hp.env": f"sysctl -w {KEY}=10\n",
            "/etc/rc.local+": "#!/bin/sh\n. /opt/hp.env\n",
        },
        "pool_persisted",
        "error",
        f"10: {MANUAL}; sh(1)",
        ("/opt/hp.env:1 may set vm.nr_hugepages to 10",),
    ),
    Row(
        "rc.local: echo to sysfs through tee",
        {"/etc/rc.local+": f"#!/bin/bash\necho 10 | sudo tee {SYSFS}\n"},
        "pool_persisted",
        "error",
        "10, if the pipe works: no plain command",
        ("/etc/rc.local:2 may set", "to 10"),
    ),
    Row(
        "rc.local: under a condition",
        {"/etc/rc.local+": f"#!/bin/sh\nif [ -f /x ]; then\n  sysctl -w {KEY}=10\nfi\n"},
        "pool_persisted",
        "error",
        "8194 or 10, by a file that nobody read",
        ("/etc/rc.local:3 may set", "it is unknown which one is applied last"),
    ),
    Row(
        "rc.local: after exit",
        {"/etc/rc.local+": f"#!/bin/sh\nexit 0\nsysctl -w {KEY}=10\n"},
        "pool_persisted",
        "pass",
        "8194: exit(1p) ends the script",
    ),
    Row(
        "rc.local: after a command of a script that stops at a failure",
        {"/etc/rc.local+": f"#!/bin/sh -e\n/opt/start\nsysctl -w {KEY}=10\n"},
        "pool_persisted",
        "error",
        "sh(1), -e: it is not sure that the line is reached",
    ),
    Row(
        "rc.local: it only looks",
        {"/etc/rc.local+": f"#!/bin/sh\ncat {POOL} > /tmp/pages\nsysctl -n {KEY}\ngrep x {POOL}\n"},
        "pool_persisted",
        "pass",
        "8194: cat(1) and sysctl -n read",
    ),
    Row(
        "rc.local: a loop over all pools",
        {
            "/etc/rc.local+": "#!/bin/sh\nfor p in /sys/kernel/mm/hugepages/*/nr_hugepages; do\n"
            "  echo 0 > $p\ndone\n"
        },
        "pool_persisted",
        "error",
        "0: the shell",
    ),
    Row(
        "rc.local calls a script",
        {
            "/etc/rc.local+": "#!/bin/sh\n/opt/oracle/tune.sh start\n",
            "/opt/oracle/tune.sh": f"#!/bin/bash\n[ -d /u01 ] && sysctl -w {KEY}=10\n",
        },
        "pool_persisted",
        "error",
        "10 where /u01 is there",
        ("/opt/oracle/tune.sh:2 may set",),
    ),
    Row(
        "rc.local: hugeadm",
        {"/etc/rc.local+": "#!/bin/sh\nhugeadm --pool-pages-min DEFAULT:10\n"},
        "pool_persisted",
        "error",
        "hugeadm(8)",
        ("hugeadm --pool-pages-min DEFAULT:10",),
    ),
    Row(
        "rc.local turns transparent huge pages on",
        {"/etc/rc.local+": f"#!/bin/sh\necho always > {packs.THP_FILE}\n"},
        "transparent_hugepages",
        "fail",
        "always: kernel transhuge.rst",
        ("always from /etc/rc.local:2",),
    ),
    Row(
        "rc.local: a word that the kernel does not take",
        {"/etc/rc.local+": f"#!/bin/sh\necho on > {packs.THP_FILE}\n"},
        "transparent_hugepages",
        "pass",
        "never: Linux, mm/huge_memory.c, enabled_store()",
        ("on (the kernel rejects it",),
    ),
    Row(
        "hugeadm turns them on",
        unit("ExecStart=/usr/bin/hugeadm --thp-always"),
        "transparent_hugepages",
        "fail",
        "always: hugeadm(8)",
        ("always from /etc/systemd/system/hp.service:4",),
        enabled=("hp.service",),
    ),
    Row(
        "a unit that is enabled",
        unit(f"ExecStart=/usr/sbin/sysctl -w {KEY}=10"),
        "pool_persisted",
        "fail",
        f"10: {MANUAL}; a unit starts after sysinit.target, so after systemd-sysctl",
        ("10 pages from /etc/systemd/system/hp.service:4",),
        enabled=("hp.service",),
    ),
    Row(
        "a unit with a shell",
        unit(f"ExecStart=-/bin/sh -c 'echo 10 > {POOL}'"),
        "pool_persisted",
        "fail",
        f"10: {MANUAL}",
        ("10 pages from",),
        enabled=("hp.service",),
    ),
    Row(
        "a unit without a shell redirects nothing",
        unit(f"ExecStart=/bin/echo 10 > {POOL}"),
        "pool_persisted",
        "pass",
        "8194: systemd.service(5), COMMAND LINES: redirection is not supported",
        enabled=("hp.service",),
    ),
    Row(
        "a unit under a condition",
        unit("ConditionPathExists=/x", "ExecStart=/sbin/sysctl --system"),
        "pool_persisted",
        "error",
        "1024 where /x is there: sysctl.conf comes last for procps",
        ("may set vm.nr_hugepages to 1024",),
        enabled=("hp.service",),
    ),
    Row(
        "a unit that is disabled",
        unit(f"ExecStart=/usr/sbin/sysctl -w {KEY}=10"),
        "pool_persisted",
        "pass",
        "8194: systemctl(1), is-enabled",
    ),
    Row(
        "a disabled unit with a timer",
        {**unit(f"ExecStart=/usr/sbin/sysctl -w {KEY}=10")},
        "pool_persisted",
        "error",
        "10 when the timer elapses: systemd.timer(5)",
        enabled=("hp.timer",),
    ),
    Row(
        "the vendor's unit is masked",
        {
            "/usr/lib/systemd/system/hp.service": f"[Service]\nExecStart=/sbin/sysctl {KEY}=10\n",
            UNIT: "",
        },
        "pool_persisted",
        "pass",
        "8194: systemd.unit(5), the file of /etc counts",
        enabled=("hp.service",),
    ),
    Row(
        "a drop-in of a unit",
        {
            "/etc/systemd/system/db.service.d/hp.conf": "[Service]\n"
            f"ExecStartPre=/sbin/sysctl {KEY}=10\n"
        },
        "pool_persisted",
        "error",
        "10, where the unit is started",
        enabled=("db.service",),
    ),
    Row(
        "a unit calls a script that loads sysctl.conf",
        {
            **unit("ExecStart=/usr/local/sbin/tune"),
            "/usr/local/sbin/tune": "#!/bin/sh\nexec sysctl -e -p\n",
            "/etc/sysctl.conf": f"{KEY}=10\n",
        },
        "pool_persisted",
        "error",
        f"10: {MANUAL}",
        ("may set vm.nr_hugepages to 10", "/usr/local/sbin/tune:2"),
        enabled=("hp.service",),
    ),
    Row(
        "a script of a unit that is disabled, through another script",
        {
            **unit("ExecStart=/opt/one"),
            "/opt/one": "#!/bin/sh\n/opt/two\n",
            "/opt/two": f"#!/bin/sh\nsysctl {KEY}=10\n",
        },
        "pool_persisted",
        "pass",
        "8194: nothing runs it",
    ),
    Row(
        "cron at boot",
        {"/etc/cron.d/hp": f"@reboot root /usr/sbin/sysctl -w {KEY}=10\n"},
        "pool_persisted",
        "error",
        f"10: {MANUAL}; nothing orders cron with other services",
        ("/etc/cron.d/hp:1",),
    ),
    Row(
        "root's crontab, every night",
        {"/var/spool/cron/root": f"0 3 * * * echo 10 > {POOL}\n"},
        "pool_persisted",
        "error",
        "10 after the first night",
        ("/var/spool/cron/root:1",),
    ),
    Row(
        "cron that sets the same",
        {"/var/spool/cron/crontabs/root": f"@reboot sysctl -w {KEY}=8194\n"},
        "pool_persisted",
        "pass",
        "8194 either way",
    ),
    Row(
        "two scripts: nobody knows which is last",
        {
            "/etc/rc.local+": f"#!/bin/sh\nsysctl -w {KEY}=8194\n",
            **unit(f"ExecStart=/usr/sbin/sysctl -w {KEY}=10"),
        },
        "pool_persisted",
        "error",
        "systemd.unit(5): no order without After= or Before=",
        enabled=("hp.service",),
    ),
    Row(
        "a script beside TuneD",
        {"/etc/rc.local+": f"#!/bin/sh\nsysctl -w {KEY}=10\n"},
        "pool_persisted",
        "error",
        "TuneD and rc-local.service have no order",
        profile=SOME_SYSCTL,
    ),
    Row(
        "a rule of udev",
        {"/etc/udev/rules.d/90-hp.rules": f'SUBSYSTEM=="cpu", SYSCTL{{{KEY}}}="10"\n'},
        "pool_persisted",
        "error",
        "10 when the device comes: udev(7)",
    ),
    Row(
        "the rule of systemd for network devices",
        {
            "/usr/lib/udev/rules.d/99-systemd.rules": 'ACTION=="add", SUBSYSTEM=="net", '
            'RUN+="/usr/lib/systemd/systemd-sysctl --prefix=/net/ipv4/conf/$name"\n',
        },
        "pool_persisted",
        "pass",
        "8194: systemd-sysctl(8), --prefix",
    ),
    Row(
        "a module that is loaded applies all of sysctl again",
        {
            "/etc/modprobe.d/nfs.conf": "install sunrpc /sbin/modprobe --ignore-install sunrpc && "
            "/sbin/sysctl -q --system\n",
        },
        "pool_persisted",
        "error",
        "1024 once it is loaded: sysctl(8), --system ends with /etc/sysctl.conf",
        ("may set vm.nr_hugepages to 1024",),
    ),
    Row(
        "a module that applies its own keys",
        {
            "/etc/modprobe.d/nfs.conf": "install sunrpc /sbin/modprobe --ignore-install sunrpc && "
            "/sbin/sysctl -q --pattern ^sunrpc --system\n",
        },
        "pool_persisted",
        "pass",
        "8194: sysctl(8), --pattern",
    ),
    Row(
        "an old boot script",
        {"/etc/rc3.d/S99hp": f"#!/bin/sh\nsysctl {KEY}=10\n"},
        "pool_persisted",
        "error",
        "10: init(8)",
    ),
    Row(
        "a language that is no shell",
        {
            **unit("ExecStart=/opt/hp.py"),
            "/opt/hp.py": f'#!/usr/bin/python3\nopen("{POOL}", "w").write("10")\n',
        },
        "pool_persisted",
        "error",
        "10",
        enabled=("hp.service",),
    ),
    Row(
        "another setting is nobody's business here",
        {
            "/etc/rc.local+": "#!/bin/sh\nsysctl -w net.core.wmem_max=1\necho 1 > /proc/sys/fs/x\n",
            "/etc/cron.d/x": "@reboot root sysctl -w vm.swappiness=1\n",
        },
        "pool_persisted",
        "pass",
        "8194",
    ),
)

GIGANTIC = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
OVERCOMMIT = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages"
DECIMAL = "Linux, mm/hugetlb.c, nr_hugepages_store_common(): kstrtoul() with the base 10"

#: Huge pages beside the pool, by what comes after sysctl.d.
BESIDE = (
    Row(
        "pages of 1 GiB that a profile makes",
        {},
        "ram_share",
        "fail",
        f"40 GiB: {PROFILES}",
        ("huge pages after reboot", "40.0 GiB of it in pages of other sizes"),
        profile=f"[sysfs]\n{GIGANTIC}=40\n",
    ),
    Row(
        "pages of 1 GiB that rc.local makes",
        {"/etc/rc.local+": f"#!/bin/sh\necho 40 > {GIGANTIC}\n"},
        "ram_share",
        "fail",
        f"40 GiB: {MANUAL}",
        ("40.0 GiB of it in pages of other sizes",),
    ),
    Row(
        "a leading 0 is nothing there",
        {"/etc/rc.local+": f"#!/bin/sh\necho 040 > {GIGANTIC}\n"},
        "ram_share",
        "fail",
        f"40, not 32: {DECIMAL}",
        ("40.0 GiB of it in pages of other sizes",),
    ),
    Row(
        "hexadecimal is refused there",
        {"/etc/tmpfiles.d/g.conf": f"w {GIGANTIC} - - - - 0x28\n"},
        "ram_share",
        "pass",
        f"none: {DECIMAL}",
    ),
    Row(
        "pages of 1 GiB on some nodes",
        {"/etc/tmpfiles.d/g.conf": f"w {GIGANTIC.replace('kernel/mm', NODE)} - - - - 1\n"},
        "ram_share",
        "error",
        "kernel hugetlbpage.rst: a part of the pool",
        ("nr_hugepages of the pages of 1.0 GiB",),
    ),
    Row(
        "pages of 1 GiB by hugeadm",
        unit("ExecStart=/usr/bin/hugeadm --pool-pages-min 1G:40"),
        "ram_share",
        "error",
        "hugeadm(8): 40",
        enabled=("hp.service",),
    ),
    Row(
        "surplus pages that a profile allows",
        {},
        "ram_share",
        "fail",
        f"40 GiB: {PROFILES}",
        ("40.0 GiB of it allowed beyond the pool",),
        profile=f"[sysfs]\n{OVERCOMMIT}=20480\n",
    ),
    Row(
        "surplus pages of 1 GiB that a unit allows",
        unit(f"ExecStart=/bin/sh -c 'echo 40 > {GIGANTIC.replace('nr_', 'nr_overcommit_')}'"),
        "ram_share",
        "fail",
        f"40 GiB: {MANUAL}",
        ("40.0 GiB of it allowed beyond the pool",),
        enabled=("hp.service",),
    ),
    Row(
        "surplus pages, octal",
        {OTHER: "vm.nr_overcommit_hugepages = 050000\n"},
        "ram_share",
        "fail",
        f"20480: {NUMBERS}",
        ("40.0 GiB of it allowed beyond the pool",),
    ),
    Row(
        "surplus pages, refused",
        {OTHER: "vm.nr_overcommit_hugepages = 09\n"},
        "no_overcommit",
        "pass",
        f"0: {NUMBERS}",
    ),
    Row(
        "surplus pages, perhaps",
        {"/etc/cron.d/hp": "@reboot root /usr/sbin/sysctl -w vm.nr_overcommit_hugepages=9\n"},
        "no_overcommit",
        "error",
        MANUAL,
        ("/etc/cron.d/hp:1",),
    ),
    Row(
        "the pool by sysfs, with a leading 0",
        {"/etc/rc.local+": f"#!/bin/sh\necho 08194 > {SYSFS}\n"},
        "pool_persisted",
        "pass",
        f"8194: {DECIMAL}",
        ("8194 pages from /etc/rc.local:2",),
    ),
    Row(
        "the pool by sysfs, hexadecimal",
        {"/etc/rc.local+": f"#!/bin/sh\necho 0x10 > {SYSFS}\n"},
        "pool_persisted",
        "pass",
        f"8194, since 0x10 is refused: {DECIMAL}",
        ("the kernel rejects it: it is not a decimal number",),
    ),
)

#: What is known to be wrong stays so beside what is not known, of which apply makes no plan.
WRONG_ANYWAY = (
    Row(
        "too many pages of one size are too many whatever the others are",
        {
            "/etc/rc.local+": f"#!/bin/sh\necho 50 > {GIGANTIC}\n",
            "/etc/tmpfiles.d/g.conf": f"w {SYSFS} - - - - 8194\n",
        },
        "ram_share",
        "fail",
        "kernel hugetlbpage.rst: 50 GiB of 64 GiB, and some pool beside them",
        ("huge pages after reboot",),
    ),
    Row(
        "transparent huge pages that are on now are wrong whatever cron does",
        {
            packs.THP_FILE: "[always] madvise never\n",
            "/etc/cron.d/hp": f"@reboot root echo always > {packs.THP_FILE}\n",
        },
        "transparent_hugepages",
        "fail",
        MANUAL,
    ),
)


def machine_of(row: Row) -> Machine:
    machine = packs.database_host()
    if "--system" in "".join(row.files.values()):
        # In a file of sysctl.d that the drop-in beats, and last for procps.
        machine.remove("/etc/sysctl.d/99-sysctl.conf")
        if "/etc/rc.local+" not in row.files:
            machine.file("/etc/sysctl.conf", f"{KEY} = 1024\n")
    machine.remove(*row.remove)
    for path, text in row.files.items():
        machine.file(path.rstrip("+"), text, 0o755 if path.endswith("+") else 0o644)
    if row.profile is not None:
        machine.file("/etc/tuned/active_profile", "site\n")
        machine.file("/usr/lib/tuned/site/tuned.conf", row.profile)
    for name in ("hp.service", "hp.timer", "db.service", "db.timer"):
        state = "enabled" if name in row.enabled else "disabled"
        machine.command(f"systemctl is-enabled {name}", state + "\n", int(state == "disabled"))
    return machine


ROWS = TUNED + NUMBER + SCRIPTS + BESIDE


@pytest.mark.parametrize("row", ROWS + WRONG_ANYWAY, ids=lambda row: row.name)
def test_next_boot(judge, row):
    [finding] = judge(machine_of(row))[row.check]
    assert finding.status == row.status, (row.truth, finding)
    output = " ".join(str(part) for part in finding)
    for text in row.says:
        assert text in output


@pytest.mark.parametrize("row", ROWS + WRONG_ANYWAY, ids=lambda row: row.name)
def test_a_recording_of_it_says_the_same(judge, row):
    machine = machine_of(row)
    live = judge(machine)
    assert judge(RecordedHost(machine.evidence)) == live


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_apply_says_it_before_it_writes(plan, row):
    """Where the drop-in of apply would not win, there is a refusal or an error, and no plan."""
    machine = machine_of(row)
    try:
        host_plan = plan(machine)
    except HostproofError:
        assert row.status == "error"
        return
    for change in host_plan.changes:
        machine.file(change.path, getattr(change, "content", None) or change.value)
    machine.evidence.clear()
    if not host_plan.refusals:
        again = plan(machine)
        assert [change for change in again.changes if "sysctl.d" in change.path] == []
        assert again.refusals == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "sysctl.conf that systemd does not read counts for TuneD",
            "would not win at boot, /etc/sysctl.conf:1 (vm.nr_hugepages = 1024) comes later: TuneD "
            "applies it after its own values (reapply_sysctl); take it out there, for no file of "
            "sysctl.d is read after it",
        ),
        (
            "a section of the plugin sysfs",
            "would not win at boot, tuned profile /usr/lib/tuned/site/tuned.conf (vm.nr_hugepages "
            "= 10) comes later; take it out there",
        ),
        (
            "rc.local: sysctl -p of a file that systemd does not read",
            "/etc/sysctl.conf:1 (vm.nr_hugepages = 10) comes later: loaded by /etc/rc.local:2 "
            "'/sbin/sysctl -p'; take it out there",
        ),
        (
            "a leading 0",
            "would not win at boot, /etc/sysctl.d/99-zzz.conf:1 = 08194 (the kernel rejects it: a "
            "leading 0 makes it octal, and octal has no 8) comes later; correct or remove that",
        ),
        (
            "octal",
            "(vm.nr_hugepages = 4098) comes later: written '010002', a leading 0 makes it octal; "
            "remove that, or choose a hugepages_sysctl_file that is read after it",
        ),
    ],
)
def test_the_refusal_names_what_decides(plan, name, reason):
    [row] = [row for row in ROWS if row.name == name]
    [refusal] = plan(machine_of(row)).refusals
    assert reason in refusal.reason
    assert refusal.override is None


NOT_OURS = [
    "sysctl.conf that systemd does not read counts for TuneD",
    "a section of the plugin sysfs",
    "type says the plugin",
    "a leading 0",
    "octal",
    "rc.local: sysctl -p of a file that systemd does not read",
    "rc.local: echo",
    "a unit that is enabled",
]


@pytest.mark.parametrize("name", NOT_OURS)
def test_no_fix_proposes_what_something_else_would_undo(judge, name):
    """Neither of the pool that boots nor of one that is too small already."""
    [row] = [row for row in ROWS if row.name == name]
    for pages in (packs.PAGES_NEEDED, 4096):
        findings = judge(machine_of(row).pool(pages, 0))
        [persisted] = findings["pool_persisted"]
        [covers] = findings["pool_covers_sga"]
        short = covers.status == "fail"
        assert short == (pages == 4096)
        for finding in (persisted, covers) if short else (persisted,):
            assert finding.commands == ()
            assert "would not win at boot" in (finding.fix or ""), finding


def test_a_line_shows_every_place_that_loses(judge):
    machine = packs.database_host().file("/etc/sysctl.d/10-a b.conf", f"{KEY} = 5\n")
    [finding] = judge(machine)["single_source"]
    assert finding.commands == ("grep -n nr_hugepages '/etc/sysctl.d/10-a b.conf'",)


PACKS = [
    ("f1-tuned-reapply", "1024 pages from /etc/sysctl.conf:1"),
    ("f6-octal", "nothing sets it; not used: "),
    ("f7-tuned-type", "10 pages from tuned profile /usr/lib/tuned/t/tuned.conf"),
    ("f8-rclocal-sysctl-p", "10 pages from /etc/sysctl.conf:1 (loaded by /etc/rc.d/rc.local:2"),
]


@pytest.mark.parametrize(("name", "persisted"), PACKS)
def test_packs_on_which_an_older_version_passed(judge, name, persisted):
    host = RecordedHost(*evidence.open_pack(str(FOLDER / f"{name}.example.com.json")))
    [finding] = judge(host)["pool_persisted"]
    assert finding.status == "fail"
    assert str(finding.persisted).startswith(persisted)


def test_a_pack_that_never_looked_for_scripts_is_no_proof(judge):
    """A fail stands on what is there; a pass would need what the pack does not hold."""
    machine = packs.database_host()
    judge(machine)
    readings: dict[str, Any] = dict(machine.evidence)
    del readings["lines:boot"]
    findings = judge(RecordedHost(readings, VERSION))
    for check in (
        "pool_persisted",
        "single_source",
        "shm_group",
        "transparent_hugepages",
        "ram_share",
        "no_overcommit",
    ):
        [finding] = findings[check]
        assert finding.status == "error"
        assert "lines:boot is not in the recorded evidence" in finding.why


def test_a_crontab_that_may_not_be_read_leaves_it_open(judge):
    machine = packs.database_host().deny("/var/spool/cron/crontabs/root")
    [finding] = judge(machine)["pool_persisted"]
    assert (finding.status, finding.fix) == ("error", "rerun with --become (requires root)")
