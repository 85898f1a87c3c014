# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that query or change a local instance by ``sqlplus / as sysdba`` as its owner.

Only what the operating system vouches for is used: no password, no listener. The statements go in
by standard input, never by argv. An instance audits each such login (audit_file_dest). Source:
SQL*Plus User's Guide and Reference, Starting SQL*Plus, SET, WHENEVER; Oracle Database SQL
Language Reference, ALTER SYSTEM.
"""

import re
from typing import Iterable, List, NamedTuple, Optional, Pattern, Tuple

from ...collect.command import Command
from ...errors import kind_of
from ...parsers.oracle.pfile import ALL
from ...parsers.oracle.sqlplus_rows import BEGIN, END

PROGRAM = "bin/sqlplus"

#: A parameter's entries in the spfile: SID or *, and the value; None where there is none.
Entries = List[Tuple[str, Optional[str]]]

#: In a state: the parameter has no such entry.
UNSET = "unset"

SCOPES = ("spfile", "memory", "both")

#: sqlplus has no other way to print a row as it is: no headings, no wrapping, no substitution.
_SETTINGS = "".join(
    line + "\n"
    for line in (
        "set echo off feedback off heading off verify off pagesize 0 linesize 32767 trimout on",
        "set tab off wrap on define off escape off serveroutput off termout on",
        "whenever oserror exit failure rollback",
        "whenever sqlerror exit failure rollback",
    )
)

_ROW = "'|{0}|'{1} || '|'"
_FIELD = " || nvl(replace(replace(replace({0}, '\\', '\\s'), '|', '\\p'), chr(10), '\\n'), '\\0')"

#: Truth values compare in whatever case they were written.
_VALUE = "case when upper(value) in ('TRUE', 'FALSE') then upper(value) else value end"
_TRUTH = ("TRUE", "FALSE")

_PARAMETER = re.compile(r"^[a-z_][a-z0-9_$#]*\Z")
_SID = re.compile(r"^(\*|[A-Za-z0-9_$#+-]+)\Z")


class Target(NamedTuple):
    """A local instance and the account that owns it."""

    sid: str
    home: str
    user: str


def command(
    target: Target, purpose: str, script: str, expected: str = "", timeout: float = 60.0
) -> Command:
    """Run SQL*Plus commands; any error ends it with a code other than 0.

    -L makes only one login attempt, -R 3 prevents that start-up scripts of the account run others.
    """
    return Command(
        name=f"sqlplus {target.sid}: {purpose}",
        argv=(f"{target.home}/{PROGRAM}", "-S", "-L", "-R", "3", "/ as sysdba"),
        user=target.user,
        environment={
            "ORACLE_HOME": target.home,
            "ORACLE_SID": target.sid,
            "LD_LIBRARY_PATH": target.home + "/lib",
            "NLS_LANG": "AMERICAN_AMERICA.AL32UTF8",
        },
        stdin=_SETTINGS + script + "exit success\n",
        expected=expected,
        timeout=timeout,
    )


def query(target: Target, names: Iterable[str], timeout: float) -> Command:
    """Ask for the release, the parameters in force, and every entry of the spfile.

    Rows (parsers/oracle/sqlplus_rows.py): ``instance`` name, release, status; ``full`` the release
    with its update; ``running`` name, value; ``stored`` SID, name, value; ``trace`` the directory
    of the alert log."""
    listed = ", ".join(f"'{_checked(_PARAMETER, name)}'" for name in sorted(set(names)))
    selects = [
        select("instance", ("instance_name", "version", "status"), "v$instance"),
        # Before 18c v$instance has no version_full: the name is then that of the outer query.
        select(
            "full",
            ("(select version_full from v$instance)",),
            "(select cast(null as varchar2(17)) version_full from dual)",
        ),
        select(
            "running",
            ("name", "value"),
            f"v$parameter where name in ({listed}) order by name",
        ),
        select(
            "stored",
            ("sid", "name", "value"),
            f"v$spparameter where isspecified = 'TRUE' and name in ({listed}) order by name, sid, "
            "ordinal",
        ),
        select("trace", ("value",), "v$diag_info where name = 'Diag Trace'"),
    ]
    return rows(target, "release and parameters", selects, timeout)


def rows(target: Target, purpose: str, selects: Iterable[str], timeout: float) -> Command:
    """Print the rows of these statements (``select``) as parsers/oracle/sqlplus_rows.py reads."""
    script = "prompt {0}\n{1}prompt {2}\n".format(BEGIN, "".join(selects), END)
    return command(target, purpose, script, timeout=timeout)


def select(kind: str, columns: Tuple[str, ...], rest: str) -> str:
    """A statement that prints each row of a view as one of that kind."""
    fields = " || '|'".join(_FIELD.format(column) for column in columns)
    return f"select {_ROW.format(kind, fields)}\n  from {rest};\n"


class Setting(NamedTuple):
    """One statement on a parameter: ``value`` None takes the entry out."""

    sid: str
    value: Optional[str]


def state(entries: Entries) -> str:
    """The text that parameter_command finds if the parameter has these (SID, value) entries."""
    shown = []
    for sid, value in entries:
        text = UNSET if value is None else value
        shown.append(f"{sid}={text.upper() if text.upper() in _TRUTH else text}")
    return " ".join(shown)


def parameter_command(
    target: Target, name: str, sids: Iterable[str], memory: bool = False, timeout: float = 60.0
) -> Command:
    """Tell a parameter's entries for the SIDs in the spfile, and what runs if ``memory``."""
    fields = [
        "'{0}=' || nvl(max(case when sid = '{0}' then {2} end), '{1}')".format(
            _checked(_SID, sid), UNSET, _VALUE
        )
        for sid in sids
    ]
    source = f"v$spparameter where isspecified = 'TRUE' and name = '{_checked(_PARAMETER, name)}'"
    statements = []
    if fields:
        statements.append("select {0} from {1}".format(" || ' ' || ".join(fields), source))
    if memory:
        running = "select 'running=' || nvl(max({2}), '{0}') from v$parameter where name = '{1}'"
        statements.append(running.format(UNSET, name, _VALUE))
    joined = " || ' ' || ".join(f"({statement})" for statement in statements)
    script = f"select 'hostproof-state ' || {joined}\n  from dual;\n"
    return command(target, "check " + name, script, r"^hostproof-state (.*\S)\s*$", timeout)


