"""Hosts with NFS mounts for tests, told as stories on top of packs.Machine.

A mount is told once (``mount``) and stands in /proc/self/mountinfo and, with what it did in the
seconds of the sample (``traffic``), in /proc/self/mountstats. ``ready_host`` is a host on which
every check of nfs_mounts passes or does not apply.
"""

import functools
from typing import Any, NamedTuple

import packs
from default_policies import changed_policy
from packs import ROOT, Machine

ROLE = ROOT / "roles/nfs_mounts"

MOUNTINFO = "/proc/self/mountinfo"
MOUNTSTATS = "/proc/self/mountstats"
SNMP = "/proc/net/snmp"
NETSTAT = "/proc/net/netstat"
RPC = "/proc/net/rpc/nfs"
FSTAB = "/etc/fstab"
MODPROBE_FILE = "/etc/modprobe.d/zz-hostproof-nfs_mounts.conf"
SYSCTL_FILE = "/etc/sysctl.d/99-zz-hostproof-nfs_mounts.conf"
SLOTS = "/proc/sys/sunrpc/tcp_slot_table_entries"
MAX_SLOTS = "/proc/sys/sunrpc/tcp_max_slot_table_entries"

#: The name that probes/nfs/nfs_traffic.py gives its sample.
SAMPLE = "nfs_traffic"
ADDRESS = "10.0.0.5"
#: What fstab says on a host that is ready.
OPTIONS = "rw,bg,hard,vers=3,proto=tcp,timeo=600,rsize=262144,wsize=262144,nointr"
DATAFILES = {"path": "/u02", "source": "filer1:/vol/u02", "class": "datafiles", "sharing": "single"}


nfs_policy = functools.partial(changed_policy, "nfs_mounts")


def listed(**changes: Any) -> dict[str, Any]:
    """The policy that lists one mount of datafiles, /u02, with some of its fields changed."""
    return {"mounts": [DATAFILES | changes]}


def shown(
    vers: str = "3",
    rsize: int = 262144,
    wsize: int | None = None,
    *,
    access: str = "rw",
    recovery: str = "hard",
    proto: str = "tcp",
    timeo: int = 600,
    retrans: int = 2,
    cache: str = "",
    flags: str = "",
    nconnect: int = 1,
    local_lock: str = "none",
    address: str = ADDRESS,
) -> str:
    """The options of a superblock as a kernel shows them, in its order.

    ``cache`` ("acregmin=0,acregmax=0,...") and ``flags`` ("nocto,noac,nolock") stand where they
    differ from the defaults; ``sync`` stands beside noac.
    """
    words = [access, *(["sync"] if "noac" in flags else []), f"vers={vers}"]
    words += [f"rsize={rsize}", f"wsize={wsize or rsize}", "namlen=255", cache, recovery, flags]
    words += [f"proto={proto}", f"nconnect={nconnect}" if nconnect > 1 else ""]
    words += [f"timeo={timeo}", f"retrans={retrans}", "sec=sys"]
    if vers == "3":
        words += [f"mountaddr={address}", "mountvers=3", "mountport=20048", "mountproto=udp"]
    else:
        words += ["clientaddr=10.0.0.21"]
    return ",".join(
        word for word in [*words, f"local_lock={local_lock}", f"addr={address}"] if word
    )


_NO_SOCKETS = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout"
    " inode\n"
)
NO_CACHE = "acregmin=0,acregmax=0,acdirmin=0,acdirmax=0"


class Op(NamedTuple):
    """What one operation did between the two samples; times are averages in milliseconds."""

    ops: int = 1000
    rtt: float = 4.0
    queue: float = 0.1
    retransmissions: int = 0
    timeouts: int = 0
    size: int = 8192


class Did(NamedTuple):
    """What a mount did between the two samples.

    ``xprts`` is the number of its connections. ``bad_xids`` and ``reconnects`` are of the window;
    ``age`` is that of the first sample, and ``older`` how much it has grown at the second.
    """

    read: Op = Op()
    write: Op = Op()
    xprts: int = 1
    bad_xids: int = 0
    reconnects: int = 0
    max_slots: int = 16
    age: int = 86400
    older: int = 10
    lease_time: int = 90
    lease_expired: int = 0
    seconds_before: int = 5000


