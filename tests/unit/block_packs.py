"""The recorded machine with two paths to one unit of scsi_debug, as a host that tests change."""

import json
from typing import Any

import packs
from ansible.module_utils.hostproof.apply.change import CommandChange, FileChange, Plan
from ansible.module_utils.hostproof.controls.block_devices.control import CONTROL as block_devices
from ansible.module_utils.hostproof.controls.registry import planner
from default_policies import default_policy

RULES = "/etc/udev/rules.d/99-zz-hostproof-block_devices.rules"
FOLDER = packs.FIXTURES / "block_devices"
ORACLE, DBA = 54321, 54322
NAMED = {"name": "mpath*", "owner": "oracle", "group": "dba", "mode": "0660"}


class BlockMachine(packs.Machine):
    """``owners`` are uid, gid and mode by the path of a node."""

    def __init__(self) -> None:
        super().__init__()
        self.owners: dict[str, tuple[int, int, int]] = {}

    def _look(self, kind: str, subject: str) -> dict[str, Any]:
        if kind == "stat" and self._resolve(subject) in self.owners:
            uid, gid, mode = self.owners[self._resolve(subject)]
            return {"stat": {"mode": mode, "uid": uid, "gid": gid, "size": 0, "mtime": 0.0}}
        return super()._look(kind, subject)

    def rule(self, name: str, text: str) -> "BlockMachine":
        self.file(f"/etc/udev/rules.d/{name}", text)
        return self

    def sysfs(self, disk: str, **values: str) -> "BlockMachine":
        """Values of the queue, or with device__ before of the device."""
        for name, value in values.items():
            place = name.replace("__", "/") if "__" in name else f"queue/{name}"
            self.file(self._resolve(f"/sys/block/{disk}/{place}"), value + "\n")
        return self


def recorded(name: str = "two-paths") -> BlockMachine:
    """The machine of a recording; what it read is there, and can be changed."""
    machine = BlockMachine()
    machine.link("/lib", "/usr/lib").command("uname -m", "x86_64\n")
    machine.file("/proc/cmdline", "root=/dev/vda1 ro quiet\n")
    machine.file("/etc/os-release", "ID=debian\nVERSION_ID=12\n")
    machine.file("/proc/self/mountinfo", "29 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n")
    evidence = json.loads((FOLDER / f"{name}.json").read_text())
    readings = {key: reading for key, reading in evidence.items() if "error" not in reading}
    # Links first: what lies below them is kept where they lead to.
    for key, reading in sorted(readings.items(), key=lambda item: not item[0].startswith("link:")):
        kind, _, path = key.partition(":")
        if kind == "link" and path != reading["target"]:
            machine.link(path, reading["target"])
            machine.folder(reading["target"])
        elif kind == "file":
            machine.file(machine._resolve(path), reading["text"])
        elif kind == "dir" and not path.startswith("/lib"):
            machine.folder(path, *(f"{path}/{entry}" for entry in reading["names"]))
        elif kind == "stat":
            stat = reading["stat"]
            machine.owners[path] = (stat["uid"], stat["gid"], stat["mode"])
        elif kind == "command":
            machine.command(path, reading["stdout"], reading["rc"])
    for disk, number in (("dm-0", "253:0"), ("sda", "8:0"), ("sdb", "8:16")):
        links = machine.files[f"/run/udev/data/b{number}"].splitlines()
        for link in (f"/dev/{line[2:]}" for line in links if line.startswith("S:")):
            # Of one name the map's counts: its links have a higher priority.
            machine.links.setdefault(link, f"/dev/{disk}")
    return machine


def policy_of(*entries: dict[str, Any], **changes: Any) -> Any:
    devices = {"devices": list(entries)} if entries else {}
    return block_devices.policy_from({**default_policy("block_devices"), **devices, **changes})


def plan_of(machine: BlockMachine, *entries: dict[str, Any], **changes: Any) -> Plan:
    machine.evidence.clear()
    policy = policy_of(*entries, **changes)
    return planner("block_devices")(block_devices.read(machine, policy), policy)


def after(machine: BlockMachine, plan: Plan) -> BlockMachine:
    """The host when the plan has been carried out."""
    for change in plan.changes:
        if isinstance(change, FileChange):
            assert change.content is not None
            machine.file(change.path, change.content)
        elif isinstance(change, CommandChange):
            owner, mode = str(change.after).split()
            uid, gid = map(int, owner.split(":"))
            machine.owners[machine._resolve(change.name.split()[-1])] = (uid, gid, int(mode, 8))
        else:
            place = machine._resolve(change.path)
            words = machine.files[place].replace("[", "").replace("]", "").split()
            if "[" in machine.files[place]:
                choices = [f"[{word}]" if word == change.value else word for word in words]
                machine.file(place, " ".join(choices) + "\n")
            else:
                machine.file(place, change.value + "\n")
    return machine
