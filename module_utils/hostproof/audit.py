# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and judges any number of controls on one host: what audit, verify and record share."""

import base64
import json
from typing import Any, Dict, List, Optional

from .controls import CONTROLS
from .errors import PolicyError
from .finding import Finding
from .host import Host


def policies_from(controls, secrets=None):
    # type: (Dict[str, Any], Optional[Dict[str, str]]) -> Dict[str, Any]
    """{control: its Policy} from {control: plain values}; PolicyError says what is wrong where.

    ``secrets`` are the values that must not be shown, packed by control (``unpack``).
    """
    if not controls:
        raise PolicyError(
            "no control is named: name at least one of " + ", ".join(sorted(CONTROLS))
        )
    for name, values in controls.items():
        if name not in CONTROLS:
            raise PolicyError(
                "there is no control {0}: there are {1}".format(name, ", ".join(sorted(CONTROLS)))
            )
        if not isinstance(values, dict):
            raise PolicyError("the policy of {0} must be a dictionary".format(name))
    return {
        name: CONTROLS[name].policy_from(dict(values, **unpack(name, (secrets or {}).get(name))))
        for name, values in controls.items()
    }


def unpack(name, packed):
    # type: (str, Optional[str]) -> Dict[str, Any]
    """The secret values of a control's policy from base64 of JSON.

    They travel as one long text: Ansible blanks a secret out of whatever a module answers, and a
    short one, such as the community "ro", would blank letters out of every word.
    """
    if not packed:
        return {}
    try:
        values = json.loads(base64.b64decode(packed, validate=True).decode("utf-8"))
    except ValueError:
        raise PolicyError("the secrets of {0} are not base64 of JSON".format(name)) from None
    if not isinstance(values, dict):
        raise PolicyError("the secrets of {0} must be a dictionary".format(name))
    return values


def judge_host(host, controls, secrets=None):
    # type: (Host, Dict[str, Any], Optional[Dict[str, str]]) -> List[Finding]
    """Every finding of every control; each control reads the host once."""
    policies = policies_from(controls, secrets)
    findings = []  # type: List[Finding]
    for name in sorted(policies):
        control = CONTROLS[name]
        findings.extend(control.judge(control.read(host, policies[name]), policies[name]))
    return [_printable(finding) for finding in findings]


def read_host(host, controls, secrets=None):
    # type: (Host, Dict[str, Any], Optional[Dict[str, str]]) -> None
    """Read what the controls would judge; the answers are the host's evidence."""
    policies = policies_from(controls, secrets)
    for name in sorted(policies):
        CONTROLS[name].read(host, policies[name])


def _printable(finding):
    # type: (Finding) -> Finding
    """Bytes of the host that are no UTF-8 cannot go through JSON as they are."""
    return Finding(*(_clean(value) for value in finding))


def _clean(value):
    # type: (Any) -> Any
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, tuple):
        return tuple(_clean(item) for item in value)
    return value
