"""The target's view of the code: library/ and module_utils/ stand where Ansible puts them."""

from pathlib import Path

import ansible.module_utils
import ansible.modules

ROOT = Path(__file__).resolve().parents[1]
ansible.modules.__path__.append(str(ROOT / "library"))
ansible.module_utils.__path__.append(str(ROOT / "module_utils"))
