# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stays on the controller: what sends and checks, the report, the comparisons and the gate.

It may import what travels to hosts (``ansible.module_utils.hostproof``), never the other way. In a
checkout nothing but this tells Python where that is.
"""

from pathlib import Path

import ansible.module_utils

_TRAVELS = str(Path(__file__).resolve().parents[2] / "module_utils")
if _TRAVELS not in ansible.module_utils.__path__:
    ansible.module_utils.__path__.append(_TRAVELS)
