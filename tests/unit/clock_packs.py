"""A host whose clock is kept: its kernel's, and a chronyd that answers as a real one did."""

from typing import Any

import packs
from ansible.module_utils.hostproof.controls.time_sync.facts import CURRENT, SHOW, SOURCES, TRACKING

FIXTURES = packs.FIXTURES / "chrony"
DEBIAN = (FIXTURES / "debian-12-chrony.conf").read_text()
CONF = "/etc/chrony/chrony.conf"
FOLDER = "/etc/chrony/conf.d"
BOOTED = "btime 1700000000\n"


def shown(**units: str) -> str:
    """What systemctl show prints (made up): a unit is its state and its command."""
    blocks = []
    for name, text in units.items():
        state, _, argv = text.partition(" ")
        unit = name.replace("_", "-") + ".service"
        command = f"{{ path={argv.split()[0]} ; argv[]={argv} ; ignore_errors=no }}" if argv else ""
        blocks.append(
            f"EnvironmentFiles=/etc/sysconfig/{name} (ignore_errors=yes)\n"
            f"ExecStart={command}\nId={unit}\nActiveState=active\nUnitFileState={state}\n"
        )
    return "\n".join([*blocks, "Id=unknown.service\nActiveState=inactive\nUnitFileState=\n"])


def daemon(machine: packs.Machine, argv: str, pid: int = 700, **more: Any) -> packs.Machine:
    words = argv.split()
    more = {"exe": words[0], "exe_uid": 0, **more}
    process = {"pid": pid, "uid": 110, "gid": 110, "started": 9.5, "argv0": words[0], **more}
    machine.running.append(process)
    for number, word in enumerate(words[1:], 1):
        reading = {"kind": "argument", "at": packs.RECORDED_AT, "text": word}
        machine.evidence[f"argument:{pid}:{number}"] = reading
    return machine


def bare() -> packs.Machine:
    return clocked(packs.linux())


def clocked(machine: packs.Machine) -> packs.Machine:
    """What its kernel says of its clock."""
    machine.file("/proc/stat", "cpu 1 2 3\n" + BOOTED)
    machine.file(CURRENT, "tsc\n").file(
        CURRENT.replace("current", "available"), "tsc hpet acpi_pm\n"
    )
    return machine.file("/proc/sys/kernel/osrelease", "6.1.0-31-amd64\n")


def with_chrony(conf: str = DEBIAN, argv: str = "/usr/sbin/chronyd -F 1") -> packs.Machine:
    return in_time(bare(), conf, argv)


def in_time(machine: packs.Machine, conf: str = DEBIAN, argv: str = "/usr/sbin/chronyd") -> Any:
    """A host whose chronyd is as Debian starts it, and follows a source."""
    daemon(machine, argv).file(CONF, conf).folder(FOLDER)
    machine.command(" ".join(SHOW), shown(chrony="enabled /usr/sbin/chronyd $DAEMON_OPTS"))
    return answers(machine, "tracking", "sources")


def answers(machine: packs.Machine, tracking: str, sources: str) -> packs.Machine:
    for argv, name in ((TRACKING, tracking), (SOURCES, sources)):
        machine.command(" ".join(argv), (FIXTURES / f"chrony-4.3-{name}.csv").read_text())
    return machine
