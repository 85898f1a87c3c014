# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof schedule``: audit at fixed times with a systemd timer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from . import options, owned_by_root, project_file, terminal
from .environment import ROOT, environment_folder
from .errors import Refused, complain

_HEAD = "# Written by ./hostproof schedule. ./hostproof schedule --remove deletes it.\n"
#: The program that checks the places before each run of a timer of root.
_CHECK = ".check.py"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}\Z")
#: Exit codes of an audit that ran: they report its findings.
_RAN = "2 3 4 5"
SERVICE = """\
{head}[Unit]
Description=Hostproof audit
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
TimeoutStartSec=12h
WorkingDirectory={directory}
{before}ExecStart={audit}
SuccessExitStatus={ran}
{after}Nice=10
"""
TIMER = """\
{head}[Unit]
Description=Times of the Hostproof audit

[Timer]
OnCalendar={calendar}
Persistent=true
RandomizedDelaySec={delay}

[Install]
WantedBy=timers.target
"""


#: Before the audit of root; no directory where a site installs programs is searched for them.
_OF_ROOT = "Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin\nExecStartPre={0}\n"
#: Files that a checkout imports and executes, and the inventory of a run without one.
_OF_CHECKOUT = (
    *("hostproof", "ansible.cfg", "requirements.txt", "requirements-slices.txt", ".venv"),
    *("plugin_utils", "module_utils", "library", "playbooks", "roles", "action_plugins"),
    *("callback_plugins", "filter_plugins", "inventories"),
)
#: What Ansible and Hostproof read in the working directory and next to an inventory.
_BESIDE = ("ansible.cfg", project_file.NAME, "group_vars", "host_vars", "checks.d")
#: Directories in which Ansible searches for collections, roles and plugins of any project.
_OF_ANSIBLE = (
    "/etc/ansible",
    "/usr/share/ansible",
    *(f"~root/.ansible/{name}" for name in ("collections", "plugins", "roles")),
)
#: Options of ssh and its programs, by their names in the command.
_OF_SSH = tuple(f"ansible_{name}_args" for name in ("ssh_common", "ssh_extra", "sftp_extra"))
_OF_SSH += ("ansible_scp_extra_args",)
#: The system's own Python makes the check before each run, if there is one.
_PYTHON = Path("/usr/bin/python3")


class Places(NamedTuple):
    """What a timer of root runs and reads: single places, and directories with all below them."""

    single: list[str]
    trees: list[str]


@options.command("schedule")
@click.option(
    "--on-calendar", metavar="EXPR", help="times as in systemd.time(7), for example 'daily'"
)
@click.option("--remove", is_flag=True, help="stop and delete the timer")
@click.option("--print", "prints", is_flag=True, help="print the units and write nothing")
@click.option("--user", is_flag=True, help="a timer of this account, without root")
@click.option("--name", default="hostproof", help="name of the units (default: hostproof)")
@click.option(
    "--delay",
    metavar="N",
    type=click.IntRange(0, 86400),
    default=0,
    help="start at a random time up to N seconds later",
)
@click.option("--keep", metavar="N", type=click.IntRange(min=2), help="number of runs to keep")
@click.option(
    "--webhook-file", metavar="FILE", type=options.FILE, help="send new findings to this webhook"
)
@click.option(
    "--webhook-format",
    type=click.Choice(("json", "slack", "teams")),
    default="json",
    help="form of the webhook's message (default: json)",
)
@click.option("--mail", metavar="ADDRESS", multiple=True, help="send new findings by e-mail")
@click.argument("audit", nargs=-1, metavar="[-- AUDIT OPTIONS]", help="options of audit")
def command(
    on_calendar: str | None,
    remove: bool,
    prints: bool,
    user: bool,
    name: str,
    delay: int,
    keep: int | None,
    webhook_file: str | None,
    webhook_format: str,
    mail: tuple[str, ...],
    audit: tuple[str, ...],
) -> int:
    """Writes a systemd service and a timer that run an audit, and starts the timer.

    The audit runs in this directory, so its hostproof.yml counts. Afterwards new findings are sent
    and old runs are deleted if the options say so.
    """
    if not _NAME.match(name):
        raise Refused(f"--name: {name!r} must be lower case letters, digits and -")
    directory = _directory(user)
    if remove:
        return _remove(directory, name, user)
    if on_calendar is None:
        raise Refused("schedule needs --on-calendar EXPR, or --remove")
    after = _after_audit(keep, webhook_file, webhook_format, mail)
    # A timer that root starts with --user runs as root too.
    is_of_root = not user or os.geteuid() == 0
    places = _places(webhook_file, audit)
    places.single.append(str(directory))
    places.trees.extend(str(directory / f"{name}.{kind}.d") for kind in ("service", "timer"))
    if is_of_root:
        _refuse_foreign(places)
    service = SERVICE.format(
        head=_HEAD,
        directory=_working_directory(),
        before=_OF_ROOT.format(_check(directory, name, places)) if is_of_root else "",
        audit=_call("audit", *audit),
        ran=_RAN,
        after=after,
    )
    timer = TIMER.format(head=_HEAD, calendar=_calendar(on_calendar), delay=delay)
    units = {f"{name}.service": service, f"{name}.timer": timer}
    if is_of_root:
        units[f"{name}{_CHECK}"] = _HEAD + Path(owned_by_root.__file__).read_text(encoding="utf-8")
    if prints:
        print("\n".join(f"# {directory / unit}\n{text}" for unit, text in units.items()), end="")
        return 0
    _write(directory, units)
    _systemctl(user, "daemon-reload")
    _systemctl(user, "enable", "--now", f"{name}.timer")
    terminal.say(f"Written: {', '.join(str(directory / unit) for unit in units)}")
    return 0


