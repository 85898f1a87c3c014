#!/usr/bin/python
# Copyright: Hostproof contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: storage_type
short_description: Identify storage systems over SNMP and their Oracle features
version_added: "0.1.0"
description:
  - Identifies storage by its SNMP agent (vendor, product, model, version, serial number, role),
    with the certainty and the OID. Reports whether Hybrid Columnar Compression, OISP and Direct
    NFS are available.
  - The outcome is C(recognised) for a known product, C(other) for any other agent, or
    C(no_answer) with the reason if SNMP shows it.
  - Without addresses, queries the servers of the host's NFS mounts.
  - Requires the command-line tools of net-snmp (net-snmp-utils; Debian, Ubuntu, snmp).
options:
  addresses:
    description:
      - Agents to query. Each item is a host name or an IP address, optionally with a port
        (C(name:port), C([address]:port)), or a dictionary with C(address) and optionally C(port)
        and C(credentials), a name in O(credentials).
      - Default, the servers of the host's NFS mounts.
    type: list
    elements: raw
  nfs_servers:
    description:
      - Whether to query the servers of the host's NFS mounts. Default, only if O(addresses) is
        empty. An entry in O(addresses) sets port and credentials of its server.
    type: bool
  credentials:
    description:
      - SNMP credentials by name. C(default) applies to addresses without credentials,
        C(database) to the query that the database sends (default, version V(1) and community
        V(public)).
      - Keys of an entry are C(version), C(community), C(user), C(level), C(auth_protocol),
        C(auth_passphrase), C(priv_protocol), C(priv_passphrase) and C(context). They replace
        the options of the same names.
    type: dict
  definitions:
    description:
      - User definitions of storage families. They override the built-in definitions.
      - Each item is a dictionary with C(vendor), C(product), C(role), C(known_by), C(source),
        and optionally C(model), C(version), C(serial) (docs/storage_definitions.schema.json).
    type: list
    elements: dict
  port:
    description: UDP port of addresses without a port.
    type: int
    default: 161
  version:
    description: SNMP version. Default, V(2c).
    type: str
    choices: ["1", "2c", "3"]
  community:
    description: Community for versions 1 and 2c. Default, V(public).
    type: str
  user:
    description: User for version 3.
    type: str
  level:
    description: Security level for version 3. Default, the highest that the passphrases allow.
    type: str
    choices: [noAuthNoPriv, authNoPriv, authPriv]
  auth_protocol:
    description: Authentication protocol for version 3.
    type: str
    choices: [MD5, SHA, SHA-224, SHA-256, SHA-384, SHA-512]
  auth_passphrase:
    description: Authentication passphrase for version 3.
    type: str
  priv_protocol:
    description: Privacy (encryption) protocol for version 3.
    type: str
    choices: [DES, AES, AES-192, AES-256]
  priv_passphrase:
    description: Privacy passphrase for version 3.
    type: str
  context:
    description: Context for version 3.
    type: str
  database_community:
    description: Community of the query that the database sends. Default, V(public).
    type: str
  timeout:
    description: Seconds to wait for the response to each try.
    type: float
    default: 2
  retries:
    description: Number of tries after the first.
    type: int
    default: 1
  concurrency:
    description: Number of agents to query in parallel.
    type: int
    default: 32
attributes:
  check_mode:
    description: Never changes anything.
    support: full
