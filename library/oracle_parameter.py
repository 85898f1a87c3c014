#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: oracle_parameter
short_description: Read or set initialization parameters of a local Oracle instance
version_added: "0.1.0"
description:
  - Queries the instance with C(sqlplus / as sysdba) as its owner. No password or listener is
    required. The instance audits each login.
  - Can also read a text parameter file (O(pfile)) or a server parameter file (O(spfile)) without
    the instance. Only the instance writes an spfile.
  - Each change is recorded in the change journal and read back.
    M(hostproof.hostproof.revert_control) restores it with
    the control C(oracle_parameter). No instance is ever restarted.
options:
  sid:
    description: SID of the instance (C(ORACLE_SID)).
    type: str
    required: true
  oracle_home:
    description: Oracle home of the instance. Required to query the instance.
    type: path
  owner:
    description: Account that runs sqlplus. Default, the owner of sqlplus in O(oracle_home).
    type: str
  names:
    description: Parameters to read.
    type: list
    elements: str
    default: []
  name:
    description:
      - Parameter to set or to remove. Required with O(state=present) and O(state=absent).
    type: str
  value:
    description: Requested value. Required with O(state=present).
    type: str
  state:
    description:
      - V(read) only reads.
      - V(present) sets O(name) to O(value) for O(entry_sid).
      - V(absent) removes the entry of O(name) for O(entry_sid) from the spfile.
    type: str
    choices: [read, present, absent]
    default: read
  scope:
    description:
      - Scope of the change. Static parameters and O(state=absent) require V(spfile).
    type: str
    choices: [spfile, memory, both]
    default: spfile
  entry_sid:
    description: SID of the entry. V(*) applies to every instance of the database.
    type: str
    default: "*"
  pfile:
    description: Read this text parameter file instead of the instance.
    type: path
  spfile:
    description: Read this server parameter file instead of the instance.
    type: path
  timeout:
    description: Login timeout in seconds. Logins are slow with pre_page_sga on old releases.
    type: int
    default: 60
attributes:
  check_mode:
    description: Reads the values. Reports what it would set.
    support: full
  diff_mode:
    description: Shows the entries before and after.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Read the running values of ORCL and the values of its next start
  hostproof.hostproof.oracle_parameter:
    sid: ORCL
    oracle_home: /u01/app/oracle/product/19.0.0/dbhome_1
    names: [pre_page_sga, use_large_pages]
  register: parameters

- name: Require huge pages at the next start
  hostproof.hostproof.oracle_parameter:
    sid: ORCL
    oracle_home: /u01/app/oracle/product/19.0.0/dbhome_1
    state: present
    name: use_large_pages
    value: ONLY

- name: Read the spfile of an instance that is down
  hostproof.hostproof.oracle_parameter:
    sid: ORCL
    spfile: /u01/app/oracle/product/19.0.0/dbhome_1/dbs/spfileORCL.ora
    names: [pre_page_sga]
"""

RETURN = r"""
parameters:
  description:
    - One dictionary for each name. C(running) is the running value (null for a file), C(next) the
      value of the next start (null for the default). C(entries) lists the entries of the file,
      each with C(sid), C(value) and C(line).
    - C(pending_restart) is null if no stored value determines the next start.
  returned: always
  type: dict
version:
  description: Release of the instance, null for a file.
  returned: always
  type: str
parameter_file:
  description: File with the values of the next start, null if the instance uses a text file.
  returned: always
  type: str
