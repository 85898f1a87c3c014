# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of sysctl: which are read at boot, and which TuneD applies again."""

from typing import Dict, List, Optional, Tuple

from ....collect.answer import attempt, known, unless_absent
from ....collect.host import Host
from ....errors import HostproofError
from ....parsers.systemd import conf_d, sysctl_d
from .. import conf_files
from .model import Boot, SysctlTree

SYSCTL_CONF = "/etc/sysctl.conf"

#: TuneD applies these files again. It also reads /run/sysctl.d, which is empty after a reboot.
TUNED_SYSCTL = "/etc/sysctl.d/"
SYSCTL_CREDENTIALS = tuple(
    f"{place}/credstore{kind}/sysctl.extra"
    for place in ("/etc", "/usr/local/lib", "/usr/lib")
    for kind in ("", ".encrypted")
)


def with_sysctl_file(boot: Boot, path: str, text: str) -> Boot:
    """What boot would set if the file at ``path`` held ``text``: a plan must know if it wins."""
    tree = known(boot.sysctl)
    others = [assignment for assignment in tree.assignments if assignment.path != path]
    changed = sorted(
        others + list(sysctl_d.parse(text, path).assignments),
        key=lambda assignment: (
            assignment.path == SYSCTL_CONF,
            assignment.path.rsplit("/", 1)[-1],
        ),
    )
    reapplied = tree.reapplied
    if not isinstance(reapplied, HostproofError) and path.startswith(TUNED_SYSCTL):
        reapplied = sorted(
            [assignment for assignment in reapplied if assignment.path != path]
            + sysctl_d.parse_plain(text, path),
            key=lambda assignment: (
                assignment.path == SYSCTL_CONF,
                assignment.path.rsplit("/", 1)[-1],
            ),
        )
    return boot._replace(sysctl=tree._replace(assignments=changed, reapplied=reapplied))


def read_sysctl(host: Host) -> SysctlTree:
    paths = conf_files.paths(host, sysctl_d.DIRECTORIES)
    read = conf_d.effective_files(sysctl_d.DIRECTORIES, paths)
    assignments: List[sysctl_d.Assignment] = []
    texts: Dict[str, str] = {}
    links: Dict[str, str] = {}
    maybe_links: List[str] = []
    for path in read:
        text = conf_files.text_of_link(host, path)
        if text is None:
            continue
        texts[path] = text
        real = attempt(host.real_path, path)
        if isinstance(real, HostproofError):
            maybe_links.append(path)
        elif real != path:
            links[path] = real
        assignments.extend(sysctl_d.parse(text, path).assignments)
    credentials = _read_credentials(host)
    own = unless_absent(attempt(host.read_text, SYSCTL_CONF), "")
    rest = sysctl_d.parse(own, SYSCTL_CONF).assignments
    reapplied = attempt(_read_reapplied, host, paths, texts, own)
    # A file with the same text sets the same values, whether it is a link to sysctl.conf or not.
    is_copy = any(texts[path] == own for path in maybe_links)
    if is_copy or SYSCTL_CONF in list(texts) + list(links.values()):
        return SysctlTree(assignments, [], reapplied, links, credentials)
    if unless_absent(attempt(host.list_dir, "/run/systemd/system"), None) is None:
        # Without systemd the reboot scripts run procps' sysctl, which reads this file last.
        return SysctlTree(assignments + rest, [], reapplied, links)
    return SysctlTree(assignments, rest, reapplied, links, credentials)


def _read_credentials(host: Host) -> Tuple[Tuple[str, Optional[str]], ...]:
    credentials: List[Tuple[str, Optional[str]]] = []
    for path in SYSCTL_CREDENTIALS:
        # None: not there. A text that is encrypted or cannot be read is not known.
        credential = attempt(unless_absent, attempt(host.read_text, path), None)
        if credential is not None:
            is_unknown = ".encrypted/" in path or isinstance(credential, HostproofError)
            credentials.append((path, None if is_unknown else known(credential)))
    return tuple(credentials)


def _read_reapplied(
    host: Host, paths: List[str], texts: Dict[str, str], own: str
) -> List[sysctl_d.Assignment]:
    """What TuneD applies again: it knows neither patterns nor - and reads sysctl.conf last."""
    assignments: List[sysctl_d.Assignment] = []
    for path in sorted(path for path in paths if path.startswith(TUNED_SYSCTL)):
        text = texts[path] if path in texts else conf_files.text_of_link(host, path)
        assignments.extend(sysctl_d.parse_plain(text or "", path))
    return assignments + sysctl_d.parse_plain(own, SYSCTL_CONF)
