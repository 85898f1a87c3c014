#!/usr/bin/env python3
"""STAND-IN for an Oracle instance: a process with an instance's name and a real SGA-like segment.

It is real in what the kernel sees: argv[0] is ora_pmon_SID (asm_pmon_SID for ASM), its program is
named bin/oracleO and belongs to its user, and a SysV
shared memory segment is attached, of huge pages (SHM_HUGETLB) or of ordinary ones. Everything
else of an instance is missing. Python 3.6 or newer, standard library only.

    instance.py --sid LAB1 --sga 64M --pages huge [--kind ora|asm] [--touch 0.5]

With --process it is another background process, and without --sga it has no segment. It can hold
files open and mapped as a database writer holds data files and libraries, and have a TCP
connection as Direct NFS has to port 2049 of a server:

    instance.py --sid LAB1 --process dbw0 --open /u02/oradata/users01.dbf \\
        [--map $ORACLE_HOME/rdbms/lib/odm/libnfsodm19.so] [--connect 192.0.2.1:2049]

It can write as DBWR and LGWR do: hold files by the flags of open(2), make contexts of asynchronous
I/O by io_setup(2), and write to the files all the time. What takes longer than five seconds it says
as a database would, in the alert log (the words are those of ORA-27062, made up by its form):

    instance.py --sid LAB1 --process dbw0 --hold direct+dsync:/u02/oradata/users01.dbf \\
        --context 4096 --write-and-tell /u01/.../alert_LAB1.log

Prints "ready ..." when the segment is attached and touched and all else is open, waits for
SIGTERM, and then removes the segment. Where the segment is refused it prints why and ends with
code 1, as an instance with USE_LARGE_PAGES=ONLY would; so it does where a file or connection is.
"""

import argparse
import ctypes
import mmap
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

IPC_PRIVATE = 0
IPC_CREAT = 0o1000
IPC_RMID = 0
SHM_HUGETLB = 0o4000
SEGMENT_MODE = 0o640
#: Numbers of the system call by machine.
IO_SETUP = {"x86_64": 206, "aarch64": 0, "ppc64le": 227, "s390x": 243}
FLAGS = {"direct": os.O_DIRECT, "dsync": os.O_DSYNC, "sync": os.O_SYNC}
BLOCK = 8192
PATIENCE = 5.0
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_arguments():
    parser = argparse.ArgumentParser(description="Stand-in for an Oracle instance.")
    parser.add_argument("--sid", required=True)
    parser.add_argument("--sga", type=parse_size, help="for example 64M; none: no segment")
    parser.add_argument("--pages", choices=("huge", "4k"), help="of the segment; needed with --sga")
    parser.add_argument("--kind", choices=("ora", "asm"), default="ora")
    parser.add_argument("--touch", type=float, default=1.0, help="fraction of the SGA to write to")
    parser.add_argument(
        "--only",
        action="store_true",
        help="start only if the soft limit of locked memory covers the SGA (USE_LARGE_PAGES=ONLY)",
    )
    parser.add_argument("--process", default="pmon", help="its name is KIND_PROCESS_SID")
    parser.add_argument(
        "--open",
        action="append",
        default=[],
        metavar="FILE",
        help="hold this file open to read and write (made if it is missing); may be repeated",
    )
    parser.add_argument(
        "--hold",
        action="append",
        default=[],
        metavar="FLAGS:FILE",
        help="hold this file open with direct, dsync, sync (joined by +, or none); may be repeated",
    )
    parser.add_argument(
        "--context",
        action="append",
        default=[],
        type=int,
        metavar="EVENTS",
        help="make a context of asynchronous I/O; may be repeated",
    )
    parser.add_argument("--write-and-tell", metavar="ALERT_LOG")
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FILE",
        help="hold this file mapped as a library is; may be repeated",
    )
    parser.add_argument(
        "--connect",
        action="append",
        default=[],
        metavar="ADDRESS:PORT",
        help="hold a TCP connection to this address; may be repeated",
    )
    arguments = parser.parse_args()
    if (arguments.sga is None) != (arguments.pages is None):
        parser.error("--sga and --pages go together")
    return arguments


def parse_size(text):
    """Bytes of a size like 64M."""
    if text[-1:] in UNITS:
        return int(text[:-1]) * UNITS[text[-1]]
    return int(text)


def take_name(name):
    """Run this program again with ``name`` as the first argument, as background processes have it.

    The kernel keeps argv as it was given to exec, so this is the only way that needs no writing
    into the process's own stack. Returns at once in the process that has the name already.
    """
    with open("/proc/self/cmdline", "rb") as stream:
        if stream.read().split(b"\0", 1)[0].decode() == name:
            remove_program()
            return
    os.execv(own_program(), [name, os.path.abspath(__file__)] + sys.argv[1:])


