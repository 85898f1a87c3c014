#!/usr/bin/env python3
"""Reads and writes blocks of a file in each folder, past the caches, as a database does.

traffic.py SECONDS FOLDER...
"""

import mmap
import os
import sys
import threading
import time

BLOCK = 8192
BLOCKS = 64

#: What looks at the machine meanwhile needs its processors too.
PAUSE_SECONDS = 0.03


def work(folder: str, end: float) -> None:
    """One read and one write after the other, each answered before the next."""
    block = mmap.mmap(-1, BLOCK)
    flags = os.O_RDWR | os.O_CREAT | os.O_DIRECT
    file = os.open(os.path.join(folder, "traffic"), flags, 0o600)
    for number in range(BLOCKS):
        os.pwritev(file, [block], number * BLOCK)
    number = 0
    while time.monotonic() < end:
        number = (number + 1) % BLOCKS
        os.preadv(file, [block], number * BLOCK)
        os.pwritev(file, [block], number * BLOCK)
        time.sleep(PAUSE_SECONDS)
    os.close(file)


def main() -> None:
    end = time.monotonic() + float(sys.argv[1])
    threads = [threading.Thread(target=work, args=(folder, end)) for folder in sys.argv[2:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
