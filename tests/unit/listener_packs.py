"""Hosts with Oracle Net listeners for tests, told as stories on top of packs.Machine.

``ready_host`` has one listener, limited as ``WANTED`` says, on which every check passes or does not
apply.
"""

import functools
from typing import Any

import packs
from ansible.module_utils.hostproof.collect.command import Command
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.parsers.net import listening_sockets
from ansible.module_utils.hostproof.probes.oracle import listeners
from default_policies import changed_policy
from packs import ROOT, Machine

ROLE = ROOT / "roles/listener_rate_limit"

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"
GRID = "/u01/app/19.0.0/grid"
ADMIN = HOME + "/network/admin"
FILE = ADMIN + "/listener.ora"
LOG = "/u01/app/oracle/diag/tnslsnr/db01/listener/trace/listener.log"
PID = 4001
TAIL = 1048576
BOOT = 1795000000
#: Seconds after the boot at which a listener starts, and at which its file was changed.
STARTED, CHANGED = 500.25, 400

LISTENER_ORA = """\
# listener.ora Network Configuration File
LISTENER =
  (DESCRIPTION_LIST =
    (DESCRIPTION =
      (ADDRESS = (PROTOCOL = TCP)(HOST = db01.example.com)(PORT = 1521){more})
      (ADDRESS = (PROTOCOL = IPC)(KEY = EXTPROC1521))
    )
  )
"""
LIMITED = LISTENER_ORA.format(more="(RATE_LIMIT = 10)(QUEUESIZE = 512)")
OPEN = LISTENER_ORA.format(more="")
AGENT = (
    "LISTENER=(DESCRIPTION=(ADDRESS_LIST=(ADDRESS=(PROTOCOL=IPC)(KEY=LISTENER))))"
    "\t\t# line added by Agent\n"
    "ENABLE_GLOBAL_DYNAMIC_ENDPOINT_LISTENER=ON\t\t# line added by Agent\n"
)
WANTED = {
    "name": "LISTENER",
    "rate": 10,
    "queuesize": 512,
    "pools": [{"name": "shop", "connections": 200, "timeout_seconds": 30}],
}
ESTABLISH = (
    "21-NOV-2026 10:{minute:02}:{second:02} * (CONNECT_DATA=(SERVICE_NAME=shop)) * "
    "(ADDRESS=(PROTOCOL=tcp)(HOST=10.0.0.9)(PORT=60340)) * establish * shop * {code}\n"
)
REACHED = (
    "21-NOV-2026 10:{minute:02}:{second:02} * establish * 1158\n"
    "TNS-01158: Internal connection limit reached, preventing dispatcher from connecting\n"
)
_SS_HEAD = "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
_CGROUP = "0::/user.slice/user-54321.slice/session-3.scope\n"


listener_policy = functools.partial(changed_policy, "listener_rate_limit")


def wants(**changes: Any) -> dict[str, Any]:
    """A policy that lists the listener, with some of what it wants changed."""
    return {"listeners": [{**WANTED, **changes}]}


