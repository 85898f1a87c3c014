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
from cases import cases
from packs import Machine
from stories import merged, titled, verdict

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


def rows(check: str, *parts: Any) -> tuple[Row, ...]:
    """As stories(); the first text says the truth, and a dictionary holds files and the rest."""
    made = []
    for name, values in titled(parts):
        what, status, (truth, *says) = verdict(check, values)
        files = merged(values)
        rest = {field: files.pop(field) for field in Row._fields if field in files}
        made.append(Row(name, files, what, status, truth, tuple(says), **rest))
    return tuple(made)


def unit(*lines: str) -> dict[str, str]:
    return {UNIT: "\n".join(["[Unit]", "[Service]", "Type=oneshot", *lines]) + "\n"}


TUNED = rows(
    "pool_persisted",
    "sysctl.conf that systemd does not read counts for TuneD",
    ("fail", {"/etc/sysctl.conf": f"{KEY} = 1024\n"}),
    (
        f"1024: {REAPPLY} ends with /etc/sysctl.conf, linked or not",
        "1024 pages from /etc/sysctl.conf:1",
        "reapply_sysctl",
    ),
    {"profile": SOME_SYSCTL, "remove": ("/etc/sysctl.d/99-sysctl.conf",)},
    "without a section of sysctl nothing is applied again",
    ("pass", {"/etc/sysctl.conf": f"{KEY} = 1024\n"}),
    (f"8194: {REAPPLY} is called by an instance of the plugin only",),
    {"profile": "[vm]\ntransparent_hugepages=never\n"},
    "reapply_sysctl = 0",
    ("pass", "8194: tuned-main.conf(5)"),
    {"/etc/sysctl.conf": f"{KEY} = 1024\n", "/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n"},
    {"profile": SOME_SYSCTL},
    "a value of /usr/lib/sysctl.d loses to the profile",
    ("fail", {"/usr/lib/sysctl.d/99-pool.conf": f"{KEY} = 8194\n"}),
    (
        f"10: {REAPPLY} reads /etc only",
        "10 pages from tuned profile",
        "not used: /usr/lib/sysctl.d/99-pool.conf:1 = 8194",
    ),
    {"profile": f"[sysctl]\n{KEY}=10\n", "remove": (packs.SYSCTL_FILE,)},
    "a boot finds no file in /run, and TuneD none either",
    ("pass", {"/run/sysctl.d/99-zz-hostproof-hugepages.conf": f"{KEY} = 10\n"}),
    ("", f"8194 pages from {packs.SYSCTL_FILE}:3"),
    {"profile": SOME_SYSCTL},
    "a line with a dash is not applied again",
    ("fail", {packs.SYSCTL_FILE: f"-{KEY} = 8194\nvm.hugetlb_shm_group = 54321\n"}),
    (f"10: {REAPPLY} writes to /proc/sys/-vm/nr_hugepages", "10 pages from tuned profile"),
    {"profile": f"[sysctl]\n{KEY}=10\n"},
    "the drop-in in /etc beats the profile",
    ("pass", f"8194: {REAPPLY}", "TuneD applies it after its own values"),
    {"profile": f"[sysctl]\n{KEY}=10\n"},
    "one file under two names is one owner",
    ("pass single_source", {"/etc/sysctl.conf": f"{KEY} = 8194\nvm.hugetlb_shm_group = 54321\n"}),
    ("99-sysctl.conf is a link to sysctl.conf",),
    {"profile": SOME_SYSCTL, "remove": (packs.SYSCTL_FILE,)},
    "the group too",
    ("fail shm_group", {"/etc/sysctl.conf": "vm.hugetlb_shm_group = 0\n"}),
    (f"0: {REAPPLY}; the host's kernel of EL9 has the change of 5.16", "0 from /etc/sysctl.conf:1"),
    {"profile": SOME_SYSCTL},
    "type says the plugin",
    ("fail", {"/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n"}),
    (f"10: {PROFILES}", "10 pages from tuned profile"),
    {"profile": f"[hp]\ntype=sysctl\n{KEY}=10\n"},
    "a section of the plugin sysfs",
    ("fail", f"10: {PROFILES}; nothing is applied again after it", "10 pages from tuned profile"),
    {"profile": f"[sysfs]\n{SYSFS}=10\n"},
    "sysfs for one node",
    ("error", "kernel hugetlbpage.rst: a part of the pool, so the sum is not in the file"),
    {
        "profile": "[x]\ntype=sysfs\n/sys/devices/system/node/node1/hugepages/"
        "hugepages-2048kB/nr_hugepages=10\n"
    },
    "an included profile, and a variable of the including one",
    ("fail", f"10: {PROFILES}", "10 pages from tuned profile /usr/lib/tuned/base/tuned.conf"),
    {
        "/usr/lib/tuned/base/tuned.conf": f"[variables]\nhp=8194\n[sysctl]\n{KEY}=${{hp}}\n",
        "/etc/tuned/tuned-main.conf": "reapply_sysctl = no\n",
    },
    {"profile": "[main]\ninclude=base\n[variables]\nhp=10\n"},
    "a value that a function of TuneD makes",
    ("error", {"/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n"}),
    ("only TuneD knows: profiles/functions", "by a function of TuneD"),
    {"profile": f"[sysctl]\n{KEY}=${{f:exec:cat:/root/pages}}\n"},
    "a script of the profile",
    (
        "error",
        "tuned.conf(5), plugin script: it runs when TuneD starts",
        "/usr/lib/tuned/site/set.sh:3",
    ),
    {"/usr/lib/tuned/site/set.sh": f"#!/bin/sh\n. /usr/lib/tuned/functions\necho 9 > {POOL}\n"},
    {"profile": "[script]\nscript=${i:PROFILE_DIR}/set.sh\n"},
    "vm under another name turns transparent huge pages on",
    ("fail transparent_hugepages", f"always: {PROFILES}", "always from tuned profile"),
    {"profile": "[thp]\ntype=vm\ntransparent_hugepages=always\n"},
    "sysfs turns them on",
    ("fail transparent_hugepages", f"always: {PROFILES}", "always from tuned profile"),
    {"profile": "[sysfs]\n/sys/kernel/mm/transparent_hugepage/enabled=always\n"},
    "a section for another architecture does not count",
    ("pass transparent_hugepages", f"never: {PROFILES}; the release of the kernel says x86_64"),
    {"profile": "[vm.arm]\ntype=vm\nuname_regex=aarch64\ntransparent_hugepages=always\n"},
    "a section for some processors may count",
    ("error transparent_hugepages",),
    ("cpuinfo_regex is compared with /proc/cpuinfo, which is not read",),
    {"profile": "[vm.amd]\ntype=vm\ncpuinfo_regex=AMD\ntransparent_hugepages=always\n"},
    "a profile that comes after the active one",
    (
        "fail",
        "TuneD, daemon.py, _load_profiles(): post_loaded_profile",
        "10 pages from tuned profile /usr/lib/tuned/late/tuned.conf",
    ),
    {
        "/etc/tuned/post_loaded_profile": "late\n",
        "/usr/lib/tuned/late/tuned.conf": f"[sysfs]\n{SYSFS}=10\n",
    },
    {"profile": SOME_SYSCTL},
)

