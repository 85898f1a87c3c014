"""Hostile input by the million: to every parser, and to whole evidence packs."""

import contextlib
import signal
import time
from collections.abc import Iterator

#: Seconds of processor time after which one input is a hang, and is cut off.
HANGS_AFTER = 20.0


#: Seconds of processor time that the slowest input of this process has taken.
slowest = 0.0


class Hung(BaseException):
    """An input that came to no end. No ``except Exception`` on the way is to take it."""


@contextlib.contextmanager
def cut_off() -> Iterator[None]:
    """Hung, where what runs inside comes to no end; what it took is noted."""
    global slowest

    def rung(_signal: int, _frame: object) -> None:
        raise Hung(f"came to no end within {HANGS_AFTER:g} s")

    old = signal.signal(signal.SIGVTALRM, rung)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS_AFTER)
    began = time.process_time()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)
        slowest = max(slowest, time.process_time() - began)
