"""Checks of a site: sources, comparisons, layers, and entries that cannot be used."""

import os
import pwd

import packs
import pytest
from ansible.module_utils.hostproof.collect import readings
from ansible.module_utils.hostproof.collect.host import LiveHost, Output, RecordedHost
from ansible.module_utils.hostproof.collect.host import live as host_module
from ansible.module_utils.hostproof.controls.custom import patterns
from ansible.module_utils.hostproof.controls.custom.commands import refusal
from ansible.module_utils.hostproof.controls.custom.policy import policy_from
from ansible.module_utils.hostproof.controls.custom.rules_custom import is_met
from ansible.module_utils.hostproof.errors import BadEntry, PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from package_packs import DPKG_COMMAND, RPM_COMMAND

TEXTS = {
    "id": "own",
    "title": "Own setting is right",
    "problem": "Own setting is wrong",
    "severity": "medium",
    "why": "The house wants it.",
    "reference": "house rule 4.2",
}
SYSTEMCTL = "systemctl show -p LoadState,ActiveState,UnitFileState tuned.service"
NOTHING = Output(1, "", "")
MOUNTINFO = "36 25 8:1 / /u01 rw,noatime shared:1 - xfs /dev/sda1 rw,logbufs=8\n"


def entry(**keys):
    return {**TEXTS, **keys}


def custom(**keys):
    return policy_from({"checks": [entry(**keys)], "own_commands": True}).checks[0]


@pytest.fixture
def judge(validate_finding):
    def judge_host(machine, own_commands=False, **keys):
        policy = {"checks": [entry(**keys)], "own_commands": own_commands}
        (finding,) = audit.judge_host(machine, {"custom": policy})
        validate_finding(finding.as_dict())
        return finding

    return judge_host


def swappiness(running, *persisted):
    machine = packs.linux().file("/proc/sys/vm/swappiness", f"{running}\n")
    for name, value in persisted:
        machine.file(f"/etc/sysctl.d/{name}.conf", f"vm.swappiness = {value}\n")
    return machine


class TestSysctl:
    @cases(
        "running persisted status",
        (10, [("90-a", 10)], "pass"),
        (60, [("90-a", 10)], "fail"),
        (10, [("90-a", 10), ("99-z", 60)], "fail"),
        (10, [("90-a", 60), ("99-z", 1)], "pass"),
        (10, [], "error"),
        (60, [], "fail"),
    )
    def test_both_layers_count(self, judge, running, persisted, status):
        finding = judge(swappiness(running, *persisted), sysctl="vm.swappiness", at_most=10)
        assert (finding.check, finding.status) == ("custom.own", status)
        if status != "error":
            assert (finding.desired, finding.running) == ("at most 10", str(running))
            assert finding.values["running"] == running
        if status == "fail":
            assert finding.problem == "Own setting is wrong"
            assert finding.why.startswith("The house wants it. (")

    def test_an_unknown_layer_does_not_hide_a_failure(self, judge):
        finding = judge(swappiness(60).deny("/etc/sysctl.d"), sysctl="vm.swappiness", at_most=10)
        assert finding.status == "fail" and finding.persisted == "unknown"
        assert "not known" in finding.why

    @cases("absent", "fail", "skip", "pass")
    def test_a_kernel_without_the_sysctl(self, judge, absent):
        assert judge(packs.linux(), sysctl="vm.none", equals=1, if_absent=absent).status == absent


