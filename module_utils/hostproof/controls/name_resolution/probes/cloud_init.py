# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether cloud-init writes /etc/hosts at each reboot, and the template that it writes.

Sources: cloud-init, cc_update_etc_hosts.py (``true`` and ``template`` write the whole file, and
``localhost`` only adds the name of the host to a loopback address), templates/hosts.*.tmpl (the
header names the template); user data takes precedence over vendor data, which takes precedence over
cloud.cfg.d, which takes precedence over cloud.cfg.
"""

import re
from typing import NamedTuple, Optional, Tuple

from ....collect.answer import Answer, attempt, if_known, unless_absent, unless_newer
from ....collect.host import Host
from ....errors import Absent

CONFIG = "/etc/cloud/cloud.cfg"
_FOLDER = "/etc/cloud/cloud.cfg.d"
#: The data of the vendor and of the user for the instance. Only root may read it.
_DATA = {
    "vendor data": "/var/lib/cloud/instance/vendor-cloud-config.txt",
    "user data": "/var/lib/cloud/instance/cloud-config.txt",
}
_OFF = "/etc/cloud/cloud-init.disabled"
_TEMPLATES = "/etc/cloud/templates"
_SETTING = re.compile(
    r"""^[ \t]*manage_etc_hosts[ \t]*:[ \t]*["']?([A-Za-z0-9]*)""", re.MULTILINE | re.IGNORECASE
)
#: The header of the templates names the file.
_MASTER = re.compile(r"^#.*?(/etc/cloud/templates/hosts\.[a-z]{1,20}\.tmpl)", re.MULTILINE)
_TITLE = re.compile(r"^#.*manage_etc_hosts' as True", re.MULTILINE)
#: What cloud-init takes for the whole file.
_WHOLE = ("true", "yes", "on", "1", "template")
#: The value with which it only adds a line to the file.
_LINE, _HOSTS = "localhost", "/etc/hosts"


class Template(NamedTuple):
    """The template that cloud-init writes to /etc/hosts at each reboot, and where that is set.

    ``text`` is None where the file does not name the template; ``path`` is their directory then.
    ``is_line``: it has no template, and only adds the name of the host to a loopback address.
    """

    path: str
    text: Answer[Optional[str]]
    place: str
    is_line: bool = False


def read(host: Host, hosts: str) -> Optional[Template]:
    """The template, with the text of /etc/hosts; None where cloud-init does not write the file."""
    has_header = bool(_TITLE.search(hosts))
    config = attempt(host.read_text, CONFIG, record=_kept)
    if isinstance(config, Absent) or _is_off(host):
        return None
    place, value = _setting(host, _value(unless_newer(config, "")))
    if value.lower() == _LINE:
        return Template(_HOSTS, None, place, is_line=True)
    if not (value.lower() in _WHOLE if value else has_header):
        return None
    match = _MASTER.search(hosts)
    path = match.group(1) if match else ""
    return Template(
        path=path or _TEMPLATES,
        text=attempt(host.read_text, path) if path else None,
        place=place or CONFIG,
    )


def _setting(host: Host, of_config: str) -> Tuple[str, str]:
    """The place of the setting that takes precedence, and its value; "" for none."""
    values = {CONFIG: of_config}
    for name in unless_absent(attempt(host.list_dir, _FOLDER), []):
        if name.endswith(".cfg"):
            path = f"{_FOLDER}/{name}"
            values[path] = _value(unless_absent(attempt(host.read_text, path, record=_kept), ""))
    for name, path in _DATA.items():
        text = attempt(host.read_text, path, record=_kept)
        values[name] = _value("" if isinstance(text, Absent) else unless_newer(text, ""))
    return next(
        ((path, value) for path, value in reversed(list(values.items())) if value), ("", "")
    )


def _is_off(host: Host) -> bool:
    status = attempt(host.stat, _OFF)
    return not isinstance(status, Absent) and if_known(status, None) is not None


def _kept(text: str) -> str:
    """The lines of the setting: the rest can have secrets."""
    return "".join(match.group(0).strip() + "\n" for match in _SETTING.finditer(text))


def _value(text: str) -> str:
    values = _SETTING.findall(text)
    return values[-1] if values else ""
