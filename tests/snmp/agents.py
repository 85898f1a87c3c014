"""Real SNMP agents on loopback for as long as a test lasts, and what can stand in their way."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

#: Users of the snmpd, by name: what its configuration says of each.
AUTH, PRIV = "auth-passphrase-1", "priv-passphrase-1"
SNMPD = f"""\
rocommunity public
createUser open
createUser signed SHA-256 "{AUTH}"
createUser sealed SHA-512 "{AUTH}" AES "{PRIV}"
createUser strong SHA-256 "{AUTH}" AES-256 "{PRIV}"
createUser usual SHA "{AUTH}" AES "{PRIV}"
rouser open noauth
rouser signed auth
rouser sealed priv
rouser strong priv
rouser usual priv
sysDescr Linux filer 6.1.0 #1 SMP x86_64
sysServices 72
"""


class Unavailable(Exception):
    """An agent that cannot be had here; the message says why."""


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.bind(("127.0.0.1", 0))
        return int(asking.getsockname()[1])


def program(name: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    executable = shutil.which(name, path=path)
    if executable is None:
        raise Unavailable(f"there is no {name} here")
    return executable


@contextlib.contextmanager
def running(argv: list[str], port: int, log: Path, **variables: str) -> Iterator[int]:
    """The agent's port, once it answers discovery or any other datagram."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **variables},
        )
    try:
        for _ in range(600):
            if process.poll() is not None:
                raise Unavailable(f"{argv[0]} ended: {log.read_text(errors='replace')[-300:]}")
            if answers(port):
                break
            time.sleep(0.1)
        else:
            raise Unavailable(f"{argv[0]} does not answer")
        yield port
    finally:
        process.terminate()
        process.wait()


def answers(port: int) -> bool:
    """Whether something on the port answers an SNMPv3 discovery."""
    from ansible.module_utils.hostproof.snmp import snmp_message

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(0.3)
        asking.connect(("127.0.0.1", port))
        with contextlib.suppress(OSError):
            asking.send(snmp_message.discovery())
            return bool(asking.recv(65535))
    return False


@contextlib.contextmanager
def snmpd(folder: Path, extra: str = "", address: str = "127.0.0.1") -> Iterator[int]:
    """net-snmp's agent with the users above."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "snmpd.conf").write_bytes((SNMPD + extra).encode("utf-8", "surrogateescape"))
    port = free_port()
    argv = [program("snmpd"), "-f", "-Lo", "-C", "-c", str(folder / "snmpd.conf")]
    argv += ["-m", "", f"udp:{address}:{port}"]
    with running(argv, port, folder / "log", SNMP_PERSISTENT_DIR=str(folder / "state"), MIBS=""):
        yield port


@contextlib.contextmanager
def snmpsim(data: Path, folder: Path) -> Iterator[int]:
    """Recorded agents: the community, or the SNMPv3 context, is the path of the record."""
    port = free_port()
    argv = [program("snmpsim-command-responder"), "--quiet", f"--data-dir={data}"]
    argv += [f"--cache-dir={folder}", f"--agent-udpv4-endpoint=127.0.0.1:{port}"]
    argv += ["--v3-user=sim", f"--v3-auth-key={AUTH}", "--v3-auth-proto=SHA256"]
    argv += [f"--v3-priv-key={PRIV}", "--v3-priv-proto=AES"]
    if os.geteuid() == 0:
        argv += ["--process-user=root", "--process-group=root"]
    folder.mkdir(parents=True, exist_ok=True)
    with running(argv, port, folder.with_suffix(".log")):
        yield port


class Relay:
    """Stands between an asker and an agent (a port): keeps requests, may delay or change replies.

    ``change`` gives the reply to send, or None to send none. ``most`` is how many requests waited
    for their replies at one time.
    """

    def __init__(self, agent: int, change: Callable[[bytes], bytes | None], delay: float) -> None:
        self.requests: list[bytes] = []
        self.most = 0
        self._waiting = 0
        self._count = threading.Lock()
        self.change = change
        self.delay = delay
        self.agent = agent
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.2)
        self.port = int(self._socket.getsockname()[1])
        self._ends = False
        self._thread = threading.Thread(target=self._pass_on)
        self._thread.start()

    def stop(self) -> None:
        self._ends = True
        self._thread.join()
        self._socket.close()

    def _pass_on(self) -> None:
        while not self._ends:
            try:
                request, asker = self._socket.recvfrom(65535)
            except OSError:
                continue
            self.requests.append(request)
            threading.Thread(target=self._answer, args=(request, asker), daemon=True).start()

    def _answer(self, request: bytes, asker: tuple[str, int]) -> None:
        with self._count:
            self._waiting += 1
            self.most = max(self.most, self._waiting)
        try:
            self._reply(request, asker)
        finally:
            with self._count:
                self._waiting -= 1

    def _reply(self, request: bytes, asker: tuple[str, int]) -> None:
        reply = b""
        if self.agent:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
                asking.settimeout(5)
                asking.connect(("127.0.0.1", self.agent))
                try:
                    asking.send(request)
                    reply = asking.recv(65535)
                except OSError:
                    return
        time.sleep(self.delay)
        changed = self.change(reply)
        if changed is not None:
            with contextlib.suppress(OSError):
                self._socket.sendto(changed, asker)


@contextlib.contextmanager
def relay(
    agent: int = 0, change: Callable[[bytes], bytes | None] = bytes, delay: float = 0.0
) -> Iterator[Relay]:
    proxy = Relay(agent, change, delay)
    try:
        yield proxy
    finally:
        proxy.stop()