class TestFile:
    @cases("count shown", (1, "v0"), (5, "v0, v1, v2, v3, v4"), (6, "v0, v1, v2, v3, v4, ..."))
    def test_the_first_values_are_shown(self, judge, count, shown):
        text = "".join(f"mode=v{number}\n" for number in range(count))
        machine = packs.linux().file("/etc/x.conf", text)
        finding = judge(machine, file="/etc/x.conf", pattern="^mode=(.*)", equals="y")
        assert (finding.status, finding.persisted) == ("fail", shown)

    @cases("choices status", (["a", "b"], "pass"), (["c", "d"], "fail"))
    def test_one_of_several(self, judge, choices, status):
        machine = packs.linux().file("/etc/x.conf", "mode=b\n")
        finding = judge(machine, file="/etc/x.conf", pattern="^mode=(.*)", one_of=choices)
        assert (finding.status, finding.desired) == (status, "one of " + ", ".join(choices))

    @cases(
        "text status",
        ("PermitRootLogin no\n", "pass"),
        ("PermitRootLogin yes\n", "fail"),
        ("PermitRootLogin no\nMatch User x\nPermitRootLogin yes\n", "fail"),
        ("#PermitRootLogin no\n", "fail"),
        ("", "fail"),
    )
    def test_every_line_that_matches_counts(self, judge, text, status):
        machine = packs.linux().file("/etc/ssh/sshd_config", text)
        finding = judge(
            machine, file="/etc/ssh/sshd_config", pattern=r"^PermitRootLogin\s+(\S+)", equals="no"
        )
        assert (finding.status, finding.running) == (status, None)

    def test_only_lines_that_match_are_evidence(self, judge, tmp_path):
        file = tmp_path / "app.conf"
        file.write_text("pass" + "word=geheim\nmode=fast\n")
        host = LiveHost()
        assert judge(host, file=str(file), pattern="^mode=(.*)", equals="fast").status == "pass"
        assert "geheim" not in str(host.evidence) and "mode=fast" in str(host.evidence)

    def test_another_control_still_reads_the_whole_file(self, tmp_path):
        file = tmp_path / "hosts"
        file.write_text("127.0.0.1 localhost\n192.0.2.1 db01\n")
        host = LiveHost()
        policy = {"checks": [entry(file=str(file), pattern="localhost", matches=".")]}
        audit.judge_host(host, {"custom": {**policy, "own_commands": False}})
        assert host.read_text(str(file)) == file.read_text()

    def test_a_recording_answers_no_other_pattern(self, judge, tmp_path):
        file = tmp_path / "app.conf"
        file.write_text("mode=fast\nport=1\n")
        host = LiveHost()
        assert judge(host, file=str(file), pattern="^mode=(.*)", equals="fast").status == "pass"
        replayed = RecordedHost(host.evidence)
        assert judge(replayed, file=str(file), pattern="^mode=(.*)", equals="fast").status == "pass"
        keys = {"file": str(file), "pattern": "^port=(.*)", "matches": ".", "if_absent": "pass"}
        assert judge(replayed, **keys).status == "error"

    def test_a_file_of_secrets_is_not_read(self):
        for path in ("/etc/shadow", "/root/.pgpass", "/etc/chrony.keys"):
            with pytest.raises(BadEntry, match="holds secrets"):
                custom(file=path, pattern=".", matches=".")
            with pytest.raises(BadEntry, match="holds secrets"):
                custom(command=["cat", path], matches=".")

    def test_a_file_that_may_not_be_read_is_an_error(self, judge):
        machine = packs.linux().file("/etc/app.conf", "mode=fast\n").deny("/etc/app.conf")
        assert judge(machine, file="/etc/app.conf", pattern="mode", matches=".").status == "error"


