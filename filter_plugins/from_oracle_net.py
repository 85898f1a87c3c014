# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: from_oracle_net
short_description: The parameters of an Oracle Net file as data
version_added: "0.1.0"
description:
  - Parses the text of a C(listener.ora), C(sqlnet.ora), C(tnsnames.ora), C(cman.ora) or
    C(ldap.ora).
  - Supports nested parentheses, continuation lines, comments anywhere, quotes, escaped characters,
    CRLF, tabs and names in any case. A syntax error is reported with line, column and the expected
    characters.
  - Does not read files that IFILE includes, because they are not on the controller.
    RV(_value.included) contains their paths.
positional: _input
options:
  _input:
    description: The text of the file.
    type: str
    required: true
author: Hostproof contributors
"""

EXAMPLES = r"""
- name: Read listener.ora
  ansible.builtin.slurp:
    src: /u01/app/oracle/product/19.0.0/dbhome_1/network/admin/listener.ora
  register: listener_ora

- name: Show the rate limit of each endpoint of LISTENER
  ansible.builtin.debug:
    msg: >-
      {{ (listener_ora.content | b64decode | hostproof.hostproof.from_oracle_net).addresses
         | selectattr('RATE_LIMIT', 'defined')
         | items2dict(key_name='PORT', value_name='RATE_LIMIT') }}

- name: Show the naming methods of a client
  ansible.builtin.debug:
    msg: "{{ (lookup('ansible.builtin.file', 'sqlnet.ora')
      | hostproof.hostproof.from_oracle_net).by_name['NAMES.DIRECTORY_PATH'] }}"
"""

RETURN = r"""
_value:
  description: The parameters of the text.
  type: dict
  contains:
    parameters:
      description: The tree in the order of the file. Each node has C(name) (capitals), C(line), and
        one of C(value), C(list) (several values) and C(pairs) (nodes inside).
      type: list
      elements: dict
    by_name:
      description: The same parameters by name. Each value is a list, because a name can occur more
        than once.
      type: dict
    addresses:
      description: Every C(ADDRESS) at any depth, with its C(parameter), its C(line) and its
        content. Addresses without a port, such as those of IPC, have no C(PORT).
      type: list
      elements: dict
    repeated:
      description: The names of parameters that occur more than once.
      type: list
      elements: str
    included:
      description: The paths of C(IFILE).
      type: list
      elements: str
"""

from pathlib import Path
from typing import Any

import ansible.module_utils
from ansible.errors import AnsibleFilterError

# Ansible copies the project's module_utils to hosts, but does not import them on the controller.
_UTILS = str(Path(__file__).resolve().parents[1] / "module_utils")
if _UTILS not in ansible.module_utils.__path__:
    ansible.module_utils.__path__.append(_UTILS)


def from_oracle_net(text: Any) -> dict[str, Any]:
    # Every worker that renders a template loads all filters, so the parser is imported on use.
    from ansible.module_utils.hostproof.errors import ParseError
    from ansible.module_utils.hostproof.parsers.oracle import oracle_net, oracle_net_data

    if not isinstance(text, str):
        raise AnsibleFilterError(f"from_oracle_net needs a text, not {type(text).__name__}")
    try:
        return oracle_net_data.as_data(oracle_net.parse(text))
    except ParseError as problem:
        raise AnsibleFilterError(f"from_oracle_net: {problem}") from problem


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"from_oracle_net": from_oracle_net}