NUMBER = rows(
    "pool_persisted",
    "a leading 0",
    ("fail", {OTHER: f"{KEY} = 08194\n"}),
    (
        f"0 pages: {NUMBERS}; systemd writes the last assignment alone",
        "octal has no 8",
        "nothing sets it",
    ),
    "octal",
    ("fail", {OTHER: f"{KEY} = 010002\n"}),
    (f"4098: {NUMBERS}", "4098 pages from", "written '010002', a leading 0 makes it octal"),
    "hexadecimal is a number",
    ("pass", {OTHER: f"{KEY} = 0x2002\n"}, f"8194: {NUMBERS}"),
    "a unit",
    ("fail", {OTHER: f"{KEY} = 16G\n"}, f"refused: {NUMBERS}"),
    "a sign",
    ("fail", {OTHER: f"{KEY} = +8194\n"}, f"refused: {NUMBERS}"),
    "a comment behind the number",
    ("pass", {OTHER: f"{KEY} = 8194 # for ORCL\n"}, f"8194: {NUMBERS}, a space ends it"),
    "a comment that touches it",
    ("fail", {OTHER: f"{KEY} = 8194# for ORCL\n"}, f"refused: {NUMBERS}"),
    "more than 64 bits",
    ("fail", {OTHER: f"{KEY} = 18446744073709551617\n"}, f"refused, not 1: {NUMBERS}"),
    "procps writes line by line, so the one before stays",
    ("pass", {OTHER: f"{KEY} = 08194\n", "/etc/rc.local+": "#!/bin/sh\nsysctl --system\n"}),
    (f"8194: {MANUAL}; the refused line changes nothing", "loaded by /etc/rc.local:2"),
    "an octal group",
    ("fail shm_group", {OTHER: "vm.hugetlb_shm_group = 054321\n"}),
    (f"22737: {NUMBERS}; the host's kernel of EL9 has the change of 5.16", "22737 from"),
    "a value beyond the pool, at the next reboot",
    ("warn no_overcommit", {OTHER: "vm.nr_overcommit_hugepages = 0x10\n"}),
    (f"16: {NUMBERS}", "16 from /etc/sysctl.d/99-zzz.conf:1"),
)