class TestPackage:
    GLIBC = "glibc\t2.17-317.el7\tx86_64\tinstalled\n"

    @cases(
        "comparison status",
        ({"at_least": "2.17"}, "pass"),
        ({"at_least": "2.17-317.el7"}, "pass"),
        ({"at_least": "2.17-318"}, "fail"),
        ({"at_least": "2.9"}, "pass"),
        ({"at_least": "2.100"}, "fail"),
        ({"at_most": "2.17"}, "pass"),
        ({"at_most": "2.16"}, "fail"),
        ({"equals": "installed"}, "pass"),
        ({"equals": "not installed"}, "fail"),
    )
    def test_versions(self, judge, comparison, status):
        machine = packs.linux().command(RPM_COMMAND, self.GLIBC)
        assert judge(machine, package="glibc", **comparison).status == status

    @cases(
        "version comparison status",
        ("3.0.1-20.el9", {"at_least": "1:3.0.7-28.el9_4"}, "fail"),
        ("3.0.7-28.el9_4", {"at_least": "1:3.0.7-28.el9_4"}, "pass"),
        ("3.0.7-28.el9_4", {"equals": "1:3.0.7-28.el9_4"}, "pass"),
        ("3.0.7-29.el9_4", {"equals": "1:3.0.7-28.el9_4"}, "fail"),
        ("3.0.7-28.el9_4", {"one_of": ["1:3.0.7-28.el9_4", "9"]}, "pass"),
        ("1:9.2p1", {"at_least": "9.0"}, "pass"),
        ("1:9.2p1", {"at_least": "9.3"}, "fail"),
        ("1:9.2p1", {"at_most": "9.0"}, "fail"),
        ("1:9.2p1", {"at_least": "2:1.0"}, "fail"),
        ("2:1.0", {"at_least": "1:9.2p1"}, "pass"),
        ("1:9.2p1", {"equals": "2:9.2p1"}, "fail"),
        ("0:1.5-1", {"equals": "1.5-1"}, "pass"),
    )
    def test_epochs(self, judge, version, comparison, status):
        machine = packs.linux().command(RPM_COMMAND, f"openssl\t{version}\tx86_64\tinstalled\n")
        assert judge(machine, package="openssl", **comparison).status == status

    @cases(
        "version comparison status",
        # rpm prints (none) where a package has no epoch: it is 0.
        ("(none):3.2.0-1.el9", {"at_least": "1:3.0.7-28.el9_4"}, "fail"),
        ("1:3.0.7-28.el9_4", {"at_least": "1:3.0.7-28.el9_4"}, "pass"),
        ("1:3.0.1-20.el9", {"at_least": "1:3.0.7-28.el9_4"}, "fail"),
        ("1:3.0.7-28.el9_4", {"equals": "3.0.7-28.el9_4"}, "pass"),
        ("(none):3.0.7-28", {"equals": "1:3.0.7-28"}, "fail"),
        ("(none):3.0.7-28", {"equals": "0:3.0.7-28"}, "pass"),
        # As the policy copied it from rpm.
        ("(none):3.0.1-20", {"at_least": "(none):3.0.7-28"}, "fail"),
        ("(none):3.0.7-28", {"equals": "(none):3.0.7-28"}, "pass"),
        ("1:3.0.7-28", {"at_most": "(none):9"}, "fail"),
        ("2:1.0-1", {"at_least": "1:9.0-1"}, "pass"),
        ("1:3.0.7-28", {"at_least": "3.0"}, "pass"),
        ("1:3.0.7-28", {"at_most": "3.5"}, "pass"),
        ("1:3.0.7-28", {"matches": "^3[.]0"}, "pass"),
        ("1:3.0.7-28", {"matches": "^1:3"}, "pass"),
        ("(none):3.0.7-28", {"matches": "none"}, "fail"),
    )
    def test_the_epoch_that_rpm_prints(self, judge, version, comparison, status):
        machine = packs.linux().command(RPM_COMMAND, f"openssl\t{version}\tx86_64\tinstalled\n")
        finding = judge(machine, package="openssl", **comparison)
        assert finding.status == status and finding.running == version.replace("(none):", "")

    def test_a_recording_without_epochs(self, judge):
        machine = packs.linux().command(RPM_COMMAND, "openssl\t3.0.7-28\tx86_64\tinstalled\n")
        judge(machine, package="openssl", equals="installed")
        reading = machine.evidence.pop("command:" + RPM_COMMAND)
        old = readings.RENAMED["command:" + RPM_COMMAND]
        recorded = RecordedHost({**machine.evidence, old: reading})
        for comparison, status in (("1:3.0.7-28", "pass"), ("1:3.0.8-1", "fail")):
            assert judge(recorded, package="openssl", at_least=comparison).status == status

    def test_dpkg_without_an_epoch(self, judge):
        def machine():
            return packs.linux().command(DPKG_COMMAND, "bash\t5.2-1\tamd64\tinstalled\n")

        assert judge(machine(), package="bash", at_least="1:1.0").status == "fail"
        finding = judge(machine(), package="bash", at_least="5.0")
        assert (finding.status, finding.running) == ("pass", "5.2-1")

    @cases(
        "comparison status",
        ({"equals": "not installed"}, "pass"),
        ({"at_least": "0"}, "fail"),
        ({"matches": "."}, "fail"),
    )
    def test_a_package_that_is_not_installed(self, judge, comparison, status):
        machine = packs.linux().command(RPM_COMMAND, self.GLIBC)
        finding = judge(machine, package="firewalld", **comparison)
        assert (finding.status, finding.running) == (status, "not installed")

    def test_rpm_that_fails_is_an_error(self, judge):
        machine = packs.linux().command(RPM_COMMAND, "", rc=1)
        assert judge(machine, package="glibc", equals="not installed").status == "error"

    def test_a_damaged_database_is_an_error(self, judge):
        machine = packs.linux()
        machine.commands[RPM_COMMAND] = Output(0, self.GLIBC, "error: rpmdb: damaged\n")
        for name in ("glibc", "firewalld"):
            assert judge(machine, package=name, equals="not installed").status == "error"

    def test_debian(self, judge):
        lines = "nfs-common\t1:2.6.2-4\tamd64\tinstalled\ngone\t1.0\tamd64\tconfig-files\n"
        machine = packs.linux().command(DPKG_COMMAND, lines)
        assert judge(machine, package="nfs-common", at_least="1:2.6").status == "pass"
        assert judge(machine, package="nfs-common", at_least="1:2.7").status == "fail"
        assert judge(machine, package="gone", equals="installed").status == "fail"

    def test_the_program_of_another_distribution_hides_nothing(self, judge):
        machine = packs.linux().command(RPM_COMMAND, self.GLIBC).command(DPKG_COMMAND, "")
        assert judge(machine, package="glibc", equals="not installed").status == "fail"
        line = "libc6\t2.36\tamd64\tinstalled\n"
        machine = packs.linux().command(RPM_COMMAND, "").command(DPKG_COMMAND, line)
        assert judge(machine, package="libc6", equals="not installed").status == "fail"

    def test_without_a_package_manager_nothing_is_known(self, judge):
        assert judge(packs.linux(), package="glibc", equals="not installed").status == "error"