class Wire(NamedTuple):
    """What TCP did between the two samples: segments of each connection, and of the whole host."""

    sent: int = 20000
    retransmitted: int = 0
    received: int = 20000
    out_of_order: int = 0
    rtt_ms: float = 0.4
    shown_by_ss: bool = True


class _Mount(NamedTuple):
    path: str
    source: str
    fstype: str
    options: str
    superblock: str
    root: str
    did: Did


class NfsMachine(Machine):
    """A machine that has NFS mounts."""

    def __init__(self) -> None:
        super().__init__()
        self.mounts: list[_Mount] = []
        self.other_mounts: list[str] = []
        self.tcp = Wire()

    def mount(
        self,
        path: str,
        source: str,
        options: str | None = None,
        *,
        superblock: str | None = None,
        root: str = "/",
        did: Did | None = None,
    ) -> "NfsMachine":
        """A mount with the options that the kernel shows (see ``shown``)."""
        options = options or shown()
        fstype = "nfs4" if "vers=4" in options else "nfs"
        superblock = superblock or f"0:{45 + len(self.mounts)}"
        entry = _Mount(path, source, fstype, options, superblock, root, did or Did())
        self.mounts = [mount for mount in self.mounts if mount.path != path] + [entry]
        return self._tell()

    def unmount(self, path: str) -> "NfsMachine":
        self.mounts = [mount for mount in self.mounts if mount.path != path]
        self.folder(path)
        return self._tell()

    def other_mount(self, path: str, fstype: str, source: str = "none") -> "NfsMachine":
        """A mount that is not of NFS, such as autofs's."""
        number = 300 + len(self.other_mounts)
        line = f"{number} 25 0:{number} / {path} rw,relatime - {fstype} {source} rw\n"
        self.other_mounts.append(line)
        return self._tell()

    def fstab(self, path: str, source: str, options: str = OPTIONS) -> "NfsMachine":
        """A line of fstab, and what systemd's generator made of it at boot."""
        line = f"{source} {path} nfs {options} 0 0\n"
        self.file(FSTAB, self.files.get(FSTAB, "") + line)
        self.file(unit_file(path), _generated(path, source, options))
        return self

    def persisted_mount(
        self, path: str, source: str, options: str = OPTIONS, shows: str | None = None, **how: Any
    ) -> "NfsMachine":
        """In fstab, and mounted."""
        return self.fstab(path, source, options).mount(path, source, shows, **how)

    def did(self, path: str, did: Did) -> "NfsMachine":
        """What a mount that is told already did between the samples."""
        self.mounts = [
            mount._replace(did=did) if mount.path == path else mount for mount in self.mounts
        ]
        return self._tell()

    def wire(self, **changes: Any) -> "NfsMachine":
        """What TCP did between the samples (see Wire)."""
        self.tcp = self.tcp._replace(**changes)
        return self._tell()

    def database(self, *paths: str, sid: str = "ORCL", pid: int = 2102) -> "NfsMachine":
        """A database whose writer holds files open."""
        self.process(f"ora_dbw0_{sid}", *paths, pid=pid)
        return self

    def slots(self, running: int | None, persisted: int | None) -> "NfsMachine":
        """The limits of the RPC slots, both; None: not there."""
        self.remove(SLOTS, MAX_SLOTS, MODPROBE_FILE)
        if running is not None:
            self.file(SLOTS, f"{running}\n").file(MAX_SLOTS, f"{running}\n")
        if persisted is not None:
            words = f"tcp_slot_table_entries={persisted} tcp_max_slot_table_entries={persisted}"
            self.file(MODPROBE_FILE, f"options sunrpc {words}\n")
        return self

    def _tell(self) -> "NfsMachine":
        lines = ["25 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/ol-root rw,seclabel\n"]
        lines += self.other_mounts
        ids = {mount.path: 100 + number for number, mount in enumerate(self.mounts)}
        for item in self.mounts:
            above = [ids[path] for path in sorted(ids) if item.path.startswith(path + "/")]
            lines.append(
                f"{ids[item.path]} {[25, *above][-1]} {item.superblock} {item.root} {item.path} "
                "rw,relatime shared:2"
                f" - {item.fstype} {item.source} {item.options}\n"
            )
        self.file(MOUNTINFO, "".join(lines))
        before = "".join(_mountstats(mount, after=False) for mount in self.mounts)
        after = "".join(_mountstats(mount, after=True) for mount in self.mounts)
        self.file(MOUNTSTATS, before)
        self.sampled(SAMPLE, f"file:{MOUNTSTATS}", _ROOT_STATS + before, _ROOT_STATS + after)
        self._tell_wire()
        return self

    def _parent(self, number: int) -> int:
        """The mount on which another one was made: the nearest above it that is older, or /."""
        above = [
            100 + older
            for older, mount in enumerate(self.mounts[:number])
            if self.mounts[number].path.startswith(mount.path + "/")
        ]
        return above[-1] if above else 25

    def _tell_wire(self) -> None:
        ports = sorted({2049} | {int(port) for port in _ports(self.mounts)})
        command = "ss -tine " + " or ".join(f"dport = :{port}" for port in ports)
        self.samples[SAMPLE] = {
            source: texts
            for source, texts in self.samples[SAMPLE].items()
            if not source.startswith("command:")
        }
        if self.tcp.shown_by_ss:
            self.sampled(SAMPLE, f"command:{command}", self._ss(False), self._ss(True))
        self.sampled(SAMPLE, f"file:{SNMP}", _snmp(self.tcp, False), _snmp(self.tcp, True))
        self.sampled(SAMPLE, f"file:{NETSTAT}", _netstat(self.tcp, False), _netstat(self.tcp, True))
        calls = sum(mount.did.read.ops + mount.did.write.ops for mount in self.mounts)
        again = sum(
            mount.did.read.retransmissions + mount.did.write.retransmissions
            for mount in self.mounts
        )
        self.sampled(SAMPLE, f"file:{RPC}", _rpc(90000, 5), _rpc(90000 + calls, 5 + again))

    def _ss(self, after: bool) -> str:
        """What ss -tine shows of the connections of the mounts, one for each of their xprts."""
        lines = []
        for mount in self.mounts:
            if ",proto=udp" in mount.options:
                continue
            address = dict(_pairs(mount.options)).get("addr", ADDRESS)
            for number in range(mount.did.xprts):
                wire = self.tcp if after else self.tcp._replace(sent=0, retransmitted=0, received=0)
                lines.append(f"ESTAB 0      0       10.0.0.21:{877 + number}   {address}:2049")
                again = f" retrans:0/{3 + wire.retransmitted}"
                order = f" rcv_ooopack:{wire.out_of_order}" if after and wire.out_of_order else ""
                lines.append(
                    f"\t cubic wscale:7,7 rto:204 rtt:{wire.rtt_ms:g}/0.2 mss:1448 cwnd:59 "
                    f"segs_out:{50000 + wire.sent} segs_in:{50000 + wire.received} "
                    f"data_segs_in:{40000 + wire.received} send 725537155bps{again} "
                    f"rcv_space:41608 minrtt:0.029{order} snd_wnd:880128"
                )
        return "\n".join([*lines, ""])


