# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugin of each module that is sent as one payload and needs no other action.

Their names are links to this file. The task names the module.
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

host_action.prepare()


class ActionModule(host_action.PayloadAction):
    pass