class TestService:
    @cases(
        "load active unit_file wanted status",
        ("loaded", "active", "enabled", "running", "pass"),
        ("loaded", "active", "disabled", "running", "fail"),
        ("loaded", "inactive", "enabled", "running", "fail"),
        ("loaded", "active", "static", "running", "error"),
        ("loaded", "inactive", "static", "running", "fail"),
        ("loaded", "active", "enabled-runtime", "running", "fail"),
        ("loaded", "inactive", "masked-runtime", "stopped", "error"),
        ("loaded", "inactive", "linked", "stopped", "error"),
        ("loaded", "active", "transient", "running", "fail"),
        ("loaded", "inactive", "", "stopped", "error"),
        ("loaded", "failed", "enabled", "running", "fail"),
        ("loaded", "inactive", "disabled", "stopped", "pass"),
        ("masked", "inactive", "masked", "stopped", "pass"),
        ("loaded", "inactive", "enabled", "stopped", "fail"),
        ("not-found", "inactive", "", "running", "fail"),
    )
    def test_now_and_at_boot(self, judge, load, active, unit_file, wanted, status):
        text = f"LoadState={load}\nActiveState={active}\nUnitFileState={unit_file}\n"
        machine = packs.linux().command(SYSTEMCTL, text)
        assert judge(machine, service="tuned.service", equals=wanted).status == status

    def test_a_systemctl_that_fails_with_an_answer(self, judge):
        text = "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\n"
        machine = packs.linux().command(SYSTEMCTL, text, rc=1)
        finding = judge(machine, service="tuned.service", equals="running")
        assert (finding.status, "systemctl ended with 1" in finding.why) == ("error", True)


