#!/usr/bin/env python3
"""A filer behind real cards: the lab's cables (tests/machines/vm.py) lead to a network namespace.

Each end of a cable is a card with a driver of its own, so flow control, speed, duplex and LACP are
the drivers' and the kernel's. The namespace serves NFS as molecule/lab/filer.py does, which lies
beside this file. Runs as root, by lab-wires.service. Standard library only.

    wires.py start
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import filer
from filer import run

NAME = "wired"
VOLUME = "wired"


class Wire(NamedTuple):
    """``cables`` are more than one where both ends bundle them (LACP)."""

    cables: tuple[int, ...]
    host: str
    filer: str


#: The networks of 10.9.N.0/24 by what the host's cards are.
WIRES = {
    "e1000e": Wire((1,), "10.9.2.1/24", "10.9.2.2/24"),
    "e1000": Wire((2,), "10.9.3.1/24", "10.9.3.2/24"),
    "bond0": Wire((3, 4), "10.9.4.1/24", "10.9.4.2/24"),
    "virtio": Wire((5,), "10.9.5.1/24", "10.9.5.2/24"),
}

filer.FILERS[NAME] = filer.Filer(
    link="", client="", address="", maximum=1 << 20, volumes={VOLUME: 32}, exports={VOLUME: ("",)}
)


def card(cable: int, end: int) -> str:
    """The name that udev gave to the card at an end of a cable."""
    mac = f"52:54:00:00:{cable:02x}:{end:02x}"
    for place in sorted(Path("/sys/class/net").iterdir()):
        # A member shows the address of its bond, so it is asked for its own.
        if (place / "device").exists() and (place / "address").read_text().strip() == mac:
            return place.name
    sys.exit(f"there is no card {mac}")


def start() -> None:
    run("udevadm", "settle")
    run("modprobe", "--all", "bonding", "nfsd", "lockd", "loop", "dm-delay")
    Path("/proc/sys/fs/nfs/nlm_timeout").write_text("3")
    Path("/proc/sys/fs/nfs/nlm_grace_period").write_text("3")
    run("ip", "netns", "add", NAME)
    run("ip", "-n", NAME, "link", "set", "lo", "up")
    for wire in WIRES.values():
        ends = [[card(cable, end) for cable in wire.cables] for end in (1, 2)]
        for device in ends[1]:
            run("ip", "link", "set", device, "netns", NAME)
        connect(["ip"], ends[0], wire.host)
        connect(["ip", "-n", NAME], ends[1], wire.filer)
    # Its mounts and the files under /run are its own: nothing of them is seen outside.
    folder = filer.FOLDER / NAME
    folder.mkdir(parents=True, exist_ok=True)
    for volume, megabytes in filer.FILERS[NAME].volumes.items():
        filer.make_disk(folder / f"{volume}.img", volume, megabytes)
    own = ("unshare", "--mount", "--propagation", "private", sys.executable, __file__, "serve")
    run("ip", "netns", "exec", NAME, *own)


def connect(ip: list[str], cards: list[str], address: str) -> None:
    """Give the address to the card, or to a bond of several."""
    device = cards[0]
    if len(cards) > 1:
        device = "bond0"
        options = ("type", "bond", "mode", "802.3ad", "miimon", "100", "lacp_rate", "fast")
        run(*ip, "link", "add", device, *options)
        for member in cards:
            run(*ip, "link", "set", member, "down")
            run(*ip, "link", "set", member, "master", device)
    run(*ip, "address", "add", address, "dev", device)
    run(*ip, "link", "set", device, "up")


if __name__ == "__main__":
    os.chdir("/")
    {"start": start, "serve": lambda: filer.serve(NAME)}[sys.argv[1]]()
