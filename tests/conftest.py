"""The code stands where Ansible puts it: what travels, and what stays on the controller."""

import sys
from pathlib import Path

import ansible.module_utils
import ansible.modules

ROOT = Path(__file__).resolve().parents[1]
ansible.modules.__path__.append(str(ROOT / "library"))
ansible.module_utils.__path__.append(str(ROOT / "module_utils"))
sys.path.append(str(ROOT / "plugin_utils"))