class TestMount:
    @cases(
        "option comparison fstab status",
        ("noatime", {"equals": "set"}, "noatime", "pass"),
        ("noatime", {"equals": "set"}, "defaults", "fail"),
        ("rw", {"equals": "set"}, "defaults", "pass"),
        ("rw", {"equals": "set"}, "ro", "fail"),
        ("logbufs", {"at_least": 8}, "logbufs=8", "pass"),
        ("logbufs", {"at_least": 8}, "logbufs=4", "fail"),
        (None, {"equals": "mounted"}, "defaults", "pass"),
        (None, {"equals": "mounted"}, "noauto", "fail"),
        (None, {"equals": "not mounted"}, "defaults", "fail"),
    )
    def test_fstab_and_kernel(self, judge, option, comparison, fstab, status):
        machine = packs.linux().file("/proc/self/mountinfo", MOUNTINFO)
        machine.file("/etc/fstab", f"/dev/sda1 /u01 xfs {fstab} 0 0\n")
        keys = {"option": option} if option else {}
        assert judge(machine, mount="/u01", **keys, **comparison).status == status

    @cases(
        "keys status",
        ({"equals": "not mounted"}, "pass"),
        ({"equals": "mounted"}, "fail"),
        ({"option": "noatime", "equals": "set", "if_absent": "pass"}, "pass"),
        ({"option": "noatime", "equals": "set", "if_absent": "skip"}, "skip"),
    )
    def test_a_path_that_nothing_mounts(self, judge, keys, status):
        machine = packs.linux().file("/proc/self/mountinfo", MOUNTINFO).file("/etc/fstab", "")
        assert judge(machine, mount="/u02", **keys).status == status

    def test_what_fstab_does_not_name_is_an_error(self, judge):
        machine = packs.linux().file("/proc/self/mountinfo", MOUNTINFO).file("/etc/fstab", "")
        assert judge(machine, mount="/u01", option="noatime", equals="set").status == "error"


class TestCommand:
    def test_output(self, judge):
        machine = packs.linux().command("getenforce (as nobody)", "Enforcing\n")
        assert judge(machine, command=["getenforce"], equals="Enforcing").status == "pass"

    def test_as_root_is_another_reading(self, judge):
        machine = packs.linux().command("getenforce (as nobody)", "Enforcing\n")
        machine.command("getenforce", "Permissive\n")
        finding = judge(machine, command=["getenforce"], as_root=True, equals="Permissive")
        assert finding.status == "pass"

    def test_it_runs_as_nobody_and_without_root_as_the_account_of_the_audit(
        self, judge, monkeypatch
    ):
        account = pwd.getpwuid(os.geteuid()).pw_name
        expected = "nobody" if account == "root" else account
        assert judge(LiveHost(), command=["id", "-un"], equals=expected).status == "pass"
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        requests = []
        monkeypatch.setattr(
            LiveHost, "ask", lambda _host, request: requests.append(request) or NOTHING
        )
        judge(LiveHost(), command=["id", "-un"], equals="x")
        assert [request.user for request in requests] == [None]

    def test_a_command_that_fails_is_an_error(self, judge):
        machine = packs.linux().command("getenforce (as nobody)", "", rc=1)
        assert judge(machine, command=["getenforce"], equals="Enforcing").status == "error"

    @cases(
        "text keys status",
        ("Enforcing\n", {}, "pass"),
        ("Enforcing\nmode x\n", {}, "error"),
        ("a\nmode=Enforcing\n", {"pattern": "^mode=(.*)"}, "pass"),
        ("mode=Permissive\nmode=Enforcing\n", {"pattern": "^mode=(.*)"}, "fail"),
    )
    def test_one_line_or_a_pattern(self, judge, text, keys, status):
        machine = packs.linux().command("getenforce (as nobody)", text)
        assert judge(machine, command=["getenforce"], equals="Enforcing", **keys).status == status

    @cases(
        "argv",
        ["cat", "/etc/hosts"],
        ["head", "-n", "5", "/etc/hosts"],
        ["tail", "-n5", "/proc/meminfo"],
        ["stat", "-c", "%U", "/etc/hosts"],
        ["ls", "-ld", "/etc"],
        ["df", "-h", "/u01"],
        ["df", "--output=target,avail", "-B", "1M"],
        ["findmnt", "-n", "-o", "FSTYPE", "/u01"],
        ["getent", "passwd", "oracle"],
        ["getconf", "PAGESIZE"],
        ["id", "-un"],
        ["lsblk", "-dno", "NAME", "/dev/sda"],
        ["lspci", "-nn", "-s", "00:1f.0"],
        ["modinfo", "-F", "version", "nfs"],
        ["uname", "-r"],
        ["nproc"],
        ["systemctl", "is-enabled", "x"],
        ["rpm", "-q", "glibc"],
    )
    def test_on_the_list(self, argv):
        assert refusal(argv) is None

    @cases(
        "argv",
        ["sh", "-c", "id"],
        ["/usr/bin/cat", "x"],
        ["systemctl", "stop", "x"],
        ["systemctl", "--root=/x", "is-enabled"],
        ["rpm", "-q", "--pipe", "sh"],
        ["rpm", "-e", "glibc"],
        ["ip", "link", "set", "eth0", "down"],
        ["ethtool", "-G", "eth0", "rx", "1"],
        ["sysctl", "-w", "vm.swappiness=1"],
        ["find", "/", "-delete"],
        ["cat", "/dev/watchdog"],
        ["head", "/dev/nst0"],
        ["cat", "/proc/self/environ"],
        ["cat", "/proc/1/environ"],
        ["cat", "/proc/kmsg"],
        ["cat", "/etc/../dev/watchdog"],
        ["cat", "/./dev/watchdog"],
        ["cat", "/proc/./self/environ"],
        ["tail", "-f", "/var/log/x"],
        ["tail", "--follow=name", "/x"],
        ["wc", "--files0-from=/etc/shadow"],
        ["cat", "relative"],
        ["df", "--sync"],
        ["df", "--output", "../x"],
        ["lspci", "-M"],
        ["lspci", "-O", "x=y"],
        ["lspci", "-q"],
        ["lspci", "-F", "/x"],
        ["lscpu", "-s", "/x"],
        ["lsblk", "--sysroot", "/x"],
        ["findmnt", "--poll"],
        ["findmnt", "-p"],
        ["findmnt", "--tab-file", "/etc/shadow"],
        ["findmnt", "-F", "/etc/shadow"],
        ["getent", "shadow"],
        ["getent", "gshadow"],
        ["getent", "-s", "files", "shadow"],
        ["getent", "--service=files", "shadow"],
        ["modinfo", "/tmp/x.ko"],
        ["modinfo", "-b", "/x", "nfs"],
        ["uname", "--x"],
        ["dpkg-query", "-W", "--admindir=/x"],
        ["systemctl", "cat", "/etc/shadow"],
        ["getconf", "-v", "/x", "ARG_MAX"],
    )
    def test_another_command_needs_permission(self, judge, argv):
        assert "hostproof_own_commands" in refusal(argv)
        finding = judge(packs.linux(), command=argv, equals="x")
        assert (finding.check, finding.status) == ("custom.policy_entry", "error")
        if "shadow" not in " ".join(argv):
            finding = judge(packs.linux(), own_commands=True, command=argv, equals="x")
            assert finding.check == "custom.own"


