#!/usr/bin/env python3
"""Two filers in the lab's machine: the kernel's NFS server in a network namespace for each.

``filer`` is wide and ``smallfiler`` grants 32 KiB a request at most. Each has an address of its
own, rpcbind, statd (locks of NFSv3), mountd and file systems on disks that can be made slow. What
happens on the wire between the machine and a filer is real: netem can disturb it. Runs as root, by
lab-filer.service before the machine's NFS mounts. Standard library only.

    filer.py start                     both filers
    filer.py maximum FILER BYTES       serve again with another largest request
    filer.py slow VOLUME MILLISECONDS  what a write to the volume's disk takes more; 0 ends it
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("/srv/filer")
VOLUMES = Path("/vol")
NFSD = Path("/proc/fs/nfsd")
STATE = Path("/var/lib/nfs")

#: A client's locks are lost this long after the server is gone; the shortest that nfsd knows.
LEASE_SECONDS = 10


class Filer(NamedTuple):
    """``volumes`` are megabytes by name, and the exports that lie on each."""

    link: str
    client: str
    address: str
    maximum: int
    volumes: dict[str, int]
    exports: dict[str, tuple[str, ...]]


FILERS = {
    "filer": Filer(
        link="san0",
        client="10.9.0.1/24",
        address="10.9.0.2/24",
        maximum=1 << 20,
        volumes={"oradata": 128, "redo": 64, "shared": 64},
        # Two exports of one file system: a client may see them as one superblock.
        exports={"oradata": ("",), "redo": ("",), "shared": ("/home", "/backup")},
    ),
    "smallfiler": Filer(
        link="san1",
        client="10.9.1.1/24",
        address="10.9.1.2/24",
        maximum=32 << 10,
        volumes={"small": 32},
        exports={"small": ("",)},
    ),
}


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}")
    return done.stdout


def start() -> None:
    run("modprobe", "--all", "nfsd", "lockd", "veth", "loop", "dm-delay")
    # After a start of the server nobody gets a lock for this long.
    Path("/proc/sys/fs/nfs/nlm_timeout").write_text("3")
    Path("/proc/sys/fs/nfs/nlm_grace_period").write_text("3")
    for name, filer in FILERS.items():
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        connect(name, filer)
        for volume, megabytes in filer.volumes.items():
            make_disk(FOLDER / name / f"{volume}.img", volume, megabytes)
        # Its mounts and the files under /run are its own: nothing of them is seen outside.
        own = ("unshare", "--mount", "--propagation", "private")
        run("ip", "netns", "exec", name, *own, sys.executable, __file__, "serve", name)


def connect(name: str, filer: Filer) -> None:
    """Make the namespace and the cable to it."""
    run("ip", "netns", "add", name)
    run("ip", "link", "add", filer.link, "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "address", "add", filer.client, "dev", filer.link)
    run("ip", "link", "set", filer.link, "up")
    run("ip", "-n", name, "address", "add", filer.address, "dev", "eth0")
    for device in ("eth0", "lo"):
        run("ip", "-n", name, "link", "set", device, "up")


def disk(volume: str) -> str:
    return f"/dev/mapper/filer-{volume}"


def make_disk(image: Path, volume: str, megabytes: int) -> None:
    fresh = not image.exists()
    if fresh:
        run("truncate", "--size", f"{megabytes}M", str(image))
    loop = run("losetup", "--find", "--show", str(image)).strip()
    sectors = int(run("blockdev", "--getsz", loop))
    run("dmsetup", "create", f"filer-{volume}", "--table", table(sectors, loop, 0))
    if fresh:
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", disk(volume))


def table(sectors: int, device: str, write_milliseconds: int) -> str:
    """The device as it is, with a delay for each write (dm-delay)."""
    return f"0 {sectors} delay {device} 0 0 {device} 0 {write_milliseconds}"


def slow(volume: str, milliseconds: str) -> None:
    sectors, device = run("dmsetup", "table", f"filer-{volume}").split()[1:4:2]
    run("dmsetup", "suspend", f"filer-{volume}")
    now = table(int(sectors), device, int(milliseconds))
    run("dmsetup", "reload", f"filer-{volume}", "--table", now)
    run("dmsetup", "resume", f"filer-{volume}")


def serve(name: str) -> None:
    """Start the daemons in the namespaces of this process, which live as long as they do."""
    filer = FILERS[name]
    state = FOLDER / name / "state"
    if not state.exists():
        shutil.copytree(STATE, state)
    run("mount", "--bind", str(state), str(STATE))
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    Path("/run/rpcbind").mkdir()
    run("mount", "-t", "nfsd", "nfsd", str(NFSD))
    exports = []
    for volume in filer.volumes:
        (VOLUMES / volume).mkdir(parents=True, exist_ok=True)
        run("mount", disk(volume), str(VOLUMES / volume))
        for beneath in filer.exports[volume]:
            path = Path(f"{VOLUMES}/{volume}{beneath}")
            path.mkdir(exist_ok=True)
            path.chmod(0o777)
            exports.append(f"{path} *(rw,sync,no_root_squash,no_subtree_check)\n")
    Path("/run/exports").write_text("".join(exports))
    run("mount", "--bind", "/run/exports", "/etc/exports")
    run("rpcbind", "-w")
    run("rpc.statd", "--no-notify")
    run("exportfs", "-ra")
    run("rpc.mountd")
    start_nfsd(filer.maximum)


def start_nfsd(largest: int) -> None:
    (NFSD / "max_block_size").write_text(str(largest))
    times = ("--lease-time", str(LEASE_SECONDS), "--grace-time", str(LEASE_SECONDS))
    run("rpc.nfsd", *times, "8")


def maximum(name: str, largest: str) -> None:
    """Serve again in the filer's namespaces, which its mountd lives in too."""
    network = Path("/run/netns", name).stat().st_ino
    for pid in run("pgrep", "--exact", "rpc.mountd").split():
        if Path(f"/proc/{pid}/ns/net").stat().st_ino == network:
            own = ("nsenter", "--target", pid, "--mount", "--net")
            run(*own, sys.executable, __file__, "restart", largest)
            return
    sys.exit(f"{name} does not serve")


def restart(largest: str) -> None:
    run("rpc.nfsd", "0")
    start_nfsd(int(largest))


if __name__ == "__main__":
    action, *given = sys.argv[1:]
    {"start": start, "serve": serve, "maximum": maximum, "restart": restart, "slow": slow}[action](
        *given
    )
