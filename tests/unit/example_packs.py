"""Completes the example packs of docs/examples/evidence with what was not recorded.

What hugepages reads was recorded from virtual machines without NFS and without Oracle
(docs/examples/README.md). The rest is made up: here hosts without NFS mounts, and db05, which is
db01 with some, its network card, and the limits of dirty memory; in example_oracle.py instances and
listeners. db06 is an AIX: nothing of it was recorded, it is made from documentation and public
output (tests/fixtures/*/SOURCES.md). When a control reads more than before:
HOSTPROOF_WRITE_FIXTURES=1 pytest -k example_packs tests/unit
"""

import json
import re
from datetime import datetime
from typing import Any

import account_packs
import aix_packs
import clock_packs
import example_oracle
import firewall_packs
import io_packs
import kernel_packs
import latency_packs
import limit_packs
import listener_packs
import memory_packs
import name_packs
import nfs_packs
import nic_packs
import oracle_packs
import package_packs
import packs
import platform_packs
import space_packs
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.evaluate import audit
from default_policies import default_policy
from nfs_packs import Did, NfsMachine, Op, shown
from snmp_agents import Agent, Filers, storage_policy

Readings = dict[str, Any]

FOLDER = packs.ROOT / "docs/examples/evidence"
#: Host to the pack that its readings for hugepages are from.
RECORDED = {f"db0{number}.example.com": f"db0{number}.example.com" for number in range(1, 5)}
SOURCES = RECORDED | {"db05.example.com": "db01.example.com"}
AIX = "db06.example.com"

#: What brings swap back at a boot.
SWAP_LINE = "/dev/vdb none swap sw 0 0\n"
#: The kinds of a limit.
SIDES = ("soft", "hard")

#: The words of the system for what cannot be read.
_MESSAGES = {
    "absent": "No such file or directory",
    "denied": "Permission denied",
    "unanswered": "timed out",
}
#: A mount's requests in 3 seconds, and its RTT and execute in milliseconds, as with_nfs tells them.
MOUNTS = (
    ("/u02/oradata", 2520, 1.4, 1.5),
    ("/u03/redo", 540, 41.0, 41.1),
    ("/u04/archive", 24, 2.0, 2.1),
)
#: Of processes on a system that is not Linux (host.py).
_LINUX_ONLY = "processes are known on Linux only"
ADDRESSES = (
    "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever\n"
    "2: {0}    inet 192.0.2.10/24 brd 192.0.2.255 scope global {0}\\       valid_lft forever\n"
)
_ORANFSTAB = """\
server: filer1
path: 192.0.2.51
paht: 192.0.2.52
export: /vol/oradata mount: /u02/oradata
"""


def without_nfs(host: str) -> NfsMachine:
    """As the machine of the recordings: Debian, one disk, no NFS."""
    machine = nfs_packs.nfs_host().slots(None, None)
    machine.file("/etc/fstab", "/dev/vda / ext4 defaults 0 1\n")
    machine.file("/proc/self/mountinfo", "25 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n")
    if host == "db04.example.com":
        machine.deny("open_files:database", "open_files:direct_nfs")  # no root, as recorded there
    return machine


def with_nfs() -> NfsMachine:
    """A mount older than fstab, a slow server that grants too little, and a costly noac."""
    fast, slow = Op(ops=4200, rtt=1.4), Op(ops=900, rtt=41.0)
    machine = nfs_packs.nfs_host().slots(65536, None)
    machine.persisted_mount(
        "/u02/oradata",
        "filer1:/vol/oradata",
        shows=shown(recovery="soft", proto="tcp", address="192.0.2.51"),
        did=Did(read=fast, write=fast),
    )
    machine.persisted_mount(
        "/u03/redo",
        "filer2:/vol/redo",
        shows=shown(rsize=65536, address="192.0.2.61"),
        did=Did(read=slow, write=slow),
    )
    machine.persisted_mount(
        "/u04/archive",
        "filer1:/vol/archive",
        nfs_packs.OPTIONS + ",noac",
        shows=shown(flags="noac", cache=nfs_packs.NO_CACHE, address="192.0.2.51"),
        did=Did(read=Op(ops=40, rtt=2.0), write=Op(ops=300, rtt=3.1)),
    )
    machine.database("/u02/oradata/LAB1/system01.dbf", "/u03/redo/LAB1/redo01.log", sid="LAB1")
    machine.process("ora_arc0_LAB1", "/u04/archive/LAB1/1_117.arc", pid=3120)
    machine.sample_seconds = 5.0
    return machine.file("/etc/oranfstab", _ORANFSTAB)