@cases("program", "cat", "head", "tail", "wc", "ls", "stat", "readlink")
def test_root_reads_no_path_that_another_account_may_choose(judge, program):
    for path in ("/tmp/x", "/etc/hosts"):
        finding = judge(packs.linux(), command=[program, path], as_root=True, equals="x")
        assert (finding.check, finding.status) == ("custom.policy_entry", "error")
        assert "use file with a pattern" in finding.why


ENDLESS = "(a+)+$"


@cases(
    "keys",
    {"file": "/etc/app.conf", "pattern": ENDLESS, "equals": "x"},
    {"file": "/etc/app.conf", "pattern": ".*", "matches": ENDLESS},
    {"command": ["print-it"], "pattern": ENDLESS, "equals": "x"},
    {"command": ["print-it"], "matches": ENDLESS},
)
def test_a_search_without_end_is_an_error_of_its_check_only(tmp_path, monkeypatch, keys):
    path = tmp_path / "app.conf"
    path.write_text("a" * 41 + "!")
    monkeypatch.setattr(patterns, "SECONDS", 0.3)
    monkeypatch.setitem(host_module._LIMITS, "matching", 0.3)
    if "file" in keys:
        keys = {**keys, "file": str(path)}
    else:
        keys = {**keys, "command": ["cat", str(path)], "as_root": True}
    mine, other = entry(**keys), entry(id="other", command=["nproc"], matches=".")
    policy = {"checks": [mine, other], "own_commands": True}
    first, second = audit.judge_host(LiveHost(), {"custom": policy})
    assert (first.check, first.status, second.status) == ("custom.own", "error", "pass")
    assert "seconds" in first.why


