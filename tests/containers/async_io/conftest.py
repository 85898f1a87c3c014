"""The container as its story's tests see it."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from machines.box import IDENTITY, Box  # noqa: E402


class Writers(Box):
    """The container with the processes that write for an instance."""

    def write(self, flags: str, *contexts: int) -> None:
        """DBWR and LGWR of ORCL, with their files open by these flags."""
        events = "".join(f" --context {number}" for number in contexts)
        for process, name in (("dbw0", "users01.dbf"), ("lgwr", "redo01.log")):
            hold = f"--process {process} --hold {flags}:/u02/oradata/{name}{events}"
            self.start_stand_in("ORCL", hold, login=IDENTITY)

    def stop_writers(self) -> None:
        name = "^ora_(dbw0|lgwr)_ORCL "
        self.run(f"pkill -f '{name}'; while pgrep -f '{name}' >/dev/null; do sleep 0.2; done")


@pytest.fixture(scope="session")
def box() -> Writers:
    return Writers("async_io")