"""

from ansible.module_utils.hostproof.apply import difference, parameter_change
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.parsers.oracle import pfile, spfile
from ansible.module_utils.hostproof.parsers.size import parse_size
from ansible.module_utils.hostproof.probes.oracle import oracle_parameters, sqlplus

ARGUMENT_SPEC = {
    "sid": {"type": "str", "required": True},
    "oracle_home": {"type": "path"},
    "owner": {"type": "str"},
    "names": {"type": "list", "elements": "str", "default": []},
    "name": {"type": "str"},
    "value": {"type": "str"},
    "state": {"type": "str", "choices": ["read", "present", "absent"], "default": "read"},
    "scope": {"type": "str", "choices": list(sqlplus.SCOPES), "default": "spfile"},
    "entry_sid": {"type": "str", "default": "*"},
    "pfile": {"type": "path"},
    "spfile": {"type": "path"},
    "timeout": {"type": "int", "default": 60},
}
RULES = {
    "mutually_exclusive": [("pfile", "spfile", "oracle_home")],
    "required_one_of": [("pfile", "spfile", "oracle_home")],
    "required_if": [
        ("state", "present", ("name", "value", "oracle_home")),
        ("state", "absent", ("name", "oracle_home")),
    ],
}

#: Name of this module's changes in the journal.
JOURNAL = "oracle_parameter"


def names_of(params):
    names = [name.lower() for name in params["names"]]
    if params["name"] and params["name"].lower() not in names:
        names.append(params["name"].lower())
    return tuple(names)


def read_file(host, params):
    """The entries of a file; the running values are unknown."""
    path = params["pfile"] or params["spfile"]
    parse = pfile.parse if params["pfile"] else spfile.parse
    entries = parse(host.read_text(path))
    parameters = {name: parameter(name, params["sid"], entries, None) for name in names_of(params)}
    return {"parameters": parameters, "version": None, "parameter_file": path}


def parameter(name, sid, entries, running):
    effective = pfile.effective(entries, name, sid)
    coming = None if effective is None else effective.value
    pending = None
    if running is not None and coming is not None:
        pending = running.upper() != coming.upper()
    own = [entry for entry in entries if entry.name == name]
    return {
        "running": running,
        "next": coming,
        "pending_restart": pending,
        "entries": [{"sid": entry.sid, "value": entry.value, "line": entry.line} for entry in own],
    }


def target_of(host, params):
    home = params["oracle_home"].rstrip("/")
    owner = params["owner"] or oracle_parameters.owner_of(host, home)
    return sqlplus.Target(params["sid"], home, owner)


def ask(host, target, params):
    answer = oracle_parameters.ask(host, target, names_of(params), float(params["timeout"]))
    unknown = [name for name in names_of(params) if name not in answer.running]
    if unknown:
        raise HostproofError("{0} has no parameter {1}".format(target.sid, ", ".join(unknown)))
    return answer


def result_of(target, answer, names):
    parameters = {
        name: parameter(name, target.sid, answer.stored, answer.running[name]) for name in names
    }
    version = ".".join(str(number) for number in answer.version)
    return {"parameters": parameters, "version": version, "parameter_file": answer.spfile}


def change_of(target, answer, params):
    """The required change, or None if the instance has it already."""
    if params["state"] == "absent" and params["scope"] != "spfile":
        raise ValueError("an entry can only be removed from the spfile: scope must be spfile")
    name, sid = params["name"].lower(), params["entry_sid"]
    value = params["value"] if params["state"] == "present" else None
    stored = {(entry.sid, entry.name): entry.value for entry in answer.stored}
    now = {"spfile": stored.get((sid, name)), "memory": answer.running[name]}
    scopes = ("spfile", "memory") if params["scope"] == "both" else (params["scope"],)
    if all(same(now[scope], value) for scope in scopes):
        return None
    return parameter_change.setting_change(
        target, name, sid, params["scope"], now, value, float(params["timeout"])
    )


def same(value, other):
    """Whether two values mean the same: truth values in any case, sizes in any unit."""
    if value is None or other is None:
        return value is other
    try:
        return parse_size(value) == parse_size(other)
    except ValueError:
        return value.upper() == other.upper()


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True, **RULES)
    params = module.params
    host = LiveHost()
    diff = []
    try:
        if params["oracle_home"] is None:
            module.exit_json(changed=False, **read_file(host, params))
        target = target_of(host, params)
        answer = ask(host, target, params)
        change = None if params["state"] == "read" else change_of(target, answer, params)
        if change is not None:
            plan = Plan([change], [], [], [])
            diff = difference.of_plan(plan)
            if not module.check_mode:
                writer = Writer()
                apply.apply_plan(plan, JOURNAL, Journal(writer), writer)
                answer = ask(LiveHost(), target, params)
        result = result_of(target, answer, names_of(params))
    except (HostproofError, OSError, ValueError) as problem:
        module.fail_json(msg=f"oracle_parameter: {problem}", diff=diff)
    module.exit_json(changed=change is not None, diff=diff, **result)


if __name__ == "__main__":
    main()
