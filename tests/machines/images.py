"""Root file systems for the lab and the containers, built by mmdebstrap and cached by content.

A recipe's hash names its folder, so that a changed recipe is a new image and an unchanged one is
never built twice. A build happens beside that folder and is renamed into place when it is whole.
"""

import bz2
import contextlib
import fcntl
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import shared_cache

from .needs import CACHE, Skip, has, install, refresh_package_lists, release, say

KERNELS = {"debian": "linux-image-amd64", "ubuntu": "linux-image-generic"}

#: The numbers that an Oracle preinstallation package uses.
ORACLE_USER = """
chroot "$1" groupadd --gid 54321 oinstall
chroot "$1" groupadd --gid 54322 dba
chroot "$1" useradd --uid 54321 --gid oinstall --groups dba --create-home --shell /bin/bash oracle
"""

#: The kernel module list makes a small initrd: it unpacks seconds faster where nothing accelerates.
BEFORE_KERNEL = """
mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"
echo MODULES=list > "$1/etc/initramfs-tools/conf.d/lab"
printf '%s\\n' virtio_pci virtio_blk ext4 > "$1/usr/share/initramfs-tools/modules.d/lab"
"""

LAB_MACHINE = """
echo lab > "$1/etc/hostname"
cat > "$1/etc/hosts" <<'EOF'
127.0.0.1 localhost
127.0.1.1 lab
10.9.0.2 filer
10.9.1.2 smallfiler
EOF
echo '/dev/vda / ext4 defaults 0 1' > "$1/etc/fstab"
cat > "$1/etc/systemd/network/lab.network" <<'EOF'
[Match]
MACAddress=52:54:00:00:00:01
[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
EOF
systemd-machine-id-setup --root="$1"
chroot "$1" systemctl enable systemd-networkd ssh
chroot "$1" systemctl set-default multi-user.target
chroot "$1" systemctl mask systemd-networkd-wait-online.service serial-getty@ttyS0.service \\
  getty@tty1.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \\
  e2scrub_all.timer e2scrub_reap.service fstrim.timer nfs-server.service nfs-blkmap.service
chroot "$1" systemctl disable autofs snmpd tuned multipathd cron chrony
"""


class Recipe(NamedTuple):
    """What makes an image: the same recipe is the same image."""

    name: str
    packages: tuple[str, ...]
    hooks: dict[str, str]
    finish: Callable[[Path, Path], None]

    def folder(self) -> Path:
        """Where the finished image lies."""
        content = [release(), self.packages, self.hooks, self.finish.__name__, FORMAT]
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return shared_cache.folder() / "images" / f"{self.name}-{digest[:16]}"


#: Raise it when the way an image is packed changes.
FORMAT = 1