def own_program():
    """A copy of the interpreter that is this user's, named as a relink leaves the old program, so
    that /proc/PID/exe is an instance's."""
    folder = os.path.join(tempfile.mkdtemp(prefix="hostproof-instance-"), "bin")
    os.mkdir(folder)
    # sys.executable would be looked for under the new name: keep it.
    return shutil.copy(os.path.realpath(sys.executable), os.path.join(folder, "oracleO"))


def remove_program():
    """The kernel keeps the file as long as it runs, and still tells its name and its owner."""
    program = os.readlink("/proc/self/exe")
    if program.endswith("/bin/oracleO"):
        shutil.rmtree(os.path.dirname(os.path.dirname(program)))


def check_limit(arguments):
    """The check of the database itself: the kernel applies no limit to members of the group."""
    soft = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if arguments.only and soft != resource.RLIM_INFINITY and soft < arguments.sga:
        sys.exit(f"ORA-27106: locked memory is {soft} bytes, the SGA {arguments.sga}")


def attach_segment(size, huge):
    """Make a shared memory segment and attach it; its id and address."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)
    libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    libc.shmat.restype = ctypes.c_void_p
    flags = IPC_CREAT | SEGMENT_MODE | (SHM_HUGETLB if huge else 0)
    segment = libc.shmget(IPC_PRIVATE, size, flags)
    if segment < 0:
        fail("shmget")
    address = libc.shmat(segment, None, 0)
    if address == ctypes.c_void_p(-1).value:
        fail("shmat")
    return segment, address


def fail(call):
    number = ctypes.get_errno()
    sys.exit(f"{call}: {os.strerror(number)} (errno {number})")


def hold(arguments):
    """Open and map what was asked for; what is returned must be kept."""
    held = []
    try:
        for text in arguments.hold:
            names, _, path = text.partition(":")
            flags = sum(FLAGS[name] for name in names.split("+") if name)
            held.append(os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o640))
        for path in arguments.open:
            held.append(os.open(path, os.O_RDWR | os.O_CREAT, 0o640))
        for path in arguments.map:
            with open(path, "rb") as stream:
                held.append(mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ))
        for target in arguments.connect:
            address, _, port = target.rpartition(":")
            held.append(socket.create_connection((address.strip("[]"), int(port)), 10))
    except OSError as problem:
        sys.exit(str(problem))
    return held


def make_context(events):
    """io_setup(2) by its number: there is no function of the C library for it."""
    libc = ctypes.CDLL(None, use_errno=True)
    context = ctypes.c_ulong(0)
    if libc.syscall(IO_SETUP[os.uname().machine], events, ctypes.byref(context)) < 0:
        fail("io_setup")
    return context


def write_and_tell(held, arguments):
    """Write a block to each file, over and over. One that waits is told once it has ended."""
    page = mmap.mmap(-1, BLOCK)
    while True:
        for handle in held:
            began = time.monotonic()
            os.pwrite(handle, page, 0)
            if time.monotonic() - began > PATIENCE:
                with open(arguments.write_and_tell, "a") as log:
                    trace = f"{arguments.sid.lower()}_{arguments.process}_{os.getpid()}.trc"
                    log.write(f"{time.strftime('%a %b %d %H:%M:%S %Y')}\n")
                    log.write(f"Errors in file {trace}:\n")
                    log.write("ORA-27062: could not find pending async I/Os\n")
        time.sleep(0.1)


def touch(address, size):
    """Write one byte to every page, so that the kernel has to give it."""
    for offset in range(0, size, mmap.PAGESIZE):
        ctypes.memset(address + offset, 1, 1)


def remove_segment(segment):
    """Mark the segment: the kernel frees it when its last process ends."""
    ctypes.CDLL(None).shmctl(segment, IPC_RMID, None)


def main():
    arguments = parse_arguments()
    check_limit(arguments)
    take_name(f"{arguments.kind}_{arguments.process}_{arguments.sid}")
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    held = hold(arguments)
    contexts = [make_context(events) for events in arguments.context]
    if arguments.write_and_tell:
        files = held[: len(arguments.hold)]
        threading.Thread(target=write_and_tell, args=(files, arguments), daemon=True).start()
    segment = None
    if arguments.sga is not None:
        segment, address = attach_segment(arguments.sga, arguments.pages == "huge")
    try:
        if segment is not None:
            touch(address, int(arguments.sga * arguments.touch))
        number = len(held + contexts)
        print(f"ready sid={arguments.sid} pid={os.getpid()} shmid={segment} holds={number}")
        sys.stdout.flush()
        signal.sigwait(signals)
    finally:
        if segment is not None:
            remove_segment(segment)


if __name__ == "__main__":
    main()
