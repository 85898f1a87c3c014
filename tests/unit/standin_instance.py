"""An Oracle home of stand-ins in a folder: sqlplus and the instance behind it, for unit tests."""

import getpass
import json
import shutil
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof.probes.oracle.sqlplus import Target

STANDIN = Path(__file__).resolve().parents[1] / "standins/sqlplus"

#: What a 19c instance runs with where nothing is set.
DEFAULTS = {
    "pre_page_sga": "TRUE",
    "use_large_pages": "TRUE",
    "lock_sga": "FALSE",
    "memory_target": "0",
    "memory_max_target": "0",
    "sga_max_size": "17179869184",
    "sga_target": "17179869184",
}


class StandIn:
    """``home`` is its ORACLE_HOME; ``state`` what the stand-in keeps of the instance."""

    def __init__(self, home: Path, sid: str = "ORCL", version: str = "19.0.0.0.0") -> None:
        self.home, self.sid = home, sid
        for folder in ("bin", "dbs", "standin"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        # A copy: what a link leads to is not run.
        shutil.copy(STANDIN, home / "bin/sqlplus")
        self.spfile = home / f"dbs/spfile{sid}.ora"
        self.path = home / f"standin/{sid}.json"
        defaults = DEFAULTS | ({} if version >= "12" else {"pre_page_sga": "FALSE"})
        self.write(
            version=version,
            status="OPEN",
            running={**defaults, "spfile": str(self.spfile)},
            defaults=defaults,
            spfile=str(self.spfile),
            stored=[],
            trace=str(home / "trace"),
        )

    def read(self) -> dict[str, Any]:
        return dict(json.loads(self.path.read_text()))

    def write(self, **changes: Any) -> None:
        state = self.read() if self.path.exists() else {}
        self.path.write_text(json.dumps(state | changes))

    def store(self, *entries: tuple[str, str, str]) -> None:
        self.write(stored=[list(entry) for entry in entries])

    def running(self, **values: str) -> None:
        self.write(running=self.read()["running"] | values)

    @property
    def target(self) -> Target:
        return Target(self.sid, str(self.home), getpass.getuser())