def pack_disk(tree: Path, folder: Path) -> None:
    """Make ``disk.img``, ``vmlinuz`` and ``initrd`` from a tree that holds a kernel."""
    for kind, name in (("vmlinuz-*", "vmlinuz"), ("initrd.img-*", "initrd")):
        files = sorted((tree / "boot").glob(kind))
        if len(files) != 1:
            raise RuntimeError(f"one boot/{kind} expected, found {[file.name for file in files]}")
        shutil.copyfile(files[0], folder / name)
    environment = dict(os.environ, PATH=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    command = ["mke2fs", "-q", "-t", "ext4", "-d", str(tree), str(folder / "disk.img"), "3G"]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


#: How a kernel can be compressed in vmlinuz: the first bytes, and what unpacks from there on.
COMPRESSED = (
    (b"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)),
    (b"\x1f\x8b\x08", lambda: zlib.decompressobj(wbits=31)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\x5d\0\0\0", lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE)),
)


def kernel(folder: Path) -> Path:
    """The image's kernel as QEMU boots it fastest: not compressed, where we can unpack it.

    A guest that nothing accelerates takes seconds to unpack vmlinuz. The kernel has an entry for
    that (PVH).
    """
    plain = folder / "vmlinux"
    if not plain.exists():
        content = unpacked((folder / "vmlinuz").read_bytes())
        if content is None:
            return folder / "vmlinuz"
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as partial:
            partial.write(content)
        Path(partial.name).rename(plain)
    return plain


def unpacked(vmlinuz: bytes) -> bytes | None:
    """The kernel in vmlinuz; None where its compression is none of these."""
    for magic, decompressor in COMPRESSED:
        place = vmlinuz.find(magic)
        while place != -1:
            # The same bytes occur by chance, and something follows the compressed kernel.
            with contextlib.suppress(lzma.LZMAError, zlib.error, OSError, EOFError):
                content = decompressor().decompress(vmlinuz[place:])
                if content.startswith(b"\x7fELF"):
                    return content
            place = vmlinuz.find(magic, place + 1)
    return None


def pack_archive(tree: Path, folder: Path) -> None:
    """Make ``rootfs.tar`` from a tree."""
    command = ["tar", "--numeric-owner", "-C", str(tree), "-cf", str(folder / "rootfs.tar"), "."]
    subprocess.run(command, check=True)


def lab_recipe() -> Recipe:
    """A machine with the distribution's stock kernel, ssh and what the controls look at."""
    kernel = KERNELS.get(release()[0])
    if kernel is None:
        raise Skip(f"the lab's image is built on Debian or Ubuntu, not on {release()[0] or 'this'}")
    packages = (
        *(kernel, "initramfs-tools", "systemd", "systemd-sysv", "dbus", "udev", "libpam-systemd"),
        *("python3", "openssh-server", "netbase", "iproute2", "ethtool", "kmod", "procps"),
        *("nfs-common", "nfs-kernel-server", "rpcbind", "autofs", "dmsetup", "e2fsprogs"),
        *("snmpd", "snmp", "tuned", "multipath-tools", "cron", "chrony"),
    )
    hooks = {"essential": BEFORE_KERNEL, "customize": LAB_MACHINE + ORACLE_USER}
    return Recipe("lab", packages, hooks, pack_disk)


def container_recipe() -> Recipe:
    """A small system without an init, as containers are."""
    return Recipe(
        "container",
        ("python3", "procps", "iproute2", "sudo", "cron"),
        {"customize": ORACLE_USER},
        pack_archive,
    )


def ensure(recipe: Recipe) -> Path:
    """The folder of the recipe's image, built first if it is not there."""
    folder = recipe.folder()
    if folder.exists():
        return folder
    if os.geteuid() != 0:
        raise Skip(f"the {recipe.name} image is not built yet, and only root builds it")
    install({"mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs"}, f"the {recipe.name} image")
    with only_builder(folder):
        if not folder.exists():
            started = time.monotonic()
            say(f"  building the {recipe.name} image (about a minute, then cached)")
            build(recipe, folder)
            say(f"  built {folder.name} in {time.monotonic() - started:.0f} s")
    return folder


@contextmanager
def only_builder(folder: Path) -> Iterator[None]:
    """Hold the right to build this image: a second run waits and then finds it built."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(recipe: Recipe, folder: Path) -> None:
    """Build beside the folder and rename, as the only builder: what has the name is whole."""
    partial = folder.with_suffix(".partial")
    remove_tree(partial)
    partial.mkdir()
    tree = partial / "tree"
    command = ["mmdebstrap", "--variant=minbase", "--format=directory"]
    command += [f"--include={','.join(recipe.packages)}"]
    command += [
        f"--dpkgopt=path-exclude=/usr/share/{unread}/*" for unread in ("man", "doc", "locale")
    ]
    command += [f"--{stage}-hook={script}" for stage, script in recipe.hooks.items()]
    # Without the "-" it reads no sources but those that it guesses.
    command += [release()[1], str(tree), "-"]
    log = CACHE / "logs" / f"image-{recipe.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log.open("w") as stream:
            subprocess.run(
                command,
                check=True,
                input=own_sources(),
                text=True,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=dict(os.environ, TMPDIR=str(partial)),
            )
        recipe.finish(tree, partial)
        remove_tree(tree)
        partial.rename(folder)
    except subprocess.CalledProcessError:
        say(f"  {log}:")
        say("".join(log.read_text().splitlines(keepends=True)[-15:]))
        raise
    finally:
        remove_tree(partial)


def remove_tree(path: Path) -> None:
    """Remove a build, but never through a mount that a killed mmdebstrap left in it."""
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((m for m in mounts if m.startswith(f"{path}/")), reverse=True):
        subprocess.run(["umount", "--lazy", mount], check=True)
    if path.exists():
        shutil.rmtree(path)


def own_sources() -> str:
    """The archive that this machine itself installs from, as one-line apt sources.

    Asking apt covers both file formats, and its own release only: other vendors' archives that
    the machine may use have no place in an image.
    """
    if not has("apt-get"):
        raise Skip("images are built from this machine's own apt sources, and it has no apt-get")
    refresh_package_lists()
    form = "$(CODENAME)|$(SIGNED_BY)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)"
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", form, "Created-By: Packages"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    identifier, codename = release()
    lines = []
    for target in listing.splitlines():
        name, keyring, uri, suite, component, origin = target.split("|")
        if origin.lower() == identifier and name.split("-")[0] == codename:
            option = "" if keyring.startswith("$") or not keyring else f"[signed-by={keyring}] "
            lines.append(f"deb {option}{uri} {suite} {component}")
    if not lines:
        raise Skip(f"this machine has no apt source of {identifier} {codename} to build from")
    return "\n".join(dict.fromkeys(lines)) + "\n"
