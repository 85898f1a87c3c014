# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: from_oracle_net
short_description: The parameters of an Oracle Net file as data
description:
  - Takes the text of a C(listener.ora), C(sqlnet.ora), C(tnsnames.ora), C(cman.ora) or C(ldap.ora).
  - Nested parentheses, lines that go on, comments anywhere, quotes, escaped characters, CRLF, tabs
    and names in any case are understood. What is not such a file is an error with line, column and
    what was expected there.
  - IFILE is not followed, for the file is not on the controller. RV(_value) has the paths.
positional: _input
options:
  _input:
    description: The text of the file.
    type: str
    required: true
  strict:
    description:
      - Whether a line may begin in the first column while a parenthesis is open. The documentation
        of Oracle forbids it; give V(false) to read such files all the same.
    type: bool
    default: true
author: Hostproof contributors
"""

EXAMPLES = r"""
- name: Read listener.ora
  ansible.builtin.slurp:
    src: /u01/app/oracle/product/19.0.0/dbhome_1/network/admin/listener.ora
  register: listener_ora

- name: Tell the rate of each endpoint of LISTENER
  ansible.builtin.debug:
    msg: >-
      {{ listener_ora.content | b64decode | from_oracle_net
         | community.general.json_query("addresses[?parameter=='LISTENER'].[PORT, RATE_LIMIT]") }}

- name: Tell which naming methods a client uses
  ansible.builtin.debug:
    msg: "{{ (lookup('file', 'sqlnet.ora') | from_oracle_net).by_name['NAMES.DIRECTORY_PATH'] }}"
"""

RETURN = r"""
_value:
  description:
    - RV(_value.parameters) is the tree in the order of the file. Each node has C(name) (capitals),
      C(line), and one of C(value), C(list) (several values) and C(pairs) (nodes inside).
    - RV(_value.by_name) holds the same by name. Every name leads to a list, since it may stand more
      than once.
    - RV(_value.addresses) holds every C(ADDRESS), however deep, with its C(parameter), its C(line)
      and what stands in it.
    - RV(_value.repeated) has the names of parameters that stand more than once, RV(_value.included)
      the paths of C(IFILE).
  type: dict
"""

from pathlib import Path
from typing import Any

import ansible.module_utils
from ansible.errors import AnsibleFilterError

# Ansible takes the project's module_utils to hosts, but does not import from there by itself.
_UTILS = str(Path(__file__).resolve().parents[1] / "module_utils")
if _UTILS not in ansible.module_utils.__path__:
    ansible.module_utils.__path__.append(_UTILS)


def from_oracle_net(text: Any, strict: bool = True) -> dict[str, Any]:
    # Every worker that templates anything loads all filters: only who calls this one pays for it.
    from ansible.module_utils.hostproof.errors import ParseError
    from ansible.module_utils.hostproof.parsers.oracle import oracle_net

    if not isinstance(text, str):
        raise AnsibleFilterError(f"from_oracle_net needs a text, not {type(text).__name__}")
    try:
        return oracle_net.as_data(oracle_net.parse(text, strict=bool(strict)))
    except ParseError as problem:
        raise AnsibleFilterError(f"from_oracle_net: {problem}") from problem


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"from_oracle_net": from_oracle_net}
