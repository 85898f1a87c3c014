"""A stock machine for Oracle Database 19c, by one line: ``hostproof_profile: oracle_19c_single``.

First alone, then with a TuneD that has the profile that it recommends for such a machine. Each
time: apply, all is well, a second apply is empty, revert, and every file and value is as it was.
Beside TuneD, which sets some of the values too, there is a boot before the revert. After it, with
the real systemd and the real cron, an instance of a login, one of a unit and one of cron have three
limits, and each finding names what the kernel gave.

What Hostproof judges and never writes an administrator does first, as the findings say: swap,
RemoveIPC of logind, DefaultTasksMax and TasksMax of systemd, chronyd with a source. The story
leaves the machine as it found it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from lab_machine import LOGIN, LabMachine
from machines import direct, vm
from machines.machine import TOOLS, Run

#: All that take something of a profile, as playbooks/tasks/controls.yml orders them.
CONTROLS = ("kernel_parameters", "interconnect", "time_sync", "process_limits", "memory_pressure")
PROFILE = {"hostproof_profile": "oracle_19c_single", "memory_pressure_swap": "60M"}
#: A machine that nothing accelerates has no clock that is read without a system call.
OF_THE_EMULATOR = "time_sync.clock_source"

SYSCTLS = "/etc/sysctl.d/99-zz-hostproof-kernel_parameters.conf"
LIMITS = "/etc/security/limits.d/zz-hostproof-process_limits.conf"
#: What the plan changes in the kernel of a stock machine.
VALUES = {
    "fs.aio-max-nr": "1048576",
    "net.core.rmem_default": "262144",
    "net.core.rmem_max": "4194304",
    "net.core.wmem_default": "262144",
    "net.core.wmem_max": "1048576",
    "kernel.panic_on_oops": "1",
    "kernel.numa_balancing": "0",
    "vm.swappiness": "10",
}

SWAP = "/swapfile"
KEPT = "/root/kept"
#: Files that are changed here, by their folders' names.
CHANGED = "fstab chrony/chrony.conf pam.d/cron tuned"
ADDED = {
    "/etc/systemd/logind.conf.d/oracle.conf": "[Login]\nRemoveIPC=no\n",
    "/etc/systemd/system.conf.d/oracle.conf": "[Manager]\nDefaultTasksMax=65535\n",
    # A third of what so little memory allows is too small.
    "/etc/systemd/system/user-.slice.d/oracle.conf": "[Slice]\nTasksMax=65535\n",
    # STAND-IN for a server of time: a second chronyd, which sets no clock.
    "/etc/systemd/system/lab-clock.service": """\
[Service]
ExecStart=/usr/sbin/chronyd -d -x -f /etc/lab-clock.conf
[Install]
WantedBy=multi-user.target
""",
    "/etc/lab-clock.conf": """\
