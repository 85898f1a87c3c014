"""AIX hosts for tests. No AIX was at hand: the texts are those of tests/fixtures (SOURCES.md).

An AixMachine has what an AIX has and nothing else: no file below /proc or /sys that Linux has, and
no command of Linux. Each argv that is asked for is kept in ``asked``.
"""

import functools
from typing import Any

import packs
from ansible.module_utils.hostproof.collect.command import Command
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.probes.unix import sys_parm
from default_policies import changed_policy

ROLE = packs.ROOT / "roles/io_pacing"

LSATTR = "lsattr -E -l sys0 -a maxpout -a minpout"
SYS_PARM = sys_parm.values_command(("maxpout", "minpout")).name
LSLPP = "lslpp -Lqc cluster.es.server.rte"
HALEVEL = "/usr/es/sbin/cluster/utilities/halevel -s"

PLAIN_FILESYSTEMS = "/:\n\tdev = /dev/hd4\n\tvfs = jfs2\n\tmount = automatic\n"
PLAIN_MOUNTS = "".join(
    line + "\n"
    for line in (packs.FIXTURES / "io_pacing/mount-override.txt").read_text().splitlines()
    if "maxpout" not in line
)


io_pacing_policy = functools.partial(changed_policy, "io_pacing")


NFS_MOUNTS = """\
filer1   /vol/oradata     /u02/oradata     nfs3   Jul  7 13:24 rw,bg,hard,vers=3,proto=tcp
filer1   /vol/redo        /u03/redo        nfs3   Jul  7 13:24 rw,bg,hard,vers=3,proto=tcp
"""
FLOW_CTRL = "lsattr -E -l {0} -a flow_ctrl"
#: Words of lsattr's message catalogue.
NO_ATTRIBUTE = (
    'lsattr: 0514-528 The "flow_ctrl" attribute does not exist in the predefined\n'
    "\tdevice configuration database.\n"
)


class AixMachine(packs.Machine):
    """An AIX host in a test."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    def run(self, argv: list[str], timeout: float = 20.0, record: Any = None) -> Output:
        self.asked.append(list(argv))
        return super().run(argv, timeout, record)

    def ask(self, wanted: Command, record: Any = None) -> Output:
        self.asked.append(list(wanted.argv))
        return super().ask(wanted, record)

    def failing(self, line: str, stderr: str, rc: int = 1) -> "AixMachine":
        self.commands[line] = Output(rc, "", stderr)
        return self

    def odm(self, maxpout: Any, minpout: Any) -> "AixMachine":
        """What the database holds, in columns as wide as the longest value."""
        width = max(len(str(maxpout)), len(str(minpout)))
        text = "".join(
            f"{name} {value!s:<{width}} {mark} water mark for pending write I/Os per file True\n"
            for name, value, mark in (("maxpout", maxpout, "HIGH"), ("minpout", minpout, "LOW"))
        )
        self.command(LSATTR, text)
        return self

    def kernel(self, maxpout: int, minpout: int) -> "AixMachine":
        self.command(SYS_PARM, f"maxpout={maxpout}\nminpout={minpout}\n")
        return self

    def marks(self, maxpout: int, minpout: int) -> "AixMachine":
        """In the database and in the kernel."""
        return self.odm(maxpout, minpout).kernel(maxpout, minpout)

    def storage(self, interface: str, entstat: str, *adapters: str) -> "AixMachine":
        """NFS mounts whose server is reached over the interface, whose adapter entstat shows.

        ``adapters`` have flow control in the database.
        """
        self.command("mount", PLAIN_MOUNTS + NFS_MOUNTS)
        self.route("filer1", "192.0.2.51", interface)
        self.entstat("ent" + interface[2:], entstat)
        self.command(
            f"lsattr -E -l {interface} -a mtu",
            "mtu 1500 Maximum IP Packet Size for This Device True\n",
        )
        for adapter in adapters:
            self.flow_ctrl(adapter, "yes")
        return self

    def entstat(self, device: str, text: str) -> "AixMachine":
        """What entstat prints; its counters are the same in both readings of a sample."""
        self.sampled("pause", f"command:entstat -d {device}", text)
        return self.command(f"entstat -d {device}", text)

    def route(self, asked: str, address: str, interface: str) -> "AixMachine":
        text = (packs.FIXTURES / "route_get/aix.txt").read_text()
        text = text.replace("192.0.2.51", address).replace("en2", interface)
        return self.command(f"route -n get {asked}", text)

    def flow_ctrl(self, adapter: str, value: str | None) -> "AixMachine":
        """The attribute in the database; None where the adapter has none."""
        if value is None:
            return self.failing(FLOW_CTRL.format(adapter), NO_ATTRIBUTE, 255)
        return self.command(
            FLOW_CTRL.format(adapter),
            f"flow_ctrl {value} Enable Transmit and Receive Flow Control True\n",
        )

    def powerha(self, level: str, pack: str | None = None) -> "AixMachine":
        """Installed and active; ``pack`` is what halevel adds, None where it is too old for one."""
        description = "Base Server Runtime: : : : : : :0:0:/:1747"
        fileset = f"cluster.es.server:cluster.es.server.rte:{level}: : :C:F:{description}\n"
        self.command(LSLPP, fileset)
        if pack is not None:
            self.command(HALEVEL, f"{'.'.join(level.split('.')[:3])} {pack}\n")
        self.command(
            "lssrc -s clstrmgrES",
            "Subsystem         Group            PID          Status \n"
            " clstrmgrES       cluster          14418220     active\n",
        )
        return self

    def _look(self, kind: str, subject: str) -> dict[str, Any]:
        if kind in ("processes", "open_files"):
            return {"error": "unanswered"}  # host.py: processes are known on Linux only
        return super()._look(kind, subject)

    def _run(self, line: str) -> dict[str, Any]:
        argv = line.split(" ")
        missing = ("getent", "readlink", "stat", "sysctl", "systemctl", "ip", "ss", "findmnt")
        if argv[0] in missing and line not in self.commands:
            return {"error": "absent"}
        return super()._run(line)


def aix() -> AixMachine:
    """AIX 7.2 with the marks that it comes with, no PowerHA and no override: all is well."""
    machine = AixMachine()
    machine.command("uname -s", "AIX\n").command("oslevel -s", "7200-05-03-2148\n")
    for name in ("maxpout", "minpout"):
        machine.command(f"lsattr -R -l sys0 -a {name}", "0...32769 (+1)\n")
    machine.marks(8193, 4096)
    machine.failing(LSLPP, "lslpp: 0504-132  Fileset cluster.es.server.rte not installed.\n\n\n")
    machine.command("mount", PLAIN_MOUNTS)
    machine.file("/etc/filesystems", PLAIN_FILESYSTEMS)
    machine.command("lparstat", (packs.FIXTURES / "lparstat/aix-shared.txt").read_text())
    machine.command("ioo -a", (packs.FIXTURES / "ioo/aix-6.1.txt").read_text())
    machine.folder("/proc/1", "/proc/sys")
    return machine
