"""STAND-IN for what Python sees of a kernel on AIX; Python runs this by itself when it starts.

Linux shows processes and itself as text below /proc and /sys. On AIX /proc holds a folder for each
process with binary files and the folder sys, and there is no /sys: paths below both lead to the
folders proc and no-sys of the stand-ins' state, of which the second is never there. The system's
name is AIX. No folder can be locked or synced, for none is ever open for writing. The C library is
libc.a, whose sys_parm tells the marks that the kernel goes by.
Sources: AIX Files Reference, /proc File; AIX Technical Reference, sys_parm, and sys/var.h.
"""

import builtins
import ctypes
import errno
import fcntl
import functools
import io
import json
import os

STATE = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "state")
PLACES = {"/proc": os.path.join(STATE, "proc"), "/sys": os.path.join(STATE, "no-sys")}


_readlink = os.readlink


def elsewhere(path):
    """Where a path of Linux's kernel leads; any other as it is."""
    if isinstance(path, int):
        return path
    text = os.fsdecode(path)
    for prefix, place in PLACES.items():
        if text == prefix or text.startswith(prefix + "/"):
            return place + text[len(prefix) :]
    return path


def leading(function):
    """The function with its first argument, a path, led elsewhere; errors name the path given."""

    @functools.wraps(function)
    def led(path=".", *arguments, **keywords):
        try:
            # A walk by descriptor begins at /, and names proc or sys below it.
            folder = keywords.get("dir_fd")
            if folder is not None and _readlink(f"/proc/self/fd/{folder}") == "/":
                place = PLACES.get("/" + os.fsdecode(path))
                if place is not None:
                    return function(place, *arguments, **dict(keywords, dir_fd=None))
            return function(elsewhere(path), *arguments, **keywords)
        except OSError as problem:
            if problem.filename is not None:
                problem.filename = path
            raise

    return led


builtins.open = io.open = leading(io.open)
for name in ("access", "chmod", "listdir", "lstat", "open", "readlink", "scandir", "stat"):
    setattr(os, name, leading(getattr(os, name)))

_uname = os.uname


def uname():
    fields = list(_uname())
    fields[0] = "AIX"
    return os.uname_result(fields)


os.uname = uname


def only_if_writable(function):
    """fsync and flock as a system does that takes only what is open for writing."""

    @functools.wraps(function)
    def checked(handle, *operation):
        number = handle if isinstance(handle, int) else handle.fileno()
        reads = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
        # A lock that is shared is for those who read.
        if reads and not any(flag & (fcntl.LOCK_SH | fcntl.LOCK_UN) for flag in operation):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return function(handle, *operation)

    return checked


os.fsync = only_if_writable(os.fsync)
fcntl.flock = only_if_writable(fcntl.flock)
for name in ("O_DIRECTORY", "O_TMPFILE"):
    delattr(os, name)

#: SYSP_V_MAXPOUT and SYSP_V_MINPOUT of sys/var.h.
PARAMETERS = {6: "maxpout", 7: "minpout"}
SYSP_GET = 0


class SysParm:
    """sys_parm(cmd, parmflag, parmp), which only tells; ctypes sets its argtypes and restype."""

    def __call__(self, command, number, place):
        if command != SYSP_GET or number not in PARAMETERS:
            ctypes.set_errno(errno.EINVAL)
            return -1
        with io.open(os.path.join(STATE, "host.json")) as stream:
            attributes = json.load(stream)["devices"]["sys0"]["attributes"]
        place._obj[0] = int(attributes[PARAMETERS[number]]["running"])
        return 0


class LibC:
    """The one library of AIX that is asked for, as a member of its archive."""

    def __init__(self):
        self.sys_parm = SysParm()


_CDLL = ctypes.CDLL


def cdll(name=None, *arguments, **keywords):
    if name in ("libc.a(shr_64.o)", "libc.a(shr.o)"):
        return LibC()
    return _CDLL(name, *arguments, **keywords)


ctypes.CDLL = cdll