class ListenerMachine(Machine):
    """A machine on which listeners run."""

    def __init__(self) -> None:
        super().__init__()
        self.environments: dict[int, dict[str, str]] = {}
        self.arguments: dict[int, list[str]] = {}
        self.changed: dict[str, int] = {}
        self.sockets: list[str] = []
        self.replaced: dict[str, int] = {}
        self.asked_as: dict[str, str | None] = {}

    def listener(
        self,
        text: str | None = OPEN,
        *,
        name: str = "LISTENER",
        home: str = HOME,
        path: str | None = None,
        pid: int = PID,
        started: float = STARTED,
        changed: int = CHANGED,
        release: str = "19.0.0.0.0",
        cgroup: str = _CGROUP,
        **environment: str,
    ) -> "ListenerMachine":
        """A listener that runs, and its listener.ora (at ``path``; None: it has none)."""
        argv0 = f"{home}/bin/tnslsnr"
        self.running.append(
            {"pid": pid, "uid": 54321, "gid": 54321, "started": started, "argv0": argv0}
        )
        self.arguments[pid] = [argv0, name, "-inherit"]
        self.environments[pid] = {
            "ORACLE_HOME": home,
            "ORACLE_BASE": "/u01/app/oracle",
            **environment,
        }
        self.file(f"/proc/{pid}/limits", packs._limits("unlimited"))
        self.file(f"/proc/{pid}/cgroup", cgroup)
        banner = f"\nLSNRCTL for Linux: Version {release} - Production on 21-NOV-2026 10:00:00\n"
        self.command(f"release of lsnrctl in {home}", banner)
        self.command(
            f"status of listener {name} of {home}",
            banner + "Start Date                21-NOV-2026 10:00:00\n",
        )
        if text is not None:
            self.ora(text, path or f"{home}/network/admin/listener.ora", changed)
        return self

    def ora(self, text: str, path: str = FILE, changed: int = CHANGED) -> "ListenerMachine":
        self.file(path, text)
        self.changed[path] = changed
        return self

    def socket(self, port: int, backlog: int, queued: int = 0) -> "ListenerMachine":
        self.sockets.append(f"LISTEN {queued:<6} {backlog:<6} 0.0.0.0:{port} 0.0.0.0:*\n")
        return self

    def sqlnet(self, text: str, **found: str) -> "ListenerMachine":
        """A sqlnet.ora, and the address of each name ("" for none)."""
        self.file(f"{ADMIN}/sqlnet.ora", text)
        for name, address in found.items():
            name = name.replace("__", "-").replace("_", ".")
            line = f"{address} STREAM {name}\n" if address else ""
            self.command(f"getent ahosts {name}", line, 0 if address else 2)
        line = "2: eth0    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0\n"
        return self.command("ip -o addr show", line)

    def log(self, text: str, path: str = LOG, size: int = TAIL) -> "ListenerMachine":
        self.command(f"tail -c {size} {path}", text)
        return self

    def overflows(self, first: int, second: int | None = None) -> "ListenerMachine":
        text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 {0} {0}\n"
        self.sampled(
            "listener_queues",
            "file:/proc/net/netstat",
            text.format(first),
            text.format(first if second is None else second),
        )
        return self

    def _is_older(self, kind: str, key: str) -> bool:
        return kind == "program"

    def ask(self, wanted: Command, record: Any = None) -> Output:
        self.asked_as[wanted.name] = wanted.user
        return super().ask(wanted, record)

    def _look(self, kind: str, subject: str) -> dict[str, Any]:
        refused = self.refused.get(f"{kind}:{subject}")
        if refused:
            return {"error": refused}
        if kind == "environment":
            return {
                "names": sorted(listeners.ENVIRONMENT),
                "values": self.environments[int(subject)],
            }
        if kind == "argument":
            pid, _, number = subject.partition(":")
            arguments = self.arguments[int(pid)]
            if int(number) >= len(arguments):
                return {"error": "absent"}
            return {"text": arguments[int(number)]}
        return super()._look(kind, subject)

    def _run(self, line: str) -> dict[str, Any]:
        if line == " ".join(listening_sockets.ARGV) and line not in self.commands:
            self.command(line, _SS_HEAD + "".join(self.sockets))
        if line.startswith("stat ") and "-c %Z" in line:
            moment = self.replaced.get(line.rpartition(" ")[2])
            return {"argv": [], "rc": 0, "stdout": f"{BOOT + (moment or 0)}\n"} | _QUIET
        if line.startswith("stat -L -c %Y "):
            path = line.rpartition(" ")[2]
            for refused, error in self.refused.items():
                if path == refused or path.startswith(refused + "/"):
                    return _stat_of(line, error, path)
            if path in self.changed:
                return {"argv": [], "rc": 0, "stdout": f"{BOOT + self.changed[path]}\n"} | _QUIET
            return _stat_of(line, "absent", path)
        if line.startswith("tail ") and line not in self.commands:
            return _stat_of(line, "absent", line.rpartition(" ")[2])
        return super()._run(line)


_QUIET = {"stderr": ""}


def _stat_of(line: str, error: str, path: str) -> dict[str, Any]:
    reason = {"absent": "No such file or directory", "denied": "Permission denied"}[error]
    output = Output(1, "", f"{line.split()[0]}: '{path}': {reason}\n")
    return {"argv": line.split(), **output._asdict()}


def linux() -> ListenerMachine:
    """A Linux host without a listener."""
    machine = ListenerMachine()
    machine.account("oracle", 54321, "oinstall", "dba")
    machine.command("grep ^btime  /proc/stat", f"btime {BOOT}\n")
    machine.command("uname -n", "db01.example.com\n")
    machine.file("/proc/sys/net/core/somaxconn", "4096\n")
    return machine.overflows(7)


def ready_host() -> ListenerMachine:
    machine = linux().listener(LIMITED).socket(1521, 512)
    nodes = "TCP.VALIDNODE_CHECKING = yes\nTCP.INVITED_NODES = (192.0.2.10, app1)\n"
    machine.sqlnet(nodes, app1="192.0.2.77")
    return machine.log("".join(ESTABLISH.format(minute=n, second=n, code=0) for n in range(40)))