def alter(
    target: Target,
    name: str,
    settings: Iterable[Setting],
    scope: str = "spfile",
    timeout: float = 60.0,
) -> Command:
    """Set a parameter, or remove entries. A missing entry is not an error (ORA-32010): an
    interrupted change must be undone too."""
    if scope not in SCOPES:
        raise ValueError("scope is {0}, not {1!r}".format(", ".join(SCOPES), scope))
    lines = []
    for setting in settings:
        where = f"scope={scope} sid='{_checked(_SID, setting.sid)}'"
        if setting.value is None:
            reset = f"alter system reset {_checked(_PARAMETER, name)} {where}"
            lines.append(
                "begin execute immediate '{0}';\nexception when others then "
                "if sqlcode != -32010 then raise; end if;\nend;\n/".format(reset.replace("'", "''"))
            )
        else:
            lines.append(
                f"alter system set {_checked(_PARAMETER, name)}={quoted(setting.value)} {where};"
            )
    script = "".join(line + "\n" for line in lines)
    return command(target, "set " + name, script, timeout=timeout)


def quoted(value: str) -> str:
    """A value as ALTER SYSTEM takes it; ValueError for what would end the statement."""
    if re.match(r"^[A-Za-z0-9_]+\Z", value):
        return value
    if re.search(r"[\0-\x1f]", value):
        raise ValueError("a value of a parameter has no line ends or control characters")
    return "'" + value.replace("'", "''") + "'"


def entries_of(stored: Iterable[Tuple[str, str, str]], name: str, sid: str) -> Entries:
    """A parameter's entries for all (*) and for one SID, out of (SID, name, value)."""
    values = {owner: value for owner, key, value in stored if key == name}
    return [(ALL, values.get(ALL)), (sid, values.get(sid))]


def _checked(pattern: Pattern[str], text: str) -> str:
    """What goes into a statement as it is."""
    if not pattern.match(text):
        raise ValueError(f"{kind_of(text)} is not a name that can be used in a statement")
    return text
