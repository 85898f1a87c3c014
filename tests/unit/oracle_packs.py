"""Hosts with instances whose parameters are judged, told as stories on top of packs.Machine.

``story`` is a host on which every check of pre_page_sga passes: a 19c instance with its whole SGA
in huge pages. Its sqlplus answers what the story says; its spfile and its alert log say the same.
"""

import functools
import struct

import packs
from default_policies import changed_policy
from packs import FIXTURES, GIB, MIB, ROOT, Machine, Shm

ROLE = ROOT / "roles/pre_page_sga"

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"
SPFILE = HOME + "/dbs/spfileORCL.ora"
PFILE = HOME + "/dbs/initORCL.ora"
TRACE = "/u01/app/oracle/diag/rdbms/orcl/ORCL/trace"
ALERT_LOG = TRACE + "/alert_ORCL.log"
QUERY = "sqlplus ORCL: release and parameters"
CHAINS = "sqlplus ORCL: wait chains"
SGA = 16 * GIB
NULL = "\\0"

#: Segments of the SGA by the pages that they got.
PAGES = {
    "huge": packs.healthy_sga(),
    "small": [Shm(8 * MIB, False), Shm(SGA - 8 * MIB, False)],
    "mixed": [Shm(SGA // 2, True), Shm(SGA // 2, False)],
    "amm": [Shm(packs.SMALL_SEGMENT, False)],
}

Stored = tuple[tuple[str, str, str], ...]

SGA_ENTRIES: Stored = (("*", "sga_target", str(SGA)),)


policy = functools.partial(changed_policy, "pre_page_sga")


def spfile_text(stored: Stored) -> str:
    """An spfile as its instance writes it, as Host.read_text gives it."""
    entries = [("*", "db_name", "'orcl'"), *stored]
    text = "".join(f"{sid}.{name}={value}\n" for sid, name, value in entries).encode()
    stated = bytes(80) + struct.pack("<I", len(text) + 1)
    bodies = [stated, *(text[at : at + 488] for at in range(0, len(text), 488)), b""]
    blocks = [
        b'C"\0\0'
        + struct.pack("<I", number)
        + bytes(6)
        + b"\1\4ab\0\0"
        + body.ljust(488, b"\0")
        + b"\1C\0\0"
        for number, body in enumerate(bodies, 1)
    ]
    return b"".join(blocks).decode("utf-8", "surrogateescape")


def answer(
    version: str,
    running: dict[str, str | None],
    stored: Stored,
    trace: str | None = TRACE,
    update: str | None = None,
) -> str:
    """What sqlplus prints for the query of the product. ``update`` is told since 18c."""
    rows = [f"|instance|ORCL|{version}|OPEN|", f"|full|{NULL if update is None else update}|"]
    rows += [
        f"|running|{name}|{NULL if value is None else value}|"
        for name, value in sorted(running.items())
    ]
    rows += [f"|stored|{sid}|{name}|{value}|" for sid, name, value in stored]
    rows += [f"|trace|{trace}|"] if trace else []
    return "\n".join(["hostproof-begin", *rows, "hostproof-end", ""])


def chains(*rows: str) -> str:
    """What sqlplus prints for the query of wait chains."""
    return "\n".join(["hostproof-begin", *rows, "hostproof-end", ""])


def defaults(version: str) -> dict[str, str | None]:
    """What an instance of that release runs with where nothing is set."""
    release = tuple(int(number) for number in version.split("."))
    values: dict[str, str | None] = {
        "pre_page_sga": "TRUE" if release >= (12, 1) else "FALSE",
        "lock_sga": "FALSE",
        "sga_max_size": str(SGA),
        "sga_target": str(SGA),
        "spfile": SPFILE,
        "pga_aggregate_target": str(GIB),
        "processes": "300",
        "event": None,
        "compatible": ".".join(version.split(".")[:3]),
    }
    if release >= (12, 1):
        values["pga_aggregate_limit"] = str(2 * GIB)
    if release >= (11,):
        values["db_securefile"] = "PREFERRED" if release >= (12,) else "PERMITTED"
    if release >= (11, 2, 0, 2):
        values["use_large_pages"] = "TRUE"
    if release >= (11,):
        values |= {"memory_target": "0", "memory_max_target": "0"}
    return values


def story(
    version: str = "19.0.0.0.0",
    pages: str = "huge",
    stored: Stored = (("*", "use_large_pages", "ONLY"),),
    memlock: int | None = None,
    alert_log: str | None = "19c-granted",
    update: str | None = "",
    **running: str | None,
) -> Machine:
    """``running`` are values in force; those that only ``stored`` names are in force too.

    The SGA is in the spfile, unless ``stored`` says something of it. ``update`` is by default the
    last one of 19c in which pre_page_sga is not deprecated.
    """
    if not any(name.startswith(("sga_", "memory_")) for _sid, name, _value in stored):
        stored = (*stored, *SGA_ENTRIES)
    if update == "":
        update = "19.21.0.0.0" if version.startswith("19.") else None
    machine = packs.linux().account("oracle", 54321, "oinstall", "dba")
    machine.instance("ORCL", *PAGES[pages], memlock=memlock)
    machine.link("/proc/2101/exe", HOME + "/bin/oracle")
    values = defaults(version)
    values |= {name: value for sid, name, value in stored if sid in ("*", "ORCL")}
    values |= running
    machine.command(QUERY, answer(version, values, stored, update=update))
    machine.command(CHAINS, chains())
    machine.file(SPFILE, spfile_text(stored))
    banner = f"\nSQL*Plus: Release {version} - Production\n"
    banner += f"Version {update}\n\n" if update else "\n"
    machine.command(f"sqlplus -V of {HOME}", banner)
    if alert_log is not None:
        add_alert_log(machine, (FIXTURES / f"alert_log/{alert_log}.txt").read_text())
    return machine


def down(
    version: str = "19.0.0.0.0",
    stored: Stored = (("*", "use_large_pages", "ONLY"),),
    alert_log: str = "19c-granted",
) -> Machine:
    """The same instance, which does not run: oratab names it."""
    machine = story(version, stored=stored, alert_log=alert_log).stop_instances()
    machine.file("/etc/oratab", f"ORCL:{HOME}:N\n+ASM:/u01/app/grid:N\n")
    machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
    machine.command(
        f"find /u01/app/oracle/diag/rdbms -mindepth 4 -maxdepth 4 -name {ALERT_LOG[-14:]}",
        ALERT_LOG + "\n",
    )
    return machine


def add_alert_log(machine: Machine, text: str, path: str = ALERT_LOG) -> None:
    """An alert log as grep and sed show it."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("Starting ORACLE")]
    output = "".join(f"{number}:{lines[number - 1]}\n" for number in starts)
    machine.command(f"grep -a -n -e ^Starting ORACLE instance {path}", output, 0 if output else 1)
    if starts:
        first = starts[-1]
        shown = f"sed -n -e {first},{first + 400}p -e {first + 400}q {path}"
        machine.command(shown, "\n".join(lines[first - 1 :]))
