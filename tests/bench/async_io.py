#!/usr/bin/env python3
"""What it costs to read and judge how many instances write, from /proc.

Usage: tests/bench/async_io.py [INSTANCES [DESCRIPTORS]]   (50 and 2000 unless told)

Each instance is three real processes of this machine: a monitor, DBWR with that many files open,
LGWR with two. The CPU seconds of the control include those of the child that looks. No file of the
"database" may be opened meanwhile: the kernel tells (inotify).
"""

import ctypes
import importlib
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit"), str(ROOT / "plugin_utils")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

from ansible.module_utils.hostproof.collect.host import LiveHost  # noqa: E402
from ansible.module_utils.hostproof.controls.async_io.control import CONTROL as async_io  # noqa: E402
from default_policies import (  # type: ignore[import-not-found] # noqa: E402
    default_policy,
)

#: What the control must keep to at 50 instances with 2,000 descriptors each.
MOST_SECONDS = 2.0
IN_OPEN = 0x20

WRITER = """
import os, resource, sys
folder, sid, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (number + 100, number + 100))
flags = os.O_RDWR | os.O_CREAT | os.O_DSYNC
kept = [os.open(f"{folder}/{sid}_{n}.dbf", flags) for n in range(number)]
print("ready", flush=True)
sys.stdin.read()
"""


def main() -> None:
    arguments = [int(argument) for argument in sys.argv[1:3]]
    instances, descriptors = arguments + [50, 2000][len(arguments) :]
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors + 1000,) * 2)
    print(f"{instances} instances, DBWR of each with {descriptors} files open")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "home/bin/oracle")
        program.parent.mkdir(parents=True)
        program.write_bytes(Path(sys.executable).resolve().read_bytes())
        program.chmod(0o755)
        data = Path(folder, "oradata")
        data.mkdir()
        processes = [
            start(program, data, f"B{number}", name, files)
            for number in range(instances)
            for name, files in (("pmon", 0), ("dbw0", descriptors), ("lgwr", 2))
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        watch = watched(data)
        cpu, wall, findings = measure()
        opened = events(watch)
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
    word = "met" if cpu < MOST_SECONDS else "NOT MET"
    print(f"{findings} findings, {wall:.2f} s, {cpu:.2f} s of CPU")
    print(f"Expected: below {MOST_SECONDS:g} s of CPU: {word}")
    print(f"Expected: no file of a database opened: {'met' if not opened else 'NOT MET'}")
    sys.exit(cpu >= MOST_SECONDS or bool(opened))


def start(
    program: Path, data: Path, sid: str, process: str, files: int
) -> "subprocess.Popen[bytes]":
    argv = [f"ora_{process}_{sid}", "-S", "-c", WRITER, str(data), f"{sid}_{process}", str(files)]
    pipe = subprocess.PIPE
    environment = {"PYTHONHOME": sys.base_prefix}
    return subprocess.Popen(
        argv,
        executable=program,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def measure() -> tuple[float, float, int]:
    """CPU and wall seconds of one read and judgement, and how many findings there are."""
    policy = async_io.policy_from({**default_policy("async_io"), "query_instances": False})
    began = time.monotonic()
    before = seconds()
    host = LiveHost()
    findings = async_io.judge(async_io.read(host, policy), policy)
    wall = time.monotonic() - began
    # The child that looks is waited for, and counted, when it is closed.
    host._reader.close()
    failures = [
        finding
        for finding in findings
        if finding.check == "async_io.direct_files" and finding.status == "fail"
    ]
    assert failures, "the instances were not seen"
    return seconds() - before, wall, len(findings)


def seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def watched(folder: Path) -> int:
    """A descriptor that tells each time that a file of the folder is opened."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = int(libc.inotify_init1(os.O_NONBLOCK))
    if watch < 0 or libc.inotify_add_watch(watch, os.fsencode(folder), IN_OPEN) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    return watch


def events(watch: int) -> int:
    try:
        text = os.read(watch, 1 << 16)
    except BlockingIOError:
        return 0
    count = at = 0
    while at < len(text):
        _watch, _mask, _cookie, length = struct.unpack_from("iIII", text, at)
        at += 16 + length
        count += 1
    return count


if __name__ == "__main__":
    main()