def _pairs(options: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (w.partition("=") for w in options.split(","))]


def _ports(mounts: list[_Mount]) -> set[str]:
    named = {dict(_pairs(mount.options)).get("port", "") for mount in mounts}
    return {port for port in named if port.isdecimal()} - {"0"}


def _snmp(wire: Wire, after: bool) -> str:
    sent, again, received = (wire.sent, wire.retransmitted, wire.received) if after else (0, 0, 0)
    return (
        "Ip: Forwarding DefaultTTL InReceives ReasmFails\nIp: 2 64 4432 0\n"
        "Tcp: RtoAlgorithm CurrEstab InSegs OutSegs RetransSegs InErrs\n"
        f"Tcp: 1 10 {60000 + received} {60000 + sent} {7 + again} 0\n"
    )


def _netstat(wire: Wire, after: bool) -> str:
    return f"TcpExt: SyncookiesSent TCPOFOQueue\nTcpExt: 0 {wire.out_of_order if after else 0}\n"


def _rpc(calls: int, again: int) -> str:
    return f"net 0 0 0 0\nrpc {calls} {again} {calls}\nproc3 22 {'0 ' * 22}\nproc4 2 0 0\n"


def unit_file(path: str) -> str:
    return f"/run/systemd/generator/{path.strip('/').replace('/', '-')}.mount"


