"""The lab's machine with NFS mounts of two filers that are in it too (molecule/lab/filer.py)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lab_machine import LabMachine
from machines.machine import TOOLS

#: What an administrator wrote, without a newline at its end.
FSTAB = """\
# Database files: ask the storage team before you change them
filer:/vol/oradata\t/u02/oradata\tnfs\trw,bg,hard,nointr,tcp,vers=3,timeo=600,\
rsize=32768,wsize=32768\t0 0

filer:/vol/shared/home   /u01/app/home nfs noac,rw,bg,hard,nfsvers=3,timeo=600 0 0
filer:/vol/shared/backup /u04/backup   nfs rw,bg,hard,vers=3,timeo=600,rsize=262144,\
wsize=262144 0 0"""

#: What the kernel finds for itself at each mount.
FOUND = re.compile(r",(mountport|mountproto|mountaddr|clientaddr)=[^,]*")


#: The mounts of the policy (inventories/lab/group_vars/lab/nfs_mounts.yml).
FOLDERS = ("/u02/oradata", "/u03/redo", "/u01/app/home", "/u04/backup")


class NfsLab(LabMachine):
    control = "nfs_mounts"

    def start_filers(self, *, at_boot: bool = False) -> None:
        """Start the filers unless they run. With ``at_boot`` every later boot takes a minute more.

        systemd does not read all units again for it, which takes ten seconds here.
        """
        self.run(
            f"systemctl is-active --quiet lab-filer || (cp {TOOLS}/lab-filer.service "
            "/etc/systemd/system && systemctl start lab-filer)"
        )
        if at_boot:
            self.run("systemctl enable --quiet --no-reload lab-filer")

    def mount_as_an_administrator(self) -> None:
        self.run(
            f"mkdir -p {' '.join(FOLDERS)} && cat >> /etc/fstab <<'EOF'\n{FSTAB}\nEOF\n"
            "truncate --size=-1 /etc/fstab && systemctl daemon-reload && mount -a -t nfs"
        )

    def filer(self, *arguments: object) -> None:
        """Run molecule/lab/filer.py on the machine."""
        self.run(" ".join([f"{TOOLS}/filer.py", *map(str, arguments)]))

    def mounts(self) -> dict[str, str]:
        """Path to source, options and superblock of every NFS mount."""
        seen = {}
        for line in self.run("cat /proc/self/mountinfo").splitlines():
            before, after = line.split(" - ")
            _, _, device, _, path, options = before.split()[:6]
            fstype, source, more = after.split()
            if fstype in ("nfs", "nfs4"):
                seen[path] = FOUND.sub("", f"{source} {fstype} {options} {more} {device}")
        return seen

    def options(self, path: str) -> list[str]:
        """The words that the kernel shows for the mount."""
        return self.mounts()[path].split()[3].split(",")

    def slots(self) -> str:
        """The running RPC slot limits."""
        return self.run(
            "cd /proc/sys/sunrpc && cat tcp_slot_table_entries tcp_max_slot_table_entries"
        )

    def state(self) -> dict[str, object]:
        """Everything that the control may change. Superblocks have other numbers each time."""
        mounts = {path: text.rsplit(" ", 1)[0] for path, text in self.mounts().items()}
        return {"files": self.files(), "mounts": mounts, "slots": self.slots()}

    @contextmanager
    def traffic(self, *folders: str) -> Iterator[None]:
        """Blocks read and written in the folders meanwhile."""
        started = f"{TOOLS}/traffic.py 300 {' '.join(folders)}"
        self.run(f"setsid -f {started} >/tmp/traffic.log 2>&1; sleep 1")
        try:
            yield
        finally:
            self.run(
                "pkill -f '[t]raffic.py'; while pgrep -f '[t]raffic.py' >/dev/null; do sleep 0.2; "
                "done; cat /tmp/traffic.log"
            )