def _after_audit(keep: int | None, webhook: str | None, form: str, mail: tuple[str, ...]) -> str:
    lines = [_call("prune", "--keep", str(keep))] if keep else []
    if webhook or mail:
        lines.append(_call("notify", *_notify(webhook, form, mail)))
    return "".join(f"ExecStartPost={line}\n" for line in lines)


def _notify(webhook: str | None, form: str, mail: tuple[str, ...]) -> list[str]:
    words = [word for address in mail for word in ("--mail", address)]
    if webhook:
        words += ["--webhook-file", os.path.abspath(webhook), "--webhook-format", form]
    return words


def _directory(user: bool) -> Path:
    if user:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(base) / "systemd/user"
    return Path("/etc/systemd/system")


def _working_directory() -> str:
    """The current directory; systemd takes no quotes there."""
    directory = os.getcwd()
    if not directory.isprintable() or directory[-1] in "\\ ":
        raise Refused(
            f"{directory!r} cannot be written into a unit: it has a control character, or ends "
            "with a blank or a backslash"
        )
    return directory.replace("%", "%%")


def _program() -> str:
    own = ROOT / "hostproof"
    return str(own if own.is_file() else environment_folder() / "bin/hostproof")


def _call(verb: str, *words: str) -> str:
    return " ".join(map(_quoted, (_program(), verb, *words)))


