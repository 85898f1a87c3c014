#!/usr/bin/python
# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: storage_type
short_description: Ask storage over SNMP what it is, and what follows for Oracle
description:
  - Asks SNMP agents which storage they are (vendor, product, model, version, serial number, role),
    says how sure that is and which OID said so, and whether Hybrid Columnar Compression, OISP and
    Direct NFS are to be had on it.
  - Three outcomes are kept apart. C(recognised) is a product that is known, C(other) an agent that
    answers and is something else, C(no_answer) nobody, with what SNMP lets one tell about why.
  - Without addresses it asks the servers of the host's NFS mounts.
  - Needs net-snmp's command-line tools where it runs (net-snmp-utils; Debian, Ubuntu, snmp).
options:
  addresses:
    description:
      - What to ask. Each a host name or an IP address, with its own port as C(name:port) or
        C([address]:port).
      - Without it, the servers of the NFS mounts that the host has.
    type: list
    elements: str
  port:
    description: The UDP port of every address that names none.
    type: int
    default: 161
  version:
    description: The version of SNMP.
    type: str
    choices: ["1", "2c", "3"]
    default: "2c"
  community:
    description: The community, for version 1 and 2c. V(public) unless it is given.
    type: str
  user:
    description: The user, for version 3.
    type: str
  level:
    description: The security level for version 3. Without it, what the passphrases allow.
    type: str
    choices: [noAuthNoPriv, authNoPriv, authPriv]
  auth_protocol:
    description: How to authenticate.
    type: str
    choices: [MD5, SHA, SHA-224, SHA-256, SHA-384, SHA-512]
  auth_passphrase:
    description: The passphrase to authenticate with.
    type: str
  priv_protocol:
    description: How to encrypt.
    type: str
    choices: [DES, AES, AES-192, AES-256]
  priv_passphrase:
    description: The passphrase to encrypt with.
    type: str
  context:
    description: The context, for version 3.
    type: str
  database_community:
    description: The community that the database asks with. V(public) unless it is given.
    type: str
  timeout:
    description: Seconds to wait for each try.
    type: float
    default: 2
  retries:
    description: Tries after the first.
    type: int
    default: 1
  concurrency:
    description: How many agents to ask at the same time.
    type: int
    default: 8
attributes:
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors
"""

EXAMPLES = r"""
- name: What is this host's NFS standing on
  storage_type:

- name: Ask two filers as an SNMPv3 user
  storage_type:
    addresses: [filer1.example.com, "10.0.0.20:1161"]
    version: "3"
    user: monitor
    auth_protocol: SHA-256
    auth_passphrase: "{{ vault_snmp_auth }}"
    priv_protocol: AES
    priv_passphrase: "{{ vault_snmp_priv }}"
"""

RETURN = r"""
storage:
  description:
    - One dictionary an address, in their order. C(address), C(outcome) (V(recognised), V(other),
      V(no_answer)), C(role) (V(nas), V(san), V(backup), V(tape), V(san_switch), V(server),
      V(not_storage), V(unknown)), C(vendor), C(product), C(model), C(version), C(serial), C(sure)
      (V(certain), V(likely), V(weak)), C(why) (which OID said what), C(reason) of no answer,
      C(features) (C(hcc), C(hcc_why), C(direct_nfs), C(oisp)), C(seconds) that it took.
  returned: success
  type: list
  elements: dict
lines:
  description: The same for people, one line an address.
  returned: success
  type: list
  elements: str
seconds:
  description: How long all of them took together.
  returned: success
  type: float