author: Hostproof contributors (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Identify the NFS servers of this host
  hostproof.hostproof.storage_type:

- name: Query two filers as an SNMPv3 user
  hostproof.hostproof.storage_type:
    addresses: [filer1.example.com, "10.0.0.20:1161"]
    version: "3"
    user: monitor
    auth_protocol: SHA-256
    auth_passphrase: "{{ vault_snmp_auth }}"
    priv_protocol: AES
    priv_passphrase: "{{ vault_snmp_priv }}"

- name: Query filers with different credentials
  hostproof.hostproof.storage_type:
    addresses:
      - filer1.example.com
      - {address: array1.example.com, port: 1161, credentials: arrays}
    credentials:
      default: {version: "2c", community: "{{ vault_snmp_community }}"}
      arrays: {version: "3", user: monitor, auth_passphrase: "{{ vault_snmp_auth }}"}
"""

RETURN = r"""
storage:
  description:
    - One dictionary per address, in the order of the addresses.
    - C(outcome) is V(recognised), V(other) or V(no_answer), with C(reason) for no answer.
    - C(role) is V(nas), V(san), V(backup), V(tape), V(san_switch), V(server), V(not_storage) or
      V(unknown).
    - C(address), C(vendor), C(product), C(model), C(version) and C(serial) describe the system.
    - C(sure) is V(certain), V(likely) or V(weak). C(why) lists the OIDs and their values,
      C(contradictions) the values that indicate another product.
    - C(features) has C(hcc), C(hcc_why), C(direct_nfs) and C(oisp). C(seconds) is the duration.
  returned: success
  type: list
  elements: dict
lines:
  description: The same as text, one line per address.
  returned: success
  type: list
  elements: str
seconds:
  description: Duration of all queries in seconds.
  returned: success
  type: float
"""

import time

from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.host_module import AnsibleModule
from ansible.module_utils.hostproof.controls.storage_type import facts as storage_facts
from ansible.module_utils.hostproof.controls.storage_type.snmp import (
    snmp_targets,
    storage_agent,
    storage_definitions,
    storage_match,
)
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.snmp import tools as snmp

#: Options for a single set of credentials without a name.
ONE_WAY = {
    "version": {"type": "str", "choices": list(snmp.VERSIONS)},
    "community": {"type": "str", "no_log": True},
    "user": {"type": "str", "no_log": True},
    "level": {"type": "str", "choices": list(snmp.LEVELS)},
    "auth_protocol": {"type": "str", "choices": list(snmp.AUTH_PROTOCOLS)},
    "auth_passphrase": {"type": "str", "no_log": True},
    "priv_protocol": {"type": "str", "choices": list(snmp.PRIV_PROTOCOLS)},
    "priv_passphrase": {"type": "str", "no_log": True},
    "context": {"type": "str"},
    "database_community": {"type": "str", "no_log": True},
}
ARGUMENT_SPEC = dict(
    ONE_WAY,
    addresses={"type": "list", "elements": "raw"},
    nfs_servers={"type": "bool"},
    definitions={"type": "list", "elements": "dict"},
    credentials={"type": "dict", "no_log": True},
    port={"type": "int", "default": snmp.PORT},
    timeout={"type": "float", "default": 2},
    retries={"type": "int", "default": 1},
    concurrency={"type": "int", "default": 32},
)

SECRETS = tuple(name for name, option in ARGUMENT_SPEC.items() if option.get("no_log"))
MASK = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
NOBODY = "no agent was queried: no address is given, and no NFS is mounted here"
NUMBERS = (("port", 1, 65535), ("timeout", 0.1, 60), ("retries", 0, 10), ("concurrency", 1, 64))


def credentials_from(params):
    """Name to Credentials, also where they came without a name."""
    if params["credentials"] is not None:
        both = [name for name in ONE_WAY if params[name]]
        if both:
            # Not left to Ansible, which would blank a short community out of this sentence too.
            raise ValueError("credentials replaces {0}".format(", ".join(both)))
        return named("credentials", snmp_targets.credentials_by_name, params["credentials"])
    values = {name: params[name] for name in snmp.Credentials._fields if params[name]}
    if params["version"] != "3":
        values.setdefault("community", "public")
    credentials = {snmp_targets.DEFAULT: snmp.credentials_from(values)}
    if params["database_community"]:
        credentials[snmp_targets.DATABASE] = snmp.credentials_from(
            {"version": "1", "community": params["database_community"]}
        )
    return credentials


def named(option, read, *values):
    try:
        return read(*values)
    except ValueError as problem:
        raise ValueError(f"{option} {problem}") from problem


def targets_from(host, params, credentials):
    addresses = named(
        "addresses", snmp_targets.addresses_from, params["addresses"] or [], sorted(credentials)
    )
    if params["nfs_servers"] or (params["nfs_servers"] is None and not addresses):
        listed = {address.address for address in addresses}
        servers = sorted(set(storage_facts.read_exports(host)) - listed)
        addresses = tuple(map(snmp_targets.Address, servers)) + addresses
    how = [params[name] for name in ("port", "timeout", "retries")]
    targets = [snmp_targets.target_of(address, credentials, *how) for address in addresses]
    # No limit in seconds, but for an agent that answers only some of its requests.
    without_end = snmp.Deadline(float("inf"))
    return [
        target._replace(patience=snmp.Patience(float("inf"), without_end)) for target in targets
    ]


def check_numbers(params):
    for name, low, high in NUMBERS:
        if not low <= params[name] <= high:
            raise ValueError(f"{name} must be {low} to {high}")


def catalogue_from(params):
    read = storage_definitions.read_definitions
    return storage_match.catalogue_of(named("definitions", read, params["definitions"] or []))


def identify(host, oracle, catalogue, target):
    began = time.time()
    record = storage_agent.identify_agent(host, target, oracle, catalogue).as_dict()
    return dict(record, seconds=round(time.time() - began, 3))


def line_of(record):
    known = " ".join(str(record[n]) for n in ("vendor", "product", "model", "version") if record[n])
    if record["outcome"] == storage_agent.NO_ANSWER:
        known = "no answer: {0}".format(record["reason"].replace("_", " "))
    serial = " serial {0}".format(record["serial"]) if record["serial"] else ""
    return "{0}  {1}  {2}{3}  HCC {4}".format(
        record["address"],
        record["role"].replace("_", " "),
        known,
        serial,
        record["features"]["hcc"].replace("_", " "),
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
        credentials = credentials_from(params)
        oracle = snmp_targets.oracle_credentials(credentials, storage_agent.ORACLE_CREDENTIALS)
        catalogue = catalogue_from(params)
        targets = targets_from(host, params, credentials)
        began = time.time()
        records = storage_agent.in_parallel(
            lambda target: identify(host, oracle, catalogue, target), targets, params["concurrency"]
        )
    except (HostproofError, ValueError) as problem:
        module.fail_json(msg=str(problem), invocation=invocation)
    module.exit_json(
        changed=False,
        storage=records,
        lines=[line_of(record) for record in records] or [NOBODY],
        seconds=round(time.time() - began, 3),
        invocation=invocation,
    )


if __name__ == "__main__":
    main()
