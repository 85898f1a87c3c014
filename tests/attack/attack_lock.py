"""Two applies of one host at once, and one that is killed: never both at work, and never a lock
that nobody holds."""

import multiprocessing
import os
import shutil
import signal
import sys
from typing import Any

import sandbox
from sandbox import BASE, JOURNAL

sandbox.enter()

from hostproof.apply.journal import Journal  # noqa: E402
from hostproof.apply.writer import Writer  # noqa: E402
from hostproof.errors import HostproofError  # noqa: E402

SHARE = 2
ATTACKS = 2

FORK = multiprocessing.get_context("fork")
BUSY = BASE / "busy"


def work(answers: Any) -> None:
    """Says "both" where somebody else is at work too, "one" else, or who it waits for."""
    try:
        with Journal(Writer(), str(JOURNAL)).exclusive_lock("apply of hugepages"):
            try:
                handle = os.open(BUSY, os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                answers.put("both")
                return
            os.close(handle)
            os.unlink(BUSY)
            answers.put("one")
    except HostproofError as problem:
        answers.put(str(problem))


def at_once(_number: int) -> bool:
    shutil.rmtree(JOURNAL, ignore_errors=True)
    JOURNAL.mkdir(0o700)
    answers = FORK.Queue()
    pair = [FORK.Process(target=work, args=(answers,)) for _ in range(2)]
    for process in pair:
        process.start()
    replies = [answers.get(timeout=600) for _ in pair]
    for process in pair:
        process.join()
    return "both" in replies or "one" not in replies


def hold(ready: Any) -> None:
    with Journal(Writer(), str(JOURNAL)).exclusive_lock("apply of nfs_mounts"):
        ready.put(os.getpid())
        signal.pause()


def killed(_number: int) -> bool:
    """The one that waits is told who is at work; when that one is killed, the way is free."""
    shutil.rmtree(JOURNAL, ignore_errors=True)
    JOURNAL.mkdir(0o700)
    ready, answers = FORK.Queue(), FORK.Queue()
    holder = FORK.Process(target=hold, args=(ready,))
    holder.start()
    pid = ready.get(timeout=600)
    work(answers)
    reply = answers.get(timeout=600)
    holder.kill()
    holder.join()
    work(answers)
    named = "apply of nfs_mounts" in reply and f"process {pid}" in reply
    return not named or answers.get(timeout=600) != "one"


def main() -> int:
    wins = sandbox.try_often("two applies at once", at_once)
    wins += sandbox.try_often("a killed apply keeps the lock", killed)
    return 1 if wins else 0


if __name__ == "__main__":
    sys.exit(main())
