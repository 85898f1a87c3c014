"""An Oracle home with the stand-ins of the listener and lsnrctl, in a directory of a test."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STANDINS = Path(__file__).resolve().parents[1] / "standins"

LISTENER_ORA = """\
# The listener of a test
LISTENER =
  (DESCRIPTION_LIST =
    (DESCRIPTION =
      (ADDRESS = (PROTOCOL = TCP)(HOST = 127.0.0.1)(PORT = {port}){more})  # clients
    )
  )
SID_LIST_LISTENER = (SID_LIST = (SID_DESC = (GLOBAL_DBNAME = lab.example.com)(SID_NAME = LAB1)))
DIAG_ADR_ENABLED_LISTENER = OFF
"""


def free_port(*preferred: int) -> int:
    """A TCP port that nobody listens on: the first preferred one, or any."""
    for port in (*preferred, 0):
        with socket.socket() as stream:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                stream.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(stream.getsockname()[1])
    raise RuntimeError("no free port")


class OracleHome:
    def __init__(self, folder: Path, *preferred_ports: int) -> None:
        self.folder = folder
        self.port = free_port(*preferred_ports)
        self.listener_ora = folder / "network/admin/listener.ora"
        self.log = folder / "network/log/listener.log"
        self.listener_ora.parent.mkdir(parents=True)
        (folder / "bin").mkdir()
        # Copies: what a link leads to is not run.
        for program in ("lsnrctl", "tns_listener.py"):
            shutil.copy(STANDINS / program, folder / "bin" / program)
        shutil.copy(STANDINS / "tns_listener.py", folder / "bin/tnslsnr")

    def write(self, more: str = "", end: str = "") -> None:
        """Write listener.ora, with ``more`` in its ADDRESS and ``end`` at its end."""
        self.listener_ora.write_text(LISTENER_ORA.format(port=self.port, more=more) + end)

    def lsnrctl(self, *words: str, said: str = "", **variables: str) -> tuple[int, str]:
        """Exit code and output. ``variables`` are added to the environment."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME")}
        done = subprocess.run(
            [str(self.folder / "bin/lsnrctl"), *words],
            env={**kept, "ORACLE_HOME": str(self.folder), **variables},
            input=said,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert not done.stderr, done.stderr
        return done.returncode, done.stdout

    @contextmanager
    def running(self, more: str = "", end: str = "") -> Iterator["OracleHome"]:
        """Listener is running with this listener.ora."""
        self.write(more, end)
        code, output = self.lsnrctl("start")
        assert code == 0, output
        try:
            yield self
        finally:
            self.lsnrctl("stop")


def wait_for_new_second() -> None:
    """A limit counts from the first connection: let the second of those before pass."""
    time.sleep(1.05)