def _generated(path: str, source: str, options: str) -> str:
    """systemd waits for a server itself, where fstab says bg (systemd-fstab-generator(8))."""
    if "bg" in options.split(","):
        options = f"x-systemd.mount-timeout=infinity,retry=10000,nofail,{options},fg"
    return (
        "# Automatically generated by systemd-fstab-generator\n\n[Unit]\nSourcePath=/etc/fstab\n"
        f"\n[Mount]\nWhat={source}\nWhere={path}\nType=nfs\nOptions={options}\n"
    )


_ROOT_STATS = "device /dev/mapper/ol-root mounted on / with fstype xfs\n"


def _mountstats(mount: _Mount, after: bool) -> str:
    """The text of one mount, as nfs_show_stats() and rpc_clnt_show_stats() write it."""
    did = mount.did
    version = "4" if mount.fstype == "nfs4" else "3"
    age = did.age + (did.older if after else 0)
    lease = f",lease_time={did.lease_time},lease_expired={did.lease_expired}"
    lines = [
        f"device {mount.source} mounted on {mount.path} with fstype {mount.fstype} statvers=1.1",
        f"\topts:\t{mount.options}",
        f"\tage:\t{age}",
        "\tcaps:\tcaps=0x3fc7,wtmult=512,dtsize=8192,bsize=0,namlen=255",
    ]
    if version == "4":
        lines.append(f"\tnfsv4:\tbm0=0xfdffbfff,bm1=0x40f9be3e,bm2=0x0,acl=0x3{lease}")
    lines += [
        "\tsec:\tflavor=1,pseudoflavor=1",
        "\tevents:\t" + "0 " * 27,
        "\tbytes:\t" + "0 " * 8,
        f"\tRPC iostats version: 1.1  p/v: 100003/{version} (nfs)",
    ]
    protocol = "udp" if ",proto=udp" in mount.options else "tcp"
    for number in range(did.xprts):
        lines.append("\txprt:\t" + _xprt(did, protocol, number, after))
    lines.append("\tper-op statistics")
    lines.append("\t        NULL: 1 1 0 44 24 0 0 0 0")
    lines.append("\t     GETATTR: 5000 5000 0 640000 560000 20 900 1000 0")
    for name, op in (("READ", did.read), ("WRITE", did.write)):
        lines.append(f"\t{name:>12}: " + _op(op, did.seconds_before, after))
    return "\n".join([*lines, ""]) + "\n"


def _xprt(did: Did, protocol: str, number: int, after: bool) -> str:
    """Each connection carries its share; what the window added is on the first one."""
    requests = did.seconds_before * 2 + (did.read.ops + did.write.ops if after else 0)
    added = did.read.retransmissions + did.write.retransmissions
    sends = requests // did.xprts + (added if after and number == 0 else 0)
    bad = did.bad_xids if after and number == 0 else 0
    connects = 1 + (did.reconnects if after and number == 0 else 0)
    port = 877 + number
    tail = f"{sends} {sends} {bad} {sends} 0 {did.max_slots} 0 0"
    if protocol == "udp":
        return f"udp {port} 1 {tail}"
    return f"tcp {port} 1 {connects} 0 0 {tail}"


def _op(op: Op, before: int, after: bool) -> str:
    """ops transmissions timeouts bytes-sent bytes-received queue rtt execute errors."""
    ops, queue, rtt, again, timeouts = before, before * 0.1, before * 3.0, 0, 0
    if after:
        ops += op.ops
        queue += op.ops * op.queue
        rtt += op.ops * op.rtt
        again, timeouts = op.retransmissions, op.timeouts
    times = f"{queue:.0f} {rtt:.0f} {queue + rtt:.0f}"
    return f"{ops} {ops + again} {timeouts} {ops * 160} {ops * op.size} {times} 0"


def nfs_host() -> NfsMachine:
    """A Linux host with bounded RPC slots, and neither mounts nor a database."""
    machine = NfsMachine()
    plain = packs.linux()
    machine.__dict__.update(
        {name: value for name, value in vars(plain).items() if name != "evidence"}
    )
    machine.file(FSTAB, "/dev/mapper/ol-root / xfs defaults 0 0\n")
    machine.file("/proc/net/tcp", _NO_SOCKETS)
    return machine.slots(128, 128)._tell()


def ready_host() -> NfsMachine:
    """A host that is as listed() wants it, and whose database reads and writes there."""
    machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02")
    return machine.database("/u02/oradata/ORCL/system01.dbf", "/u02/oradata/ORCL/redo01.log")
