# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor of the benchmark: a module that does nothing."""

from ansible.module_utils.basic import AnsibleModule


def main() -> None:
    AnsibleModule(argument_spec={}, supports_check_mode=True).exit_json(changed=False)


if __name__ == "__main__":
    main()