local stratum 3
port 1123
bindaddress 127.0.0.1
allow 127.0.0.1
cmdport 0
bindcmdaddress /
pidfile /run/lab-clock.pid
""",
}

UNIT = "/etc/systemd/system/dbora.service"
#: As many write it: of all limits only the one that they have read of.
UNIT_TEXT = f"""\
[Service]
User=oracle
LimitNOFILE=70000:80000
ExecStart={TOOLS}/instance.py --sid UNIT
"""
JOB = "/etc/cron.d/oracle"
JOB_TEXT = f"@reboot oracle exec {TOOLS}/instance.py --sid CRON\n"
#: Soft and hard limit of open files, and what the process is in.
GIVEN = {
    "LOGIN": ("1024", "65536", "pass"),
    "UNIT": ("70000", "80000", "fail"),
    "CRON": ("1024", "524288", "fail"),
}

TUNED = "virtual-guest"
TUNED_FILE = f"/usr/lib/tuned/{TUNED}/tuned.conf"
TUNED_LOG = "/var/log/tuned/tuned.log"


class State(NamedTuple):
    files: dict[str, str]
    values: dict[str, str]


class ProfileLab(LabMachine):
    """The machine as all controls of a profile see it together."""

    control = ",".join(CONTROLS)

    def policies(self) -> dict[str, dict[str, object]]:
        return {control: direct.policy(control, self._inventory, **PROFILE) for control in CONTROLS}

    def judge(self) -> Run:
        answer = self.module("verify_controls", controls=self.policies())
        return Run(0, "", answer["findings"])

    def judge_limits(self) -> Run:
        controls = {"process_limits": self.policies()["process_limits"]}
        return Run(0, "", self.module("verify_controls", controls=controls)["findings"])

    def apply_all(self) -> list[str]:
        """The controls that changed something."""
        answers = {
            control: self.module("apply_control", control=control, policy=policy)
            for control, policy in self.policies().items()
        }
        assert not [control for control, answer in answers.items() if answer.get("failed")]
        return [control for control, answer in answers.items() if answer["changed"]]

    def revert_all(self) -> None:
        for control in reversed(CONTROLS):
            answer = self.module("revert_control", control=control)
            assert not answer.get("failed"), answer

    def kernel(self) -> dict[str, str]:
        lines = self.run(f"sysctl {' '.join(VALUES)}").splitlines()
        return dict(line.split(" = ") for line in lines)

    def state(self) -> State:
        return State(self.files(), self.kernel())

    def write(self, path: str, text: str) -> None:
        self.run(f"mkdir -p $(dirname {path}) && cat > {path} <<'EOF'\n{text}EOF")

    def until(self, command: str) -> None:
        self.run(f"for i in $(seq 480); do {command} && exit; sleep 0.5; done; exit 1")

    def until_it_is_up(self, *, tuned: bool) -> None:
        self.until(r"chronyc -n sources | grep -q '^^\*'")
        if tuned:
            self.until(f"grep -q 'static tuning from profile' {TUNED_LOG}")

    def reboot(self, *, tuned: bool = False) -> None:
        self.run(f"rm -f {TUNED_LOG}")
        vm.reboot()
        self.until_it_is_up(tuned=tuned)


def not_well(judged: Run) -> dict[str, str]:
    statuses = judged.worse_than_pass()
    return {name: status for name, status in statuses.items() if name != OF_THE_EMULATOR}


@pytest.fixture(scope="module")
def machine(tools: None) -> Iterator[ProfileLab]:
    """The machine; whatever the story did, it is as it was when that ends."""
    lab = ProfileLab()
    before = lab.state()
    lab.run(f"mkdir {KEPT} && cd /etc && cp -a --parents {CHANGED} {KEPT}")
    yield lab
    lab.revert_all()
    values = " ".join(f"{name}={value}" for name, value in before.values.items())
    lab.run(
        f"systemctl disable -q --now tuned chrony lab-clock cron; swapoff {SWAP}; rm -f {SWAP}; "
        f"rm -rf /etc/tuned {UNIT} {JOB} {' '.join(ADDED)}; "
        f"rmdir /etc/systemd/{{logind.conf,system.conf,system/user-.slice}}.d; "
        f"cp -a {KEPT}/. /etc && rm -r {KEPT}; "
        f"systemctl daemon-reload; systemctl restart systemd-logind; sysctl -qw {values}"
    )
    after = lab.state()
    assert after.values == before.values
    assert dict(after.files.items() ^ before.files.items()) == {}


@pytest.fixture(scope="module")
def ready(machine: ProfileLab) -> State:
    """The machine after what Hostproof leaves to its administrator."""
    for path, text in ADDED.items():
        machine.write(path, text)
    machine.run(
        f"fallocate -l 64M {SWAP} && chmod 600 {SWAP} && mkswap -q {SWAP} && swapon {SWAP} && "
        # An administrator's last line may have no newline.
        f"sed -i '$a\\' /etc/fstab && echo '{SWAP} none swap sw 0 0' >> /etc/fstab && "
        "sed -i 's/^pool .*/server 127.0.0.1 port 1123 iburst minpoll 2 maxpoll 4/' "
        "/etc/chrony/chrony.conf && systemctl daemon-reload && "
        "systemctl restart systemd-logind && systemctl enable -q --now lab-clock chrony"
    )
    machine.until_it_is_up(tuned=False)
    return machine.state()


def test_verify_says_what_a_stock_machine_lacks(machine):
    statuses = machine.judge().worse_than_pass()
    lacks = {name for name, status in statuses.items() if status == "fail"}
    assert {"fs.aio-max-nr kernel_parameters.asynchronous_io", "time_sync.one_daemon"} <= lacks
    assert {"oracle nofile process_limits.login", "process_limits.remove_ipc"} <= lacks
    assert statuses["memory_pressure.swap_size"] == "warn"


def test_one_line_makes_it_ready_once(machine, ready):
    applied = machine.play("apply", **PROFILE)
    assert not_well(applied) == {}, applied.worse_than_pass()
    assert applied.changed == 2
    now = machine.state()
    assert now.values == VALUES
    assert {path for path in now.files if now.files[path] != ready.files.get(path)} == {
        SYSCTLS,
        LIMITS,
    }
    # A second apply has no effect.
    assert machine.apply_all() == []
    assert machine.state() == now


def test_revert_puts_back_every_byte_and_value(machine, ready):
    machine.revert_all()
    assert machine.state() == ready


@pytest.fixture(scope="module")
def tuned(machine: ProfileLab, ready: State) -> State:
    """The same machine with a TuneD that an administrator has set as it recommends."""
    machine.run("systemctl enable -q --now tuned && tuned-adm profile $(tuned-adm recommend)")
    assert TUNED in machine.run("tuned-adm active")
    machine.until_it_is_up(tuned=True)
    return machine.state()


def test_tuned_is_named_for_what_it_decides(machine, tuned):
    assert tuned.values["vm.swappiness"] == "30"
    judged = machine.judge()
    swappiness = judged.finding("vm.swappiness kernel_parameters.memory")
    assert (swappiness["status"], swappiness["running"]) == ("warn", "30")
    assert f"tuned profile {TUNED_FILE}" in swappiness["persisted"]
    dirty = judged.finding("vm.dirty_ratio kernel_parameters.memory")
    assert dirty["status"] == "pass"
    assert dirty["persisted"].startswith("30 from tuned profile")


def test_what_tuned_sets_well_is_left_to_it(machine, tuned):
    assert machine.apply_all() == ["kernel_parameters", "process_limits"]
    written = machine.run(f"cat {SYSCTLS}")
    assert "vm.swappiness = 10" in written
    assert "dirty" not in written
    assert machine.kernel() == VALUES
    assert machine.run("sysctl -n vm.dirty_ratio").strip() == "30"
    assert machine.apply_all() == []


def test_beside_tuned_all_is_well_after_a_boot(machine, tuned):
    machine.reboot(tuned=True)
    assert machine.kernel() == VALUES
    assert machine.run("sysctl -n vm.dirty_ratio").strip() == "30"
    judged = machine.judge()
    # All is set, and that TuneD asks for something else stays to be told.
    assert not_well(judged) == {"kernel_parameters.consistent_sources": "warn"}
    persisted = judged.finding("kernel_parameters.consistent_sources")["persisted"]
    won = f"vm.swappiness = 10 from {SYSCTLS}:[0-9]+"
    assert re.fullmatch(rf"{won} wins over tuned profile {TUNED_FILE} = 30", persisted), persisted


def test_limits_are_those_of_what_started_the_process(machine):
    """After the boot: a login reads limits.d, a unit never does, and here cron does not either."""
    machine.write(UNIT, UNIT_TEXT)
    machine.write(JOB, JOB_TEXT)
    # cron runs such jobs once a boot, and notes that it did.
    machine.run(
        "sed -i '/pam_limits/d' /etc/pam.d/cron && rm -f /run/crond.reboot && "
        "systemctl daemon-reload && systemctl start dbora cron"
    )
    machine.start_stand_in("LOGIN", "", login=LOGIN)
    machine.until("test $(pgrep -fc '^ora_pmon_') = 3")
    judged = machine.judge_limits()
    for sid, (soft, hard, status) in GIVEN.items():
        rows = machine.run(f"cat /proc/$(pgrep -f '^ora_pmon_{sid} ')/limits")
        assert re.search(rf"Max open files +{soft} +{hard} ", rows), rows
        finding = judged.finding(f"ora_pmon_{sid} process_limits.in_force")
        assert (finding["status"], f"nofile {soft}/{hard}" in finding["in_use"]) == (
            status,
            True,
        ), finding
    for sid, unit in (("UNIT", "dbora.service"), ("CRON", "cron.service")):
        assert unit in judged.finding(f"ora_pmon_{sid} process_limits.in_force")["in_use"]
    assert judged.statuses()["dbora.service process_limits.units"] == "fail"
    assert judged.statuses()["cron process_limits.pam"] == "warn"
    for sid in GIVEN:
        machine.stop_instance(sid)
    machine.run(
        f"systemctl stop cron; rm {UNIT} {JOB}; cp -a {KEPT}/pam.d/cron /etc/pam.d/cron; "
        "systemctl daemon-reload"
    )


def test_revert_leaves_to_tuned_what_it_had(machine, tuned):
    machine.revert_all()
    assert machine.state() == tuned
