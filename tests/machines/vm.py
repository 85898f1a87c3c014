"""The lab's virtual machine: a stock kernel in QEMU, started, awaited, restarted and removed.

``python tests/machines/vm.py start|stop|wait`` is what the molecule scenario calls. One machine
a checkout: its folder is ``.cache/machines/lab`` with ``vm.json``, which inventories/lab reads.
The image stays clean, because the machine writes to an overlay on it. The first start boots the
machine and keeps a snapshot; later starts restore that (tests/machines/snapshot.py).
"""

import argparse
import contextlib
import json
import math
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import shared_cache

from machines import images, snapshot
from machines.monitor import SOCKET, MonitorError, connected
from machines.needs import ROOT, finish, has, install, say

PURPOSE = "the lab"
STOP_COMMAND = "python3 tests/machines/vm.py stop"
FOLDER = ROOT / ".cache" / "machines" / "lab"
STATE = FOLDER / "vm.json"
PID_FILE = FOLDER / "qemu.pid"
CONSOLE = FOLDER / "console.log"
KEY = FOLDER / "key"

#: Two processors boot it in about 25 s without acceleration, in two minutes where others use
#: them too; with twenty others, 250 s were seen.
BOOT_SECONDS = 600
#: A boot takes a minute where nothing accelerates it. After this time its kernel waits for an
#: interrupt that an emulated device lost when the machine was reset: seen, with two processors.
STUCK_SECONDS = 240
#: Seconds that a restored machine may take to answer. It needs two.
RESTORE_SECONDS = 120

#: A machine that nobody stopped ends by itself.
LIFETIME_SECONDS = 2 * 3600
#: The process with which the machine ends, also if it is killed: what tests/run_lab sets.
OWNER = "HOSTPROOF_MACHINE_OWNER"
BOUND = Path(__file__).with_name("bound.py")

#: Two memory nodes, so that the split of the pool over nodes is real.
NODE_MEGABYTES = 1536

#: The card that we log in by; the image gives this address its network.
LOGIN_CARD = ("virtio-net-pci", "52:54:00:00:00:01")

#: Cables inside the machine: the cards at both ends, for molecule/lab/wires.py to connect a filer
#: with. Card e of cable c has the address 52:54:00:00:0c:0e. Nothing uses them until then.
CABLES = (
    ("e1000e", "e1000e"),
    ("e1000", "e1000e"),
    ("e1000e", "e1000e"),
    ("e1000", "e1000"),
    ("virtio-net-pci", "virtio-net-pci"),
)

#: Drivers of what QEMU's machine has beside what it was given, and of what no story looks at. The
#: boot loads a driver for each thing that it finds, and where nothing accelerates it translates and
#: checks it first: a third of what a boot costs went there.
UNUSED_DRIVERS = (
    *("drm", "cdrom", "sr_mod", "sg", "floppy", "libata", "ata_piix", "parport", "parport_pc"),
    *("ppdev", "psmouse", "joydev", "evdev", "serio_raw", "pcspkr", "i2c_piix4", "efi_pstore"),
    *("kvm", "kvm_amd", "powernow_k8"),
)

#: A boot sector that leaves QEMU through its isa-debug-exit device with code 0x10:
#: mov al,0x10; out 0xf4,al; hlt
PROBE_CODE = bytes((0xB0, 0x10, 0xE6, 0xF4, 0xF4)).ljust(510, b"\0") + b"\x55\xaa"
PROBE_ANSWER = 0x10 << 1 | 1

#: There are hosts where KVM runs the guest, but so slowly that a machine is not up after six
#: minutes: the probe took 1.5 to 6 s there, and 0.3 to 0.5 s with TCG. Where KVM accelerates, it is
#: about as fast as TCG, for there is next to nothing to run. How many times as long it may take:
PROBE_RATIO = 2.0
#: What is not done by then will not be.
PROBE_SECONDS = 20


def prepare_host() -> Path:
    """Install what is missing and build the image if need be; the image's folder."""
    install(
        {
            "qemu-system-x86_64": "qemu-system-x86",
            "qemu-img": "qemu-utils",
            "ssh": "openssh-client",
        },
        PURPOSE,
    )
    return images.ensure(images.lab_recipe())


