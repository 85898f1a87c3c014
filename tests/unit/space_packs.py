"""Hosts with file systems, as the control space reads them."""

import packs

GIB = packs.GIB
STATFS = "stat -f -c %S %b %a %c %d"

#: A host with systemd. The lines of /, /proc and /dev/shm have the form of a recorded kernel 6.18.
MOUNTS = """\
22 27 0:21 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
24 27 0:6 / /dev rw,nosuid - devtmpfs devtmpfs rw,size=12334460k,mode=755
25 24 0:23 / /dev/shm rw,nosuid,nodev - tmpfs tmpfs rw,size=24684084k
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
"""
FSTAB = "/dev/vda / ext4 defaults 0 1\n"


def usage(machine: packs.Machine, path: str, free: int, inodes: tuple[int, int] = (16000, 15000)):
    """A file system of 100 GiB."""
    blocks = 100 * GIB // 4096
    line = f"4096 {blocks} {free // 4096} {inodes[0]} {inodes[1]}\n"
    return machine.command(f"{STATFS} {path}", line)


def mounted(machine: packs.Machine, extra: str = "", fstab: str = FSTAB) -> packs.Machine:
    machine.file("/proc/self/mountinfo", MOUNTS + extra).file("/etc/fstab", fstab)
    machine.folder("/usr", "/etc", "/var", "/tmp", "/var/tmp", "/dev/shm")
    machine.link("/sbin", "/usr/sbin").folder("/usr/sbin")
    for unit in ("u01", "u02", "tmp", "scratch"):
        for suffix in ("mount", "automount"):
            machine.command(f"systemctl is-enabled {unit}.{suffix}", "disabled\n", 1)
    machine.modes.update({"/tmp": 0o1777, "/var/tmp": 0o1777, "/dev/shm": 0o1777, "/var": 0o755})
    return usage(machine, "/", 40 * GIB)


def with_home(machine: packs.Machine) -> packs.Machine:
    machine.file("/etc/oratab", f"ORCL:{packs.HOME}:N\n").folder(packs.HOME)
    return machine