SCRIPTS = rows(
    "pool_persisted",
    "rc.local: sysctl -p of a file that systemd does not read",
    ("fail", {"/etc/sysctl.conf": f"{KEY}=10\n", "/etc/rc.local+": "#!/bin/sh\n/sbin/sysctl -p\n"}),
    (f"10: {MANUAL}", "10 pages from /etc/sysctl.conf:1", "loaded by /etc/rc.local:2"),
    {"remove": ("/etc/sysctl.d/99-sysctl.conf",)},
    "rc.local: sysctl -p of what wins anyway",
    ("pass", {"/etc/sysctl.conf": f"{KEY}=8194\n", "/etc/rc.local+": "#!/bin/sh\nsysctl -qp\n"}),
    (f"8194: {MANUAL}",),
    "rc.local: a named file",
    ("fail", f"10: {MANUAL}", "10 pages from /opt/db.conf:1"),
    {"/opt/db.conf": f"{KEY}=10\n", "/etc/rc.local+": "#!/bin/sh\nsysctl -p/opt/db.conf\n"},
    "rc.local: echo",
    ("fail", {"/etc/rc.local+": f"#!/bin/bash\ntouch /x\necho 10 >{POOL} 2>&1\n"}),
    ("10: proc(5)", "10 pages from /etc/rc.local:3"),
    "rc.local: a file without #! that it sources",
    ("error", f"10: {MANUAL}; sh(1)", "/opt/hp.env:1 may set vm.nr_hugepages to 10"),
    {"/opt/hp.env": f"sysctl -w {KEY}=10\n", "/etc/rc.local+": "#!/bin/sh\n. /opt/hp.env\n"},
    "rc.local: echo to sysfs through tee",
    ("error", {"/etc/rc.local+": f"#!/bin/bash\necho 10 | sudo tee {SYSFS}\n"}),
    ("10, if the pipe works: no plain command", "/etc/rc.local:2 may set", "to 10"),
    "rc.local: under a condition",
    ("error", {"/etc/rc.local+": f"#!/bin/sh\nif [ -f /x ]; then\n  sysctl -w {KEY}=10\nfi\n"}),
    (
        "8194 or 10, by a file that nobody read",
        "/etc/rc.local:3 may set",
        "it is unknown which one is applied last",
    ),
    "rc.local: after exit",
    ("pass", {"/etc/rc.local+": f"#!/bin/sh\nexit 0\nsysctl -w {KEY}=10\n"}),
    ("8194: exit(1p) ends the script",),
    "rc.local: after a command of a script that stops at a failure",
    ("error", {"/etc/rc.local+": f"#!/bin/sh -e\n/opt/start\nsysctl -w {KEY}=10\n"}),
    ("sh(1), -e: it is not sure that the line is reached",),
    "rc.local: it only looks",
    ("pass", "8194: cat(1) and sysctl -n read"),
    {"/etc/rc.local+": f"#!/bin/sh\ncat {POOL} > /tmp/pages\nsysctl -n {KEY}\ngrep x {POOL}\n"},
    "rc.local: a loop over all pools",
    ("error", "0: the shell"),
    {
        "/etc/rc.local+": "#!/bin/sh\nfor p in /sys/kernel/mm/hugepages/*/nr_hugepages; do\n"
        "  echo 0 > $p\ndone\n"
    },
    "rc.local calls a script",
    ("error", "10 where /u01 is there", "/opt/oracle/tune.sh:2 may set"),
    {
        "/etc/rc.local+": "#!/bin/sh\n/opt/oracle/tune.sh start\n",
        "/opt/oracle/tune.sh": f"#!/bin/bash\n[ -d /u01 ] && sysctl -w {KEY}=10\n",
    },
    "rc.local: hugeadm",
    ("error", {"/etc/rc.local+": "#!/bin/sh\nhugeadm --pool-pages-min DEFAULT:10\n"}),
    ("hugeadm(8)", "hugeadm --pool-pages-min DEFAULT:10"),
    "rc.local turns transparent huge pages on",
    ("fail transparent_hugepages", "always: kernel transhuge.rst", "always from /etc/rc.local:2"),
    {"/etc/rc.local+": f"#!/bin/sh\necho always > {packs.THP_FILE}\n"},
    "rc.local: a word that the kernel does not take",
    ("pass transparent_hugepages", {"/etc/rc.local+": f"#!/bin/sh\necho on > {packs.THP_FILE}\n"}),
    ("never: Linux, mm/huge_memory.c, enabled_store()", "on (the kernel rejects it"),
    "hugeadm turns them on",
    ("fail transparent_hugepages", unit("ExecStart=/usr/bin/hugeadm --thp-always")),
    ("always: hugeadm(8)", "always from /etc/systemd/system/hp.service:4"),
    {"enabled": ("hp.service",)},
    "a unit that is enabled",
    ("fail", unit(f"ExecStart=/usr/sbin/sysctl -w {KEY}=10")),
    (
        f"10: {MANUAL}; a unit starts after sysinit.target, so after systemd-sysctl",
        "10 pages from /etc/systemd/system/hp.service:4",
    ),
    {"enabled": ("hp.service",)},
    "a unit with a shell",
    ("fail", unit(f"ExecStart=-/bin/sh -c 'echo 10 > {POOL}'"), f"10: {MANUAL}", "10 pages from"),
    {"enabled": ("hp.service",)},
    "a unit without a shell redirects nothing",
    ("pass", unit(f"ExecStart=/bin/echo 10 > {POOL}")),
    ("8194: systemd.service(5), COMMAND LINES: redirection is not supported",),
    {"enabled": ("hp.service",)},
    "a unit under a condition",
    ("error", unit("ConditionPathExists=/x", "ExecStart=/sbin/sysctl --system")),
    (
        "1024 where /x is there: sysctl.conf comes last for procps",
        "may set vm.nr_hugepages to 1024",
    ),
    {"enabled": ("hp.service",)},
    "a unit that is disabled",
    ("pass", unit(f"ExecStart=/usr/sbin/sysctl -w {KEY}=10"), "8194: systemctl(1), is-enabled"),
    "a disabled unit with a timer",
    ("error", {**unit(f"ExecStart=/usr/sbin/sysctl -w {KEY}=10")}),
    ("10 when the timer elapses: systemd.timer(5)",),
    {"enabled": ("hp.timer",)},
    "the vendor's unit is masked",
    ("pass", "8194: systemd.unit(5), the file of /etc counts"),
    {
        "/usr/lib/systemd/system/hp.service": f"[Service]\nExecStart=/sbin/sysctl {KEY}=10\n",
        UNIT: "",
    },
    {"enabled": ("hp.service",)},
    "a drop-in of a unit",
    ("error", "10, where the unit is started"),
    {
        "/etc/systemd/system/db.service.d/hp.conf": "[Service]\n"
        f"ExecStartPre=/sbin/sysctl {KEY}=10\n"
    },
    {"enabled": ("db.service",)},
    "a unit calls a script that loads sysctl.conf",
    ("error", f"10: {MANUAL}", "may set vm.nr_hugepages to 10", "/usr/local/sbin/tune:2"),
    {
        **unit("ExecStart=/usr/local/sbin/tune"),
        "/usr/local/sbin/tune": "#!/bin/sh\nexec sysctl -e -p\n",
        "/etc/sysctl.conf": f"{KEY}=10\n",
    },
    {"enabled": ("hp.service",)},
    "a script of a unit that is disabled, through another script",
    ("pass", "8194: nothing runs it"),
    {
        **unit("ExecStart=/opt/one"),
        "/opt/one": "#!/bin/sh\n/opt/two\n",
        "/opt/two": f"#!/bin/sh\nsysctl {KEY}=10\n",
    },
    "cron at boot",
    ("error", {"/etc/cron.d/hp": f"@reboot root /usr/sbin/sysctl -w {KEY}=10\n"}),
    (f"10: {MANUAL}; nothing orders cron with other services", "/etc/cron.d/hp:1"),
    "root's crontab, every night",
    ("error", {"/var/spool/cron/root": f"0 3 * * * echo 10 > {POOL}\n"}),
    ("10 after the first night", "/var/spool/cron/root:1"),
    "cron that sets the same",
    ("pass", {"/var/spool/cron/crontabs/root": f"@reboot sysctl -w {KEY}=8194\n"}),
    ("8194 either way",),
    "two scripts: nobody knows which is last",
    ("error", "systemd.unit(5): no order without After= or Before="),
    {
        "/etc/rc.local+": f"#!/bin/sh\nsysctl -w {KEY}=8194\n",
        **unit(f"ExecStart=/usr/sbin/sysctl -w {KEY}=10"),
    },
    {"enabled": ("hp.service",)},
    "a script beside TuneD",
    ("error", {"/etc/rc.local+": f"#!/bin/sh\nsysctl -w {KEY}=10\n"}),
    ("TuneD and rc-local.service have no order",),
    {"profile": SOME_SYSCTL},
    "a rule of udev",
    ("error", {"/etc/udev/rules.d/90-hp.rules": f'SUBSYSTEM=="cpu", SYSCTL{{{KEY}}}="10"\n'}),
    ("10 when the device comes: udev(7)",),
    "the rule of systemd for network devices",
    ("pass", "8194: systemd-sysctl(8), --prefix"),
    {
        "/usr/lib/udev/rules.d/99-systemd.rules": 'ACTION=="add", SUBSYSTEM=="net", '
        'RUN+="/usr/lib/systemd/systemd-sysctl --prefix=/net/ipv4/conf/$name"\n'
    },
    "a module that is loaded applies all of sysctl again",
    (
        "error",
        "1024 once it is loaded: sysctl(8), --system ends with /etc/sysctl.conf",
        "may set vm.nr_hugepages to 1024",
    ),
    {
        "/etc/modprobe.d/nfs.conf": "install sunrpc /sbin/modprobe --ignore-install sunrpc && "
        "/sbin/sysctl -q --system\n"
    },
    "a module that applies its own keys",
    ("pass", "8194: sysctl(8), --pattern"),
    {
        "/etc/modprobe.d/nfs.conf": "install sunrpc /sbin/modprobe --ignore-install sunrpc && "
        "/sbin/sysctl -q --pattern ^sunrpc --system\n"
    },
    "an old boot script",
    ("error", {"/etc/rc3.d/S99hp": f"#!/bin/sh\nsysctl {KEY}=10\n"}, "10: init(8)"),
    "a language that is no shell",
    ("error", "10"),
    {
        **unit("ExecStart=/opt/hp.py"),
        "/opt/hp.py": f'#!/usr/bin/python3\nopen("{POOL}", "w").write("10")\n',
    },
    {"enabled": ("hp.service",)},
    "another setting is nobody's business here",
    ("pass", "8194"),
    {
        "/etc/rc.local+": "#!/bin/sh\nsysctl -w net.core.wmem_max=1\necho 1 > /proc/sys/fs/x\n",
        "/etc/cron.d/x": "@reboot root sysctl -w vm.swappiness=1\n",
    },
)

