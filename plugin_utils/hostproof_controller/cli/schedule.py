# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof schedule``: audit at fixed times with a systemd timer."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import click

from . import options, terminal
from .environment import ROOT, environment_folder
from .errors import Refused, complain

_HEAD = "# Written by ./hostproof schedule. ./hostproof schedule --remove deletes it.\n"
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
WorkingDirectory={directory}
ExecStart={audit}
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
    after = [_call("prune", "--keep", str(keep))] if keep else []
    if webhook_file or mail:
        after.append(_call("notify", *_notify(webhook_file, webhook_format, mail)))
    service = SERVICE.format(
        head=_HEAD,
        directory=_working_directory(),
        audit=_call("audit", *audit),
        ran=_RAN,
        after="".join(f"ExecStartPost={line}\n" for line in after),
    )
    timer = TIMER.format(head=_HEAD, calendar=_calendar(on_calendar), delay=delay)
    units = {f"{name}.service": service, f"{name}.timer": timer}
    if prints:
        print("\n".join(f"# {directory / unit}\n{text}" for unit, text in units.items()), end="")
        return 0
    if not user:
        _refuse_foreign_code()
    _write(directory, units)
    _systemctl(user, "daemon-reload")
    _systemctl(user, "enable", "--now", f"{name}.timer")
    terminal.say(f"Written: {', '.join(str(directory / unit) for unit in units)}")
    return 0


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
    if not directory.isprintable():
        raise Refused(f"{directory!r} cannot be written into a unit: it has a control character")
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


def _refuse_foreign_code() -> None:
    """Root must not run, every night, what another account can change."""
    program = Path(_program())
    for place in (program, *program.parents, ROOT / "plugin_utils", Path.cwd()):
        state = place.stat()
        is_sticky = state.st_mode & stat.S_ISVTX
        if state.st_uid != 0 or (state.st_mode & stat.S_IWOTH and not is_sticky):
            raise Refused(
                f"another account can change {place}, and root would run it: use --user, or "
                "install Hostproof as root"
            )


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
    paths = [directory / f"{name}.timer", directory / f"{name}.service"]
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