def accelerator() -> str:
    """``kvm`` where it really runs a guest, and fast; else ``tcg``, which works everywhere.

    The two are compared, in turns, so that a busy host is not taken for one whose KVM is slow.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    # Until the host boots again it stays as it is.
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    noted = shared_cache.folder() / f"accelerator-{boot}"
    if not noted.exists():
        noted.write_text(compare_accelerators())
    return noted.read_text() or "tcg"


def compare_accelerators() -> str:
    """The accelerator that runs a guest that does nothing at all faster."""
    turns = [(probe("kvm"), probe("tcg")) for _ in range(2)]
    kvm, tcg = (min(times) for times in zip(*turns, strict=True))
    return "kvm" if kvm <= PROBE_RATIO * tcg and kvm < PROBE_SECONDS else "tcg"


def probe(accel: str) -> float:
    """Seconds until a guest that does nothing has ended; infinite where it does not run."""
    with tempfile.NamedTemporaryFile() as disk:
        disk.write(PROBE_CODE)
        disk.flush()
        command = ["qemu-system-x86_64", "-accel", accel, "-m", "32", "-nodefaults"]
        command += ["-display", "none", "-device", "isa-debug-exit,iobase=0xf4,iosize=1"]
        command += ["-drive", f"file={disk.name},format=raw,if=ide,snapshot=on"]
        began = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS)
        except subprocess.TimeoutExpired:
            return math.inf
    return time.monotonic() - began if done.returncode == PROBE_ANSWER else math.inf


#: Runs in a restored machine: its clocks stand where they stood when the snapshot was made, the
#: one of the hardware too, which the next boot reads.
SET_CLOCKS = """
import fcntl, struct, time
now = {now}
time.clock_settime(time.CLOCK_REALTIME, now)
told = time.gmtime(now)
day = (told.tm_mday, told.tm_mon - 1, told.tm_year - 1900)
fields = (told.tm_sec, told.tm_min, told.tm_hour, *day, 0, 0, 0)
with open("/dev/rtc0", "wb", buffering=0) as clock:
    # RTC_SET_TIME of a struct rtc_time.
    fcntl.ioctl(clock, 0x4024700A, struct.pack("9i", *fields))
"""


def start() -> None:
    """Start a fresh machine in place of an older one: from its snapshot, or by a boot."""
    image = prepare_host()
    accel = accelerator()
    began = time.monotonic()
    kept = snapshot.place(image, arguments(image, accel))
    if snapshot.exists(kept):
        try:
            restore(image, accel, kept)
            say(f"  restored with {accel} in {time.monotonic() - began:.0f} s")
            return
        except (RuntimeError, subprocess.SubprocessError) as problem:
            say(f"  {problem}\n  the snapshot is removed, and the machine boots")
            shutil.rmtree(kept, ignore_errors=True)
    accel = start_by_boot(image, accel)
    say(f"  booted with {accel} in {time.monotonic() - began:.0f} s")
    try:
        snapshot.save(FOLDER, snapshot.place(image, arguments(image, accel)))
    except (MonitorError, OSError) as problem:
        say(f"  no snapshot was kept: {problem}")


def has_snapshot() -> bool:
    """Whether a start would restore the machine. Nothing is installed or built to find out."""
    image = images.lab_recipe().folder()
    if not image.exists() or not has("qemu-system-x86_64"):
        return False
    return snapshot.exists(snapshot.place(image, arguments(image, accelerator())))


def restore(image: Path, accel: str, kept: Path) -> None:
    """Start QEMU on the snapshot and set the machine's clocks."""
    make_folder()
    launch(image, accel, snapshot.restored_into(kept, FOLDER))
    snapshot.resume(FOLDER)
    until = time.monotonic() + RESTORE_SECONDS
    while not greets():
        if time.monotonic() > until or running() is None:
            raise NotBooted(f"the restored machine does not answer:\n{tail(CONSOLE)}")
        time.sleep(0.2)
    done = run(f"python3 -c {shlex.quote(SET_CLOCKS.format(now=int(time.time())))}", timeout=120)
    if done.returncode:
        raise NotBooted(f"its clocks cannot be set: {done.stderr}")


def start_by_boot(image: Path, accel: str) -> str:
    """Boot a fresh machine; the accelerator that it runs with."""
    boot(image, accel)
    try:
        wait()
    except NotBooted as problem:
        # Seen once in some fifty boots on a busy machine without acceleration; and a KVM that
        # passed for fast may not be.
        accel = "tcg"
        say(f"  {problem}\n  trying once more with {accel}")
        boot(image, accel)
        wait()
    return accel


def boot(image: Path, accel: str) -> None:
    """Start QEMU on a fresh overlay and key."""
    make_folder()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(KEY)], check=True)
    snapshot.overlay(FOLDER / snapshot.DISK, image / "disk.img", "raw")
    launch(image, accel, [])


def make_folder() -> None:
    """End a machine that still runs, and make the folder anew."""
    stop()
    FOLDER.mkdir(parents=True, mode=0o700)


