# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ways into a host open their sessions with pam_limits (pam.conf(5), pam_limits(8)).

A service's stack is a file of /etc/pam.d, or else of /usr/lib/pam.d; what it includes counts as if
it was there. With conf=
the module reads that file and neither limits.conf nor limits.d. With UsePAM no, the default of
OpenSSH, sshd opens no session of PAM (sshd_config(5)).
"""

import re
from typing import Dict, Iterator, List, Sequence, Tuple

from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.host import Host, matching_lines
from ...errors import Absent, Unanswered

FOLDER = "/etc/pam.d"
#: The settings of sshd by all of its files: the first value of a keyword counts.
SETTINGS = ("/usr/sbin/sshd", "-T")
#: OpenSSH 7.7 ends at a Match block without it. No such block can hold UsePAM.
CONNECTION = ("-C", "user=root,host=x,addr=127.0.0.1,laddr=127.0.0.1,lport=22")
USES_PAM = "usepam yes"
#: The ways in, as Linux distributions name them; of cron's two a host has one.
SERVICES = ("login", "sshd", "su", "su-l", "crond", "cron")
#: Programs that unattended starts use, with their services.
OTHERS = {"runuser": ("runuser", "runuser-l"), "sudo": ("sudo", "sudo-i")}
#: How deep files may include one another (libpam has the same).
_DEEPEST = 16
#: A control that can skip the modules after it: their number, or all.
_JUMP = re.compile(
    r"(?i)session\s+(?:sufficient\s|\[[^]]{0,200}=(?:(\d{1,3})|done)\b[^]]{0,200}\])"
)


def read_services(host: Host, programs: Sequence[str] = ()) -> Dict[str, Answer[bool]]:
    """Each installed service, and whether its sessions read limits.d.

    ``programs`` are others that start databases, runuser and sudo, and names of PAMName=."""
    services: Dict[str, Answer[bool]] = {}
    others = [name for program in programs for name in OTHERS.get(program, (program,))]
    for service in dict.fromkeys(SERVICES + tuple(others)):
        answer = attempt(_has, host, service)
        if service == "sshd" and answer is True:
            answer = attempt(_sshd_uses_pam, host)
        if not isinstance(answer, Absent):
            services[service] = answer
    return services


def sets_limits(host: Host, program: str) -> bool:
    """Whether a session of su, runuser, sudo, cron or a PAMName= may read limits.d.

    False only if each installed service of the program is known not to."""
    services = {**OTHERS, "su": ("su", "su-l")}.get(program, (program,))
    answers = [attempt(_has, host, service) for service in services]
    installed = [answer for answer in answers if not isinstance(answer, Absent)]
    return not installed or any(answer is not False for answer in installed)


def _sshd_uses_pam(host: Host) -> bool:
    for argv in (SETTINGS, SETTINGS + CONNECTION):
        key = "command:" + " ".join(argv)
        answer = attempt(host.run, list(argv), record=lambda text: matching_lines(text, USES_PAM))
        found = unless_absent(answer, None) if argv == SETTINGS else known(answer)
        if found is None:
            return True
        output = found
        if output.rc == 0:
            return USES_PAM in output.stdout
        if "connection test" not in output.stderr:
            break
    raise Unanswered(key, "sshd -T failed, it needs root: " + output.stderr.strip()[:200])


def _has(host: Host, name: str) -> bool:
    skipped = 0
    for path, line in _session(host, name, ()):
        if _reads_limits(line.split()):
            if skipped:
                why = f"a line before pam_limits.so in {path} can skip it"
                raise Unanswered("file:" + path, why)
            return True
        jump = _JUMP.search(line)
        skipped = int(jump.group(1) or 99) if jump else skipped - (skipped > 0)
    return False


def _text_of(host: Host, path: str) -> Answer[str]:
    """The text of a stack of the administrator, or else of the package."""
    text = attempt(host.read_text, path)
    if isinstance(text, Absent):
        other = path.replace("/etc/", "/usr/lib/", 1)
        text = unless_absent(attempt(host.read_text, other), text)
    return text


def _session(host: Host, name: str, above: Tuple[str, ...]) -> Iterator[Tuple[str, str]]:
    """Path and text of the lines for sessions, those of included files in their place."""
    path = name if name.startswith("/") else f"{FOLDER}/{name}"
    if len(above) >= _DEEPEST or path in above:
        raise Unanswered("file:" + path, f"{path} includes itself")
    text = _text_of(host, path)
    if isinstance(text, Absent) and above:
        raise Unanswered("file:" + path, f"{path}, which {above[-1]} includes, is not there")
    for line in str(known(text)).replace("\\\n", " ").split("\n"):
        words = line.partition("#")[0].split()
        kind = words[0].lstrip("-").lower() if len(words) > 1 else ""
        included = words[1:2] if kind == "@include" else []
        if kind == "session" and words[1] in ("include", "substack"):
            included = words[2:3]
        elif kind == "session":
            yield path, " ".join(words)
        for name in included:
            yield from _session(host, name, (*above, path))


def _reads_limits(words: List[str]) -> bool:
    is_there = any(word.rpartition("/")[2] == "pam_limits.so" for word in words)
    return is_there and not any(word.lstrip("[").startswith("conf=") for word in words)