"""

import re
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.hostproof.controls import storage_type
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.host import LiveHost
from ansible.module_utils.hostproof.probes import snmp, storage_agent

ARGUMENT_SPEC = {
    "addresses": {"type": "list", "elements": "str"},
    "port": {"type": "int", "default": snmp.PORT},
    "version": {"type": "str", "choices": list(snmp.VERSIONS), "default": "2c"},
    "community": {"type": "str", "no_log": True},
    "user": {"type": "str", "no_log": True},
    "level": {"type": "str", "choices": list(snmp.LEVELS)},
    "auth_protocol": {"type": "str", "choices": list(snmp.AUTH_PROTOCOLS)},
    "auth_passphrase": {"type": "str", "no_log": True},
    "priv_protocol": {"type": "str", "choices": list(snmp.PRIV_PROTOCOLS)},
    "priv_passphrase": {"type": "str", "no_log": True},
    "context": {"type": "str"},
    "database_community": {"type": "str", "no_log": True},
    "timeout": {"type": "float", "default": 2},
    "retries": {"type": "int", "default": 1},
    "concurrency": {"type": "int", "default": 8},
}

SECRETS = tuple(name for name, option in ARGUMENT_SPEC.items() if option.get("no_log"))
MASK = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
NOBODY = "nobody was asked: no address is given, and no NFS is mounted here"
WITH_PORT = re.compile(r"(?:\[([^\]]+)\]|([^:]+)):([0-9]+)$")


def credentials_from(params):
    given = {name: params[name] for name in snmp.Credentials._fields if params[name]}
    if params["version"] != "3":
        given.setdefault("community", "public")
    return snmp.credentials_from(given)


def targets_from(params, addresses):
    credentials = credentials_from(params)
    return [target(params, credentials, address) for address in addresses]


def target(params, credentials, text):
    match = WITH_PORT.match(text)
    address, port = text.strip("[]"), params["port"]
    if match is not None:
        address, port = match.group(1) or match.group(2), int(match.group(3))
    if not 0 < port < 65536:
        raise ValueError("{0}: the port must be 1 to 65535".format(text))
    return snmp.Target(
        snmp.check_address(address), port, credentials, params["timeout"], params["retries"]
    )


def check_numbers(params):
    for name, low, high in (("timeout", 0.1, 60), ("retries", 0, 10), ("concurrency", 1, 64)):
        if not low <= params[name] <= high:
            raise ValueError("{0} must be {1} to {2}".format(name, low, high))


def look(host, oracle, one):
    began = time.time()
    record = storage_agent.look_at(host, one, oracle).as_dict()
    return dict(record, seconds=round(time.time() - began, 3))


def line_of(record):
    known = " ".join(str(record[n]) for n in ("vendor", "product", "model", "version") if record[n])
    if record["outcome"] == storage_agent.NO_ANSWER:
        known = "no answer: {0}".format(record["reason"])
    serial = " serial {0}".format(record["serial"]) if record["serial"] else ""
    return "{0}  {1}  {2}{3}  HCC {4}".format(
        record["address"], record["role"], known, serial, record["features"]["hcc"]
    )


def hide_secrets(module):
    """What the result shows of the parameters.

    Ansible blanks secrets out of everything that a module answers, also where they are letters
    of other words: a community "a" would leave nothing readable. The parameters are masked here
    instead; nothing else of the result has a secret in it.
    """
    module.no_log_values.clear()
    return {
        "module_args": {
            name: MASK if name in SECRETS and value else value
            for name, value in module.params.items()
        }
    }


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    invocation = hide_secrets(module)
    params = module.params
    host = LiveHost()
    try:
        check_numbers(params)
        oracle = storage_agent.ORACLE_CREDENTIALS
        if params["database_community"]:
            oracle = snmp.credentials_from(
                {"version": "1", "community": params["database_community"]}
            )
        addresses = params["addresses"]
        if addresses is None:
            addresses = sorted(storage_type.read_exports(host))
        targets = targets_from(params, addresses)
        began = time.time()
        found = storage_agent.in_parallel(
            lambda one: look(host, oracle, one), targets, params["concurrency"]
        )
    except (HostproofError, ValueError) as problem:
        module.fail_json(msg=str(problem), invocation=invocation)
    module.exit_json(
        changed=False,
        storage=found,
        lines=[line_of(record) for record in found] or [NOBODY],
        seconds=round(time.time() - began, 3),
        invocation=invocation,
    )


if __name__ == "__main__":
    main()
