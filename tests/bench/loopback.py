"""An ssh server on loopback, for as long as the benchmark lasts, that only its own key opens."""

import getpass
import os
import re
import shutil
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path

SERVER_CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 500
LogLevel VERBOSE
"""

#: Where Debian's and the EL distributions' sshd wants to be locked in, if it is started by root.
PRIVILEGE_SEPARATION = Path("/run/sshd")


class Unavailable(Exception):
    """No ssh server can be had here; the message says why."""


class Sshd:
    """``folder`` is private to this server: keys, log and the clients' control sockets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "sshd.log"
        self.sockets = folder / "cm"
        self.sockets.mkdir()
        program = find_program()
        for name in ("host_key", "user_key"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(key, check=True)
        self.port = free_port()
        (folder / "sshd_config").write_text(SERVER_CONFIG.format(port=self.port, folder=folder))
        host_key = (folder / "host_key.pub").read_text()
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {host_key}")
        self._made_folder = os.geteuid() == 0 and not PRIVILEGE_SEPARATION.exists()
        if self._made_folder:
            PRIVILEGE_SEPARATION.mkdir(mode=0o755)
        self.process = subprocess.Popen(
            [program, "-D", "-f", str(folder / "sshd_config"), "-E", str(self.log)],
            stdin=subprocess.DEVNULL,
        )
        try:
            self._log_in()
        except Unavailable:
            self.stop()
            raise

    def stop(self) -> None:
        self.end_clients()
        self.process.terminate()
        self.process.wait()
        if self._made_folder:
            PRIVILEGE_SEPARATION.rmdir()

    def host_variables(self, alias: str) -> dict[str, object]:
        """Inventory variables of one alias: a connection of its own, as to a host of its own."""
        options = f"-o UserKnownHostsFile={self.folder}/known_hosts -o StrictHostKeyChecking=yes"
        return {
            "ansible_connection": "ssh",
            "ansible_host": "127.0.0.1",
            "ansible_port": self.port,
            "ansible_user": getpass.getuser(),
            "ansible_ssh_private_key_file": str(self.folder / "user_key"),
            "ansible_ssh_common_args": options,
            "ansible_control_path": f"{self.sockets}/{alias}",
        }

    def command(self, alias: str) -> list[str]:
        """An ssh as Ansible starts it with those variables; the remote command follows."""
        variables = self.host_variables(alias)
        master = ["-o", "ControlMaster=auto", "-o", "ControlPersist=60s"]
        master += ["-o", f"ControlPath={variables['ansible_control_path']}"]
        return [*self._ssh(), *master, f"{variables['ansible_user']}@127.0.0.1"]

    def _ssh(self) -> list[str]:
        variables = self.host_variables("any")
        command = ["ssh", "-F", "none", "-o", "BatchMode=yes", "-p", str(self.port)]
        command += ["-i", str(variables["ansible_ssh_private_key_file"])]
        return command + str(variables["ansible_ssh_common_args"]).split()

    def end_clients(self) -> None:
        """Close the connections that clients keep open for later, and wait until they are gone."""
        mine = f"{self.sockets}/".encode()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mine in (process / "cmdline").read_bytes():
                    os.kill(int(process.name), 15)
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        for _ in range(100):
            if not list_children(self.process.pid):
                return
            time.sleep(0.05)

    def cpu_seconds(self) -> float:
        """User and system time of all sessions that have ended: what the targets' side cost."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def executions(self, since: int) -> list[int]:
        """Commands run by each connection, from offset ``since`` of the log on."""
        text = self.log.read_bytes()[since:].decode(errors="replace")
        ports = re.findall(r"Starting session: command for \S+ from \S+ port (\d+)", text)
        return sorted(Counter(ports).values())

    def _log_in(self) -> None:
        command = [*self._ssh(), "-n", f"{getpass.getuser()}@127.0.0.1", "true"]
        for _ in range(20):
            answer = subprocess.run(command, capture_output=True, text=True)
            if answer.returncode == 0:
                return
            time.sleep(0.25)
        raise Unavailable(f"cannot log in to an sshd of our own: {answer.stderr.strip()}")


def find_program() -> str:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/local/sbin"
    program = shutil.which("sshd", path=path)
    if program is None and may_install():
        install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "openssh-server"]
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(install, env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        program = shutil.which("sshd", path=path)
    if program is None or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        raise Unavailable("no sshd, ssh or ssh-keygen here; install the OpenSSH server and client")
    return program


def may_install() -> bool:
    """Only where the package cannot open port 22: in a container or the like, without systemd."""
    systemd = Path("/run/systemd/system").exists()
    return os.geteuid() == 0 and not systemd and shutil.which("apt-get") is not None


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def list_children(pid: int) -> list[int]:
    children = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        children += [int(child) for child in task.read_text().split()]
    return children
