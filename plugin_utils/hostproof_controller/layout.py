# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories of a checkout, or of the installed collection, where Ansible defines their names.

A collection that was built has them below ``plugins/``, where module_utils/ and plugin_utils/ have
the names of a checkout. One that was installed from Git has those of a checkout, and links.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_IS_BUILT = ROOT.name == "plugins"
_COLLECTION = ROOT.parent if _IS_BUILT else ROOT
IS_COLLECTION = (_COLLECTION / "MANIFEST.json").is_file()

#: The installed Python package and the collection have no ./hostproof.
IS_CHECKOUT = (ROOT / "hostproof").is_file()

#: What is before the name of a module.
COLLECTION = "hostproof.hostproof." if IS_COLLECTION else ""
LIBRARY = ROOT / ("modules" if _IS_BUILT else "library")
ROLES = _COLLECTION / "roles"

#: The directory of reports/, evidence/ and baselines/: they are not in an installation.
WORKPLACE = ROOT if IS_CHECKOUT else Path.cwd()
