"""QEMU's monitor (QMP): orders to a running machine over a Unix socket in its folder."""

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: The socket, relative to the machine's folder.
SOCKET = "monitor"
#: Seconds for one answer.
ANSWER_SECONDS = 30


class MonitorError(RuntimeError):
    """QEMU refused an order, or did not answer."""


class Monitor:
    """A connection that has agreed on its capabilities."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stream = connection.makefile("rwb")
        self._read()
        self.order("qmp_capabilities")

    def order(self, name: str, **arguments: Any) -> Any:
        """What QEMU returns. Events that it reports meanwhile are dropped."""
        order = {"execute": name, "arguments": arguments} if arguments else {"execute": name}
        self._stream.write(json.dumps(order).encode() + b"\n")
        self._stream.flush()
        while True:
            answer = self._read()
            if "error" in answer:
                raise MonitorError(f"QEMU refused {name}: {answer['error'].get('desc')}")
            if "return" in answer:
                return answer["return"]

    def wait_until(
        self, query: str, wanted: str, unwanted: tuple[str, ...], seconds: float
    ) -> None:
        """Ask until the status is the wanted one. MonitorError where it is an unwanted one, or
        where the time has passed."""
        until = time.monotonic() + seconds
        while True:
            status = self.order(query).get("status")
            if status == wanted:
                return
            if status in unwanted or time.monotonic() > until:
                raise MonitorError(f"{query} says {status} instead of {wanted}")
            time.sleep(0.05)

    def wait_for_event(self, name: str, seconds: float) -> None:
        """Return when QEMU reports the event. Events before the last order do not count."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._connection.settimeout(left)
            with contextlib.suppress(TimeoutError):
                if self._read().get("event") == name:
                    return
        raise MonitorError(f"QEMU did not report {name} within {seconds:.0f} s")

    def _read(self) -> dict[str, Any]:
        line = self._stream.readline()
        if not line:
            raise MonitorError("QEMU closed its monitor")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextlib.contextmanager
def connected(folder: Path) -> Iterator[Monitor]:
    """The monitor of the machine in this folder."""
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ANSWER_SECONDS)
            # The path of a socket can have 107 bytes; that of a checkout can have more.
            connection.connect(f"/proc/self/fd/{handle}/{SOCKET}")
            yield Monitor(connection)
    except OSError as problem:
        raise MonitorError(f"the monitor of QEMU does not answer: {problem}") from problem
    finally:
        os.close(handle)
