"""The lab's machine with a way of known length (tests/delays/way.py), and the gate run on it."""

import json
import re
import statistics
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import wrapper
import yaml
from lab_machine import LabMachine
from machines import vm
from machines.machine import TOOLS, Finding
from machines.needs import ROOT

#: Where Hostproof's drop-in of HugePages appears.
DROP_IN = "/etc/sysctl.d/99-zz-hostproof-hugepages.conf"

#: What somebody left on the host: as long as that file is there, all that the host sends to the
#: far side leaves it later. The units live in /run: what is under /etc is compared.
UNITS = {
    "old-tuning.path": f"[Path]\nPathExists={DROP_IN}\n",
    "old-tuning.service": """\
[Service]
ExecStart=/bin/sh -c 'tc qdisc replace dev lat0 root netem delay {milliseconds}ms; \
while [ -e {drop_in} ]; do sleep 1; done'
ExecStopPost=/usr/sbin/tc qdisc del dev lat0 root
""",
}

SECOND = "lab-vm-2"


#: How long the way takes, and how much the hidden change adds; milliseconds. A ratio is judged with
#: a margin of 5 %, and the hidden change is three times that. The way is so long because other
#: processes may have the machine's processors: medians of windows were seen to grow by 6 ms then.
USUAL, HIDDEN = 240, 40
#: Of a window. The requests of one begin twice as far apart as the way is long, and a little more.
SAMPLES, SECONDS = 4, 2.4


class Gated(NamedTuple):
    """What ``./hostproof apply --gate`` did. ``folder`` holds its ledger and its windows."""

    rc: int
    output: str
    folder: Path
    findings: list[Finding]

    @property
    def batches(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((self.folder / "gate.json").read_text())["batches"]
        return found

    def states(self) -> list[str]:
        return [batch["state"] for batch in self.batches]

    def gate(self, host: str) -> Finding:
        """What the gate says of the host in the end: before it puts back, it says that it holds."""
        told = [
            one for one in self.findings if (one["host"], one["check"]) == (host, "latency.gate")
        ]
        return told[-1]

    def p50(self, side: str) -> float:
        """The median over the windows of lab-vm's user p50 in batch 1; microseconds."""
        text = (self.folder / "batch-1" / side / "lab-vm.json").read_text()
        figures = [one["p50"] for one in json.loads(text)["windows"] if one["layer"] == "user"]
        return statistics.median(figures)


class GateLab(LabMachine):
    control = "hugepages"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.environment = wrapper.environment(folder)
        self.send(ROOT / "tests/delays/way.py", ROOT / "module_utils/hostproof")

    def make_way(self) -> None:
        self.tool("start")
        self.tool("delay", f"{USUAL}ms")

    def tool(self, *arguments: str) -> str:
        """Run way.py on the machine."""
        return self.run(f"python3 {TOOLS}/way.py {' '.join(arguments)}", timeout=300)

    # -- the hidden change ------------------------------------------------------------------------

    def hide(self) -> None:
        """Let the way become slower as soon as Hostproof's drop-in is there."""
        write = "".join(
            f"cat > /run/systemd/system/{name} <<'EOF'\n"
            f"{text.format(milliseconds=HIDDEN, drop_in=DROP_IN)}EOF\n"
            for name, text in UNITS.items()
        )
        self.run(f"{write}systemctl daemon-reload; systemctl start old-tuning.path")

    def clean(self) -> None:
        paths = " ".join(f"/run/systemd/system/{name}" for name in UNITS)
        self.run(
            f"systemctl stop old-tuning.path old-tuning.service; rm -f {paths}; "
            "systemctl daemon-reload"
        )

    def is_delayed(self) -> bool:
        return "netem" in self.run("tc qdisc show dev lat0")

    def wait_until_delayed(self, wanted: bool) -> None:
        """The units see the file within a second or two."""
        seen = f"[ $(tc qdisc show dev lat0 | grep -c netem) = {wanted:d} ]"
        self.run(f"for i in $(seq 60); do {seen} && exit; sleep 0.5; done; exit 1")

    # -- the gate ---------------------------------------------------------------------------------

    def gate(self, name: str, second: dict[str, Any], **variables: object) -> Gated:
        """``./hostproof apply --gate`` with lab-vm first and then the same machine once more.

        ``second`` are variables of its second name.
        """
        options = {
            "latency_probes": [
                {
                    "probe": "tcp",
                    "host": "10.9.9.2",
                    "port": 7500,
                    "mode": "request_response",
                    "samples": SAMPLES,
                }
            ],
            "latency_gate_serial": 1,
            "latency_gate_windows": 5,
            "latency_gate_seconds": SECONDS,
            "latency_gate_pause": 0,
            "latency_gate_settle": 5,
            # Five windows bound an interval loosely.
            "latency_gate_tolerance": 10,
            **variables,
        }
        names = self.write_second(second)
        ran = self.hostproof(
            *("apply", "--gate", "-i", str(ROOT / "inventories/lab"), "-i", str(names)),
            *("--tags", self.control, "-e", json.dumps(options)),
            name=name,
        )
        told = re.search(r"^Gate: (.+)$", ran.stdout, re.MULTILINE)
        assert told, "it made no ledger"
        reports = sorted((self.folder / name / "reports").glob("*/findings.jsonl"))
        lines = reports[-1].read_text().splitlines() if reports else []
        findings = [
            {"host": one["host"], **finding}
            for one in map(json.loads, lines)
            for finding in one["findings"]
        ]
        return Gated(ran.returncode, ran.stdout, Path(told[1]), findings)

    def revert_gate(self, gated: Gated) -> subprocess.CompletedProcess[str]:
        """``./hostproof revert --gate`` of what it held."""
        inventories = ("-i", str(ROOT / "inventories/lab"), "-i", str(self.folder / "second.yml"))
        return self.hostproof("revert", "--gate", str(gated.folder), *inventories, name="revert")

    def write_second(self, variables: dict[str, Any]) -> Path:
        """An inventory with a second name of the machine, in the lab's group."""
        state = json.loads(vm.STATE.read_text())
        host = {
            "ansible_host": state["address"],
            "ansible_port": state["port"],
            "ansible_user": state["user"],
            "ansible_ssh_private_key_file": state["key"],
            "ansible_ssh_common_args": state["ssh_arguments"],
            "ansible_ssh_timeout": 60,
            **variables,
        }
        path = self.folder / "second.yml"
        path.write_text(yaml.safe_dump({"lab": {"hosts": {SECOND: host}}}))
        return path

    def hostproof(self, *arguments: str, name: str) -> subprocess.CompletedProcess[str]:
        """The command itself, with the programs that the tests run with."""
        folder = self.folder / name
        ran = subprocess.run(
            [wrapper.HOSTPROOF, *arguments],
            env={
                **self.environment,
                "ANSIBLE_NOCOLOR": "1",
                "HOSTPROOF_REPORTS": str(folder / "reports"),
                "HOSTPROOF_BASELINES": str(folder / "baselines"),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        print(ran.stdout)
        return ran
