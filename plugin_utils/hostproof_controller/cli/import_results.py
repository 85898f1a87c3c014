# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof import-results``: results of CVU and ORAchk as a report."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import click
from ansible.module_utils.hostproof.collect.bounded import open_regular

from ..host_names import is_host_name
from ..layout import WORKPLACE
from . import options
from .errors import Refused

#: Bytes of a file.
MOST_BYTES = 64 << 20


@options.command("import-results", exits=options.JUDGED)
@click.option(
    "--from",
    "tool",
    type=click.Choice(("cvu", "orachk")),
    required=True,
    help="the tool that wrote the files",
)
@click.option("--host", metavar="NAME", help="the host of results that name no node")
@click.option("--out", metavar="DIR", type=options.NEW_DIRECTORY, help="directory of the report")
@click.argument("files", nargs=-1, required=True, type=options.FILE, help="files of the tool")
def command(tool: str, host: str | None, out: str | None, files: tuple[str, ...]) -> int:
    """Creates a report of the results of Oracle's CVU (text) or ORAchk (JSON).

    Each result is a finding of the control cvu or orachk. ./hostproof report AUDIT IMPORT --out DIR
    merges it with an audit.
    """
    from ..other_tools import cvu, orachk
    from ..other_tools.foreign_finding import NotUnderstood, as_findings
    from ..report.__main__ import main as render
    from .play import new_name

    if host is not None and not is_host_name(host):
        raise Refused(f"--host: {host!r} is not a host name")
    parse, name = {"cvu": (cvu.parse, "CVU"), "orachk": (orachk.parse, "ORAchk")}[tool]
    lines = []
    for file in files:
        try:
            run = parse(_read(file), host)
        except NotUnderstood as problem:
            raise Refused(f"{file}: {problem}") from None
        source = " ".join(word for word in (f"Oracle {name}", run.version) if word)
        findings = as_findings(tool, source, run.foreign)
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(os.stat(file).st_mtime))
        lines += [_line(at, node, findings[node], len(findings)) for node in findings]
    parent = Path(os.environ.get("HOSTPROOF_REPORTS") or WORKPLACE / "reports")
    directory = Path(out) if out else parent / new_name()
    if directory.exists():
        raise Refused(f"{directory} exists already")
    directory.mkdir(parents=True, mode=0o700)
    text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines)
    (directory / "findings.jsonl").write_text(text, encoding="utf-8")
    return render(["--", str(directory)])


def _read(file: str) -> str:
    try:
        with open_regular(file) as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as problem:
        raise Refused(f"{file}: {problem.strerror or problem}") from None
    if len(content) > MOST_BYTES:
        raise Refused(f"{file}: it has more than {MOST_BYTES} bytes")
    return content.decode("utf-8", "replace")


def _line(at: str, host: str, findings: list[dict[str, Any]], hosts: int) -> dict[str, Any]:
    from ..report.findings import SCHEMA

    if not is_host_name(host):
        raise Refused(f"{host!r} is not a host name")
    return {
        "schema": SCHEMA,
        "run": {"id": f"import-{at}", "started": at, "hosts": hosts},
        "host": host,
        "at": at,
        "recorded_at": at,
        "outcome": "judged",
        "message": None,
        "findings": findings,
        "evidence": None,
    }
