# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugin of each module that Ansible sends, with a bounded and validated answer.

Modules that need no other action share this file: their names are links to it. The task names the
module.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

from hostproof_controller.remote import host_action


class ActionModule(host_action.ModuleAction):
    pass
