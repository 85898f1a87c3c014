# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run-time kernel parameters of AIX, read with the subroutine sys_parm.

lsattr shows the configuration database. After chdev -P or -T the kernel uses other values, which no
command shows. sys_parm returns them and is used read-only: SYSP_GET. A separate Python process
calls it, so that a crash in the system library affects only that process.

Sources: AIX Base Operating System and Extensions Technical Reference, sys_parm; the header
sys/var.h (struct vario, SYSP_V_MAXPOUT, SYSP_V_MINPOUT); IBM, AIX 5L Practical Performance Tools
and Tuning Guide, appendix A, which reads the same two parameters so.
"""

import re
import sys
from typing import Dict, List, Tuple

from ...collect.command import Command, state_of
from ...collect.host import Host
from ...errors import HostError, HostproofError, Unanswered
from ...parsers.number import integer

#: Parameters by their number in sys/var.h, which new ones never change.
NUMBERS = {"maxpout": 6, "minpout": 7}

#: Prints NAME=VALUE for each NAME:NUMBER that it is given. SYSP_GET is 0.
PROGRAM = """
import ctypes, sys
member = "libc.a(shr_64.o)" if ctypes.sizeof(ctypes.c_void_p) == 8 else "libc.a(shr.o)"
ask = ctypes.CDLL(member, use_errno=True).sys_parm
ask.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
ask.restype = ctypes.c_int
for one in sys.argv[1:]:
    name, number = one.split(":")
    answer = (ctypes.c_longlong * 32)()
    if ask(0, int(number), ctypes.byref(answer)) != 0:
        sys.exit("sys_parm: %s: error %d" % (name, ctypes.get_errno()))
    print("%s=%d" % (name, answer[0]))
"""

#: The same behind what a command prints, which is told first and must succeed.
BEHIND = (
    """
import subprocess, sys
count = int(sys.argv[1])
told = subprocess.Popen(sys.argv[2 : 2 + count])
if told.wait() != 0:
    sys.exit(1)
del sys.argv[1 : 2 + count]
"""
    + PROGRAM
)


def values_command(names: Tuple[str, ...]) -> Command:
    """Tells "maxpout=33 minpout=24", each on a line, in the order of ``names``."""
    numbers = [f"{name}:{NUMBERS[name]}" for name in names]
    return Command(
        name="sys_parm: {0}".format(" ".join(names)),
        argv=(sys.executable, "-c", PROGRAM) + tuple(numbers),
        expected=r"\A((?:\w+=\d+\n)+)\Z",
        timeout=20.0,
        squeezed=True,
    )


def look_behind(first: Command, names: Tuple[str, ...]) -> Command:
    """Tells what ``first`` tells, and behind it what ``values_command`` does: one state of both."""
    own = values_command(names)
    return own._replace(
        name=f"{first.name}; {own.name}",
        argv=own.argv[:1] + ("-c", BEHIND, str(len(first.argv))) + first.argv + own.argv[3:],
        expected=r"\A(\S[\s\S]*\n(?:\w+=\d+\n)+)\Z",
        timeout=first.timeout + own.timeout,
    )


def read(host: Host, names: Tuple[str, ...]) -> Dict[str, int]:
    """What the kernel uses. Unanswered says why it is unknown."""
    command = values_command(names)
    key = "command:" + command.name
    try:
        text = state_of(command, host.ask(command))
    except HostError:
        raise
    except HostproofError as problem:
        raise Unanswered(key, str(problem)) from problem
    values: Dict[str, str] = dict(re.findall(r"^(\w+)=(\d+)$", text, re.MULTILINE))
    missing: List[str] = [name for name in names if name not in values]
    if missing:
        raise Unanswered(key, "sys_parm did not tell {0}".format(", ".join(missing)))
    return {name: integer(values[name]) for name in names}