@cases(
    "comparison value met",
    ({"equals": 10}, "010", True),
    ({"equals": "a  b"}, "a b", True),
    ({"equals": "1.5"}, "1.50", False),
    ({"at_least": 1.5}, "1.50", True),
    ({"at_least": "250 32000"}, "250 32000 100 128", True),
    ({"at_least": "250 32000"}, "250 100 100 128", False),
    ({"at_least": 1}, "unlimited", False),
    ({"at_most": 1}, "", False),
    ({"at_most": 1.5}, "1.50", True),
    ({"at_most": 1.5}, "1.51", False),
    ({"at_least": 1.5}, "1.49", False),
    ({"one_of": ["a", 2]}, "2", True),
    ({"one_of": ["a", "b"]}, "c", False),
    ({"matches": "^x.z$"}, "xyz", True),
    ({"matches": "^x.z$"}, "xz", False),
)
def test_comparisons(comparison, value, met):
    assert is_met(custom(sysctl="a.b", **comparison), value) is met


@cases(
    "keys words",
    ({"sysctl": "a.b"}, "comparison must be exactly one of"),
    ({"equals": 1}, "source must be exactly one of"),
    ({"sysctl": "a.b", "package": "x", "equals": 1}, "source must be exactly one of"),
    ({"sysctl": "a.b", "equals": 1, "at_most": 2}, "comparison must be exactly one of"),
    ({"sysctl": "a.b", "equals": True}, "put yes, no, true and false in quotes"),
    ({"sysctl": "../x", "equals": 1}, "must be the name of a sysctl"),
    ({"sysctl": "kernel/../../../etc/x", "equals": 1}, "must be the name of a sysctl"),
    ({"sysctl": "kernel.//.//etc/x", "equals": 1}, "must be the name of a sysctl"),
    ({"sysctl": "kernel/..", "equals": 1}, "must be the name of a sysctl"),
    ({"sysctl": "kernel//x", "equals": 1}, "must be the name of a sysctl"),
    ({"sysctl": "kernel/./x", "equals": 1}, "must be the name of a sysctl"),
    ({"sysctl": "kernel.x/", "equals": 1}, "must be the name of a sysctl"),
    ({"file": "/etc/x", "equals": 1}, "pattern must say"),
    ({"file": "etc/x", "pattern": "x", "equals": 1}, "absolute"),
    ({"file": "/etc/../x", "pattern": "x", "equals": 1}, "without .."),
    ({"file": "/etc/x", "pattern": "(", "equals": 1}, "not a regular expression"),
    ({"file": "/etc/x", "pattern": "a{99999999999999}", "equals": 1}, "repetition number"),
    ({"file": "/etc/x", "pattern": "(" * 990 + ")" * 990, "equals": 1}, "not a regular expression"),
    ({"service": "x", "equals": "on"}, "running or stopped"),
    ({"mount": "/u01", "equals": "yes"}, "not mounted"),
    ({"sysctl": "a.b", "equals": 1, "as_root": True}, "belongs to command"),
    ({"sysctl": "a.b", "equals": 1, "titel": "x"}, "unknown titel"),
    ({"sysctl": "a.b", "equals": 1, "severity": "huge"}, "must be one of critical"),
    ({"sysctl": "a.b", "equals": 1, "title": "x" * 61}, "at most 60"),
    ({"sysctl": "a.b", "equals": 1, "id": "Own"}, "lower case"),
    ({"sysctl": "a.b", "equals": 1, "why": ""}, "needs"),
)
def test_an_entry_that_cannot_be_used(keys, words):
    with pytest.raises(BadEntry, match=words.replace("..", r"\.\.")):
        custom(**keys)


def test_no_more_checks_than_a_host_can_answer():
    many = [entry(id=f"c{number}", sysctl="a.b", equals=1) for number in range(501)]
    with pytest.raises(PolicyError, match="500"):
        policy_from({"checks": many, "own_commands": False})
