"""A booted machine kept in a file: memory, devices and disk, to start from instead of a boot.

It is cached by content: the image, QEMU's release, and QEMU's arguments. The ssh key is part of it,
because the machine got it when it booted. Only the account that made a snapshot can read it.
"""

import hashlib
import json
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import shared_cache

from .monitor import Monitor, connected

#: Raise it when the way a snapshot is made changes.
FORMAT = 1
#: Names in a snapshot's folder, and in that of a machine. "complete" is written last.
DISK, MEMORY, KEYS, COMPLETE = "disk.qcow2", "memory", ("key", "key.pub"), "complete"
#: Seconds to write or read the memory, some 250 MiB.
SECONDS = 120


def place(image: Path, arguments: list[str]) -> Path:
    """The folder of the snapshot of this machine; it may not exist."""
    release = subprocess.run(
        ["qemu-system-x86_64", "--version"], check=True, capture_output=True, text=True
    ).stdout
    content = json.dumps([image.name, release, arguments, FORMAT])
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    return shared_cache.folder() / "snapshots" / f"lab-{digest}"


def exists(snapshot: Path) -> bool:
    return (snapshot / COMPLETE).exists()


def restored_into(snapshot: Path, folder: Path) -> list[str]:
    """Put the snapshot's disk and key into the machine's folder; QEMU's arguments for the rest."""
    for name in KEYS:
        shutil.copy2(snapshot / name, folder / name)
    overlay(folder / DISK, snapshot / DISK, "qcow2")
    return ["-incoming", f"exec:exec cat {shlex.quote(str(snapshot / MEMORY))}"]


def overlay(path: Path, backing: Path, form: str) -> None:
    """Make a disk that holds only what differs from another disk."""
    command = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", form, "-b", str(backing), str(path)]
    subprocess.run(command, check=True)


def resume(folder: Path) -> None:
    """Let the machine run once QEMU has loaded the snapshot."""
    with connected(folder) as monitor:
        monitor.wait_until("query-status", "paused", ("running",), SECONDS)
        monitor.order("cont")


def save(folder: Path, snapshot: Path) -> None:
    """Keep the machine that runs in the folder; it goes on running."""
    snapshot.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=snapshot.parent))
    try:
        with connected(folder) as monitor:
            monitor.order("stop")
            try:
                save_paused(monitor, folder, partial)
            finally:
                monitor.order("cont")
        (partial / COMPLETE).touch()
        if not snapshot.exists():
            partial.rename(snapshot)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def save_paused(monitor: Monitor, folder: Path, partial: Path) -> None:
    monitor.order("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
    monitor.order("migrate", uri=f"exec:exec cat > {shlex.quote(str(partial / MEMORY))}")
    monitor.wait_until("query-migrate", "completed", ("failed", "cancelled"), SECONDS)
    # QEMU has written all that it keeps of the disk, and does not touch it until "cont".
    for name in (DISK, *KEYS):
        shutil.copy2(folder / name, partial / name)
