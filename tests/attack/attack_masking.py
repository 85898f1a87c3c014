"""Files of a hostile host with a password in them, written in every way that anybody writes one:
it must not be in the evidence that leaves the host, nor in a difference that is shown."""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

from ansible.module_utils.hostproof import evidence  # noqa: E402
from ansible.module_utils.hostproof.difference import as_diff  # noqa: E402
from masking_cases import HEAD, NET, OTHERS, PATH, SCRIPTS, SETTINGS  # noqa: E402

FILES = [(PATH, head + text) for head in ("", HEAD) for text in NET] + OTHERS
FILES += [("/etc/rc.local", text) for text in SCRIPTS]
FILES += [("/u01/home/network/admin/sqlnet.ora", text) for text in SETTINGS]


def leaks(path: str, text: str) -> bool:
    reading = {"kind": "file", "text": text}
    shown = {"kind": "command", "argv": ["cat", path], "stdout": text, "stderr": text}
    packed = evidence.encode({f"file:{path}": reading, f"command:cat {path}": shown})
    told = f"{evidence.decode(packed)}{as_diff(path, text, text + 'x')}"
    return "tiger" in told.lower()


def main() -> int:
    wins = sum(leaks(*one) for one in FILES)
    print(f"a password leaves the host: {len(FILES)} tries, {wins} wins", flush=True)
    return 1 if wins else 0


if __name__ == "__main__":
    sys.exit(main())
