# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories of a checkout, or of the installed collection, where Ansible defines their names.

Below ``plugins/`` of the collection module_utils/ and plugin_utils/ have the names of a checkout.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IS_COLLECTION = ROOT.name == "plugins" and (ROOT.parent / "MANIFEST.json").is_file()

#: The installed Python package and the collection have no ./hostproof.
IS_CHECKOUT = (ROOT / "hostproof").is_file()

#: What is before the name of a module.
COLLECTION = "hostproof.hostproof." if IS_COLLECTION else ""
LIBRARY = ROOT / ("modules" if IS_COLLECTION else "library")
ROLES = (ROOT.parent if IS_COLLECTION else ROOT) / "roles"

#: The directory of reports/, evidence/ and baselines/: they are not in an installation.
WORKPLACE = ROOT if IS_CHECKOUT else Path.cwd()
