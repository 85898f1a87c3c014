"""What the instances and the listener of the example packs are: made up, as no Oracle was there.

The pages of the SGAs are those of the recordings (docs/examples/README.md). The parameters, the
alert logs and the listeners fit them.
"""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import io_packs
import listener_packs
import oracle_packs
from ansible.module_utils.hostproof.collect.host import Output
from listener_packs import BOOT, ESTABLISH, LIMITED, OPEN, REACHED, ListenerMachine
from oracle_packs import Stored
from packs import Machine

BASE = "/u01/app/oracle"
HOME = f"{BASE}/product/19.0.0/dbhome_1"
HOME_11 = f"{BASE}/product/11.2.0.4/db1"
#: When the recorded machine booted.
BOOTED = 1795232265
#: SID to the pages that it asks for.
PAGES = {"LAB1": 129, "LAB2": 65}
LISTENER_PID = 612
NO_ROOT = "db04.example.com"
#: What the sessions of an instance may take. The limit is new in 12.1.
SESSIONS: Stored = (
    ("*", "pga_aggregate_target", str(128 << 20)),
    ("*", "processes", "80"),
    ("*", "pga_aggregate_limit", str(512 << 20)),
)
ONLY: Stored = (("*", "use_large_pages", "ONLY"),)

#: CONNECTION_RATE, and no address that it could reach.
UNBOUND = "CONNECTION_RATE_LISTENER = 20\n" + OPEN

_TABLE = """\
Starting ORACLE instance (normal) (OS id: {pid})
{at}
Dump of system resources acquired for SHARED GLOBAL AREA (SGA)

{at}
 Per process system memlock (soft) limit = UNLIMITED
{at}
 Available system pagesizes:
  4K, 2048K
{at}
 Supported system pagesize(s):
{at}
  PAGESIZE  AVAILABLE_PAGES  EXPECTED_PAGES  ALLOCATED_PAGES  ERROR(s)
{at}
        4K       Configured               5{small:>17}        NONE
{at}
     2048K{pages:>17}{pages:>16}{granted:>17}        NONE
"""
_SENTENCES = """\
Starting ORACLE instance (normal)
************************ Large Pages Information *******************
Per process system memlock (soft) limit = UNLIMITED

Total Shared Global Region in Large Pages = 0 KB (0%)

Large Pages used by this instance: 0 (0 KB)
Large Pages unused system wide = 0 (0 KB)
Large Pages configured system wide = 0 (0 KB)
Large Page size = 2048 KB

RECOMMENDATION:
  Total System Global Area size is {total} MB. For optimal performance,
  prior to the next instance restart:
  1. Increase the number of unused large pages by
 at least {pages} (page size 2048 KB, total size {total} MB) system wide to
  get 100% of the System Global Area allocated with large pages
********************************************************************
"""


class Running(NamedTuple):
    """An instance: its release, what stands in its spfile, what differs from that in force."""

    version: str = "19.0.0.0.0"
    stored: Stored = ONLY
    running: dict[str, str] = {}
    huge: bool = True

    @property
    def home(self) -> str:
        return HOME if self.version.startswith("19") else HOME_11


class Listening(NamedTuple):
    """The listener of a host. ``late``: the file was changed after its start."""

    text: str = LIMITED
    backlog: int = 512
    late: bool = False
    delayed: int = 0


READY = {"LAB1": Running(), "LAB2": Running()}
SMALL = Running(stored=(), huge=False)
#: Host to its instances; the others are READY.
INSTANCES = {
    # Without huge pages: an instance that falls back, and one of a release in which each login
    # walks through all of it.
    "db02.example.com": {
        "LAB1": SMALL,
        "LAB2": Running("11.2.0.4.0", (("*", "pre_page_sga", "TRUE"),), huge=False),
    },
    # Set for the next start, and not restarted.
    "db03.example.com": READY | {"LAB2": Running(running={"use_large_pages": "TRUE"})},
}
#: Host to its listener; the others have one that is limited as it should be.
LISTENERS = {
    "db02.example.com": Listening(OPEN, backlog=128),
    "db03.example.com": Listening(delayed=12),
    "db05.example.com": Listening(UNBOUND, backlog=128, late=True),
}


def pids(readings: dict[str, Any]) -> dict[str, int]:
    """SID to the process monitor of the recording."""
    processes = readings["processes:pmon"]["processes"]
    return {sid_of(process): process["pid"] for process in processes}


def sid_of(monitor: dict[str, Any]) -> str:
    return str(monitor["argv0"].rpartition("_")[2])


def homes(machine: Machine, host: str, readings: dict[str, Any]) -> None:
    """The homes that run, with the libraries that Direct NFS is judged by: it is not linked in."""
    for sid, pid in pids(readings).items():
        home = instances(host)[sid].home
        number = home.split("/")[5].split(".")[0]
        link = f"/proc/{pid}/exe"
        machine.link(link, f"{home}/bin/oracle")
        machine.file(f"{home}/bin/oracle", "").folder(f"{home}/dbs", f"{home}/rdbms/lib/odm")
        machine.file(f"{home}/lib/libodm{number}.so", "stub")
        machine.file(f"{home}/lib/libnfsodm{number}.so", "direct")
        if host == NO_ROOT:
            message = f"readlink: {link}: Permission denied\n"
            machine.commands[f"readlink -v {link}"] = Output(1, "", message)