def with_filers(machine: NfsMachine) -> Filers:
    """What the servers of its mounts say over SNMP: filer1 is a NetApp, filer2 says nothing."""
    host = Filers().like(machine)
    host.command("ldconfig -p", "0 libs found in cache `/etc/ld.so.cache'\n")
    netapp = Agent.of("netapp-7mode")
    for row, (name, percent) in enumerate((("oradata", 83), ("archive", 41)), 1):
        column = (1, 3, 6, 1, 4, 1, 789, 1, 5, 4, 1)
        netapp.rows[(*column, 2, row)] = ("4", f"/vol/{name}/")
        netapp.rows[(*column, 29, row)] = ("70", str(500 << 20))
        netapp.rows[(*column, 30, row)] = ("70", str((500 << 20) * percent // 100))
    return host.agent("192.0.2.51", netapp)


def writers(machine: NfsMachine) -> NfsMachine:
    """The kernel's own limits of dirty memory, and one disk that is throttled as usual."""
    values = (("background_bytes", 0), ("background_ratio", 10), ("bytes", 0), ("ratio", 20))
    for name, value in values:
        machine.file(f"/proc/sys/vm/dirty_{name}", f"{value}\n")
    first = "cpu  50000 0 20000 900000 4000 0 100 0 0 0\n"
    second = "cpu  50900 0 20400 901500 4200 0 100 0 0 0\n"
    machine.sampled("cpu_use", "file:/proc/stat", first, second)
    return machine.file("/sys/block/vda/queue/wbt_lat_usec", "75000\n")


def cards(host: str) -> nic_packs.Host:
    """The virtio card of the recorded machine; db05 has an Intel one to its filers instead."""
    if host in RECORDED:
        machine = nic_packs.Host().nic("ens3", driver="virtio_net", pause=None, speed=-1)
        return machine.command("ip -o addr show", ADDRESSES.format("ens3"))
    machine = nic_packs.Host().nic("ens4", pause=(True, True, True))
    machine.command("ip -o addr show", ADDRESSES.format("ens4"))
    machine.route("192.0.2.51", "ens4").route("192.0.2.61", "ens4")
    counters = {"rx_flow_control_xoff": 12, "tx_flow_control_xoff": 8810, "rx_missed_errors": 0}
    return machine.counted("ens4", counters, counters | {"tx_flow_control_xoff": 8994})


def policies() -> dict[str, Any]:
    """Of every control, as the role's defaults are."""
    return {
        "accounts": default_policy("accounts"),
        "async_io": io_packs.policy(),
        "block_devices": default_policy("block_devices"),
        "firewall": default_policy("firewall"),
        "flow_control": nic_packs.policy(),
        "hugepages": packs.hugepages_policy(),
        "interconnect": default_policy("interconnect"),
        "io_pacing": aix_packs.io_pacing_policy(),
        "kernel_parameters": default_policy("kernel_parameters"),
        "latency": latency_packs.latency_policy(),
        "listener_rate_limit": listener_packs.listener_policy(),
        "memory_pressure": default_policy("memory_pressure"),
        "name_resolution": default_policy("name_resolution"),
        "nfs_mounts": nfs_packs.nfs_policy(),
        "packages": default_policy("packages"),
        "platform": default_policy("platform"),
        "pool_validation": default_policy("pool_validation"),
        "pre_page_sga": oracle_packs.policy(),
        "process_limits": default_policy("process_limits"),
        "space": default_policy("space"),
        "storage_type": storage_policy(),
        "time_sync": default_policy("time_sync"),
    }


def aix() -> str:
    """The text of the pack of db06: legacy marks, and flow control as AIX comes with it."""
    machine = aix_packs.aix().marks(33, 24)
    text = (packs.FIXTURES / "entstat/link-aggregation.txt").read_text()
    machine.storage("en10", text, "ent4", "ent5")
    for command in ("no -F -a", "no -r -a"):
        machine.command(command, (packs.FIXTURES / "no/aix-defaults.txt").read_text())
    interfaces = packs.FIXTURES / "ifconfig/aix-two-interfaces.txt"
    machine.command("ifconfig -a", interfaces.read_text())
    audit.read_host(machine, policies())
    readings = machine.evidence
    pack = json.loads((FOLDER / "db01.example.com.json").read_text())
    _complete(readings, {}, pack["recorded_at"])
    return json.dumps({**pack, "host": AIX, "readings": readings}, indent=1, sort_keys=True) + "\n"


class _Noting(RecordedHost):
    """A recording that notes which readings are asked for."""

    def __init__(self, readings: dict[str, Any]) -> None:
        super().__init__(readings)
        self.asked: set[str] = set()

    def _answer(self, key: str, kind: str, ask: Any, record: Any = None) -> dict[str, Any]:
        self.asked.add(key)
        return super()._answer(key, kind, ask, record)


def watched(host: str, machine: NfsMachine) -> NfsMachine:
    """What its disk did, as a real machine's was measured; on db05 the mounts of its story too."""
    machine.folder("/sys/block/vda/slaves").link("/sys/dev/block/254:0", "/sys/block/vda")
    for sid in ("LAB1", "LAB2"):
        machine.file(f"/u02/oradata/{sid}/redo01.log", "")
    windows = latency_packs.recorded_windows("passive")
    remarks = [latency_packs.NO_NFS]
    if host == "db05.example.com":
        remarks = []
        for path, *interval in MOUNTS:
            windows += latency_packs.mount(path, *[tuple(interval)] * 3)
    machine.windows_of("passive", *windows, remarks=remarks)
    return machine


def page_sizes(machine: packs.Machine, readings: Readings) -> packs.Machine:
    """The pools of the recorded kernel by page size; it had but one, which meminfo tells."""
    rows = dict(line.split(":") for line in readings["file:/proc/meminfo"]["text"].splitlines())
    folder = f"/sys/kernel/mm/hugepages/hugepages-{rows['Hugepagesize'].split()[0]}kB"
    total, surplus = int(rows["HugePages_Total"]), int(rows["HugePages_Surp"])
    machine.file(f"{folder}/nr_hugepages", f"{total - surplus}\n")
    machine.file(f"{folder}/surplus_hugepages", f"{surplus}\n")
    overcommit = readings["file:/proc/sys/vm/nr_overcommit_hugepages"]["text"]
    return machine.file(f"{folder}/nr_overcommit_hugepages", overcommit)


#: What apply of kernel_parameters would have made of the recorded machine.
PARAMETERS = {
    "fs.aio-max-nr": "1048576",
    "fs.file-max": "6815744",
    "kernel.panic_on_oops": "1",
    "net.core.rmem_default": "262144",
    "net.core.rmem_max": "4194304",
    "net.core.wmem_default": "262144",
    "net.core.wmem_max": "1048576",
}


def with_parameters(readings: Readings) -> None:
    """The drop-in of kernel_parameters among the recorded files of sysctl.d."""
    folder, _, name = kernel_packs.DROP_IN.rpartition("/")
    listed = readings["dir:" + folder]
    listed["names"] = sorted({*listed["names"], name})
    text = kernel_packs.HEADER + "".join(f"{key} = {value}\n" for key, value in PARAMETERS.items())
    at = listed["at"]
    readings["file:" + kernel_packs.DROP_IN] = {"kind": "file", "at": at, "text": text}
    target = kernel_packs.DROP_IN
    readings["link:" + target] = {"kind": "link", "at": at, "target": target}


def kernel(machine: packs.Machine, readings: Readings) -> packs.Machine:
    """The values of a kernel that has read that drop-in, and what the homes tell."""
    for name, value in {**kernel_packs.STOCK, **PARAMETERS}.items():
        machine.file(kernel_packs.proc(name), value + "\n")
    for home, release in (
        (example_oracle.HOME, "19.0.0.0.0"),
        (example_oracle.HOME_11, "11.2.0.4.0"),
    ):
        machine.command(f"stat -L -c %U {home}/bin/sqlplus", "oracle\n")
        machine.command(f"sqlplus -V of {home}", f"SQL*Plus: Release {release} Production\n")
    sets = (packs.FIXTURES / "sysvipc_sem/linux-6.18-two-sets.txt").read_text()
    monitors = readings["processes:pmon"].get("processes", [])
    for pid in ("self", *(monitor["pid"] for monitor in monitors)):
        machine.link(f"/proc/{pid}/ns/ipc", "ipc:[4026531839]")
    return machine.file("/proc/sysvipc/sem", sets)


def with_limits(found: Readings) -> Readings:
    """What apply of process_limits would have made of the recorded machine, and its processes
    restarted from a new login; and a file that keeps Oracle's sockets."""
    items = {"nofile": "1024 65536", "nproc": "16384 16384", "stack": "10240 32768"}
    pairs = {item: dict(zip(SIDES, pair.split(), strict=True)) for item, pair in items.items()}
    lines = [f"oracle {side} {item} {pairs[item][side]}\n" for side in SIDES for item in pairs]
    files = {
        limit_packs.DROP_IN: limit_packs.HEADER + "".join(sorted(lines)),
        "/etc/tmpfiles.d/oracle.conf": "x /tmp/.oracle*\nx /var/tmp/.oracle*\n",
    }
    changed = {}
    for path, text in files.items():
        folder, _, name = path.rpartition("/")
        listed = found[f"dir:{folder}"]
        changed[f"dir:{folder}"] = {**listed, "names": sorted({*listed["names"], name})}
        changed[f"file:{path}"] = {"kind": "file", "at": "", "text": text}
        changed[f"link:{path}"] = {"kind": "link", "at": "", "target": path}
    for key, reading in found.items():
        if re.match(r"file:/proc/\d+/limits$", key) and "text" in reading:
            changed[key] = {**reading, "text": as_granted(reading["text"])}
    return {**found, **changed}


def as_granted(text: str) -> str:
    """/proc/PID/limits of a process with those limits; locked memory as it was."""
    rows = {line[:25].strip(): line for line in limit_packs.limits().splitlines()}
    del rows["Max locked memory"]
    return "".join(rows.get(line[:25].strip(), line) + "\n" for line in text.splitlines())


def limits(found: Readings) -> packs.Machine:
    """Sessions of a login, a logind and a cleaner of systemd, and the options of the kernel."""
    release = found["file:/proc/sys/kernel/osrelease"]["text"].strip()
    machine = limit_packs.host().file("/etc/systemd/logind.conf", "[Login]\nRemoveIPC=no\n")
    machine.file(f"/boot/config-{release}", "# CONFIG_RT_GROUP_SCHED is not set\n")
    group = limit_packs.SESSION
    machine.folder("/sys/fs/cgroup" + group.strip().rpartition(":")[2])
    for name in ("pmon", "tnslsnr"):
        for process in found[f"processes:{name}"].get("processes", []):
            machine.running.append(process)
            machine.file(f"/proc/{process['pid']}/limits", limit_packs.limits())
            machine.file(f"/proc/{process['pid']}/cgroup", group)
    return machine


def with_swap(found: Readings) -> None:
    """A line of swap in fstab, whichever way it was read."""
    for key, part in (("file:/etc/fstab", "text"), ("command:cat /etc/fstab", "stdout")):
        if part in found.get(key, {}):
            found[key] = {**found[key], part: found[key][part] + SWAP_LINE}


def memory(found: Readings) -> packs.Machine:
    """Three GiB of swap that nothing is in, and two nodes with half of their memory free."""
    machine = memory_packs.swapping(memory_packs.swap(packs.linux(), ("/dev/vdb", 3 << 20, 0)))
    machine.file("/etc/fstab", SWAP_LINE)
    memory_packs.nodes(machine, (1.5, 0.75), (1.5, 0.75))
    for process in found["processes:oracle"].get("processes", []):
        memory_packs.process(machine, process["argv0"], process["pid"], 0)
    return machine


def owners(found: Readings) -> packs.Machine:
    """The account oracle, as Oracle's preinstallation package makes it."""
    machine = account_packs.host()
    for process in found["processes:oracle"].get("processes", []):
        account_packs.instance(machine, pid=process["pid"])
    return machine


def named(host: str) -> packs.Machine:
    """It is found by its name and back, and its two name servers know it."""
    machine = packs.linux().file("/proc/sys/kernel/hostname", f"{host}\n")
    machine.file("/etc/hostname", f"{host}\n")
    machine.file("/etc/hosts", f"127.0.0.1 localhost\n192.0.2.10 {host} {host.split('.')[0]}\n")
    machine.file("/etc/resolv.conf", name_packs.RESOLV)
    name_packs.named(machine, host, "192.0.2.10")
    return name_packs.back(machine, "192.0.2.10", host)


def complete(host: str) -> str:
    """The text of a host's pack."""
    if host == AIX:
        return aix()
    pack = json.loads((FOLDER / f"{SOURCES[host]}.json").read_text())
    recorded = _Noting(pack["readings"])
    audit.read_host(recorded, {"hugepages": packs.hugepages_policy(query_instances=False)})
    readings = {key: pack["readings"][key] for key in recorded.asked & set(pack["readings"])}
    if host not in RECORDED:
        # Its mounts are another host's: what is generated of fstab is not that of the source.
        readings.pop("dir:/run/systemd/generator", None)
    with_parameters(readings)
    nfs = without_nfs(host) if host in RECORDED else with_nfs()
    example_oracle.homes(nfs, host, readings)
    evidence = _read(nfs, readings, {"nfs_mounts": nfs_packs.nfs_policy()})
    listener = example_oracle.listener(host, readings)
    evidence = _read(listener, evidence, {"listener_rate_limit": listener_packs.listener_policy()})
    parameters = example_oracle.parameters(host, readings)
    asking = {"hugepages": packs.hugepages_policy(), "pre_page_sga": oracle_packs.policy()}
    evidence = _read(page_sizes(parameters, readings), evidence, asking)
    asking = {"kernel_parameters": default_policy("kernel_parameters")}
    evidence = _read(kernel(parameters, readings), evidence, asking)
    asking = {"process_limits": default_policy("process_limits")}
    evidence = with_limits(evidence)
    evidence = _read(limits(evidence), evidence, asking)
    with_swap(evidence)
    asking = {"memory_pressure": default_policy("memory_pressure")}
    evidence = _read(memory(evidence), evidence, asking)
    asking = {"time_sync": default_policy("time_sync")}
    evidence = _read(clock_packs.in_time(clock_packs.clocked(parameters)), evidence, asking)
    evidence = _read(with_filers(nfs), evidence, {"storage_type": storage_policy()})
    evidence = _read(writers(nfs), evidence, {"io_pacing": aix_packs.io_pacing_policy()})
    evidence.pop("command:ip -o addr show", None)  # no control told what the host has
    evidence = _read(cards(host), evidence, {"flow_control": nic_packs.policy()})
    order = "passwd: files\nhosts: files dns\n"
    evidence["file:/etc/nsswitch.conf"] = {"kind": "file", "at": "", "text": order}
    for server in name_packs.SERVERS:
        evidence[f"udp:{server} {host}"] = name_packs.datagram_of(host, ["192.0.2.10"])
    evidence = _read(named(host), evidence, {"name_resolution": default_policy("name_resolution")})
    at = int(datetime.fromisoformat(pack["recorded_at"]).timestamp())
    writing = example_oracle.writing(host, readings, at)
    evidence = _read(writing, with_limit(evidence), {"async_io": io_packs.policy()})
    evidence = _read(writing, evidence, {"block_devices": default_policy("block_devices")})
    evidence = _read(watched(host, nfs), evidence, {"latency": latency_packs.latency_policy()})
    machine = platform_packs.supported(writing)
    evidence = _read(machine, evidence, {"platform": default_policy("platform")})
    machine = package_packs.recorded("debian-12")
    evidence = _read(machine, evidence, {"packages": default_policy("packages")})
    machine = firewall_packs.host(sockets=firewall_packs.LISTENER)
    evidence = _read(machine, evidence, {"firewall": default_policy("firewall")})
    evidence = _read(owners(evidence), evidence, {"accounts": default_policy("accounts")})
    machine = space_packs.mounted(packs.linux())
    evidence = _read(machine, with_kernel_mounts(evidence), {"space": default_policy("space")})
    _complete(evidence, readings, pack["recorded_at"])
    content = {**pack, "host": host, "readings": evidence}
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def with_kernel_mounts(found: Readings) -> Readings:
    """Beside the recorded mounts those that systemd makes: /proc, /dev, /dev/shm and /tmp."""
    key = "file:/proc/self/mountinfo"
    lines = [line for line in space_packs.MOUNTS.splitlines() if " / / " not in line]
    recorded = found[key]["text"]
    root = next(line.split()[0] for line in recorded.splitlines() if " / / " in line)
    added = "".join(f"{line}\n".replace(" 27 ", f" {root} ", 1) for line in lines)
    added += f"31 {root} 0:31 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw\n"
    return {**found, key: {**found[key], "text": recorded + added}}


def with_limit(found: Readings) -> Readings:
    """A file that sets fs.aio-max-nr, as Oracle's preinstallation package writes it: the recorded
    machine had none."""
    path = "/etc/sysctl.d/97-oracle-database-sysctl.conf"
    folder, _, name = path.rpartition("/")
    listed = found[f"dir:{folder}"]
    names = sorted({*listed["names"], name})
    return {
        **found,
        f"dir:{folder}": {**listed, "names": names},
        f"file:{path}": {"kind": "file", "at": "", "text": "fs.aio-max-nr = 1048576\n"},
        f"link:{path}": {"kind": "link", "at": "", "target": path},
    }


def _complete(found: Readings, recorded: Readings, at: str) -> None:
    """Time and message of what was made up."""
    for key in set(found) - set(recorded):
        found[key]["at"] = at
    for key in found:
        found[key]["at"] = found[key]["at"] or at
        if "error" in found[key]:
            asks_processes = key.startswith(("processes:", "open_files:"))
            linux_only = asks_processes and found[key]["error"] == "unanswered"
            words = _LINUX_ONLY if linux_only else _MESSAGES[found[key]["error"]]
            found[key]["message"] = f"{key}: {words}"


def _read(machine: packs.Machine, known: Readings, policies: dict[str, Any]) -> Readings:
    """What is known already, and what a control reads of the machine beyond that."""
    machine.evidence = dict(known)
    audit.read_host(machine, policies)
    return machine.evidence