def write_state(port: int) -> None:
    """Write vm.json, from which ssh, Ansible and testinfra learn how to log in."""
    connections = Path.home() / ".ansible" / "cp"
    connections.mkdir(parents=True, mode=0o700, exist_ok=True)
    options = (
        "-oStrictHostKeyChecking=no -oUserKnownHostsFile=/dev/null -oLogLevel=ERROR",
        "-oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=15",
        # One connection for Ansible and for testinfra: a handshake costs a second here.
        "-oControlMaster=auto -oControlPersist=120",
        shlex.quote(f"-oControlPath={connections}/hostproof-lab-%C"),
    )
    state = {
        "address": "127.0.0.1",
        "port": port,
        "user": "root",
        "key": str(KEY),
        "ssh_arguments": " ".join(options),
    }
    STATE.write_text(json.dumps(state, indent=2) + "\n")


def arguments(image: Path, accel: str) -> list[str]:
    """What QEMU is told of every machine of this image. A snapshot fits these and no others."""
    # No screen, no drives beside the disk: see UNUSED_DRIVERS.
    command = ["-nodefaults", "-vga", "none"]
    # Half a gigabyte of translated code is plenty; without a size it takes a gigabyte more.
    options = {"kvm": "kvm", "tcg": "tcg,tb-size=512"}[accel]
    command += ["-accel", options, "-smp", "2,sockets=2", "-m", str(2 * NODE_MEGABYTES)]
    for node in (0, 1):
        command += ["-object", f"memory-backend-ram,id=memory{node},size={NODE_MEGABYTES}M"]
        command += ["-numa", f"node,nodeid={node},memdev=memory{node},cpus={node}"]
    command += ["-kernel", str(images.kernel(image)), "-initrd", str(image / "initrd")]
    # Nothing that systemd starts has failed only because the host was busy with other work.
    patience = f"systemd.default_timeout_start_sec={BOOT_SECONDS}"
    # udev's default is ten times that: to start a process costs more than what it has to do.
    lean = f"udev.children_max=2 module_blacklist={','.join(UNUSED_DRIVERS)}"
    command += ["-append", f"root=/dev/vda rw console=ttyS0 {lean} {patience}"]
    # Relative to its folder: a comma in a checkout's path would end the option.
    disk = f"file={snapshot.DISK},if=virtio,format=qcow2,cache=unsafe"
    command += ["-drive", disk, "-qmp", f"unix:{SOCKET},server=on,wait=off"]
    command += ["-display", "none", "-serial", f"file:{CONSOLE.name}"]
    return [*command, "-device", "{},mac={},netdev=net0".format(*LOGIN_CARD), *cables()]