def instances(host: str) -> dict[str, Running]:
    return INSTANCES.get(host, READY)


def parameters(host: str, readings: dict[str, Any]) -> Machine:
    """What pre_page_sga reads: the instances' answers, their files and their alert logs."""
    machine = Machine()
    homes(machine, host, readings)
    for monitor in readings["processes:pmon"]["processes"]:
        sid = sid_of(monitor)
        instance = instances(host)[sid]
        trace = f"{BASE}/diag/rdbms/{sid.lower()}/{sid}/trace"
        spfile = f"{instance.home}/dbs/spfile{sid}.ora"
        size = PAGES[sid] - 1 << 21
        values = oracle_packs.defaults(instance.version)
        values |= {"sga_max_size": str(size), "sga_target": str(size), "spfile": spfile}
        values |= io_packs.PARAMETERS
        sessions = SESSIONS if "pga_aggregate_limit" in values else SESSIONS[:2]
        values |= {name: value for _sid, name, value in sessions}
        values |= {name: value for _sid, name, value in instance.stored} | instance.running
        stored = (*instance.stored, *sessions, ("*", "sga_target", str(size)))
        update = "19.21.0.0.0" if instance.version.startswith("19.") else None
        answer = oracle_packs.answer(instance.version, values, stored, trace, update)
        query = f"sqlplus {sid}: release and parameters"
        machine.command(query, answer.replace("|instance|ORCL|", f"|instance|{sid}|"))
        machine.command(f"sqlplus {sid}: wait chains", oracle_packs.chains())
        text = oracle_packs.spfile_text(stored).replace("'orcl'", f"'{sid.lower()}'")
        machine.file(spfile, text)
        log = alert_log(sid, monitor, instance)
        oracle_packs.add_alert_log(machine, log, f"{trace}/alert_{sid}.log")
        if host == NO_ROOT:
            machine.deny("command:" + query)
    return machine


def writing(host: str, readings: dict[str, Any], at: int) -> Machine:
    """What async_io reads beyond that: writers with contexts and O_DIRECT, and quiet logs."""
    machine = parameters(host, readings)
    io_packs.set_events(machine, 16384, 1048576, None)
    machine.command("uname -m", "x86_64\n").command("date +%s %z", f"{at} +0000\n")
    machine.command(io_packs.JOURNAL, "-- No entries --\n", 1)
    for number, sid in enumerate(sorted(pids(readings))):
        trace = f"{BASE}/diag/rdbms/{sid.lower()}/{sid}/trace"
        machine.command(f"messages of {trace}/alert_{sid}.log", "")
        machine.command(f"messages of the traces of {sid} in {trace}", "")
        for process, name in (("dbw0", "users01.dbf"), ("lgwr", "redo01.log")):
            path = f"/u02/oradata/{sid}/{name}"
            pid = 700 + 2 * number + (process == "lgwr")
            ring = (9000 + pid, io_packs.RING)
            machine.writer(f"ora_{process}_{sid}", {io_packs.DIRECT: [path]}, ring, pid=pid)
    if host == NO_ROOT:
        machine.deny("held:writers")
    return machine


def alert_log(sid: str, monitor: dict[str, Any], one: Running) -> str:
    """The lines of the last start, in the form of its release."""
    pages, total = PAGES[sid], 2 * PAGES[sid]
    if one.home == HOME_11:
        return _SENTENCES.format(pages=pages, total=total)
    granted, small = (pages, 5) if one.huge else (0, (pages - 1) * 512 + 5)
    at = datetime.fromtimestamp(BOOTED + monitor["started"], UTC).isoformat()
    pid = monitor["pid"]
    return _TABLE.format(at=at, pid=pid, pages=pages, granted=granted, small=small)


def listener(host: str, readings: dict[str, Any]) -> ListenerMachine:
    """What listener_rate_limit reads: one listener, its file, its socket and its log."""
    story = LISTENERS.get(host, Listening())
    short = host.split(".")[0]
    # The file's time counts from the boot of listener_packs.
    changed = BOOTED - BOOT + (90 if story.late else -600)
    machine = listener_packs.linux().command("grep ^btime  /proc/stat", f"btime {BOOTED}\n")
    text = story.text.replace("db01.example.com", host)
    machine.listener(text, home=HOME, pid=LISTENER_PID, started=12.5, changed=changed)
    machine.command("uname -n", host + "\n").socket(1521, story.backlog)
    lines = [ESTABLISH.format(minute=38, second=n, code=0) for n in range(40)]
    lines += [REACHED.format(minute=39, second=n) for n in range(story.delayed)]
    log = "".join(lines).replace(" 10:", " 03:")
    machine.log(log, f"{BASE}/diag/tnslsnr/{short}/listener/trace/listener.log")
    if host == NO_ROOT:
        machine.deny(f"environment:{LISTENER_PID}")
        machine.deny(f"command:release of lsnrctl in {HOME}")
    return machine
