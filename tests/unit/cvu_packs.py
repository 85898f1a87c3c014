"""Hosts with the values that real logs of CVU show, and Hostproof's findings on them.

Values that a log does not show meet the policy, so only shown values decide.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import clock_packs
import interconnect_packs
import kernel_packs
import limit_packs
import memory_packs
import name_packs
import package_packs
import packs
import platform_packs
import space_packs
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.controls.name_resolution.probes import zeroconf
from ansible.module_utils.hostproof.controls.packages import package_table
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cvu_logs import Row
from default_policies import changed_policy

PARAMETERS = {
    **{"semmsl": "kernel.sem", "semmns": "kernel.sem", "semopm": "kernel.sem"},
    **{"semmni": "kernel.sem", "shmmax": "kernel.shmmax", "shmmni": "kernel.shmmni"},
    **{"shmall": "kernel.shmall", "file-max": "fs.file-max"},
    "ip_local_port_range": "net.ipv4.ip_local_port_range",
    **{"rmem_default": "net.core.rmem_default", "rmem_max": "net.core.rmem_max"},
    **{"wmem_default": "net.core.wmem_default", "wmem_max": "net.core.wmem_max"},
    **{"aio-max-nr": "fs.aio-max-nr", "panic_on_oops": "kernel.panic_on_oops"},
    "kernel.panic": "kernel.panic",
}
CHECKS_OF_PARAMETERS = {
    **{"kernel.sem": "semaphores", "kernel.shmmax": "shared_memory"},
    **{"kernel.shmmni": "shared_memory", "kernel.shmall": "shared_memory"},
    **{"fs.file-max": "open_files", "net.ipv4.ip_local_port_range": "ephemeral_ports"},
    **{"net.core.rmem_default": "socket_buffers", "net.core.rmem_max": "socket_buffers"},
    **{"net.core.wmem_default": "socket_buffers", "net.core.wmem_max": "socket_buffers"},
    **{"fs.aio-max-nr": "asynchronous_io", "kernel.panic_on_oops": "panic"},
    "kernel.panic": "panic",
}


class System(NamedTuple):
    """What the foot of a log or its origin says of the host. CVU 11.2 has no profile."""

    profile: str
    release: str
    version: str
    kernel: str


SYSTEMS = {
    "11.2": System("oracle_19c_rac", "19c", "7.9", "3.10.0-1160.el7.x86_64"),
    "19.3": System("oracle_19c_rac", "19c", "7.9", "3.10.0-1160.el7.x86_64"),
    "19.23": System("oracle_19c_rac", "19c", "8.9", "5.4.17-2136.335.4.el8uek.x86_64"),
    "19.27": System("oracle_19c_rac", "19c", "9.5", "5.14.0-503.11.1.el9_5.x86_64"),
    "23.7": System("oracle_23ai_rac", "23ai", "9.5", "5.15.0-302.167.6.el9uek.x86_64"),
    "23.7-post": System("oracle_23ai_rac", "23ai", "9.5", "5.15.0-302.167.6.el9uek.x86_64"),
    "23.26": System("oracle_26ai_rac", "26ai", "9.6", "6.12.0-105.51.5.el9uek.x86_64"),
}
#: The groups that the profile of a cluster node requires of grid.
GROUPS = ("racdba", "asmadmin", "asmdba")
GIDS = {"root": 0, "oinstall": 54321, "dba": 54322}
BY_UNIT = " ".join(clock_packs.SHOW)


class Values:
    """The shown values of one node, by task and subject."""

    def __init__(self, rows: list[Row]) -> None:
        self.log = rows[0].log
        self.rows = rows
        self.shown = {(row.task, row.subject): row.shown for row in rows}

    def get(self, task: str, subject: str = "", default: str = "") -> str:
        return self.shown.get((task, subject), default)

    def of(self, task: str) -> dict[str, str]:
        return {subject: shown for (name, subject), shown in self.shown.items() if name == task}


def _memory(machine: packs.Machine, values: Values) -> None:
    # CVU requires swap of the size of memory up to 16 GiB, and 19.3 shows only that.
    swap_of = [row.required for row in values.rows if row.task == "Swap Size"]
    total = int(values.get("Physical Memory", default=(swap_of or [str(16 << 20)])[0]))
    free = int(values.get("Available Physical Memory", default=str(total // 2)))
    machine.memory(MemTotal=total, MemFree=free, MemAvailable=free)
    size = int(values.get("Swap Size", default=str(total)))
    memory_packs.swap(machine, ("/dev/vda2", size, 0))
    shown = values.get("tmpfs at /dev/shm", "/etc/fstab")
    line = "tmpfs /dev/shm tmpfs defaults 0 0\n"
    fstab = space_packs.FSTAB + memory_packs.FSTAB + ("" if shown == "no line" else line)
    machine.file("/etc/fstab", fstab)


def _space(machine: packs.Machine, values: Values) -> None:
    free = {
        subject.partition(" on ")[2]: int(shown)
        for subject, shown in values.of("Free Space").items()
    }
    extra = "".join(
        f"{40 + number} 27 254:{number} / {mount} rw,relatime - xfs /dev/mapper/v{number} rw\n"
        for number, mount in enumerate(sorted(set(free) - {"/"}), 1)
    )
    fstab = machine.files["/etc/fstab"]
    space_packs.mounted(machine, extra, fstab)
    mounts = machine.files["/proc/self/mountinfo"]
    if values.get("tmpfs at /dev/shm", default="yes") == "no":
        mounts = "".join(line for line in mounts.splitlines(True) if " /dev/shm " not in line)
    if values.get("hidepid", default="no") != "no":
        mounts = mounts.replace("- proc proc rw", f"- proc proc rw,{values.get('hidepid')}")
    machine.file("/proc/self/mountinfo", mounts)
    for mount, amount in free.items():
        machine.folder(mount)
        space_packs.usage(machine, mount, amount << 20)


_NAMES = [*GIDS, *GROUPS, "oper", "backupdba", "dgdba", "kmdba", "asmoper"]


def _gid(group: str) -> int:
    return 0 if group == "root" else GIDS.get(group, 54330 + _NAMES.index(group))


def _accounts(machine: packs.Machine, values: Values) -> None:
    uids = {"grid": "54331", "oracle": "54321"} | values.of("User Existence")
    uids.pop("root", None)
    absent = {group for group, shown in values.of("Group Existence").items() if shown == "no"}
    passwd = "root:x:0:0:root:/root:/bin/bash\n"
    owner = owner_of(values.log)
    for name, uid in uids.items():
        if uid == "absent":
            machine.commands[f"getent passwd {name}"] = Output(2, "", "")
            continue
        groups = ["oinstall", *wanted_groups(values.log, name)]
        if name == owner:
            membership = values.of("Group Membership")
            groups = [group for group in groups if membership.get(group) != "no"]
            if membership.get("oinstall primary") == "no":
                groups.insert(0, "dba")
        if values.get('User Not In Group "root"', name, "no") == "yes":
            groups.append("root")
        groups = [group for group in groups if group not in absent]
        machine.account(name, int(uid), *groups)
        machine.command(f"id -G {name}", " ".join(str(_gid(group)) for group in groups))
        passwd += f"{name}:x:{uid}:54321::/home/{name}:/bin/bash\n"
    for uid, shown in values.of("Users With Same UID").items():
        passwd += f"second:x:{uid}:54321::/home/second:/bin/bash\n" if shown != "none" else ""
    machine.file("/etc/passwd", passwd)
    for group in _NAMES:
        machine.group(group, _gid(group))
        if group in absent:
            machine.commands[f"getent group {group}"] = Output(2, "", "")
    machine.file("/etc/profile", f"umask {values.get('User Mask', default='0022')}\n")


def _limits(machine: packs.Machine, values: Values) -> None:
    lines = []
    for item, soft, hard in (
        ("nofile", "1024", "65536"),
        ("nproc", "16384", "16384"),
        ("stack", "10240", "32768"),
        ("memlock", "unlimited", "unlimited"),
    ):
        lines.append(f"grid soft {item} {values.get('Limit', f'soft {item}', soft)}")
        lines.append(f"grid hard {item} {values.get('Limit', f'hard {item}', hard)}")
    machine.file("/etc/security/limits.d/oracle.conf", "\n".join(lines) + "\n")
    is_removed = values.get("RemoveIPC", default="no") == "yes"
    machine.command(limit_packs.BUSCTL, f"b {'true' if is_removed else 'false'}\n")
    machine.file(
        "/etc/systemd/logind.conf", f"[Login]\nRemoveIPC={'yes' if is_removed else 'no'}\n"
    )


def _parameters(machine: packs.Machine, values: Values) -> None:
    for name, value in kernel_packs.STOCK.items():
        machine.file(kernel_packs.proc(name), value + "\n")
    now: dict[str, list[str]] = {}
    later: dict[str, list[str]] = {}
    # The order of the four numbers of kernel.sem is that of PARAMETERS.
    for subject, key in PARAMETERS.items():
        shown = values.get("OS Kernel Parameter", subject)
        if shown:
            running, configured = shown.split(", ")
            now.setdefault(key, []).append(running.replace(" ", "\t"))
            later.setdefault(key, []).append(configured)
    for key, numbers in now.items():
        machine.file(kernel_packs.proc(key), "\t".join(numbers) + "\n")
    text = "".join(f"{key} = {' '.join(numbers)}\n" for key, numbers in later.items())
    machine.file("/etc/sysctl.d/97-oracle.conf", text)
    sets = (packs.FIXTURES / "sysvipc_sem/linux-6.18-two-sets.txt").read_text()
    machine.file("/proc/sysvipc/sem", sets)


def _packages(machine: packs.Machine, values: Values) -> None:
    system = SYSTEMS[values.log]
    major = int(system.version.partition(".")[0])
    required = {
        row.package
        for row in package_table.ROWS
        if (row.release, row.distribution, row.version)
        in {(system.release, name, major) for name in ("OL", "RHEL")}
    }
    shown = values.of("Package")
    lines = package_packs.lines_of(*sorted({*required, "cvuqdisk"} - set(shown)))
    for name, version in shown.items():
        if version != "missing":
            version = "999-1" if version == "any" else version
            lines += package_packs.lines_of(name, version=version)
    machine.command(package_packs.RPM_COMMAND, "".join(f"{line}\n" for line in lines))
    machine.file("/usr/sbin/cvuqdisk", "", mode=0o4755).gids["/usr/sbin/cvuqdisk"] = 54321
    machine.command("getent group 54321", "oinstall:x:54321:\n")


def _platform(machine: packs.Machine, values: Values) -> None:
    system = SYSTEMS[values.log]
    kernel = values.get("OS Kernel Version", default=system.kernel)
    platform_packs.supported(machine, "rhel-9.4")
    machine.file("/etc/os-release", platform_packs.ol(system.version))
    machine.command("uname -m", values.get("Architecture", default="x86_64") + "\n")
    machine.file("/proc/sys/kernel/osrelease", kernel + "\n")
    machine.command("grubby --default-kernel", f"/boot/vmlinuz-{kernel}\n")
    machine.command("date +%s %z", f"{platform_packs.NOW} +0000\n")
    level = values.get("Run Level", default="3")
    targets = {"3": ("multi-user", "active\ninactive\n"), "5": ("graphical", "active\nactive\n")}
    target, active = targets.get(level, ("rescue", "inactive\ninactive\n"))
    machine.command("systemctl get-default", f"{target}.target\n")
    requested = "systemctl is-active multi-user.target graphical.target"
    machine.command(requested, active, 0 if level == "5" else 3)


def _clock(machine: packs.Machine, values: Values) -> None:
    kernel = machine.files["/proc/sys/kernel/osrelease"]
    clock_packs.clocked(machine).file("/proc/sys/kernel/osrelease", kernel)
    machine.command(BY_UNIT, clock_packs.shown())
    if values.get("chronyd", default="runs") == "runs":
        clock_packs.daemon(machine, "/usr/sbin/chronyd")
        machine.file("/etc/chrony.conf", "pool pool.example.com iburst\n")
        machine.command(BY_UNIT, clock_packs.shown(chronyd="enabled /usr/sbin/chronyd"))
    if values.get("Synchronized", default="yes") == "yes":
        clock_packs.answers(machine, "tracking", "sources")
    else:
        clock_packs.answers(machine, "tracking-no-source", "sources-none-reached")


def _names(machine: packs.Machine, values: Values) -> None:
    machine.file("/proc/sys/kernel/hostname", "node1\n").file("/etc/hostname", "node1\n")
    machine.file("/etc/hosts", "127.0.0.1 localhost\n192.0.2.10 node1.example.com node1\n")
    machine.file("/etc/nsswitch.conf", "passwd: files\nhosts: files dns myhostname\n")
    machine.command("ip -o addr show", name_packs.ADDRESSES)
    machine.command(" ".join(zeroconf.ROUTE), "")
    if values.get("NOZEROCONF"):
        machine.file(zeroconf.SCRIPT, "# adds the route\n", mode=0o755)
        is_set = values.get("NOZEROCONF") == "yes"
        machine.file(zeroconf.SYSCONFIG, "NOZEROCONF=yes\n" if is_set else "NETWORKING=yes\n")
    name_packs.named(machine, "node1", "192.0.2.10", canonical="node1.example.com")
    name_packs.named(machine, name_packs.SCAN, *name_packs.THREE)
    name_packs.back(machine, "192.0.2.10", "node1.example.com", "node1")
    servers = values.of("resolv.conf Integrity")
    machine.file("/etc/resolv.conf", "".join(f"nameserver {server}\n" for server in servers))
    for server, shown in servers.items():
        if shown == "answers":
            name_packs.says(machine, server, name_packs.SCAN, name_packs.THREE)
        else:
            name_packs.silent(machine, server, name_packs.SCAN)
    for task, units, argv0 in (
        ("avahi-daemon", zeroconf.UNITS, "avahi-daemon: running [node1.local]"),
        ("proxyt", (zeroconf.PROXYT,), "/usr/sbin/proxyt"),
    ):
        shown = values.get(task, default="no")
        for unit in units:
            state = "enabled" if shown == "configured" else "disabled"
            machine.command(f"systemctl is-enabled {unit}", f"{state}\n", int(shown == "no"))
        if shown == "running":
            machine.process(argv0, pid=990, uid=0)


#: By control: what builds its part of the host.
PARTS: tuple[Callable[[packs.Machine, Values], None], ...] = (
    *(_memory, _space, _accounts, _limits, _parameters, _packages, _platform, _clock, _names),
)


def host(rows: list[Row]) -> packs.Machine:
    """A host with the values of these rows, which are of one node."""
    machine = limit_packs.host()
    for part in PARTS:
        part(machine, Values(rows))
    return machine


def owner_of(log: str) -> str:
    """The account that owns Grid: the one that ran CVU."""
    return "oracle" if log == "19.3" else "grid"


def wanted_groups(log: str, name: str) -> tuple[str, ...]:
    """The groups of the policy: those that the site chose, where the log shows them."""
    if log == "19.3":
        return ("asmadmin",)
    if log == "19.23":
        return ("asmdba", "asmadmin", "asmoper") if name == "grid" else ("dba",)
    if name == "grid":
        return GROUPS
    return ("dba", "oper", "backupdba", "dgdba", "kmdba", "racdba", "asmdba")


def policies(control: str, rows: list[Row]) -> dict[str, Any]:
    log = rows[0].log
    changes: dict[str, Any] = {"profile": SYSTEMS[log].profile}
    if control == "accounts" and log in ("19.3", "19.23"):
        names = ["oracle"] if log == "19.3" else ["grid", "oracle"]
        accounts = [{"name": name, "groups": list(wanted_groups(log, name))} for name in names]
        changes["accounts"] = accounts
    if control == "space":
        homes = [row for row in rows if row.subject.startswith("/opt/app")]
        changes["planned"] = [
            {"path": row.subject.partition(" on ")[0], "free": row.required + "M"} for row in homes
        ]
    if control == "name_resolution":
        changes["scan_names"] = [name_packs.SCAN]
    return {control: changed_policy(control, **changes)}


def place_of(row: Row) -> tuple[str, str]:
    """The check that judges the value of a row, and the text before its title."""
    task, subject = row.task, row.subject
    if task == "OS Kernel Parameter":
        key = PARAMETERS[subject]
        return f"kernel_parameters.{CHECKS_OF_PARAMETERS[key]}", key
    if task == "Jumbo frames":
        return "interconnect.jumbo_frames", subject
    if task == "Free Space":
        return "space.free", subject.partition(" on ")[2]
    if task == "Limit":
        return "process_limits.login", f"grid {subject.partition(' ')[2]}"
    if task == "User Existence" and subject == "root":
        return "accounts.one_account_per_uid", ""
    if task in ("User Existence", 'User Not In Group "root"'):
        which = "exists" if task == "User Existence" else "not_in_root"
        return f"accounts.{which}", subject
    if task in ("Group Existence", "Group Membership"):
        which = "groups"
        if subject.startswith("oinstall"):
            which = "primary_group"
        return f"accounts.{which}", owner_of(row.log)
    if task == "User Mask":
        return "accounts.umask", owner_of(row.log)
    return PLACES[task], ""


PLACES = {
    "Physical Memory": "memory_pressure.physical",
    "Available Physical Memory": "memory_pressure.available",
    "Swap Size": "memory_pressure.swap_size",
    **{"Users With Same UID": "accounts.one_account_per_uid", "Run Level": "platform.run_level"},
    **{"Architecture": "platform.distribution", "OS Kernel Version": "platform.kernel"},
    **{"Package": "packages", "chronyd": "time_sync.one_daemon"},
    **{"Synchronized": "time_sync.sources", "avahi-daemon": "name_resolution.zeroconf"},
    **{"proxyt": "name_resolution.proxyt", "tmpfs at /dev/shm": "space.shm"},
    **{"hidepid": "space.hidepid", "resolv.conf Integrity": "name_resolution.name_servers"},
    "Non-routable network": "interconnect.private_addresses",
    "VIP NIC bonding": "interconnect.public_redundancy",
    **{"RemoveIPC": "process_limits.remove_ipc", "NOZEROCONF": "name_resolution.zeroconf"},
}
#: Checks with a finding for each release: a profile names one.
OF_RELEASE = ("platform.distribution", "platform.kernel")
#: A package is judged by these checks together: it is there, and it is new enough.
OF_PACKAGES = ("installer", "required", "version")


def node(rows: list[Row]) -> packs.Machine:
    """A node on which Clusterware runs, with the networks of these rows."""
    machine = interconnect_packs.Node()
    networks = addresses = ""
    for row in rows:
        if row.task == "VIP NIC bonding":
            machine.device(row.subject, 1500)
            networks += f"{row.subject}  192.168.18.0  global  public\n"
        elif row.task == "Jumbo frames":
            machine.device(row.subject, int(row.shown))
        elif row.task == "Non-routable network":
            networks += f"{row.subject}  {row.shown}  global  cluster_interconnect,asm\n"
            address = re.sub(r"0$", "101/24", row.shown)
            addresses += f"3: {row.subject}    inet {address} scope global {row.subject}\n"
    machine.command(interconnect_packs.GETIF, networks)
    return machine.command("ip -o addr show", addresses)


def judged(rows: list[Row], control: str) -> list[Finding]:
    machine = node(rows) if control == "interconnect" else host(rows)
    return audit.judge_host(machine, policies(control, rows))


def status_of(row: Row, findings: list[Finding]) -> str:
    """pass or fail as CVU says it; anything else where Hostproof does not tell."""
    check, subject = place_of(row)
    if row.task == "Package":
        check = "packages.cvuqdisk" if row.subject == "cvuqdisk" else ""
        expected = {check} if check else {f"packages.{name}" for name in OF_PACKAGES}
        result = [finding for finding in findings if finding.check in expected]
    else:
        result = [finding for finding in findings if finding.check == check]
        if check in OF_RELEASE:
            subject = SYSTEMS[row.log].release
        heads = {finding.title.rpartition(": ")[0]: finding for finding in result}
        result = [heads[subject]] if subject in heads else []
    statuses = {finding.status for finding in result} - {"skip"}
    if not statuses or "error" in statuses:
        return "; ".join(f"{finding.status}: {finding.why}" for finding in result) or "no finding"
    return "pass" if statuses == {"pass"} else "fail"