def launch(image: Path, accel: str, more: list[str]) -> None:
    """Start QEMU with ``more`` arguments on a free port of the loopback, and write vm.json."""
    bound = [sys.executable, str(BOUND), "--seconds", str(LIFETIME_SECONDS)]
    owner = os.environ.get(OWNER) or molecule_test()
    bound += ["--owner", owner] if owner else []
    # systemd makes root's authorized_keys of this credential.
    public = b64encode(KEY.with_suffix(".pub").read_bytes()).decode()
    credential = f"io.systemd.credential.binary:ssh.authorized_keys.root={public}"
    command = [*bound, "qemu-system-x86_64", *arguments(image, accel), *more]
    command += ["-smbios", f"type=11,value={credential}", "-pidfile", str(PID_FILE)]
    for _attempt in range(5):
        port = free_port()
        network = f"user,id=net0,hostfwd=tcp:127.0.0.1:{port}-:22"
        with (FOLDER / "qemu.log").open("w") as log:
            process = subprocess.Popen(
                [*command, "-netdev", network],
                cwd=FOLDER,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while process.poll() is None:
            if listens(port):
                write_state(port)
                return
            time.sleep(0.1)
        # Somebody may have taken the port meanwhile; anything else will fail again.
        if "hostfwd" not in (FOLDER / "qemu.log").read_text():
            break
    raise RuntimeError(f"QEMU ended at once: {(FOLDER / 'qemu.log').read_text().strip()}")


def molecule_test() -> str | None:
    """The process ID of the ``molecule test`` that this is part of, if that ends the machine too.

    ``molecule create`` and ``molecule converge`` leave a machine to work with.
    """
    pid = str(os.getppid())
    while pid not in ("0", "1"):
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        names = [Path(word).name for word in words[:2]]
        if "molecule" in names and "test" in words and "--destroy=never" not in words:
            return pid
        pid = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    return None


def cables() -> list[str]:
    """QEMU's options for the cards and the cables between them."""
    options = []
    for cable, cards in enumerate(CABLES, 1):
        for end, model in enumerate(cards, 1):
            port = f"cable{cable}end{end}"
            options += ["-netdev", f"hubport,id={port},hubid={cable}"]
            mac = f"52:54:00:00:{cable:02x}:{end:02x}"
            options += ["-device", f"{model},netdev={port},mac={mac},id={port}-card"]
    return options


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run(command: str, *, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run a shell command in the machine as root."""
    return subprocess.run(ssh(command), capture_output=True, text=True, timeout=timeout)


def ssh(*command: str, options: tuple[str, ...] = ()) -> list[str]:
    """The argv that runs a shell command in the machine."""
    state = json.loads(STATE.read_text())
    argv = ["ssh", *shlex.split(state["ssh_arguments"]), "-i", state["key"]]
    argv += ["-p", str(state["port"]), "-l", state["user"]]
    return [*argv, *options, state["address"], *command]


class NotBooted(RuntimeError):
    """The machine ended, or did not answer in time. The message ends with its console."""


def wait() -> None:
    """Return when systemd says that the machine has booted."""
    deadline = time.monotonic() + BOOT_SECONDS
    stuck = time.monotonic() + STUCK_SECONDS
    while time.monotonic() < deadline:
        if running() is None:
            raise NotBooted(f"the machine ended while booting:\n{tail(CONSOLE)}")
        if time.monotonic() > stuck:
            say(f"the machine did not boot within {STUCK_SECONDS} s: it is reset, once")
            # On a busy host QEMU can be too slow to answer; then the boot is only slow as well.
            with contextlib.suppress(MonitorError):
                reset()
            stuck = math.inf
        # QEMU accepts a connection before the machine listens; an ssh that comes too early hangs.
        if not greets():
            time.sleep(0.5)
            continue
        forget_connection()
        with contextlib.suppress(subprocess.TimeoutExpired):
            answer = run("systemctl is-system-running --wait", timeout=60)
            if answer.stdout.strip() in ("running", "degraded"):
                return
        time.sleep(1)
    raise NotBooted(f"no ssh after {BOOT_SECONDS} s:\n{tail(CONSOLE)}")


def greets() -> bool:
    """Whether the machine's ssh server answers."""
    port = json.loads(STATE.read_text())["port"]
    with contextlib.suppress(OSError), socket.socket() as probe:
        probe.settimeout(1)
        probe.connect(("127.0.0.1", port))
        return probe.recv(4) == b"SSH-"
    return False


def reset() -> None:
    """Press the machine's reset button."""
    with connected(FOLDER) as monitor:
        monitor.order("system_reset")


def boot_id() -> str:
    """What tells this boot of the machine from the next."""
    return run("cat /proc/sys/kernel/random/boot_id").stdout.strip()


@contextlib.contextmanager
def boots_again() -> Iterator[None]:
    """Meanwhile somebody restarts the machine; then wait for its reset, and until it has booted.

    Before the reset the old boot still answers, and an ssh that it cuts off hangs for a minute.
    """
    with connected(FOLDER) as monitor:
        yield
        monitor.wait_for_event("RESET", BOOT_SECONDS)
    wait()


def reboot() -> None:
    """Restart the machine and wait until it has booted again."""
    with boots_again():
        run("systemctl reboot")


def forget_connection() -> None:
    """Close the shared ssh connection: after a restart it would hang until it times out."""
    subprocess.run(ssh(options=("-O", "exit")), capture_output=True)


def running() -> int | None:
    """The pid of this folder's QEMU, if it lives."""
    try:
        pid = int(PID_FILE.read_text())
        arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except (OSError, ValueError):
        return None
    # After a restart of the host the number can belong to somebody else.
    return pid if str(PID_FILE) in arguments else None


def cpu_seconds() -> float:
    """The CPU time that this folder's QEMU has used."""
    pid = running()
    if pid is None:
        return 0.0
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def stop() -> None:
    """End the machine, also one that a killed run left, and remove what it wrote."""
    if STATE.exists():
        forget_connection()
    pid = running()
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
        while running() is not None:
            time.sleep(0.1)
    if FOLDER.exists():
        shutil.rmtree(FOLDER)


def tail(path: Path) -> str:
    """The last lines of a log."""
    return "\n".join(path.read_text(errors="replace").splitlines()[-20:]) if path.exists() else ""


def main() -> int:
    parser = argparse.ArgumentParser(description="The lab's virtual machine.")
    parser.add_argument("action", choices=("prepare", "start", "stop", "wait"))
    {"prepare": prepare_host, "start": start, "stop": stop, "wait": wait}[
        parser.parse_args().action
    ]()
    return 0


if __name__ == "__main__":
    finish(main)