GIGANTIC = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
OVERCOMMIT = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages"
DECIMAL = "Linux, mm/hugetlb.c, nr_hugepages_store_common(): kstrtoul() with the base 10"

#: Huge pages beside the pool, by what comes after sysctl.d.
BESIDE = rows(
    "ram_share",
    "pages of 1 GiB that a profile makes",
    ("fail",),
    (f"40 GiB: {PROFILES}", "huge pages after reboot", "40.0 GiB of it in pages of other sizes"),
    {"profile": f"[sysfs]\n{GIGANTIC}=40\n"},
    "pages of 1 GiB that rc.local makes",
    ("fail", {"/etc/rc.local+": f"#!/bin/sh\necho 40 > {GIGANTIC}\n"}),
    (f"40 GiB: {MANUAL}", "40.0 GiB of it in pages of other sizes"),
    "a leading 0 is nothing there",
    ("fail", {"/etc/rc.local+": f"#!/bin/sh\necho 040 > {GIGANTIC}\n"}),
    (f"40, not 32: {DECIMAL}", "40.0 GiB of it in pages of other sizes"),
    "hexadecimal is refused there",
    ("pass", {"/etc/tmpfiles.d/g.conf": f"w {GIGANTIC} - - - - 0x28\n"}, f"none: {DECIMAL}"),
    "pages of 1 GiB on some nodes",
    ("error", {"/etc/tmpfiles.d/g.conf": f"w {GIGANTIC.replace('kernel/mm', NODE)} - - - - 1\n"}),
    ("kernel hugetlbpage.rst: a part of the pool", "nr_hugepages of the pages of 1.0 GiB"),
    "pages of 1 GiB by hugeadm",
    ("error", unit("ExecStart=/usr/bin/hugeadm --pool-pages-min 1G:40"), "hugeadm(8): 40"),
    {"enabled": ("hp.service",)},
    "surplus pages that a profile allows",
    ("fail", f"40 GiB: {PROFILES}", "40.0 GiB of it allowed beyond the pool"),
    {"profile": f"[sysfs]\n{OVERCOMMIT}=20480\n"},
    "surplus pages of 1 GiB that a unit allows",
    ("fail", unit(f"ExecStart=/bin/sh -c 'echo 40 > {GIGANTIC.replace('nr_', 'nr_overcommit_')}'")),
    (f"40 GiB: {MANUAL}", "40.0 GiB of it allowed beyond the pool"),
    {"enabled": ("hp.service",)},
    "surplus pages, octal",
    ("fail", {OTHER: "vm.nr_overcommit_hugepages = 050000\n"}),
    (f"20480: {NUMBERS}", "40.0 GiB of it allowed beyond the pool"),
    "surplus pages, refused",
    ("pass no_overcommit", {OTHER: "vm.nr_overcommit_hugepages = 09\n"}, f"0: {NUMBERS}"),
    "surplus pages, perhaps",
    ("error no_overcommit", MANUAL, "/etc/cron.d/hp:1"),
    {"/etc/cron.d/hp": "@reboot root /usr/sbin/sysctl -w vm.nr_overcommit_hugepages=9\n"},
    "the pool by sysfs, with a leading 0",
    ("pass pool_persisted", {"/etc/rc.local+": f"#!/bin/sh\necho 08194 > {SYSFS}\n"}),
    (f"8194: {DECIMAL}", "8194 pages from /etc/rc.local:2"),
    "the pool by sysfs, hexadecimal",
    ("pass pool_persisted", {"/etc/rc.local+": f"#!/bin/sh\necho 0x10 > {SYSFS}\n"}),
    (
        f"8194, since 0x10 is refused: {DECIMAL}",
        "the kernel rejects it: it is not a decimal number",
    ),
)

