"""A machine whose clock counts instructions: what runs beside it is in none of its times.

QEMU lets a nanosecond pass for each instruction, and skips the time in which the machine waits.
How long a program waits for something is then the same on an idle host and on a busy one. The
machine has one processor and no way out; it has the lab's image and its stock kernel.
"""

import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from . import images, vm
from .needs import install

#: Where the files are in the machine.
FOLDER = "/run/counted"
MEGABYTES = 1024
SECTOR = 512

#: Runs as init: without systemd it is up in seconds. What the command printed goes to a disk of
#: its own, for the kernel writes on the console as well.
INIT = """
mount -t proc proc /proc
mount -t sysfs sysfs /sys 2>/dev/null
ip link set lo up
cd {folder}
# Without udev nobody makes the nodes that the device mapper would wait for.
export DM_DISABLE_UDEV=1
if {command} > answer; then cat answer > /dev/vdc; sync; fi
echo o > /proc/sysrq-trigger
sleep 60
"""
UNPACK = f"mount -t tmpfs run /run; mkdir {FOLDER}; tar xf /dev/vdb -C {FOLDER}"
ANSWER_BYTES = 1 << 20


def run(files: Mapping[str, Path], argv: list[str], seconds: int) -> str:
    """What a command prints in a fresh machine; its working folder holds ``files`` by name.

    RuntimeError, with the end of the console, where it fails or takes longer than ``seconds``.
    """
    install({"qemu-system-x86_64": "qemu-system-x86"}, "a machine that counts its time")
    image = images.ensure(images.lab_recipe())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "init").write_text(INIT.format(folder=FOLDER, command=shlex.join(argv)))
        pack(folder / "files.tar", {"init": folder / "init", **files})
        with (folder / "answer").open("wb") as answer:
            answer.truncate(ANSWER_BYTES)
        try:
            bound = [sys.executable, str(vm.BOUND), "--owner", str(os.getpid())]
            done = subprocess.run(
                [*bound, *command(image)],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=seconds,
            )
            ended = f"QEMU ended with {done.returncode} {done.stderr.strip()}"
        except subprocess.TimeoutExpired:
            ended = f"it was not done after {seconds} s"
        output = (folder / "answer").read_bytes().rstrip(b"\0").decode()
        if not output:
            console = vm.tail(folder / "console.log")
            raise RuntimeError(f"{shlex.join(argv)} in a counted machine: {ended}\n{console}")
        return output


def pack(archive: Path, files: Mapping[str, Path]) -> None:
    """A tar of the files that is as long as a disk may be."""
    with tarfile.open(archive, "w") as tar:
        for name, path in files.items():
            tar.add(path, name, filter=without_caches)
    with archive.open("ab") as stream:
        stream.truncate(-(-archive.stat().st_size // SECTOR) * SECTOR)


def without_caches(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in member.name else member


def command(image: Path) -> list[str]:
    begin = f"{UNPACK}; exec sh {FOLDER}/init"
    # Two processors do not come up where the clock waits for one of them.
    argv = ["qemu-system-x86_64", "-accel", "tcg,thread=single,tb-size=512", "-smp", "1"]
    argv += ["-icount", "shift=0,sleep=off", "-m", str(MEGABYTES), "-no-reboot"]
    argv += ["-kernel", str(images.kernel(image)), "-initrd", str(image / "initrd")]
    argv += ["-append", f'root=/dev/vda rw console=ttyS0 panic=-1 init=/bin/sh -- -c "{begin}"']
    # What it writes on its root is gone with it.
    disks = (
        f"file={image}/disk.img,snapshot=on,cache=unsafe",
        "file=files.tar,readonly=on",
        "file=answer",
    )
    for disk in disks:
        argv += ["-drive", f"{disk},if=virtio,format=raw"]
    return [*argv, "-display", "none", "-serial", "file:console.log", "-nic", "none"]
