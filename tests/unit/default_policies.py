"""A control's policy as its role's defaults make it, which is what the modules take."""

import copy
from typing import Any

from hostproof_controller import policies


def default_policy(control: str, *, secrets: bool = False) -> dict[str, Any]:
    """Values by field; those that must not be shown travel another way, and are left out here."""
    role = policies.controls()[control]
    return {
        field: copy.deepcopy(role.defaults[field])
        for field in role.fields
        if secrets or not role.options[field].get("no_log")
    }


def changed_policy(control: str, /, **changes: Any) -> dict[str, Any]:
    """The policy of the role's defaults, as the modules take it, with some values changed."""
    defaults = default_policy(control)
    unknown = set(changes) - set(policies.controls()[control].fields)
    assert not unknown, f"the role has no {unknown}"
    return defaults | changes