def _quoted(word: str) -> str:
    """A word of a unit file (systemd.syntax(7)): no specifier, variable or line end is left."""
    if not word.isprintable():
        raise Refused(f"{word!r} cannot be written into a unit: it has a control character")
    word = word.replace("%", "%%").replace("$", "$$")
    if re.match(r"[A-Za-z0-9_@+=:,./%$-]+\Z", word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _calendar(expression: str) -> str:
    """The expression, which systemd itself has checked where it is installed."""
    if not expression.isprintable() or not expression.strip():
        raise Refused(f"--on-calendar: {expression!r} is not a time")
    program = shutil.which("systemd-analyze")
    if program is not None:
        done = subprocess.run(
            [program, "calendar", "--", expression], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Refused(
                f"--on-calendar: systemd does not know the time {expression!r}; examples are "
                "daily, 'Mon..Fri 02:30' and '*-*-01 04:00' (systemd.time(7))"
            )
    return expression


def _refuse_foreign(places: Places) -> None:
    """Root must not run or read, every night, what another account can change."""
    try:
        owned_by_root.refuse(*places)
    except owned_by_root.Foreign as problem:
        raise Refused(
            f"{problem}, and root would use it at each run: make it root's (chown root, "
            "chmod go-w), or use --user as another account than root"
        ) from None


def _check(directory: Path, name: str, places: Places) -> str:
    """The call that repeats the check before each run, by a program that only root can change."""
    program = str(directory / f"{name}{_CHECK}")
    words = [_python(), "-I", "-S", program, program, *places.single, "--", *places.trees]
    return " ".join(map(_quoted, words))


def _python() -> str:
    return str(_PYTHON if _PYTHON.exists() else Path(sys.base_prefix) / "bin/python3")


def _places(webhook: str | None, audit: tuple[str, ...]) -> Places:
    """Everything that the timer runs and reads. Links are kept: they are checked as well."""
    program = Path(_program())
    here = Path.cwd()
    single = [str(place) for place in (program, here, ROOT, _python())]
    if webhook:
        single.append(os.path.abspath(webhook))
    trees = [str(ROOT / name) for name in _OF_CHECKOUT]
    if program.parent != ROOT:
        trees += [str(ROOT), str(environment_folder())]
    trees.append(sysconfig.get_path("stdlib"))
    trees += map(os.path.expanduser, _OF_ANSIBLE)
    trees += [str(here / name) for name in _BESIDE]
    # Only the directory: each run is a new one in it.
    single += [str(folder / "reports") for folder in (ROOT, here)]
    trees += _imported()
    for name in (*_named_by_project(here), *_named_by_options(audit)):
        # Ansible takes ~account and $VARIABLE, which no shell has replaced in a unit.
        named = os.path.abspath(os.path.expandvars(os.path.expanduser(name)))
        single.append(os.path.dirname(named))
        trees += [named, *(os.path.join(os.path.dirname(named), beside) for beside in _BESIDE)]
    return Places([*dict.fromkeys(single)], [*dict.fromkeys(trees)])


def _imported() -> Iterator[str]:
    """Directories of Python outside of the virtualenv: a .pth file can name them."""
    given = {os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    # The first one is the directory of the program.
    paths = sys.path if sys.flags.safe_path else sys.path[1:]
    yield from (path for path in paths if os.path.isabs(path) and path not in given)


def _named_by_project(here: Path) -> Iterator[str]:
    """The files and directories that the project file of the working directory names."""
    path = here / project_file.NAME
    if path.is_file():
        for name, value in project_file.read(path).items():
            if project_file.KEYS[name].kind == project_file.PATHS:
                yield from filter(_is_path, value.split(","))


def _named_by_options(words: tuple[str, ...]) -> Iterator[str]:
    """The files and directories among the values of the options of audit."""
    from .ansible_options import path_values
    from .audit import command as audit

    context = audit.make_context("audit", list(words), resilient_parsing=True)
    for option in audit.get_params(context):
        for value in path_values(option, context.params.get(option.name or "")):
            if _is_path(value):
                yield value
        yield from _in_words(option.name, context.params.get(option.name or ""))


def _is_path(value: str) -> bool:
    """ "db01,db02" is a list of hosts, not of files."""
    return "/" in value or value[:1] == "~" or os.path.lexists(value)


def _in_words(option: str | None, value: object) -> Iterator[str]:
    """The absolute paths in options of ssh and in variables of Ansible: ssh can run such a file."""
    words = [str(word) for word in value] if isinstance(value, tuple) else []
    if option == "ansible_extra_vars":
        words = [word for word in words if re.match(r"[\s{]*[\"']?ansible_", word)]
    elif option not in _OF_SSH:
        return
    for word in words:
        found = re.findall(r"(?<![\w.%])~?[\w.-]*(?:/[\w.@+-]+)+", word)
        yield from (path for path in found if path != os.devnull)


def _write(directory: Path, units: dict[str, str]) -> None:
    for unit in units:
        _refuse_other(directory / unit)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for unit, text in units.items():
            with tempfile.NamedTemporaryFile(
                "w", dir=directory, prefix=f".{unit}.", delete=False, encoding="utf-8"
            ) as stream:
                stream.write(text)
            os.chmod(stream.name, 0o644)
            os.replace(stream.name, directory / unit)
    except PermissionError:
        raise Refused(
            f"{directory} cannot be written: run it as root, or use --user for your own timer"
        ) from None


def _refuse_other(path: Path) -> None:
    if path.exists() and not path.read_text(encoding="utf-8").startswith(_HEAD):
        raise Refused(f"{path} was not written by Hostproof: choose another --name")


def _remove(directory: Path, name: str, user: bool) -> int:
    paths = [directory / f"{name}{kind}" for kind in (".timer", ".service", _CHECK)]
    there = [path for path in paths if path.exists()]
    if not there:
        terminal.say(f"There is no {paths[0]}")
        return 0
    for path in there:
        _refuse_other(path)
    _systemctl(user, "disable", "--now", paths[0].name)
    try:
        for path in there:
            path.unlink()
    except PermissionError:
        raise Refused(f"{directory} cannot be written: run it as root") from None
    _systemctl(user, "daemon-reload")
    terminal.say(f"Deleted: {', '.join(map(str, there))}")
    return 0


def _systemctl(user: bool, *words: str) -> None:
    argv = ["systemctl", *(["--user"] if user else []), *words]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Refused("there is no systemctl: this machine has no systemd") from None
    if done.returncode:
        complain(f"{' '.join(argv)} ended with exit code {done.returncode}: {done.stderr}")
        raise Refused("the timer is not active; see above")