#: What is known to be wrong stays so beside what is not known, of which apply makes no plan.
WRONG_ANYWAY = rows(
    "ram_share",
    "too many pages of one size are too many whatever the others are",
    (
        "fail",
        "kernel hugetlbpage.rst: 50 GiB of 64 GiB, and some pool beside them",
        "huge pages after reboot",
    ),
    {
        "/etc/rc.local+": f"#!/bin/sh\necho 50 > {GIGANTIC}\n",
        "/etc/tmpfiles.d/g.conf": f"w {SYSFS} - - - - 8194\n",
    },
    "transparent huge pages that are on now are wrong whatever cron does",
    ("fail transparent_hugepages", MANUAL),
    {
        packs.THP_FILE: "[always] madvise never\n",
        "/etc/cron.d/hp": f"@reboot root echo always > {packs.THP_FILE}\n",
    },
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
    machine = machine_of(row)
    live = judge(machine)
    [finding] = live[row.check]
    assert finding.status == row.status, (row.truth, finding)
    output = " ".join(str(part) for part in finding)
    for text in row.says:
        assert text in output
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


@cases(
    "name reason",
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
)
def test_the_refusal_names_what_decides(plan, name, reason):
    [row] = [row for row in ROWS if row.name == name]
    [refusal] = plan(machine_of(row)).refusals
    assert reason in refusal.reason and refusal.override is None


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
    assert finding.status == "fail" and str(finding.persisted).startswith(persisted)


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
    [finding] = judge(packs.database_host().deny("/var/spool/cron/crontabs/root"))["pool_persisted"]
    assert (finding.status, finding.fix) == ("error", "rerun with --become (requires root)")
